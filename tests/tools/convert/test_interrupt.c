/* Signals while long work runs, and while what it found is written. */
#include "tests/support/suite.h"
#include "tools/convert/interrupt.h"
#include <check.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static const char words[] = "stopped; r.tb5 is whole";

static const int numbers[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};

/* What a child does that was started with its error output and a pipe for what it has done. */
typedef void part(int done);

static void say(int done, char what)
{
	ck_assert_int_eq(write(done, &what, 1), 1);
}

/* Runs the work in a child; sends it the signal once it has said something. Sets what it said then,
 * and what it wrote to its error output. Returns its status, as wait has it. */
static int run(part *work, int number, char *said, size_t size, char *errors)
{
	int done[2];
	int error[2];
	int status;
	ck_assert_int_eq(pipe(done), 0);
	ck_assert_int_eq(pipe(error), 0);
	pid_t child = fork();
	if (child == 0) {
		/* check has handlers of its own, which end the whole group. */
		for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
			signal(numbers[i], SIG_DFL);
		dup2(error[1], STDERR_FILENO);
		close(error[0]);
		close(error[1]);
		close(done[0]);
		work(done[1]);
		_exit(0);
	}
	close(done[1]);
	close(error[1]);
	ck_assert_int_eq(read(done[0], said, 1), 1);
	ck_assert_int_eq(kill(child, number), 0);
	size_t length = 1;
	for (ssize_t got = 1; got > 0 && length < size - 1; length += (size_t)got)
		got = read(done[0], said + length, size - 1 - length);
	said[length] = '\0';
	ssize_t got = read(error[0], errors, size - 1);
	errors[got > 0 ? got : 0] = '\0';
	ck_assert_int_eq(waitpid(child, &status, 0), child);
	close(done[0]);
	close(error[0]);
	return status;
}

static void say_clean(void *user)
{
	say(*(const int *)user, 'c');
}

/* Never ends by itself. */
static void read_symbols(int done)
{
	struct interrupt interrupt;
	interrupt_begin(&interrupt);
	interrupt_watch_with(&interrupt, words, say_clean, &done);
	say(done, 'r');
	for (;;)
		pause();
}

START_TEST(test_ends_at_once)
{
	char said[64];
	char errors[64];
	int status = run(read_symbols, numbers[_i], said, sizeof(said), errors);
	ck_assert(WIFSIGNALED(status));
	ck_assert_int_eq(WTERMSIG(status), numbers[_i]);
	ck_assert_str_eq(said, "rc");
	ck_assert_ptr_nonnull(strstr(errors, words));
	ck_assert_ptr_eq(strchr(errors, '\n'), errors + strlen(errors) - 1);
}
END_TEST

/* Waits until the signal has come, and then takes its time. */
static void write_symbols(int done)
{
	struct interrupt interrupt;
	sigset_t pending;
	interrupt_watch(&interrupt, words);
	interrupt_hold(&interrupt);
	say(done, 'w');
	do
		sigpending(&pending);
	while (!sigismember(&pending, SIGTERM));
	say(done, 'x');
	interrupt_release(&interrupt);
	say(done, 'y');
}

START_TEST(test_writes_to_the_end)
{
	char said[64];
	char errors[64];
	int status = run(write_symbols, SIGTERM, said, sizeof(said), errors);
	ck_assert(WIFSIGNALED(status));
	ck_assert_int_eq(WTERMSIG(status), SIGTERM);
	ck_assert_str_eq(said, "wx");
	ck_assert_str_eq(errors, "");
}
END_TEST

/* As under nohup. */
static void read_ignoring(int done)
{
	struct interrupt interrupt;
	signal(SIGHUP, SIG_IGN);
	interrupt_watch(&interrupt, words);
	say(done, 'r');
	usleep(50000);
	interrupt_hold(&interrupt);
	interrupt_release(&interrupt);
	say(done, 'w');
}

START_TEST(test_ignored_ones_stay_so)
{
	char said[64];
	char errors[64];
	int status = run(read_ignoring, SIGHUP, said, sizeof(said), errors);
	ck_assert(WIFEXITED(status));
	ck_assert_str_eq(said, "rw");
	ck_assert_str_eq(errors, "");
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("interrupt");
	TCase *tcase = tcase_create("interrupt");
	tcase_add_loop_test(tcase, test_ends_at_once, 0, sizeof(numbers) / sizeof(numbers[0]));
	tcase_add_test(tcase, test_writes_to_the_end);
	tcase_add_test(tcase, test_ignored_ones_stay_so);
	suite_add_tcase(suite, tcase);
	return run_suite(suite);
}
