#include "profile/base/tsc.h"
#include <assert.h>
#include <stdbool.h>

typedef unsigned __int128 uint128;

static uint64_t time_at(const struct profile_clock *point, enum profile_sync_clock clock)
{
	switch (clock) {
	case PROFILE_SYNC_RAW:
		return point->raw_ns;
	case PROFILE_SYNC_DATE:
		return point->real_ns;
	case PROFILE_SYNC_MONOTONIC:
		return point->monotonic_ns;
	default:
		return point->tsc;
	}
}

/* The last point not after the time; the first if all are. */
static uint32_t find_point(const struct profile_clock *points, uint32_t count,
			   enum profile_sync_clock clock, uint64_t time)
{
	uint32_t low = 0, high = count; /* the point is at low or behind, before high */

	while (high - low > 1) {
		uint32_t middle = low + (high - low) / 2;
		if (time_at(&points[middle], clock) <= time)
			low = middle;
		else
			high = middle;
	}
	return low;
}

/* Of `to` in `from`, as a fraction. */
struct rate {
	uint64_t to;
	uint64_t from;
};

static struct rate nominal_rate(uint64_t tsc_per_ns_q32, enum profile_sync_clock from,
				enum profile_sync_clock to)
{
	const uint64_t one = UINT64_C(1) << 32;
	uint64_t counter = tsc_per_ns_q32 ? tsc_per_ns_q32 : one;

	return (struct rate){to == PROFILE_SYNC_COUNTER ? counter : one,
			     from == PROFILE_SYNC_COUNTER ? counter : one};
}

static struct rate rate_behind(const struct profile_clock *points, uint32_t count, uint32_t index,
			       enum profile_sync_clock from, enum profile_sync_clock to)
{
	if (index + 1 < count) {
		const struct profile_clock *point = &points[index], *next = point + 1;
		struct rate rate = {time_at(next, to) - time_at(point, to),
				    time_at(next, from) - time_at(point, from)};
		if (time_at(next, to) > time_at(point, to) &&
		    time_at(next, from) > time_at(point, from))
			return rate;
	}
	return nominal_rate(points[0].tsc_per_ns_q32, from, to);
}

uint64_t profile_sync_convert(const struct profile_clock *points, uint32_t count,
			      enum profile_sync_clock from, enum profile_sync_clock to,
			      uint64_t time)
{
	assert(count > 0);
	uint32_t index = find_point(points, count, from, time);
	uint64_t known = time_at(&points[index], from), base = time_at(&points[index], to);
	bool is_behind = time >= known;
	struct rate rate = is_behind ? rate_behind(points, count, index, from, to)
				     : nominal_rate(points[0].tsc_per_ns_q32, from, to);
	uint128 product = (uint128)(is_behind ? time - known : known - time) * rate.to;
	uint128 distance = product / rate.from;

	if (!is_behind) {
		/* Rounded towards the past, as behind the point. */
		distance += product % rate.from != 0;
		return distance >= base ? 1 : base - (uint64_t)distance;
	}
	uint128 sum = base + distance;
	if (sum >= UINT64_MAX)
		return UINT64_MAX - 1;
	return sum ? (uint64_t)sum : 1;
}
