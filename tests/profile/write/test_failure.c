/* A file that cannot grow: the first failure is final, and what was written before is readable. */
#include "tests/profile/fixture.h"
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>

/* write(2) fails from here on, as on a full disk. Not by ck_assert: that writes too, to a file that
 * this cuts. */
static void limit_file_size(rlim_t bytes)
{
	struct rlimit limit = {bytes, RLIM_INFINITY};

	signal(SIGXFSZ, SIG_IGN);
	if (setrlimit(RLIMIT_FSIZE, &limit) != 0)
		abort();
}

/* Adds samples until it fails. */
static TBRW_U32 write_until_failure(struct profile_writer *writer)
{
	struct profile_sample sample = {.pid = 100, .tid = 100, .ip = 0x400100};
	TBRW_U32 code = VT_SUCCESS;

	for (uint32_t i = 0; i < 1000000 && code == VT_SUCCESS; i++) {
		sample.time_ns = FIXTURE_RAW_NS + 1000u * i;
		code = profile_writer_add_sample(writer, &sample);
	}
	return code;
}

START_TEST(first_failure_is_final)
{
	struct profile_writer *writer = fixture_create();
	struct profile_clock clock = {1, 1, 1, 1, 1};
	struct profile_process process = {.path = "/opt/app", .name = "app"};
	struct profile_run_end end = {.clock = clock};
	struct profile_image image = {.kind = PROFILE_IMAGE_FILE};
	uint32_t index;

	fixture_fill(writer, 100);
	limit_file_size(1 << 20);
	TBRW_U32 code = write_until_failure(writer);
	limit_file_size(RLIM_INFINITY);
	ck_assert(code == VT_WRITE_ERROR || code == VT_NO_SPACE);
	/* Room again is too late. */
	struct stat before, after;
	ck_assert_int_eq(stat(fixture_path(), &before), 0);
	ck_assert_uint_eq(profile_writer_add_clock(writer, &clock), code);
	ck_assert_uint_eq(profile_writer_add_image(writer, &image, "/new", &index), code);
	ck_assert_uint_eq(profile_writer_add_process(writer, &process), code);
	ck_assert_uint_eq(profile_writer_add_note(writer, PROFILE_NOTE_WARNING, 1, 0, 0, 0, "new"),
			  code);
	ck_assert_uint_eq(write_until_failure(writer), code);
	ck_assert_int_eq(stat(fixture_path(), &after), 0);
	ck_assert_int_eq(after.st_size, before.st_size);
	ck_assert_uint_eq(profile_writer_finish(writer, &end), code);

	struct profile_reader *reader = fixture_open();
	ck_assert(!profile_reader_complete(reader));
	ck_assert_uint_gt(profile_reader_sample_count(reader), 1000);
	fixture_check_promises(reader);
	profile_reader_close(reader);
}
END_TEST

START_TEST(finish_without_room)
{
	struct profile_writer *writer = fixture_create();
	struct profile_run_end end = {.clock = {.tsc_per_ns_q32 = 1}};
	struct profile_reader *reader;

	fixture_fill(writer, 100);
	limit_file_size((rlim_t)_i * 512);
	TBRW_U32 code = profile_writer_finish(writer, &end);
	limit_file_size(RLIM_INFINITY);
	ck_assert_uint_ne(code, VT_SUCCESS);
	/* Nothing half-written looks whole. */
	if (profile_reader_open(fixture_path(), &reader) == VT_SUCCESS) {
		ck_assert(!profile_reader_complete(reader));
		fixture_check_promises(reader);
		profile_reader_close(reader);
	}
}
END_TEST

START_TEST(symbols_without_room)
{
	struct profile_writer *writer = fixture_create();
	struct profile_writer *symbols;
	struct profile_symbol symbol = {.frame = 1};
	struct profile_symbol_text text = {.name = "function"};
	TBRW_U32 code = VT_SUCCESS;

	fixture_fill(writer, 100);
	fixture_finish(writer);
	assert_success(profile_symbol_writer_begin(fixture_path(), &symbols));
	limit_file_size(256 << 10);
	for (uint32_t i = 0; i < 100000 && code == VT_SUCCESS; i++)
		code = profile_symbol_writer_add(symbols, &symbol, &text);
	TBRW_U32 again = profile_symbol_writer_add(symbols, &symbol, &text);
	TBRW_U32 finished = profile_symbol_writer_finish(symbols);
	limit_file_size(RLIM_INFINITY);
	ck_assert_uint_ne(code, VT_SUCCESS);
	ck_assert_uint_eq(again, code);
	ck_assert_uint_eq(finished, code);
	/* The result is as it was. */
	struct profile_reader *reader = fixture_open();
	ck_assert(profile_reader_complete(reader));
	ck_assert_uint_eq(profile_reader_symbol_count(reader), 0);
	ck_assert_uint_eq(profile_reader_sample_count(reader), 100);
	profile_reader_close(reader);
}
END_TEST

START_TEST(symbols_need_a_complete_result)
{
	struct profile_writer *writer = fixture_create();
	struct profile_writer *symbols = NULL;

	fixture_fill(writer, 100);
	fixture_kill(writer);
	ck_assert_uint_eq(profile_symbol_writer_begin(fixture_path(), &symbols),
			  VT_INCOMPLETE_TB5_ENCOUNTERED);
	ck_assert_ptr_null(symbols);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("profile failure");
	TCase *tcase = fixture_case(suite);

	tcase_add_test(tcase, first_failure_is_final);
	tcase_add_loop_test(tcase, finish_without_room, 0, 24);
	tcase_add_test(tcase, symbols_without_room);
	tcase_add_test(tcase, symbols_need_a_complete_result);
	return run_suite(suite);
}
