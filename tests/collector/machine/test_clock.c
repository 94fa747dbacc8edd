/* Sync points: the counter follows the clock at the rate that was measured. */
#include "collector/machine/clock.h"
#include <check.h>
#include <stdbool.h>
#include <stdlib.h>
#include <time.h>

static uint64_t read_ns(clockid_t id)
{
	struct timespec time;
	ck_assert_int_eq(clock_gettime(id, &time), 0);
	return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

static bool is_the_clock(const struct profile_clock *first)
{
	return first->tsc == first->raw_ns;
}

START_TEST(reads_the_clock)
{
	uint64_t before = read_ns(CLOCK_MONOTONIC_RAW);
	uint64_t now = clock_now();
	ck_assert_uint_ge(now, before);
	ck_assert_uint_le(now, read_ns(CLOCK_MONOTONIC_RAW));
}
END_TEST

static void assert_between(const struct profile_clock *point, uint64_t raw_ns, uint64_t real_ns)
{
	ck_assert_uint_gt(point->raw_ns, raw_ns);
	ck_assert_uint_lt(point->raw_ns, read_ns(CLOCK_MONOTONIC_RAW));
	/* The two differ by what the clock was slewed since the machine's start. */
	uint64_t between_ns = read_ns(CLOCK_MONOTONIC) - read_ns(CLOCK_MONOTONIC_RAW);
	int64_t apart_ns = (int64_t)(point->monotonic_ns - point->raw_ns - between_ns);
	ck_assert_int_lt(llabs(apart_ns), 1000000);
	/* This one may be set. */
	ck_assert_uint_gt(point->real_ns, real_ns - 3600000000000u);
	ck_assert_uint_lt(point->real_ns, read_ns(CLOCK_REALTIME) + 3600000000000u);
}

START_TEST(points)
{
	struct timespec wait = {.tv_nsec = 20000000};
	uint64_t raw_ns = read_ns(CLOCK_MONOTONIC_RAW);
	uint64_t real_ns = read_ns(CLOCK_REALTIME);
	struct profile_clock first = clock_calibrate();
	assert_between(&first, raw_ns, real_ns);
	nanosleep(&wait, NULL);
	raw_ns = read_ns(CLOCK_MONOTONIC_RAW);
	struct profile_clock later = clock_sync(&first);
	assert_between(&later, raw_ns, real_ns);
	ck_assert_uint_eq(later.tsc_per_ns_q32, first.tsc_per_ns_q32);
	ck_assert_int_eq(is_the_clock(&later), is_the_clock(&first));
	/* In the time between, to a few parts of a hundred. */
	double ticks = (double)(later.tsc - first.tsc);
	double expected = (double)(later.raw_ns - first.raw_ns) *
			  ((double)first.tsc_per_ns_q32 / 4294967296.0);
	ck_assert_double_gt(ticks, expected * 0.95);
	ck_assert_double_lt(ticks, expected * 1.05);
}
END_TEST

/* Where programs cannot read a counter, the clock is one. */
START_TEST(without_a_counter)
{
	struct profile_clock first = {.tsc = 500,
				      .raw_ns = 500,
				      .tsc_per_ns_q32 = UINT64_C(1) << 32};
	struct profile_clock later = clock_sync(&first);
	ck_assert_uint_eq(later.tsc, later.raw_ns);
	ck_assert_uint_eq(later.tsc_per_ns_q32, UINT64_C(1) << 32);
	first.tsc = 501; /* a counter that happens to have that rate */
	later = clock_sync(&first);
	ck_assert_uint_ne(later.tsc, later.raw_ns);
	first = (struct profile_clock){.tsc = 500, .raw_ns = 500, .tsc_per_ns_q32 = 1};
	later = clock_sync(&first);
	ck_assert_uint_ne(later.tsc, later.raw_ns);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("clock");
	TCase *tcase = tcase_create("clock");
	SRunner *runner = srunner_create(suite);

	tcase_add_test(tcase, reads_the_clock);
	tcase_add_test(tcase, points);
	tcase_add_test(tcase, without_a_counter);
	suite_add_tcase(suite, tcase);
	srunner_run_all(runner, CK_ENV);
	int failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed != 0;
}
