/* Files that others name: only regular ones are opened, under names that lead nowhere else. */
#include "tools/symbols/regular_file.h"
#include "tools/symbols/resolve.h"
#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

START_TEST(test_made_up_files)
{
	static const char *const files[] = {"/proc/self/maps", "/proc/kmsg", "/sys/kernel/notes"};
	struct stat status;
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		ck_assert_int_eq(stat(files[i], &status), 0);
		ck_assert(S_ISREG(status.st_mode));
		ck_assert_int_eq(symbol_regular_file_open(files[i], 0, &status), -1);
		ck_assert_int_eq(errno, ENOEXEC);
	}
	/* A link in procfs is what it leads to. */
	int fd = symbol_regular_file_open("/proc/self/exe", 0, &status);
	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(fcntl(fd, F_GETFD), FD_CLOEXEC);
	close(fd);
	ck_assert_int_eq(symbol_regular_file_open("/proc/self/exe", O_NOFOLLOW, &status), -1);
}
END_TEST

START_TEST(test_other_things)
{
	char path[] = "/tmp/test-regular-file-XXXXXX";
	struct stat status;
	int fd = mkstemp(path);
	ck_assert_int_eq(symbol_regular_file_open(path, 0, &status), -1); /* it is empty */
	ck_assert_int_eq(errno, ENOEXEC);
	ck_assert_int_eq(write(fd, "x", 1), 1);
	close(fd);
	fd = symbol_regular_file_open(path, 0, &status);
	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(status.st_size, 1);
	close(fd);
	unlink(path);
	ck_assert_int_eq(symbol_regular_file_open(path, 0, &status), -1);
	ck_assert_int_eq(errno, ENOENT);
	ck_assert_int_eq(symbol_regular_file_open("/tmp", 0, &status), -1);
	ck_assert_int_eq(errno, ENOEXEC);
	ck_assert_int_eq(symbol_regular_file_open("/dev/zero", 0, &status), -1);
	ck_assert_int_eq(errno, ENOEXEC);
}
END_TEST

START_TEST(test_names_that_lead_upwards)
{
	struct symbol_address address = {0};
	struct symbol_image_identity identity = {.path = "/usr/../usr/bin/env"};
	ck_assert(symbol_path_leads_up(".."));
	ck_assert(symbol_path_leads_up("../a"));
	ck_assert(symbol_path_leads_up("a/../b"));
	ck_assert(symbol_path_leads_up("/a/.."));
	ck_assert(!symbol_path_leads_up("/a/..b/c../.d/..."));
	ck_assert(!symbol_path_leads_up(""));
	ck_assert_int_eq(resolve_file(&identity, NULL, &address, 1), SYMBOL_IMAGE_MISSING);
	identity.path = "/usr/bin/env";
	ck_assert_int_eq(resolve_file(&identity, NULL, &address, 1), SYMBOL_IMAGE_OPEN);
	symbol_address_finish(&address);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("regular files");
	TCase *tcase = tcase_create("regular files");
	tcase_add_test(tcase, test_made_up_files);
	tcase_add_test(tcase, test_other_things);
	tcase_add_test(tcase, test_names_that_lead_upwards);
	suite_add_tcase(suite, tcase);
	SRunner *runner = srunner_create(suite);
	srunner_run_all(runner, CK_NORMAL);
	int failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
