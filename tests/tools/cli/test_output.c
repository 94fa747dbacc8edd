/* What a terminal gets of a product, and a file; files that are whole or not there. */
#include "tests/support/suite.h"
#include "tests/tools/build_result.h"
#include "tools/cli/output.h"
#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <pty.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
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

/* What is kept is as the terminal would show it, and nothing of it goes there. */
START_TEST(test_kept)
{
	int terminal;
	int master = open_terminal(&terminal);
	struct output output;
	ck_assert_int_eq(output_open(&output, ttyname(terminal)), 0);
	output_keep(&output);
	for (int i = 0; i < 2; i++) {
		size_t size;
		fprintf(output.stream, "%d\033[H\n", i);
		char *kept = output_take(&output, &size);
		ck_assert_uint_eq(size, strlen("0\\x1b[H\n"));
		ck_assert_int_eq(memcmp(kept, i ? "1\\x1b[H\n" : "0\\x1b[H\n", size), 0);
		free(kept);
		free(output_take(&output, &size));
		ck_assert_uint_eq(size, 0);
	}
	fputs("dropped\n", output.stream);
	output_abandon(&output);
	int waiting;
	ck_assert_int_eq(ioctl(master, FIONREAD, &waiting), 0);
	ck_assert_int_eq(waiting, 0);
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

static char directory[32];

static const char *in_directory(const char *name)
{
	static char path[64];
	snprintf(path, sizeof(path), "%s/%s", directory, name);
	return path;
}

static void make_link(const char *target, const char *name)
{
	ck_assert_int_eq(symlink(target, in_directory(name)), 0);
}

static void write_text(const char *path, const char *text)
{
	write_pieces(path, (const char *const[]){text, NULL});
}

static void expect_text(const char *name, const char *expected)
{
	char text[64] = "";
	int fd = open(in_directory(name), O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	ck_assert_int_ge(fd, 0);
	ck_assert_int_ge(read(fd, text, sizeof(text) - 1), 0);
	ck_assert_str_eq(text, expected);
	close(fd);
}

static void expect_link(const char *name, const char *expected)
{
	char target[64] = "";
	ck_assert_int_gt(readlink(in_directory(name), target, sizeof(target) - 1), 0);
	ck_assert_str_eq(target, expected);
}

/* The user's own links stay, and what they lead to changes, as with other tools. */
START_TEST(test_own_links)
{
	struct output output;
	build_directory(directory);
	ck_assert_int_eq(mkdir(in_directory("folder"), 0700), 0);
	write_text(in_directory("folder/file"), "old");
	ck_assert_int_eq(chmod(in_directory("folder/file"), 0640), 0);
	make_link("file", "folder/near");
	make_link("folder/near", "far");
	ck_assert_int_eq(output_open(&output, in_directory("far")), 0);
	fputs("left", output.stream);
	output_abandon(&output);
	expect_text("folder/file", "old");
	write_text(in_directory("far"), "new");
	expect_text("folder/file", "new");
	struct stat status;
	ck_assert_int_eq(stat(in_directory("folder/file"), &status), 0);
	ck_assert_uint_eq(status.st_mode & 0777, 0640);
	expect_link("folder/near", "file");
	expect_link("far", "folder/near");
	make_link("folder/made", "dangling");
	write_text(in_directory("dangling"), "made");
	expect_text("folder/made", "made");
	expect_link("dangling", "folder/made");
	make_link("loop", "loop");
	ck_assert_int_eq(output_open(&output, in_directory("loop")), ELOOP);
	make_link("/dev/full", "device");
	ck_assert_int_eq(output_open(&output, in_directory("device")), 0);
	fputs("lost", output.stream);
	ck_assert_int_eq(output_finish(&output), ENOSPC);
	expect_link("device", "/dev/full");
	build_directory_remove(directory);
}
END_TEST

/* Nobody else's link is followed, wherever in a chain. Only root can make one. */
START_TEST(test_links_of_others)
{
	struct output output;
	build_directory(directory);
	write_text(in_directory("file"), "old");
	make_link("file", "theirs");
	make_link("theirs", "ours");
	ck_assert_int_eq(lchown(in_directory("theirs"), 65534, 65534), 0);
	ck_assert_int_eq(output_open(&output, in_directory("theirs")), EACCES);
	ck_assert_int_eq(output_open(&output, in_directory("ours")), EACCES);
	expect_text("file", "old");
	expect_link("theirs", "file");
	build_directory_remove(directory);
}
END_TEST

/* /dev/stdout and the like: what the open file has before is not ours to replace. */
START_TEST(test_open_file)
{
	char path[32];
	build_directory(directory);
	write_text(in_directory("file"), "first ");
	int fd = open(in_directory("file"), O_WRONLY | O_CLOEXEC);
	snprintf(path, sizeof(path), "/dev/fd/%d", fd);
	write_text(path, "second");
	expect_text("file", "first second");
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	make_link(path, "link");
	write_text(in_directory("link"), " third");
	expect_text("file", "first second third");
	close(fd);
	build_directory_remove(directory);
}
END_TEST

static void expect_empty(const char *name)
{
	ck_assert_int_eq(rmdir(in_directory(name)), 0);
}

/* Whoever owns the directory around may put a link in the folder's place while the output is
 * written: it goes where it was opened. */
START_TEST(test_led_elsewhere)
{
	struct output outputs[2];
	char moved[64];
	build_directory(directory);
	snprintf(moved, sizeof(moved), "%s", in_directory("moved"));
	ck_assert_int_eq(mkdir(in_directory("folder"), 0700), 0);
	ck_assert_int_eq(mkdir(in_directory("victim"), 0700), 0);
	ck_assert_int_eq(output_open(&outputs[0], in_directory("folder/kept")), 0);
	ck_assert_int_eq(output_open(&outputs[1], in_directory("folder/left")), 0);
	ck_assert_int_eq(rename(in_directory("folder"), moved), 0);
	make_link("victim", "folder");
	fputs("whole", outputs[0].stream);
	ck_assert_int_eq(output_finish(&outputs[0]), 0);
	output_abandon(&outputs[1]);
	expect_text("moved/kept", "whole");
	ck_assert_int_eq(unlink(in_directory("moved/kept")), 0);
	expect_empty("moved");
	expect_empty("victim");
	build_directory_remove(directory);
}
END_TEST

START_TEST(test_no_file)
{
	struct output output;
	build_directory(directory);
	ck_assert_int_eq(mkdir(in_directory("folder"), 0700), 0);
	ck_assert_int_eq(output_open(&output, in_directory("folder")), EISDIR);
	ck_assert_int_eq(output_open(&output, in_directory("folder/")), EISDIR);
	ck_assert_int_eq(output_open(&output, in_directory("nowhere/file")), ENOENT);
	expect_empty("folder");
	build_directory_remove(directory);
}
END_TEST

/* Some file systems say only then that a disk is full. */
START_TEST(test_descriptor_that_cannot_be_closed)
{
	struct output output;
	build_directory(directory);
	ck_assert_int_eq(output_open(&output, in_directory("file")), 0);
	close(output.fd);
	ck_assert_int_eq(output_finish(&output), EBADF);
	ck_assert_int_eq(rmdir(directory), 0);
}
END_TEST

static char folder[32];
static char written[64];

static void set_up(void)
{
	build_directory(folder);
	snprintf(written, sizeof(written), "%s/written", folder);
}

static void tear_down(void)
{
	build_directory_remove(folder);
}

static void expect_content(const char *name, const char *expected)
{
	char content[64] = "";
	FILE *file = fopen(name, "r");
	ck_assert_ptr_nonnull(file);
	content[fread(content, 1, sizeof(content) - 1, file)] = '\0';
	fclose(file);
	ck_assert_str_eq(content, expected);
}

static unsigned count_files(void)
{
	char command[64];
	unsigned count = 0;
	snprintf(command, sizeof(command), "ls -A '%s' | wc -l", folder);
	FILE *pipe = popen(command, "r");
	ck_assert_int_eq(fscanf(pipe, "%u", &count), 1);
	pclose(pipe);
	return count;
}

START_TEST(test_output_replaces_whole_files_only)
{
	struct output output;
	ck_assert_int_eq(output_open(&output, written), 0);
	fputs("first", output.stream);
	ck_assert_int_eq(access(written, F_OK), -1);
	ck_assert_int_eq(output_finish(&output), 0);
	expect_content(written, "first");
	ck_assert_int_eq(output_open(&output, written), 0);
	fputs("second", output.stream);
	output_abandon(&output);
	expect_content(written, "first");
	ck_assert_uint_eq(count_files(), 1);
}
END_TEST

/* A failure far below ends the program: nothing is left, and an older file stays. */
START_TEST(test_output_when_the_program_ends)
{
	for (size_t i = 0; i < 2; i++) {
		int status;
		pid_t child = fork();
		if (child == 0) {
			struct output output;
			ck_assert_int_eq(output_open(&output, written), 0);
			fputs("new", output.stream);
			exit(count_files() == i + 1 ? 3 : 4);
		}
		ck_assert_int_eq(waitpid(child, &status, 0), child);
		ck_assert(WIFEXITED(status) && WEXITSTATUS(status) == 3);
		ck_assert_uint_eq(count_files(), i);
		write_pieces(written, (const char *const[]){"old", NULL});
	}
	expect_content(written, "old");
}
END_TEST

static void expect_mode_after_output(mode_t mask, mode_t mode)
{
	struct output output;
	struct stat status;
	mode_t before = umask(mask);
	ck_assert_int_eq(output_open(&output, written), 0);
	umask(before);
	ck_assert_int_eq(output_finish(&output), 0);
	ck_assert_int_eq(stat(written, &status), 0);
	ck_assert_uint_eq(status.st_mode & 0777, mode);
}

START_TEST(test_output_is_for_its_owner)
{
	expect_mode_after_output(0, 0600);
	ck_assert_int_eq(chmod(written, 0644), 0);
	expect_mode_after_output(0777, 0644);
	ck_assert_int_eq(unlink(written), 0);
	expect_mode_after_output(0777, 0600);
}
END_TEST

START_TEST(test_output_errors)
{
	struct output output;
	ck_assert_int_eq(output_open(&output, "/nonexistent/directory/file"), ENOENT);
	ck_assert_int_eq(output_open(&output, "/dev/full"), 0);
	fputs("lost", output.stream);
	ck_assert_int_eq(output_finish(&output), ENOSPC);
	/* more than a buffer: the error comes before the end */
	ck_assert_int_eq(output_open(&output, "/dev/full"), 0);
	for (int i = 0; i < 100000; i++)
		fputs("lost", output.stream);
	ck_assert_int_eq(output_finish(&output), ENOSPC);
	ck_assert_int_eq(output_open(&output, "/dev/null"), 0);
	ck_assert_uint_eq(output_width(&output), 0);
	ck_assert_int_eq(output_finish(&output), 0);
}
END_TEST

/* As much as goes through without leaving anything for the end. */
static int write_blocks(const char *to)
{
	static char block[65536];
	struct output output;
	memset(block, 'x', sizeof(block));
	ck_assert_int_eq(output_open(&output, to), 0);
	for (int i = 0; i < 64; i++)
		fwrite(block, 1, sizeof(block), output.stream);
	return output_finish(&output);
}

/* A reader that has seen enough is no failure, whenever it goes; what failed first is said. */
START_TEST(test_output_without_reader)
{
	int ends[2];
	signal(SIGPIPE, SIG_IGN);
	ck_assert_int_eq(write_blocks("/dev/full"), ENOSPC);
	ck_assert_int_eq(pipe(ends), 0);
	close(ends[0]);
	ck_assert_int_eq(dup2(ends[1], STDOUT_FILENO), STDOUT_FILENO);
	ck_assert_int_eq(write_blocks("-"), 0);
	ck_assert_int_eq(write_blocks(NULL), 0);
	/* still there for what comes next */
	ck_assert_int_ge(fcntl(STDOUT_FILENO, F_GETFD), 0);
	ck_assert_str_eq(output_name("-"), "standard output");
	ck_assert_str_eq(output_name(NULL), "standard output");
}
END_TEST

static int fail_to_close(void *cookie)
{
	(void)cookie;
	return -1;
}

/* A failure that nothing says the reason of is one. */
START_TEST(test_output_that_cannot_be_closed)
{
	static const cookie_io_functions_t functions = {.close = fail_to_close};
	struct output output;
	ck_assert_int_eq(output_open(&output, written), 0);
	fclose(output.stream);
	output.stream = fopencookie(NULL, "w", functions);
	errno = 0;
	ck_assert_int_eq(output_finish(&output), EIO);
	ck_assert_uint_eq(count_files(), 0);
}
END_TEST

/* A file of which not all could be written is not there. */
START_TEST(test_output_that_does_not_fit)
{
	struct rlimit limit = {100000, 100000};
	signal(SIGXFSZ, SIG_IGN);
	ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
	ck_assert_int_eq(write_blocks(written), EFBIG);
	ck_assert_uint_eq(count_files(), 0);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("output");
	TCase *tcase = tcase_create("output");

	tcase_add_test(tcase, test_terminal);
	tcase_add_test(tcase, test_kept);
	tcase_add_test(tcase, test_file);
	tcase_add_test(tcase, test_width);
	tcase_add_test(tcase, test_own_links);
	if (geteuid() == 0)
		tcase_add_test(tcase, test_links_of_others);
	else
		printf("skipped - links of others: only root can make them\n");
	tcase_add_test(tcase, test_open_file);
	tcase_add_test(tcase, test_led_elsewhere);
	tcase_add_test(tcase, test_no_file);
	tcase_add_test(tcase, test_descriptor_that_cannot_be_closed);
	suite_add_tcase(suite, tcase);
	TCase *files = tcase_create("whole files");
	tcase_set_timeout(files, 60);
	tcase_add_checked_fixture(files, set_up, tear_down);
	tcase_add_test(files, test_output_replaces_whole_files_only);
	tcase_add_test(files, test_output_when_the_program_ends);
	tcase_add_test(files, test_output_is_for_its_owner);
	tcase_add_test(files, test_output_errors);
	tcase_add_test(files, test_output_without_reader);
	tcase_add_test(files, test_output_that_cannot_be_closed);
	tcase_add_test(files, test_output_that_does_not_fit);
	suite_add_tcase(suite, files);
	return run_suite(suite);
}
