/* Samples of a result added up. */
#include "tests/support/suite.h"
#include "tests/tools/opened.h"
#include <check.h>

START_TEST(test_tally_sums)
{
	static const struct build_sample samples[] = {
		{.stack = "app:main app:a", .count = 3, .cpu_ms = 10},
		{.stack = "app:main app:a", .count = 2, .cpu_ms = 11, .thread = 1, .collapsed = 4},
		{.stack = "app:main app:a",
		 .count = 1,
		 .cpu_ms = 5,
		 .state = PROFILE_STACK_SKIPPED,
		 .reason = PROFILE_SKIP_TRUNCATED},
		{.stack = "app:main app:b", .count = 1, .cpu_ms = 7, .thread = 2},
	};
	struct build_result result = {.samples = samples, .count = 4, .rest_ms = 9};
	struct opened opened;
	opened_begin(&opened, &result, true, 0);
	ck_assert_uint_eq(opened.result.tally.count, 3); /* a, a skipped, b */
	ck_assert_uint_eq(opened.result.tally.samples, 7);
	ck_assert_uint_eq(opened.result.tally.cpu_ns, 64000000);
	ck_assert_uint_eq(opened.result.tally.rest_ns, 9000000);
	ck_assert_uint_eq(opened.result.tally.states[PROFILE_STACK_COMPLETE], 6);
	ck_assert_uint_eq(opened.result.tally.skipped[PROFILE_SKIP_TRUNCATED], 1);
	ck_assert_uint_eq(opened.result.tally.collapsed, 2);
	opened_end(&opened);
	opened_begin(&opened, &result, true, TALLY_BY_THREAD);
	ck_assert_uint_eq(opened.result.tally.count, 4);
	opened_end(&opened);
	result.count = 0;
	opened_begin(&opened, &result, true, TALLY_BY_THREAD);
	ck_assert_uint_eq(opened.result.tally.count, 0);
	opened_end(&opened);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("tally");
	TCase *cases = tcase_create("all");
	tcase_set_timeout(cases, 60);
	tcase_add_test(cases, test_tally_sums);
	suite_add_tcase(suite, cases);
	return run_suite(suite);
}
