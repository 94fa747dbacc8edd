/* Cold parts from the file to the reports: one function. */
#include "profile/read/reader.h"
#include "profile/write/writer.h"
#include "tests/support/suite.h"
#include "tools/functions/functions.h"
#include "tools/generated/code_lives.h"
#include "tools/symbolization/frame_symbols.h"
#include <check.h>
#include <stdlib.h>
#include <unistd.h>

/* A result with frames in labels_split, in its cold part, and in nothing else. */
static void write_result(const char *path)
{
	static const uint64_t rvas[] = {0x108f5, 0x108d5};
	struct profile_writer *writer;
	struct profile_run run = {
		.clock = {.tsc = 1, .raw_ns = 1, .real_ns = 1, .tsc_per_ns_q32 = UINT64_C(1) << 32},
		.interval_ns = 10000000,
		.event_name = "CPU Time",
	};
	struct profile_run_end end = {.command_line = "", .comment = "", .clock = run.clock};
	struct profile_image image = {.kind = PROFILE_IMAGE_FILE};
	uint32_t index;
	ck_assert_uint_eq(profile_writer_create(path, &run, &writer), VT_SUCCESS);
	ck_assert_uint_eq(profile_writer_add_image(writer, &image, LABELS, &index), VT_SUCCESS);
	for (unsigned i = 0; i < 2; i++) {
		struct profile_frame frame = {.image = index, .rva = rvas[i]};
		ck_assert_uint_eq(profile_writer_add_frame(writer, &frame), VT_SUCCESS);
	}
	ck_assert_uint_eq(profile_writer_finish(writer, &end), VT_SUCCESS);
}

/* From the file to the reports: one function. The part's symbol keeps its name in full. */
START_TEST(test_cold_part_counts_as_its_function)
{
	char path[] = "/tmp/test-names-XXXXXX";
	struct profile_reader *reader;
	struct frame_symbols symbols;
	uint32_t count;
	ck_assert_int_ge(close(mkstemp(path)), 0);
	unlink(path);
	write_result(path);
	ck_assert_uint_eq(profile_reader_open(path, &reader), VT_SUCCESS);
	struct code_lives *lives = code_lives_read(reader);
	const struct frame_symbols_source source = {.reader = reader, .lives = lives};
	frame_symbols_collect(&source, &symbols);
	code_lives_destroy(lives);
	ck_assert_uint_eq(frame_symbols_write(path, &symbols), VT_SUCCESS);
	frame_symbols_finish(&symbols);
	profile_reader_close(reader);
	ck_assert_uint_eq(profile_reader_open(path, &reader), VT_SUCCESS);
	const struct profile_symbol *part = profile_reader_symbols(reader, 0, &count);
	ck_assert_uint_eq(count, 1);
	ck_assert_str_eq(profile_reader_symtext(reader, part->name), "labels_split");
	ck_assert_str_eq(profile_reader_symtext(reader, part->full), "labels_split.cold");
	ck_assert_uint_eq(part->start, 0x108d0);
	struct functions *functions = functions_create(reader, true);
	const struct function *function =
		functions_at(functions, *functions_of_frame(functions, 0, &count));
	ck_assert_ptr_eq(function,
			 functions_at(functions, *functions_of_frame(functions, 1, &count)));
	ck_assert_str_eq(function->full, "labels_split");
	functions_destroy(functions);
	profile_reader_close(reader);
	unlink(path);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("cold part");
	TCase *cases = tcase_create("all");
	tcase_set_timeout(cases, 60);
	tcase_add_test(cases, test_cold_part_counts_as_its_function);
	suite_add_tcase(suite, cases);
	return run_suite(suite);
}
