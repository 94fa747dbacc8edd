#include "tools/states/thread_states.h"

#include "profile/read/reader.h"
#include "tools/functions/filter.h"
#include "tools/memory/index_map.h"
#include "tools/memory/xalloc.h"
#include <stdlib.h>
#include <string.h>

enum { BATCH = 16384 };

/* Threads without a record are those of a killed collection; a damaged file may have any number. */
#define UNRECORDED_MAX 1000000u

/* Times in the file are rounded: neighbours may be this far apart. */
#define ROUNDING_NS 1000u

struct thread_states_source {
	struct profile_reader *reader;
	const struct filter *filter;
	struct index_map unrecorded; /* of the lanes behind the reader's threads */
	uint32_t *tids;              /* theirs */
	size_t capacity;             /* of the lanes */
	uint32_t threads;
	uint64_t next; /* slice */
	struct profile_slice_info slices[BATCH];
};

static uint64_t smaller(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static uint64_t larger(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

/* ---- Lanes ---- */

static void init_lane(struct thread_states *states, uint32_t index)
{
	const struct profile_reader *reader = states->source->reader;
	const struct profile_thread_info *info = profile_reader_thread(reader, index);
	const char *process = info->process == PROFILE_NONE
				      ? ""
				      : profile_reader_process(reader, info->process)->name;
	struct thread_state_lane *lane = &states->lanes[index];
	const struct collected *collected = &states->collected;
	*lane = (struct thread_state_lane){.thread = index, .tid = info->tid};
	lane->is_taken = filter_takes_thread(states->source->filter, info->pid, process, info->tid,
					     info->name);
	/* A deduced thread's start is its process's. */
	lane->has_begun = !(info->flags & PROFILE_THREAD_DEDUCED);
	lane->start_ns =
		smaller(larger(collected->start_ns, profile_reader_raw_ns(reader, info->start_tsc)),
			collected->end_ns);
	lane->end_ns = smaller(larger(profile_reader_raw_ns(reader, info->end_tsc), lane->start_ns),
			       collected->end_ns);
	lane->at_ns = lane->start_ns;
}

void thread_states_init(struct thread_states *states, struct profile_reader *reader,
			const struct filter *filter)
{
	struct thread_states_source *source = xalloc_zeroed(1, sizeof(*source));
	source->reader = reader;
	source->filter = filter;
	source->threads = profile_reader_thread_count(reader);
	*states = (struct thread_states){.source = source};
	collected_init(&states->collected, reader, filter);
	xalloc_room(&states->lanes, &source->capacity, (size_t)source->threads + 1,
		    sizeof(*states->lanes));
	states->lane_count = source->threads;
	for (uint32_t i = 0; i < source->threads; i++)
		init_lane(states, i);
}

void thread_states_finish(struct thread_states *states)
{
	if (states->source) {
		index_map_finish(&states->source->unrecorded);
		free(states->source->tids);
	}
	free(states->source);
	free(states->lanes);
	collected_finish(&states->collected);
	memset(states, 0, sizeof(*states));
}

static bool is_tid(const void *item, const void *wanted)
{
	return *(const uint32_t *)item == *(const uint32_t *)wanted;
}

/* NULL: there are too many. */
static struct thread_state_lane *find_unrecorded(struct thread_states *states, uint32_t tid)
{
	struct thread_states_source *source = states->source;
	if (index_map_count(&source->unrecorded) >= UNRECORDED_MAX)
		return NULL;
	size_t index =
		source->threads +
		index_map_enter(&source->unrecorded, &source->tids, &tid, sizeof(tid),
				index_map_hash(&source->unrecorded, &tid, sizeof(tid)), is_tid);
	if (index < states->lane_count)
		return &states->lanes[index];
	xalloc_room(&states->lanes, &source->capacity, index + 1, sizeof(*states->lanes));
	struct thread_state_lane *lane = &states->lanes[states->lane_count++];
	*lane = (struct thread_state_lane){.thread = PROFILE_NONE, .tid = tid};
	lane->is_taken = filter_takes_thread(source->filter, 0, "", tid, "");
	lane->start_ns = lane->at_ns = states->collected.start_ns;
	lane->end_ns = states->collected.end_ns;
	return lane;
}

/* A thread of unknown start that was waiting has been since the collection's; else it is as old as
 * the slice. */
static void begin_lane(struct thread_state_lane *lane, const struct profile_slice_info *slice)
{
	lane->has_begun = true;
	if (slice->before == PROFILE_STATE_BLOCKED || slice->before == PROFILE_STATE_STOPPED)
		return;
	lane->start_ns = smaller(larger(lane->start_ns, slice->start_ns), lane->end_ns);
	lane->at_ns = lane->start_ns;
}

/* ---- Pieces ---- */

struct reading {
	struct thread_states *states;
	thread_state_callback *callback;
	void *user;
};

/* The lane's time up to `end_ns` in a state. */
static void pass_piece(const struct reading *reading, struct thread_state_lane *lane,
		       uint64_t end_ns, enum profile_state state, uint32_t cpu)
{
	const struct thread_state_piece piece = {
		.start_ns = lane->at_ns,
		.end_ns = smaller(end_ns, lane->end_ns),
		.lane = (uint32_t)(lane - reading->states->lanes),
		.state = state,
		.cpu = cpu,
	};
	if (piece.end_ns <= piece.start_ns)
		return;
	lane->ns[state] += piece.end_ns - piece.start_ns;
	lane->at_ns = piece.end_ns;
	if (state == PROFILE_STATE_BLOCKED)
		lane->waits++;
	if (reading->callback)
		reading->callback(&piece, reading->user);
}

/* The time since the lane's slice before. */
static void pass_gap(const struct reading *reading, struct thread_state_lane *lane,
		     const struct profile_slice_info *slice, uint64_t start_ns)
{
	uint64_t gap_ns = start_ns - lane->at_ns;
	enum profile_state state = (enum profile_state)slice->before;
	if (slice->flags & PROFILE_SLICE_AFTER_LOSS)
		lane->guessed_ns +=
			smaller(start_ns, lane->end_ns) - smaller(lane->at_ns, lane->end_ns);
	if (state == PROFILE_STATE_RUNNING)
		state = PROFILE_STATE_UNKNOWN;
	if (state == PROFILE_STATE_BLOCKED || state == PROFILE_STATE_STOPPED) {
		pass_piece(reading, lane, start_ns - smaller(slice->ready_ns, gap_ns), state, 0);
		state = PROFILE_STATE_READY;
	}
	pass_piece(reading, lane, start_ns, state, 0);
}

static void pass_slice(const struct reading *reading, const struct profile_slice_info *slice)
{
	struct thread_states *states = reading->states;
	struct thread_state_lane *lane = slice->thread < states->source->threads
						 ? &states->lanes[slice->thread]
						 : find_unrecorded(states, slice->tid);
	uint64_t length_ns = slice->end_ns - slice->start_ns;
	uint64_t start_ns = slice->end_ns - smaller(length_ns, PROFILE_SLICE_NS_MAX);
	/* A little disorder does no harm (level_queue.h). */
	bool is_late = slice->end_ns < states->last_end_ns &&
		       states->last_end_ns - slice->end_ns > PROFILE_SLICE_NS_MAX;
	states->last_end_ns = larger(states->last_end_ns, slice->end_ns);
	if (!lane || !lane->is_taken) {
		states->cut += !lane;
		return;
	}
	if (!lane->has_begun)
		begin_lane(lane, slice);
	lane->slices++;
	/* Of the time before the collection, or the filter's, there is nothing to tell. */
	bool is_cut = start_ns + ROUNDING_NS < lane->at_ns && lane->at_ns > lane->start_ns;
	states->cut += is_cut || is_late || length_ns > PROFILE_SLICE_NS_MAX;
	if (start_ns > lane->at_ns &&
	    (slice->before != PROFILE_STATE_RUNNING || start_ns - lane->at_ns > ROUNDING_NS))
		pass_gap(reading, lane, slice, start_ns);
	pass_piece(reading, lane, slice->end_ns, PROFILE_STATE_RUNNING, slice->cpu);
}

/* ---- The end ---- */

/* A killed collection ends with its last record. */
static void end_collection(struct thread_states *states)
{
	struct collected *collected = &states->collected;
	collected->end_ns =
		smaller(collected->end_ns, larger(collected->least_end_ns, states->last_end_ns));
}

static void pass_rests(const struct reading *reading)
{
	struct thread_states *states = reading->states;
	end_collection(states);
	for (size_t i = 0; i < states->lane_count; i++) {
		struct thread_state_lane *lane = &states->lanes[i];
		lane->end_ns = smaller(lane->end_ns, states->collected.end_ns);
		if (!lane->has_begun || !lane->is_taken)
			lane->at_ns = lane->end_ns = lane->start_ns;
		pass_piece(reading, lane, lane->end_ns, PROFILE_STATE_UNKNOWN, 0);
	}
}

bool thread_states_read(struct thread_states *states, thread_state_callback *callback, void *user,
			TBRW_U32 *code)
{
	const struct reading reading = {states, callback, user};
	struct thread_states_source *source = states->source;
	size_t count;
	*code = profile_reader_read_slices(source->reader, source->next, source->slices, BATCH,
					   &count);
	if (*code != VT_SUCCESS)
		return false;
	source->next += count;
	states->slices += count;
	for (size_t i = 0; i < count; i++)
		pass_slice(&reading, &source->slices[i]);
	if (count == BATCH)
		return true;
	pass_rests(&reading);
	return false;
}

TBRW_U32 thread_states_read_all(struct thread_states *states, thread_state_callback *callback,
				void *user)
{
	TBRW_U32 code;
	while (thread_states_read(states, callback, user, &code))
		;
	return code;
}
