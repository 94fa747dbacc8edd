/* Times of one clock as times of another. */
#include "profile/base/tsc.h"
#include "tests/support/suite.h"
#include <check.h>
#include <stdint.h>

#define SECOND UINT64_C(1000000000)
#define BASE   (10 * SECOND)

/* A counter of 3 GHz, a clock of the date that gains 100 us in the second second. */
static const struct profile_clock points[] = {
	{BASE, 5 * SECOND, 100 * SECOND, UINT64_C(3) << 32, 9 * SECOND},
	{BASE + 3 * SECOND, 6 * SECOND, 101 * SECOND, UINT64_C(3) << 32, 10 * SECOND + 5000},
	{BASE + 6 * SECOND, 7 * SECOND, 102 * SECOND + 100000, UINT64_C(3) << 32, 11 * SECOND},
};

static uint64_t from_date(uint64_t date)
{
	return profile_sync_convert(points, 3, PROFILE_SYNC_DATE, PROFILE_SYNC_RAW, date);
}

START_TEST(at_and_between_the_points)
{
	ck_assert_uint_eq(from_date(100 * SECOND), 5 * SECOND);
	ck_assert_uint_eq(from_date(101 * SECOND), 6 * SECOND);
	ck_assert_uint_eq(from_date(102 * SECOND + 100000), 7 * SECOND);
	ck_assert_uint_eq(from_date(100 * SECOND + SECOND / 2), 5 * SECOND + SECOND / 2);
	ck_assert_uint_eq(from_date(101 * SECOND + SECOND / 2 + 50000), 6 * SECOND + SECOND / 2);
	ck_assert_uint_eq(profile_sync_convert(points, 3, PROFILE_SYNC_COUNTER, PROFILE_SYNC_RAW,
					       BASE + 4 * SECOND),
			  6 * SECOND + SECOND / 3);
	ck_assert_uint_eq(profile_sync_convert(points, 3, PROFILE_SYNC_MONOTONIC, PROFILE_SYNC_RAW,
					       9 * SECOND + SECOND / 2 + 2500),
			  5 * SECOND + SECOND / 2);
}
END_TEST

START_TEST(beyond_the_points)
{
	ck_assert_uint_eq(from_date(99 * SECOND), 4 * SECOND);
	ck_assert_uint_eq(from_date(103 * SECOND + 100000), 8 * SECOND);
	ck_assert_uint_eq(profile_sync_convert(points, 3, PROFILE_SYNC_COUNTER, PROFILE_SYNC_RAW,
					       BASE + 9 * SECOND),
			  8 * SECOND);
	ck_assert_uint_eq(from_date(0), 1);
	ck_assert_uint_eq(from_date(UINT64_MAX), UINT64_MAX - 96 * SECOND - 100000 + SECOND);
	ck_assert_uint_eq(profile_sync_convert(points, 3, PROFILE_SYNC_RAW, PROFILE_SYNC_COUNTER,
					       UINT64_MAX),
			  UINT64_MAX - 1);
}
END_TEST

/* A date set back, a counter that stood still, and a rate of 0: no division by zero, and a time at
 * all. */
START_TEST(clocks_that_lie)
{
	const struct profile_clock lies[] = {
		{7, SECOND, 100 * SECOND, 0, 0},
		{7, 2 * SECOND, 50 * SECOND, 0, 0},
		{7, 3 * SECOND, 51 * SECOND, 0, 0},
	};
	for (uint64_t time = 1; time; time <<= 1) {
		for (int from = PROFILE_SYNC_RAW; from <= PROFILE_SYNC_MONOTONIC; from++) {
			for (int to = PROFILE_SYNC_RAW; to <= PROFILE_SYNC_MONOTONIC; to++) {
				uint64_t made =
					profile_sync_convert(lies, 3, (enum profile_sync_clock)from,
							     (enum profile_sync_clock)to, time);
				ck_assert_uint_ge(made, 1);
				ck_assert_uint_lt(made, UINT64_MAX);
			}
		}
	}
}
END_TEST

/* There and back within a millisecond is what users need; it is a nanosecond. */
START_TEST(there_and_back)
{
	for (uint64_t raw = 4 * SECOND; raw < 9 * SECOND; raw += 12345678) {
		for (int clock = PROFILE_SYNC_DATE; clock <= PROFILE_SYNC_MONOTONIC; clock++) {
			uint64_t there = profile_sync_convert(points, 3, PROFILE_SYNC_RAW,
							      (enum profile_sync_clock)clock, raw);
			uint64_t back =
				profile_sync_convert(points, 3, (enum profile_sync_clock)clock,
						     PROFILE_SYNC_RAW, there);
			ck_assert_uint_le(back, raw);
			ck_assert_uint_ge(back + 1, raw);
		}
	}
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("profile sync");
	TCase *tcase = tcase_create("convert");

	tcase_add_test(tcase, at_and_between_the_points);
	tcase_add_test(tcase, beyond_the_points);
	tcase_add_test(tcase, clocks_that_lie);
	tcase_add_test(tcase, there_and_back);
	suite_add_tcase(suite, tcase);
	return run_suite(suite);
}
