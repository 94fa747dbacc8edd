/* The table of analyses: what the command line, the result and the session take from it. */
#include "collector/analysis/analysis.h"
#include "collector/options/options.h"
#include "tests/support/suite.h"
#include <check.h>
#include <string.h>

START_TEST(found_by_name)
{
	ck_assert_str_eq(analysis_at(0)->name, "hotspots");
	for (size_t i = 0; analysis_at(i); i++)
		ck_assert_ptr_eq(analysis_find(analysis_at(i)->name), analysis_at(i));
	ck_assert_ptr_null(analysis_find("hotspot"));
	ck_assert_ptr_null(analysis_find(""));
}
END_TEST

/* Names of results are told from other files by two small letters (result.c). */
START_TEST(rows_are_whole)
{
	const struct analysis *row;
	for (size_t i = 0; (row = analysis_at(i)); i++) {
		ck_assert_uint_eq(strspn(row->suffix, "abcdefghijklmnopqrstuvwxyz"), 2);
		ck_assert_uint_eq(strlen(row->suffix), 2);
		ck_assert(row->switches || !row->waits);
	}
}
END_TEST

START_TEST(named_to_the_user)
{
	char names[256];
	char cut[5];
	analysis_list(names, sizeof(names));
	for (size_t i = 0; analysis_at(i); i++) {
		ck_assert_ptr_nonnull(strstr(names, analysis_at(i)->name));
		ck_assert_ptr_nonnull(strstr(options_help(), analysis_at(i)->name));
	}
	analysis_list(cut, sizeof(cut));
	ck_assert_str_eq(cut, "hots");
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("analysis");
	TCase *tcase = tcase_create("analysis");

	tcase_add_test(tcase, found_by_name);
	tcase_add_test(tcase, rows_are_whole);
	tcase_add_test(tcase, named_to_the_user);
	suite_add_tcase(suite, tcase);
	return run_suite(suite);
}
