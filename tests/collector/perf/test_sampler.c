/* Lost records that were no samples. The deep events are files that hold a reading after the other,
 * so that it shows how often they are read. */
#include "collector/machine/clock.h"
#include "collector/perf/sampler.h"
#include "tests/support/suite.h"
#include <check.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

enum { CPUS = 2, THREADS = 3, READINGS = 8, HOUR_S = 3600 };

static struct sampler sampler;
static struct sampler_refused refused[CPUS];
static struct sampler_thread threads[THREADS];
static int fds[THREADS][CPUS];

/* A deep event that lost `each` more records at each reading. */
static int make_event(uint64_t each)
{
	int fd = memfd_create("event", MFD_CLOEXEC);
	ck_assert_int_ge(fd, 0);
	for (uint64_t i = 1; i <= READINGS; i++) {
		uint64_t values[2] = {0, i * each};
		ck_assert_int_eq(write(fd, values, sizeof(values)), sizeof(values));
	}
	ck_assert_int_eq(lseek(fd, 0, SEEK_SET), 0);
	return fd;
}

static off_t readings(size_t thread, size_t cpu)
{
	return lseek(fds[thread][cpu], 0, SEEK_CUR) / (off_t)(2 * sizeof(uint64_t));
}

/* Each reading of CPU 0 finds six more, of CPU 1 thirty more. */
static void set_up(void)
{
	for (size_t t = 0; t < THREADS; t++) {
		for (size_t i = 0; i < CPUS; i++) {
			fds[t][i] = make_event(i == 0 ? 2 : 10);
			refused[i] = (struct sampler_refused){0};
		}
		threads[t] = (struct sampler_thread){.deep_fds = fds[t]};
	}
	sampler = (struct sampler){.cpus = {.count = CPUS},
				   .config = {.has_lost = true},
				   .threads = threads,
				   .thread_count = THREADS,
				   .deep = true,
				   .refused = refused};
}

static void tear_down(void)
{
	for (size_t t = 0; t < THREADS; t++)
		for (size_t i = 0; i < CPUS; i++)
			close(fds[t][i]);
}

static uint64_t in_an_hour(void)
{
	return clock_now() + HOUR_S * 1000000000ull;
}

/* What a report leaves is for the next one; and all of it is given out once. */
START_TEST(given_out_once)
{
	ck_assert_uint_eq(sampler_take_refused(&sampler, 0, 1, 4), 4);
	ck_assert_uint_eq(sampler_take_refused(&sampler, 0, 2, 4), 2);
	ck_assert_uint_eq(sampler_take_refused(&sampler, 0, 3, 4), 0);
	ck_assert_uint_eq(sampler_take_refused(&sampler, 1, 3, 40), 30);
	ck_assert_uint_eq(sampler_take_refused(&sampler, 1, 4, 40), 0);
	ck_assert_uint_eq(sampler_take_refused(&sampler, 0, in_an_hour(), 100), 6);
}
END_TEST

/* However many reports wait. */
START_TEST(one_reading_for_what_is_older)
{
	uint64_t before = clock_now();
	for (uint64_t i = 1; i <= 1000; i++)
		sampler_take_refused(&sampler, 0, before - i, 1);
	for (size_t t = 0; t < THREADS; t++) {
		ck_assert_int_eq(readings(t, 0), 1);
		ck_assert_int_eq(readings(t, 1), 0);
	}
}
END_TEST

/* A report that comes after a reading may be of what was lost since. */
START_TEST(another_for_what_is_younger)
{
	for (int i = 1; i <= READINGS; i++) {
		ck_assert_uint_eq(sampler_take_refused(&sampler, 1, in_an_hour(), 100), 30);
		ck_assert_int_eq(readings(0, 1), i);
	}
	ck_assert_int_eq(readings(0, 0), 0);
}
END_TEST

/* Reading takes its time: not right again. */
START_TEST(pause_after_a_reading)
{
	ck_assert_uint_eq(sampler_take_refused(&sampler, 1, 1, 100), 30);
	uint64_t read_ns = refused[1].read_ns;
	ck_assert_uint_gt(refused[1].pause_ns, 1);
	ck_assert_uint_eq(sampler_take_refused(&sampler, 1, read_ns + 1, 100), 0);
	ck_assert_int_eq(readings(0, 1), 1);
	ck_assert_uint_eq(sampler_take_refused(&sampler, 1, read_ns + refused[1].pause_ns + 1, 100),
			  30);
	ck_assert_int_eq(readings(0, 1), 2);
}
END_TEST

/* Threads' events are closed, with their counts. */
START_TEST(fewer_than_before)
{
	ck_assert_uint_eq(sampler_take_refused(&sampler, 0, 1, 100), 6);
	threads[0].deep_fds = threads[1].deep_fds = NULL;
	ck_assert_uint_eq(sampler_take_refused(&sampler, 0, in_an_hour(), 100), 0);
	ck_assert_uint_eq(sampler_take_refused(&sampler, 0, in_an_hour(), 100), 0);
	ck_assert_uint_eq(sampler_take_refused(&sampler, 0, in_an_hour(), 100), 2);
}
END_TEST

/* Loop: no deep events, or a kernel that does not tell what one lost. */
START_TEST(nothing_is_read)
{
	sampler.deep = _i != 0;
	sampler.config.has_lost = _i != 1;
	ck_assert_uint_eq(sampler_take_refused(&sampler, 0, in_an_hour(), 100), 0);
	ck_assert_int_eq(readings(0, 0), 0);
}
END_TEST

/* Also where the kernel opens no event for us. */
START_TEST(as_many_files_as_there_may_be)
{
	struct event_config config = {.sampling.interval_ns = 10000000};
	struct failure failure = {0};
	struct rlimit limit;
	struct sampler own;
	ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &limit), 0);
	limit.rlim_cur = 64;
	ck_assert_uint_gt(limit.rlim_max, limit.rlim_cur);
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &limit), 0);
	sampler_init(&own, &config, SAMPLER_COPY, &failure);
	sampler_finish(&own);
	ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &limit), 0);
	ck_assert_uint_eq(limit.rlim_cur, limit.rlim_max);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("sampler");
	TCase *tcase = tcase_create("refused");
	tcase_add_checked_fixture(tcase, set_up, tear_down);
	tcase_add_test(tcase, given_out_once);
	tcase_add_test(tcase, one_reading_for_what_is_older);
	tcase_add_test(tcase, another_for_what_is_younger);
	tcase_add_test(tcase, pause_after_a_reading);
	tcase_add_test(tcase, fewer_than_before);
	tcase_add_loop_test(tcase, nothing_is_read, 0, 2);
	tcase_add_test(tcase, as_many_files_as_there_may_be);
	suite_add_tcase(suite, tcase);
	return run_suite(suite);
}
