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

static uint32_t enter_sample(struct timelines *timelines, const struct profile_sample_info *info)
{
	return enter_timeline(timelines, &(struct timeline){.process = info->process,
							    .thread = info->thread,
							    .pid = info->pid,
							    .tid = info->tid});
}

static bool take_sample(const struct tally_sample *sample, void *user)
{
	struct timelines *timelines = user;
	const struct profile_stack *stack = &sample->info->stack;
	bool is_kernel = stack->kernel_us == PROFILE_KERNEL_ALL;
	uint32_t index = enter_sample(timelines, sample->info);
	add_piece(timelines, index,
		  &(struct timeline_piece){sample->cpu_ns, is_kernel ? TALLY_KERNEL : stack->node,
					   is_kernel ? PROFILE_STACK_NONE : stack->state});
	add_piece(timelines, index,
		  &(struct timeline_piece){sample->kernel_ns, TALLY_KERNEL, PROFILE_STACK_NONE});
	return true;
}

static void take_rest(struct timelines *timelines, uint32_t thread)
{
	const struct profile_thread_info *info =
		profile_reader_thread(timelines->stacks->reader, thread);
	struct weighted_stacks_rest rest = weighted_stacks_take_rest(timelines->stacks, thread);
	if (rest.kernel_ns == 0 && rest.unseen_ns == 0)
		return;
	uint32_t index = enter_timeline(timelines, &(struct timeline){.process = info->process,
								      .thread = thread,
								      .pid = info->pid,
								      .tid = info->tid});
	add_piece(timelines, index,
		  &(struct timeline_piece){rest.kernel_ns, TALLY_KERNEL, PROFILE_STACK_NONE});
	add_piece(timelines, index,
		  &(struct timeline_piece){rest.unseen_ns, TALLY_KERNEL, TIMELINE_NO_SAMPLE});
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
	for (uint32_t i = 0; i < profile_reader_thread_count(timelines->stacks->reader); i++)
		take_rest(timelines, i);
	take_threadless_time(timelines);
	for (uint32_t i = 0; i < index_map_count(&timelines->map); i++)
		spool_last(timelines, i);
}

TBRW_U32 timelines_collect(struct timelines *timelines, struct weighted_stacks *stacks)
{
	*timelines = (struct timelines){.stacks = stacks,
					.spool = thread_spool_create(sizeof(struct timeline_piece),
								     THREAD_SPOOL_BYTES)};
	TBRW_U32 code = weighted_stacks_each_sample(stacks, take_sample, timelines);
	if (code == VT_SUCCESS)
		take_rests(timelines);
	weighted_stacks_finish(stacks);
	return code;
}

void timelines_finish(struct timelines *timelines)
{
	thread_spool_destroy(timelines->spool);
	free(timelines->timelines);
	index_map_finish(&timelines->map);
}
