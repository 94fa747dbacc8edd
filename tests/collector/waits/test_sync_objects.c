/* Objects of processes with the library, and the calls that wake. */
#include "collector/waits/sync_waits.h"
#include "tests/support/suite.h"
#include <check.h>

static struct sync_objects objects;

static void setup(void)
{
	sync_objects_init(&objects);
}

static void teardown(void)
{
	sync_objects_finish(&objects);
}

static void wake(uint32_t pid, uint64_t begin_ns, uint32_t tid)
{
	struct sync_wake one = {.begin_ns = begin_ns, .end_ns = begin_ns + 1, .tid = tid};
	sync_objects_wake(&objects, pid, 0x1000, &one);
}

START_TEST(by_process_and_address)
{
	sync_objects_make(&objects, 1, 0x1000, 11);
	sync_objects_make(&objects, 2, 0x1000, 12);
	sync_objects_make(&objects, 1, 0x2000, 13);
	ck_assert_uint_eq(sync_objects_created(&objects, 1, 0x1000), 11);
	ck_assert_uint_eq(sync_objects_created(&objects, 2, 0x1000), 12);
	ck_assert_uint_eq(sync_objects_created(&objects, 1, 0x2000), 13);
	ck_assert_uint_eq(sync_objects_created(&objects, 2, 0x2000), 0);
	sync_objects_make(&objects, 1, 0x1000, 14);
	ck_assert_uint_eq(sync_objects_created(&objects, 1, 0x1000), 14);
	sync_objects_forget(&objects, 1);
	ck_assert_uint_eq(sync_objects_created(&objects, 1, 0x1000), 0);
	ck_assert_uint_eq(sync_objects_created(&objects, 2, 0x1000), 12);
}
END_TEST

/* Only the last ones are kept; one made anew has none. */
START_TEST(last_wakes)
{
	for (uint32_t i = 0; i < 3 * SYNC_WAKES; i++)
		wake(1, 100 + i, i + 1);
	ck_assert_ptr_null(sync_objects_match(&objects, 1, 0x1000, 50, 150, 0, false));
	const struct sync_wake *found =
		sync_objects_match(&objects, 1, 0x1000, 50, 100 + 3 * SYNC_WAKES - 2, 0, false);
	ck_assert_ptr_nonnull(found);
	ck_assert_uint_eq(found->tid, 3 * SYNC_WAKES - 1);
	found = sync_objects_match(&objects, 1, 0x1000, 50, 1000, 0, true);
	ck_assert_uint_eq(found->tid, 2 * SYNC_WAKES + 1);
	ck_assert_ptr_null(sync_objects_match(&objects, 2, 0x1000, 50, 1000, 0, false));
	sync_objects_make(&objects, 1, 0x1000, 5);
	ck_assert_ptr_null(sync_objects_match(&objects, 1, 0x1000, 50, 1000, 0, false));
}
END_TEST

START_TEST(bounded)
{
	for (uint64_t i = 0; i < SYNC_OBJECTS_MAX + 10; i++)
		sync_objects_make(&objects, 1, 0x1000 + 8 * i, 5);
	ck_assert_uint_eq(objects.table.count, SYNC_OBJECTS_MAX);
	ck_assert_uint_eq(objects.forgotten, 10);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("sync_objects");
	TCase *tcase = tcase_create("sync_objects");

	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_add_test(tcase, by_process_and_address);
	tcase_add_test(tcase, last_wakes);
	tcase_add_test(tcase, bounded);
	suite_add_tcase(suite, tcase);
	return run_suite(suite);
}
