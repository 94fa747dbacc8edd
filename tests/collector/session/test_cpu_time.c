#include "collector/session/cpu_time.h"
#include "tests/support/suite.h"
#include <check.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

START_TEST(user_and_system_time)
{
	struct rusage usage = {.ru_utime = {3, 7}, .ru_stime = {5, 999999}};
	ck_assert_uint_eq(cpu_time_ns(&usage), 8000000000u + 1000006000u);
}
END_TEST

START_TEST(of_self_grows_with_work_only)
{
	uint64_t before = cpu_time_of_self_ns();
	usleep(50000);
	uint64_t slept = cpu_time_of_self_ns();
	ck_assert_uint_gt(before, 0);
	ck_assert_uint_lt(slept - before, 40000000);
	while (cpu_time_of_self_ns() < slept + 20000000)
		continue;
}
END_TEST

static void *work(void *unused)
{
	(void)unused;
	while (cpu_time_of_thread_ns() < 30000000)
		continue;
	return NULL;
}

/* What another thread of ours computes meanwhile is not this one's. */
START_TEST(of_this_thread)
{
	pthread_t other;
	uint64_t before = cpu_time_of_thread_ns();
	uint64_t all_before = cpu_time_of_self_ns();
	ck_assert_int_eq(pthread_create(&other, NULL, work, NULL), 0);
	ck_assert_int_eq(pthread_join(other, NULL), 0);
	uint64_t here = cpu_time_of_thread_ns() - before;
	ck_assert_uint_ge(cpu_time_of_self_ns() - all_before, here + 30000000);
	while (cpu_time_of_thread_ns() < before + here + 5000000)
		continue;
}
END_TEST

/* A child that computes until it is ended: what is read of it grows, and is 0 once it is gone. */
START_TEST(of_another_process)
{
	pid_t pid = fork();
	ck_assert_int_ge(pid, 0);
	if (pid == 0)
		for (;;)
			getppid();
	while (cpu_time_of_process_ns(pid) < 5000000)
		usleep(1000);
	ck_assert_int_eq(kill(pid, SIGKILL), 0);
	ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
	ck_assert_uint_eq(cpu_time_of_process_ns(pid), 0);
}
END_TEST

/* Of all CPUs together, where the file says it. */
static const struct {
	const char *text;
	uint64_t ticks;
} thefts[] = {
	{"cpu  1 2 3 4 5 6 7 80 9 10\ncpu0 1 2 3 4 5 6 7 8 9 10\n", 80},
	{"cpu  1 2 3 4 5 6 7\ncpu0 1 2 3 4 5 6 7 8\n", 0},
	{"cpu  1 2 3 4 5 6 7 x\n", 0},
	{"cpu0 1 2 3 4 5 6 7 8\n", 0},
	{"", 0},
};

START_TEST(stolen)
{
	char path[] = "/tmp/stat.XXXXXX";
	int fd = mkstemp(path);
	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(write(fd, thefts[_i].text, strlen(thefts[_i].text)),
			 (int)strlen(thefts[_i].text));
	close(fd);
	uint64_t ns = cpu_time_stolen_ns(path);
	unlink(path);
	ck_assert_uint_eq(ns, thefts[_i].ticks * (1000000000 / (uint64_t)sysconf(_SC_CLK_TCK)));
	ck_assert_uint_eq(cpu_time_stolen_ns("/no/such/file"), 0);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("cost");
	TCase *tcase = tcase_create("cost");
	tcase_add_test(tcase, user_and_system_time);
	tcase_add_test(tcase, of_self_grows_with_work_only);
	tcase_add_test(tcase, of_this_thread);
	tcase_add_test(tcase, of_another_process);
	tcase_add_loop_test(tcase, stolen, 0, sizeof(thefts) / sizeof(thefts[0]));
	suite_add_tcase(suite, tcase);
	return run_suite(suite);
}
