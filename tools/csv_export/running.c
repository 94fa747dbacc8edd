#include "tools/csv_export/running.h"

#include "profile/read/reader.h"
#include "tools/functions/filter.h"
#include "tools/memory/index_map.h"
#include "tools/samples/tally.h"
#include "tools/spool/thread_spool.h"
#include "tools/stacks/weighted_stacks.h"
#include <stdlib.h>

/* A sample: when, and the CPU time that it stands for. */
struct mark {
	uint64_t time_ns;
	uint64_t cpu_ns;
};

struct lane {
	uint32_t thread; /* index; PROFILE_NONE: no record */
	uint32_t pid;
	uint32_t tid;
};

struct running {
	struct weighted_stacks *stacks;
	struct lane *lanes;
	struct index_map map;
	struct thread_spool *spool; /* struct mark, by lane */
};

static uint64_t smaller(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static uint64_t larger(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

static uint64_t add(uint64_t a, uint64_t b)
{
	return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

/* When the collection ended; of one that did not end, the last sync point. */
static uint64_t end_of_collection(const struct profile_reader *reader)
{
	uint32_t clocks = profile_reader_clock_count(reader);
	uint64_t end = clocks ? profile_reader_clock(reader, clocks - 1)->raw_ns : UINT64_MAX;
	for (uint32_t i = 0; i < profile_reader_note_count(reader); i++) {
		const struct profile_note *note = profile_reader_note(reader, i);
		if (note->kind == PROFILE_NOTE_ELAPSED)
			end = add(profile_reader_start_ns(reader), note->value);
	}
	return end;
}

struct running_bounds running_bounds(const struct weighted_stacks *stacks)
{
	const struct profile_reader *reader = stacks->reader;
	const struct filter *filter = stacks->filter;
	uint64_t start = profile_reader_start_ns(reader);
	struct running_bounds bounds = {start, end_of_collection(reader)};
	if (filter->to_ns > 0 && filter->to_ns < UINT64_MAX - start)
		bounds.end_ns = smaller(bounds.end_ns, start + filter->to_ns);
	bounds.start_ns += smaller(filter->from_ns, UINT64_MAX - start);
	return bounds;
}

struct running_interval running_life(const struct weighted_stacks *stacks,
				     const struct running_bounds *bounds, uint32_t thread)
{
	const struct profile_reader *reader = stacks->reader;
	struct running_interval life = {bounds->start_ns, bounds->end_ns, 0, 0};
	if (thread == PROFILE_NONE)
		return life;
	const struct profile_thread_info *info = profile_reader_thread(reader, thread);
	life.start_ns = larger(life.start_ns, profile_reader_raw_ns(reader, info->start_tsc));
	life.end_ns = smaller(life.end_ns, profile_reader_raw_ns(reader, info->end_tsc));
	life.pid = info->pid;
	life.tid = info->tid;
	return life;
}

static bool is_lane(const void *item, const void *wanted)
{
	const struct lane *lane = item;
	const struct lane *other = wanted;
	return lane->thread == other->thread && lane->pid == other->pid && lane->tid == other->tid;
}

static bool take_sample(const struct tally_sample *sample, void *user)
{
	struct running *running = user;
	const struct profile_sample_info *info = sample->info;
	const struct lane lane = {info->thread, info->pid, info->tid};
	const struct mark mark = {profile_reader_raw_ns(running->stacks->reader, info->tsc),
				  add(sample->cpu_ns, sample->kernel_ns)};
	if (mark.cpu_ns == 0)
		return true;
	uint32_t index =
		index_map_enter(&running->map, &running->lanes, &lane, sizeof(lane),
				index_map_hash(&running->map, &lane, sizeof(lane)), is_lane);
	thread_spool_add(running->spool, index, &mark);
	return true;
}

/* One way along a lane. An interval ends at its sample, and starts no earlier than the one before
 * ends: what does not fit is added to the next sample's. What the last sample leaves is laid into
 * the gaps before it, the last ones first: from a time on, there are none. */
struct pass {
	struct running_interval open; /* its end is the last sample's so far */
	uint64_t left_ns;             /* CPU time that did not fit yet */
	uint64_t gaps_ns;             /* time between intervals; it may be at most... */
	uint64_t gaps_max_ns;
	void (*take)(const struct running_interval *, void *); /* NULL: nobody wants them */
	void *user;
};

static void end_interval(struct pass *pass)
{
	if (pass->take && pass->open.start_ns < pass->open.end_ns)
		pass->take(&pass->open, pass->user);
}

static void pass_mark(struct pass *pass, const struct mark *mark)
{
	uint64_t before = pass->open.end_ns;
	uint64_t cpu_ns = add(mark->cpu_ns, pass->left_ns);
	if (mark->time_ns <= before) {
		pass->left_ns = cpu_ns;
		return;
	}
	uint64_t length = smaller(cpu_ns, mark->time_ns - before);
	uint64_t gap = smaller(mark->time_ns - before - length, pass->gaps_max_ns - pass->gaps_ns);
	pass->left_ns = cpu_ns - length;
	pass->gaps_ns += gap;
	if (gap > 0) {
		end_interval(pass);
		pass->open.start_ns = before + gap;
	}
	pass->open.end_ns = mark->time_ns;
}

static void run_pass(const struct running *running, uint32_t lane, struct pass *pass)
{
	const struct mark *mark;
	thread_spool_rewind(running->spool, lane);
	while ((mark = thread_spool_next(running->spool)))
		pass_mark(pass, mark);
}

static void pass_lane(const struct running *running, uint32_t index,
		      const struct running_bounds *bounds, struct pass *pass)
{
	const struct lane *lane = &running->lanes[index];
	struct running_interval life = running_life(running->stacks, bounds, lane->thread);
	struct pass first = {.gaps_max_ns = UINT64_MAX};
	/* Nothing yet, up to the start of the life. */
	first.open = (struct running_interval){life.start_ns, life.start_ns, lane->pid, lane->tid};
	pass->open = first.open;
	run_pass(running, index, &first);
	pass->left_ns = pass->gaps_ns = 0;
	pass->gaps_max_ns = first.gaps_ns - smaller(first.gaps_ns, first.left_ns);
	run_pass(running, index, pass);
	uint64_t behind = first.left_ns - smaller(first.gaps_ns, first.left_ns);
	if (life.end_ns > pass->open.end_ns)
		pass->open.end_ns += smaller(behind, life.end_ns - pass->open.end_ns);
	end_interval(pass);
}

TBRW_U32 running_each(struct weighted_stacks *stacks,
		      void (*take)(const struct running_interval *, void *), void *user)
{
	struct running running = {.stacks = stacks,
				  .spool = thread_spool_create(sizeof(struct mark),
							       THREAD_SPOOL_BYTES)};
	struct pass pass = {.take = take, .user = user};
	TBRW_U32 code = weighted_stacks_each_sample(stacks, take_sample, &running);
	weighted_stacks_finish(stacks);
	if (code == VT_SUCCESS) {
		struct running_bounds bounds = running_bounds(stacks);
		for (uint32_t i = 0; i < index_map_count(&running.map); i++)
			pass_lane(&running, i, &bounds, &pass);
	}
	thread_spool_destroy(running.spool);
	free(running.lanes);
	index_map_finish(&running.map);
	return code;
}
