/* The states of threads that were there before the collection. */
#include "collector/machine/clock.h"
#include "collector/states/states.h"
#include "collector/states/task_state.h"
#include "tests/collector/tracker_fixture.h"
#include "tests/support/suite.h"
#include <check.h>
#include <dirent.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* Above all ids of the kernel. */
enum { APP = 5000000 };

static struct states_now find(uint32_t tid)
{
	struct states_now now;
	ck_assert(states_find(fixture_states(), tid, &now));
	return now;
}

/* The first switch tells whether an attached thread that could run was running. */
START_TEST(attached)
{
	/* This test's own thread runs. */
	uint32_t pid = (uint32_t)getpid();
	states_begin(fixture_states(), 500);
	tracker_add_thread(tracker, (pid_t)pid, (pid_t)pid, true);
	ck_assert_int_eq(find(pid).state, PROFILE_STATE_READY);
	feed_switch(2000, pid, pid, 0, _i == 0 ? FIXTURE_OFF : FIXTURE_ON);
	if (_i == 1)
		feed_switch(2500, pid, pid, 0, FIXTURE_OFF);
	char expected[128];
	snprintf(expected, sizeof(expected),
		 _i == 0 ? "slice %u 500+1500 cpu 3 ready ready 0"
			 : "slice %u 2000+500 cpu 3 blocked ready 0",
		 pid);
	fake_emit_assert(emit, expected, 1);
}
END_TEST

/* A sample tells it, too. */
START_TEST(attached_and_sampled)
{
	uint32_t pid = (uint32_t)getpid();
	states_begin(fixture_states(), 500);
	tracker_add_thread(tracker, (pid_t)pid, (pid_t)pid, true);
	feed_sample(3000, pid, pid, 1, 0);
	ck_assert_int_eq(find(pid).state, PROFILE_STATE_RUNNING);
	ck_assert_uint_eq(find(pid).since_ns, 500);
}
END_TEST

/* A thread of the process other than the first, if it waits; 0: there is none. */
static uint32_t find_sleeper(uint32_t pid)
{
	char path[64];
	uint32_t found = 0;
	snprintf(path, sizeof(path), "/proc/%u/task", pid);
	DIR *tasks = opendir(path);
	for (struct dirent *entry; tasks && (entry = readdir(tasks));) {
		uint32_t tid = (uint32_t)strtoul(entry->d_name, NULL, 10);
		if (tid != 0 && tid != pid &&
		    task_state_read(pid, tid).state == PROFILE_STATE_BLOCKED)
			found = tid;
	}
	if (tasks)
		closedir(tasks);
	return found;
}

static void *sleep_on(void *user)
{
	int *fds = user;
	char byte;
	return read(fds[0], &byte, 1) < 0 ? user : NULL;
}

/* Threads that were there at the start and wait are opened after records of others: their wait
 * began no later than the collection. One that is younger than the collection has its own begin.
 * Loop: which. */
START_TEST(attached_late)
{
	int fds[2];
	pthread_t thread;
	uint32_t pid = (uint32_t)getpid();
	uint32_t tid = 0;
	ck_assert_int_eq(pipe(fds), 0);
	ck_assert_int_eq(pthread_create(&thread, NULL, sleep_on, fds), 0);
	for (int looks = 0; looks < 20000 && tid == 0; looks++) {
		tid = find_sleeper(pid);
		usleep(1000);
	}
	ck_assert_uint_ne(tid, 0);
	usleep(30000); /* ticks of the kernel's clock, which thread ages are told in */
	uint64_t start_ns = _i == 0 ? clock_now() : 500;
	states_begin(fixture_states(), start_ns);
	feed_switch(clock_now(), APP, APP, 0, FIXTURE_ON);
	uint64_t last_ns = clock_now();
	feed_switch(last_ns, APP, APP, 0, FIXTURE_OFF);
	tracker_add_thread(tracker, (pid_t)pid, (pid_t)tid, true);
	ck_assert_int_eq(find(tid).state, PROFILE_STATE_BLOCKED);
	ck_assert_uint_eq(find(tid).since_ns, _i == 0 ? start_ns : last_ns);
	ck_assert_int_eq(write(fds[1], "", 1), 1);
	pthread_join(thread, NULL);
	close(fds[0]);
	close(fds[1]);
}
END_TEST

/* A thread nobody can look at any more is known by its exit. */
START_TEST(attached_and_gone)
{
	tracker_add_thread(tracker, APP, APP, true);
	ck_assert_int_eq(find(APP).state, PROFILE_STATE_UNKNOWN);
	feed_exit(1000, APP, APP);
	fake_emit_assert(emit, "slice 5000000 1000+0 cpu 0 unknown ready 0", 1);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("states attached");
	TCase *tcase = tcase_create("states attached");

	tcase_add_checked_fixture(tcase, fixture_setup_states, fixture_teardown);
	tcase_add_loop_test(tcase, attached, 0, 2);
	tcase_add_test(tcase, attached_and_sampled);
	tcase_add_loop_test(tcase, attached_late, 0, 2);
	tcase_add_test(tcase, attached_and_gone);
	suite_add_tcase(suite, tcase);
	return run_suite(suite);
}
