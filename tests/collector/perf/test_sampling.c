/* Draws: as many as asked for, and independent of thread, time and each other. */
#include "collector/perf/sampling.h"
#include "tests/support/suite.h"
#include <check.h>
#include <math.h>
#include <stdlib.h>

#define US 1000ull
#define MS 1000000ull

START_TEST(ticks_by_interval)
{
	static const struct {
		uint64_t interval_ns;
		uint64_t tick_ns;
		uint64_t of_threads_ns;
	} expected[] = {{1000 * MS, 125 * MS, 333333333}, {10 * MS, 1250 * US, 3333333},
			{2 * MS, 250 * US, 666666},       {1 * MS, 333333, 454545},
			{600 * US, 300 * US, 300 * US},   {115 * US, 100 * US, 100 * US}};
	for (size_t i = 0; i < sizeof(expected) / sizeof(expected[0]); i++) {
		struct sampling sampling =
			sampling_choose(PROFILE_SAMPLING_THREADS, expected[i].interval_ns, 7);
		ck_assert_uint_eq(sampling.tick_ns, expected[i].of_threads_ns);
		sampling = sampling_choose(PROFILE_SAMPLING_CPUS, expected[i].interval_ns, 7);
		ck_assert_uint_eq(sampling.tick_ns, expected[i].tick_ns);
		ck_assert_uint_eq(sampling.interval_ns, expected[i].interval_ns);
		ck_assert_uint_eq(sampling.seed, 7);
	}
}
END_TEST

START_TEST(fixed_is_fixed)
{
	struct sampling sampling = sampling_choose(PROFILE_SAMPLING_FIXED, 10 * MS, 7);
	ck_assert_uint_eq(sampling.tick_ns, 10 * MS);
	for (uint32_t i = 0; i < 100; i++) {
		ck_assert_uint_eq(sampling_tick_ns(&sampling, i, i), 10 * MS);
		ck_assert(sampling_keeps(&sampling, 10 * MS, i, i * MS));
	}
}
END_TEST

/* Whether so many ticks are n intervals, within 0.3 %. */
static bool is_near_a_part(uint64_t tick_ns, uint64_t interval_ns)
{
	for (int parts = 1; parts <= 24; parts++) {
		double intervals = (double)tick_ns * parts / (double)interval_ns;
		if (round(intervals) > 0 && fabs(intervals / round(intervals) - 1) < 0.003)
			return true;
	}
	return false;
}

START_TEST(distances_of_ticks)
{
	enum { DRAWS = 10000 };
	struct sampling sampling = sampling_choose(PROFILE_SAMPLING_CPUS, 10 * MS, 12345);
	double sum = 0;
	size_t same = 0;
	for (uint32_t i = 0; i < DRAWS; i++) {
		uint64_t tick = sampling_tick_ns(&sampling, _i == 0 ? i : 3, _i == 0 ? 0 : i);
		ck_assert_uint_ge(tick, 1250 * US * 85 / 100);
		ck_assert_uint_le(tick, 1250 * US * 115 / 100);
		ck_assert(!is_near_a_part(tick, 10 * MS));
		sum += (double)tick;
		same += tick == sampling_tick_ns(&sampling, 4, 0);
	}
	ck_assert_uint_le(same, 2);
	/* Not quite that of a uniform distribution: what is near parts of the interval is left out.
	 */
	ck_assert_double_eq_tol(sum / DRAWS, 1250e3, 0.02 * 1250e3);
	ck_assert_uint_eq(sampling_tick_ns(&sampling, 4, 5), sampling_tick_ns(&sampling, 4, 5));
}
END_TEST

/* Ticks of one thread, as of a clock: so many are kept as the distance says, and as often in each
 * part of a cycle of eight ticks. Another seed keeps others. */
START_TEST(keeps_a_share)
{
	enum { TICKS = 160000, CYCLE = 8 };
	const uint64_t period = _i == 0 ? 1250 * US : 1400 * US;
	struct sampling sampling = sampling_choose(PROFILE_SAMPLING_THREADS, 10 * MS, 99);
	struct sampling other = sampling_choose(PROFILE_SAMPLING_THREADS, 10 * MS, 100);
	double share = (double)period / (10.0 * MS);
	double parts[CYCLE] = {0};
	size_t kept = 0;
	size_t both = 0;
	for (uint64_t i = 0; i < TICKS; i++) {
		bool keeps = sampling_keeps(&sampling, period, 4711, 1000 + i * period);
		kept += keeps;
		parts[i % CYCLE] += keeps;
		both += keeps && sampling_keeps(&other, period, 4711, 1000 + i * period);
	}
	double deviation = sqrt(TICKS * share * (1 - share));
	ck_assert_double_eq_tol((double)kept, TICKS * share, 6 * deviation);
	for (size_t i = 0; i < CYCLE; i++)
		ck_assert_double_eq_tol(parts[i], TICKS * share / CYCLE,
					6 * deviation / sqrt(CYCLE));
	ck_assert_double_eq_tol((double)both, TICKS * share * share,
				6 * sqrt(TICKS * share * share));
}
END_TEST

/* With one tick for each sample it is never longer than the interval: samples are as many as asked
 * for on each CPU. */
START_TEST(one_tick_each)
{
	enum { TICKS = 20000 };
	struct sampling sampling = sampling_choose(PROFILE_SAMPLING_THREADS, 100 * US, 5);
	for (uint32_t cpu = 0; cpu < 100; cpu++)
		ck_assert_uint_le(sampling_tick_ns(&sampling, cpu, 0), 100 * US);
	for (uint32_t cpu = 0; cpu < 3; cpu++) {
		uint64_t tick = sampling_tick_ns(&sampling, cpu, 0);
		double share = (double)tick / (100.0 * US);
		size_t kept = 0;
		for (uint64_t i = 1; i <= TICKS; i++)
			kept += sampling_keeps(&sampling, tick, 1, i * tick);
		ck_assert_double_eq_tol((double)kept, TICKS * share,
					6 * sqrt(TICKS * share * (1 - share)) + 1);
	}
	for (uint64_t i = 0; i < 1000; i++)
		ck_assert(sampling_keeps(&sampling, 100 * US + i, 1, i * 977));
}
END_TEST

/* A drawn tick stands for those that were not; one of an interval or more for itself. */
START_TEST(weights)
{
	struct sampling sampling = sampling_choose(PROFILE_SAMPLING_THREADS, 10 * MS, 5);
	ck_assert_uint_eq(sampling_weigh(&sampling, 1250 * US, 1250 * US), 10 * MS);
	ck_assert_uint_eq(sampling_weigh(&sampling, 1400 * US, 700 * US), 5 * MS);
	ck_assert_uint_eq(sampling_weigh(&sampling, 10 * MS, 9 * MS), 9 * MS);
	ck_assert_uint_eq(sampling_weigh(&sampling, 11 * MS, 11 * MS), 11 * MS);
	ck_assert_uint_eq(sampling_weigh(&sampling, 0, 11), 11);
	ck_assert_uint_eq(sampling_weigh(&sampling, 1, UINT64_MAX), UINT64_MAX);
}
END_TEST

START_TEST(fewer_ticks)
{
	struct sampling sampling = sampling_choose(PROFILE_SAMPLING_CPUS, 10 * MS, 5);
	for (uint64_t ticks = 7; ticks >= 2; ticks--) {
		ck_assert(sampling_lessen(&sampling));
		ck_assert_uint_eq(sampling.tick_ns, 10 * MS / ticks);
	}
	ck_assert(!sampling_lessen(&sampling));
	ck_assert_uint_eq(sampling.tick_ns, 5 * MS);
	sampling = sampling_choose(PROFILE_SAMPLING_THREADS, 1 * MS, 5);
	ck_assert(sampling_lessen(&sampling));
	ck_assert_uint_eq(sampling.tick_ns, 500 * US);
	ck_assert(!sampling_lessen(&sampling));
	sampling = sampling_choose(PROFILE_SAMPLING_THREADS, 100 * US, 5);
	ck_assert(!sampling_lessen(&sampling));
	sampling = sampling_choose(PROFILE_SAMPLING_FIXED, 10 * MS, 5);
	ck_assert(!sampling_lessen(&sampling));
}
END_TEST

/* As many as there should be, of each thread and in each stretch of time, whatever rhythm the
 * samples have: within six standard deviations of as many random ones. */
START_TEST(even_share)
{
	enum { THREADS = 8, STRETCHES = 4, SAMPLES = 20000 };
	static const double shares[] = {0.5, 1.0 / 64, 0.9};
	for (size_t i = 0; i < sizeof(shares) / sizeof(shares[0]); i++) {
		uint32_t kept_share = (uint32_t)(shares[i] * SAMPLING_SHARE_ALL);
		double deviation = sqrt(SAMPLES * shares[i] * (1 - shares[i]));
		for (uint32_t n = 0; n < THREADS * STRETCHES; n++) {
			uint64_t start_ns = n / THREADS * SAMPLES * MS / 10;
			int kept = 0;
			for (uint64_t j = 0; j < SAMPLES; j++)
				kept += sampling_keeps_stack(kept_share, 1000 + n % THREADS,
							     start_ns + j * MS / 10);
			ck_assert_double_eq_tol(kept, SAMPLES * shares[i], 6 * deviation);
		}
	}
	ck_assert(sampling_keeps_stack(SAMPLING_SHARE_ALL, 1, 1));
}
END_TEST

/* A program with a cycle of its own: the kept samples hit its parts as all samples do. */
START_TEST(no_lock_to_a_cycle)
{
	enum { SAMPLES = 200000 };
	int kept[4] = {0};
	for (uint64_t j = 0; j < SAMPLES; j++)
		kept[j % 4] +=
			sampling_keeps_stack(SAMPLING_SHARE_ALL / 4, 4711, 123456789 + j * MS);
	for (int i = 0; i < 4; i++)
		ck_assert_double_eq_tol(kept[i], SAMPLES / 16.0, 6 * sqrt(SAMPLES / 16.0));
}
END_TEST

int main(void)
{
	TCase *tcase = tcase_create("sampling");
	tcase_add_test(tcase, ticks_by_interval);
	tcase_add_test(tcase, fixed_is_fixed);
	tcase_add_loop_test(tcase, distances_of_ticks, 0, 2);
	tcase_add_loop_test(tcase, keeps_a_share, 0, 2);
	tcase_add_test(tcase, one_tick_each);
	tcase_add_test(tcase, weights);
	tcase_add_test(tcase, fewer_ticks);
	tcase_add_test(tcase, even_share);
	tcase_add_test(tcase, no_lock_to_a_cycle);
	Suite *suite = suite_create("sampling");
	suite_add_tcase(suite, tcase);
	return run_suite(suite);
}
