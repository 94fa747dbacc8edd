/* The tracker follows processes and threads: their lives, modules and names. */
#include "tests/collector/tracker_fixture.h"
#include "tests/support/suite.h"
#include <check.h>
#include <stdio.h>
#include <string.h>

enum { APP = 5000000, CHILD = 5000100, OTHER = 5000200 };

static void assert_lines(const char *lines)
{
	ck_assert_str_eq(fake_emit_lines(emit), lines);
}

START_TEST(nothing)
{
	fixture_finish();
	assert_lines("");
	tracker_destroy(NULL);
}
END_TEST

START_TEST(launched)
{
	feed_launch(10, APP, "app");
	assert_lines(""); /* nothing is written before the first sample */
	feed_sample(20, APP, APP, 0, 5);
	feed_exit(50, APP, APP);
	fixture_finish();
	assert_lines("load 5000000 400000-500000 /bin/app at 10 main first\n"
		     "frame 0 1+400010 flags 0\n"
		     "node 1 parent 0 frame 0\n"
		     "sample 5000000/5000000 at 20 weight 5 node 1 state 3 reason 0\n"
		     "unload 5000000 400000-500000 /bin/app at 50\n"
		     "process 5000000 app (/bin/app) 10-50\n"
		     "thread 5000000/5000000 app 10-50 cpu 5 rest 0 samples 1\n");
}
END_TEST

START_TEST(lives_on)
{
	feed_launch(10, APP, "app");
	feed_sample(20, APP, APP, 0, 5);
	fixture_finish();
	fake_emit_assert(emit, "process 5000000 app (/bin/app) 10-never", 1);
	fake_emit_assert(emit, "thread 5000000/5000000 app 10-never cpu 5 rest 0 samples 1", 1);
	ck_assert_uint_eq(fake_emit_count(emit, "unload "), 0);
}
END_TEST

START_TEST(threads)
{
	struct tracker_counts counts;
	feed_launch(10, APP, "app");
	feed_fork(20, APP, APP + 1, APP, APP);
	feed_fork(21, APP, APP + 2, APP, APP + 1);
	feed_comm(22, APP, APP + 2, "worker");
	feed_sample(30, APP, APP + 1, 0, 7);
	feed_sample(31, APP, APP + 2, 0, 8);
	feed_exit(40, APP, APP + 1);
	feed_exit(50, APP, APP + 2);
	tracker_counts(tracker, &counts);
	ck_assert_uint_eq(counts.live_threads, 1);
	ck_assert_uint_eq(fake_emit_count(emit, "process "), 0);
	feed_exit(60, APP, APP);
	fixture_finish();
	fake_emit_assert(emit, "process 5000000 app (/bin/app) 10-60", 1);
	fake_emit_assert(emit, "thread 5000000/5000001 app 20-40 cpu 7 rest 0 samples 1", 1);
	fake_emit_assert(emit, "thread 5000000/5000002 worker 21-50 cpu 8 rest 0 samples 1", 1);
}
END_TEST

/* The first thread may end first. */
START_TEST(first_thread_ends_first)
{
	feed_launch(10, APP, "app");
	feed_fork(20, APP, APP + 1, APP, APP);
	feed_exit(30, APP, APP);
	feed_sample(40, APP, APP + 1, 0, 7);
	feed_exit(50, APP, APP + 1);
	fixture_finish();
	fake_emit_assert(emit, "process 5000000 app (/bin/app) 10-50", 1);
	ck_assert_uint_eq(fake_emit_count(emit, "process "), 1);
	ck_assert_uint_eq(fake_emit_count(emit, "load "), 1);
}
END_TEST

START_TEST(child_without_exec)
{
	feed_launch(10, APP, "app");
	feed_sample(15, APP, APP, 0, 5);
	feed_fork(20, CHILD, CHILD, APP, APP);
	fake_emit_clear(emit);
	feed_sample(30, CHILD, CHILD, 0, 7);
	feed_exit(40, CHILD, CHILD);
	assert_lines("load 5000100 400000-500000 /bin/app at 20 main first\n"
		     "sample 5000100/5000100 at 30 weight 7 node 1 state 3 reason 0\n"
		     "unload 5000100 400000-500000 /bin/app at 40\n"
		     "process 5000100 app (/bin/app) 20-40\n");
	fixture_finish();
	fake_emit_assert(emit, "process 5000000 app (/bin/app) 10-never", 1);
}
END_TEST

/* The kernel tells of its birth, and of nothing else. A thread is followed all the same. */
START_TEST(child_that_is_not_followed)
{
	fixture_configure((struct fixture_config){.same_process = true});
	feed_launch(10, APP, "app");
	feed_fork(20, CHILD, CHILD, APP, APP);
	feed_fork(21, APP, APP + 1, APP, APP);
	size_t position = 0;
	uint32_t pid = 0;
	ck_assert_str_eq(tracker_next_process(tracker, &position, &pid), "app");
	ck_assert_uint_eq(pid, APP);
	ck_assert_ptr_null(tracker_next_process(tracker, &position, &pid));
	fixture_finish();
	ck_assert_uint_eq(fake_emit_count(emit, "process "), 1);
	ck_assert_uint_eq(fake_emit_count(emit, "thread "), 2);
}
END_TEST

/* Most children exec at once: what they had mapped before says nothing. */
START_TEST(child_with_exec)
{
	feed_launch(10, APP, "app");
	feed_fork(20, CHILD, CHILD, APP, APP);
	feed_exec(25, CHILD, "prog");
	feed_map(26, CHILD, 0x400000, 0x600000, "/bin/prog");
	feed_map(27, CHILD, 0x7f0000000000, 0x7f0000100000, "/lib/ld.so");
	feed_sample(30, CHILD, CHILD, 0, 7);
	feed_exit(40, CHILD, CHILD);
	assert_lines("load 5000100 400000-600000 /bin/prog at 26 main first\n"
		     "load 5000100 7f0000000000-7f0000100000 /lib/ld.so at 27\n"
		     "frame 0 2+400010 flags 0\n"
		     "node 1 parent 0 frame 0\n"
		     "sample 5000100/5000100 at 30 weight 7 node 1 state 3 reason 0\n"
		     "unload 5000100 400000-600000 /bin/prog at 40\n"
		     "unload 5000100 7f0000000000-7f0000100000 /lib/ld.so at 40\n"
		     "process 5000100 prog (/bin/prog) 20-40\n");
}
END_TEST

START_TEST(exec_after_samples_begins_another_life)
{
	feed_launch(10, APP, "app");
	feed_sample(20, APP, APP, 0, 5);
	feed_exec(30, APP, "prog");
	feed_map(31, APP, 0x400000, 0x600000, "/bin/prog");
	feed_sample(40, APP, APP, 0, 9);
	feed_exit(50, APP, APP);
	fixture_finish();
	fake_emit_assert(emit, "unload 5000000 400000-500000 /bin/app at 30", 1);
	fake_emit_assert(emit, "process 5000000 app (/bin/app) 10-30", 1);
	fake_emit_assert(emit, "load 5000000 400000-600000 /bin/prog at 31 main first", 1);
	fake_emit_assert(emit, "process 5000000 prog (/bin/prog) 30-50", 1);
	fake_emit_assert(emit, "thread 5000000/5000000 prog 10-50 cpu 9 rest 0 samples 2", 1);
	/* Another program at the same address is another frame. */
	fake_emit_assert(emit, "frame 0 1+400010 flags 0", 1);
	fake_emit_assert(emit, "frame 1 2+400010 flags 0", 1);
}
END_TEST

/* What happens inside a child stays out of its parent. */
START_TEST(child_maps_for_itself)
{
	feed_launch(10, APP, "app");
	feed_fork(20, CHILD, CHILD, APP, APP);
	feed_map(21, CHILD, 0x700000, 0x800000, "/lib/plugin.so");
	feed_sample(30, APP, APP, 0, 5);
	fixture_finish();
	ck_assert_uint_eq(fake_emit_count(emit, "load 5000000 "), 1);
}
END_TEST

START_TEST(modules_after_the_first_sample)
{
	feed_launch(10, APP, "app");
	feed_sample(20, APP, APP, 0, 5);
	fake_emit_clear(emit);
	feed_map(30, APP, 0x700000, 0x800000, "/lib/one.so");
	feed_map(30, APP, 0x700000, 0x800000, "/lib/one.so"); /* said twice */
	feed_map(40, APP, 0x700000, 0x780000, "/lib/two.so");
	assert_lines("load 5000000 700000-800000 /lib/one.so at 30\n"
		     "unload 5000000 700000-800000 /lib/one.so at 40\n"
		     "load 5000000 700000-780000 /lib/two.so at 40\n"
		     "load 5000000 780000-800000 /lib/one.so at 40\n");
}
END_TEST

START_TEST(hostile_maps)
{
	feed_launch(10, APP, "app");
	feed_map(20, APP, 0x1000, 0x1000, "/empty");
	feed_map(20, APP, UINT64_MAX - 10, 10, "/wrapping");
	feed_map(20, APP, 0x2000, UINT64_MAX, "//anon");
	feed_sample(30, APP, APP, 0, 5);
	fixture_finish();
	/* It lies over all of the program. */
	fake_emit_assert(emit, "load 5000000 2000-ffffffffffffffff //anon at 20 first", 1);
	ck_assert_uint_eq(fake_emit_count(emit, "load "), 1);
}
END_TEST

START_TEST(pid_used_again)
{
	feed_launch(10, APP, "app");
	feed_fork(20, CHILD, CHILD, APP, APP);
	feed_exec(21, CHILD, "first");
	feed_map(21, CHILD, 0x400000, 0x500000, "/bin/first");
	feed_sample(25, CHILD, CHILD, 0, 5);
	feed_exit(30, CHILD, CHILD);
	feed_fork(40, CHILD, CHILD, APP, APP);
	feed_exec(41, CHILD, "second");
	feed_map(41, CHILD, 0x400000, 0x500000, "/bin/second");
	feed_sample(45, CHILD, CHILD, 0, 6);
	feed_exit(50, CHILD, CHILD);
	fixture_finish();
	fake_emit_assert(emit, "process 5000100 first (/bin/first) 20-30", 1);
	fake_emit_assert(emit, "process 5000100 second (/bin/second) 40-50", 1);
	fake_emit_assert(emit, "thread 5000100/5000100 first 20-30 cpu 5 rest 0 samples 1", 1);
	fake_emit_assert(emit, "thread 5000100/5000100 second 40-50 cpu 6 rest 0 samples 1", 1);
}
END_TEST

/* Its exit was lost. */
START_TEST(pid_used_again_without_exit)
{
	feed_launch(10, APP, "app");
	feed_fork(20, CHILD, CHILD, APP, APP);
	feed_sample(25, CHILD, CHILD, 0, 5);
	feed_fork(40, CHILD, CHILD, APP, APP);
	feed_sample(45, CHILD, CHILD, 0, 6);
	feed_exit(50, CHILD, CHILD);
	fixture_finish();
	fake_emit_assert(emit, "process 5000100 app (/bin/app) 20-40", 1);
	fake_emit_assert(emit, "process 5000100 app (/bin/app) 40-50", 1);
	fake_emit_assert(emit, "thread 5000100/5000100 app 20-40 cpu 5 rest 0 samples 1", 1);
	fake_emit_assert(emit, "thread 5000100/5000100 app 40-50 cpu 6 rest 0 samples 1", 1);
}
END_TEST

START_TEST(tid_used_again)
{
	feed_launch(10, APP, "app");
	feed_fork(20, APP, APP + 1, APP, APP);
	feed_sample(22, APP, APP + 1, 0, 5);
	feed_exit(30, APP, APP + 1);
	feed_fork(40, APP, APP + 1, APP, APP);
	feed_sample(42, APP, APP + 1, 0, 6);
	fixture_finish();
	fake_emit_assert(emit, "thread 5000000/5000001 app 20-30 cpu 5 rest 0 samples 1", 1);
	fake_emit_assert(emit, "thread 5000000/5000001 app 40-never cpu 6 rest 0 samples 1", 1);
}
END_TEST

START_TEST(tid_used_again_without_exit)
{
	feed_launch(10, APP, "app");
	feed_fork(20, APP, APP + 1, APP, APP);
	feed_sample(22, APP, APP + 1, 0, 5);
	feed_fork(40, APP, APP + 1, APP, APP);
	feed_sample(42, APP, APP + 1, 0, 6);
	feed_exit(45, APP, APP + 1);
	feed_exit(50, APP, APP);
	fixture_finish();
	fake_emit_assert(emit, "thread 5000000/5000001 app 20-40 cpu 5 rest 0 samples 1", 1);
	fake_emit_assert(emit, "thread 5000000/5000001 app 40-45 cpu 6 rest 0 samples 1", 1);
	fake_emit_assert(emit, "process 5000000 app (/bin/app) 10-50", 1);
}
END_TEST

/* The tid goes to another process. */
START_TEST(tid_used_again_elsewhere)
{
	feed_launch(10, APP, "app");
	feed_fork(20, APP, APP + 1, APP, APP);
	feed_fork(30, CHILD, CHILD, APP, APP);
	feed_fork(40, CHILD, APP + 1, CHILD, CHILD);
	feed_sample(45, CHILD, APP + 1, 0, 6);
	fixture_finish();
	fake_emit_assert(emit, "thread 5000000/5000001 app 20-40 cpu 0 rest 0 samples 0", 1);
	fake_emit_assert(emit, "thread 5000100/5000001 app 40-never cpu 6 rest 0 samples 1", 1);
	ck_assert_uint_eq(fake_emit_count(emit, "process "), 2);
}
END_TEST

/* fs/exec.c, de_thread: the others end, and the caller takes the first one's id. Its events go on,
 * so that its count does. */
START_TEST(exec_from_another_thread)
{
	struct tracker_counts counts;
	feed_launch(10, APP, "app");
	feed_fork(20, APP, APP + 1, APP, APP);
	feed_fork(21, APP, APP + 2, APP, APP);
	feed_sample(25, APP, APP, 0, 3);
	feed_sample(26, APP, APP + 1, 0, 5);
	feed_exit(30, APP, APP + 2);
	feed_exit(31, APP, APP);
	feed_exec(32, APP, "prog");
	feed_map(33, APP, 0x400000, 0x600000, "/bin/prog");
	feed_sample(40, APP, APP, 0, 9); /* 5 of which were counted under the old tid */
	tracker_counts(tracker, &counts);
	ck_assert_uint_eq(counts.live_threads, 1);
	ck_assert(tracker_knows(tracker, APP));
	ck_assert(!tracker_knows(tracker, APP + 1));
	feed_exit(50, APP, APP);
	fixture_finish();
	fake_emit_assert(emit, "process 5000000 app (/bin/app) 10-32", 1);
	fake_emit_assert(emit, "process 5000000 prog (/bin/prog) 32-50", 1);
	ck_assert_uint_eq(fake_emit_sums(emit).cpu_ns, 3 + 9);
	ck_assert_uint_eq(fake_emit_last_sample(emit).stack.cpu_ns, 4);
}
END_TEST

/* A damaged recording: the caller is no thread, and the first one is alive. */
START_TEST(exec_from_no_thread)
{
	feed_launch(10, APP, "app");
	struct record record = {.kind = RECORD_COMM,
				.time_ns = 20,
				.pid = APP,
				.tid = APP + 9,
				.comm = {.name = "prog", .exec = true}};
	tracker_apply(tracker, &record);
	ck_assert(tracker_knows(tracker, APP));
	feed_exit(50, APP, APP);
	fixture_finish();
	ck_assert_uint_eq(fake_emit_count(emit, "thread "), 1);
}
END_TEST

START_TEST(names)
{
	feed_launch(10, APP, "app");
	feed_fork(20, APP, APP + 1, APP, APP);
	feed_comm(30, APP, APP + 1, "worker");
	feed_comm(40, APP, APP, "renamed");
	feed_fork(50, APP, APP + 2, APP, APP + 1); /* a thread begins with its creator's name */
	feed_comm(51, OTHER, OTHER, "unknown");
	fixture_finish();
	fake_emit_assert(emit, "process 5000000 renamed (/bin/app) 10-never", 1);
	ck_assert_uint_eq(fake_emit_count(emit, "thread 5000000/5000000 renamed 10-"), 1);
	ck_assert_uint_eq(fake_emit_count(emit, "thread 5000000/5000001 worker 20"), 1);
	ck_assert_uint_eq(fake_emit_count(emit, "thread 5000000/5000002 worker 50"), 1);
	ck_assert_uint_eq(fake_emit_count(emit, "thread "), 3);
}
END_TEST

START_TEST(exits_of_unknown_threads)
{
	feed_launch(10, APP, "app");
	feed_exit(20, APP, APP + 5);
	feed_exit(21, OTHER, OTHER);
	feed_sample(30, APP, APP, 0, 5);
	feed_exit(40, APP, APP);
	feed_exit(41, APP, APP); /* once more */
	fixture_finish();
	ck_assert_uint_eq(fake_emit_count(emit, "process "), 1);
	ck_assert_uint_eq(fake_emit_count(emit, "thread "), 1);
}
END_TEST

/* Exec of a setuid program takes the events away: an exit before anything was mapped. */
START_TEST(not_followed_is_noted_once)
{
	feed_launch(10, APP, "app");
	for (uint32_t i = 0; i < 3; i++) {
		feed_fork(20, CHILD + i, CHILD + i, APP, APP);
		feed_exec(21, CHILD + i, "sudo");
		feed_exit(22, CHILD + i, CHILD + i);
	}
	feed_fork(30, OTHER, OTHER, APP, APP);
	feed_exec(31, OTHER, "passwd");
	feed_exit(32, OTHER, OTHER);
	fixture_finish();
	fake_emit_assert(emit, "note 10 at 22 value 1 5000100/0 sudo", 1);
	fake_emit_assert(emit, "note 10 at 32 value 1 5000200/0 passwd", 1);
	ck_assert_uint_eq(fake_emit_count(emit, "note "), 2);
}
END_TEST

START_TEST(followed_to_its_end_is_not_noted)
{
	feed_launch(10, APP, "app");
	feed_fork(20, CHILD, CHILD, APP, APP);
	feed_exec(21, CHILD, "true");
	feed_map(22, CHILD, 0x400000, 0x500000, "/bin/true");
	feed_exit(23, CHILD, CHILD);
	feed_exit(30, APP, APP);
	fixture_finish();
	ck_assert_uint_eq(fake_emit_count(emit, "note "), 0);
}
END_TEST

START_TEST(many_programs_not_followed)
{
	feed_launch(10, APP, "app");
	for (uint32_t i = 0; i < 100; i++) {
		char name[16];
		snprintf(name, sizeof(name), "setuid%u", i);
		feed_fork(20, CHILD, CHILD, APP, APP);
		feed_exec(21, CHILD, name);
		feed_exit(22, CHILD, CHILD);
	}
	fixture_finish();
	size_t notes = fake_emit_count(emit, "note 10 ");
	ck_assert_uint_ge(notes, 10);
	ck_assert_uint_le(notes, 100);
	fake_emit_assert(emit, "note 10 at 22 value 1 5000100/0 setuid9", 1);
}
END_TEST

START_TEST(two_hundred_children)
{
	enum { CHILDREN = 200 };
	struct tracker_counts counts;
	feed_launch(10, APP, "make");
	for (uint32_t i = 0; i < CHILDREN; i++) {
		uint32_t pid = CHILD + i;
		uint64_t now = 1000 * (uint64_t)(i + 1);
		feed_fork(now, pid, pid, APP, APP);
		feed_exec(now + 1, pid, "cc");
		feed_map(now + 2, pid, 0x400000, 0x500000, "/bin/cc");
		for (uint64_t s = 1; s <= 3; s++)
			feed_sample(now + 10 * s, pid, pid, s % 2, 10 * s);
		feed_exit(now + 500, pid, pid);
		feed_count(now + 501, pid, pid, 0, 25);
		feed_count(now + 501, pid, pid, 1, 33);
	}
	tracker_counts(tracker, &counts);
	ck_assert_uint_eq(counts.live_threads, 1);
	ck_assert_uint_eq(counts.threads, CHILDREN + 1);
	ck_assert_uint_eq(counts.samples, 3 * CHILDREN);
	ck_assert_uint_eq(counts.cpu_ns, (25 + 33) * CHILDREN);
	fixture_finish();
	fake_emit_assert(emit, "process 5000299 cc (/bin/cc) 200000-200500", 1);
	ck_assert_uint_eq(fake_emit_count(emit, "process "), CHILDREN + 1);
	ck_assert_uint_eq(fake_emit_count(emit, "load "), CHILDREN);
	ck_assert_uint_eq(fake_emit_count(emit, "unload "), CHILDREN);
	ck_assert_uint_eq(fake_emit_count(emit, "frame "), 1);
	ck_assert_uint_eq(fake_emit_count(emit, "node "), 1);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("tracker life");
	TCase *tcase = tcase_create("life");

	tcase_add_checked_fixture(tcase, fixture_setup, fixture_teardown);
	tcase_add_test(tcase, nothing);
	tcase_add_test(tcase, launched);
	tcase_add_test(tcase, lives_on);
	tcase_add_test(tcase, threads);
	tcase_add_test(tcase, child_that_is_not_followed);
	tcase_add_test(tcase, first_thread_ends_first);
	tcase_add_test(tcase, child_without_exec);
	tcase_add_test(tcase, child_with_exec);
	tcase_add_test(tcase, exec_after_samples_begins_another_life);
	tcase_add_test(tcase, child_maps_for_itself);
	tcase_add_test(tcase, modules_after_the_first_sample);
	tcase_add_test(tcase, hostile_maps);
	tcase_add_test(tcase, pid_used_again);
	tcase_add_test(tcase, pid_used_again_without_exit);
	tcase_add_test(tcase, tid_used_again);
	tcase_add_test(tcase, tid_used_again_without_exit);
	tcase_add_test(tcase, tid_used_again_elsewhere);
	tcase_add_test(tcase, exec_from_another_thread);
	tcase_add_test(tcase, exec_from_no_thread);
	tcase_add_test(tcase, names);
	tcase_add_test(tcase, exits_of_unknown_threads);
	tcase_add_test(tcase, not_followed_is_noted_once);
	tcase_add_test(tcase, followed_to_its_end_is_not_noted);
	tcase_add_test(tcase, many_programs_not_followed);
	tcase_add_test(tcase, two_hundred_children);
	suite_add_tcase(suite, tcase);
	return run_suite(suite);
}
