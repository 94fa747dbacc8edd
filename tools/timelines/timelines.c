#include "tools/timelines/timelines.h"

#include "containers/compare.h"
#include "profile/read/states.h"
#include "tools/functions/filter.h"
#include "tools/memory/xalloc.h"
#include "tools/samples/tally.h"
#include "tools/spool/thread_spool.h"
#include <stdlib.h>

struct number_count {
	uint32_t number;
	uint32_t count;
};

static bool is_number(const void *item, const void *wanted)
{
	return ((const struct number_count *)item)->number ==
	       ((const struct number_count *)wanted)->number;
}

/* In place of each number, how many equal ones stand before it. */
static void count_earlier(uint32_t *numbers, uint32_t count)
{
	struct index_map map = {0};
	struct number_count *counts = NULL;
	for (uint32_t i = 0; i < count; i++) {
		const struct number_count wanted = {numbers[i], 0};
		uint32_t index =
			index_map_enter(&map, &counts, &wanted, sizeof(wanted),
					index_map_hash(&map, &wanted.number, sizeof(wanted.number)),
					is_number);
		numbers[i] = counts[index].count++;
	}
	index_map_finish(&map);
	free(counts);
}

static uint32_t *find_earlier_processes(const struct profile_reader *reader)
{
	uint32_t count = profile_reader_process_count(reader);
	uint32_t *numbers = xalloc_zeroed(count, sizeof(*numbers));
	for (uint32_t i = 0; i < count; i++)
		numbers[i] = profile_reader_process(reader, i)->pid;
	count_earlier(numbers, count);
	return numbers;
}

static uint32_t *find_earlier_threads(const struct profile_reader *reader)
{
	uint32_t count = profile_reader_thread_count(reader);
	uint32_t *numbers = xalloc_zeroed(count, sizeof(*numbers));
	for (uint32_t i = 0; i < count; i++)
		numbers[i] = profile_reader_thread(reader, i)->tid;
	count_earlier(numbers, count);
	return numbers;
}

static bool is_timeline(const void *item, const void *wanted)
{
	const struct timeline *timeline = item;
	const struct timeline *other = wanted;
	return timeline->thread == other->thread && timeline->pid == other->pid &&
	       timeline->tid == other->tid && timeline->is_threadless == other->is_threadless;
}

uint64_t timelines_since_start(const struct profile_reader *reader, uint64_t tsc)
{
	if (tsc == UINT64_MAX)
		return TIMELINE_UNKNOWN;
	if (tsc == 0 || profile_reader_clock_count(reader) == 0)
		return 0;
	return profile_reader_since_start(reader, profile_reader_raw_ns(reader, tsc));
}

bool timelines_take_time(const struct weighted_stacks *stacks, uint64_t start_ns, uint64_t end_ns)
{
	const struct filter *filter = stacks->filter;
	return end_ns >= filter->from_ns && (filter->to_ns == 0 || start_ns < filter->to_ns);
}

static uint32_t find_timeline(struct timelines *timelines, const struct timeline *timeline)
{
	const uint32_t identity[] = {timeline->thread, timeline->pid, timeline->tid,
				     timeline->is_threadless};
	return index_map_enter(&timelines->map, &timelines->timelines, timeline, sizeof(*timeline),
			       index_map_hash(&timelines->map, identity, sizeof(identity)),
			       is_timeline);
}

/* The thread's timeline; its life is looked up once. */
static uint32_t enter_timeline(struct timelines *timelines, const struct timeline *timeline)
{
	uint32_t count = index_map_count(&timelines->map);
	uint32_t index = find_timeline(timelines, timeline);
	if (index < count)
		return index;
	struct timeline *entered = &timelines->timelines[index];
	const struct profile_reader *reader = timelines->stacks->reader;
	entered->end_ns = TIMELINE_UNKNOWN;
	if (entered->process != PROFILE_NONE)
		entered->earlier_processes = timelines->earlier_processes[entered->process];
	if (entered->thread != PROFILE_NONE) {
		const struct profile_thread_info *info =
			profile_reader_thread(reader, entered->thread);
		entered->start_ns = timelines_since_start(reader, info->start_tsc);
		entered->end_ns = timelines_since_start(reader, info->end_tsc);
		entered->earlier_threads = timelines->earlier_threads[entered->thread];
	}
	return index;
}

static void spool_last(struct timelines *timelines, uint32_t index)
{
	struct timeline *timeline = &timelines->timelines[index];
	if (timeline->last.cpu_ns > 0) {
		thread_spool_add(timelines->spool, index, &timeline->last);
		timeline->count++;
	}
	timeline->last = (struct timeline_piece){0};
}

static void add_piece(struct timelines *timelines, uint32_t index,
		      const struct timeline_piece *piece)
{
	struct timeline *timeline = &timelines->timelines[index];
	bool has_clock = profile_reader_clock_count(timelines->stacks->reader) > 0;
	uint64_t before_ns = timeline->last_ns;
	if (piece->cpu_ns == 0)
		return;
	uint64_t time_ns = has_clock ? piece->time_ns : timeline->cpu_ns + piece->cpu_ns;
	if (timeline->cpu_ns == 0 && time_ns > piece->cpu_ns)
		timeline->first_ns = time_ns - piece->cpu_ns;
	timeline->cpu_ns += piece->cpu_ns;
	timeline->last_ns = time_ns > before_ns ? time_ns : before_ns;
	if (timelines->pieces == TIMELINE_BY_SAMPLE || timeline->last.node != piece->node ||
	    timeline->last.state != piece->state) {
		spool_last(timelines, index);
		timeline->last = *piece;
	} else {
		timeline->last.cpu_ns += piece->cpu_ns;
	}
	timeline->last.time_ns = timeline->last_ns;
}

static uint32_t enter_sample(struct timelines *timelines, const struct profile_sample_info *info)
{
	const struct timeline wanted = {.process = info->process,
					.thread = info->thread,
					.pid = info->pid,
					.tid = info->tid};
	if (info->thread == PROFILE_NONE)
		return enter_timeline(timelines, &wanted);
	uint32_t *latest = &timelines->latest[info->thread];
	if (*latest == 0 || !is_timeline(&timelines->timelines[*latest - 1], &wanted))
		*latest = enter_timeline(timelines, &wanted) + 1;
	return *latest - 1;
}

/* Time in the kernel unseen was before the sample, and before the time the sample stands for. */
static bool take_sample(const struct tally_sample *sample, void *user)
{
	struct timelines *timelines = user;
	const struct profile_stack *stack = &sample->info->stack;
	bool is_kernel = stack->kernel_us == PROFILE_KERNEL_ALL;
	uint64_t time_ns = sample->since_start_ns;
	uint64_t before_ns = time_ns > sample->cpu_ns ? time_ns - sample->cpu_ns : 0;
	uint32_t index = enter_sample(timelines, sample->info);
	const struct timeline_piece own = {sample->cpu_ns, time_ns,
					   is_kernel ? TALLY_KERNEL : stack->node,
					   is_kernel ? PROFILE_STACK_NONE : stack->state};
	const struct timeline_piece kernel = {sample->kernel_ns, before_ns, TALLY_KERNEL,
					      PROFILE_STACK_NONE};
	bool is_by_stack = timelines->pieces == TIMELINE_BY_STACK;
	add_piece(timelines, index, is_by_stack ? &own : &kernel);
	add_piece(timelines, index, is_by_stack ? &kernel : &own);
	return true;
}

static void take_rest(struct timelines *timelines, uint32_t thread)
{
	const struct profile_thread_info *info =
		profile_reader_thread(timelines->stacks->reader, thread);
	const struct weighted_stacks *stacks = timelines->stacks;
	struct weighted_stacks_rest rest = weighted_stacks_take_rest(timelines->stacks, thread);
	/* Of a part of the run, those who lived in it and whose states are known. */
	bool is_part =
		filter_needs_function(stacks->filter) ||
		(filter_has_times(stacks->filter) &&
		 (profile_reader_states(stacks->reader) == 0 ||
		  !timelines_take_time(stacks,
				       timelines_since_start(stacks->reader, info->start_tsc),
				       timelines_since_start(stacks->reader, info->end_tsc))));
	if (rest.kernel_ns == 0 && rest.unseen_ns == 0 &&
	    (is_part || !tally_takes_thread(stacks->reader, stacks->filter, thread)))
		return;
	uint32_t index = enter_timeline(timelines, &(struct timeline){.process = info->process,
								      .thread = thread,
								      .pid = info->pid,
								      .tid = info->tid});
	const struct timeline *timeline = &timelines->timelines[index];
	uint64_t end_ns = timeline->end_ns == TIMELINE_UNKNOWN ? 0 : timeline->end_ns;
	add_piece(timelines, index,
		  &(struct timeline_piece){rest.kernel_ns, end_ns, TALLY_KERNEL,
					   PROFILE_STACK_NONE});
	add_piece(timelines, index,
		  &(struct timeline_piece){rest.unseen_ns, end_ns, TALLY_KERNEL,
					   TIMELINE_NO_SAMPLE});
}

static void take_threadless_time(struct timelines *timelines)
{
	uint64_t threadless_ns = weighted_stacks_threadless_ns(timelines->stacks);
	uint32_t index = enter_timeline(timelines, &(struct timeline){.process = PROFILE_NONE,
								      .thread = PROFILE_NONE,
								      .is_threadless = true});
	add_piece(timelines, index,
		  &(struct timeline_piece){threadless_ns, 0, TALLY_KERNEL, TIMELINE_NO_THREAD});
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

TBRW_U32 timelines_collect(struct timelines *timelines, struct weighted_stacks *stacks,
			   enum timeline_pieces pieces)
{
	*timelines = (struct timelines){.stacks = stacks,
					.pieces = pieces,
					.earlier_processes = find_earlier_processes(stacks->reader),
					.earlier_threads = find_earlier_threads(stacks->reader),
					.spool = thread_spool_create(sizeof(struct timeline_piece),
								     THREAD_SPOOL_BYTES)};
	timelines->latest = xalloc_zeroed(profile_reader_thread_count(stacks->reader),
					  sizeof(*timelines->latest));
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
	free(timelines->earlier_processes);
	free(timelines->earlier_threads);
	free(timelines->latest);
	index_map_finish(&timelines->map);
}

void timelines_rewind(const struct timelines *timelines, uint32_t index)
{
	thread_spool_rewind(timelines->spool, index);
}

bool timelines_next(const struct timelines *timelines, struct timeline_piece *piece)
{
	const struct timeline_piece *next = thread_spool_next(timelines->spool);
	if (next)
		*piece = *next;
	return next;
}

struct stack_owner timelines_owner(const struct timelines *timelines,
				   const struct timeline *timeline)
{
	if (timeline->is_threadless)
		return (struct stack_owner){TALLY_NO_THREAD, TALLY_NO_THREAD, 0, 0};
	return weighted_stacks_name_owner(timelines->stacks, timeline->process, timeline->thread,
					  timeline->pid, timeline->tid);
}

static int compare_timelines(const void *a, const void *b, void *user)
{
	const struct timeline *timelines = user;
	uint32_t left = *(const uint32_t *)a;
	uint32_t right = *(const uint32_t *)b;
	int order = compare_numbers(timelines[right].cpu_ns, timelines[left].cpu_ns);
	return order ? order : compare_numbers(left, right);
}

uint32_t *timelines_order(const struct timelines *timelines)
{
	uint32_t count = index_map_count(&timelines->map);
	uint32_t *order = xalloc_zeroed(count, sizeof(*order));
	for (uint32_t i = 0; i < count; i++)
		order[i] = i;
	qsort_r(order, count, sizeof(*order), compare_timelines, timelines->timelines);
	return order;
}
