/* The threads' accounts of CPU time: each nanosecond that the events count is one thread's, once,
 * or is of no known thread. */
#include "collector/model/tracker_private.h"

static bool is_random(const struct tracker *tracker)
{
	return sampling_is_random(tracker->config.sampling);
}

/* Whether the events count what no tick can hit: kernel mode, which is not sampled. */
static bool has_unseen(const struct tracker *tracker)
{
	return tracker->config.has_count &&
	       tracker->config.kernel_time == PROFILE_KERNEL_TIME_APART;
}

static void count(struct tracker *tracker, struct thread *thread, uint64_t cpu_ns)
{
	thread->cpu_ns += cpu_ns;
	tracker->families[thread->family].cpu_ns += cpu_ns;
	tracker->counts.cpu_ns += cpu_ns;
}

struct tick tracker_count_tick(struct tracker *tracker, struct thread *thread,
			       const struct record *record, size_t ring_index)
{
	const struct record_sample *sample = &record->sample;
	struct tick tick = {.user_ns = sample->period};
	if (tracker_is_exact(tracker))
		return tick;
	if (tracker->config.has_count)
		tick.user_ns = thread_advance(thread, ring_index, sample->count);
	count(tracker, thread, tick.user_ns);
	thread_note_tick(thread, ring_index, record->time_ns);
	if (!has_unseen(tracker) && !(is_random(tracker) && tracker->config.has_count))
		return tick;
	/* What a tick counts beyond its distance was in the kernel, or is of no tick: what was lost
	 * was no more of this function than of any. */
	uint64_t beyond = thread_unseen(thread, ring_index, tick.user_ns, sample->period);
	tick.user_ns -= beyond;
	bool is_lost = thread_pass_gap(thread, ring_index, tracker->gaps[ring_index]);
	*(is_lost || !has_unseen(tracker) ? &tick.lost_ns : &tick.kernel_ns) = beyond;
	return tick;
}

/* Below PROFILE_KERNEL_ALL, which is another thing. */
static uint32_t saturate_us(uint64_t ns)
{
	uint64_t us = ns / 1000;
	return us < PROFILE_KERNEL_ALL ? (uint32_t)us : PROFILE_KERNEL_ALL - 1;
}

static void weigh_fixed(struct thread *thread, const struct tick *tick, struct profile_stack *stack)
{
	stack->cpu_ns = tick->user_ns + tick->kernel_ns;
	stack->kernel_us = saturate_us(tick->kernel_ns);
	thread->rest_ns += tick->lost_ns;
}

/* Time in the kernel was measured of each tick, not drawn, and is not scaled: it stands in samples
 * as it was. */
static void weigh_random(const struct tracker *tracker, struct thread *thread,
			 const struct tick *tick, uint64_t period_ns, struct profile_stack *stack)
{
	stack->kernel_us = saturate_us(thread->rest_ns);
	stack->cpu_ns = sampling_weigh(tracker->config.sampling, period_ns, tick->user_ns) +
			UINT64_C(1000) * stack->kernel_us;
	thread->rest_ns -= UINT64_C(1000) * stack->kernel_us;
}

void tracker_weigh(struct tracker *tracker, struct thread *thread, const struct tick *tick,
		   uint64_t period_ns, bool is_kernel, struct profile_stack *stack)
{
	if (!is_random(tracker)) {
		weigh_fixed(thread, tick, stack);
	} else if (tracker_is_exact(tracker)) {
		stack->cpu_ns = tracker->config.sampling->interval_ns;
	} else {
		tracker_keep_pending(tracker, thread, tick, is_kernel);
		if (!is_kernel)
			weigh_random(tracker, thread, tick, period_ns, stack);
		else
			stack->cpu_ns = tracker_take_pending(tracker, thread);
	}
	if (is_kernel)
		stack->kernel_us = PROFILE_KERNEL_ALL;
	uint64_t kernel_ns = is_kernel ? stack->cpu_ns : UINT64_C(1000) * stack->kernel_us;
	thread->kernel_ns += kernel_ns;
	thread->sampled_ns += stack->cpu_ns - kernel_ns;
}

void tracker_keep_pending(struct tracker *tracker, struct thread *thread, const struct tick *tick,
			  bool is_kernel)
{
	if (is_random(tracker))
		thread->rest_ns += tick->kernel_ns + (is_kernel ? tick->user_ns : 0);
}

uint64_t tracker_take_pending(const struct tracker *tracker, struct thread *thread)
{
	if (!is_random(tracker))
		return 0;
	uint64_t pending_ns = thread->rest_ns;
	thread->rest_ns = 0;
	return pending_ns;
}

/* Of CPU time after the last tick on a ring, what whole distances tell: no tick came at their ends,
 * so that the thread was in the kernel. */
static uint64_t kernel_part(struct tracker *tracker, struct thread *thread, size_t ring_index,
			    uint64_t rest_ns)
{
	uint64_t tick_ns =
		sampling_tick_ns(tracker->config.sampling, tracker->config.cpus[ring_index], 0);
	if (!has_unseen(tracker) || rest_ns < tick_ns ||
	    thread_pass_gap(thread, ring_index, tracker->gaps[ring_index]))
		return 0;
	return rest_ns / tick_ns * tick_ns;
}

void tracker_apply_count(struct tracker *tracker, const struct record *record, size_t ring_index)
{
	struct thread *thread = idmap_get(&tracker->threads, record->tid);
	if (thread == NULL)
		return;
	uint64_t rest_ns = thread_advance(thread, ring_index, record->count);
	count(tracker, thread, rest_ns);
	thread->rest_ns +=
		is_random(tracker) ? kernel_part(tracker, thread, ring_index, rest_ns) : rest_ns;
	if (++thread->final_counts >= tracker->config.rings && thread->end_ns != EMIT_TIME_NEVER)
		tracker_retire(tracker, thread);
}

static bool has_final_counts(const struct tracker *tracker)
{
	return tracker->config.final_counts && tracker->config.has_count;
}

bool tracker_has_open_account(const struct tracker *tracker, const struct thread *thread)
{
	if (tracker_is_exact(tracker))
		return !thread->is_exact;
	return thread->is_head ||
	       (has_final_counts(tracker) && thread->final_counts < tracker->config.rings);
}

/* Of an account that did not come: what samples tell, or half of what there can be without. */
static uint64_t lack_of_account(const struct tracker *tracker, const struct thread *thread)
{
	uint64_t sampled_ns = thread->sampled_ns + thread->kernel_ns;
	return sampled_ns > 0 ? sampled_ns : tracker->config.sampling->interval_ns / 2;
}

void tracker_close_account(struct tracker *tracker, struct thread *thread)
{
	bool is_closed = has_final_counts(tracker) && thread->final_counts >= tracker->config.rings;
	if (thread->is_exact)
		return;
	if (tracker_is_exact(tracker)) {
		thread->unseen_ns = lack_of_account(tracker, thread);
	} else if (!is_closed) {
		struct thread_lack lack =
			thread_lack(thread, tracker->config.sampling->tick_ns, tracker->now_ns);
		thread->unseen_ns = lack.unseen_ns;
		tracker->busy_ns += lack.busy_ns;
	}
}

uint64_t tracker_unattributed_kernel_ns(const struct tracker *tracker)
{
	if (!is_random(tracker) || !has_unseen(tracker) || tracker_is_exact(tracker) ||
	    tracker->open_ns <= tracker->busy_ns)
		return 0;
	return tracker->open_ns - tracker->busy_ns;
}

enum { ANY_FAMILY = -1 };

static bool is_of(const struct thread *thread, int64_t family)
{
	return family == ANY_FAMILY || thread->family == family;
}

/* The only thread of a family, or of all, whose account is open; NULL: there is none, or more. */
static struct thread *find_open_account(struct tracker *tracker, int64_t family)
{
	struct thread *found = NULL;
	size_t position = 0;
	size_t count = 0;
	for (struct thread *t; (t = idmap_next(&tracker->threads, &position)) != NULL;) {
		if (is_of(t, family) && tracker_has_open_account(tracker, t)) {
			found = t;
			count++;
		}
	}
	for (struct thread *t = tracker->open_accounts; t != NULL; t = t->next_ended) {
		if (is_of(t, family)) {
			found = t;
			count++;
		}
	}
	return count == 1 ? found : NULL;
}

/* Of what a thread used after its last ticks, over all rings: what is more than can lie between
 * ticks was in the kernel. */
static uint64_t kernel_part_of_rest(const struct tracker *tracker, const struct thread *thread,
				    uint64_t rest_ns)
{
	uint64_t tick_ns = tracker->config.sampling->tick_ns;
	uint64_t rings = 0;
	for (size_t i = 0; i < thread->count_size; i++)
		rings += thread->counts[i].tick_ns != 0;
	rings = rings > 0 ? rings : 1;
	return has_unseen(tracker) && rest_ns > rings * tick_ns ? rest_ns - rings * tick_ns / 2 : 0;
}

/* Gives what the events counted beyond all ticks to the thread that it is of. */
static void settle_thread(struct tracker *tracker, struct thread *thread, uint64_t rest_ns)
{
	thread->cpu_ns += rest_ns;
	thread->rest_ns +=
		is_random(tracker) ? kernel_part_of_rest(tracker, thread, rest_ns) : rest_ns;
	thread->is_exact = true;
	tracker->counts.cpu_ns += rest_ns;
}

void tracker_settle(struct tracker *tracker, uint32_t family, uint64_t total_ns)
{
	if (family >= tracker->family_count || total_ns < tracker->families[family].cpu_ns)
		return;
	uint64_t rest_ns = total_ns - tracker->families[family].cpu_ns;
	bool is_clear = has_final_counts(tracker) || !tracker->families[family].has_descendants;
	struct thread *thread = is_clear ? find_open_account(tracker, family) : NULL;
	tracker->families[family].cpu_ns = total_ns;
	if (thread != NULL) {
		settle_thread(tracker, thread, rest_ns);
		return;
	}
	tracker->open_ns += rest_ns;
	tracker->counts.unattributed_ns += rest_ns;
}

void tracker_add_unattributed(struct tracker *tracker, uint64_t cpu_ns, uint64_t total_ns)
{
	uint64_t known = tracker->counts.cpu_ns + tracker->counts.unattributed_ns;
	uint64_t missing_ns = total_ns > known ? total_ns - known : 0;
	cpu_ns += tracker->unknown_ns;
	tracker->unknown_ns = 0;
	tracker->counts.unattributed_ns += cpu_ns < missing_ns ? cpu_ns : missing_ns;
}

void tracker_settle_all(struct tracker *tracker, uint64_t total_ns)
{
	uint64_t known = tracker->counts.cpu_ns + tracker->counts.unattributed_ns;
	struct thread *thread =
		tracker_is_exact(tracker) ? find_open_account(tracker, ANY_FAMILY) : NULL;
	if (total_ns <= known)
		return;
	if (thread != NULL)
		settle_thread(tracker, thread, total_ns - known);
	else
		tracker->counts.unattributed_ns += total_ns - known;
}
