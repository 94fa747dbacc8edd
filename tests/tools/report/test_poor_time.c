/* Times in which few CPUs were utilized. */
#include "tests/support/suite.h"
#include "tools/waits/poor_time.h"
#include <check.h>
#include <stdint.h>

/* Between their begins and ends, also when there are too many of them to keep. */
START_TEST(test_poor_time)
{
	struct poor_time poor = {0};
	poor_time_add(&poor, 100, 200);
	poor_time_add(&poor, 200, 300); /* goes on */
	poor_time_add(&poor, 400, 400);
	poor_time_add(&poor, 500, 600);
	ck_assert_uint_eq(poor.count, 4);
	ck_assert_uint_eq(poor_time_between(&poor, 0, 1000), 300);
	ck_assert_uint_eq(poor_time_between(&poor, 150, 250), 100);
	ck_assert_uint_eq(poor_time_between(&poor, 250, 550), 100);
	ck_assert_uint_eq(poor_time_between(&poor, 300, 500), 0);
	ck_assert_uint_eq(poor_time_between(&poor, 600, 2000), 0);
	ck_assert_uint_eq(poor_time_between(&poor, 550, 550), 0);
	for (uint64_t i = 1; i <= 2 * POOR_TIME_POINTS; i++)
		poor_time_add(&poor, i * 1000, i * 1000 + 250);
	ck_assert_uint_le(poor.count, POOR_TIME_POINTS);
	ck_assert_uint_eq(poor_time_between(&poor, 0, UINT64_MAX),
			  300 + UINT64_C(500) * POOR_TIME_POINTS);
	uint64_t half_ns = poor_time_between(&poor, 0, UINT64_C(1000) * POOR_TIME_POINTS);
	ck_assert_uint_ge(half_ns, UINT64_C(250) * POOR_TIME_POINTS - 10000);
	ck_assert_uint_le(half_ns, UINT64_C(250) * POOR_TIME_POINTS + 10000);
	poor_time_finish(&poor);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("poor_time");
	TCase *cases = tcase_create("all");
	tcase_add_test(cases, test_poor_time);
	suite_add_tcase(suite, cases);
	return run_suite(suite);
}
