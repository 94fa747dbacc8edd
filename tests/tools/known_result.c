#include "tests/tools/known_result.h"

#include "profile/read/states.h"
#include "profile/write/writer.h"
#include "tools/formats/export_format.h"
#include "tools/functions/filter.h"
#include "tools/generated/code_lives.h"
#include "tools/stacks/sampled_result.h"
#include "tools/symbolization/frame_symbols.h"
#include "tools/waits/wall.h"
#include <check.h>
#include <stdio.h>

const struct build_sample known_samples[] = {
	{.stack = "app:_start libc:start app:main app:work", .count = 4, .cpu_ms = 10},
	{.stack = "app:_start libc:start app:main app:outer>inner",
	 .count = 2,
	 .cpu_ms = 10,
	 .thread = 1},
	{.stack = "lib:a;b lib:odd",
	 .count = 3,
	 .cpu_ms = 5,
	 .state = PROFILE_STACK_SKIPPED,
	 .reason = PROFILE_SKIP_TRUNCATED,
	 .thread = 2},
	{.stack = "app:main ? app:", .count = 1, .cpu_ms = 1},
	{.stack = "app:main", .count = 1, .cpu_ms = 1, .state = PROFILE_STACK_GUESSED},
};

void known_write_frames(const char *path, const char *file, const struct profile_frame *frames,
			size_t count)
{
	const struct profile_run run = {
		.clock = {.tsc = 1, .raw_ns = 1, .tsc_per_ns_q32 = UINT64_C(1) << 32},
		.interval_ns = 10000000,
		.event_name = "CPU Time",
	};
	const struct profile_run_end end = {.command_line = "", .comment = "", .clock = run.clock};
	const struct profile_image image = {.kind = PROFILE_IMAGE_FILE};
	struct profile_writer *writer;
	uint32_t index;
	ck_assert_uint_eq(profile_writer_create(path, &run, &writer), VT_SUCCESS);
	ck_assert_uint_eq(profile_writer_add_image(writer, &image, file, &index), VT_SUCCESS);
	ck_assert_uint_eq(index, 1);
	for (size_t i = 0; i < count; i++)
		ck_assert_uint_eq(profile_writer_add_frame(writer, &frames[i]), VT_SUCCESS);
	ck_assert_uint_eq(profile_writer_finish(writer, &end), VT_SUCCESS);
}

struct profile_reader *known_reader(const char *result)
{
	struct profile_reader *reader;
	ck_assert_uint_eq(profile_reader_open(result, &reader), VT_SUCCESS);
	return reader;
}

char *known_export(const char *path, const char *name, bool with_threads, size_t *size)
{
	const struct export_format *format = export_format_find(name);
	struct sampled_result result;
	struct filter everything = {0};
	struct export_options options = {.with_threads = with_threads};
	ck_assert_ptr_nonnull(format);
	struct profile_reader *reader = known_reader(path);
	bool with_wall =
		format->weights == EXPORT_WEIGHTS_ALL && profile_reader_states(reader) != 0;
	unsigned by = format->by | (with_threads || with_wall ? TALLY_BY_THREAD : 0);
	ck_assert_int_eq(sampled_result_collect(&result, reader, path, &everything, by, true), 0);
	if (with_wall)
		ck_assert_uint_eq(wall_tally(&result.tally, reader, result.functions, &everything),
				  VT_SUCCESS);
	struct weighted_stacks stacks = {.reader = result.reader,
					 .functions = result.functions,
					 .tally = &result.tally,
					 .filter = &everything,
					 .mode = CALL_PATH_ALL,
					 .with_call_path = true};
	char *bytes = NULL;
	FILE *stream = open_memstream(&bytes, size);
	ck_assert_uint_eq(format->write(&stacks, &options, stream), VT_SUCCESS);
	fclose(stream);
	sampled_result_close(&result);
	return bytes;
}

char *known_fold(const char *path, bool with_threads)
{
	size_t size;
	return known_export(path, "folded", with_threads, &size);
}

void known_finalize(const char *result)
{
	struct profile_reader *reader = known_reader(result);
	struct frame_symbols symbols;
	struct code_lives *lives = code_lives_read(reader);
	const struct frame_symbols_source source = {.reader = reader, .lives = lives};
	frame_symbols_collect(&source, &symbols);
	code_lives_destroy(lives);
	ck_assert_uint_eq(frame_symbols_write(result, &symbols), VT_SUCCESS);
	frame_symbols_finish(&symbols);
	profile_reader_close(reader);
}
