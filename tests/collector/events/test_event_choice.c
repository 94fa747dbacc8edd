/* Names of events as perf has them -> what the kernel is asked for. */
#include "collector/events/event_choice.h"
#include "tests/support/suite.h"
#include <check.h>
#include <linux/perf_event.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <unistd.h>

static const struct {
	const char *text;
	const char *name;
	uint32_t type;
	uint64_t config;
	uint64_t period;
	uint64_t frequency;
	char modes; /* u, k, or both: a */
} good[] = {
	{"page-faults", "page-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS, 0, 1000, 'a'},
	{"faults/period=10/", "faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS, 10, 0, 'a'},
	{"cycles:u", "cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES, 0, 1000, 'u'},
	{"cycles/freq=99/k", "cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES, 0, 99, 'k'},
	{"cs:uk", "cs", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CONTEXT_SWITCHES, 0, 1000, 'a'},
	{"r1c2/period=5/", "r1c2", PERF_TYPE_RAW, 0x1c2, 5, 0, 'a'},
	{"migrations/freq=5,period=7/", "migrations", PERF_TYPE_SOFTWARE,
	 PERF_COUNT_SW_CPU_MIGRATIONS, 7, 0, 'a'},
};

START_TEST(known)
{
	struct event_choice choice;
	struct failure failure = {0};
	ck_assert_msg(event_choice_parse(&choice, good[_i].text, &failure) == 0, "%s",
		      failure.text);
	ck_assert_str_eq(choice.name, good[_i].name);
	ck_assert_uint_eq(choice.type, good[_i].type);
	ck_assert_uint_eq(choice.config, good[_i].config);
	ck_assert_uint_eq(choice.period, good[_i].period);
	ck_assert_uint_eq(choice.frequency, good[_i].frequency);
	ck_assert_int_eq(choice.user_only, good[_i].modes == 'u');
	ck_assert_int_eq(choice.kernel_only, good[_i].modes == 'k');
}
END_TEST

static const struct {
	const char *text;
	const char *message;
} bad[] = {
	{"page-fault", "unknown event 'page-fault': "},
	{"task-clock", "unknown event 'task-clock': "},
	{"rxyz", "unknown event 'rxyz': "},
	{"", "unknown event '': "},
	{"cs/period=0/", "bad event 'cs/period=0/': "},
	{"cs/period=-1/", "bad event"},
	{"cs/period=99999999999999999999/", "bad event"},
	{"cs/freq=200000/", "bad event"},
	{"cs/name=x/", "bad event"},
	{"cs/period=5", "bad event"},
	{"cs/period=5/x", "bad event"},
	{"no:such", ""}, /* unknown, or not permitted to know */
	{"sched:", ""},
	{":x", ""},
	{"../../x:y", ""},
	{"an-event-with-a-name-of-more-than-one-hundred-and-twenty-seven-characters-which-no-event-"
	 "of-any-kernel-or-cpu-has-had-so-far-and-will",
	 "bad event 'an-event-with-a-name...': too long"},
};

START_TEST(refused)
{
	struct event_choice choice;
	struct failure failure = {0};
	ck_assert_int_eq(event_choice_parse(&choice, bad[_i].text, &failure), -1);
	ck_assert_msg(strncmp(failure.text, bad[_i].message, strlen(bad[_i].message)) == 0, "%s",
		      failure.text);
	ck_assert_int_ne(failure.exit_status, 0);
}
END_TEST

static void hide_tracefs(void)
{
	ck_assert_int_eq(unshare(CLONE_NEWNS), 0);
	ck_assert_int_eq(mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL), 0);
	while (umount2("/sys/kernel/tracing", MNT_DETACH) == 0 ||
	       umount2("/sys/kernel/debug/tracing", MNT_DETACH) == 0)
		continue;
	umount2("/sys/kernel/debug", MNT_DETACH);
	ck_assert_int_lt(access("/sys/kernel/tracing/events", F_OK), 0);
}

/* On a computer that nobody traced since its start. */
START_TEST(unmounted)
{
	struct event_choice choice;
	struct failure failure = {0};
	hide_tracefs();
	ck_assert_msg(event_choice_parse(&choice, "sched:sched_switch", &failure) == 0, "%s",
		      failure.text);
	ck_assert_uint_gt(choice.config, 0);
	ck_assert_int_lt(event_choice_parse(&choice, "sched:no_such", &failure), 0);
	ck_assert_msg(strncmp(failure.text, "unknown tracepoint", 18) == 0, "%s", failure.text);
	ck_assert_int_lt(access("/sys/kernel/tracing/events", F_OK), 0);
}
END_TEST

/* Neither unknown nor forbidden. */
START_TEST(no_more_files)
{
	struct event_choice choice;
	struct failure failure = {0};
	struct rlimit before;
	ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &before), 0);
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &(struct rlimit){0, before.rlim_max}), 0);
	int result = event_choice_parse(&choice, "sched:sched_switch", &failure);
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &before), 0);
	ck_assert_int_eq(result, -1);
	ck_assert_msg(strncmp(failure.text, "cannot look up the tracepoint sched:sched_switch: Too",
			      53) == 0,
		      "%s", failure.text);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("event_choice");
	TCase *tcase = tcase_create("event_choice");

	tcase_add_loop_test(tcase, known, 0, (int)(sizeof(good) / sizeof(good[0])));
	tcase_add_loop_test(tcase, refused, 0, (int)(sizeof(bad) / sizeof(bad[0])));
	tcase_add_test(tcase, no_more_files);
	if (geteuid() == 0)
		tcase_add_test(tcase, unmounted);
	else
		printf("skipped - tracefs not mounted: only root can unmount it\n");
	suite_add_tcase(suite, tcase);
	return run_suite(suite);
}
