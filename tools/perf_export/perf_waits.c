#include "tools/perf_export/perf_waits.h"

#include "profile/read/reader.h"
#include "profile/read/states.h"
#include "tools/memory/xalloc.h"
#include "tools/stacks/weighted_stacks.h"
#include "tools/waits/waits.h"
#include <stdlib.h>

enum { BATCH = 4096 };

/* They come roughly by their ends, late by no more than this. */
#define LATE_NS UINT64_C(1000000000)

struct perf_waits {
	const struct weighted_stacks *stacks;
	struct moment_queue *queue;
	struct wait_filter filter;
	uint64_t next;
	uint64_t last_ns; /* newest end so far */
	bool is_done;
	struct profile_wait_info batch[BATCH];
};

TBRW_U32 perf_waits_create(struct weighted_stacks *stacks, struct moment_queue *queue,
			   struct perf_waits **created)
{
	struct perf_waits *waits = xalloc_zeroed(1, sizeof(*waits));
	waits->stacks = stacks;
	waits->queue = queue;
	*created = waits;
	return wait_filter_load(&waits->filter, stacks->reader, stacks->functions, stacks->filter);
}

void perf_waits_destroy(struct perf_waits *waits)
{
	if (!waits)
		return;
	wait_filter_finish(&waits->filter);
	free(waits);
}

static void queue_wait(struct perf_waits *waits, const struct profile_wait_info *info)
{
	struct wait_stretch waiting =
		wait_filter_cut(&waits->filter, info->start_ns, info->wait.wait_ns);
	struct perf_moment moment = {.time_ns = waiting.end_ns,
				     .wait_ns = waiting.end_ns - waiting.start_ns,
				     .pid = info->wait.tid,
				     .tid = info->wait.tid,
				     .node = info->wait.node,
				     .kind = PERF_MOMENT_WAITED,
				     .state = info->wait.state};
	if (moment.time_ns > waits->last_ns)
		waits->last_ns = moment.time_ns;
	if (moment.wait_ns == 0 || !wait_filter_takes(&waits->filter, info))
		return;
	if (info->thread != PROFILE_NONE)
		moment.pid = profile_reader_thread(waits->stacks->reader, info->thread)->pid;
	moment_queue_put(waits->queue, &moment);
}

TBRW_U32 perf_waits_read(struct perf_waits *waits)
{
	size_t count;
	TBRW_U32 code = profile_reader_read_waits(waits->stacks->reader, &waits->next, waits->batch,
						  BATCH, &count);
	waits->is_done = code != VT_SUCCESS || count < BATCH;
	for (size_t i = 0; code == VT_SUCCESS && i < count; i++)
		queue_wait(waits, &waits->batch[i]);
	return code;
}

uint64_t perf_waits_known_ns(const struct perf_waits *waits)
{
	if (waits->is_done)
		return UINT64_MAX;
	return waits->last_ns > LATE_NS ? waits->last_ns - LATE_NS : 0;
}
