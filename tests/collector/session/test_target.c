/* Launched programs, and the signals around them. */
#include "collector/session/signals.h"
#include "collector/session/target.h"
#include "tests/support/suite.h"
#include <check.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static struct signals signals;
static struct failure failure;
static char folder[32];

static void setup(void)
{
	strcpy(folder, "/tmp/target-test-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(folder));
	failure = (struct failure){0};
	ck_assert_int_eq(signals_init(&signals, &failure), 0);
}

static void teardown(void)
{
	signals_finish(&signals);
	ck_assert_int_eq(rmdir(folder), 0);
}

static struct target forked(char **argv)
{
	struct target target;
	ck_assert_int_eq(target_fork(&target, argv, NULL, &signals, &failure), 0);
	ck_assert_int_gt(target.pid, 0);
	return target;
}

/* Runs a shell's command to its end. */
static struct target run(const char *command)
{
	char *argv[] = {(char[]){"sh"}, (char[]){"-c"}, strdup(command), NULL};
	struct target target = forked(argv);
	ck_assert_int_eq(target_start(&target, argv[0], &failure), 0);
	target_check(&target, true);
	ck_assert(target.ended);
	free(argv[2]);
	return target;
}

START_TEST(exit_statuses)
{
	ck_assert_int_eq(run("exit 0").exit_status, 0);
	ck_assert_int_eq(run("exit 77").exit_status, 77);
	ck_assert_int_eq(run("kill -9 $$").exit_status, 128 + 9);
	ck_assert_int_eq(run("kill -15 $$").exit_status, 128 + 15);
}
END_TEST

START_TEST(cpu_time_with_children)
{
	/* times prints the shell's own and its children's, to the hundredth. */
	struct target target = run("i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done");
	ck_assert_uint_gt(target.cpu_ns, 1000000);
	target = run("sh -c 'i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done'; exit 0");
	ck_assert_uint_gt(target.cpu_ns, 1000000);
}
END_TEST

START_TEST(nothing_runs_before_the_start)
{
	char path[64];
	snprintf(path, sizeof(path), "%s/ran", folder);
	char *argv[] = {(char[]){"touch"}, path, NULL};
	struct target target = forked(argv);
	target_check(&target, false);
	ck_assert(!target.ended);
	target_cancel(&target);
	ck_assert(target.ended);
	ck_assert_int_eq(access(path, F_OK), -1);
	target_cancel(&target); /* does nothing */
	target_check(&target, true);
	target = forked(argv);
	ck_assert_int_eq(target_start(&target, argv[0], &failure), 0);
	target_check(&target, true);
	ck_assert_int_eq(unlink(path), 0);
}
END_TEST

static void write_script(const char *path, const char *text, mode_t mode)
{
	FILE *file = fopen(path, "w");
	ck_assert_ptr_nonnull(file);
	ck_assert_int_ge(fputs(text, file), 0);
	ck_assert_int_eq(fclose(file), 0);
	ck_assert_int_eq(chmod(path, mode), 0);
}

static void fails_to_start(char *program, int status, const char *why)
{
	char *argv[] = {program, NULL};
	struct target target = forked(argv);
	ck_assert_int_eq(target_start(&target, program, &failure), -1);
	ck_assert_int_eq(failure.exit_status, status);
	ck_assert_msg(strstr(failure.text, why) != NULL, "%s", failure.text);
	ck_assert_msg(strstr(failure.text, program) != NULL, "%s", failure.text);
	ck_assert(target.ended);
	ck_assert_int_eq(waitpid(-1, NULL, WNOHANG), -1); /* no child is left */
	failure = (struct failure){0};
}

START_TEST(programs_that_cannot_start)
{
	char path[64];
	snprintf(path, sizeof(path), "%s/script", folder);
	fails_to_start((char[]){"no-such-program-here"}, FAILURE_EXIT_NOT_FOUND, "no such program");
	fails_to_start((char[]){""}, FAILURE_EXIT_NOT_FOUND, "its name is empty");
	fails_to_start((char[]){"/"}, FAILURE_EXIT_CANNOT_EXECUTE, "executable program");
	write_script(path, "#!/no/such/interpreter\n", 0700);
	fails_to_start(path, FAILURE_EXIT_NOT_FOUND, "its interpreter is missing");
	write_script(path, "#!/bin/sh\n", 0600);
	fails_to_start(path, FAILURE_EXIT_CANNOT_EXECUTE, "executable program");
	ck_assert_int_eq(unlink(path), 0);
}
END_TEST

START_TEST(child_that_was_killed)
{
	char *argv[] = {(char[]){"true"}, NULL};
	struct target target = forked(argv);
	/* Stopped first, so that it cannot have exec'd in between. */
	ck_assert_int_eq(kill(target.pid, SIGKILL), 0);
	siginfo_t info;
	ck_assert_int_eq(waitid(P_PID, (id_t)target.pid, &info, WEXITED | WNOWAIT), 0);
	signal(SIGPIPE, SIG_IGN);
	ck_assert_int_eq(target_start(&target, argv[0], &failure), -1);
	ck_assert_msg(strstr(failure.text, "killed") != NULL, "%s", failure.text);
	ck_assert_int_eq(target.exit_status, 128 + SIGKILL);
}
END_TEST

/* What the program gets of signals is what tbcollect got. */
START_TEST(signals_of_the_program)
{
	signals_finish(&signals);
	sigset_t one;
	sigemptyset(&one);
	sigaddset(&one, SIGUSR2);
	sigprocmask(SIG_BLOCK, &one, NULL);
	signal(SIGCHLD, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN);
	signal(SIGPIPE, SIG_DFL);
	ck_assert_int_eq(signals_init(&signals, &failure), 0);
	char output[64];
	snprintf(output, sizeof(output), "%s/out", folder);
	/* A shell would change them. */
	char *argv[] = {(char[]){"cp"}, (char[]){"/proc/self/status"}, output, NULL};
	struct target target = forked(argv);
	ck_assert_int_eq(target_start(&target, argv[0], &failure), 0);
	target_check(&target, true);
	ck_assert_int_eq(target.exit_status, 0);
	FILE *file = fopen(output, "r");
	unsigned long long blocked = 0, ignored = 0;
	char line[256];
	while (fgets(line, sizeof(line), file)) {
		sscanf(line, "SigBlk: %llx", &blocked);
		sscanf(line, "SigIgn: %llx", &ignored);
	}
	fclose(file);
	ck_assert_int_eq(unlink(output), 0);
	ck_assert_uint_eq(blocked, 1ull << (SIGUSR2 - 1));
	ck_assert_uint_eq(ignored & (1ull << (SIGCHLD - 1)), 1ull << (SIGCHLD - 1));
	ck_assert_uint_eq(ignored & (1ull << (SIGXFSZ - 1)), 1ull << (SIGXFSZ - 1));
	ck_assert_uint_eq(ignored & (1ull << (SIGPIPE - 1)), 0);
}
END_TEST

START_TEST(signals_come_in_by_the_file)
{
	static const int numbers[] = {SIGINT,  SIGTERM, SIGHUP,  SIGQUIT,
				      SIGUSR1, SIGUSR2, SIGALRM, SIGCHLD};
	struct signals_event event;
	ck_assert(!signals_next(&signals, &event));
	for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers); i++) {
		struct pollfd poll_for = {.fd = signals.fd, .events = POLLIN};
		ck_assert_int_eq(poll(&poll_for, 1, 0), 0);
		ck_assert_int_eq(kill(getpid(), numbers[i]), 0);
		ck_assert_int_eq(poll(&poll_for, 1, 0), 1);
		ck_assert(signals_next(&signals, &event));
		ck_assert_int_eq(event.number, numbers[i]);
		ck_assert(!event.from_terminal);
	}
	ck_assert(!signals_next(&signals, &event));
}
END_TEST

/* Pending ones are dropped, not delivered to what comes after. */
START_TEST(signals_are_put_back)
{
	sigset_t mask;
	ck_assert_int_eq(kill(getpid(), SIGTERM), 0);
	signals_finish(&signals);
	ck_assert_int_eq(signals.fd, -1);
	sigprocmask(SIG_BLOCK, NULL, &mask);
	ck_assert_int_eq(sigismember(&mask, SIGTERM), 0);
	signals_finish(&signals); /* does nothing */
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("target");
	TCase *tcase = tcase_create("target");
	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_add_test(tcase, exit_statuses);
	tcase_add_test(tcase, cpu_time_with_children);
	tcase_add_test(tcase, nothing_runs_before_the_start);
	tcase_add_test(tcase, programs_that_cannot_start);
	tcase_add_test(tcase, child_that_was_killed);
	tcase_add_test(tcase, signals_of_the_program);
	tcase_add_test(tcase, signals_come_in_by_the_file);
	tcase_add_test(tcase, signals_are_put_back);
	suite_add_tcase(suite, tcase);
	return run_suite(suite);
}
