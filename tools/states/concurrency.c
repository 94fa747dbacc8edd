#include "tools/states/concurrency.h"

#include "containers/compare.h"
#include "profile/read/reader.h"
#include "tools/functions/filter.h"
#include "tools/memory/xalloc.h"
#include "tools/states/level_queue.h"
#include <stdlib.h>
#include <string.h>

/* A slice begins at most this long before its end, and slices come by their ends. */
#define WINDOW_NS (PROFILE_SLICE_NS_MAX + UINT64_C(10000))

/* A time of more threads than these is one of these. */
#define THREADS_MAX 4000000u

static uint64_t smaller(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static uint64_t larger(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

/* ---- Classes ---- */

static const struct {
	const char *name;
	const char *key;
	unsigned percent; /* at most */
} classes[CONCURRENCY_CLASS_COUNT] = {
	[CONCURRENCY_IDLE] = {"Idle", "idle", 0}, [CONCURRENCY_POOR] = {"Poor", "poor", 50},
	[CONCURRENCY_OK] = {"Ok", "ok", 85},      [CONCURRENCY_IDEAL] = {"Ideal", "ideal", 115},
	[CONCURRENCY_OVER] = {"Over", "over", 0},
};

const char *concurrency_class_name(enum concurrency_class use)
{
	return classes[use].name;
}

const char *concurrency_class_key(enum concurrency_class use)
{
	return classes[use].key;
}

enum concurrency_class concurrency_classify(uint64_t threads, uint32_t target)
{
	if (threads == 0)
		return CONCURRENCY_IDLE;
	if (threads > THREADS_MAX)
		return CONCURRENCY_OVER;
	uint64_t percent = (threads * 100000 + target / 2) / target;
	for (unsigned use = CONCURRENCY_POOR; use < CONCURRENCY_OVER; use++) {
		if (percent <= classes[use].percent)
			return (enum concurrency_class)use;
	}
	return CONCURRENCY_OVER;
}

uint32_t concurrency_default_target(const struct profile_reader *reader)
{
	struct profile_host_info host;
	uint64_t target = 0;
	for (uint32_t i = 0; i < profile_reader_note_count(reader); i++) {
		const struct profile_note *note = profile_reader_note(reader, i);
		if (note->kind == PROFILE_NOTE_TARGET_CPUS)
			target = note->value;
	}
	profile_reader_host(reader, &host);
	if (target == 0)
		target = UINT64_C(1000) * host.logical_cpus;
	return target == 0 ? 1000 : target > UINT32_MAX ? UINT32_MAX : (uint32_t)target;
}

/* ---- Times by number ---- */

static void make_room(struct concurrency_times *times, size_t threads)
{
	xalloc_room(&times->ns, &times->capacity, threads + 1, sizeof(*times->ns));
	memset(times->ns + times->count, 0, (threads + 1 - times->count) * sizeof(*times->ns));
	times->count = threads + 1;
}

static inline void add_time(struct concurrency_times *times, uint64_t threads, uint64_t ns)
{
	size_t at = threads < THREADS_MAX ? (size_t)threads : THREADS_MAX;
	if (__builtin_expect(at >= times->count, 0))
		make_room(times, at);
	times->ns[at] += ns;
}

double concurrency_average(const struct concurrency_times *times)
{
	double sum = 0, elapsed = 0;
	for (size_t i = 0; i < times->count; i++) {
		sum += (double)i * (double)times->ns[i];
		elapsed += (double)times->ns[i];
	}
	return elapsed > 0 ? sum / elapsed : 0;
}

uint64_t concurrency_of_class(const struct concurrency_times *times, enum concurrency_class use,
			      uint32_t target)
{
	uint64_t ns = 0;
	for (size_t i = 0; i < times->count; i++) {
		if (concurrency_classify(i, target) == use)
			ns += times->ns[i];
	}
	return ns;
}

/* ---- A way through all slices ---- */

struct sweep {
	struct thread_states *states;
	struct level_queue *queue;
	bool with_ready;
	/* A thread may be ready for longer than the window: begins of such times are found in a
	 * first way, and known in a second one. */
	bool is_second;
	uint64_t *late;
	size_t late_count;
	size_t late_capacity;
	/* The last piece, if it was of a ready thread: its end, else 0. */
	uint64_t ready_end_ns;
	uint32_t ready_lane;
};

/* Ends the time of a ready thread that does not run behind it, or that nobody knows of yet. */
static void end_ready(struct sweep *sweep)
{
	if (sweep->ready_end_ns > 0)
		level_queue_add(sweep->queue, sweep->ready_end_ns, LEVEL_READY_ENDS);
	sweep->ready_end_ns = 0;
}

static void take_running(struct sweep *sweep, const struct thread_state_piece *piece)
{
	bool was_ready = sweep->ready_end_ns > 0 && piece->lane == sweep->ready_lane &&
			 piece->start_ns == sweep->ready_end_ns;
	if (was_ready)
		sweep->ready_end_ns = 0;
	level_queue_add(sweep->queue, piece->start_ns,
			was_ready ? LEVEL_READY_RUNS : LEVEL_RUN_BEGINS);
	level_queue_add(sweep->queue, piece->end_ns, LEVEL_RUN_ENDS);
}

static void take_ready(struct sweep *sweep, const struct thread_state_piece *piece)
{
	bool is_late = level_queue_is_past(sweep->queue, piece->start_ns);
	if (is_late && !sweep->is_second) {
		xalloc_room(&sweep->late, &sweep->late_capacity, sweep->late_count + 1,
			    sizeof(*sweep->late));
		sweep->late[sweep->late_count++] = piece->start_ns;
	}
	if (!is_late || !sweep->is_second)
		level_queue_add(sweep->queue, piece->start_ns, LEVEL_READY_BEGINS);
	sweep->ready_end_ns = piece->end_ns;
	sweep->ready_lane = piece->lane;
}

static void take_piece(const struct thread_state_piece *piece, void *user)
{
	struct sweep *sweep = user;
	if (piece->state == PROFILE_STATE_RUNNING)
		take_running(sweep, piece);
	if (!sweep->with_ready)
		return;
	end_ready(sweep);
	if (piece->state == PROFILE_STATE_READY)
		take_ready(sweep, piece);
}

/* Reads some thousand slices. False: there are no more, or as thread_states_read. */
static bool sweep_on(struct sweep *sweep, TBRW_U32 *code)
{
	bool is_more = thread_states_read(sweep->states, take_piece, sweep, code);
	end_ready(sweep);
	uint64_t seen_ns = sweep->states->last_end_ns;
	if (is_more)
		level_queue_advance(sweep->queue, seen_ns > WINDOW_NS ? seen_ns - WINDOW_NS : 0);
	else if (*code == VT_SUCCESS)
		level_queue_end(sweep->queue, sweep->states->collected.end_ns);
	return is_more;
}

static int compare_times(const void *a, const void *b)
{
	return compare_numbers(*(const uint64_t *)a, *(const uint64_t *)b);
}

/* Passes segments on without the collection's pauses. */
struct clipping {
	const struct collected *collected;
	size_t pause; /* the first that does not lie before all that is to come */
	uint64_t paused_ns;
	level_callback *callback;
	void *user;
};

static void clip_segment(struct clipping *clipping, const struct level_segment *segment)
{
	const struct collected *collected = clipping->collected;
	struct level_segment part = *segment;
	for (; clipping->pause < collected->pause_count; clipping->pause++) {
		const struct collected_pause *pause = &collected->pauses[clipping->pause];
		if (pause->start_ns >= segment->end_ns)
			break;
		part.end_ns = pause->start_ns;
		if (part.end_ns > part.start_ns)
			clipping->callback(&part, 1, clipping->user);
		uint64_t from_ns = larger(pause->start_ns, part.start_ns);
		part.start_ns = larger(part.start_ns, smaller(pause->end_ns, segment->end_ns));
		clipping->paused_ns += part.start_ns > from_ns ? part.start_ns - from_ns : 0;
		if (pause->end_ns >= segment->end_ns)
			return;
	}
	part.end_ns = segment->end_ns;
	if (part.end_ns > part.start_ns)
		clipping->callback(&part, 1, clipping->user);
}

static void clip_segments(const struct level_segment *segments, size_t count, void *user)
{
	struct clipping *clipping = user;
	const struct collected *collected = clipping->collected;
	if (clipping->pause == collected->pause_count ||
	    collected->pauses[clipping->pause].start_ns >= segments[count - 1].end_ns) {
		clipping->callback(segments, count, clipping->user);
		return;
	}
	for (size_t i = 0; i < count; i++)
		clip_segment(clipping, &segments[i]);
}

/* All of it, by the filter. sweep: with_ready, is_second and late are set. */
static TBRW_U32 sweep_all(struct sweep *sweep, struct thread_states *states,
			  struct clipping *clipping)
{
	TBRW_U32 code;
	clipping->collected = &states->collected;
	sweep->states = states;
	sweep->queue =
		level_queue_create(states->collected.start_ns, WINDOW_NS, clip_segments, clipping);
	if (sweep->is_second)
		level_queue_know(sweep->queue, sweep->late, sweep->late_count);
	while (sweep_on(sweep, &code))
		;
	level_queue_destroy(sweep->queue);
	return code;
}

/* ---- All of it ---- */

struct counting {
	struct concurrency *concurrency;
	uint32_t target;
};

static void count_segments(const struct level_segment *segments, size_t count, void *user)
{
	const struct counting *counting = user;
	struct concurrency *concurrency = counting->concurrency;
	for (size_t i = 0; i < count; i++) {
		uint64_t active = (uint64_t)segments[i].running + segments[i].ready;
		uint64_t ns = segments[i].end_ns - segments[i].start_ns;
		concurrency->elapsed_ns += ns;
		add_time(&concurrency->running, segments[i].running, ns);
		add_time(&concurrency->active, active, ns);
		if (active * 1000 > counting->target)
			concurrency->over_ns += ns * segments[i].running;
	}
}

static void sum_lanes(struct concurrency *concurrency)
{
	for (size_t i = 0; i < concurrency->states.lane_count; i++) {
		const struct thread_state_lane *lane = &concurrency->states.lanes[i];
		for (unsigned state = 0; state < THREAD_STATE_COUNT; state++)
			concurrency->state_ns[state] += lane->ns[state];
		concurrency->guessed_ns += lane->guessed_ns;
		concurrency->waits += lane->waits;
	}
}

static TBRW_U32 count_all(struct concurrency *concurrency, struct profile_reader *reader,
			  const struct filter *filter, uint32_t target, struct sweep *sweep)
{
	struct counting counting = {concurrency, target};
	struct clipping clipping = {.callback = count_segments, .user = &counting};
	*concurrency = (struct concurrency){0};
	thread_states_init(&concurrency->states, reader, filter);
	TBRW_U32 code = sweep_all(sweep, &concurrency->states, &clipping);
	concurrency->paused_ns = clipping.paused_ns;
	return code;
}

TBRW_U32 concurrency_collect(struct concurrency *concurrency, struct profile_reader *reader,
			     const struct filter *filter, uint32_t target)
{
	struct sweep sweep = {.with_ready = true};
	TBRW_U32 code = count_all(concurrency, reader, filter, target, &sweep);
	if (code == VT_SUCCESS && sweep.late_count > 0) {
		concurrency_finish(concurrency);
		qsort(sweep.late, sweep.late_count, sizeof(*sweep.late), compare_times);
		sweep.is_second = true;
		code = count_all(concurrency, reader, filter, target, &sweep);
	}
	free(sweep.late);
	if (code == VT_SUCCESS)
		sum_lanes(concurrency);
	else
		concurrency_finish(concurrency);
	return code;
}

void concurrency_finish(struct concurrency *concurrency)
{
	thread_states_finish(&concurrency->states);
	free(concurrency->running.ns);
	free(concurrency->active.ns);
	memset(concurrency, 0, sizeof(*concurrency));
}

/* ---- Segments ---- */

struct passing {
	concurrency_callback *callback;
	void *user;
};

static void pass_segments(const struct level_segment *segments, size_t count, void *user)
{
	const struct passing *passing = user;
	for (size_t i = 0; i < count; i++)
		passing->callback(segments[i].start_ns, segments[i].end_ns, segments[i].running,
				  passing->user);
}

TBRW_U32 concurrency_each(struct profile_reader *reader, concurrency_callback *callback, void *user)
{
	static const struct filter everything;
	struct passing passing = {callback, user};
	struct clipping clipping = {.callback = pass_segments, .user = &passing};
	struct thread_states states;
	struct sweep sweep = {0};
	thread_states_init(&states, reader, &everything);
	TBRW_U32 code = sweep_all(&sweep, &states, &clipping);
	thread_states_finish(&states);
	return code;
}

/* ---- Moments ---- */

enum { HISTORY = 8192 }; /* segments kept for moments a little back in time */

struct moment_segment {
	uint64_t end_ns;
	uint32_t running;
};

struct concurrency_moments {
	struct filter everything;
	struct thread_states states;
	struct sweep sweep;
	bool is_over;
	bool has_dropped;
	struct moment_segment *segments; /* in order, each from the end of the one before */
	size_t count;
	size_t capacity;
	size_t near; /* the one found last */
};

static void keep_segments(const struct level_segment *segments, size_t count, void *user)
{
	struct concurrency_moments *moments = user;
	xalloc_room(&moments->segments, &moments->capacity, moments->count + count,
		    sizeof(*moments->segments));
	for (size_t i = 0; i < count; i++)
		moments->segments[moments->count++] =
			(struct moment_segment){segments[i].end_ns, segments[i].running};
}

struct concurrency_moments *concurrency_moments_create(struct profile_reader *reader)
{
	struct concurrency_moments *moments = xalloc_zeroed(1, sizeof(*moments));
	thread_states_init(&moments->states, reader, &moments->everything);
	moments->sweep.states = &moments->states;
	moments->sweep.queue = level_queue_create(moments->states.collected.start_ns, WINDOW_NS,
						  keep_segments, moments);
	return moments;
}

void concurrency_moments_destroy(struct concurrency_moments *moments)
{
	if (!moments)
		return;
	level_queue_destroy(moments->sweep.queue);
	thread_states_finish(&moments->states);
	free(moments->segments);
	free(moments);
}

static bool is_behind(const struct concurrency_moments *moments, uint64_t raw_ns)
{
	return moments->count == 0 || moments->segments[moments->count - 1].end_ns <= raw_ns;
}

static TBRW_U32 read_on(struct concurrency_moments *moments)
{
	size_t dropped = moments->count > HISTORY ? moments->count - HISTORY : 0;
	TBRW_U32 code;
	if (dropped > 0) {
		memmove(moments->segments, moments->segments + dropped,
			(moments->count - dropped) * sizeof(*moments->segments));
		moments->has_dropped = true;
	}
	moments->count -= dropped;
	moments->near -= moments->near < dropped ? moments->near : dropped;
	moments->is_over = !sweep_on(&moments->sweep, &code);
	return code;
}

uint32_t concurrency_moments_running(struct concurrency_moments *moments, uint64_t raw_ns,
				     TBRW_U32 *code)
{
	*code = VT_SUCCESS;
	while (!moments->is_over && is_behind(moments, raw_ns))
		*code = read_on(moments);
	if (*code != VT_SUCCESS || is_behind(moments, raw_ns) ||
	    raw_ns < moments->states.collected.start_ns)
		return UINT32_MAX;
	const struct moment_segment *segments = moments->segments;
	/* Samples go on in time, a few segments each. */
	while (segments[moments->near].end_ns <= raw_ns)
		moments->near++;
	while (moments->near > 0 && segments[moments->near - 1].end_ns > raw_ns)
		moments->near--;
	bool is_older = moments->near == 0 && moments->has_dropped;
	return is_older ? UINT32_MAX : segments[moments->near].running;
}
