/* What is known of a process that generates code: its start, where its perf map is. */
#include "collector/image/perf_map.h"
#include "tests/support/suite.h"
#include <check.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { NO_PROCESS = 5000000 }; /* above what the kernel gives out */

static char folder[64];

static void make_folder(void)
{
	snprintf(folder, sizeof(folder), "/tmp/test_perf_map.XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(folder));
}

static void remove_folder(void)
{
	umount2(folder, MNT_DETACH); /* of one test */
	ck_assert_int_eq(rmdir(folder), 0);
}

static void expect_path(uint32_t pid, const char *before, uint32_t inner)
{
	char expected[128];
	snprintf(expected, sizeof(expected), "%s/tmp/perf-%u.map", before, inner);
	char *path = perf_map_path(pid);
	ck_assert_str_eq(path, expected);
	free(path);
}

/* A child that enters another root and waits there. */
static pid_t start_in(int (*enter)(void))
{
	int ready[2];
	char byte = 0;
	ck_assert_int_eq(pipe(ready), 0);
	pid_t child = fork();
	if (child == 0) {
		if (enter() == 0 && write(ready[1], "x", 1) == 1)
			pause();
		_exit(1);
	}
	close(ready[1]);
	ck_assert_int_eq(read(ready[0], &byte, 1), 1);
	close(ready[0]);
	return child;
}

static void end(pid_t child)
{
	kill(child, SIGKILL);
	ck_assert_int_eq(waitpid(child, NULL, 0), child);
}

static int stay(void)
{
	return 0;
}

static int64_t now_ms(void)
{
	struct timespec real;
	clock_gettime(CLOCK_REALTIME, &real);
	return (int64_t)real.tv_sec * 1000 + real.tv_nsec / 1000000;
}

START_TEST(started)
{
	int64_t before = now_ms();
	pid_t child = start_in(stay);
	int64_t at = (int64_t)(perf_map_started((uint32_t)child) / 1000000);
	ck_assert_int_ge(at, before - 20); /* a tick, rounded down */
	ck_assert_int_le(at, now_ms());
	end(child);
	ck_assert_uint_eq(perf_map_started((uint32_t)child), 0);
}
END_TEST

START_TEST(own_root)
{
	expect_path((uint32_t)getpid(), "", (uint32_t)getpid());
	expect_path(NO_PROCESS, "", NO_PROCESS);
}
END_TEST

static int enter_folder(void)
{
	return chroot(folder);
}

static int enter_namespace(void)
{
	if (unshare(CLONE_NEWNS) < 0 || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
	    chdir(folder) < 0 || syscall(SYS_pivot_root, ".", ".") < 0)
		return -1;
	return umount2(".", MNT_DETACH);
}

static int enter_hidden(void)
{
	if (unshare(CLONE_NEWNS) < 0 || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
	    mount("none", folder, "tmpfs", 0, "") < 0)
		return -1;
	return chdir(folder) < 0 || syscall(SYS_pivot_root, ".", ".") < 0
		       ? -1
		       : umount2(".", MNT_DETACH);
}

/* Seen from here by its name, by what is mounted there, and only through the process. */
START_TEST(other_roots)
{
	char through[64];
	if (geteuid() != 0) {
		printf("skipped - roots of other processes: only root can enter one\n");
		return;
	}
	pid_t child = start_in(enter_folder);
	expect_path((uint32_t)child, folder, (uint32_t)child);
	end(child);
	child = start_in(enter_hidden);
	snprintf(through, sizeof(through), "/proc/%d/root", (int)child);
	expect_path((uint32_t)child, through, (uint32_t)child);
	end(child);
	ck_assert_int_eq(mount("none", folder, "tmpfs", 0, ""), 0);
	child = start_in(enter_namespace);
	expect_path((uint32_t)child, folder, (uint32_t)child);
	end(child);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("perf_map");
	TCase *tcase = tcase_create("perf_map");

	tcase_add_checked_fixture(tcase, make_folder, remove_folder);
	tcase_add_test(tcase, started);
	tcase_add_test(tcase, own_root);
	tcase_add_test(tcase, other_roots);
	suite_add_tcase(suite, tcase);
	return run_suite(suite);
}
