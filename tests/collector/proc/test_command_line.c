/* Command lines, of our own process and of others. */
#include "collector/proc/command_line.h"
#include "tests/support/suite.h"
#include <check.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

START_TEST(join)
{
	char text[32];
	static const char *const argv[] = {"app", "--name", "a b", "", "c$d", NULL};
	command_line_join(text, sizeof(text), argv);
	ck_assert_str_eq(text, "app --name 'a b' '' 'c$d'");
	command_line_join(text, 10, argv);
	ck_assert_str_eq(text, "app --nam");
	command_line_join(text, sizeof(text), argv + 5);
	ck_assert_str_eq(text, "");
}
END_TEST

/* A process named cat that waits for input that never comes; what its arguments say is not looked
 * at by then. It reads standard input first. */
static pid_t start(const char *const *argv)
{
	int ready[2];
	int input[2];
	char byte;
	ck_assert_int_eq(pipe2(ready, O_CLOEXEC), 0);
	ck_assert_int_eq(pipe2(input, O_CLOEXEC), 0);
	pid_t pid = fork();
	if (pid == 0) {
		dup2(input[0], STDIN_FILENO);
		execvp("cat", (char *const *)(uintptr_t)argv);
		_exit(127);
	}
	close(ready[1]);
	ck_assert_int_eq(read(ready[0], &byte, 1), 0); /* its end is closed by the exec */
	close(ready[0]);
	close(input[0]); /* its writing end stays open until this program ends */
	return pid;
}

static void stop(pid_t pid)
{
	kill(pid, SIGKILL);
	ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
}

START_TEST(of_a_process)
{
	static const char *const several[] = {"my cat", "-", NULL};
	static const char *const title[] = {"cat: worker 3   ", NULL};
	char text[COMMAND_LINE_MAX] = "as it was";
	pid_t pid = start(several);
	ck_assert(!command_line_read(NULL, (uint32_t)pid, "other", text));
	ck_assert_str_eq(text, "as it was");
	ck_assert(command_line_read(NULL, (uint32_t)pid, "cat", text));
	ck_assert_str_eq(text, "'my cat' -");
	stop(pid);
	ck_assert(!command_line_read(NULL, (uint32_t)pid, "cat", text));
	/* one text, as programs write it over their arguments */
	pid = start(title);
	ck_assert(command_line_read(NULL, (uint32_t)pid, "cat", text));
	ck_assert_str_eq(text, "cat: worker 3");
	stop(pid);
}
END_TEST

/* However long, it is cut to the size promised. */
START_TEST(long_one)
{
	static char word[60000];
	const char *const argv[] = {"cat", "-", word, NULL};
	char text[COMMAND_LINE_MAX];
	memset(word, '\'', sizeof(word) - 1);
	memcpy(word, "1 ", 2);
	pid_t pid = start(argv);
	bool is_read = command_line_read(NULL, (uint32_t)pid, "cat", text);
	stop(pid);
	ck_assert(is_read);
	ck_assert_uint_eq(strlen(text), COMMAND_LINE_MAX - 1);
	ck_assert_ptr_nonnull(strstr(text, "cat - '1 ''"));
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("command line");
	TCase *tcase = tcase_create("command line");

	tcase_add_test(tcase, join);
	tcase_add_test(tcase, of_a_process);
	tcase_add_test(tcase, long_one);
	suite_add_tcase(suite, tcase);
	return run_suite(suite);
}
