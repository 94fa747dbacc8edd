/* What a terminal is shown of texts that steer it. */
#include "profile/base/visible.h"
#include "tests/support/suite.h"
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
	const char *text;
	const char *shown;
} cases[] = {
	{"", ""},
	{"plain name", "plain name"},
	{"\033]0;title\007", "\\x1b]0;title\\x07"},
	{"two\r\nlines\t", "two\\x0d\\x0alines\\x09"},
	{"\x7f", "\\x7f"},
	/* C1 controls, as a code point and as a byte */
	{"\xc2\x9b"
	 "31m",
	 "\\u009b31m"},
	{"\x9b"
	 "31m",
	 "\\x9b31m"},
	/* letters of other scripts are none of it, nor is U+FFFD */
	{"gr\xc3\xb6\xc3\x9f"
	 "e \xe4\xb8\xad \xf0\x9f\x98\x80 \xef\xbf\xbd",
	 "gr\xc3\xb6\xc3\x9f"
	 "e \xe4\xb8\xad \xf0\x9f\x98\x80 \xef\xbf\xbd"},
	/* direction, zero width, separators, tags */
	{"a\xe2\x80\xae"
	 "b",
	 "a\\u202eb"},
	{"\xe2\x81\xa6\xe2\x81\xa9", "\\u2066\\u2069"},
	{"\xd8\x9c\xe2\x80\x8b\xef\xbb\xbf", "\\u061c\\u200b\\ufeff"},
	{"\xe2\x80\xa8\xe2\x80\xa9", "\\u2028\\u2029"},
	{"\xf3\xa0\x81\x81", "\\U000e0041"},
	/* no UTF-8: overlong, a surrogate, cut */
	{"\xc0\x9b", "\\xc0\\x9b"},
	{"\xed\xa0\x80", "\\xed\\xa0\\x80"},
	{"\xe2\x80", "\\xe2\\x80"},
	{"\xef\xbf", "\\xef\\xbf"},
	{"\xff\xfe", "\\xff\\xfe"},
};

START_TEST(test_visible)
{
	char shown[256];
	ck_assert_uint_lt(strlen(cases[_i].text) * PROFILE_VISIBLE_FACTOR, sizeof(shown));
	profile_visible_text(cases[_i].text, shown);
	ck_assert_str_eq(shown, cases[_i].shown);
}
END_TEST

/* Every code point and every byte keeps to the sizes that the header promises. */
START_TEST(test_sizes)
{
	for (unsigned bytes = 1; bytes <= 0xffff; bytes++) {
		char text[4] = {(char)(bytes >> 8), (char)bytes, (char)0x80, (char)0x80};
		const char *from = text + (bytes < 0x100);
		size_t size = (size_t)(text + sizeof(text) - from);
		char out[PROFILE_VISIBLE_MAX];
		size_t length = 0;
		size_t used = profile_visible_next(from, size, out, &length);
		ck_assert_uint_ge(used, 1);
		ck_assert_uint_le(used, size);
		ck_assert_uint_le(length, used * PROFILE_VISIBLE_FACTOR);
		ck_assert_ptr_null(memchr(out, 0x1b, length));
	}
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("visible");
	TCase *tcase = tcase_create("visible");

	tcase_add_loop_test(tcase, test_visible, 0, (int)(sizeof(cases) / sizeof(cases[0])));
	tcase_add_test(tcase, test_sizes);
	suite_add_tcase(suite, tcase);
	return run_suite(suite);
}
