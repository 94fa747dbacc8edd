#include "tools/firefox/firefox_external.h"

#include "profile/read/external.h"
#include "tools/memory/xalloc.h"
#include "tools/spool/thread_spool.h"
#include "tools/timelines/timelines.h"
#include <stdlib.h>

#define OWNERS_MAX 1024u /* remembered */
#define BYTES      (UINT32_C(4) << 20)

static bool is_owner(const struct timeline *timeline, uint32_t pid, uint32_t tid)
{
	return !timeline->is_threadless && (pid == 0 || timeline->pid == pid) &&
	       timeline->tid == tid;
}

static uint32_t find_owner(const struct firefox_external *external, uint32_t pid, uint32_t tid)
{
	const struct timelines *timelines = external->timelines;
	uint32_t first = PROFILE_NONE; /* of the process */
	uint32_t any = external->main_timeline;
	for (uint32_t i = index_map_count(&timelines->map); i-- > 0;) {
		const struct timeline *timeline = &timelines->timelines[i];
		if (tid > 0 && is_owner(timeline, pid, tid))
			return i;
		if (pid > 0 && is_owner(timeline, pid, pid))
			first = i;
		if (pid > 0 && timeline->pid == pid)
			any = i;
	}
	return first != PROFILE_NONE ? first : any;
}

static uint32_t owner_of(struct firefox_external *external, uint32_t pid, uint32_t tid)
{
	struct external_owner *owner =
		&external->owners[(pid ^ tid * UINT32_C(0x9e3779b1)) % OWNERS_MAX];
	if (owner->timeline == PROFILE_NONE || owner->pid != pid || owner->tid != tid)
		*owner = (struct external_owner){pid, tid, find_owner(external, pid, tid)};
	return owner->timeline;
}

static void add_marker(struct firefox_external *external, uint32_t pid, uint32_t tid,
		       const struct external_marker *marker)
{
	if (timelines_take_time(external->timelines->stacks, marker->start_ns, marker->end_ns))
		thread_spool_add(external->spool, owner_of(external, pid, tid), marker);
}

static bool take_interval(const struct profile_interval *interval, void *user)
{
	struct firefox_external *external = user;
	const struct profile_reader *reader = external->timelines->stacks->reader;
	const struct external_marker marker =
		{.start_ns = timelines_since_start(reader, interval->start_tsc),
		 .end_ns = timelines_since_start(reader, interval->end_tsc),
		 .series = interval->series};
	add_marker(external, interval->pid, interval->tid, &marker);
	return true;
}

static bool take_counter(const struct profile_counter *counter, void *user)
{
	struct firefox_external *external = user;
	const struct profile_reader *reader = external->timelines->stacks->reader;
	uint64_t time_ns = timelines_since_start(reader, counter->tsc);
	const struct external_marker marker = {time_ns, time_ns, counter->value, counter->series,
					       counter->flags};
	add_marker(external, counter->pid, counter->tid, &marker);
	return true;
}

TBRW_U32 firefox_external_collect(struct firefox_external *external,
				  const struct timelines *timelines)
{
	struct profile_reader *reader = timelines->stacks->reader;
	uint32_t *order = timelines_order(timelines);
	*external = (struct firefox_external){
		.timelines = timelines,
		.main_timeline = order[0],
		.spool = thread_spool_create(sizeof(struct external_marker), BYTES),
		.owners = xalloc_zeroed(OWNERS_MAX, sizeof(*external->owners))};
	free(order);
	for (uint32_t i = 0; i < OWNERS_MAX; i++)
		external->owners[i].timeline = PROFILE_NONE;
	if (profile_reader_series_count(reader) == 0)
		return VT_SUCCESS;
	TBRW_U32 code = profile_reader_each_interval(reader, take_interval, external);
	if (code == VT_SUCCESS)
		code = profile_reader_each_counter(reader, take_counter, external);
	return code;
}

void firefox_external_finish(struct firefox_external *external)
{
	thread_spool_destroy(external->spool);
	free(external->owners);
}

void firefox_external_rewind(const struct firefox_external *external, uint32_t timeline)
{
	thread_spool_rewind(external->spool, timeline);
}

const struct external_marker *firefox_external_next(const struct firefox_external *external)
{
	return thread_spool_next(external->spool);
}
