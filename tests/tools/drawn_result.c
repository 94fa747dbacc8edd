#include "tests/tools/drawn_result.h"

#include "profile/write/writer.h"
#include <check.h>
#include <stdio.h>

#define START_NS UINT64_C(1000000000)
#define STEP_NS  1000u

enum { IMAGE_APP = 1, IMAGE_LIB = 2 };
enum { FRAME_MAIN = DRAWN_FUNCTIONS, NODE_MAIN = 1, NODE_FIRST = 2 };

static void add_code(struct profile_writer *writer)
{
	static const char *const paths[] = {"/opt/app/app", "/opt/app/lib.so"};
	uint32_t index;
	for (size_t i = 0; i < 2; i++)
		ck_assert_uint_eq(profile_writer_add_image(writer,
							   &(struct profile_image){
								   .kind = PROFILE_IMAGE_FILE},
							   paths[i], &index),
				  VT_SUCCESS);
	for (uint32_t i = 0; i <= DRAWN_FUNCTIONS; i++) {
		bool is_lib = i >= DRAWN_FUNCTIONS / 2 && i < DRAWN_FUNCTIONS;
		struct profile_frame frame = {.image = is_lib ? IMAGE_LIB : IMAGE_APP,
					      .rva = 0x1000 + 16 * i};
		ck_assert_uint_eq(profile_writer_add_frame(writer, &frame), VT_SUCCESS);
	}
	ck_assert_uint_eq(profile_writer_add_node(writer, &(struct profile_node){0, FRAME_MAIN}),
			  VT_SUCCESS);
	for (uint32_t i = 0; i < DRAWN_FUNCTIONS; i++)
		ck_assert_uint_eq(profile_writer_add_node(writer,
							  &(struct profile_node){NODE_MAIN, i}),
				  VT_SUCCESS);
}

static void add_samples(struct profile_writer *writer, const struct drawn_result *result)
{
	for (size_t i = 0; i < result->sample_count; i++) {
		const struct drawn_sample *drawn = &result->samples[i];
		bool is_kernel = drawn->kernel_us == PROFILE_KERNEL_ALL;
		struct profile_sample sample = {
			.time_ns = START_NS + i * STEP_NS,
			.pid = DRAWN_PID + result->threads[drawn->thread].process,
			.tid = DRAWN_TID + drawn->thread,
			.cs = 0x33,
			.stack = {.cpu_ns = drawn->cpu_ns,
				  .kernel_us = drawn->kernel_us,
				  .node = is_kernel ? 0 : NODE_FIRST + drawn->function},
		};
		ck_assert_uint_eq(profile_writer_add_sample(writer, &sample), VT_SUCCESS);
	}
}

/* The sums that the collector writes: wrong ones only where numbers are meant to be. */
static void sum_samples(const struct drawn_result *result, uint32_t thread,
			struct profile_thread_life *life)
{
	for (size_t i = 0; i < result->sample_count; i++) {
		const struct drawn_sample *sample = &result->samples[i];
		uint64_t kernel_ns = UINT64_C(1000) * sample->kernel_us;
		if (sample->thread != thread)
			continue;
		if (sample->kernel_us == PROFILE_KERNEL_ALL)
			kernel_ns = sample->cpu_ns;
		life->samples++;
		life->kernel_ns += kernel_ns;
		life->sampled_ns += sample->cpu_ns - kernel_ns;
	}
}

static void add_lives(struct profile_writer *writer, const struct drawn_result *result)
{
	for (uint32_t i = 0; i < result->process_count; i++) {
		struct profile_process process = {
			.pid = DRAWN_PID + i,
			.end_ns = PROFILE_TIME_NEVER,
			.path = "/opt/app/app",
			.name = result->names[i],
		};
		ck_assert_uint_eq(profile_writer_add_process(writer, &process), VT_SUCCESS);
	}
	for (uint32_t i = 0; i < result->thread_count; i++) {
		const struct drawn_thread *thread = &result->threads[i];
		struct profile_thread_life life = {
			.pid = DRAWN_PID + thread->process,
			.tid = DRAWN_TID + i,
			.end_ns = PROFILE_TIME_NEVER,
			.cpu_ns = thread->cpu_ns,
			.rest_ns = thread->rest_ns,
			.unseen_ns = thread->unseen_ns,
			.name = thread->name,
		};
		sum_samples(result, i, &life);
		if (!thread->is_unrecorded)
			ck_assert_uint_eq(profile_writer_add_thread(writer, &life), VT_SUCCESS);
	}
}

static void add_notes(struct profile_writer *writer, const struct drawn_result *result)
{
	const struct {
		enum profile_note_kind kind;
		uint64_t value;
	} notes[] = {{PROFILE_NOTE_INTERVAL, result->interval_ns},
		     {PROFILE_NOTE_SAMPLING, result->sampling},
		     {PROFILE_NOTE_TICK, result->tick_ns},
		     {PROFILE_NOTE_SEED, result->seed},
		     {PROFILE_NOTE_UNATTRIBUTED, result->unattributed_ns},
		     {PROFILE_NOTE_UNATTRIBUTED_KERNEL, result->unattributed_kernel_ns},
		     {PROFILE_NOTE_KERNEL_TIME, result->kernel_time}};
	for (size_t i = 0; i < sizeof(notes) / sizeof(notes[0]); i++)
		if (notes[i].value > 0)
			ck_assert_uint_eq(profile_writer_add_note(writer, notes[i].kind, START_NS,
								  notes[i].value, 0, 0, NULL),
					  VT_SUCCESS);
}

static void write_symbols(const char *path)
{
	struct profile_writer *writer;
	ck_assert_uint_eq(profile_symbol_writer_begin(path, &writer), VT_SUCCESS);
	for (uint32_t i = 0; i <= DRAWN_FUNCTIONS; i++) {
		char name[16] = "main";
		if (i < DRAWN_FUNCTIONS)
			snprintf(name, sizeof(name), "f%u", i);
		struct profile_symbol symbol = {.frame = i, .start = 0x1000 + 16 * i, .size = 16};
		struct profile_symbol_text text = {name, name,
						   i < DRAWN_FUNCTIONS / 2 ? "/src/app.c"
									   : "/src/lib.c"};
		ck_assert_uint_eq(profile_symbol_writer_add(writer, &symbol, &text), VT_SUCCESS);
	}
	ck_assert_uint_eq(profile_symbol_writer_finish(writer), VT_SUCCESS);
}

void drawn_result_write(const char *path, const struct drawn_result *result)
{
	struct profile_writer *writer;
	struct profile_run run = {
		.clock = {.tsc = 5000, .raw_ns = START_NS, .tsc_per_ns_q32 = UINT64_C(2) << 32},
		.interval_ns = result->interval_ns ? result->interval_ns : 10 * DRAWN_MS,
		.event_name = "CPU Time",
	};
	struct profile_run_end end = {.command_line = "app", .comment = "", .clock = run.clock};
	ck_assert_uint_eq(profile_writer_create(path, &run, &writer), VT_SUCCESS);
	add_code(writer);
	add_samples(writer, result);
	add_lives(writer, result);
	add_notes(writer, result);
	end.clock.raw_ns += 10 * START_NS;
	end.clock.tsc += 20 * START_NS;
	ck_assert_uint_eq(profile_writer_finish(writer, &end), VT_SUCCESS);
	write_symbols(path);
}
