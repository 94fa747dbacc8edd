#include "collector/stream/fill.h"

#include "collector/perf/sampler.h"
#include "collector/stream/switch_source.h"
#include <stdlib.h>

enum {
	BEHIND_ALONE = 4,
	BEHIND_THREAD = 6, /* the thread is woken by the quarter, and may come at the half */
};

bool fill_init(struct fill *fill, const struct sampler *sampler)
{
	*fill = (struct fill){.sampler = sampler};
	fill->behind = calloc(sampler->cpus.count, sizeof(*fill->behind));
	return fill->behind != NULL;
}

void fill_finish(struct fill *fill)
{
	free(fill->behind);
	fill->behind = NULL;
}

bool fill_switches_exceed(const struct fill *fill, unsigned eighths)
{
	const struct sampler *sampler = fill->sampler;
	for (size_t i = 0; sampler->switches && i < sampler->cpus.count; i++)
		if (switch_source_is_full(sampler->switches, sampler->cpus.numbers[i], eighths))
			return true;
	return false;
}

bool fill_exceeds(const struct fill *fill, unsigned eighths)
{
	for (size_t i = 0; i < fill->sampler->cpus.count; i++) {
		const struct ring *ring = &fill->sampler->rings[i];
		if (ring_occupied(ring) > ring->size / 8 * eighths)
			return true;
	}
	return fill_switches_exceed(fill, eighths);
}

bool fill_has_records(const struct fill *fill)
{
	for (size_t i = 0; i < fill->sampler->cpus.count; i++)
		if (ring_occupied(&fill->sampler->rings[i]) > 0)
			return true;
	return fill_switches_exceed(fill, 0);
}

static bool is_behind(struct fill *fill, size_t ring_index, unsigned eighths)
{
	const struct ring *ring = &fill->sampler->rings[ring_index];
	size_t occupied = ring_occupied(ring);
	if (occupied > ring->size / 8 * eighths)
		fill->behind[ring_index] = true;
	else if (occupied < ring->size / 8 * (eighths - 2))
		fill->behind[ring_index] = false;
	return fill->behind[ring_index];
}

bool fill_is_behind(struct fill *fill, size_t ring)
{
	return is_behind(fill, ring, BEHIND_ALONE);
}

void fill_look_at(struct fill *fill, size_t ring)
{
	fill->behind_count -= fill->behind[ring];
	fill->behind_count += is_behind(fill, ring, BEHIND_THREAD);
}

bool fill_is_late(struct fill *fill, size_t ring)
{
	fill_look_at(fill, ring);
	fill_look_at(fill, fill->turn++ % fill->sampler->cpus.count);
	return fill->behind_count > 0;
}
