#include "collector/states/switch_lead.h"

#include "collector/states/task_state.h"

/* Between two rounds of questions: an account takes 10 us to read. */
#define ASK_NS 20000000u

enum { READS_MAX = 4 }; /* at once */

/* Means of fewer say little. */
#define TIMES_LEAST 64u

/* The sums are halved there: the lead follows the machine. */
#define TIMES_MOST 4096u

/* No machine's switches take more on average. */
#define MEAN_NS_MAX 40000

/* The scheduler counts a run at its end, and at each tick of its clock. */
#define RUN_NS 200000u

/* The thread's place; NULL: it has none. */
static struct switch_lead_thread *find_place(struct switch_lead *lead,
					     const struct record_switch *found)
{
	struct switch_lead_thread *thread = &lead->threads[found->tid % SWITCH_LEAD_THREADS];
	if (found->tid == thread->tid && found->pid == thread->pid)
		return thread;
	if (found->kind != RECORD_SWITCHED_IN || thread->rivals++ < thread->gaps.times)
		return NULL;
	*thread = (struct switch_lead_thread){.tid = found->tid, .pid = found->pid};
	return thread;
}

/* Of a switch to the thread: how long before it the CPU was left. */
static void count_gap(struct switch_gaps *gaps, uint64_t left_ns, uint64_t time_ns)
{
	uint64_t gap_ns = time_ns > left_ns ? time_ns - left_ns : 0;
	gap_ns = gap_ns < SWITCH_LEAD_MAX ? gap_ns : SWITCH_LEAD_MAX;
	size_t step = (size_t)gap_ns / SWITCH_LEAD_STEP;
	gaps->gaps[step].times++;
	gaps->gaps[step].sum_ns += gap_ns;
	gaps->times++;
}

void switch_lead_show(struct switch_lead *lead, const struct record_switch *found)
{
	struct switch_lead_thread *thread = find_place(lead, found);
	bool is_known_cpu = found->cpu < SWITCH_LEAD_CPUS;
	if (thread && found->kind == RECORD_SWITCHED_IN) {
		count_gap(&thread->gaps, is_known_cpu ? lead->left_ns[found->cpu] : 0,
			  found->time_ns);
		thread->in_ns = found->time_ns;
	} else if (thread) {
		/* A switch may be missing: what is of no known run counts for nothing. */
		if (thread->in_ns > 0 && found->time_ns > thread->in_ns)
			thread->ran_ns += found->time_ns - thread->in_ns;
		thread->in_ns = 0;
		if (found->kind == RECORD_ENDED)
			*thread = (struct switch_lead_thread){0};
	}
	if (is_known_cpu && (found->kind == RECORD_BLOCKED || found->kind == RECORD_PREEMPTED))
		lead->left_ns[found->cpu] = found->time_ns;
}

/* The lead with which the runs' begins add up to the time that is missing. */
static uint64_t find_lead(const struct switch_gaps *known)
{
	int64_t shorter_ns = 0; /* all of the shorter gaps */
	int64_t longer = known->times;
	if (known->lead_ns <= 0)
		return 0;
	for (size_t i = 0; i < SWITCH_LEAD_GAPS - 1 && longer > 0; i++) {
		int64_t end_ns = (int64_t)(i + 1) * SWITCH_LEAD_STEP;
		if (shorter_ns + longer * end_ns >= known->lead_ns)
			return (uint64_t)((known->lead_ns - shorter_ns) / longer);
		shorter_ns += (int64_t)known->gaps[i].sum_ns;
		longer -= known->gaps[i].times;
	}
	return SWITCH_LEAD_MAX;
}

static void add_gaps(struct switch_gaps *known, const struct switch_gaps *gaps)
{
	/* A halved count loses less than one time in each step. */
	while (known->times >= TIMES_MOST) {
		known->lead_ns /= 2;
		known->times = 0;
		for (size_t i = 0; i < SWITCH_LEAD_GAPS; i++) {
			known->times += known->gaps[i].times /= 2;
			known->gaps[i].sum_ns /= 2;
		}
	}
	known->lead_ns += gaps->lead_ns;
	known->times += gaps->times;
	for (size_t i = 0; i < SWITCH_LEAD_GAPS; i++) {
		known->gaps[i].times += gaps->gaps[i].times;
		known->gaps[i].sum_ns += gaps->gaps[i].sum_ns;
	}
}

static void learn(struct switch_lead *lead, struct switch_lead_thread *thread, uint64_t account_ns,
		  uint64_t account_times)
{
	uint64_t times = thread->gaps.times;
	uint64_t apart = account_times > times ? account_times - times : times - account_times;
	/* Records are missing, or were lost. */
	if (account_times == 0 || apart > times / 8)
		return;
	/* Negative by chance: only the sum tells. */
	int64_t more_ns = (int64_t)(account_ns / account_times) - (int64_t)(thread->ran_ns / times);
	if (more_ns > MEAN_NS_MAX || more_ns < -MEAN_NS_MAX)
		return;
	thread->gaps.lead_ns = more_ns * (int64_t)times;
	add_gaps(&lead->known, &thread->gaps);
	__atomic_store_n(&lead->found_ns, find_lead(&lead->known), __ATOMIC_RELAXED);
}

/* Whether the thread's account would tell something now. */
static bool is_due(const struct switch_lead_thread *thread, uint64_t now_ns)
{
	if (thread->tid == 0 || thread->gaps.times < (thread->has_account ? TIMES_LEAST : 1))
		return false;
	return thread->in_ns == 0 || (now_ns > thread->in_ns && now_ns - thread->in_ns < RUN_NS);
}

static void ask(struct switch_lead *lead, struct switch_lead_thread *thread)
{
	uint64_t account_ns;
	uint64_t times;
	if (!task_account_read(thread->pid, thread->tid, &account_ns, &times) ||
	    account_ns < thread->account_ns || times < thread->account_times) {
		*thread = (struct switch_lead_thread){0};
		return;
	}
	if (thread->gaps.times >= TIMES_LEAST)
		learn(lead, thread, account_ns - thread->account_ns, times - thread->account_times);
	*thread = (struct switch_lead_thread){
		.tid = thread->tid,
		.pid = thread->pid,
		.has_account = true,
		.account_ns = account_ns,
		.account_times = times,
		.in_ns = thread->in_ns,
	};
}

void switch_lead_ask(struct switch_lead *lead, uint64_t now_ns)
{
	if (now_ns - lead->asked_ns < ASK_NS)
		return;
	lead->asked_ns = now_ns;
	for (int reads = 0; reads < READS_MAX; reads++) {
		struct switch_lead_thread *found = NULL;
		for (size_t i = 0; i < SWITCH_LEAD_THREADS; i++) {
			struct switch_lead_thread *thread = &lead->threads[i];
			if (is_due(thread, now_ns) &&
			    (!found || thread->gaps.times > found->gaps.times))
				found = thread;
		}
		if (!found)
			return;
		ask(lead, found);
	}
}

uint64_t switch_lead_ns(const struct switch_lead *lead)
{
	return __atomic_load_n(&lead->found_ns, __ATOMIC_RELAXED);
}
