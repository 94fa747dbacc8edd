#include "tools/waits/poor_time.h"

#include "tools/memory/xalloc.h"
#include "tools/states/concurrency.h"
#include <stdlib.h>
#include <string.h>

struct poor_time_point {
	uint64_t at_ns;
	uint64_t before_ns; /* poor time before it */
};

static void thin(struct poor_time *poor)
{
	size_t kept = 0;
	/* The last one stays: what follows begins there. */
	for (size_t i = 0; i < poor->count; i++) {
		if (i % 2 == 0 || i + 1 == poor->count)
			poor->points[kept++] = poor->points[i];
	}
	poor->count = kept;
}

static void add_point(struct poor_time *poor, uint64_t at_ns)
{
	if (poor->count > 0 && poor->points[poor->count - 1].at_ns == at_ns)
		return;
	if (poor->count >= POOR_TIME_POINTS)
		thin(poor);
	xalloc_room(&poor->points, &poor->capacity, poor->count + 1, sizeof(*poor->points));
	poor->points[poor->count++] = (struct poor_time_point){at_ns, poor->sum_ns};
}

void poor_time_add(struct poor_time *poor, uint64_t start_ns, uint64_t end_ns)
{
	if (end_ns <= start_ns)
		return;
	/* A time goes on where the one before ended. */
	bool goes_on = poor->count > 0 && poor->points[poor->count - 1].at_ns == start_ns;
	if (!goes_on)
		add_point(poor, start_ns);
	else if (poor->count > 1)
		poor->count--;
	poor->sum_ns += end_ns - start_ns;
	add_point(poor, end_ns);
}

/* Poor time before a moment. */
static uint64_t sum_before(const struct poor_time *poor, uint64_t at_ns)
{
	const struct poor_time_point *points = poor->points;
	size_t low = 0, high = poor->count;
	while (low < high) { /* the first point behind the moment */
		size_t middle = low + (high - low) / 2;
		if (points[middle].at_ns <= at_ns)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == 0)
		return 0;
	const struct poor_time_point *from = &points[low - 1];
	if (low == poor->count)
		return from->before_ns;
	uint64_t length_ns = points[low].at_ns - from->at_ns;
	uint64_t poor_ns = points[low].before_ns - from->before_ns;
	return from->before_ns +
	       (uint64_t)((unsigned __int128)poor_ns * (at_ns - from->at_ns) / length_ns);
}

uint64_t poor_time_between(const struct poor_time *poor, uint64_t start_ns, uint64_t end_ns)
{
	return end_ns > start_ns ? sum_before(poor, end_ns) - sum_before(poor, start_ns) : 0;
}

struct collecting {
	struct poor_time *poor;
	uint32_t target;
};

static void collect_segment(uint64_t start_ns, uint64_t end_ns, uint32_t running, void *user)
{
	struct collecting *collecting = user;
	if (concurrency_classify(running, collecting->target) <= CONCURRENCY_POOR)
		poor_time_add(collecting->poor, start_ns, end_ns);
}

TBRW_U32 poor_time_collect(struct poor_time *poor, struct profile_reader *reader, uint32_t target)
{
	struct collecting collecting = {poor, target};
	*poor = (struct poor_time){0};
	TBRW_U32 code = concurrency_each(reader, collect_segment, &collecting);
	if (code != VT_SUCCESS)
		poor_time_finish(poor);
	return code;
}

void poor_time_finish(struct poor_time *poor)
{
	free(poor->points);
	memset(poor, 0, sizeof(*poor));
}
