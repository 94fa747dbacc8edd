/* The texts of a stream as strings. */
#include "profile/base/streams.h"
#include "profile/read/strpool.h"
#include "tests/support/suite.h"
#include <check.h>
#include <stdlib.h>
#include <string.h>

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

int main(void)
{
	Suite *suite = suite_create("profile strpool");
	TCase *tcase = tcase_create("strpool");

	tcase_add_test(tcase, texts_stay_in_bounds);
	tcase_add_test(tcase, texts_that_overlap_are_bounded);
	tcase_add_test(tcase, texts_made);
	suite_add_tcase(suite, tcase);
	return run_suite(suite);
}
