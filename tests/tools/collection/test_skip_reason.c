/* Each reason that a stack can be skipped for has all that is said of it. */
#include "tests/support/suite.h"
#include "tools/collection/skip_reason.h"
#include <check.h>
#include <string.h>

START_TEST(test_rows)
{
	const struct skip_reason *row = skip_reason_of((enum profile_skip_reason)_i);
	ck_assert_ptr_nonnull(row->key);
	ck_assert_ptr_nonnull(row->words);
	ck_assert_ptr_nonnull(row->column.title);
	ck_assert_int_eq(strncmp(row->column.key, "skipped_", 8), 0);
	ck_assert_str_eq(row->column.key + 8, row->key);
	ck_assert(!row->advice == (row->choose != NULL));
	for (int other = 0; other < _i; other++)
		ck_assert_str_ne(row->key, skip_reason_of((enum profile_skip_reason)other)->key);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("skip reason");
	TCase *cases = tcase_create("all");
	tcase_set_timeout(cases, 60);
	tcase_add_loop_test(cases, test_rows, 0, PROFILE_SKIP_REASON_COUNT);
	suite_add_tcase(suite, cases);
	return run_suite(suite);
}
