/* Processes that are attached to: what they mapped before, and when that is read. */
#include "collector/model/tracker_private.h"
#include "tests/collector/fake_image.h"
#include "tests/collector/tracker_fixture.h"
#include "tests/support/suite.h"
#include <check.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

enum { APP = 5000000, CHILD = 5000100 };

static pid_t start_waiting(void)
{
	pid_t child = fork();
	ck_assert_int_ge(child, 0);
	if (child == 0)
		for (;;)
			pause();
	return child;
}

static void end_waiting(pid_t child)
{
	kill(child, SIGKILL);
	ck_assert_int_eq(waitpid(child, NULL, 0), child);
}

START_TEST(attached)
{
	uint32_t self = (uint32_t)getpid();
	char exe[4096] = "";
	char name[16];
	char line[4200];
	ck_assert_int_eq(prctl(PR_GET_NAME, name), 0);
	ck_assert_int_gt(readlink("/proc/self/exe", exe, sizeof(exe) - 1), 0);
	ck_assert(!tracker_knows(tracker, getpid()));
	ck_assert_int_eq(tracker_add_thread(tracker, getpid(), getpid(), true), 0);
	ck_assert(tracker_knows(tracker, getpid()));
	ck_assert_uint_eq(tracker_family(tracker, getpid()), 0);
	ck_assert_str_eq(fake_emit_lines(emit), "");
	feed_sample(20, self, self, 0, 5);
	fixture_finish();
	snprintf(line, sizeof(line), "process %u %s (%s) before-never", self, name, exe);
	fake_emit_assert(emit, line, 1);
	size_t firsts = 0;
	size_t mains = 0;
	for (const char *at = fake_emit_lines(emit); *at != '\0'; at = strchr(at, '\n') + 1) {
		size_t length = strcspn(at, "\n");
		firsts += strncmp(at, "load ", 5) == 0 && memmem(at, length, " first", 6);
		mains += strncmp(at, "load ", 5) == 0 && memmem(at, length, " main", 5);
	}
	ck_assert_uint_eq(firsts, 1);
	ck_assert_uint_eq(mains, 1);
}
END_TEST

/* Maps are read for the first sample, once, and not at all for a process without one: it is named
 * all the same. */
START_TEST(attached_without_a_sample)
{
	char line[4200];
	char exe[4096] = "";
	char name[16];
	ck_assert_int_eq(prctl(PR_GET_NAME, name), 0);
	ck_assert_int_gt(readlink("/proc/self/exe", exe, sizeof(exe) - 1), 0);
	pid_t child = start_waiting();
	struct image_table *images = tracker->context.images;
	ck_assert_int_eq(tracker_add_thread(tracker, child, child, true), 0);
	feed_lost(15, 0, 1);
	ck_assert_uint_eq(fake_image_asked(images), 0);
	if (_i == 1) {
		feed_sample(20, (uint32_t)child, (uint32_t)child, 0, 5);
		uint32_t asked = fake_image_asked(images);
		ck_assert_uint_gt(asked, 2);
		feed_sample(30, (uint32_t)child, (uint32_t)child, 0, 6);
		ck_assert_uint_eq(fake_image_asked(images), asked);
		ck_assert_uint_eq(fake_emit_count(emit, "note 11 "), 0); /* nothing again */
	}
	fixture_finish();
	end_waiting(child);
	snprintf(line, sizeof(line), "process %d %s (%s) before-never", (int)child, name, exe);
	fake_emit_assert(emit, line, 1);
	ck_assert_int_eq(fake_emit_count(emit, "load ") > 2, _i == 1);
}
END_TEST

/* What is not read in time is said, once. */
START_TEST(attached_and_gone)
{
	pid_t child = start_waiting();
	ck_assert_int_eq(tracker_add_thread(tracker, child, child, true), 0);
	end_waiting(child);
	feed_sample(20, (uint32_t)child, (uint32_t)child, 0, 5);
	feed_sample(30, (uint32_t)child, (uint32_t)child, 0, 6);
	fixture_finish();
	ck_assert_ptr_nonnull(strstr(fake_emit_lines(emit), "ended before its maps could be read"));
	ck_assert_uint_eq(fake_emit_count(emit, "note "), 1);
	ck_assert_uint_eq(fake_emit_count(emit, "load "), 0);
}
END_TEST

/* Read before, they are there. */
START_TEST(attached_and_read)
{
	pid_t child = start_waiting();
	ck_assert_int_eq(tracker_add_thread(tracker, child, child, true), 0);
	tracker_read_attached(tracker, child);
	tracker_read_attached(tracker, APP); /* nobody knows it */
	end_waiting(child);
	ck_assert_uint_eq(fake_emit_count(emit, "load "), 0);
	feed_sample(20, (uint32_t)child, (uint32_t)child, 0, 5);
	fixture_finish();
	ck_assert_uint_gt(fake_emit_count(emit, "load "), 2);
	ck_assert_ptr_null(strstr(fake_emit_lines(emit), "ended before its maps"));
	ck_assert_uint_eq(fake_emit_count(emit, "note 11 "), 0);
}
END_TEST

/* Loop: the child's parent lives when the fork is seen, or is gone. The child has mappings either
 * way: its parent's, or those it has itself. */
START_TEST(attached_before_a_fork)
{
	pid_t parent = start_waiting();
	pid_t living = start_waiting();
	uint32_t child = _i == 0 ? CHILD : (uint32_t)living;
	ck_assert_int_eq(tracker_add_thread(tracker, parent, parent, true), 0);
	if (_i == 1)
		end_waiting(parent);
	feed_fork(20, child, child, (uint32_t)parent, (uint32_t)parent);
	feed_sample(30, child, child, 0, 5);
	if (_i == 0)
		end_waiting(parent);
	end_waiting(living);
	fixture_finish();
	ck_assert_uint_gt(fake_emit_count(emit, "load "), 2);
	/* But for command lines (42). */
	ck_assert_uint_eq(fake_emit_count(emit, "note "), fake_emit_count(emit, "note 42 "));
}
END_TEST

/* A thread that was created by a followed one and is opened too. */
START_TEST(attached_twice)
{
	ck_assert_int_eq(tracker_add_thread(tracker, APP, APP, true), 0);
	feed_fork(20, APP, APP + 1, APP, APP);
	ck_assert(tracker_knows(tracker, APP + 1));
	ck_assert_uint_eq(tracker_family(tracker, APP + 1), 0);
	ck_assert_int_eq(tracker_add_thread(tracker, APP, APP + 1, true), 1);
	ck_assert_uint_eq(tracker_family(tracker, APP + 1), 1);
	ck_assert_uint_eq(tracker_family(tracker, APP + 2), UINT32_MAX);
	feed_exit(30, APP, APP + 1);
	ck_assert(!tracker_knows(tracker, APP + 1));
	ck_assert_uint_eq(tracker_family(tracker, APP + 1), UINT32_MAX);
	fixture_finish();
	ck_assert_uint_eq(fake_emit_count(emit, "thread 5000000/5000001"), 1);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("tracker_attach");
	TCase *tcase = tcase_create("tracker_attach");

	tcase_add_checked_fixture(tcase, fixture_setup, fixture_teardown);
	tcase_add_test(tcase, attached);
	tcase_add_test(tcase, attached_twice);
	tcase_add_loop_test(tcase, attached_without_a_sample, 0, 2);
	tcase_add_test(tcase, attached_and_gone);
	tcase_add_test(tcase, attached_and_read);
	tcase_add_loop_test(tcase, attached_before_a_fork, 0, 2);
	suite_add_tcase(suite, tcase);
	return run_suite(suite);
}
