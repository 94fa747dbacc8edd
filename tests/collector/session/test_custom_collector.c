/* What a custom collector is told and given, and how its end is seen; it is a shell command here.
 */
#include "collector/options/options.h"
#include "collector/result/result.h"
#include "collector/session/custom_collector.h"
#include "tests/support/suite.h"
#include <check.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

static char folder[64];
static int directory;
static const pid_t pids[] = {17, 4000};
static struct custom_collector collector;

static void setup(void)
{
	strcpy(folder, "/tmp/custom-collector-test-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(folder));
	directory = open(folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
	ck_assert_int_ge(directory, 0);
	collector = (struct custom_collector){0};
}

static void remove_file(const char *name)
{
	unlinkat(directory, name, 0);
}

static void teardown(void)
{
	custom_collector_end(&collector);
	remove_file(RESULT_CUSTOM_LOG);
	remove_file("out");
	close(directory);
	ck_assert_int_eq(rmdir(folder), 0);
}

static struct custom_end await(enum custom_step step)
{
	struct custom_end end;
	while (!custom_collector_has_ended(&collector, step, &end))
		usleep(1000);
	ck_assert_int_eq(collector.running, 0);
	return end;
}

static struct custom_end run_for(const char *command, enum custom_step step, const pid_t *processes,
				 size_t pid_count)
{
	const struct custom_place place = {directory, processes, pid_count};
	collector.command = command;
	ck_assert_int_eq(custom_collector_run(&collector, step, &place), 0);
	ck_assert_int_gt(collector.running, 0);
	return await(step);
}

static int run(const char *command, enum custom_step step)
{
	struct custom_end end = run_for(command, step, pids, 1);
	ck_assert(!end.by_signal);
	return end.status;
}

static const char *read_file(const char *name)
{
	static char text[4096];
	int fd = openat(directory, name, O_RDONLY | O_CLOEXEC);
	ck_assert_int_ge(fd, 0);
	ssize_t size = read(fd, text, sizeof(text) - 1);
	close(fd);
	ck_assert_int_ge(size, 0);
	text[size] = '\0';
	return text;
}

START_TEST(what_it_is_told)
{
	struct utsname host;
	char expected[1024];
	ck_assert_int_eq(uname(&host), 0);
	setenv("VTUNE_HOSTNAME", "elsewhere", 1);
	setenv("VTUNE_HOSTNAME_TOO", "stays", 1);
	ck_assert_int_eq(run_for("for name in AMPLXE VTUNE; do env | grep ^${name}_ | sort; done > "
				 "$AMPLXE_DATA_DIR/out",
				 CUSTOM_RESUME, pids, 2)
				 .status,
			 0);
	snprintf(expected, sizeof(expected),
		 "AMPLXE_COLLECT_CMD=resume\nAMPLXE_COLLECT_PID=17,4000\nAMPLXE_DATA_DIR=%s\n"
		 "AMPLXE_HOSTNAME=%s\nVTUNE_COLLECT_CMD=resume\nVTUNE_COLLECT_PID=17,4000\n"
		 "VTUNE_DATA_DIR=%s\nVTUNE_HOSTNAME=%s\nVTUNE_HOSTNAME_TOO=stays\n",
		 folder, host.nodename, folder, host.nodename);
	ck_assert_str_eq(read_file("out"), expected);
}
END_TEST

/* The longest list, to its last digit. */
START_TEST(many_processes)
{
	pid_t longest[OPTIONS_PIDS_MAX];
	char expected[OPTIONS_PIDS_MAX * 11 + 1];
	for (size_t i = 0; i < OPTIONS_PIDS_MAX; i++) {
		longest[i] = INT_MAX;
		snprintf(expected + 11 * i, sizeof(expected) - 11 * i, "%d,", INT_MAX);
	}
	expected[sizeof(expected) - 2] = '\n';
	ck_assert(!run_for("echo $AMPLXE_COLLECT_PID", CUSTOM_START, longest, OPTIONS_PIDS_MAX)
			   .by_signal);
	ck_assert_str_eq(read_file(RESULT_CUSTOM_LOG), expected);
}
END_TEST

START_TEST(steps)
{
	ck_assert_str_eq(custom_collector_word(CUSTOM_START), "start");
	ck_assert_str_eq(custom_collector_word(CUSTOM_STOP), "stop");
	ck_assert_str_eq(custom_collector_word(CUSTOM_PAUSE), "pause");
	ck_assert_str_eq(custom_collector_word(CUSTOM_RESUME), "resume");
	for (enum custom_step step = CUSTOM_START; step <= CUSTOM_RESUME; step++)
		ck_assert_int_eq(run("echo $VTUNE_COLLECT_CMD $AMPLXE_COLLECT_PID", step), 0);
	ck_assert_str_eq(read_file(RESULT_CUSTOM_LOG), "start 17\nstop 17\npause 17\nresume 17\n");
}
END_TEST

START_TEST(moved_directory)
{
	char moved[sizeof(folder) + 8];
	char expected[sizeof(moved) + 8];
	snprintf(moved, sizeof(moved), "%s.moved", folder);
	ck_assert_int_eq(rename(folder, moved), 0);
	ck_assert_int_eq(run("echo $AMPLXE_DATA_DIR", CUSTOM_STOP), 0);
	snprintf(expected, sizeof(expected), "%s\n", moved);
	ck_assert_str_eq(read_file(RESULT_CUSTOM_LOG), expected);
	ck_assert_int_eq(rename(moved, folder), 0);
}
END_TEST

START_TEST(ends)
{
	ck_assert_int_eq(run("exit 0", CUSTOM_STOP), 0);
	ck_assert_int_eq(run("exit 3", CUSTOM_STOP), 3);
	ck_assert_int_eq(run("/no/such/collector", CUSTOM_STOP), 127);
	ck_assert_int_eq(run("exit 128", CUSTOM_START), 128);
	custom_collector_end(&collector);
	ck_assert_int_eq(run("exit 139", CUSTOM_STOP), 139);
	ck_assert_int_eq(run("exit 255", CUSTOM_STOP), 255);
	struct custom_end end = run_for("kill -SEGV $$", CUSTOM_STOP, pids, 1);
	ck_assert(end.by_signal);
	ck_assert_int_eq(end.status, SIGSEGV);
}
END_TEST

/* Neither descriptors, terminal, process group nor ignored signals; output in a file for us only.
 */
START_TEST(what_it_is_given)
{
	struct stat status;
	int leak = dup2(STDERR_FILENO, 20); /* not closed on exec */
	sigset_t all;
	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, NULL);
	signal(SIGPIPE, SIG_IGN);
	umask(0);
	ck_assert_int_eq(leak, 20);
	ck_assert_int_eq(run("test -e /proc/$$/fd/20 || echo no 20; readlink /proc/$$/fd/0; "
			     "cut -d' ' -f 5-7 /proc/$$/stat | sed s/$$/self/g; "
			     "grep ^SigBlk /proc/self/status; sh -c 'kill -PIPE $$'; echo $? >&2",
			     CUSTOM_START),
			 0);
	ck_assert_str_eq(read_file(RESULT_CUSTOM_LOG),
			 "no 20\n/dev/null\nself self 0\nSigBlk:\t0000000000000000\n"
			 "141\n");
	ck_assert_int_eq(fstatat(directory, RESULT_CUSTOM_LOG, &status, 0), 0);
	ck_assert_uint_eq(status.st_mode & 0777, 0600);
	close(leak);
}
END_TEST

/* Start returns, though its background goes on with all its files. */
START_TEST(left_in_the_background)
{
	char path[sizeof(folder) + 8];
	snprintf(path, sizeof(path), "%s/out", folder);
	ck_assert_int_eq(mkfifo(path, 0600), 0);
	int held = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	ck_assert_int_ge(held, 0);
	/* A process with the other end of the pipe: its end is the pipe's. */
	ck_assert_int_eq(run("exec 5>$AMPLXE_DATA_DIR/out; sleep 1000 &", CUSTOM_START), 0);
	pid_t first = collector.first;
	ck_assert_int_gt(first, 0);
	ck_assert_int_eq(kill(-first, 0), 0);
	ck_assert(custom_collector_has_left(&collector));
	custom_collector_ask_left(&collector);
	fcntl(held, F_SETFL, 0);
	char byte;
	ck_assert_int_eq(read(held, &byte, 1), 0);
	close(held);
	while (custom_collector_has_left(&collector))
		usleep(1000);
	custom_collector_end(&collector);
	ck_assert_int_eq(collector.first, 0);
	ck_assert_int_eq(waitpid(-1, NULL, WNOHANG), -1);
	ck_assert(!custom_collector_has_left(&collector));
	custom_collector_ask_left(&collector);
	custom_collector_end(&collector);
}
END_TEST

/* A program with a parenthesis and a state in its name, deaf to requests. */
START_TEST(deaf_in_the_background)
{
	ck_assert_int_eq(run("trap '' TERM; cp /bin/sleep \"$AMPLXE_DATA_DIR/o) Z 1 (\"; "
			     "\"$AMPLXE_DATA_DIR/o) Z 1 (\" 1000 &",
			     CUSTOM_START),
			 0);
	pid_t first = collector.first;
	custom_collector_ask_left(&collector);
	ck_assert(custom_collector_has_left(&collector));
	custom_collector_end(&collector);
	/* Its end is seen by its group: the same number, which nobody has yet. */
	struct custom_collector same = {.first = first};
	while (custom_collector_has_left(&same))
		usleep(1000);
	remove_file("o) Z 1 (");
}
END_TEST

START_TEST(nothing_in_the_background)
{
	ck_assert_int_eq(run("true & wait", CUSTOM_START), 0);
	ck_assert_int_gt(collector.first, 0);
	ck_assert_int_eq(kill(-collector.first, 0), 0); /* the leader, a zombie */
	ck_assert(!custom_collector_has_left(&collector));
}
END_TEST

static void start_deaf(void)
{
	const struct custom_place place = {directory, pids, 1};
	collector.command = "trap '' TERM; echo deaf; sleep 1000 & sleep 1000";
	ck_assert_int_eq(custom_collector_run(&collector, CUSTOM_STOP, &place), 0);
	while (strcmp(read_file(RESULT_CUSTOM_LOG), "deaf\n") != 0)
		usleep(1000);
}

static void check_killed(void)
{
	struct custom_end end = await(CUSTOM_STOP);
	ck_assert(end.by_signal);
	ck_assert_int_eq(end.status, SIGKILL);
	ck_assert_int_eq(collector.first, 0);
}

START_TEST(killed_with_its_group)
{
	struct custom_end end;
	start_deaf();
	ck_assert(!custom_collector_has_ended(&collector, CUSTOM_STOP, &end));
	custom_collector_signal(&collector, SIGKILL);
	check_killed();
	custom_collector_signal(&collector, SIGKILL); /* to nobody */
	custom_collector_ask(&collector, SIGKILL, 1);
}
END_TEST

/* One request may come twice; a second one kills, in each step anew. */
START_TEST(asked_twice)
{
	struct custom_end end;
	uint64_t second = 1000000000;
	start_deaf();
	custom_collector_ask(&collector, SIGTERM, second);
	custom_collector_ask(&collector, SIGTERM, second + 1000);
	usleep(20000);
	ck_assert(!custom_collector_has_ended(&collector, CUSTOM_STOP, &end));
	custom_collector_ask(&collector, SIGTERM, 2 * second);
	check_killed();
	remove_file(RESULT_CUSTOM_LOG);
	start_deaf();
	custom_collector_ask(&collector, SIGTERM, 3 * second);
	usleep(20000);
	ck_assert(!custom_collector_has_ended(&collector, CUSTOM_STOP, &end));
	custom_collector_ask(&collector, SIGTERM, 4 * second);
	check_killed();
}
END_TEST

START_TEST(cannot_run)
{
	const struct custom_place gone = {-1, pids, 1};
	collector.command = "true";
	ck_assert_int_eq(custom_collector_run(&collector, CUSTOM_START, &gone), -1);
	ck_assert_int_eq(collector.running, 0);
}
END_TEST

START_TEST(tidies)
{
	ck_assert_int_eq(run("true", CUSTOM_START), 0);
	ck_assert_int_eq(faccessat(directory, RESULT_CUSTOM_LOG, F_OK, 0), 0);
	custom_collector_tidy(directory);
	ck_assert_int_eq(faccessat(directory, RESULT_CUSTOM_LOG, F_OK, 0), -1);
	custom_collector_tidy(directory);
	ck_assert_int_eq(run("echo words", CUSTOM_STOP), 0);
	custom_collector_tidy(directory);
	ck_assert_str_eq(read_file(RESULT_CUSTOM_LOG), "words\n");
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("custom_collector");
	TCase *tcase = tcase_create("custom_collector");
	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_add_test(tcase, what_it_is_told);
	tcase_add_test(tcase, many_processes);
	tcase_add_test(tcase, steps);
	tcase_add_test(tcase, moved_directory);
	tcase_add_test(tcase, ends);
	tcase_add_test(tcase, what_it_is_given);
	tcase_add_test(tcase, left_in_the_background);
	tcase_add_test(tcase, deaf_in_the_background);
	tcase_add_test(tcase, nothing_in_the_background);
	tcase_add_test(tcase, killed_with_its_group);
	tcase_add_test(tcase, asked_twice);
	tcase_add_test(tcase, cannot_run);
	tcase_add_test(tcase, tidies);
	suite_add_tcase(suite, tcase);
	return run_suite(suite);
}
