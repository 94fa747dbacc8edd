/* Which file is the mapped one: each rule, with files that are nearly it. */
#include "program/mapped_file.h"
#include "tests/collector/folder_fixture.h"
#include "tests/program/program_fixture.h"
#include "tests/support/suite.h"
#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { NO_PROCESS = 5000000 /* above what the kernel gives out */ };

static char path[64];
static struct program_fixture program;
static struct mapped_file file;
static int64_t changed_ns;
static char taken[128];
static int refusal;

static int take(void *user, int fd, const struct stat *status, const char *place)
{
	ck_assert_ptr_eq(user, &file);
	ck_assert_int_ge(fd, 0);
	ck_assert(S_ISREG(status->st_mode));
	snprintf(taken, sizeof(taken), "%s", place);
	return refusal;
}

static int open_file(void)
{
	taken[0] = '\0';
	changed_ns = 0;
	return mapped_file_open(&file, take, &file, &changed_ns);
}

static int64_t now_ns(void)
{
	struct timespec now;
	clock_gettime(CLOCK_REALTIME, &now);
	return now.tv_sec * 1000000000LL + now.tv_nsec;
}

/* Waits until files that are changed get another date than before. */
static int64_t pass_a_tick(void)
{
	usleep(20000);
	return now_ns();
}

static uint64_t inode_of(const char *name)
{
	struct stat status;
	ck_assert_int_eq(stat(name, &status), 0);
	return status.st_ino;
}

static void setup(void)
{
	snprintf(path, sizeof(path), "%s/program", folder_fixture_make());
	program = program_fixture_make(1, 20);
	program_fixture_write(path, &program, sizeof(program));
	file = (struct mapped_file){.path = path};
	refusal = 0;
}

START_TEST(by_build_id)
{
	file.build_id = program.id;
	for (file.build_id_size = 19; file.build_id_size <= 21; file.build_id_size++)
		ck_assert_int_eq(open_file(), file.build_id_size == 20 ? 0 : EEXIST);
	file.build_id_size = 20;
	file.inode = inode_of(path) + 1; /* a copy is as good */
	file.mapped_ns = 1;
	ck_assert_int_eq(open_file(), 0);
	program.id[19]++;
	ck_assert_int_eq(open_file(), EEXIST);
	ck_assert_str_eq(taken, "");
	program_fixture_write(path, "text", 4);
	ck_assert_int_eq(open_file(), EEXIST);
}
END_TEST

START_TEST(by_inode)
{
	file.inode = inode_of(path);
	ck_assert_int_eq(open_file(), 0);
	ck_assert_str_eq(taken, path);
	file.inode++;
	ck_assert_int_eq(open_file(), EEXIST);
	ck_assert_str_eq(taken, "");
	file.inode = 0; /* not known: not compared */
	ck_assert_int_eq(open_file(), 0);
}
END_TEST

START_TEST(by_its_last_change)
{
	struct timespec dates[2] = {{.tv_nsec = UTIME_OMIT}, {.tv_sec = 1}};
	file.mapped_ns = pass_a_tick();
	ck_assert_int_eq(open_file(), 0);
	int64_t before = pass_a_tick();
	ck_assert_int_eq(chmod(path, 0700), 0);
	ck_assert_int_eq(utimensat(AT_FDCWD, path, dates, 0), 0); /* hides nothing */
	int64_t after = pass_a_tick();
	ck_assert_int_eq(open_file(), ESTALE);
	ck_assert(changed_ns > before - 20000000 && changed_ns < after);
	int64_t changed = changed_ns;
	file.mapped_ns = changed;
	ck_assert_int_eq(open_file(), 0);
	file.mapped_ns = changed - 1;
	ck_assert_int_eq(open_file(), ESTALE);
	file.mapped_ns = before - 20000000;
	file.build_id = program.id;
	file.build_id_size = 20; /* its bytes are what was mapped */
	ck_assert_int_eq(open_file(), 0);
}
END_TEST

/* Who has the file mapped, or is it, until it is killed. */
static pid_t hold(bool runs)
{
	int ready[2];
	char byte;
	ck_assert_int_eq(pipe2(ready, O_CLOEXEC), 0);
	pid_t pid = fork();
	if (pid == 0 && runs)
		_exit(execl(path, path, "1000", NULL) == 0);
	if (pid == 0) {
		int fd = open(path, O_RDONLY);
		if (mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, fd, 0) == MAP_FAILED)
			_exit(1);
		close(fd);
		close(ready[1]);
		pause();
		_exit(0);
	}
	close(ready[1]);
	ck_assert_int_eq(read(ready[0], &byte, 1), 0);
	close(ready[0]);
	return pid;
}

static void end(pid_t pid)
{
	kill(pid, SIGKILL);
	ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
}

static void copy_sleep(void)
{
	char command[128];
	snprintf(command, sizeof(command), "cp /bin/sleep %s", path);
	ck_assert_int_eq(system(command), 0);
}

/* Loop: mapped, run. What was deleted is found by who still has it, and by nobody else. */
START_TEST(deleted)
{
	char gone[80];
	snprintf(gone, sizeof(gone), "%s (deleted)", path);
	copy_sleep();
	file.inode = inode_of(path);
	file.mapped_ns = pass_a_tick();
	pid_t pid = hold(_i == 1);
	file.pid = (uint32_t)pid;
	pass_a_tick(); /* deleting it changes it, after that date */
	ck_assert_int_eq(unlink(path), 0);
	if (_i == 1 || geteuid() == 0) {
		ck_assert_int_eq(open_file(), 0);
		file.path = gone; /* so it was called when it was mapped */
		ck_assert_int_eq(open_file(), 0);
		file.path = path;
	}
	file.inode++;
	ck_assert_int_ne(open_file(), 0);
	file.inode = 0; /* nothing would say that it is the one */
	ck_assert_int_eq(open_file(), ENOENT);
	file.inode--;
	file.path = "/nonexistent/file";
	ck_assert_int_eq(open_file(), ENOENT);
	end(pid);
	file.path = path;
	ck_assert_int_eq(open_file(), ENOENT);
}
END_TEST

/* The time of modification of a deleted file counts, unless it is to come: that was set. */
START_TEST(deleted_and_dated)
{
	struct timespec dates[2] = {{.tv_nsec = UTIME_OMIT}, {.tv_sec = 1ll << 33}};
	copy_sleep();
	int64_t before = now_ns() - 100000000;
	pass_a_tick();
	ck_assert_int_eq(utimensat(AT_FDCWD, path, _i == 0 ? NULL : dates, 0), 0);
	file.inode = inode_of(path);
	file.mapped_ns = before;
	pid_t pid = hold(true);
	file.pid = (uint32_t)pid;
	ck_assert_int_eq(open_file(), ESTALE);
	ck_assert_int_eq(unlink(path), 0);
	ck_assert_int_eq(open_file(), _i == 0 ? ESTALE : 0);
	end(pid);
}
END_TEST

/* Of a mapping that is there the process's own places come first, else the file here. */
START_TEST(order_of_places)
{
	char root[128];
	snprintf(root, sizeof(root), "/proc/%d/root%s", getpid(), path);
	file.pid = (uint32_t)getpid();
	ck_assert_int_eq(open_file(), 0);
	ck_assert_str_eq(taken, path);
	file.start = 1; /* nothing is mapped there */
	file.end = 2;
	file.inode = inode_of(path);
	ck_assert_int_eq(open_file(), 0);
	ck_assert_str_eq(taken, root);
	file.pid = NO_PROCESS;
	ck_assert_int_eq(open_file(), 0);
	ck_assert_str_eq(taken, path);
	copy_sleep(); /* its program, whatever it is called */
	file.inode = inode_of(path);
	pid_t pid = hold(true);
	file.pid = (uint32_t)pid;
	file.path = "/nonexistent/file";
	ck_assert_int_eq(open_file(), 0);
	snprintf(root, sizeof(root), "/proc/%d/exe", pid);
	ck_assert_str_eq(taken, root);
	end(pid);
}
END_TEST

/* What is of no use is no file of another place. */
START_TEST(errors)
{
	refusal = ENOEXEC;
	ck_assert_int_eq(open_file(), ENOEXEC);
	refusal = EFBIG;
	ck_assert_int_eq(open_file(), EFBIG);
	refusal = ENFILE;
	ck_assert_int_eq(open_file(), EMFILE);
	refusal = 0;
	file.pid = NO_PROCESS;
	file.end = 1;
	file.path = "/nonexistent/file";
	ck_assert_int_eq(open_file(), ENOENT);
	file.path = "/dev/null";
	ck_assert_int_eq(open_file(), ENXIO);
	file.path = "/";
	ck_assert_int_eq(open_file(), ENXIO);
	file.path = "";
	ck_assert_int_eq(open_file(), ENOENT);
	file.path = "/usr/../bin/sleep";
	ck_assert_int_eq(open_file(), ENOENT);
}
END_TEST

START_TEST(endless_path)
{
	char *endless = malloc(100000);
	memset(endless, '/', 99999);
	endless[99999] = '\0';
	file.path = endless;
	file.pid = (uint32_t)getpid();
	file.inode = 1;
	ck_assert_int_ne(open_file(), 0);
	file.end = 1;
	ck_assert_int_ne(open_file(), 0);
	free(endless);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("mapped_file");
	TCase *tcase = tcase_create("mapped_file");
	tcase_add_checked_fixture(tcase, setup, folder_fixture_remove);
	tcase_add_test(tcase, by_build_id);
	tcase_add_test(tcase, by_inode);
	tcase_add_test(tcase, by_its_last_change);
	tcase_add_loop_test(tcase, deleted, 0, 2);
	tcase_add_loop_test(tcase, deleted_and_dated, 0, 2);
	tcase_add_test(tcase, order_of_places);
	tcase_add_test(tcase, errors);
	tcase_add_test(tcase, endless_path);
	suite_add_tcase(suite, tcase);
	return run_suite(suite);
}
