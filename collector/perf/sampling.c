#include "collector/perf/sampling.h"

#include <assert.h>
#include <stddef.h>

enum { TICKS_LEAST = 20 };

/* Ticks for ten samples. An undrawn tick of a CPU costs about 1.5 us; one of a thread has its copy,
 * and costs 8 us: 0.24 % of a CPU at 10 ms, 1 % at 1 ms. */
static const struct {
	uint64_t interval_ns; /* from here on */
	uint16_t of_cpus, of_threads;
} ticks_by_interval[] = {{2000000, 80, 30}, {1000000, 30, 22}, {500000, 20, 20}, {0, 10, 10}};

/* Parts of the mean distance by which a tick may differ, of 1000. */
enum { SPREAD = 150 };

/* Simple ticks: within 1/NEARNESS of a part of the interval, up to PARTS_MAX; half of all draws. */
enum { PARTS_MAX = 24, NEARNESS = 256, DRAWS_MAX = 32 };

/* A single tick for each sample must be shorter than the interval even at the longest draw: from
 * longer ticks too few samples would be drawn. */
static uint64_t distance_ns(uint64_t interval_ns, uint64_t ticks)
{
	uint64_t longest = interval_ns * 1000 / (1000 + SPREAD);
	uint64_t distance = interval_ns * 10 / ticks;
	return distance < longest ? distance : longest;
}

static uint64_t choose_ticks(enum profile_sampling kind, uint64_t interval_ns)
{
	size_t i = 0;
	while (interval_ns < ticks_by_interval[i].interval_ns)
		i++;
	return kind == PROFILE_SAMPLING_CPUS ? ticks_by_interval[i].of_cpus
					     : ticks_by_interval[i].of_threads;
}

struct sampling sampling_choose(enum profile_sampling kind, uint64_t interval_ns, uint64_t seed)
{
	assert(interval_ns > 0);
	struct sampling sampling = {kind, interval_ns, interval_ns, seed};
	if (sampling_is_random(&sampling))
		sampling.tick_ns = distance_ns(interval_ns, choose_ticks(kind, interval_ns));
	return sampling;
}

bool sampling_lessen(struct sampling *sampling)
{
	uint64_t ticks = sampling->interval_ns * 10 / sampling->tick_ns;
	if (ticks <= TICKS_LEAST)
		return false;
	ticks = ticks > TICKS_LEAST + 10 ? ticks - 10 : TICKS_LEAST;
	sampling->tick_ns = distance_ns(sampling->interval_ns, ticks);
	return true;
}

/* Cycles of programs are round numbers more often than not, and intervals too: ticks that are a
 * simple part of the interval, or nearly, would meet a few points of such a cycle only. */
static bool is_simple(uint64_t tick_ns, uint64_t interval_ns)
{
	for (uint64_t parts = 1; parts <= PARTS_MAX; parts++) {
		uint64_t whole = (tick_ns * parts + interval_ns / 2) / interval_ns * interval_ns;
		uint64_t off =
			tick_ns * parts > whole ? tick_ns * parts - whole : whole - tick_ns * parts;
		if (off * NEARNESS < whole)
			return true;
	}
	return false;
}

/* A mixing function for draws: each input bit changes half of the output bits. The finalizer of
 * MurmurHash3. */
static uint64_t mix64(uint64_t value)
{
	value = (value ^ value >> 33) * 0xff51afd7ed558ccdull;
	value = (value ^ value >> 33) * 0xc4ceb9fe1a85ec53ull;
	return value ^ value >> 33;
}

static uint64_t draw_tick_ns(const struct sampling *sampling, uint64_t from)
{
	uint64_t spread = sampling->tick_ns * SPREAD / 1000;
	uint64_t drawn = mix64(sampling->seed ^ mix64(from)) >> 32;
	return sampling->tick_ns - spread + (2 * spread * drawn >> 32);
}

uint64_t sampling_tick_ns(const struct sampling *sampling, uint32_t cpu, uint32_t turn)
{
	if (sampling->kind == PROFILE_SAMPLING_FIXED)
		return sampling->tick_ns;
	uint64_t from = (uint64_t)turn << 32 | cpu;
	uint64_t tick_ns = draw_tick_ns(sampling, from);
	for (uint64_t i = 1; i < DRAWS_MAX && is_simple(tick_ns, sampling->interval_ns); i++)
		tick_ns = draw_tick_ns(sampling, from ^ mix64(i));
	return tick_ns;
}

bool sampling_keeps(const struct sampling *sampling, uint64_t period_ns, uint32_t tid,
		    uint64_t time_ns)
{
	if (sampling->kind == PROFILE_SAMPLING_CPUS || period_ns >= sampling->interval_ns)
		return true;
	assert(period_ns <= UINT32_MAX); /* intervals are a second at most */
	uint64_t drawn = mix64(mix64(time_ns ^ sampling->seed) ^ tid) >> 32;
	return drawn < (period_ns << 32) / sampling->interval_ns;
}

bool sampling_keeps_stack(uint32_t share, uint32_t tid, uint64_t time_ns)
{
	return share == SAMPLING_SHARE_ALL || mix64(mix64(time_ns) ^ tid) >> 32 < share;
}

uint64_t sampling_weigh(const struct sampling *sampling, uint64_t period_ns, uint64_t measured_ns)
{
	if (period_ns == 0 || period_ns >= sampling->interval_ns)
		return measured_ns;
	unsigned __int128 weight = (unsigned __int128)measured_ns * sampling->interval_ns;
	weight /= period_ns;
	return weight < UINT64_MAX ? (uint64_t)weight : UINT64_MAX;
}
