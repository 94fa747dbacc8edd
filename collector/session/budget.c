#include "collector/session/budget.h"

#include "collector/perf/sampler.h"
#include <assert.h>

#define NS_PER_S  1000000000ull
#define NS_PER_MS 1000000ull

/* Longer than records may lie in the rings (DRAIN_POLL_MS): a step sees the work of its time. */
#define STEP_NS (250 * NS_PER_MS)

/* The longest pause between steps: a program changes. */
#define PAUSE_MAX_NS (5 * NS_PER_S)

/* CPU time of the program that a step takes to say something. */
#define STEP_PROGRAM_NS (50 * NS_PER_MS)

enum {
	READING_SHARE = 200, /* a reading takes at most one part in so many of the time, until the
				pause is the longest one */
	SHARE_PARTS = 64     /* one stack in SHARE_PARTS is always kept */
};

/* CPU time of the program for which the limit may be used ahead. */
#define AHEAD_NS (10 * NS_PER_S)

/* How much the share changes in a step, at most. */
#define LEAST_CHANGE 0.25
#define MOST_CHANGE  1.5

void budget_begin(struct budget *budget, double limit, uint64_t now_ns)
{
	*budget = (struct budget){.limit = limit,
				  .share = SAMPLING_SHARE_ALL,
				  .spare_ns = limit * (double)AHEAD_NS,
				  .next_ns = now_ns + NS_PER_S};
}

static uint32_t change_share(uint32_t share, double change)
{
	double changed = share * (change < LEAST_CHANGE  ? LEAST_CHANGE
				  : change > MOST_CHANGE ? MOST_CHANGE
							 : change);
	if (changed >= SAMPLING_SHARE_ALL)
		return SAMPLING_SHARE_ALL;
	return changed > SAMPLING_SHARE_ALL / SHARE_PARTS ? (uint32_t)changed
							  : SAMPLING_SHARE_ALL / SHARE_PARTS;
}

static uint64_t pause_after(uint64_t taken_ns)
{
	if (taken_ns >= PAUSE_MAX_NS / READING_SHARE)
		return PAUSE_MAX_NS;
	return taken_ns > STEP_NS / READING_SHARE ? taken_ns * READING_SHARE : STEP_NS;
}

/* Takes the use since the last step into account. */
static void follow_use(struct budget *budget, double own_ns, double program_ns)
{
	double allowed = budget->limit * program_ns, most = budget->limit * (double)AHEAD_NS;
	double left = budget->spare_ns + allowed - own_ns;

	budget->share = change_share(budget->share,
				     (allowed + budget->spare_ns) / (own_ns > 0 ? own_ns : 1));
	budget->spare_ns = left < 0 ? 0 : left < most ? left : most;
}

void budget_step(struct budget *budget, const struct budget_reading *reading)
{
	uint64_t own = reading->own_ns - budget->own_ns;
	uint64_t program = reading->program_ns > budget->program_ns
				   ? reading->program_ns - budget->program_ns
				   : 0;
	assert(budget->limit > 0); /* else no step is due */
	budget->next_ns = reading->now_ns + pause_after(reading->taken_ns);
	if (budget->is_counting && program < STEP_PROGRAM_NS)
		return;
	if (budget->is_counting)
		follow_use(budget, (double)own, (double)program);
	budget->is_counting = true;
	budget->own_ns = reading->own_ns;
	budget->program_ns = reading->program_ns;
}
