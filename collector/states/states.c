#include "collector/states/states.h"

#include "collector/machine/clock.h"
#include "collector/model/tracker_sampled.h"
#include "collector/result/emit.h"
#include "collector/states/task_state.h"
#include "containers/array.h"
#include <assert.h>
#include <stdlib.h>

#define NS_PER_S 1000000000ull

/* A gap between records longer than this while a thread runs, whose samples would come, is a jump
 * of the clock. */
#define JUMP_NS (3600 * NS_PER_S)

/* Direct switches between two threads take no longer than this, or than twice the longest of those
 * seen on the CPU but for a few: it idled in a longer gap. Timers of events that are stopped and
 * started again take most of the time, on a virtual machine 10 us and more. */
#define SWITCH_NS_LEAST 4000ull
#define SWITCH_NS_MAX   40000ull

/* Later ones are no times of a clock. */
#define TIME_MAX ((uint64_t)INT64_MAX)

/* More than any kernel has (CONFIG_NR_CPUS), and than a slice can name. */
enum { CPUS_MAX = 65536 };

struct states_cpu {
	struct thread *running; /* NULL: none of ours, or nobody knows */
	uint64_t last_ns;       /* of the last record */
	uint64_t switch_ns;     /* of the last switch */
	uint64_t left_ns;       /* when a thread of ours left it */
	uint64_t direct_ns;     /* length of nearly all direct switches */
	uint32_t left_tid;
	bool left_ready; /* preempted: the CPU did not idle after it */
	/* Its records were lost, but none since this time, and no switch came since; 0: otherwise.
	 * A thread that leaves the CPU was there at this time. */
	uint64_t whole_ns;
};

struct states {
	struct tracker *tracker;
	struct emit *emit;
	struct states_cpu *cpus; /* by number */
	size_t cpu_count;
	size_t cpu_capacity;
	uint64_t start_ns;
	uint64_t now_ns;      /* time of the youngest record */
	uint64_t last_end_ns; /* of the slices written; no present slice is too long by then */
	uint64_t next_cut_ns; /* no slice gets too long before */
	uint64_t losses;
	const struct switch_lead
		*lead; /* of switches that threads' events record; NULL: others do */
	struct states_counts counts;
};

static uint64_t later(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

/* The tracker's clock follows its records, whatever they say. */
static uint64_t time_of_tracker(const struct states *states, uint64_t time_ns)
{
	return time_ns <= TIME_MAX ? time_ns : states->now_ns;
}

/* NULL: no such CPU, or out of memory. */
static struct states_cpu *find_cpu(struct states *states, uint32_t number)
{
	if (number < states->cpu_count)
		return &states->cpus[number];
	if (number >= CPUS_MAX || !array_reserve(&states->cpus, &states->cpu_capacity,
						 (size_t)number + 1, sizeof(*states->cpus)))
		return NULL;
	while (states->cpu_count <= number)
		states->cpus[states->cpu_count++] = (struct states_cpu){0};
	return &states->cpus[number];
}

static void put_slice(struct states *states, struct thread *thread, uint64_t end_ns, uint8_t flags)
{
	struct thread_state *state = &thread->state;
	struct profile_slice slice = {
		.run_ns = (uint32_t)(end_ns - state->since_ns),
		.ready_ns = state->ready_ns,
		.tid = thread->tid,
		.cpu = state->cpu,
		.before = state->before,
		.flags = state->flags | flags,
	};
	assert(end_ns >= states->last_end_ns && end_ns - state->since_ns <= PROFILE_SLICE_NS_MAX);
	emit_slice(states->emit, &slice, state->since_ns);
	states->counts.run_ns += slice.run_ns;
	state->run_ns += slice.run_ns;
	states->last_end_ns = end_ns;
	state->since_ns = end_ns;
	state->before = PROFILE_STATE_RUNNING;
	state->ready_ns = 0;
	state->flags = 0;
}

static struct thread *find_longest(const struct states *states)
{
	struct thread *found = NULL;
	for (size_t i = 0; i < states->cpu_count; i++) {
		struct thread *thread = states->cpus[i].running;
		if (thread && (!found || thread->state.since_ns < found->state.since_ns))
			found = thread;
	}
	return found;
}

/* Writes the slices that are as long as they may be by now. */
static void cut_long(struct states *states, uint64_t now_ns)
{
	while (now_ns >= states->next_cut_ns) {
		struct thread *thread = find_longest(states);
		uint64_t end_ns =
			thread ? thread->state.since_ns + PROFILE_SLICE_NS_MAX : UINT64_MAX;
		if (!thread || end_ns > now_ns) {
			states->next_cut_ns = end_ns;
			return;
		}
		put_slice(states, thread, end_ns, 0);
	}
}

/* The thread's present slice ends; the state goes on as `next`. */
static void end_slice(struct states *states, struct thread *thread, uint64_t end_ns, uint8_t flags,
		      enum profile_state next)
{
	struct thread_state *state = &thread->state;
	assert(state->now == PROFILE_STATE_RUNNING);
	/* The order of ends stands above a moment's truth where records come late. */
	end_ns = later(end_ns, later(states->last_end_ns, state->since_ns));
	if (end_ns >= states->next_cut_ns)
		cut_long(states, end_ns);
	put_slice(states, thread, end_ns, flags);
	if (states->cpus[state->cpu].running == thread)
		states->cpus[state->cpu].running = NULL;
	state->now = (uint8_t)next;
	state->woken_ns = 0;
	state->losses = states->losses;
}

/* Ends a slice whose end was lost, at the last moment that is known of its CPU. */
static void cut_slice(struct states *states, struct thread *thread, uint64_t now_ns)
{
	uint64_t last_ns = states->cpus[thread->state.cpu].last_ns;
	end_slice(states, thread, last_ns < now_ns ? last_ns : now_ns, PROFILE_SLICE_CUT,
		  PROFILE_STATE_UNKNOWN);
	states->counts.cut++;
	thread->state.losses--; /* there may be slices before its next one */
}

static uint32_t limit_ready(uint64_t ready_ns)
{
	return ready_ns < UINT32_MAX ? (uint32_t)ready_ns : UINT32_MAX;
}

static uint32_t ready_part(const struct thread_state *state, uint64_t until_ns)
{
	bool is_known = state->woken_ns > 0 && state->now != PROFILE_STATE_READY;
	return is_known && state->woken_ns < until_ns ? limit_ready(until_ns - state->woken_ns) : 0;
}

/* What the thread did up to now becomes the time before its slice. */
static void leave_state(const struct states *states, struct thread_state *state, uint64_t time_ns)
{
	state->before = state->now;
	state->ready_ns = ready_part(state, time_ns);
	state->flags = state->losses != states->losses ? PROFILE_SLICE_AFTER_LOSS : 0;
	state->off_ns = state->since_ns;
	state->since_ns = time_ns;
	state->is_first = false;
}

static void begin_slice(struct states *states, struct thread *thread, uint64_t time_ns,
			uint32_t cpu)
{
	struct thread_state *state = &thread->state;
	if (states->cpus[cpu].running)
		cut_slice(states, states->cpus[cpu].running, time_ns);
	if (states->last_end_ns > PROFILE_SLICE_NS_MAX)
		time_ns = later(time_ns, states->last_end_ns - PROFILE_SLICE_NS_MAX);
	leave_state(states, state, time_ns);
	state->now = PROFILE_STATE_RUNNING;
	state->cpu = (uint16_t)cpu;
	state->on_ns = time_ns;
	states->cpus[cpu].running = thread;
	if (states->next_cut_ns > time_ns + PROFILE_SLICE_NS_MAX)
		states->next_cut_ns = time_ns + PROFILE_SLICE_NS_MAX;
	states->counts.switches++;
}

/* Whether the thread left the CPU able to run on, and no other thread of ours was there since. */
static bool is_last_there(const struct states *states, const struct states_cpu *cpu,
			  const struct thread *thread)
{
	const struct thread_state *state = &thread->state;
	return !cpu->running && cpu->left_ready && cpu->left_tid == thread->tid &&
	       cpu->left_ns == state->since_ns && state->now == PROFILE_STATE_READY &&
	       state->losses == states->losses;
}

/* A thread whose way to this CPU was not recorded ran there at now_ns. Kernels may keep switches
 * from some tasks to themselves (agents of a virtual machine's host): whom such a task preempted,
 * for a moment, gets the CPU back unseen. */
static void find_running(struct states *states, struct thread *thread, uint64_t now_ns,
			 uint32_t cpu)
{
	struct thread_state *state = &thread->state;
	uint64_t from_ns = later(state->since_ns, states->start_ns);
	uint64_t whole_ns = states->cpus[cpu].whole_ns;
	if (!state->is_first && !is_last_there(states, &states->cpus[cpu], thread))
		from_ns = whole_ns > 0 ? later(from_ns, whole_ns) : now_ns;
	/* Of a recording: no earlier than another thread left the CPU. */
	else if (state->is_first && state->now == PROFILE_STATE_UNKNOWN)
		from_ns = later(from_ns, states->cpus[cpu].left_ns);
	/* What lies further back can no longer be written in order. */
	if (now_ns > PROFILE_SLICE_NS_MAX && from_ns < now_ns - PROFILE_SLICE_NS_MAX) {
		from_ns = now_ns - PROFILE_SLICE_NS_MAX;
		state->now = PROFILE_STATE_UNKNOWN;
	}
	from_ns = from_ns < now_ns ? from_ns : later(now_ns, state->since_ns);
	begin_slice(states, thread, from_ns, cpu);
}

/* Whether the thread may be on a CPU, unknown to us. */
static bool is_doubtful(const struct states *states, const struct thread_state *state)
{
	return state->now != PROFILE_STATE_RUNNING &&
	       (state->losses != states->losses ||
		(state->is_first && state->now == PROFILE_STATE_READY));
}

static uint64_t put_in_order(struct states *states, const struct thread *thread, uint64_t time_ns)
{
	if (time_ns >= thread->state.since_ns)
		return time_ns;
	states->counts.unordered++;
	return thread->state.since_ns;
}

/* Follows the length that nearly all direct switches have at most. It has several modes: some
 * switches program a timer, and some do not, thousands in a row. */
static void learn_direct(struct states_cpu *cpu, uint64_t gap_ns)
{
	if (gap_ns > cpu->direct_ns)
		cpu->direct_ns += cpu->direct_ns / 16 + 64;
	else
		cpu->direct_ns -= cpu->direct_ns / 1024;
}

/* From one thread of ours to another, the kernel's accounting gives the time of the switch itself
 * to the second one: update_curr ends the first one's before it (kernel/sched/core.c, __schedule).
 * Its records come at both ends of the switch. */
static uint64_t begin_of_switch(struct states_cpu *cpu, const struct thread *thread,
				uint64_t time_ns)
{
	uint64_t gap_ns = time_ns - cpu->left_ns;
	if (cpu->left_ns == 0 || cpu->left_tid == thread->tid || time_ns < cpu->left_ns ||
	    gap_ns > SWITCH_NS_MAX)
		return time_ns;
	/* What could run on does not leave the CPU idle. */
	bool is_direct = cpu->left_ready || gap_ns <= later(SWITCH_NS_LEAST, 2 * cpu->direct_ns);
	if (cpu->left_ready)
		learn_direct(cpu, gap_ns);
	return is_direct ? later(cpu->left_ns, thread->state.since_ns) : time_ns;
}

/* Where the thread's run begins by the kernel's accounting. */
static uint64_t begin_of_run(const struct states *states, struct states_cpu *cpu,
			     const struct thread *thread, const struct record *record,
			     uint64_t time_ns)
{
	bool has_lead = states->lead && !record->switched.by_cpu;
	uint64_t lead_ns = has_lead ? switch_lead_ns(states->lead) : 0;
	if (lead_ns == 0)
		return begin_of_switch(cpu, thread, time_ns);
	uint64_t begin_ns = time_ns > lead_ns ? time_ns - lead_ns : 0;
	begin_ns = later(begin_ns, later(cpu->left_ns, thread->state.since_ns));
	return begin_ns < time_ns ? begin_ns : time_ns;
}

static void switch_in(struct states *states, struct thread *thread, const struct record *record)
{
	struct thread_state *state = &thread->state;
	uint64_t time_ns = put_in_order(states, thread, record->time_ns);
	if (state->now == PROFILE_STATE_RUNNING)
		cut_slice(states, thread, time_ns);
	struct states_cpu *cpu = &states->cpus[record->cpu];
	time_ns = begin_of_run(states, cpu, thread, record, time_ns);
	/* A look that came after this switch says nothing of the time before. */
	if (state->is_first && time_ns < state->looked_ns && state->now == PROFILE_STATE_READY)
		state->now = PROFILE_STATE_BLOCKED;
	begin_slice(states, thread, later(time_ns, state->since_ns), record->cpu);
	cpu->whole_ns = 0;
}

static void switch_out(struct states *states, struct thread *thread, const struct record *record)
{
	struct thread_state *state = &thread->state;
	uint64_t time_ns = put_in_order(states, thread, record->time_ns);
	enum profile_state next = record->switched.preempted ? PROFILE_STATE_READY
				  : record->switched.stopped ? PROFILE_STATE_STOPPED
							     : PROFILE_STATE_BLOCKED;
	if (state->now == PROFILE_STATE_RUNNING && state->cpu != record->cpu)
		cut_slice(states, thread, time_ns);
	if (state->now != PROFILE_STATE_RUNNING)
		find_running(states, thread, time_ns, record->cpu);
	end_slice(states, thread, time_ns, 0, next);
	struct states_cpu *cpu = &states->cpus[record->cpu];
	cpu->whole_ns = 0;
	cpu->left_ns = record->time_ns;
	cpu->left_tid = thread->tid;
	cpu->left_ready = record->switched.preempted;
}

/* A task without an id ends, or lies outside of this namespace. */
static bool is_task(uint32_t id)
{
	return id != 0 && id != UINT32_MAX;
}

/* Switches seen on a CPU may be of others' threads, or of ours before the collection. */
static bool may_be_new(const struct states *states, const struct record *record,
		       const struct thread *thread)
{
	if (!is_task(record->pid) || !is_task(record->tid))
		return false;
	return !record->switched.by_cpu ||
	       (!thread && tracker_find_process(states->tracker, record->pid));
}

static void apply_switch(struct states *states, const struct record *record)
{
	struct thread *thread = tracker_find_thread(states->tracker, record->pid, record->tid);
	if ((!thread || thread->end_ns != PROFILE_TIME_NEVER) && may_be_new(states, record, thread))
		thread = tracker_thread(states->tracker, record->pid, record->tid);
	if (!thread || thread->end_ns != PROFILE_TIME_NEVER ||
	    (record->switched.by_cpu && thread->state.is_held))
		return;
	if (record->switched.out)
		switch_out(states, thread, record);
	else
		switch_in(states, thread, record);
}

/* Records of the CPU were lost, some time before this one. */
static void apply_lost(struct states *states, const struct record *record)
{
	struct states_cpu *cpu = &states->cpus[record->cpu];
	/* Other records may have come since the first loss. */
	uint64_t known_ns = record->only_switches ? cpu->switch_ns : cpu->last_ns;
	if (!record->has_lost_switches)
		return;
	states->losses++;
	if (cpu->running)
		cut_slice(states, cpu->running, record->only_switches ? known_ns : record->time_ns);
	/* More may be lost from here on, where the number is not known yet. */
	cpu->whole_ns = record->lost > 0 ? record->time_ns : 0;
	for (size_t i = 0; i < states->cpu_count; i++) {
		struct thread *thread = states->cpus[i].running;
		if (!thread)
			continue;
		/* It got there after the first loss: it may have run on the other CPU before. */
		if (thread->state.on_ns > known_ns && thread->state.on_ns == thread->state.since_ns)
			thread->state.flags |= PROFILE_SLICE_AFTER_LOSS;
		thread->state.losses = states->losses;
	}
	if (record->lost_switches > 0)
		emit_note(states->emit, PROFILE_NOTE_SWITCHES_LOST, record->time_ns,
			  .value = record->lost_switches, .tid = record->cpu);
}

/* A record of the program: its exec was before. */
static void release(const struct states *states, const struct record *record)
{
	struct thread *thread = tracker_find_thread(states->tracker, record->pid, record->tid);
	if (thread)
		thread->state.is_held = false;
}

/* The launched program's life begins with its exec. */
static void begin_launched(struct states *states, const struct record *record)
{
	struct thread *thread = tracker_find_thread(states->tracker, record->pid, record->tid);
	/* Preempted between the kernel's start of the events and the record of the exec, it has
	 * been seen on its CPU. */
	if (!thread || !thread->state.is_held || thread->start_ns <= thread->state.since_ns ||
	    thread->state.now == PROFILE_STATE_RUNNING)
		return;
	thread->state.since_ns = thread->start_ns;
	thread->state.now = PROFILE_STATE_READY;
}

/* The record's thread is on its CPU. */
static void show_running(struct states *states, const struct record *record, bool is_certain)
{
	struct thread *thread = tracker_find_thread(states->tracker, record->pid, record->tid);
	if (!thread || thread->end_ns != PROFILE_TIME_NEVER)
		return;
	if (is_doubtful(states, &thread->state))
		find_running(states, thread, record->time_ns, record->cpu);
	else if (is_certain && thread->state.now != PROFILE_STATE_RUNNING)
		begin_slice(states, thread, put_in_order(states, thread, record->time_ns),
			    record->cpu);
}

/* The clock jumped: nobody ran that long. */
static void cut_all(struct states *states, uint64_t now_ns)
{
	for (size_t i = 0; i < states->cpu_count; i++)
		if (states->cpus[i].running)
			cut_slice(states, states->cpus[i].running, now_ns);
}

static void advance(struct states *states, uint64_t now_ns)
{
	if (now_ns > states->now_ns && now_ns - states->now_ns > JUMP_NS)
		cut_all(states, states->now_ns);
	states->now_ns = later(states->now_ns, now_ns);
	/* A slice may have begun long ago: where its record was late. */
	if (states->now_ns >= states->next_cut_ns)
		cut_long(states, states->now_ns);
}

void states_apply(struct states *states, const struct record *record)
{
	struct states_cpu *cpu = find_cpu(states, record->cpu);
	if (!cpu || record->time_ns > TIME_MAX)
		return;
	advance(states, record->time_ns);
	switch (record->kind) {
	case RECORD_SWITCH:
		apply_switch(states, record);
		cpu->switch_ns = later(cpu->switch_ns, record->time_ns);
		break;
	case RECORD_LOST:
		apply_lost(states, record);
		break;
	case RECORD_SAMPLE:
		release(states, record);
		show_running(states, record, false);
		break;
	case RECORD_MMAP:
		release(states, record);
		break;
	case RECORD_COMM:
		if (record->comm.exec)
			begin_launched(states, record);
		release(states, record);
		/* The launched program begins, or exec gave the thread another id. */
		if (record->comm.exec)
			show_running(states, record, true);
		break;
	default:
		break;
	}
	cpu->last_ns = later(cpu->last_ns, record->time_ns);
}

/* Threads are opened one by one, which may take its time. One that waits by now, and was there when
 * the collection began, is taken to have waited from then on. */
static void look_at_attached(const struct states *states, struct thread *thread)
{
	struct thread_state *state = &thread->state;
	struct task_state look = task_state_read(thread->pid, thread->tid);
	state->now = (uint8_t)look.state;
	state->looked_ns = clock_now();
	state->is_first = true;
	if (look.state == PROFILE_STATE_BLOCKED && thread->start_ns > states->start_ns &&
	    state->looked_ns - states->start_ns < look.age_ns)
		thread->start_ns = state->since_ns = states->start_ns;
}

static void take_birth(void *user, struct thread *thread, enum tracker_birth birth)
{
	struct states *states = user;
	struct thread_state *state = &thread->state;
	*state = (struct thread_state){
		.since_ns = time_of_tracker(states, thread->start_ns),
		.losses = states->losses,
		.now = PROFILE_STATE_READY,
	};
	/* A recording says only that it was there before. */
	if (birth == TRACKER_BORN && thread->start_ns <= states->start_ns)
		birth = TRACKER_FOUND;
	switch (birth) {
	case TRACKER_BORN:
		break;
	case TRACKER_LAUNCHED: /* waits for its exec */
		state->now = PROFILE_STATE_BLOCKED;
		state->is_held = true;
		break;
	case TRACKER_ATTACHED:
		look_at_attached(states, thread);
		break;
	case TRACKER_FOUND:
		state->is_first = true;
		state->losses--;
		if (thread->start_ns <= states->start_ns)
			state->now = PROFILE_STATE_UNKNOWN;
		break;
	}
}

/* The last slice of a thread that does not run, of 0 ns. */
static void end_idle(struct states *states, struct thread *thread, uint64_t time_ns)
{
	leave_state(states, &thread->state, later(time_ns, thread->state.since_ns));
	thread->state.since_ns = later(thread->state.since_ns, states->last_end_ns);
	put_slice(states, thread, thread->state.since_ns, 0);
}

static void end_state(struct states *states, struct thread *thread, uint64_t time_ns)
{
	if (thread->state.now == PROFILE_STATE_RUNNING)
		end_slice(states, thread, time_ns, 0, PROFILE_STATE_UNKNOWN);
	else
		end_idle(states, thread, time_ns);
}

static void take_end(void *user, struct thread *thread, uint64_t time_ns,
		     const struct record *record)
{
	struct states *states = user;
	struct thread_state *state = &thread->state;
	time_ns = time_of_tracker(states, time_ns);
	advance(states, time_ns);
	if (!record && state->now == PROFILE_STATE_RUNNING)
		cut_slice(states, thread, time_ns);
	/* Found by attaching and born again by its fork's record: the first life was none. */
	if (!record && state->is_first)
		return;
	if (record && is_doubtful(states, state) && find_cpu(states, record->cpu))
		find_running(states, thread, put_in_order(states, thread, time_ns), record->cpu);
	end_state(states, thread, time_ns);
}

struct states *states_create(struct tracker *tracker, struct emit *emit)
{
	struct states *states = calloc(1, sizeof(*states));
	if (!states)
		return NULL;
	states->tracker = tracker;
	states->emit = emit;
	states->next_cut_ns = UINT64_MAX;
	tracker_listen(tracker, &(struct tracker_listener){take_birth, take_end, states});
	return states;
}

void states_destroy(struct states *states)
{
	if (!states)
		return;
	free(states->cpus);
	free(states);
}

void states_begin(struct states *states, uint64_t start_ns)
{
	states->start_ns = start_ns;
}

void states_follow_lead(struct states *states, const struct switch_lead *lead)
{
	states->lead = lead;
}

void states_lose_rest(struct states *states)
{
	states->losses++;
	cut_all(states, states->now_ns);
}

void states_finish(struct states *states, uint64_t end_ns)
{
	size_t position = 0;
	advance(states, end_ns < TIME_MAX ? end_ns : TIME_MAX);
	/* One end for all. */
	end_ns = later(states->now_ns, states->last_end_ns);
	for (struct thread *t; (t = tracker_next_thread(states->tracker, &position));)
		end_state(states, t, end_ns);
}

bool states_find(const struct states *states, uint32_t tid, struct states_now *now)
{
	const struct thread *thread = tracker_find_live(states->tracker, tid);
	if (!thread)
		return false;
	const struct thread_state *state = &thread->state;
	bool is_running = state->now == PROFILE_STATE_RUNNING;
	*now = (struct states_now){.state = (enum profile_state)state->now,
				   .since_ns = is_running ? state->on_ns : state->since_ns,
				   .after_loss = !is_running && state->losses != states->losses};
	return true;
}

/* Whether the time lies between the slice at hand, still in one piece, and the one before. */
static bool is_before_slice(const struct thread_state *state, uint64_t time_ns)
{
	return state->now == PROFILE_STATE_RUNNING && state->before != PROFILE_STATE_RUNNING &&
	       time_ns >= state->off_ns && time_ns <= state->on_ns;
}

void states_note_wake(struct states *states, uint32_t tid, uint64_t woken_ns)
{
	struct thread *thread = tracker_find_live(states->tracker, tid);
	if (!thread)
		return;
	struct thread_state *state = &thread->state;
	if (is_before_slice(state, woken_ns) && state->before != PROFILE_STATE_READY)
		state->ready_ns = limit_ready(state->on_ns - woken_ns);
	else if (state->now != PROFILE_STATE_RUNNING && woken_ns >= state->since_ns)
		state->woken_ns = woken_ns;
}

void states_note_stop(struct states *states, uint32_t tid, uint64_t time_ns)
{
	struct thread *thread = tracker_find_live(states->tracker, tid);
	if (!thread)
		return;
	struct thread_state *state = &thread->state;
	if (is_before_slice(state, time_ns) && state->before == PROFILE_STATE_BLOCKED)
		state->before = PROFILE_STATE_STOPPED;
	else if (state->now == PROFILE_STATE_BLOCKED && time_ns >= state->since_ns)
		state->now = PROFILE_STATE_STOPPED;
}

void states_counts(const struct states *states, struct states_counts *counts)
{
	*counts = states->counts;
}
