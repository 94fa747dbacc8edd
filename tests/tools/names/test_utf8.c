/* Bytes that are no UTF-8. */
#include "tests/support/suite.h"
#include "tools/names/utf8.h"
#include <check.h>
#include <stdio.h>

START_TEST(test_utf8)
{
	static const struct {
		const char *text;
		const char *expected;
	} cases[] = {
		{"", ""},
		{"plain", "plain"},
		{"gr\xc3\xbc\xc3\x9f", "gr\xc3\xbc\xc3\x9f"},
		{"\xe2\x82\xac\xf0\x9f\x98\x80", "\xe2\x82\xac\xf0\x9f\x98\x80"},
		{"a\xff\xfe", "a??"},
		{"\x80", "?"},
		{"cut\xe2\x82", "cut??"},
		{"\xc0\xaf", "??"},           /* overlong */
		{"\xed\xa0\x80", "???"},      /* surrogate */
		{"\xf4\x90\x80\x80", "????"}, /* above U+10FFFF */
		{"\xf0\x9f\x98z", "???z"},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char text[32];
		snprintf(text, sizeof(text), "%s", cases[i].text);
		utf8_replace_invalid(text);
		ck_assert_str_eq(text, cases[i].expected);
	}
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("utf8");
	TCase *cases = tcase_create("all");
	tcase_set_timeout(cases, 60);
	tcase_add_test(cases, test_utf8);
	suite_add_tcase(suite, cases);
	return run_suite(suite);
}
