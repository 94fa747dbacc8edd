/* Why the kernel refuses an event, from what /proc says; that is a fake here. */
#include "collector/perf/event.h"
#include <check.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define STATUS(capabilities, seccomp)                                                    \
	"Name:\tx\nSeccomp_other:\t9\nCapPrm:\t000001ffffffffff\nCapEff:\t" capabilities \
	"\nCapBnd:\t000001ffffffffff\nSeccomp:\t" seccomp "\nSeccomp_filters:\t1\n"
#define NO_CAPABILITY "0000000000000000"
#define SYS_ADMIN     "0000000000200000"
#define PERFMON       "0000004000000000"
#define OTHERS        "000001bfffdfffff" /* all but these two */

static const char *status; /* NULL: cannot be read */
static const char *paranoid;
static bool is_other_user;

/* The linker passes the product's calls here. */
FILE *__wrap_fopen64(const char *path, const char *mode);
uid_t __wrap_geteuid(void);
uid_t __real_geteuid(void);

static FILE *open_text(const char *text)
{
	return text ? fmemopen((char *)(uintptr_t)text, strlen(text), "r") : NULL;
}

FILE *__wrap_fopen64(const char *path, const char *mode)
{
	ck_assert_str_eq(mode, "re");
	if (strcmp(path, "/proc/self/status") == 0)
		return open_text(status);
	ck_assert_str_eq(path, "/proc/sys/kernel/perf_event_paranoid");
	return open_text(paranoid);
}

uid_t __wrap_geteuid(void)
{
	return __real_geteuid() + is_other_user;
}

static const char *explain(int error, pid_t pid)
{
	static struct failure failure;
	failure = (struct failure){0};
	ck_assert_int_eq(event_explain(&failure, error, pid), -1);
	ck_assert_int_eq(failure.exit_status, FAILURE_EXIT);
	return failure.text;
}

static const struct {
	const char *status;
	const char *paranoid;
	const char *said;
	bool is_attached;
	bool is_other;
} cases[] = {
	{STATUS(NO_CAPABILITY, "0"), "3\n", "perf_event_paranoid is 3, which forbids", 0, 0},
	{STATUS(OTHERS, "0"), "3\n", "perf_event_paranoid is 3, which forbids", 0, 0},
	{STATUS(NO_CAPABILITY, "2"), "3\n", "perf_event_paranoid is 3, which forbids", 0, 0},
	{STATUS(NO_CAPABILITY, "0"), "3\n", "perf_event_paranoid is 3, which forbids", 1, 0},
	{STATUS(NO_CAPABILITY, "0"), "3\n", "it belongs to another user and CAP_PERFMON", 1, 1},
	{STATUS(NO_CAPABILITY, "2"), "2\n", "it belongs to another user and CAP_PERFMON", 1, 1},
	{STATUS(NO_CAPABILITY, "2"), "2\n", "this program: a seccomp filter", 0, 0},
	{STATUS(NO_CAPABILITY, "2"), "2\n", "a seccomp filter", 1, 0},
	{STATUS(PERFMON, "2"), "4\n", "a seccomp filter", 0, 0},
	{STATUS(SYS_ADMIN, "2"), "4\n", "a seccomp filter", 0, 0},
	{STATUS(PERFMON, "2"), "4\n", "is 4, CAP_PERFMON is there)", 1, 1},
	{STATUS(SYS_ADMIN, "1"), "4\n", "is 4, CAP_PERFMON is there)", 0, 0},
	{STATUS(NO_CAPABILITY, "0"), "2\n", "is 2, CAP_PERFMON is missing)", 0, 0},
	{STATUS(NO_CAPABILITY, "0"), "-1\n", "(kernel.perf_event_paranoid is -1, ", 1, 0},
	/* What cannot be read: neither capabilities nor a filter, and the kernel's default. */
	{NULL, NULL, "is 2, CAP_PERFMON is missing)", 0, 0},
	{"Name:\tx\n", "x\n", "is 0, CAP_PERFMON is missing)", 0, 0},
};

START_TEST(permission)
{
	char who[64];
	status = cases[_i].status;
	paranoid = cases[_i].paranoid;
	is_other_user = cases[_i].is_other;
	pid_t pid = cases[_i].is_attached ? getpid() : 0;
	for (int i = 0; i < 2; i++) {
		const char *text = explain(i ? EACCES : EPERM, pid);
		ck_assert_msg(strstr(text, cases[_i].said), "%s", text);
		snprintf(who, sizeof(who), "cannot sample process %d: ", (int)pid);
		ck_assert(strstr(text, pid ? who : "cannot sample this program: ") == text);
	}
}
END_TEST

START_TEST(other_errors)
{
	ck_assert_ptr_nonnull(strstr(explain(ESRCH, 17), "attach to process 17: no such process"));
	ck_assert_ptr_nonnull(strstr(explain(ENOSYS, 0), "no perf_event task clock"));
	ck_assert_ptr_nonnull(strstr(explain(ENOENT, 0), "no perf_event task clock"));
	ck_assert_ptr_nonnull(strstr(explain(EOPNOTSUPP, 0), "no perf_event task clock"));
	ck_assert_str_eq(explain(EBUSY, 0),
			 "cannot open the sampling event: Device or resource busy");
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("event explain");
	TCase *tcase = tcase_create("event explain");
	SRunner *runner = srunner_create(suite);

	tcase_add_loop_test(tcase, permission, 0, sizeof(cases) / sizeof(cases[0]));
	tcase_add_test(tcase, other_errors);
	suite_add_tcase(suite, tcase);
	srunner_run_all(runner, CK_ENV);
	int failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed != 0;
}
