/* The tracker's accounts: each nanosecond that the events count is given to one thread, once. */
#include "tests/collector/tracker_fixture.h"
#include "tests/support/suite.h"
#include <check.h>
#include <stdlib.h>

enum { APP = 5000000, CHILD = 5000100 };

static struct tracker_counts counts(void)
{
	struct tracker_counts out;
	tracker_counts(tracker, &out);
	return out;
}

START_TEST(weights)
{
	feed_launch(10, APP, "app");
	feed_sample(20, APP, APP, 0, 100);
	ck_assert_uint_eq(fake_emit_last_sample(emit).stack.cpu_ns, 100);
	feed_sample(30, APP, APP, 1, 40); /* the count of another CPU's event */
	ck_assert_uint_eq(fake_emit_last_sample(emit).stack.cpu_ns, 40);
	feed_sample(40, APP, APP, 0, 130);
	ck_assert_uint_eq(fake_emit_last_sample(emit).stack.cpu_ns, 30);
	feed_sample(50, APP, APP, 0, 130);
	ck_assert_uint_eq(fake_emit_last_sample(emit).stack.cpu_ns, 0);
	fixture_finish();
	fake_emit_assert(emit, "thread 5000000/5000000 app 10-never cpu 170 rest 0 samples 4", 1);
}
END_TEST

/* Without counts each sample stands for one interval. */
START_TEST(weights_without_counts)
{
	fixture_configure((struct fixture_config){0});
	feed_launch(10, APP, "app");
	feed_sample(20, APP, APP, 0, 0);
	feed_sample(30, APP, APP, 1, 0);
	feed_fork(40, APP, APP + 1, APP, APP);
	feed_exit(50, APP, APP + 1);
	/* There is no final count to wait for. */
	fake_emit_assert(emit, "thread 5000000/5000001 app 40-50 cpu 0 rest 0 samples 0 by clock",
			 1);
	tracker_settle(tracker, 0, 25000000);
	fixture_finish();
	fake_emit_assert(emit,
			 "thread 5000000/5000000 app 10-never cpu 20000000 rest 0 samples 2 "
			 "by clock",
			 1);
	fake_emit_assert(emit, "note 18 at 50 value 5000000 0/0", 1);
}
END_TEST

/* Without final counts a created thread's account ends with its last sample, at its exit; what the
 * events counted beyond all samples may be its or its maker's, and stays unattributed. */
START_TEST(no_final_counts)
{
	fixture_configure((struct fixture_config){.has_count = true});
	feed_launch(10, APP, "app");
	feed_fork(20, APP, APP + 1, APP, APP);
	feed_sample(30, APP, APP + 1, 0, 100);
	feed_sample(35, APP, APP, 0, 50);
	feed_exit(40, APP, APP + 1);
	fake_emit_assert(emit, "thread 5000000/5000001 app 20-40 cpu 100 rest 0 samples 1", 1);
	tracker_settle(tracker, 0, 180);
	ck_assert_uint_eq(counts().unattributed_ns, 30);
	fixture_finish();
	fake_emit_assert(emit, "thread 5000000/5000000 app 10-never cpu 50 rest 0 samples 1", 1);
	fake_emit_assert(emit, "note 18 at 40 value 30 0/0", 1);
}
END_TEST

/* Loop: has_count. A thread that made no others is alone in its family: all that was counted is its
 * own, whether its samples told or not. */
START_TEST(no_final_counts_alone)
{
	fixture_configure((struct fixture_config){.has_count = _i != 0});
	feed_launch(10, APP, "app");
	feed_sample(35, APP, APP, 0, 10000000);
	feed_exit(40, APP, APP);
	tracker_settle(tracker, 0, 10000030);
	fixture_finish();
	fake_emit_assert(emit,
			 _i != 0 ? "thread 5000000/5000000 app 10-40 cpu 10000030 rest 30 samples 1"
				 : "thread 5000000/5000000 app 10-40 cpu 10000030 rest 30 samples "
				   "1 "
				   "by clock",
			 1);
	ck_assert_uint_eq(fake_emit_count(emit, "note 18 "), 0);
}
END_TEST

/* One CPU, where each thread's end would tell its last count: not without counts, so that what a
 * created thread used is not taken for its maker's. */
START_TEST(final_counts_without_counts)
{
	fixture_configure((struct fixture_config){.final_counts = true});
	feed_launch(10, APP, "app");
	feed_fork(20, APP, APP + 1, APP, APP);
	feed_sample(30, APP, APP, 0, 0);
	feed_exit(40, APP, APP + 1);
	tracker_settle(tracker, 0, 10000030);
	ck_assert_uint_eq(counts().unattributed_ns, 30);
	fixture_finish();
}
END_TEST

/* A created thread ends with a count from each CPU, after its exit. */
START_TEST(final_counts)
{
	feed_launch(10, APP, "app");
	feed_fork(20, APP, APP + 1, APP, APP);
	feed_sample(30, APP, APP + 1, 0, 100);
	feed_exit(40, APP, APP + 1);
	feed_count(41, APP, APP + 1, 0, 115);
	ck_assert_uint_eq(fake_emit_count(emit, "thread "), 0);
	feed_count(41, APP, APP + 1, 1, 7);
	fake_emit_assert(emit, "thread 5000000/5000001 app 20-40 cpu 122 rest 22 samples 1", 1);
	feed_count(42, APP, APP + 1, 1, 9); /* nobody's */
	ck_assert_uint_eq(counts().cpu_ns, 122);
	fixture_finish();
}
END_TEST

START_TEST(final_counts_before_the_exit)
{
	feed_launch(10, APP, "app");
	feed_fork(20, APP, APP + 1, APP, APP);
	feed_count(41, APP, APP + 1, 0, 115);
	feed_count(41, APP, APP + 1, 1, 7);
	feed_exit(42, APP, APP + 1);
	fixture_finish();
	fake_emit_assert(emit, "thread 5000000/5000001 app 20-42 cpu 122 rest 122 samples 0", 1);
}
END_TEST

/* A final count on a CPU where the thread was never sampled, and one that says nothing new. */
START_TEST(final_counts_of_nothing)
{
	feed_launch(10, APP, "app");
	feed_fork(20, APP, APP + 1, APP, APP);
	feed_sample(30, APP, APP + 1, 0, 100);
	feed_exit(40, APP, APP + 1);
	feed_count(41, APP, APP + 1, 0, 100);
	feed_count(41, APP, APP + 1, 1, 0);
	fixture_finish();
	fake_emit_assert(emit, "thread 5000000/5000001 app 20-40 cpu 100 rest 0 samples 1", 1);
}
END_TEST

/* The tid is another thread's before the final counts are there. */
START_TEST(final_counts_that_never_come)
{
	feed_launch(10, APP, "app");
	feed_fork(20, APP, APP + 1, APP, APP);
	feed_sample(30, APP, APP + 1, 0, 100);
	feed_exit(40, APP, APP + 1);
	feed_count(41, APP, APP + 1, 0, 110);
	feed_fork(50, APP, APP + 1, APP, APP);
	feed_sample(60, APP, APP + 1, 0, 5);
	feed_exit(70, APP, APP + 1);
	feed_count(71, APP, APP + 1, 0, 6);
	feed_count(71, APP, APP + 1, 1, 1);
	fixture_finish();
	fake_emit_assert(emit, "thread 5000000/5000001 app 20-40 cpu 110 rest 10 samples 1", 1);
	fake_emit_assert(emit, "thread 5000000/5000001 app 50-70 cpu 7 rest 2 samples 1", 1);
}
END_TEST

/* A sample that the merge hands out after the exit (equal times) is still the thread's. */
START_TEST(sample_after_the_exit)
{
	feed_launch(10, APP, "app");
	feed_fork(20, APP, APP + 1, APP, APP);
	feed_exit(40, APP, APP + 1);
	feed_sample(40, APP, APP + 1, 1, 30);
	feed_count(41, APP, APP + 1, 0, 0);
	feed_count(41, APP, APP + 1, 1, 35);
	fixture_finish();
	fake_emit_assert(emit, "thread 5000000/5000001 app 20-40 cpu 35 rest 5 samples 1", 1);
}
END_TEST

/* The thread that the event was opened for has no final counts: the event is read at the end. */
START_TEST(settle_gives_the_rest_to_the_only_open_account)
{
	feed_launch(10, APP, "app");
	feed_fork(20, APP, APP + 1, APP, APP);
	feed_sample(30, APP, APP, 0, 100);
	feed_sample(31, APP, APP + 1, 0, 50);
	feed_exit(40, APP, APP + 1);
	feed_count(41, APP, APP + 1, 0, 60);
	feed_count(41, APP, APP + 1, 1, 0);
	tracker_settle(tracker, 0, 100 + 60 + 25);
	tracker_settle(tracker, 0, 100 + 60 + 25); /* nothing more */
	ck_assert_uint_eq(counts().unattributed_ns, 0);
	ck_assert_uint_eq(counts().cpu_ns, 185);
	fixture_finish();
	fake_emit_assert(emit, "thread 5000000/5000000 app 10-never cpu 125 rest 25 samples 1", 1);
	ck_assert_uint_eq(fake_emit_count(emit, "note "), 0);
}
END_TEST

START_TEST(settle_after_the_end)
{
	feed_launch(10, APP, "app");
	feed_sample(30, APP, APP, 0, 100);
	feed_exit(40, APP, APP);
	tracker_settle(tracker, 0, 130);
	fixture_finish();
	fake_emit_assert(emit, "thread 5000000/5000000 app 10-40 cpu 130 rest 30 samples 1", 1);
}
END_TEST

/* Between two that live nobody can tell. */
START_TEST(settle_with_several_open_accounts)
{
	feed_launch(10, APP, "app");
	feed_fork(20, APP, APP + 1, APP, APP);
	feed_sample(30, APP, APP, 0, 100);
	feed_sample(31, APP, APP + 1, 0, 50);
	tracker_settle(tracker, 0, 170);
	ck_assert_uint_eq(counts().unattributed_ns, 20);
	ck_assert_uint_eq(counts().cpu_ns, 150);
	fixture_finish();
	fake_emit_assert(emit, "note 18 at 31 value 20 0/0", 1);
}
END_TEST

/* One whose tid was used again counts as open too. */
START_TEST(settle_with_an_account_left_open)
{
	feed_launch(10, APP, "app");
	feed_fork(20, APP, APP + 1, APP, APP);
	feed_exit(30, APP, APP + 1);
	feed_fork(40, APP, APP + 1, APP, APP);
	feed_exit(50, APP, APP + 1);
	feed_count(51, APP, APP + 1, 0, 10);
	feed_count(51, APP, APP + 1, 1, 10);
	tracker_settle(tracker, 0, 100);
	ck_assert_uint_eq(counts().unattributed_ns, 80);
	fixture_finish();
}
END_TEST

/* Loop: has_count. Less than was counted, or a family that is none: nothing happens. */
START_TEST(settle_less_than_counted)
{
	fixture_configure((struct fixture_config){.has_count = _i != 0});
	feed_launch(10, APP, "app");
	feed_sample(30, APP, APP, 0, 20000000);
	uint64_t before = counts().cpu_ns;
	tracker_settle(tracker, 0, 0);
	tracker_settle(tracker, 0, 10);
	tracker_settle(tracker, 1, 1000000000);
	tracker_settle(tracker, UINT32_MAX, 1000000000);
	ck_assert_uint_eq(counts().cpu_ns, before);
	ck_assert_uint_eq(counts().unattributed_ns, 0);
	fixture_finish();
}
END_TEST

/* The whole's count is of time in no account only where it is more than what the accounts hold. */
START_TEST(settle_all)
{
	feed_launch(10, APP, "app");
	feed_sample(30, APP, APP, 0, 100);
	tracker_settle_all(tracker, 99);
	ck_assert_uint_eq(counts().unattributed_ns, 0);
	ck_assert_uint_eq(counts().beyond_ns, 1);
	tracker_settle_all(tracker, 100);
	ck_assert_uint_eq(counts().unattributed_ns, 0);
	ck_assert_uint_eq(counts().beyond_ns, 0);
	tracker_settle_all(tracker, 130);
	ck_assert_uint_eq(counts().unattributed_ns, 30);
	tracker_settle_all(tracker, 120);
	ck_assert_uint_eq(counts().unattributed_ns, 30);
	tracker_settle_all(tracker, 131);
	ck_assert_uint_eq(counts().unattributed_ns, 31);
	ck_assert_uint_eq(counts().cpu_ns, 100);
	fixture_finish();
}
END_TEST

/* What a thread creates is counted in the family of its creator, over processes. */
START_TEST(families)
{
	ck_assert_int_eq(tracker_add_thread(tracker, APP, APP, true), 0);
	ck_assert_int_eq(tracker_add_thread(tracker, APP, APP + 1, true), 1);
	feed_fork(20, APP, APP + 2, APP, APP + 1);
	feed_fork(21, CHILD, CHILD, APP, APP + 2);
	feed_fork(22, CHILD, CHILD + 1, CHILD, CHILD);
	ck_assert_uint_eq(tracker_family(tracker, APP), 0);
	ck_assert_uint_eq(tracker_family(tracker, APP + 2), 1);
	ck_assert_uint_eq(tracker_family(tracker, CHILD + 1), 1);
	feed_sample(30, APP, APP, 0, 100);
	feed_sample(31, CHILD, CHILD + 1, 0, 50);
	tracker_settle(tracker, 0, 107); /* its only account */
	tracker_settle(tracker, 1, 50);
	ck_assert_uint_eq(counts().unattributed_ns, 0);
	tracker_settle(tracker, 1, 53);
	ck_assert_uint_eq(counts().unattributed_ns, 3);
	fixture_finish();
	ck_assert_uint_eq(fake_emit_sums(emit).cpu_ns, 157);
}
END_TEST

START_TEST(counts_of_stacks)
{
	uint8_t bytes[64] = {0};
	struct record record = {.kind = RECORD_SAMPLE,
				.time_ns = 20,
				.pid = APP,
				.tid = APP,
				.sample = {.abi = RECORD_REGISTERS_64,
					   .stack = {.bytes = bytes, .size = 48, .requested = 64}}};
	fixture_configure((struct fixture_config){.has_count = true, .unwind = true});
	feed_launch(10, APP, "app");
	feed(&record, 0, false);
	feed(&record, 0, true);
	ck_assert_uint_eq(counts().stack_copy_bytes, 96);
	ck_assert_uint_eq(counts().samples, 2);
	fixture_finish();
}
END_TEST

/* Random lives: whatever happens, the sums over the result are what was counted. */
START_TEST(random_lives)
{
	enum { PIDS = 4, TIDS = 4 };
	unsigned seed = (unsigned)_i;
	uint64_t now = 100;
	uint64_t count = 0;
	feed_launch(10, APP, "app");
	for (int step = 0; step < 3000; step++) {
		uint32_t pid = APP + 100 * ((uint32_t)rand_r(&seed) % PIDS);
		uint32_t tid = pid + (uint32_t)rand_r(&seed) % TIDS;
		size_t ring = (size_t)rand_r(&seed) % FIXTURE_RINGS;
		now += (uint64_t)rand_r(&seed) % 3;
		switch (rand_r(&seed) % 9) {
		case 0:
			feed_fork(now, pid, tid, pid, pid);
			break;
		case 1:
			feed_fork(now, pid, pid, APP, APP + 3);
			break;
		case 2:
			feed_exit(now, pid, tid);
			break;
		case 3:
			feed_exec(now, pid, "prog");
			break;
		case 4:
			feed_map(now, pid, 0x400000 + 0x1000 * (tid % 7), 0x500000, "/lib");
			break;
		case 5:
			feed_count(now, pid, tid, ring, count += 3);
			break;
		case 6:
			feed_comm(now, pid, tid, "name");
			break;
		default:
			feed_sample(now, pid, tid, ring, count += 5);
			break;
		}
	}
	tracker_settle(tracker, 0, count * 100);
	fixture_finish();
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("tracker accounts");
	TCase *tcase = tcase_create("accounts");

	tcase_add_checked_fixture(tcase, fixture_setup, fixture_teardown);
	tcase_add_test(tcase, weights);
	tcase_add_test(tcase, weights_without_counts);
	tcase_add_test(tcase, no_final_counts);
	tcase_add_loop_test(tcase, no_final_counts_alone, 0, 2);
	tcase_add_test(tcase, final_counts_without_counts);
	tcase_add_test(tcase, final_counts);
	tcase_add_test(tcase, final_counts_before_the_exit);
	tcase_add_test(tcase, final_counts_of_nothing);
	tcase_add_test(tcase, final_counts_that_never_come);
	tcase_add_test(tcase, sample_after_the_exit);
	tcase_add_test(tcase, settle_gives_the_rest_to_the_only_open_account);
	tcase_add_test(tcase, settle_after_the_end);
	tcase_add_test(tcase, settle_with_several_open_accounts);
	tcase_add_test(tcase, settle_with_an_account_left_open);
	tcase_add_loop_test(tcase, settle_less_than_counted, 0, 2);
	tcase_add_test(tcase, settle_all);
	tcase_add_test(tcase, families);
	tcase_add_test(tcase, counts_of_stacks);
	tcase_add_loop_test(tcase, random_lives, 0, 8);
	suite_add_tcase(suite, tcase);
	return run_suite(suite);
}
