/* Names for a result that grows: those that finalization writes. */
#include "tests/support/suite.h"
#include "tests/tools/known_result.h"
#include "tools/symbolization/live_symbols.h"
#include <check.h>
#include <stdio.h>
#include <string.h>

#define FUNCTIONS_MAX 8u

static const char *const path = build_path;

static uint64_t rvas[FUNCTIONS_MAX];
static uint32_t function_count;

static void read_subject(void)
{
	char name[64];
	FILE *subject = popen("'" SUBJECT_PIE "'", "r");
	ck_assert_ptr_nonnull(subject);
	function_count = 0;
	while (function_count < FUNCTIONS_MAX &&
	       fscanf(subject, "%63s %lx", name, &rvas[function_count]) == 2)
		function_count++;
	ck_assert_int_eq(pclose(subject), 0);
	ck_assert_uint_gt(function_count, 3);
}

/* Frames at the subject's functions, from the first one on; no symbols yet. */
static void write_result(uint32_t first, uint32_t count)
{
	struct profile_frame frames[FUNCTIONS_MAX];
	for (uint32_t i = 0; i < count; i++)
		frames[i] = (struct profile_frame){.image = 1, .rva = rvas[first + i] + 1};
	known_write_frames(path, SUBJECT_PIE, frames, count);
}

static void assert_text(const struct profile_reader *left, struct profile_text left_text,
			const struct profile_reader *right, struct profile_text right_text)
{
	ck_assert_str_eq(profile_reader_symtext(left, left_text),
			 profile_reader_symtext(right, right_text));
}

/* The reader's frames have the symbols that the same frames have in the finalized result. */
static void assert_names(const struct profile_reader *reader, const struct profile_reader *whole,
			 uint32_t first)
{
	for (uint32_t frame = 0; frame < profile_reader_frame_count(reader); frame++) {
		uint32_t count, expected;
		const struct profile_symbol *symbols =
			profile_reader_symbols(reader, frame, &count);
		const struct profile_symbol *others =
			profile_reader_symbols(whole, first + frame, &expected);
		ck_assert_uint_eq(count, expected);
		ck_assert_uint_gt(count, 0);
		for (uint32_t i = 0; i < count; i++) {
			assert_text(reader, symbols[i].name, whole, others[i].name);
			assert_text(reader, symbols[i].full, whole, others[i].full);
			assert_text(reader, symbols[i].file, whole, others[i].file);
			ck_assert_uint_eq(symbols[i].line, others[i].line);
			ck_assert_uint_eq(symbols[i].start, others[i].start);
			ck_assert_uint_eq(symbols[i].flags, others[i].flags);
			ck_assert_uint_eq(symbols[i].depth, others[i].depth);
		}
	}
}

static struct profile_reader *finalized_result(void)
{
	write_result(0, function_count);
	known_finalize(path);
	return known_reader(path);
}

/* All in one go, none, and one more each time. */
START_TEST(test_growing_result)
{
	read_subject();
	struct profile_reader *whole = finalized_result();
	struct live_symbols *live = live_symbols_create();
	for (uint32_t count = 0; count <= function_count; count++) {
		write_result(0, count);
		struct profile_reader *reader = known_reader(path);
		ck_assert_uint_eq(live_symbols_name(live, reader), VT_SUCCESS);
		ck_assert_uint_eq(profile_reader_frame_count(reader), count);
		assert_names(reader, whole, 0);
		profile_reader_close(reader);
	}
	live_symbols_destroy(live);
	profile_reader_close(whole);
}
END_TEST

START_TEST(test_other_result)
{
	read_subject();
	struct profile_reader *whole = finalized_result();
	struct live_symbols *live = live_symbols_create();
	for (uint32_t first = 0; first < 2; first++) {
		/* The second has fewer frames. */
		write_result(first, 3 - 2 * first);
		struct profile_reader *reader = known_reader(path);
		ck_assert_uint_eq(live_symbols_name(live, reader), VT_SUCCESS);
		ck_assert_uint_eq(profile_reader_frame_count(reader), 3 - 2 * first);
		assert_names(reader, whole, first);
		profile_reader_close(reader);
	}
	live_symbols_destroy(live);
	profile_reader_close(whole);
}
END_TEST

/* The result's own symbols stay. */
START_TEST(test_finalized_result)
{
	read_subject();
	struct profile_reader *whole = finalized_result();
	struct profile_reader *reader = known_reader(path);
	struct live_symbols *live = live_symbols_create();
	const struct profile_symbol symbol = {.frame = 0};
	const struct profile_symbol_text text = {"other", NULL, NULL};
	ck_assert_uint_eq(live_symbols_name(live, reader), VT_SUCCESS);
	ck_assert_uint_eq(profile_reader_name_frames(reader, &symbol, &text, 1), VT_BAD_PARAMETER);
	assert_names(reader, whole, 0);
	live_symbols_destroy(live);
	profile_reader_close(reader);
	profile_reader_close(whole);
}
END_TEST

START_TEST(test_name_frames)
{
	read_subject();
	write_result(0, 1);
	struct profile_reader *reader = known_reader(path);
	const struct profile_symbol symbols[] = {{.frame = 0}, {.frame = 0, .depth = 1}};
	const struct profile_symbol beyond = {.frame = 1};
	const struct profile_symbol_text texts[] = {{"inner", NULL, "inner.c"},
						    {"outer", "outer()", NULL}};
	uint32_t count;
	ck_assert_uint_eq(profile_reader_name_frames(reader, &beyond, texts, 1), VT_BAD_PARAMETER);
	ck_assert_uint_eq(profile_reader_name_frames(reader, symbols, texts, 2), VT_SUCCESS);
	const struct profile_symbol *named = profile_reader_symbols(reader, 0, &count);
	ck_assert_uint_eq(count, 2);
	ck_assert_str_eq(profile_reader_symtext(reader, named[0].name), "inner");
	ck_assert_str_eq(profile_reader_symtext(reader, named[0].full), "");
	ck_assert_str_eq(profile_reader_symtext(reader, named[0].file), "inner.c");
	ck_assert_str_eq(profile_reader_symtext(reader, named[1].name), "outer");
	ck_assert_str_eq(profile_reader_symtext(reader, named[1].full), "outer()");
	profile_reader_close(reader);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("live_symbols");
	TCase *cases = tcase_create("all");
	tcase_set_timeout(cases, 60);
	tcase_add_checked_fixture(cases, build_set_up, build_tear_down);
	tcase_add_test(cases, test_growing_result);
	tcase_add_test(cases, test_other_result);
	tcase_add_test(cases, test_finalized_result);
	tcase_add_test(cases, test_name_frames);
	suite_add_tcase(suite, cases);
	return run_suite(suite);
}
