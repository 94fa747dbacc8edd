/* The tracker after records were lost, and about processes that it did not see begin. */
#include "collector/machine/clock.h"
#include "tests/collector/tracker_fixture.h"
#include "tests/support/suite.h"
#include <check.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

enum { APP = 5000000, OTHER = 5000200 };

/* A mapping may have been among what was lost: the maps of a process that lives are read again. */
START_TEST(lost_records)
{
	uint32_t self = (uint32_t)getpid();
	char line[128];
	char exe[4096] = "";
	ck_assert_int_gt(readlink("/proc/self/exe", exe, sizeof(exe) - 1), 0);
	ck_assert_int_eq(tracker_add_thread(tracker, getpid(), getpid(), false), 0);
	feed_sample(10, self, self, 0, 5);
	ck_assert_uint_eq(fake_emit_count(emit, "load "), 0);
	feed_lost(20, 1, 17);
	snprintf(line, sizeof(line), "note 6 at 20 value 17 0/%d", FIXTURE_CPU_1);
	fake_emit_assert(emit, line, 1);
	feed_sample(30, self, self, 0, 6);
	feed_sample(40, self, self, 0, 7);
	snprintf(line, sizeof(line), "note 11 at 30 value 1 %u/0", self);
	fake_emit_assert(emit, line, 1);
	ck_assert_uint_eq(fake_emit_count(emit, "note 11 "), 1); /* once */
	ck_assert_uint_gt(fake_emit_count(emit, "load "), 2);
	struct tracker_counts counts;
	tracker_counts(tracker, &counts);
	ck_assert_uint_eq(counts.lost, 17);
	fixture_finish();
	ck_assert_ptr_nonnull(strstr(fake_emit_lines(emit), exe));
}
END_TEST

static uint32_t start_waiting(void)
{
	pid_t child = fork();
	ck_assert_int_ge(child, 0);
	if (child == 0)
		for (;;)
			pause();
	ck_assert_int_eq(tracker_add_thread(tracker, child, child, true), 0);
	return (uint32_t)child;
}

static void end_waiting(uint32_t child)
{
	kill((pid_t)child, SIGKILL);
	ck_assert_int_eq(waitpid((pid_t)child, NULL, 0), child);
}

/* Reading the maps again brings nothing that is known already. A process that waits maps nothing
 * meanwhile. */
START_TEST(lost_records_twice)
{
	uint32_t child = start_waiting();
	feed_sample(10, child, child, 0, 5);
	size_t loads = fake_emit_count(emit, "load ");
	uint64_t later = clock_now();
	feed_lost(later, 0, 1);
	feed_sample(later + 10, child, child, 0, 6);
	end_waiting(child);
	ck_assert_uint_gt(loads, 2);
	ck_assert_uint_eq(fake_emit_count(emit, "note 11 "), 1);
	ck_assert_uint_eq(fake_emit_count(emit, "load "), loads);
	ck_assert_uint_eq(fake_emit_count(emit, "unload "), 0);
}
END_TEST

/* Every ring says that it lost records, and says it again; what was mapped before all that is in
 * maps that were read since. */
START_TEST(lost_records_are_read_once)
{
	uint32_t child = start_waiting();
	feed_sample(10, child, child, 0, 5);
	uint64_t first = clock_now();
	uint64_t last = first + 100;
	while (clock_now() <= last)
		continue;
	for (uint64_t time_ns = first; time_ns <= last; time_ns += 10) {
		feed_lost(time_ns, time_ns / 10 % 2, 1);
		feed_sample(time_ns + 5, child, child, 0, 6 + time_ns - first);
	}
	ck_assert_uint_eq(fake_emit_count(emit, "note 11 "), 1);
	feed_lost(clock_now(), 0, 1);
	feed_sample(clock_now(), child, child, 0, 1000);
	ck_assert_uint_eq(fake_emit_count(emit, "note 11 "), 2);
	end_waiting(child);
}
END_TEST

START_TEST(lost_while_dead)
{
	feed_launch(10, APP, "app");
	feed_sample(15, APP, APP, 0, 5);
	feed_lost(20, 0, 1);
	feed_sample(30, APP, APP, 0, 6); /* it has no maps any more; what was known stays */
	feed_exit(40, APP, APP);
	fixture_finish();
	ck_assert_uint_eq(fake_emit_count(emit, "load "), 1);
	fake_emit_assert(emit, "process 5000000 app (/bin/app) 10-40", 1);
}
END_TEST

/* A fork was lost: the process shows up with a sample. */
START_TEST(unknown_process)
{
	feed_launch(10, APP, "app");
	feed_sample(20, OTHER, OTHER + 1, 0, 5);
	feed_sample(21, OTHER, OTHER + 1, 0, 8);
	fixture_finish();
	fake_emit_assert(emit, "process 5000200  () 20-never", 1);
	fake_emit_assert(emit, "thread 5000200/5000201  20-never cpu 8 rest 0 samples 2", 1);
}
END_TEST

START_TEST(unknown_process_that_lives)
{
	uint32_t self = (uint32_t)getpid();
	char exe[4096] = "";
	char name[16];
	char line[4200];
	ck_assert_int_eq(prctl(PR_GET_NAME, name), 0);
	ck_assert_int_gt(readlink("/proc/self/exe", exe, sizeof(exe) - 1), 0);
	feed_launch(10, APP, "app");
	feed_sample(20, self, self, 0, 5);
	fixture_finish();
	snprintf(line, sizeof(line), "process %u %s (%s) 20-never", self, name, exe);
	fake_emit_assert(emit, line, 1);
}
END_TEST

START_TEST(throttled)
{
	char line[64];
	struct record record = {.kind = RECORD_THROTTLE, .time_ns = 20, .pid = APP, .tid = APP};
	feed_launch(10, APP, "app");
	feed(&record, 1, false);
	record.kind = RECORD_UNTHROTTLE;
	record.time_ns = 21;
	feed(&record, 0, false);
	record.kind = RECORD_OTHER;
	feed(&record, 0, false);
	snprintf(line, sizeof(line), "note 8 at 20 value 1 5000000/%d", FIXTURE_CPU_1);
	fake_emit_assert(emit, line, 1);
	snprintf(line, sizeof(line), "note 9 at 21 value 1 5000000/%d", FIXTURE_CPU_0);
	fake_emit_assert(emit, line, 1);
	ck_assert_uint_eq(fake_emit_count(emit, ""), 2);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("tracker lost");
	TCase *tcase = tcase_create("lost");
	tcase_add_checked_fixture(tcase, fixture_setup, fixture_teardown);
	tcase_add_test(tcase, lost_records);
	tcase_add_test(tcase, lost_records_twice);
	tcase_add_test(tcase, lost_records_are_read_once);
	tcase_add_test(tcase, lost_while_dead);
	tcase_add_test(tcase, unknown_process);
	tcase_add_test(tcase, unknown_process_that_lives);
	tcase_add_test(tcase, throttled);
	suite_add_tcase(suite, tcase);
	return run_suite(suite);
}
