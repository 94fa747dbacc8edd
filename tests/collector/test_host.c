/* What is known of the machine, against what the C library and /proc say. */
#include "collector/host.h"

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
	ck_assert_uint_eq(host_host(host)->host_size, sizeof(TBRW_HOST));
	assert_text(&host_host(host)->host_name, name.nodename);
	ck_assert_uint_eq(host_os(host)->os_size, sizeof(TBRW_OS));
	ck_assert_uint_eq(host_os(host)->os_platform, TBRW_OSFAMILY_LINUX64);
	ck_assert_uint_gt(wcslen(host_os(host)->os_name.soi_ptr), 0);
}
END_TEST

START_TEST(kernel_version)
{
	struct utsname name;
	unsigned major, minor;
	ck_assert_int_eq(uname(&name), 0);
	ck_assert_int_eq(sscanf(name.release, "%u.%u", &major, &minor), 2);
	ck_assert_uint_eq(host_os(host)->os_major, major);
	ck_assert_uint_eq(host_os(host)->os_minor, minor);
}
END_TEST

START_TEST(pages)
{
	const TBRW_APPLICATION *application = host_application(host);
	ck_assert_uint_eq(application->app_size, sizeof(*application));
	ck_assert_int_eq((long)application->app_page_size, sysconf(_SC_PAGESIZE));
}
END_TEST

START_TEST(processors)
{
	const TBRW_SYSTEM *system = host_system(host);
	long cpus = 0;
	ck_assert_uint_eq(system->system_size, sizeof(*system));
	ck_assert_uint_ge(system->system_num_nodes, 1);
	for (TBRW_U32 n = 0; n < system->system_num_nodes; n++) {
		const TBRW_NODE *node = &system->node_array[n];
		ck_assert_uint_eq(node->node_size, sizeof(*node));
		for (TBRW_U32 i = 0; i < node->node_num_available; i++)
			ck_assert_uint_eq(node->cpu_array[i].cpu_size, sizeof(TBRW_CPU));
		cpus += node->node_num_available;
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
	SRunner *runner = srunner_create(suite);
	srunner_run_all(runner, CK_ENV);
	int failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed != 0;
}
