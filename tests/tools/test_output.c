/* What a terminal gets of a product, and a file. */
#include "tests/tools/build_result.h"
#include "tools/output.h"
#include <check.h>
#include <fcntl.h>
#include <pty.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

/* A terminal that shows what it gets as it is. */
static int open_terminal(int *terminal)
{
	int master;
	struct termios raw;
	ck_assert_int_eq(openpty(&master, terminal, NULL, NULL, NULL), 0);
	ck_assert_int_eq(tcgetattr(*terminal, &raw), 0);
	cfmakeraw(&raw);
	ck_assert_int_eq(tcsetattr(*terminal, TCSANOW, &raw), 0);
	return master;
}

static void write_pieces(const char *path, const char *const *pieces)
{
	struct output output;
	ck_assert_int_eq(output_open(&output, path), 0);
	for (; *pieces; pieces++) {
		fputs(*pieces, output.stream);
		fflush(output.stream);
	}
	ck_assert_int_eq(output_finish(&output), 0);
}

static void expect_read(int fd, const char *expected)
{
	char text[256] = "";
	size_t wanted = strlen(expected);
	size_t size = 0;
	while (size < wanted) {
		ssize_t now = read(fd, text + size, sizeof(text) - 1 - size);
		ck_assert_int_gt(now, 0);
		size += (size_t)now;
	}
	ck_assert_str_eq(text, expected);
}

/* A character that two writes share is one. */
static const char *const pieces[] = {"=cmd\t\033]0;x\007\n",
				     "gr\xc3",
				     "\xbc\xc3\x9f, \xe2",
				     "\x80",
				     "\xae.\n",
				     "\xe2\x80",
				     NULL};

START_TEST(test_terminal)
{
	int terminal;
	int master = open_terminal(&terminal);
	write_pieces(ttyname(terminal), pieces);
	expect_read(master, "=cmd\t\\x1b]0;x\\x07\ngr\xc3\xbc\xc3\x9f, \\u202e.\n\\xe2\\x80");
	close(terminal);
	close(master);
}
END_TEST

START_TEST(test_file)
{
	char directory[32];
	char path[64];
	build_directory(directory);
	snprintf(path, sizeof(path), "%s/out", directory);
	write_pieces(path, pieces);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	expect_read(fd, "=cmd\t\033]0;x\007\ngr\xc3\xbc\xc3\x9f, \xe2\x80\xae.\n\xe2\x80");
	close(fd);
	build_directory_remove(directory);
}
END_TEST

/* COLUMNS holds wherever the output goes. */
START_TEST(test_width)
{
	struct winsize size = {.ws_col = 132};
	struct output output;
	int terminal;
	int master = open_terminal(&terminal);
	ck_assert_int_eq(ioctl(terminal, TIOCSWINSZ, &size), 0);
	unsetenv("COLUMNS");
	ck_assert_int_eq(output_open(&output, ttyname(terminal)), 0);
	ck_assert_uint_eq(output_width(&output), 132);
	setenv("COLUMNS", "100", 1);
	ck_assert_uint_eq(output_width(&output), 100);
	ck_assert_int_eq(output_finish(&output), 0);
	ck_assert_int_eq(output_open(&output, "/dev/null"), 0);
	ck_assert_uint_eq(output_width(&output), 100);
	setenv("COLUMNS", "wide", 1);
	ck_assert_uint_eq(output_width(&output), 0);
	ck_assert_int_eq(output_finish(&output), 0);
	close(terminal);
	close(master);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("output");
	TCase *tcase = tcase_create("output");
	SRunner *runner = srunner_create(suite);

	tcase_add_test(tcase, test_terminal);
	tcase_add_test(tcase, test_file);
	tcase_add_test(tcase, test_width);
	suite_add_tcase(suite, tcase);
	srunner_run_all(runner, CK_ENV);
	int failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed != 0;
}
