/* The parts below writer and reader: clock map, tables. */
#include "profile/base/tsc.h"
#include "profile/read/strpool.h"
#include "profile/write/texttable.h"
#include "tests/profile/fixture.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct profile_clock three_ghz = {
	.tsc = FIXTURE_TSC,
	.raw_ns = FIXTURE_RAW_NS,
	.tsc_per_ns_q32 = FIXTURE_RATE_Q32,
};

START_TEST(tsc_map)
{
	ck_assert_uint_eq(profile_tsc_from_raw(&three_ghz, FIXTURE_RAW_NS), FIXTURE_TSC);
	ck_assert_uint_eq(profile_tsc_from_raw(&three_ghz, FIXTURE_RAW_NS + 7), FIXTURE_TSC + 21);
	ck_assert_uint_eq(profile_tsc_from_raw(&three_ghz, FIXTURE_RAW_NS - 7), FIXTURE_TSC - 21);
	ck_assert_uint_eq(profile_tsc_from_raw(&three_ghz, PROFILE_TIME_BEFORE), 0);
	ck_assert_uint_eq(profile_tsc_from_raw(&three_ghz, PROFILE_TIME_NEVER), UINT64_MAX);
	ck_assert_uint_eq(profile_raw_from_tsc(&three_ghz, 0), 0);
	ck_assert_uint_eq(profile_raw_from_tsc(&three_ghz, UINT64_MAX), UINT64_MAX);
}
END_TEST

START_TEST(tsc_map_rounds_down_everywhere)
{
	/* 1.5 ticks per ns: profile.h's formula, floor on both sides of the sync point. */
	struct profile_clock clock = {.tsc = 1000, .raw_ns = 1000, .tsc_per_ns_q32 = 3u << 31};

	clock.tsc_per_ns_q32 = UINT64_C(3) << 31;
	ck_assert_uint_eq(profile_tsc_from_raw(&clock, 1001), 1001);
	ck_assert_uint_eq(profile_tsc_from_raw(&clock, 999), 998);
}
END_TEST

START_TEST(tsc_map_saturates)
{
	struct profile_clock clock = {.tsc = 100, .raw_ns = 1000, .tsc_per_ns_q32 = UINT64_MAX};

	ck_assert_uint_eq(profile_tsc_from_raw(&clock, UINT64_MAX - 1), UINT64_MAX - 1);
	ck_assert_uint_eq(profile_tsc_from_raw(&clock, 1), 1);
	clock.tsc_per_ns_q32 = 1;
	ck_assert_uint_eq(profile_raw_from_tsc(&clock, UINT64_MAX - 1), UINT64_MAX - 1);
	ck_assert_uint_eq(profile_raw_from_tsc(&clock, 1), 1);
	clock.tsc_per_ns_q32 = 0;
	ck_assert_uint_eq(profile_raw_from_tsc(&clock, 12345), 12345);
}
END_TEST

START_TEST(tsc_map_inverts)
{
	static const uint64_t rates[] = {UINT64_C(1) << 32, (UINT64_C(1) << 32) * 21 / 10,
					 FIXTURE_RATE_Q32, UINT64_C(25769803775)};

	for (size_t r = 0; r < sizeof(rates) / sizeof(rates[0]); r++) {
		struct profile_clock clock = three_ghz;
		clock.tsc_per_ns_q32 = rates[r];
		for (uint64_t ns = FIXTURE_RAW_NS - 1000000; ns < FIXTURE_RAW_NS + 1000000;
		     ns += 997)
			ck_assert_uint_eq(profile_raw_from_tsc(&clock,
							       profile_tsc_from_raw(&clock, ns)),
					  ns);
	}
}
END_TEST

START_TEST(text_table_keeps_each_text_once)
{
	struct text_set table = {0};
	struct profile_text first, text;
	char name[32];

	for (int round = 0; round < 2; round++) {
		for (int i = 0; i < 3000; i++) {
			snprintf(name, sizeof(name), "text %d", i);
			ck_assert_int_eq(profile_text_add(&table, name, &text),
					 round ? PROFILE_TEXT_KNOWN : PROFILE_TEXT_NEW);
			ck_assert_uint_eq(text.length, strlen(name));
			ck_assert_mem_eq(table.bytes + text.offset, name, text.length);
		}
	}
	profile_text_add(&table, "a\xFF", &first);
	ck_assert_int_eq(profile_text_add(&table, "a\xFE", &text), PROFILE_TEXT_KNOWN);
	ck_assert_uint_eq(text.offset, first.offset);
	ck_assert_int_eq(profile_text_add(&table, "", &text), PROFILE_TEXT_KNOWN);
	ck_assert_uint_eq(text.length, 0);
	ck_assert_int_eq(profile_text_add(&table, NULL, &text), PROFILE_TEXT_KNOWN);
	ck_assert_uint_eq(text.length, 0);
	text_set_finish(&table);
}
END_TEST

START_TEST(text_table_cuts_long_texts)
{
	struct text_set table = {0};
	struct profile_text text;
	size_t size = PROFILE_TEXT_MAX + 100;
	char *longest = malloc(size + 1);

	ck_assert_ptr_nonnull(longest);
	memset(longest, 'x', size);
	longest[size] = '\0';
	memcpy(longest + PROFILE_TEXT_MAX - 1, "\xC3\xA4", 2);
	profile_text_add(&table, longest, &text);
	ck_assert_uint_eq(text.length, PROFILE_TEXT_MAX - 1);
	free(longest);
	text_set_finish(&table);
}
END_TEST

START_TEST(texts_stay_in_bounds)
{
	static const char blob[] = "onetwo";
	struct profile_texts texts;
	struct profile_text two = {3, 3}, beyond = {3, 4}, far = {UINT32_MAX, 1};
	struct profile_text wrap = {4, UINT32_MAX};

	profile_texts_init(&texts, 6);
	ck_assert(profile_texts_add(&texts, blob, 6, &two));
	ck_assert_str_eq(profile_texts_get(&texts, two), "two");
	ck_assert(profile_texts_add(&texts, blob, 6, &beyond));
	ck_assert(profile_texts_add(&texts, blob, 6, &far));
	ck_assert(profile_texts_add(&texts, blob, 6, &wrap));
	ck_assert_uint_eq(beyond.length + far.length + wrap.length, 0);
	ck_assert_str_eq(profile_texts_get(&texts, beyond), "");
	ck_assert_str_eq(profile_texts_get(&texts, (struct profile_text){0, 2}), "");
	profile_texts_finish(&texts);
}
END_TEST

START_TEST(texts_that_overlap_are_bounded)
{
	enum { SIZE = 1 << 20 };
	char *blob = malloc(SIZE);
	struct profile_texts texts;
	uint64_t total = 0;

	ck_assert_ptr_nonnull(blob);
	memset(blob, 'x', SIZE);
	profile_texts_init(&texts, SIZE);
	for (uint32_t i = 0; i < 1000; i++) {
		struct profile_text text = {i, SIZE - i};
		ck_assert(profile_texts_add(&texts, blob, SIZE, &text));
		ck_assert(text.length == SIZE - i || (text.length == 0 && text.offset == 0));
		total += text.length;
	}
	ck_assert_uint_gt(total, SIZE);
	ck_assert_uint_le(total, 5 * (uint64_t)SIZE);
	profile_texts_finish(&texts);
	free(blob);
}
END_TEST

START_TEST(texts_made)
{
	enum { LONG = PROFILE_TEXT_MAX + 10 };
	struct profile_texts texts = {0};
	struct profile_text one, two, empty, longest;
	char *xs = malloc(LONG + 1);

	ck_assert_ptr_nonnull(xs);
	memset(xs, 'x', LONG);
	xs[LONG] = '\0';
	ck_assert(profile_texts_make(&texts, "/opt/app", &one));
	ck_assert(profile_texts_make(&texts, "", &empty));
	ck_assert(profile_texts_make(&texts, xs, &longest));
	ck_assert(profile_texts_make(&texts, "/opt/xyz", &two));
	ck_assert_str_eq(profile_texts_get(&texts, one), "/opt/app");
	ck_assert_str_eq(profile_texts_get(&texts, two), "/opt/xyz");
	ck_assert_uint_eq(empty.length, 0);
	ck_assert_str_eq(profile_texts_get(&texts, empty), "");
	ck_assert_uint_eq(strlen(profile_texts_get(&texts, longest)), PROFILE_TEXT_MAX);
	profile_texts_finish(&texts);
	free(xs);
}
END_TEST

static Suite *parts_suite(void)
{
	Suite *suite = suite_create("profile parts");
	TCase *tcase = tcase_create("parts");

	tcase_add_test(tcase, tsc_map);
	tcase_add_test(tcase, tsc_map_rounds_down_everywhere);
	tcase_add_test(tcase, tsc_map_saturates);
	tcase_add_test(tcase, tsc_map_inverts);
	tcase_add_test(tcase, text_table_keeps_each_text_once);
	tcase_add_test(tcase, text_table_cuts_long_texts);
	tcase_add_test(tcase, texts_stay_in_bounds);
	tcase_add_test(tcase, texts_that_overlap_are_bounded);
	tcase_add_test(tcase, texts_made);
	suite_add_tcase(suite, tcase);
	return suite;
}

int main(void)
{
	return run_suite(parts_suite());
}
