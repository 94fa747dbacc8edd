#include "tools/csv_export/utilization.h"

#include "tools/memory/xalloc.h"
#include <assert.h>
#include <stdlib.h>

enum { PARTS_MAX = 65536 };

void utilization_finish(struct utilization *utilization)
{
	free(utilization->busy_ns);
	utilization->busy_ns = NULL;
	utilization->count = 0;
}

static void double_width(struct utilization *utilization)
{
	utilization->width_ns *= 2;
	for (size_t i = 0; i < PARTS_MAX / 2; i++)
		utilization->busy_ns[i] =
			utilization->busy_ns[2 * i] + utilization->busy_ns[2 * i + 1];
	for (size_t i = PARTS_MAX / 2; i < PARTS_MAX; i++)
		utilization->busy_ns[i] = 0;
	utilization->count = (utilization->count + 1) / 2;
}

void utilization_add(struct utilization *utilization, uint64_t start_ns, uint64_t end_ns)
{
	assert(start_ns >= utilization->start_ns);
	if (start_ns >= end_ns)
		return;
	uint64_t from = start_ns - utilization->start_ns;
	uint64_t to = end_ns - utilization->start_ns;
	if (!utilization->busy_ns)
		utilization->busy_ns = xalloc_zeroed(PARTS_MAX, sizeof(*utilization->busy_ns));
	while ((to - 1) / utilization->width_ns >= PARTS_MAX)
		double_width(utilization);
	while (from < to) {
		size_t part = (size_t)(from / utilization->width_ns);
		uint64_t room = utilization->width_ns - from % utilization->width_ns;
		uint64_t taken = room < to - from ? room : to - from;
		utilization->busy_ns[part] += taken;
		from += taken;
		if (utilization->count <= part)
			utilization->count = part + 1;
	}
}

uint64_t utilization_percent(const struct utilization *utilization, size_t part)
{
	assert(part < utilization->count);
	double share = (double)utilization->busy_ns[part] / (double)utilization->width_ns;
	return (uint64_t)(100 * share + 0.5);
}
