/* The threads' accounts of CPU time: each nanosecond counted by the events belongs to one thread,
 * once, or to no known thread. */
#include "collector/model/tracker_private.h"
#include "collector/result/emit.h"
#include <assert.h>

bool tracker_is_exact(const struct tracker *tracker)
{
	return tracker->events->sampling.kind == PROFILE_SAMPLING_CPUS;
}

bool tracker_is_random(const struct tracker *tracker)
{
	return sampling_is_random(&tracker->events->sampling);
}

bool tracker_has_unseen(const struct tracker *tracker)
{
	return tracker->events->has_count &&
	       event_kernel_time(tracker->events) == PROFILE_KERNEL_TIME_APART;
}

static void count(struct tracker *tracker, struct thread *thread, uint64_t cpu_ns)
{
	assert(thread->family < tracker->family_count);
	thread->cpu_ns += cpu_ns;
	tracker->families[thread->family].cpu_ns += cpu_ns;
	tracker->counts.cpu_ns += cpu_ns;
}

struct tick tracker_count_tick(struct tracker *tracker, struct thread *thread,
			       const struct record *record)
{
	const struct record_sample *sample = &record->sample;
	struct tick tick = {.user_ns = sample->period};
	if (tracker_is_exact(tracker))
		return tick;
	if (tracker->events->has_count)
		tick.user_ns = thread_advance(thread, record->source, sample->count);
	count(tracker, thread, tick.user_ns);
	thread_note_tick(thread, record->source, record->time_ns);
	if (!tracker_has_unseen(tracker) &&
	    !(tracker_is_random(tracker) && tracker->events->has_count))
		return tick;
	/* Time beyond the tick's distance was in the kernel, or belongs to lost ticks, which were
	 * no more of this function than of any. */
	uint64_t beyond = thread_unseen(thread, record->source, tick.user_ns, sample->period);
	tick.user_ns -= beyond;
	bool is_lost = thread_pass_gap(thread, record->source, tracker->gaps[record->source]);
	*(is_lost || !tracker_has_unseen(tracker) ? &tick.lost_ns : &tick.kernel_ns) = beyond;
	return tick;
}

/* Below PROFILE_KERNEL_ALL, a special value. */
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

/* Time in the kernel was measured at each tick, not drawn, and is not scaled: samples carry it
 * unchanged. */
static void weigh_random(const struct tracker *tracker, struct thread *thread,
			 const struct tick *tick, uint64_t period_ns, struct profile_stack *stack)
{
	stack->kernel_us = saturate_us(thread->rest_ns);
	uint64_t kernel_ns = UINT64_C(1000) * stack->kernel_us;
	uint64_t user_ns = sampling_weigh(&tracker->events->sampling, period_ns, tick->user_ns);
	/* A damaged record may hold any period and count. */
	if (__builtin_add_overflow(user_ns, kernel_ns, &stack->cpu_ns))
		stack->cpu_ns = UINT64_MAX;
	thread->rest_ns -= kernel_ns;
}

void tracker_weigh(struct tracker *tracker, struct thread *thread, const struct tick *tick,
		   uint64_t period_ns, bool is_kernel, struct profile_stack *stack)
{
	if (!tracker_is_random(tracker)) {
		weigh_fixed(thread, tick, stack);
	} else if (tracker_is_exact(tracker)) {
		stack->cpu_ns = tracker->events->sampling.interval_ns;
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
	assert(kernel_ns <= stack->cpu_ns);
	thread->kernel_ns += kernel_ns;
	thread->sampled_ns += stack->cpu_ns - kernel_ns;
}

void tracker_keep_pending(struct tracker *tracker, struct thread *thread, const struct tick *tick,
			  bool is_kernel)
{
	if (tracker_is_random(tracker))
		thread->rest_ns += tick->kernel_ns + (is_kernel ? tick->user_ns : 0);
}

uint64_t tracker_take_pending(const struct tracker *tracker, struct thread *thread)
{
	if (!tracker_is_random(tracker))
		return 0;
	uint64_t pending_ns = thread->rest_ns;
	thread->rest_ns = 0;
	return pending_ns;
}

/* The whole distances in CPU time after the last tick on a ring: no tick came at their ends, so the
 * thread was in the kernel. */
static uint64_t kernel_part(struct tracker *tracker, struct thread *thread, size_t ring_index,
			    uint64_t rest_ns)
{
	uint64_t tick_ns =
		sampling_tick_ns(&tracker->events->sampling, tracker->cpus->numbers[ring_index], 0);
	if (!tracker_has_unseen(tracker) || rest_ns < tick_ns ||
	    thread_pass_gap(thread, ring_index, tracker->gaps[ring_index]))
		return 0;
	return rest_ns / tick_ns * tick_ns;
}

bool tracker_count_final(struct tracker *tracker, struct thread *thread, uint64_t counted_ns,
			 size_t ring_index)
{
	uint64_t rest_ns = thread_advance(thread, ring_index, counted_ns);
	count(tracker, thread, rest_ns);
	thread->rest_ns += tracker_is_random(tracker)
				   ? kernel_part(tracker, thread, ring_index, rest_ns)
				   : rest_ns;
	return ++thread->final_counts >= tracker->cpus->count;
}

bool tracker_has_final_counts(const struct tracker *tracker)
{
	return tracker->events->final_counts && tracker->events->has_count;
}

bool tracker_has_open_account(const struct tracker *tracker, const struct thread *thread)
{
	if (tracker_is_exact(tracker))
		return !thread->is_exact;
	return thread->is_head ||
	       (tracker_has_final_counts(tracker) && thread->final_counts < tracker->cpus->count);
}

/* The estimate for a missing account: the samples' weights, or without samples half an interval. */
static uint64_t lack_of_account(const struct tracker *tracker, const struct thread *thread)
{
	uint64_t sampled_ns = thread->sampled_ns + thread->kernel_ns;
	return sampled_ns > 0 ? sampled_ns : tracker->events->sampling.interval_ns / 2;
}

bool tracker_has_runs(const struct tracker *tracker)
{
	return tracker->events->no_samples && tracker->listener.born;
}

void tracker_count_runs(struct tracker *tracker, struct thread *thread)
{
	const struct thread_state *state = &thread->state;
	bool is_open = thread->end_ns == PROFILE_TIME_NEVER && state->now == PROFILE_STATE_RUNNING;
	count(tracker, thread, state->run_ns);
	thread->rest_ns = thread->cpu_ns;
	/* Its present run is not among them. */
	if (is_open)
		thread->unseen_ns =
			tracker->now_ns > state->since_ns ? tracker->now_ns - state->since_ns : 1;
	thread->is_exact = true;
}

void tracker_close_account(struct tracker *tracker, struct thread *thread)
{
	bool is_closed =
		tracker_has_final_counts(tracker) && thread->final_counts >= tracker->cpus->count;
	if (thread->is_exact)
		return;
	if (tracker_has_runs(tracker)) {
		tracker_count_runs(tracker, thread);
	} else if (tracker_is_exact(tracker)) {
		thread->unseen_ns = lack_of_account(tracker, thread);
	} else if (!is_closed) {
		struct thread_lack lack =
			thread_lack(thread, tracker->events->sampling.tick_ns, tracker->now_ns);
		thread->unseen_ns = lack.unseen_ns;
		tracker->busy_ns += lack.busy_ns;
	}
}

uint64_t tracker_unattributed_kernel_ns(const struct tracker *tracker)
{
	if (!tracker_is_random(tracker) || !tracker_has_unseen(tracker) ||
	    tracker_is_exact(tracker) || tracker->open_ns <= tracker->busy_ns)
		return 0;
	return tracker->open_ns - tracker->busy_ns;
}
