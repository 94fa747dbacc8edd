#include "tools/firefox/firefox_threads.h"

#include "tools/firefox/firefox_external.h"
#include "tools/firefox/firefox_markers.h"
#include "tools/memory/xalloc.h"
#include "tools/samples/tally.h"
#include <inttypes.h>
#include <stdlib.h>

#define MS_DIGITS 6u /* of ns as ms */
#define NS_PER_US UINT64_C(1000)
#define US_DIGITS 3u /* of us as ms: fine enough for times */

/* A number that was used again is another process or thread: "NUMBER.1", ... */
static char *make_number(uint32_t number, uint32_t earlier)
{
	return earlier > 0 ? xalloc_printf("%" PRIu32 ".%" PRIu32, number, earlier)
			   : xalloc_printf("%" PRIu32, number);
}

static void write_pid(struct json_writer *json, const struct timeline *timeline)
{
	char *pid = make_number(timeline->pid, timeline->earlier_processes);
	json_write_text(json, "pid", pid);
	free(pid);
}

static void write_tid(struct json_writer *json, const struct timeline *timeline)
{
	if (timeline->earlier_threads == 0) {
		json_write_number(json, "tid", timeline->tid);
		return;
	}
	char *tid = make_number(timeline->tid, timeline->earlier_threads);
	json_write_text(json, "tid", tid);
	free(tid);
}

static void write_ms(struct json_writer *json, const char *name, uint64_t ns)
{
	json_write_decimal(json, name, ns, MS_DIGITS);
}

/* null: not ended. */
static void write_end(struct json_writer *json, const char *name, uint64_t end_ns)
{
	if (end_ns == TIMELINE_UNKNOWN)
		json_write_null(json, name);
	else
		write_ms(json, name, end_ns);
}

static void write_stacks(const struct firefox_writing *writing, uint32_t index)
{
	struct timeline_piece piece;
	timelines_rewind(writing->timelines, index);
	while (timelines_next(writing->timelines, &piece))
		json_write_number(writing->json, NULL,
				  stack_tree_enter(&writing->tables->tree, &piece));
}

/* Samples without a stack around a thread's samples: time between two has the CPU time of the later
 * one, and without a first one the CPU time of the first sample would not count. Where states are
 * known, they stand at the ends of the thread's life. */
struct samples_frame {
	bool has_first;
	bool has_last;
	uint64_t first_ns;
	uint64_t last_ns;
};

static struct samples_frame frame_samples(const struct firefox_writing *writing, uint32_t index)
{
	const struct timeline *timeline = &writing->timelines->timelines[index];
	struct samples_frame frame = {.has_first = timeline->count > 0,
				      .first_ns = timeline->first_ns};
	struct life_piece piece;
	if (!lives_has(writing->lives, timeline->thread))
		return frame;
	lives_rewind(writing->lives, timeline->thread);
	for (bool is_first = true; lives_next(writing->lives, &piece); is_first = false) {
		if (is_first && (!frame.has_first || piece.start_ns < frame.first_ns))
			frame.first_ns = piece.start_ns;
		frame.last_ns = piece.end_ns;
		frame.has_first = frame.has_last = true;
	}
	if (frame.last_ns < timeline->last_ns)
		frame.last_ns = timeline->last_ns;
	return frame;
}

/* us after us, so that rounding does not add up. */
static void write_time_deltas(const struct firefox_writing *writing, uint32_t index,
			      const struct samples_frame *frame)
{
	struct json_writer *json = writing->json;
	struct timeline_piece piece;
	uint64_t before_us = frame->first_ns / NS_PER_US;
	if (frame->has_first)
		json_write_decimal(json, NULL, before_us, US_DIGITS);
	timelines_rewind(writing->timelines, index);
	while (timelines_next(writing->timelines, &piece)) {
		uint64_t time_us = piece.time_ns / NS_PER_US;
		json_write_decimal(json, NULL, time_us - before_us, US_DIGITS);
		before_us = time_us;
	}
	if (frame->has_last)
		json_write_decimal(json, NULL, frame->last_ns / NS_PER_US - before_us, US_DIGITS);
}

static void write_weights(const struct firefox_writing *writing, uint32_t index)
{
	struct timeline_piece piece;
	timelines_rewind(writing->timelines, index);
	while (timelines_next(writing->timelines, &piece))
		write_ms(writing->json, NULL, piece.cpu_ns);
}

/* The time that a thread ran, read along its life. */
struct running {
	struct lives *lives;
	struct life_piece piece;
	uint64_t passed_ns; /* of running pieces before */
	bool has_piece;
};

static struct running begin_running(struct lives *lives, uint32_t thread)
{
	struct running running = {.lives = lives};
	lives_rewind(lives, thread);
	running.has_piece = lives_next(lives, &running.piece);
	return running;
}

/* Up to a time, which never goes back. */
static uint64_t running_until(struct running *running, uint64_t time_ns)
{
	const struct life_piece *piece = &running->piece;
	while (running->has_piece && piece->end_ns <= time_ns) {
		if (piece->state == PROFILE_STATE_RUNNING)
			running->passed_ns += piece->end_ns - piece->start_ns;
		running->has_piece = lives_next(running->lives, &running->piece);
	}
	bool is_inside = running->has_piece && piece->state == PROFILE_STATE_RUNNING &&
			 time_ns > piece->start_ns;
	return running->passed_ns + (is_inside ? time_ns - piece->start_ns : 0);
}

/* Where states are known: what the thread ran between samples, whatever these stand for. */
static void write_running_deltas(const struct firefox_writing *writing, uint32_t index,
				 const struct samples_frame *frame)
{
	const struct timeline *timeline = &writing->timelines->timelines[index];
	struct running running = begin_running(writing->lives, timeline->thread);
	struct timeline_piece piece;
	uint64_t before_us = 0;
	timelines_rewind(writing->timelines, index);
	while (timelines_next(writing->timelines, &piece)) {
		uint64_t now_us = running_until(&running, piece.time_ns) / NS_PER_US;
		json_write_number(writing->json, NULL, now_us - before_us);
		before_us = now_us;
	}
	json_write_number(writing->json, NULL,
			  running_until(&running, frame->last_ns) / NS_PER_US - before_us);
}

/* For graphs: us after us, as the time. */
static void write_cpu_deltas(const struct firefox_writing *writing, uint32_t index)
{
	struct timeline_piece piece;
	uint64_t cpu_ns = 0;
	timelines_rewind(writing->timelines, index);
	while (timelines_next(writing->timelines, &piece)) {
		uint64_t before_us = cpu_ns / NS_PER_US;
		cpu_ns += piece.cpu_ns;
		json_write_number(writing->json, NULL, cpu_ns / NS_PER_US - before_us);
	}
}

static void write_number_if(struct json_writer *json, bool is_there, uint64_t number)
{
	if (is_there)
		json_write_number(json, NULL, number);
}

static void write_samples(const struct firefox_writing *writing, uint32_t index)
{
	struct json_writer *json = writing->json;
	uint64_t count = writing->timelines->timelines[index].count;
	const struct samples_frame frame = frame_samples(writing, index);
	json_open_object(json, "samples");
	json_open_array(json, "stack");
	if (frame.has_first)
		json_write_null(json, NULL);
	write_stacks(writing, index);
	if (frame.has_last)
		json_write_null(json, NULL);
	json_close_array(json);
	json_open_array(json, "timeDeltas");
	write_time_deltas(writing, index, &frame);
	json_close_array(json);
	json_open_array(json, "weight");
	write_number_if(json, frame.has_first, 0);
	write_weights(writing, index);
	write_number_if(json, frame.has_last, 0);
	json_close_array(json);
	json_write_text(json, "weightType", "tracing-ms");
	json_open_array(json, "threadCPUDelta");
	write_number_if(json, frame.has_first, 0);
	if (frame.has_last)
		write_running_deltas(writing, index, &frame);
	else
		write_cpu_deltas(writing, index);
	json_close_array(json);
	json_write_number(json, "length", count + frame.has_first + frame.has_last);
	json_close_object(json);
}

static void write_lives(const struct firefox_writing *writing, const struct timeline *timeline)
{
	struct json_writer *json = writing->json;
	const struct profile_reader *reader = writing->timelines->stacks->reader;
	uint64_t start_ns = 0;
	uint64_t end_ns = TIMELINE_UNKNOWN;
	if (timeline->process != PROFILE_NONE) {
		const struct profile_process_info *process =
			profile_reader_process(reader, timeline->process);
		start_ns = timelines_since_start(reader, process->start_tsc);
		end_ns = timelines_since_start(reader, process->end_tsc);
	}
	write_ms(json, "processStartupTime", start_ns);
	write_end(json, "processShutdownTime", end_ns);
	write_ms(json, "registerTime", timeline->start_ns);
	write_end(json, "unregisterTime", timeline->end_ns);
}

static void write_thread(const struct firefox_writing *writing, uint32_t index)
{
	struct json_writer *json = writing->json;
	const struct timeline *timeline = &writing->timelines->timelines[index];
	struct stack_owner owner = timelines_owner(writing->timelines, timeline);
	json_open_object(json, NULL);
	json_write_text(json, "name", owner.thread);
	json_write_text(json, "processName", owner.process);
	json_write_text(json, "processType", "default");
	json_write_bool(json, "isMainThread",
			timeline->is_threadless || timeline->tid == timeline->pid);
	write_pid(json, timeline);
	write_tid(json, timeline);
	write_lives(writing, timeline);
	json_open_array(json, "pausedRanges");
	json_close_array(json);
	json_write_bool(json, "showMarkersInTimeline", true);
	write_samples(writing, index);
	firefox_markers_write(writing, index);
	json_close_object(json);
}

uint64_t firefox_threads_end(const struct timelines *timelines)
{
	const struct profile_reader *reader = timelines->stacks->reader;
	uint64_t end_ns = 0;
	for (uint32_t i = 0; i < profile_reader_note_count(reader); i++) {
		const struct profile_note *note = profile_reader_note(reader, i);
		if (note->kind == PROFILE_NOTE_ELAPSED)
			end_ns = note->value;
	}
	for (uint32_t i = 0; i < index_map_count(&timelines->map); i++) {
		const struct timeline *timeline = &timelines->timelines[i];
		if (timeline->last_ns > end_ns)
			end_ns = timeline->last_ns;
		if (timeline->end_ns != TIMELINE_UNKNOWN && timeline->end_ns > end_ns)
			end_ns = timeline->end_ns;
	}
	return end_ns;
}

/* Time of no known thread has a thread where there is such time; and a profile has a thread. */
TBRW_U32 firefox_threads_write(const struct timelines *timelines, struct firefox_tables *tables,
			       struct json_writer *json)
{
	struct firefox_external external;
	struct lives *lives = NULL;
	const struct weighted_stacks *stacks = timelines->stacks;
	TBRW_U32 code = lives_create(&lives, stacks->reader, stacks->functions, stacks->filter);
	if (code != VT_SUCCESS)
		return code;
	code = firefox_external_collect(&external, timelines);
	const struct firefox_writing writing = {timelines, tables,
						json,      firefox_threads_end(timelines),
						&external, lives};
	uint32_t count = index_map_count(&timelines->map);
	uint32_t *order = timelines_order(timelines);
	json_open_array(json, "threads");
	for (uint32_t i = 0; i < count; i++) {
		const struct timeline *timeline = &timelines->timelines[order[i]];
		if (!timeline->is_threadless || timeline->cpu_ns > 0 || count == 1)
			write_thread(&writing, order[i]);
	}
	json_close_array(json);
	free(order);
	firefox_external_finish(&external);
	lives_destroy(lives);
	return code;
}
