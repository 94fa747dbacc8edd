/* Samples by the CPUs' clocks: each weighs an interval, and each thread's account is the kernel's
 * own, which comes some time after its end. */
#include "collector/model/thread.h"
#include "collector/model/tracker_sampled.h"
#include "tests/collector/tracker_fixture.h"
#include "tests/support/suite.h"
#include <check.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

enum { APP = 5000000 };

#define MS       1000000ull
#define INTERVAL (10 * MS)

static struct sampling sampling;

static void setup(void)
{
	fixture_setup();
	sampling = sampling_choose(PROFILE_SAMPLING_CPUS, INTERVAL, 4711);
	fixture_configure((struct fixture_config){.sampling = &sampling,
						  .has_count = true,
						  .kernel_time = PROFILE_KERNEL_TIME_AT_CALLS});
	feed_launch(10, APP, "app");
}

static void feed_account(uint64_t time_ns, uint32_t pid, uint32_t tid, uint64_t cpu_ns)
{
	struct record record = {.kind = RECORD_ACCOUNT,
				.time_ns = time_ns,
				.pid = pid,
				.tid = tid,
				.account = {.cpu_ns = cpu_ns}};
	feed(&record, 0, false);
}

/* Of a thread that exec gives the id of its process. */
static void feed_renamed(uint64_t time_ns, uint32_t pid, uint32_t tid, uint64_t cpu_ns)
{
	struct record record = {.kind = RECORD_ACCOUNT,
				.time_ns = time_ns,
				.pid = pid,
				.tid = tid,
				.account = {.cpu_ns = cpu_ns, .is_renamed = true}};
	feed(&record, 0, false);
}

static uint64_t counted_ns(void)
{
	struct tracker_counts counts;
	tracker_counts(tracker, &counts);
	return counts.cpu_ns;
}

/* The threads written so far. */
static size_t written(void)
{
	return fake_emit_count(emit, "thread ");
}

/* The weight is that of what a sample stands for, the account what the thread used. */
START_TEST(after_the_end)
{
	feed_fork(20, APP, APP + 1, APP, APP);
	feed_sample(30, APP, APP + 1, 0, 123);
	ck_assert_uint_eq(fake_emit_last_sample(emit).stack.cpu_ns, INTERVAL);
	feed_exit(40, APP, APP + 1);
	ck_assert_uint_eq(written(), 0);
	ck_assert_uint_eq(tracker_read_accounts(tracker), 2); /* the program is not in /proc */
	ck_assert(tracker_find_thread(tracker, APP, APP + 1)->is_gone);
	ck_assert(!tracker_find_thread(tracker, APP, APP)->is_gone); /* not ended yet */
	feed_account(50, APP, APP + 1, 150000);
	fake_emit_assert(emit, "thread 5000000/5000001 app 20-40 cpu 150000 rest 0 samples 1", 1);
	struct profile_thread_life out = fake_emit_last_thread(emit);
	ck_assert_uint_eq(out.sampled_ns, INTERVAL);
	ck_assert_uint_eq(out.unseen_ns, 0);
	ck_assert_uint_eq(counted_ns(), 150000);
	/* Once. */
	feed_account(60, APP, APP + 1, 999);
	ck_assert_uint_eq(counted_ns(), 150000);
	ck_assert_uint_eq(tracker_read_accounts(tracker), 1);
}
END_TEST

/* As rings of several CPUs may have it. */
START_TEST(before_the_end)
{
	feed_fork(20, APP, APP + 1, APP, APP);
	feed_account(30, APP, APP + 1, 700);
	ck_assert_uint_eq(written(), 0);
	feed_exit(40, APP, APP + 1);
	fake_emit_assert(emit, "thread 5000000/5000001 app 20-40 cpu 700 rest 0 samples 0", 1);
}
END_TEST

/* An account that does not come: the samples say what it may be, or half an interval is. */
START_TEST(never)
{
	feed_fork(20, APP, APP + 1, APP, APP);
	feed_exit(30, APP, APP + 1);
	feed_sample(40, APP, APP, 0, 5);
	feed_sample(50, APP, APP, 0, 9);
	feed_sample(60, APP, APP, 0, 9);
	tracker_add_unattributed(tracker, 400, 5000);
	tracker_settle_all(tracker, 1000);
	fixture_end();
	ck_assert_uint_eq(written(), 2);
	fake_emit_assert(emit, "thread 5000000/5000000 app 10-never cpu 0 rest 0 samples 3", 1);
	fake_emit_assert(emit, "thread 5000000/5000001 app 20-30 cpu 0 rest 0 samples 0", 1);
	fake_emit_assert(emit, "note 18 at 60 value 1000 0/0", 1);
	uint64_t unseen_ns = fake_emit_last_thread(emit).unseen_ns;
	ck_assert(unseen_ns == 3 * INTERVAL || unseen_ns == INTERVAL / 2);
}
END_TEST

static uint64_t unattributed_ns(void)
{
	struct tracker_counts counts;
	tracker_counts(tracker, &counts);
	return counts.unattributed_ns;
}

/* Accounts of whole lives, refused by a ring or of threads whose forks were lost: never more than
 * the events counted. Loop: nothing was lost, and who is not known lived before or after. */
START_TEST(of_no_known_thread)
{
	uint64_t unknown_ns = _i == 0 ? 100 : 0;
	if (_i == 0)
		feed_lost(15, 0, 1);
	feed_fork(20, APP, APP + 1, APP, APP);
	feed_exit(30, APP, APP + 1);
	feed_account(40, APP, APP + 1, 700);
	feed_account(41, APP, APP + 2, 100);
	ck_assert_uint_eq(counted_ns(), 700);
	ck_assert_uint_eq(unattributed_ns(), 0);
	tracker_add_unattributed(tracker, 20, 10000);
	ck_assert_uint_eq(unattributed_ns(), 20 + unknown_ns);
	tracker_add_unattributed(tracker, 3600 * 1000 * MS, 1000);
	ck_assert_uint_eq(unattributed_ns(), 300);
}
END_TEST

/* The only one that does not come: what is left of the whole is that thread's. */
START_TEST(only_one_lacks)
{
	feed_fork(20, APP, APP + 1, APP, APP);
	feed_exit(30, APP, APP + 1);
	feed_sample(40, APP, APP, 0, 5);
	feed_account(50, APP, APP + 1, 300);
	tracker_settle_all(tracker, 1000);
	tracker_settle_all(tracker, 1000);
	fixture_end();
	fake_emit_assert(emit, "thread 5000000/5000000 app 10-never cpu 700 rest 0 samples 1", 1);
	ck_assert_uint_eq(fake_emit_last_thread(emit).unseen_ns, 0);
	ck_assert_uint_eq(fake_emit_count(emit, "note 18 "), 0);
	ck_assert_uint_eq(counted_ns(), 1000);
}
END_TEST

/* Ids are used again before the kernel frees the thread that had them. */
START_TEST(id_used_again)
{
	for (uint64_t life = 0; life < 3; life++) {
		feed_fork(20 + 20 * life, APP, APP + 1, APP, APP);
		feed_exit(30 + 20 * life, APP, APP + 1);
	}
	for (uint64_t life = 0; life < 3; life++)
		feed_account(100 + life, APP, APP + 1, 1000 + life);
	fake_emit_assert(emit, "thread 5000000/5000001 app 20-30 cpu 1000 rest 0 samples 0", 1);
	fake_emit_assert(emit, "thread 5000000/5000001 app 40-50 cpu 1001 rest 0 samples 0", 1);
	fake_emit_assert(emit, "thread 5000000/5000001 app 60-70 cpu 1002 rest 0 samples 0", 1);
	/* Another process's has nothing to do with it. */
	feed_fork(110, APP + 1, APP + 1, APP, APP);
	feed_exit(120, APP + 1, APP + 1);
	feed_account(130, APP, APP + 1, 5);
	ck_assert_uint_eq(written(), 3);
	feed_account(140, APP + 1, APP + 1, 6);
	ck_assert_uint_eq(written(), 4);
}
END_TEST

/* A thread calls exec: it has its process's id from then on, the first thread's task its own. */
START_TEST(exec_in_a_thread)
{
	feed_fork(20, APP, APP + 1, APP, APP);
	feed_exit(30, APP, APP);
	feed_exec(40, APP, "next");
	ck_assert_uint_eq(written(), 0);
	feed_renamed(50, APP, APP + 1, 300);
	fake_emit_assert(emit, "thread 5000000/5000001 app 20-40 cpu 300 rest 0 samples 0", 1);
	feed_account(60, APP, APP + 1, 7000);
	fake_emit_assert(emit, "thread 5000000/5000000 app 10-30 cpu 7000 rest 0 samples 0", 1);
	feed_exit(70, APP, APP);
	feed_account(80, APP, APP, 900);
	fake_emit_assert(emit, "thread 5000000/5000000 next 40-70 cpu 600 rest 0 samples 0", 1);
	ck_assert_uint_eq(counted_ns(), 7900);
}
END_TEST

/* Likewise, but the exec takes long: samples of it have the new id before it is told, and so has
 * the first thread's task, which is freed meanwhile, the old one. */
START_TEST(long_exec_in_a_thread)
{
	feed_fork(20, APP, APP + 1, APP, APP);
	feed_exit(30, APP, APP);
	feed_sample(31, APP, APP, 0, 5);
	ck_assert_uint_eq(fake_emit_last_sample(emit).tid, APP + 1);
	feed_account(35, APP, APP + 1, 7000);
	fake_emit_assert(emit, "thread 5000000/5000000 app 10-30 cpu 7000 rest 0 samples 0", 1);
	feed_sample(36, APP, APP, 0, 9);
	ck_assert_uint_eq(fake_emit_last_sample(emit).tid, APP + 1);
	feed_exec(40, APP, "next");
	feed_renamed(50, APP, APP + 1, 300);
	fake_emit_assert(emit, "thread 5000000/5000001 app 20-40 cpu 300 rest 0 samples 2", 1);
	feed_sample(60, APP, APP, 0, 20);
	ck_assert_uint_eq(fake_emit_last_sample(emit).tid, APP);
	feed_exit(70, APP, APP);
	feed_account(80, APP, APP, 900);
	fake_emit_assert(emit, "thread 5000000/5000000 next 40-70 cpu 600 rest 0 samples 1", 1);
	ck_assert_uint_eq(counted_ns(), 7900);
}
END_TEST

/* Likewise, but the exec takes the events, as if the thread ended: the other program's time is
 * nobody's. */
START_TEST(exec_takes_the_events)
{
	feed_fork(20, APP, APP + 1, APP, APP);
	feed_exit(30, APP, APP);
	feed_exec(40, APP, "next");
	feed_exit(41, APP, APP);
	feed_renamed(50, APP, APP + 1, 300);
	feed_account(50, APP, APP, 300);
	feed_account(60, APP, APP + 1, 7000);
	fake_emit_assert(emit, "thread 5000000/5000001 app 20-40 cpu 300 rest 0 samples 0", 1);
	fake_emit_assert(emit, "thread 5000000/5000000 app 10-30 cpu 7000 rest 0 samples 0", 1);
	fake_emit_assert(emit, "thread 5000000/5000000 next 40-41 cpu 0 rest 0 samples 0", 1);
	ck_assert_uint_eq(counted_ns(), 7300);
}
END_TEST

/* A thread that was found in the list of threads before its fork was told: one account, of the
 * life that began with the fork. */
START_TEST(found_before_its_fork)
{
	ck_assert_int_ge(tracker_add_thread(tracker, APP, APP + 1, true), 0);
	feed_fork(20, APP, APP + 1, APP, APP);
	feed_exit(30, APP, APP + 1);
	feed_account(40, APP, APP + 1, 800);
	ck_assert_uint_eq(written(), 2);
	ck_assert_uint_eq(fake_emit_last_thread(emit).cpu_ns, 800);
	ck_assert_uint_eq(fake_emit_last_thread(emit).start_ns, 20);
	ck_assert_uint_eq(counted_ns(), 800);
}
END_TEST

/* It ended as it was opened: its whole life is not the collection's. */
START_TEST(ended_while_attaching)
{
	ck_assert_int_ge(tracker_add_thread(tracker, APP, APP + 1, true), 0);
	feed_exit(30, APP, APP + 1);
	ck_assert_uint_eq(written(), 0);
	feed_account(40, APP, APP + 1, 3600 * 1000 * MS);
	ck_assert_uint_eq(written(), 1);
	ck_assert_uint_eq(fake_emit_last_thread(emit).cpu_ns, 0);
	ck_assert_uint_eq(fake_emit_last_thread(emit).unseen_ns, INTERVAL / 2);
	ck_assert_uint_eq(counted_ns(), 0);
}
END_TEST

static uint64_t now(clockid_t clock)
{
	struct timespec time;
	ck_assert_int_eq(clock_gettime(clock, &time), 0);
	return (uint64_t)time.tv_sec * 1000 * MS + (uint64_t)time.tv_nsec;
}

static void burn(uint64_t cpu_ns)
{
	uint64_t end = now(CLOCK_THREAD_CPUTIME_ID) + cpu_ns;
	while (now(CLOCK_THREAD_CPUTIME_ID) < end)
		continue;
}

/* What lived before and lives on, this thread itself: /proc tells, to a tick of the scheduler,
 * which is 10 ms at most. */
START_TEST(before_and_after)
{
	uint32_t self = (uint32_t)getpid();
	burn(50 * MS);
	ck_assert_int_ge(tracker_add_thread(tracker, (pid_t)self, (pid_t)self, true), 0);
	uint64_t began = now(CLOCK_THREAD_CPUTIME_ID);
	burn(60 * MS);
	ck_assert_uint_eq(tracker_read_accounts(tracker), 1); /* the program's of the fixture */
	uint64_t counted = counted_ns();
	uint64_t burnt = now(CLOCK_THREAD_CPUTIME_ID) - began;
	ck_assert_uint_ge(counted, 50 * MS);
	ck_assert_uint_le(counted, burnt + 10 * MS);
	/* Closed: what comes later is no part of the collection. */
	burn(20 * MS);
	tracker_read_accounts(tracker);
	feed_account(50, self, self, 3600 * 1000 * MS);
	ck_assert_uint_eq(counted_ns(), counted);
	fixture_end();
	ck_assert_uint_eq(fake_emit_sums(emit).cpu_ns, counted);
}
END_TEST

static void feed_ending(uint64_t time_ns, uint32_t pid, uint32_t tid)
{
	struct record record = {.kind = RECORD_ENDING,
				.time_ns = time_ns,
				.pid = pid,
				.tid = tid,
				.sample = {.in_kernel = true, .period = INTERVAL / 8}};
	feed(&record, 0, false);
}

/* Samples of a thread's end, after its exit: in the kernel, at the moment when it ended. */
START_TEST(sampled_in_its_end)
{
	feed_fork(20, APP, APP + 1, APP, APP);
	feed_exit(40, APP, APP + 1);
	feed_ending(45, APP, APP + 1);
	struct profile_sample sample = fake_emit_last_sample(emit);
	ck_assert_uint_eq(sample.time_ns, 40);
	ck_assert_uint_eq(sample.tid, APP + 1);
	ck_assert_uint_eq(sample.ip, 0);
	ck_assert_uint_eq(sample.stack.cpu_ns, INTERVAL);
	ck_assert_uint_eq(sample.stack.kernel_us, PROFILE_KERNEL_ALL);
	ck_assert_uint_eq(sample.stack.node, 0);
	ck_assert_int_eq(sample.stack.state, PROFILE_STACK_NONE);
	/* Its id is used again; the younger one's end is not what is told of. */
	feed_fork(50, APP, APP + 1, APP, APP);
	feed_ending(55, APP, APP + 1);
	ck_assert_uint_eq(fake_emit_last_sample(emit).time_ns, 40);
	feed_account(60, APP, APP + 1, 700);
	fake_emit_assert(emit, "thread 5000000/5000001 app 20-40 cpu 700 rest 0 samples 2", 1);
	ck_assert_uint_eq(fake_emit_last_thread(emit).kernel_ns, 2 * INTERVAL);
	ck_assert_uint_eq(fake_emit_last_thread(emit).sampled_ns, 0);
}
END_TEST

/* The last thread's process is no more, and comes not back; who has no thread has no samples. */
START_TEST(sampled_after_its_process)
{
	struct tracker_counts counts;
	feed_exit(40, APP, APP);
	feed_ending(45, APP, APP);
	feed_ending(46, APP, APP + 1);
	tracker_counts(tracker, &counts);
	ck_assert_uint_eq(counts.samples, 1);
	ck_assert_uint_eq(counts.live_threads, 0);
	ck_assert_uint_eq(fake_emit_count(emit, "process "), 1);
	feed_account(60, APP, APP, 700);
	fake_emit_assert(emit, "thread 5000000/5000000 app 10-40 cpu 700 rest 0 samples 1", 1);
}
END_TEST

/* A clock is a CPU's, not the process's that it stopped at. */
START_TEST(throttled)
{
	char line[64];
	struct record record = {.kind = RECORD_THROTTLE, .time_ns = 20, .pid = 4711, .tid = 4711};
	feed(&record, 1, false);
	record.kind = RECORD_UNTHROTTLE;
	record.time_ns = 21;
	feed(&record, 1, false);
	snprintf(line, sizeof(line), "note 8 at 20 value 1 0/%d", FIXTURE_CPU_1);
	fake_emit_assert(emit, line, 1);
	snprintf(line, sizeof(line), "note 9 at 21 value 1 0/%d", FIXTURE_CPU_1);
	fake_emit_assert(emit, line, 1);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("tracker exact");
	TCase *tcase = tcase_create("accounts");

	tcase_add_checked_fixture(tcase, setup, fixture_teardown);
	tcase_add_test(tcase, after_the_end);
	tcase_add_test(tcase, before_the_end);
	tcase_add_test(tcase, never);
	tcase_add_loop_test(tcase, of_no_known_thread, 0, 2);
	tcase_add_test(tcase, only_one_lacks);
	tcase_add_test(tcase, id_used_again);
	tcase_add_test(tcase, exec_in_a_thread);
	tcase_add_test(tcase, long_exec_in_a_thread);
	tcase_add_test(tcase, exec_takes_the_events);
	tcase_add_test(tcase, found_before_its_fork);
	tcase_add_test(tcase, sampled_in_its_end);
	tcase_add_test(tcase, sampled_after_its_process);
	tcase_add_test(tcase, throttled);
	tcase_add_test(tcase, ended_while_attaching);
	tcase_add_test(tcase, before_and_after);
	suite_add_tcase(suite, tcase);
	return run_suite(suite);
}
