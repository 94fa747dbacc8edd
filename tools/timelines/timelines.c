#include "tools/timelines/timelines.h"

#include "tools/samples/tally.h"
#include <stdlib.h>

static bool is_timeline(const void *item, const void *wanted)
{
	const struct timeline *timeline = item;
	const struct timeline *other = wanted;
	return timeline->thread == other->thread && timeline->pid == other->pid &&
	       timeline->tid == other->tid && timeline->is_threadless == other->is_threadless;
}

static uint32_t enter_timeline(struct timelines *timelines, const struct timeline *timeline)
{
	const uint32_t identity[] = {timeline->thread, timeline->pid, timeline->tid,
				     timeline->is_threadless};
	return index_map_enter(&timelines->map, &timelines->timelines, timeline, sizeof(*timeline),
			       index_map_hash(&timelines->map, identity, sizeof(identity)),
			       is_timeline);
}

static void spool_last(struct timelines *timelines, uint32_t index)
{
	struct timeline *timeline = &timelines->timelines[index];
	if (timeline->last.cpu_ns > 0)
		thread_spool_add(timelines->spool, index, &timeline->last);
	timeline->last = (struct timeline_piece){0};
}

static void add_piece(struct timelines *timelines, uint32_t index,
		      const struct timeline_piece *piece)
{
	struct timeline *timeline = &timelines->timelines[index];
	if (piece->cpu_ns == 0)
		return;
	timeline->cpu_ns += piece->cpu_ns;
	if (timeline->last.node != piece->node || timeline->last.state != piece->state) {
		spool_last(timelines, index);
		timeline->last = *piece;
	} else {
		timeline->last.cpu_ns += piece->cpu_ns;
	}
}

static void place_kernel_time(struct timelines *timelines, uint32_t index)
{
	struct timeline *timeline = &timelines->timelines[index];
	add_piece(timelines, index,
		  &(struct timeline_piece){timeline->kernel_ns, TALLY_KERNEL, PROFILE_STACK_NONE});
	timeline->kernel_ns = 0;
}

/* Kernel time is the row's of the stacks: a filter on functions may leave it out. */
static void add_kernel_time(struct timelines *timelines, uint32_t index, uint64_t kernel_ns)
{
	struct timeline *timeline = &timelines->timelines[index];
	uint64_t left_ns = timeline->all_kernel_ns - timeline->sampled_kernel_ns;
	uint64_t part_ns = kernel_ns < left_ns ? kernel_ns : left_ns;
	timeline->sampled_kernel_ns += part_ns;
	timeline->kernel_ns += part_ns;
	if (timeline->kernel_ns >= timelines->interval_ns)
		place_kernel_time(timelines, index);
}

static bool take_sample(const struct tally_sample *sample, void *user)
{
	struct timelines *timelines = user;
	const struct profile_sample_info *info = sample->info;
	bool is_kernel = info->stack.kernel_us == PROFILE_KERNEL_ALL;
	uint32_t index = enter_timeline(timelines, &(struct timeline){.process = info->process,
								      .thread = info->thread,
								      .pid = info->pid,
								      .tid = info->tid});
	if (!is_kernel)
		add_piece(timelines, index,
			  &(struct timeline_piece){sample->cpu_ns, info->stack.node,
						   info->stack.state});
	add_kernel_time(timelines, index, sample->kernel_ns + (is_kernel ? sample->cpu_ns : 0));
	return true;
}

/* All threads with time in the kernel, and how much. */
static void enter_kernel_times(struct timelines *timelines)
{
	while (weighted_stacks_next(timelines->stacks)) {
		const struct tally_entry *entry = timelines->stacks->entry;
		uint32_t index =
			enter_timeline(timelines, &(struct timeline){.process = entry->process,
								     .thread = entry->thread,
								     .pid = entry->pid,
								     .tid = entry->tid});
		if (entry->node == TALLY_KERNEL)
			timelines->timelines[index].all_kernel_ns += entry->sum.cpu_ns;
	}
}

static void take_rest(struct timelines *timelines, uint32_t thread)
{
	const struct profile_thread_info *info =
		profile_reader_thread(timelines->stacks->reader, thread);
	uint64_t rest_ns = timelines->stacks->tally->thread_rest_ns[thread];
	if (rest_ns == 0)
		return;
	uint32_t index = enter_timeline(timelines, &(struct timeline){.process = info->process,
								      .thread = thread,
								      .pid = info->pid,
								      .tid = info->tid});
	add_piece(timelines, index,
		  &(struct timeline_piece){rest_ns, TALLY_KERNEL, TIMELINE_NO_SAMPLE});
}

static void take_threadless_time(struct timelines *timelines)
{
	uint64_t threadless_ns = weighted_stacks_threadless_ns(timelines->stacks);
	uint32_t index = enter_timeline(timelines, &(struct timeline){.process = PROFILE_NONE,
								      .thread = PROFILE_NONE,
								      .is_threadless = true});
	add_piece(timelines, index,
		  &(struct timeline_piece){threadless_ns, TALLY_KERNEL, TIMELINE_NO_THREAD});
}

/* What is in no sample has no time, and comes last. */
static void take_rests(struct timelines *timelines)
{
	for (uint32_t i = 0; i < index_map_count(&timelines->map); i++) {
		struct timeline *timeline = &timelines->timelines[i];
		timeline->kernel_ns += timeline->all_kernel_ns - timeline->sampled_kernel_ns;
		place_kernel_time(timelines, i);
	}
	for (uint32_t i = 0; i < profile_reader_thread_count(timelines->stacks->reader); i++)
		take_rest(timelines, i);
	take_threadless_time(timelines);
	for (uint32_t i = 0; i < index_map_count(&timelines->map); i++)
		spool_last(timelines, i);
}

TBRW_U32 timelines_collect(struct timelines *timelines, struct weighted_stacks *stacks)
{
	*timelines = (struct timelines){.stacks = stacks,
					.interval_ns = profile_reader_interval_ns(stacks->reader),
					.spool = thread_spool_create(sizeof(struct timeline_piece),
								     THREAD_SPOOL_BYTES)};
	enter_kernel_times(timelines);
	TBRW_U32 code = weighted_stacks_each_sample(stacks, take_sample, timelines);
	if (code == VT_SUCCESS)
		take_rests(timelines);
	return code;
}

void timelines_finish(struct timelines *timelines)
{
	thread_spool_destroy(timelines->spool);
	free(timelines->timelines);
	index_map_finish(&timelines->map);
}
