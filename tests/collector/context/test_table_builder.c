/* Tables built beside the walks, of this program's own module. */
#include "collector/context/table_builder.h"
#include "tests/support/suite.h"
#include <check.h>
#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

enum { PATIENCE_MS = 10000, MANY = 1000 };

static struct uw_module *module;
static struct tables *tables;

static void setup(void)
{
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(uw_module_open(fd, &module), 0);
	close(fd);
	tables = tables_create();
	ck_assert_ptr_nonnull(tables);
}

static void teardown(void)
{
	tables_destroy(tables);
	uw_module_unref(module);
}

static size_t thread_count(void)
{
	DIR *tasks = opendir("/proc/self/task");
	size_t count = 0;
	ck_assert_ptr_nonnull(tasks);
	for (struct dirent *entry; (entry = readdir(tasks));)
		count += entry->d_name[0] != '.';
	closedir(tasks);
	return count;
}

START_TEST(no_need_no_thread)
{
	ck_assert_uint_eq(thread_count(), 1);
	ck_assert_uint_eq(uw_module_table_bytes(module), 0);
}
END_TEST

START_TEST(one)
{
	tables_build(tables, uw_module_ref(module));
	for (int ms = 0; ms < PATIENCE_MS && uw_module_table_bytes(module) == 0; ms++)
		usleep(1000);
	ck_assert_uint_gt(uw_module_table_bytes(module), 0);
	ck_assert_uint_eq(thread_count(), 2);
}
END_TEST

START_TEST(more_than_can_wait)
{
	/* Whatever is built of these, no reference is lost, and the end does not wait for all. */
	for (int i = 0; i < MANY; i++)
		tables_build(tables, uw_module_ref(module));
	tables_destroy(tables);
	tables = NULL;
	ck_assert_uint_eq(thread_count(), 1);
}
END_TEST

START_TEST(destroy_none)
{
	tables_destroy(NULL);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("tables");
	TCase *cases = tcase_create("tables");
	tcase_add_checked_fixture(cases, setup, teardown);
	tcase_add_test(cases, no_need_no_thread);
	tcase_add_test(cases, one);
	tcase_add_test(cases, more_than_can_wait);
	tcase_add_test(cases, destroy_none);
	suite_add_tcase(suite, cases);
	return run_suite(suite);
}
