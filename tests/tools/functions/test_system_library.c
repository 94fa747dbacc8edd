/* Which modules are the system's. */
#include "tests/support/suite.h"
#include "tools/functions/system_library.h"
#include <check.h>

START_TEST(test_system_modules)
{
	static const char *const system_paths[] = {
		"/lib/x86_64-linux-gnu/libc.so.6",     "/lib64/ld-linux-x86-64.so.2",
		"/usr/lib/x86_64-linux-gnu/libm.so.6", "/opt/conda/lib/libstdc++.so.6.0.30",
		"/nix/store/x/lib/libc-2.31.so",       "/snap/core/lib/ld-musl-x86_64.so.1",
	};
	static const char *const user_paths[] = {
		"/usr/lib/x86_64-linux-gnu/liblzma.so.5.4.1",
		"/usr/lib64/libcrypto.so.3",
		"/usr/lib/libcfoo.so",
		"/opt/app/app",
		"/opt/app/libcache.so",
		"/opt/app/libmath.so",
		"/usr/bin/python3.11",
		"/usr/lib/python3/dist-packages/numpy/core.so",
		"/usr/lib/postgresql/15/bin/postgres",
		"/usr/lib/x86_64-linux-gnu/openmpi/plugin.so",
		"/usr/local/lib/libfoo.so",
		"/home/u/lib/libfoo.so",
		"[heap]",
		"",
		"/",
		"/opt/libc-",
	};
	for (size_t i = 0; i < sizeof(system_paths) / sizeof(system_paths[0]); i++)
		ck_assert_msg(system_library_is(system_paths[i]), "%s", system_paths[i]);
	for (size_t i = 0; i < sizeof(user_paths) / sizeof(user_paths[0]); i++)
		ck_assert_msg(!system_library_is(user_paths[i]), "%s", user_paths[i]);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("system module");
	TCase *cases = tcase_create("all");
	tcase_set_timeout(cases, 60);
	tcase_add_test(cases, test_system_modules);
	suite_add_tcase(suite, cases);
	return run_suite(suite);
}
