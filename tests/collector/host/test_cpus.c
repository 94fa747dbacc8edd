/* Lists of CPUs as the kernel writes them. */
#include "collector/host/cpus.h"
#include "tests/support/suite.h"
#include <check.h>
#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <unistd.h>

static const struct {
	const char *list;
	const char *numbers;
} good[] = {
	{"0", " 0"},
	{"0\n", " 0"},
	{"0-3", " 0 1 2 3"},
	{"0-3,8\n", " 0 1 2 3 8"},
	{"1,3-4,6-6,100\n", " 1 3 4 6 100"},
	{"65535", " 65535"},
};

START_TEST(lists)
{
	struct cpus cpus;
	char text[256] = "";
	size_t used = 0;
	ck_assert_int_eq(cpus_parse(good[_i].list, &cpus), 0);
	for (size_t i = 0; i < cpus.count; i++)
		used += (size_t)snprintf(text + used, sizeof(text) - used, " %u", cpus.numbers[i]);
	ck_assert_str_eq(text, good[_i].numbers);
	cpus_finish(&cpus);
	ck_assert_uint_eq(cpus.count, 0);
	cpus_finish(&cpus);
}
END_TEST

START_TEST(all_numbers)
{
	struct cpus cpus;
	ck_assert_int_eq(cpus_parse("0-65535", &cpus), 0);
	ck_assert_uint_eq(cpus.count, 65536);
	ck_assert_uint_eq(cpus.numbers[65535], 65535);
	cpus_finish(&cpus);
}
END_TEST

static const char *const bad[] = {
	"",
	"\n",
	",",
	",0",
	"a",
	"0-",
	"-1",
	"0--1",
	"3-1",
	"1,1",
	"1,0",
	"0-3,2",
	"0,,1",
	"0x1",
	"0-3;5",
	"65536",
	"0-65536",
	"18446744073709551615",
	"18446744073709551616",
	"99999999999999999999999999",
	"0-18446744073709551615",
	"1-2-3",
};

START_TEST(no_lists)
{
	struct cpus cpus;
	ck_assert_int_eq(cpus_parse(bad[_i], &cpus), -1);
	ck_assert_int_eq(errno, EINVAL);
	ck_assert_ptr_null(cpus.numbers);
	ck_assert_uint_eq(cpus.count, 0);
}
END_TEST

START_TEST(online)
{
	struct cpus cpus;
	ck_assert_int_eq(cpus_online(&cpus), 0);
	ck_assert_int_eq((int)cpus.count, (int)sysconf(_SC_NPROCESSORS_ONLN));
	for (size_t i = 1; i < cpus.count; i++)
		ck_assert_uint_lt(cpus.numbers[i - 1], cpus.numbers[i]);
	cpus_finish(&cpus);
}
END_TEST

START_TEST(file_is_missing_or_empty)
{
	struct cpus cpus;
	ck_assert_int_eq(cpus_read("/proc/no such file", &cpus), -1);
	ck_assert_int_eq(errno, ENOENT);
	ck_assert_int_eq(cpus_read("/dev/null", &cpus), -1);
}
END_TEST

/* As text of /proc/stat says them: ascending, whatever the file holds. */
static const struct {
	const char *text;
	const char *numbers;
} stats[] = {
	{"cpu  9 9 9\ncpu0 9 9 9\ncpu1 9 9\nintr 5 5\ncpu2 9\n", " 0 1"},
	{"cpu  9 9 9\ncpu1 9 9 9\ncpu12 9 9 9\n", " 1 12"},
	{"cpu3 1\ncpu3 1\ncpu2 1\ncpu4 1\ncpu65536 1\ncpu-5 1\ncpu5x 1\ncpu", " 3 4"},
	{"cpu  9 9 9\n", NULL},
	{"intr 1\ncpu0 1\n", NULL},
	{"", NULL},
};

START_TEST(of_stat)
{
	struct cpus cpus;
	char path[] = "/tmp/stat.XXXXXX";
	char text[64] = "";
	int fd = mkstemp(path);
	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(write(fd, stats[_i].text, strlen(stats[_i].text)),
			 (int)strlen(stats[_i].text));
	close(fd);
	int result = cpus_read_stat(path, &cpus);
	unlink(path);
	ck_assert_int_eq(result, stats[_i].numbers != NULL ? 0 : -1);
	for (size_t i = 0, used = 0; i < cpus.count; i++)
		used += (size_t)snprintf(text + used, sizeof(text) - used, " %u", cpus.numbers[i]);
	ck_assert_str_eq(text, stats[_i].numbers != NULL ? stats[_i].numbers : "");
	cpus_finish(&cpus);
}
END_TEST

/* What both files say is the same, so that a system without /sys has the same CPUs. */
START_TEST(same_without_sys)
{
	struct cpus listed;
	struct cpus cpus;
	ck_assert_int_eq(cpus_read("/sys/devices/system/cpu/online", &listed), 0);
	if (unshare(CLONE_NEWNS) < 0 && unshare(CLONE_NEWUSER | CLONE_NEWNS) < 0) {
		puts("skipped - without /sys: no mount namespace to be had");
		cpus_finish(&listed);
		return;
	}
	ck_assert_int_eq(mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL), 0);
	ck_assert_int_eq(mount("none", "/sys", "tmpfs", 0, NULL), 0);
	ck_assert_int_eq(access("/sys/devices", F_OK), -1);
	ck_assert_int_eq(cpus_online(&cpus), 0);
	ck_assert_uint_eq(cpus.count, listed.count);
	ck_assert_mem_eq(cpus.numbers, listed.numbers, cpus.count * sizeof(*cpus.numbers));
	cpus_finish(&cpus);
	cpus_finish(&listed);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("cpus");
	TCase *tcase = tcase_create("cpus");

	tcase_add_loop_test(tcase, lists, 0, (int)(sizeof(good) / sizeof(good[0])));
	tcase_add_test(tcase, all_numbers);
	tcase_add_loop_test(tcase, no_lists, 0, (int)(sizeof(bad) / sizeof(bad[0])));
	tcase_add_test(tcase, online);
	tcase_add_test(tcase, file_is_missing_or_empty);
	tcase_add_loop_test(tcase, of_stat, 0, (int)(sizeof(stats) / sizeof(stats[0])));
	tcase_add_test(tcase, same_without_sys);
	suite_add_tcase(suite, tcase);
	return run_suite(suite);
}
