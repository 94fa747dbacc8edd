/* A thread's CPU time by its event's counts. */
#include "collector/model/thread.h"
#include "tests/collector/fake_emit.h"
#include "tests/support/suite.h"
#include <check.h>
#include <stdlib.h>
#include <string.h>

static struct thread *thread;

static void setup(void)
{
	thread = thread_create(10, 11, "worker", 500, 2);
	ck_assert_ptr_nonnull(thread);
}

static void teardown(void)
{
	thread_destroy(thread);
}

START_TEST(counts_of_each_ring_are_apart)
{
	ck_assert_uint_eq(thread_advance(thread, 0, 100), 100);
	ck_assert_uint_eq(thread_advance(thread, 1, 30), 30);
	ck_assert_uint_eq(thread_advance(thread, 0, 150), 50);
	ck_assert_uint_eq(thread_advance(thread, 1, 31), 1);
}
END_TEST

START_TEST(same_count_again)
{
	thread_advance(thread, 0, 100);
	ck_assert_uint_eq(thread_advance(thread, 0, 100), 0);
	ck_assert_uint_eq(thread_advance(thread, 0, 0), 0);
}
END_TEST

/* Two events on one thread: what the lower one counts again is not counted again. */
START_TEST(lower_count_changes_nothing)
{
	thread_advance(thread, 0, 100);
	ck_assert_uint_eq(thread_advance(thread, 0, 60), 0);
	ck_assert_uint_eq(thread_advance(thread, 0, 110), 10);
}
END_TEST

START_TEST(largest_count)
{
	ck_assert_uint_eq(thread_advance(thread, 1, UINT64_MAX), UINT64_MAX);
	ck_assert_uint_eq(thread_advance(thread, 1, UINT64_MAX), 0);
}
END_TEST

START_TEST(no_such_ring)
{
	ck_assert_uint_eq(thread_advance(thread, 2, 100), 0);
	ck_assert_uint_eq(thread_advance(thread, SIZE_MAX, 100), 0);
}
END_TEST

#define INTERVAL 1000u

static uint64_t unseen(uint64_t weight)
{
	return thread_unseen(thread, 0, weight, INTERVAL);
}

START_TEST(unseen_intervals)
{
	ck_assert_uint_eq(unseen(1000), 0);
	ck_assert_uint_eq(unseen(3000), 2000);
	ck_assert_uint_eq(unseen(1000), 0);
	ck_assert_uint_eq(unseen(2004), 1000);
	ck_assert_uint_eq(unseen(100000000), 99999000);
}
END_TEST

/* What a sample is late, the next one is early: neither is time in the kernel. */
START_TEST(late_samples)
{
	for (int i = 0; i < 100; i++) {
		ck_assert_uint_eq(unseen(1400), 0);
		ck_assert_uint_eq(unseen(600), 0);
	}
}
END_TEST

/* So late that it looks like two: taken back, and no more than one is owed. */
START_TEST(very_late_samples)
{
	uint64_t sum = 0;
	for (int i = 0; i < 100; i++) {
		sum += unseen(1800);
		sum += unseen(200);
	}
	ck_assert_uint_le(sum, INTERVAL);
	for (int i = 0; i < 100; i++)
		unseen(1);
	ck_assert_uint_eq(unseen(5000) + unseen(2000), 4000);
}
END_TEST

/* Never more than the weight, and in the long run what there was: loop, how many of 8 ticks find
 * the thread in user code. */
START_TEST(unseen_in_the_long_run)
{
	uint64_t truth = 0;
	uint64_t sum = 0;
	uint64_t last = 0;
	uint64_t missed = 0;
	srand48(_i);
	for (uint64_t tick = 1; tick <= 20000; tick++) {
		if (lrand48() % 8 >= _i) {
			missed++;
			continue;
		}
		uint64_t now = tick * INTERVAL + (uint64_t)(lrand48() % 450);
		uint64_t part = unseen(now - last);
		ck_assert_uint_le(part, now - last);
		sum += part;
		truth += missed * INTERVAL;
		last = now;
		missed = 0;
	}
	ck_assert_uint_ge(sum + 2 * INTERVAL, truth);
	ck_assert_uint_le(sum, truth + 2 * INTERVAL);
}
END_TEST

START_TEST(unseen_of_each_ring)
{
	ck_assert_uint_eq(thread_unseen(thread, 0, 1400, INTERVAL), 0);
	ck_assert_uint_eq(thread_unseen(thread, 1, 1400, INTERVAL), 0);
	ck_assert_uint_eq(thread_unseen(thread, 0, 1400, INTERVAL), 1000);
	ck_assert_uint_eq(thread_unseen(thread, 2, 9000, INTERVAL), 0);
}
END_TEST

/* Each ring has gaps of its own, and a sample passes all that came before it. */
START_TEST(gaps)
{
	ck_assert(!thread_pass_gap(thread, 0, 0));
	ck_assert(thread_pass_gap(thread, 0, 3));
	ck_assert(!thread_pass_gap(thread, 0, 3));
	ck_assert(thread_pass_gap(thread, 1, 3));
	ck_assert(!thread_pass_gap(thread, 2, 3));
}
END_TEST

START_TEST(unseen_of_hostile_records)
{
	ck_assert_uint_eq(thread_unseen(thread, 0, 5000, 0), 0);
	ck_assert_uint_eq(thread_unseen(thread, 0, UINT64_MAX, INTERVAL), 0);
	ck_assert_uint_eq(thread_unseen(thread, 0, 5000, UINT64_MAX), 0);
	ck_assert_uint_le(thread_unseen(thread, 0, INT64_MAX / 4, 1), INT64_MAX / 4);
}
END_TEST

START_TEST(long_name)
{
	char name[100];
	memset(name, 'n', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	thread_rename(thread, name);
	ck_assert_uint_eq(strlen(thread->name), THREAD_NAME_MAX - 1);
	thread_rename(thread, "");
	ck_assert_str_eq(thread->name, "");
}
END_TEST

START_TEST(life)
{
	struct emit *emit = fake_emit_create();
	thread->cpu_ns = 100;
	thread->sampled_ns = 70;
	thread->rest_ns = 30;
	thread->samples = 3;
	thread_end(thread, emit, false);
	thread->end_ns = 900;
	thread_end(thread, emit, true);
	ck_assert_str_eq(fake_emit_lines(emit),
			 "thread 10/11 worker 500-never cpu 100 rest 30 samples 3\n"
			 "thread 10/11 worker 500-900 cpu 100 rest 30 samples 3 by clock\n");
	fake_emit_destroy(emit);
	thread_destroy(NULL);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("thread");
	TCase *tcase = tcase_create("thread");

	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_add_test(tcase, counts_of_each_ring_are_apart);
	tcase_add_test(tcase, same_count_again);
	tcase_add_test(tcase, lower_count_changes_nothing);
	tcase_add_test(tcase, largest_count);
	tcase_add_test(tcase, no_such_ring);
	tcase_add_test(tcase, unseen_intervals);
	tcase_add_test(tcase, late_samples);
	tcase_add_test(tcase, very_late_samples);
	tcase_add_loop_test(tcase, unseen_in_the_long_run, 1, 9);
	tcase_add_test(tcase, unseen_of_each_ring);
	tcase_add_test(tcase, gaps);
	tcase_add_test(tcase, unseen_of_hostile_records);
	tcase_add_test(tcase, long_name);
	tcase_add_test(tcase, life);
	suite_add_tcase(suite, tcase);
	return run_suite(suite);
}
