/* What samples stand for: weights of a fixed period, shares of accounts at random times. */
#include "tests/support/suite.h"
#include "tests/tools/build_result.h"
#include "tests/tools/drawn_result.h"
#include "tools/samples/calibration.h"
#include <check.h>
#include <stdio.h>
#include <string.h>

#define MS           DRAWN_MS
#define INTERVAL     (10 * MS)
#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define SAMPLES_MAX  64

static struct calibrated {
	struct profile_reader *reader;
	struct calibration calibration;
	struct calibration_parts parts[SAMPLES_MAX]; /* by sample */
	size_t count;
} calibrated;

static bool take(const struct profile_sample_info *sample, void *user)
{
	(void)user;
	ck_assert_uint_lt(calibrated.count, SAMPLES_MAX);
	calibrated.parts[calibrated.count++] = calibration_take(&calibrated.calibration, sample);
	return true;
}

static void calibrate(const struct drawn_result *result, enum calibration_pools by)
{
	char directory[32];
	char path[64];
	build_directory(directory);
	snprintf(path, sizeof(path), "%s/r.tb5", directory);
	drawn_result_write(path, result);
	calibrated.count = 0;
	ck_assert_uint_eq(profile_reader_open(path, &calibrated.reader), VT_SUCCESS);
	ck_assert_uint_eq(calibration_init(&calibrated.calibration, calibrated.reader, by),
			  VT_SUCCESS);
	ck_assert_uint_eq(profile_reader_each_sample(calibrated.reader, take, NULL), VT_SUCCESS);
	build_directory_remove(directory);
}

static void finish(void)
{
	calibration_finish(&calibrated.calibration);
	profile_reader_close(calibrated.reader);
}

static struct calibration_rest rest_of(uint32_t thread)
{
	return calibration_rest(&calibrated.calibration, calibrated.reader, thread);
}

static void expect_part(size_t sample, uint64_t drawn_ns, uint64_t kernel_ns)
{
	ck_assert_uint_lt(sample, calibrated.count);
	ck_assert_uint_eq(calibrated.parts[sample].drawn_ns, drawn_ns);
	ck_assert_uint_eq(calibrated.parts[sample].kernel_ns, kernel_ns);
}

static void expect_rest(uint32_t thread, uint64_t user_ns, uint64_t kernel_ns)
{
	ck_assert_uint_eq(rest_of(thread).user_ns, user_ns);
	ck_assert_uint_eq(rest_of(thread).kernel_ns, kernel_ns);
}

static const char *const names[] = {"cc1", "cc1", "ld"};

static struct drawn_result make(const struct drawn_thread *threads, uint32_t thread_count,
				const struct drawn_sample *samples, size_t sample_count)
{
	return (struct drawn_result){
		.sampling = PROFILE_SAMPLING_CPUS,
		.interval_ns = INTERVAL,
		.names = names,
		.process_count = COUNT(names),
		.threads = threads,
		.thread_count = thread_count,
		.samples = samples,
		.sample_count = sample_count,
	};
}

/* Loop: what an older result says, a newer one, and one that says what nobody knows. */
START_TEST(fixed_period)
{
	static const uint32_t kinds[] = {0, PROFILE_SAMPLING_FIXED, 77};
	static const struct drawn_thread threads[] = {{0, "cc1", 70 * MS, 7 * MS, 0, false}};
	static const struct drawn_sample samples[] = {{0, 0, 13 * MS, 3000},
						      {0, 1, 10 * MS, 0},
						      {0, 0, 10 * MS, PROFILE_KERNEL_ALL}};
	struct drawn_result result = make(threads, 1, samples, 3);
	result.sampling = kinds[_i];
	calibrate(&result, CALIBRATION_BY_PROGRAM);
	expect_part(0, 10 * MS, 3 * MS);
	expect_part(1, 10 * MS, 0);
	expect_part(2, 10 * MS, 0);
	expect_rest(0, 7 * MS, 0);
	finish();
}
END_TEST

/* A long thread: its account, less what was measured in the kernel, in proportion to weights, and
 * not a nanosecond is lost. Loop: kinds of random times. */
START_TEST(long_thread)
{
	static const struct drawn_thread threads[] = {{0, "cc1", 400 * MS + 1, 9 * MS, 0, false}};
	static const struct drawn_sample samples[] = {{0, 0, 10 * MS, 0},
						      {0, 1, 31 * MS, 21000},
						      {0, 2, 20 * MS, 0},
						      {0, 2, 10 * MS, 0},
						      {0, 2, 20 * MS, PROFILE_KERNEL_ALL}};
	struct drawn_result result = make(threads, 1, samples, COUNT(samples));
	result.sampling = (uint32_t)_i;
	uint64_t sum_ns = 0;
	calibrate(&result, CALIBRATION_BY_PROGRAM);
	/* 370 ms and 1 ns for weights of 70 ms. */
	const uint64_t user_ns = 370 * MS + 1;
	ck_assert_uint_eq(calibrated.parts[0].drawn_ns, user_ns / 7);
	ck_assert_uint_eq(calibrated.parts[1].kernel_ns, 21 * MS);
	for (size_t i = 0; i < COUNT(samples); i++)
		sum_ns += calibrated.parts[i].drawn_ns;
	ck_assert_uint_eq(sum_ns, user_ns);
	ck_assert_uint_eq(calibrated.parts[4].drawn_ns, user_ns - user_ns * 5 / 7);
	expect_rest(0, 0, 9 * MS);
	finish();
}
END_TEST

/* Twelve threads of 2 ms, two of which have a sample each: 24 ms are shared by these. Shown by
 * thread, each has its own, and ten have none. */
START_TEST(short_threads)
{
	struct drawn_thread threads[12];
	static const struct drawn_sample samples[] = {{3, 0, 10 * MS, 0}, {7, 1, 10 * MS, 0}};
	for (uint32_t i = 0; i < COUNT(threads); i++)
		threads[i] = (struct drawn_thread){.name = "w", .cpu_ns = 2 * MS};
	struct drawn_result result = make(threads, COUNT(threads), samples, 2);
	for (enum calibration_pools by = CALIBRATION_BY_PROGRAM; by <= CALIBRATION_BY_PROCESS;
	     by++) {
		calibrate(&result, by);
		expect_part(0, 12 * MS, 0);
		expect_part(1, 12 * MS, 0);
		for (uint32_t i = 0; i < COUNT(threads); i++)
			expect_rest(i, 0, 0);
		finish();
	}
	calibrate(&result, CALIBRATION_BY_THREAD);
	expect_part(0, 2 * MS, 0);
	expect_part(1, 2 * MS, 0);
	for (uint32_t i = 0; i < COUNT(threads); i++)
		expect_rest(i, i == 3 || i == 7 ? 0 : 2 * MS, 0);
	finish();
}
END_TEST

/* Threads of one name in two processes of one program, a thread of another name, another program.
 */
START_TEST(what_pools_have_in_common)
{
	static const struct drawn_thread threads[] = {{0, "w", 4 * MS, 0, 0, false},
						      {1, "w", 6 * MS, 1 * MS, 0, false},
						      {1, "gc", 8 * MS, 0, 0, false},
						      {2, "w", 9 * MS, 2 * MS, 0, false}};
	static const struct drawn_sample samples[] = {{0, 0, 10 * MS, 0}, {2, 0, 30 * MS, 0}};
	struct drawn_result result = make(threads, 4, samples, 2);
	calibrate(&result, CALIBRATION_BY_PROGRAM);
	expect_part(0, 9 * MS, 0);
	expect_part(1, 8 * MS, 0);
	expect_rest(1, 0, 1 * MS);
	expect_rest(3, 7 * MS, 2 * MS);
	finish();
	calibrate(&result, CALIBRATION_BY_PROCESS);
	expect_part(0, 4 * MS, 0);
	expect_part(1, 8 * MS, 0);
	expect_rest(1, 5 * MS, 1 * MS);
	finish();
}
END_TEST

/* From 16 intervals on a thread is a pool, whatever samples it has. */
START_TEST(own_pool_by_account)
{
	const uint64_t accounts[] = {160 * MS - 1, 160 * MS};
	const struct drawn_thread threads[] = {{0, "w", accounts[_i], 0, 0, false},
					       {0, "w", 20 * MS, 0, 0, false}};
	static const struct drawn_sample samples[] = {{0, 0, 10 * MS, 0}, {1, 0, 10 * MS, 0}};
	struct drawn_result result = make(threads, 2, samples, 2);
	calibrate(&result, CALIBRATION_BY_PROGRAM);
	if (_i == 0)
		expect_part(0, (180 * MS - 1) / 2, 0);
	else
		expect_part(0, 160 * MS, 0);
	ck_assert_uint_eq(calibrated.parts[0].drawn_ns + calibrated.parts[1].drawn_ns,
			  accounts[_i] + 20 * MS);
	finish();
}
END_TEST

/* Where there is no account, weights are all that is known, and spoil no pool. */
START_TEST(threads_without_account)
{
	static const struct drawn_thread threads[] = {{0, "cc1", 5 * MS, 0, 0, false},
						      {0, "cc1", 0, 0, 0, true},
						      {0, "cc1", 0, 0, 0, false}};
	static const struct drawn_sample samples[] = {{0, 0, 10 * MS, 0},
						      {1, 0, 14 * MS, 4000},
						      {2, 0, 10 * MS, 0}};
	struct drawn_result result = make(threads, 3, samples, 3);
	for (enum calibration_pools by = CALIBRATION_BY_PROGRAM; by <= CALIBRATION_BY_THREAD;
	     by++) {
		calibrate(&result, by);
		ck_assert_uint_eq(profile_reader_thread_count(calibrated.reader), 3);
		ck_assert_uint_eq(profile_reader_thread(calibrated.reader, 2)->flags,
				  PROFILE_THREAD_DEDUCED);
		expect_part(0, 5 * MS, 0);
		expect_part(1, 10 * MS, 4 * MS);
		expect_part(2, 10 * MS, 0);
		for (uint32_t i = 0; i < 3; i++)
			expect_rest(i, 0, 0);
		finish();
	}
}
END_TEST

/* Time that is estimated is shared like the rest of the account. */
START_TEST(estimated_time)
{
	static const struct drawn_thread threads[] = {{0, "w", 20 * MS, 0, 3 * MS, false},
						      {2, "w", 0, 0, 1 * MS, false}};
	static const struct drawn_sample sample = {0, 0, 10 * MS, 0};
	struct drawn_result result = make(threads, 2, &sample, 1);
	result.unattributed_ns = 4 * MS;
	calibrate(&result, CALIBRATION_BY_PROGRAM);
	expect_part(0, 23 * MS, 0);
	expect_rest(1, 1 * MS, 0);
	finish();
}
END_TEST

/* Sums that do not go together: what is shown stays within the accounts. */
START_TEST(contradictions)
{
	static const struct drawn_thread threads[] =
		{{0, "a", 5 * MS, 9 * MS, 0, false}, /* a rest beyond the account */
		 {0, "b", 7 * MS, 1 * MS, 0, false}, /* more in the kernel than there was */
		 {0, "c", 3 * MS, 0, 0, false},      /* a kernel part beyond the weight */
		 {0, "d", 10 * MS, 0, 0, false}};    /* weights of nothing */
	static const struct drawn_sample samples[] = {{0, 0, 10 * MS, 0},
						      {1, 0, 30 * MS, 20000},
						      {1, 0, 10 * MS, 4000},
						      {2, 0, 1 * MS, 2000},
						      {3, 0, 0, 0}};
	struct drawn_result result = make(threads, 4, samples, COUNT(samples));
	calibrate(&result, CALIBRATION_BY_THREAD);
	expect_part(0, 0, 0);
	expect_rest(0, 0, 5 * MS);
	expect_part(1, 0, 5 * MS);
	expect_part(2, 0, 1 * MS);
	expect_rest(1, 0, 1 * MS);
	expect_part(3, 3 * MS, 0);
	expect_rest(2, 0, 0);
	expect_part(4, 0, 0);
	expect_rest(3, 10 * MS, 0);
	finish();
}
END_TEST

START_TEST(sums_do_not_overflow)
{
	static const struct drawn_thread threads[] = {{0, "w", UINT64_MAX, 0, 0, false},
						      {1, "w", UINT64_MAX - 1, 0, 0, false}};
	static const struct drawn_sample samples[] = {{0, 0, UINT64_MAX, 0},
						      {1, 0, UINT64_MAX - 5, 0},
						      {1, 1, 3, 0}};
	struct drawn_result result = make(threads, 2, samples, COUNT(samples));
	/* So long that these are no long threads; or none is known. */
	result.interval_ns = _i == 0 ? UINT64_MAX / 2 : 0;
	calibrate(&result, CALIBRATION_BY_PROGRAM);
	expect_part(0, UINT64_MAX, 0);
	ck_assert_uint_le(calibrated.parts[1].drawn_ns, UINT64_MAX - 1);
	finish();
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("calibration");
	TCase *tcase = tcase_create("calibration");

	tcase_add_loop_test(tcase, fixed_period, 0, 3);
	tcase_add_loop_test(tcase, long_thread, PROFILE_SAMPLING_THREADS,
			    PROFILE_SAMPLING_CPUS + 1);
	tcase_add_test(tcase, short_threads);
	tcase_add_test(tcase, what_pools_have_in_common);
	tcase_add_loop_test(tcase, own_pool_by_account, 0, 2);
	tcase_add_test(tcase, threads_without_account);
	tcase_add_test(tcase, estimated_time);
	tcase_add_test(tcase, contradictions);
	tcase_add_loop_test(tcase, sums_do_not_overflow, 0, 2);
	suite_add_tcase(suite, tcase);
	return run_suite(suite);
}
