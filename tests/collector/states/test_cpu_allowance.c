/* What the kernel's files say of a process's CPUs. */
#include "collector/states/cpu_allowance.h"
#include "tests/support/suite.h"
#include <check.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define NO_QUOTA UINT64_MAX

static char folder[64];

static void set_up(void)
{
	snprintf(folder, sizeof(folder), "/tmp/cpu_allowance_XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(folder));
}

static void tear_down(void)
{
	char command[128];
	snprintf(command, sizeof(command), "rm -r '%s'", folder);
	ck_assert_int_eq(system(command), 0);
}

/* Writes a file below the folder; %s in the text is the folder. */
static void put(const char *name, const char *text)
{
	char path[512];
	snprintf(path, sizeof(path), "%s/%s", folder, name);
	for (char *slash = strchr(path + strlen(folder) + 1, '/'); slash;
	     slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		mkdir(path, 0700);
		*slash = '/';
	}
	FILE *file = fopen(path, "w");
	ck_assert_ptr_nonnull(file);
	for (const char *at = text; *at != '\0'; at++) {
		if (strncmp(at, "%s", 2) == 0) {
			fputs(folder, file);
			at++;
		} else {
			fputc(*at, file);
		}
	}
	ck_assert_int_eq(fclose(file), 0);
}

static uint64_t quota(void)
{
	char groups[128];
	char mounts[128];
	snprintf(groups, sizeof(groups), "%s/groups", folder);
	snprintf(mounts, sizeof(mounts), "%s/mounts", folder);
	return cpu_allowance_quota(groups, mounts);
}

#define MOUNT_2 "30 23 0:26 / %s/two rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate\n"
#define MOUNT_1 "31 23 0:27 / %s/one rw shared:5 - cgroup cgroup rw,cpu,cpuacct\n"
#define OTHERS                                  \
	"22 1 8:1 / / rw - ext4 /dev/sda1 rw\n" \
	"32 23 0:28 / %s/set rw - cgroup cgroup rw,cpuset\n"

START_TEST(least_quota_of_the_path)
{
	put("mounts", OTHERS MOUNT_2);
	put("groups", "0::/a/b/c\n");
	ck_assert_uint_eq(quota(), NO_QUOTA);
	put("two/a/b/c/cpu.max", "max 100000\n");
	ck_assert_uint_eq(quota(), NO_QUOTA);
	put("two/a/b/cpu.max", "250000 100000\n");
	ck_assert_uint_eq(quota(), 2500);
	put("two/a/cpu.max", "50000 100000\n");
	ck_assert_uint_eq(quota(), 500);
	put("two/cpu.max", "1000 100000\n"); /* a container's own root */
	ck_assert_uint_eq(quota(), 10);
}
END_TEST

START_TEST(first_version)
{
	put("mounts", OTHERS MOUNT_1);
	put("groups", "5:cpuset:/x\n4:cpu,cpuacct:/a/b\n0::/\n");
	put("one/a/b/cpu.cfs_quota_us", "-1\n");
	put("one/a/b/cpu.cfs_period_us", "100000\n");
	ck_assert_uint_eq(quota(), NO_QUOTA);
	put("one/a/cpu.cfs_quota_us", "150000\n");
	put("one/a/cpu.cfs_period_us", "100000\n");
	ck_assert_uint_eq(quota(), 1500);
}
END_TEST

/* In a container the mount begins at the container's group, or the path lies outside of it. */
START_TEST(mounts_below_the_root)
{
	put("mounts", "30 23 0:26 /docker/abc %s/two ro - cgroup2 cgroup rw\n");
	put("groups", "0::/docker/abc/inner\n");
	put("two/cpu.max", "200000 100000\n");
	ck_assert_uint_eq(quota(), 2000);
	put("two/inner/cpu.max", "100000 100000\n");
	ck_assert_uint_eq(quota(), 1000);
	put("groups", "0::/../other\n");
	ck_assert_uint_eq(quota(), 2000);
}
END_TEST

START_TEST(nonsense)
{
	static const char *const lines[] = {"", "x", "0:/a\n", "0::\n", "0::a\n", ":::\n", "0::/a"};
	put("mounts", "x\n - \n30 23 - cgroup2 c rw\n" MOUNT_2);
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		put("groups", lines[i]);
		ck_assert_uint_eq(quota(), NO_QUOTA);
	}
	static const char *const quotas[] =
		{"", "x y", "5", "0 100000", "5 0", "-5 100000", "99999999999999999999 1"};
	put("groups", "0::/a");
	for (size_t i = 0; i < sizeof(quotas) / sizeof(quotas[0]); i++) {
		put("two/a/cpu.max", quotas[i]);
		ck_assert_uint_eq(quota(), NO_QUOTA);
	}
	ck_assert_uint_eq(cpu_allowance_quota("/nowhere", "/nowhere"), NO_QUOTA);
}
END_TEST

START_TEST(of_this_process)
{
	cpu_set_t set;
	pid_t pids[] = {getpid(), getpid()};
	ck_assert_int_eq(sched_getaffinity(0, sizeof(set), &set), 0);
	uint64_t all = (uint64_t)CPU_COUNT(&set) * 1000;
	uint64_t own = cpu_allowance_quota("/proc/self/cgroup", "/proc/self/mountinfo");
	ck_assert_uint_eq(cpu_allowance(pids, 1), own < all ? own : all);
	ck_assert_uint_eq(cpu_allowance(pids, 2), own < all ? own : all);
	for (int cpu = CPU_SETSIZE - 1; CPU_COUNT(&set) > 1; cpu--)
		CPU_CLR(cpu, &set);
	ck_assert_int_eq(sched_setaffinity(0, sizeof(set), &set), 0);
	ck_assert_uint_eq(cpu_allowance(pids, 1), own < 1000 ? own : 1000);
	pids[0] = INT32_MAX;
	ck_assert_uint_eq(cpu_allowance(pids, 1), 0);
	ck_assert_uint_eq(cpu_allowance(pids, 0), 0);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("cpu_allowance");
	TCase *tcase = tcase_create("cpu_allowance");

	tcase_add_checked_fixture(tcase, set_up, tear_down);
	tcase_add_test(tcase, least_quota_of_the_path);
	tcase_add_test(tcase, first_version);
	tcase_add_test(tcase, mounts_below_the_root);
	tcase_add_test(tcase, nonsense);
	tcase_add_test(tcase, of_this_process);
	suite_add_tcase(suite, tcase);
	return run_suite(suite);
}
