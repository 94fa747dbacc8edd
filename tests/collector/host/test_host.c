/* What is known of the machine, against what the C library and /proc say. */
#include "collector/host/host.h"
#include "tests/support/suite.h"
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>
#include <wchar.h>

static struct host *host;

static void setup(void)
{
	host = host_create();
	ck_assert_ptr_nonnull(host);
}

static void teardown(void)
{
	host_destroy(host);
	host_destroy(NULL);
}

/* What a shell says. */
static const char *said(const char *command)
{
	static char text[512];
	FILE *pipe = popen(command, "r");
	ck_assert_ptr_nonnull(pipe);
	text[fread(text, 1, sizeof(text) - 1, pipe)] = '\0';
	pclose(pipe);
	text[strcspn(text, "\n")] = '\0';
	return text;
}

/* Likewise the number in a file of a CPU; 0 without one. */
static unsigned long said_of(unsigned number, const char *file)
{
	char command[160];
	snprintf(command, sizeof(command), "cat /sys/devices/system/cpu/cpu%u/%s 2>&-", number,
		 file);
	return strtoul(said(command), NULL, 10);
}

static void assert_text(const TBRW_STRING_OR_ID *text, const char *expected)
{
	wchar_t wide[512];
	ck_assert_uint_ne(mbstowcs(wide, expected, 512), (size_t)-1);
	ck_assert_ptr_nonnull(text->soi_ptr);
	ck_assert_int_eq(wcscmp(text->soi_ptr, wide), 0);
}

START_TEST(names)
{
	struct utsname name;
	ck_assert_int_eq(uname(&name), 0);
	ck_assert_uint_eq(host->host.host_size, sizeof(TBRW_HOST));
	assert_text(&host->host.host_name, name.nodename);
	ck_assert_uint_eq(host->os.os_size, sizeof(TBRW_OS));
	ck_assert_uint_eq(host->os.os_platform, TBRW_OSFAMILY_LINUX64);
	assert_text(&host->os.os_name,
		    said("if test -e /etc/os-release; then . /etc/os-release; fi; "
			 "echo ${PRETTY_NAME:-Linux}"));
	assert_text(&host->os.os_name_extra, said("uname -srm"));
}
END_TEST

START_TEST(kernel_version)
{
	struct utsname name;
	unsigned major, minor, build = 0;
	ck_assert_int_eq(uname(&name), 0);
	ck_assert_int_ge(sscanf(name.release, "%u.%u.%u", &major, &minor, &build), 2);
	ck_assert_uint_eq(host->os.os_major, major);
	ck_assert_uint_eq(host->os.os_minor, minor);
	ck_assert_uint_eq(host->os.os_build, build);
}
END_TEST

START_TEST(pages)
{
	const TBRW_APPLICATION *application = &host->application;
	ck_assert_uint_eq(application->app_size, sizeof(*application));
	ck_assert_int_eq((long)application->app_page_size, sysconf(_SC_PAGESIZE));
	ck_assert_uint_eq(application->app_min_app_addr,
			  strtoul(said("cat /proc/sys/vm/mmap_min_addr"), NULL, 10));
	ck_assert_uint_gt(application->app_max_app_addr, (uintptr_t)&application);
}
END_TEST

static void assert_cpu(const TBRW_CPU *cpu, unsigned long mhz)
{
	unsigned number = cpu->cpu_number;
	ck_assert_uint_eq(cpu->cpu_size, sizeof(*cpu));
	ck_assert_uint_eq(cpu->cpu_cache_L2, said_of(number, "cache/index2/size"));
	ck_assert_uint_eq(cpu->cpu_cache_L3, said_of(number, "cache/index3/size"));
	ck_assert_uint_eq(cpu->cpu_core_num, said_of(number, "topology/core_id"));
	ck_assert_uint_eq(cpu->cpu_package_num, said_of(number, "topology/physical_package_id"));
	ck_assert_uint_ge(cpu->cpu_threads_per_core, 1);
	ck_assert_uint_lt(cpu->cpu_hardware_thread_num, cpu->cpu_threads_per_core);
	/* Where the clock's speed changes, it does so between two looks. */
	if (access("/sys/devices/system/cpu/cpu0/cpufreq", F_OK) != 0)
		ck_assert_uint_eq(cpu->cpu_speed_mhz, mhz);
	ck_assert_uint_eq(cpu->num_cpu_arch_array, 1);
}

START_TEST(processors)
{
	const TBRW_SYSTEM *system = &host->system;
	long cpus = 0;
	unsigned long mhz =
		strtoul(said("sed -n 's/^cpu MHz.*: //p' /proc/cpuinfo | head -n 1"), NULL, 10);
	ck_assert_uint_eq(system->system_size, sizeof(*system));
	ck_assert_uint_ge(system->system_num_nodes, 1);
	for (TBRW_U32 n = 0; n < system->system_num_nodes; n++) {
		const TBRW_NODE *node = &system->node_array[n];
		ck_assert_uint_eq(node->node_size, sizeof(*node));
		for (TBRW_U32 i = 0; i < node->node_num_available; i++)
			assert_cpu(&node->cpu_array[i], mhz);
		cpus += node->node_num_available;
		ck_assert_uint_gt(node->node_physical_memory, 0);
		ck_assert_uint_lt(node->node_physical_memory, UINT64_C(1) << 30);
	}
	ck_assert_int_eq(cpus, sysconf(_SC_NPROCESSORS_ONLN));
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("host");
	TCase *tcase = tcase_create("host");
	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_add_test(tcase, names);
	tcase_add_test(tcase, kernel_version);
	tcase_add_test(tcase, pages);
	tcase_add_test(tcase, processors);
	suite_add_tcase(suite, tcase);
	return run_suite(suite);
}
