#include "collector/stream/switch_source.h"

#include "collector/bpf/sources.h"
#include "collector/machine/clock.h"
#include <string.h>
#include <time.h>

/* Tries to read two clocks at one moment; the narrowest counts. */
enum { MOMENT_TRIES = 4 };

/* Between two moments, so that their own width is a small part of the distance. */
#define MOMENTS_NS 1000000u

static struct switch_moment read_moment(void)
{
	struct switch_moment best = {0, 0};
	uint64_t best_width = UINT64_MAX;
	for (int i = 0; i < MOMENT_TRIES; i++) {
		uint64_t before = clock_now();
		uint64_t monotonic_ns = clock_read(CLOCK_MONOTONIC);
		uint64_t width = clock_now() - before;
		if (width >= best_width)
			continue;
		best_width = width;
		best = (struct switch_moment){monotonic_ns, before + width / 2};
	}
	return best;
}

/* The clocks differ by the corrections of network time: by up to 500 millionths, and evenly between
 * two moments. */
static uint64_t raw_time(const struct switch_source *state, uint64_t monotonic_ns)
{
	const struct switch_moment *before = &state->before;
	double slope = (double)(state->last.raw_ns - before->raw_ns) /
		       (double)(state->last.monotonic_ns - before->monotonic_ns);
	int64_t since_ns = (int64_t)(monotonic_ns - before->monotonic_ns);
	return before->raw_ns + (uint64_t)(int64_t)((double)since_ns * slope);
}

void switch_source_begin(struct switch_source *state, struct switches_source *rings, uint32_t cpu)
{
	struct switch_moment now = read_moment();
	*state = (struct switch_source){
		.rings = rings,
		.cpu = cpu,
		.head = switches_source_tail(rings, cpu),
		.tail = switches_source_tail(rings, cpu),
		.before = {now.monotonic_ns - MOMENTS_NS, now.raw_ns - MOMENTS_NS},
		.last = now,
	};
}

bool switch_source_is_full(const struct switches_source *rings, uint32_t cpu, unsigned eighths)
{
	uint64_t fill = switches_source_head(rings, cpu) - switches_source_tail(rings, cpu);
	return fill > (uint64_t)switches_source_capacity(rings) / 8 * eighths;
}

static const struct switch_record *at_tail(const struct switch_source *state)
{
	return switches_source_at(state->rings, state->cpu, state->tail);
}

/* Steps to what the record tells next. false: to nothing any more. */
static bool find_part(struct switch_source *state, const struct switch_record *record)
{
	struct switch_now *now = &state->now;
	if (now->part == SWITCH_LOST && record->lost == state->lost)
		now->part = SWITCH_FROM;
	if (now->part == SWITCH_FROM && record->from_tid == 0)
		now->part = SWITCH_TO;
	if (now->part == SWITCH_TO && record->to_tid == 0)
		now->part = SWITCH_PARTS;
	return now->part != SWITCH_PARTS;
}

static void read_time(struct switch_source *state, const struct switch_record *record)
{
	uint64_t time_ns = raw_time(state, record->time_ns);
	if (time_ns > state->now.time_ns)
		state->now.time_ns = time_ns;
}

static void refresh(const struct source *source)
{
	struct switch_source *state = source->state;
	struct switch_moment now = read_moment();
	switches_source_release(state->rings, state->cpu, state->tail);
	state->head = switches_source_head(state->rings, state->cpu);
	/* What is no ring's content is lost. */
	if (state->head - state->tail > switches_source_capacity(state->rings))
		state->tail = state->head;
	if (now.monotonic_ns < state->last.monotonic_ns + MOMENTS_NS)
		return;
	state->before = state->last;
	state->last = now;
}

/* Records are lost from the last one on. */
static void begin_loss(struct switch_source *state)
{
	state->now.lost = 0;
	if (state->now.time_ns == 0)
		state->now.time_ns = state->last.raw_ns;
}

/* What no record tells of: that some are lost from here on, or how many at the end. */
static bool find_rest(struct switch_source *state)
{
	struct switch_now *now = &state->now;
	uint32_t lost = (uint32_t)switches_source_lost(state->rings, state->cpu) - state->lost;
	if (lost == 0 || (state->is_losing && !state->is_ending))
		return false;
	now->part = SWITCH_LOST;
	now->lost = lost;
	if (!state->is_losing)
		begin_loss(state);
	else if (now->time_ns < state->last.raw_ns)
		now->time_ns = state->last.raw_ns;
	return true;
}

static bool peek(const struct source *source, const void **bytes, size_t *size)
{
	struct switch_source *state = source->state;
	struct switch_now *now = &state->now;
	*bytes = now;
	*size = sizeof(*now);
	for (; state->tail != state->head; state->tail++, now->part = SWITCH_LOST) {
		const struct switch_record *record = at_tail(state);
		if (!find_part(state, record))
			continue;
		now->lost = record->lost - state->lost;
		if (now->part == SWITCH_LOST && !state->is_losing)
			begin_loss(state);
		else
			read_time(state, record);
		return true;
	}
	return find_rest(state);
}

static void consume(const struct source *source, size_t size)
{
	struct switch_source *state = source->state;
	(void)size;
	if (state->now.part == SWITCH_LOST) {
		state->lost += state->now.lost;
		state->is_losing = state->now.lost == 0;
	}
	/* The number of those lost comes next, where their begin was told. */
	if (state->tail != state->head && !state->is_losing)
		state->now.part++;
}

static bool find_time(const struct source *source, const void *bytes, size_t size,
		      uint64_t *time_ns)
{
	(void)source;
	const struct switch_now *now = bytes;
	(void)size;
	*time_ns = now->time_ns;
	return true;
}

static bool decode(const struct source *source, const void *bytes, size_t size,
		   struct record *record)
{
	const struct switch_source *state = source->state;
	const struct switch_now *now = bytes;
	(void)size;
	if (now->part == SWITCH_LOST) {
		memset(record, 0, sizeof(*record));
		record->kind = RECORD_LOST;
		record->lost = record->lost_switches = now->lost;
		record->has_lost_switches = record->only_switches = true;
	} else {
		const struct switch_record *seen = at_tail(state);
		bool is_from = now->part == SWITCH_FROM;
		record->kind = RECORD_SWITCH;
		record->pid = is_from ? seen->from_pid : seen->to_pid;
		record->tid = is_from ? seen->from_tid : seen->to_tid;
		record->switched.out = is_from;
		record->switched.preempted = is_from && (seen->flags & SWITCH_RECORD_RUNNABLE);
		record->switched.stopped = is_from && (seen->flags & SWITCH_RECORD_STOPPED);
		record->switched.by_cpu = true;
	}
	record->time_ns = now->time_ns;
	record->cpu = state->cpu;
	return true;
}

const struct source_kind source_switches = {refresh, peek, consume, find_time, decode, NULL};
