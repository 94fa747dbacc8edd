#include "collector/sampling.h"

#include "collector/mix.h"

enum { TICKS_LEAST = 2, TICKS_MAX = 8 };

#define TICK_MIN_NS 250000u

/* Parts of the mean distance by which a tick may differ, of 1000. */
enum { SPREAD = 150 };

/* One tick for each sample is shorter than the interval, however far it is from the mean: what is
 * drawn from longer ones would be too few. */
static uint64_t distance_ns(uint64_t interval_ns, uint64_t ticks)
{
	uint64_t longest = interval_ns * 1000 / (1000 + SPREAD);
	return interval_ns / ticks < longest ? interval_ns / ticks : longest;
}

struct sampling sampling_choose(enum profile_sampling kind, uint64_t interval_ns, uint64_t seed)
{
	uint64_t ticks = interval_ns / TICK_MIN_NS;
	ticks = ticks < 1 ? 1 : ticks > TICKS_MAX ? TICKS_MAX : ticks;
	struct sampling sampling = {kind, interval_ns, interval_ns, seed};
	if (sampling_is_random(&sampling))
		sampling.tick_ns = distance_ns(interval_ns, ticks);
	return sampling;
}

bool sampling_lessen(struct sampling *sampling)
{
	uint64_t ticks = sampling->interval_ns / sampling->tick_ns;
	if (ticks <= TICKS_LEAST)
		return false;
	sampling->tick_ns = distance_ns(sampling->interval_ns, ticks - 1);
	return true;
}

uint64_t sampling_tick_ns(const struct sampling *sampling, uint32_t cpu, uint32_t turn)
{
	if (sampling->kind == PROFILE_SAMPLING_FIXED)
		return sampling->tick_ns;
	uint64_t drawn = mix64(sampling->seed ^ mix64((uint64_t)turn << 32 | cpu)) >> 32;
	uint64_t spread = sampling->tick_ns * SPREAD / 1000;
	return sampling->tick_ns - spread + (2 * spread * drawn >> 32);
}

bool sampling_keeps(const struct sampling *sampling, uint64_t period_ns, uint32_t tid,
		    uint64_t time_ns)
{
	if (sampling->kind == PROFILE_SAMPLING_CPUS || period_ns >= sampling->interval_ns)
		return true;
	uint64_t drawn = mix64(mix64(time_ns ^ sampling->seed) ^ tid) >> 32;
	return drawn < (period_ns << 32) / sampling->interval_ns;
}

uint64_t sampling_weigh(const struct sampling *sampling, uint64_t period_ns, uint64_t measured_ns)
{
	if (period_ns == 0 || period_ns >= sampling->interval_ns)
		return measured_ns;
	unsigned __int128 weight = (unsigned __int128)measured_ns * sampling->interval_ns;
	weight /= period_ns;
	return weight < UINT64_MAX ? (uint64_t)weight : UINT64_MAX;
}
