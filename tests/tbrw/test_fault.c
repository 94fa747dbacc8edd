/* Failing and interrupted writes, reads, syncs and truncations. The library does not rename. */
#include "tests/tbrw/disk.h"
#include "tests/tbrw/scenario.h"
#include "tests/tbrw/support.h"
#include <errno.h>
#include <unistd.h>

START_TEST(interrupted_and_short_writes)
{
	uint32_t values[] = {1, 2, 3};

	disk.interrupts = 3;
	disk.dribble = true;
	TBRW_PTR ptr = open_file("a.tb5", CREATE);
	write_custom_stream(ptr, 0, L"whole", 4, values, sizeof(values));
	disk.interrupts = 3;
	OK(TBRW_close(ptr));
	disk.dribble = false;
	ptr = open_file("a.tb5", READ);
	OK(TBRW_verify(ptr));
	OK(TBRW_close(ptr));
}
END_TEST

static const struct {
	enum fault fault;
	int error;
	bool no_truncation;
	TBRW_U32 code;
} write_faults[] = {
	{FAIL_WRITE, ENOSPC, false, VT_NO_SPACE}, {FAIL_WRITE, EIO, false, VT_WRITE_ERROR},
	{FAIL_WRITE, EIO, true, VT_WRITE_ERROR},  {FAIL_WRITE, EINTR, false, VT_SUCCESS},
	{TEAR_WRITE, ENOSPC, false, VT_NO_SPACE}, {TEAR_WRITE, EIO, true, VT_WRITE_ERROR},
};

START_TEST(each_write)
{
	const wchar_t *path = wide_path_of("a.tb5");

	for (uint32_t n = 0; n < 10000; n++) {
		uint32_t added, seen;

		unlink(path_of("a.tb5"));
		fault_after(write_faults[_i].fault, n, write_faults[_i].error);
		disk.no_truncation = write_faults[_i].no_truncation;
		TBRW_U32 code = scenario_write(path, 7, &added);
		disk.no_truncation = false;
		disk.room = SIZE_MAX;
		if (!fault_end()) {
			OK(code);
			ck_assert_uint_gt(n, 20);
			return;
		}
		FAILS(code, write_faults[_i].code);
		expect_no_more_than(path, added);
		if (code == VT_SUCCESS) {
			OK(scenario_read(path, 7, &seen));
			ck_assert_uint_eq(seen, SCENARIO_SAMPLES);
		}
	}
	ck_abort_msg("writes without end");
}
END_TEST

/* A complete file to which something is added stays complete, or becomes complete again. */
START_TEST(each_write_of_an_addition)
{
	const wchar_t *path = wide_path_of("a.tb5");
	uint32_t count;

	OK(scenario_write(path, 7, &count));
	for (uint32_t n = 0; n < 10000; n++) {
		fault_after(write_faults[_i].fault, n, write_faults[_i].error);
		disk.no_truncation = write_faults[_i].no_truncation;
		TBRW_U32 code = scenario_bind(path);
		disk.no_truncation = false;
		disk.room = SIZE_MAX;
		if (!fault_end()) {
			ck_assert_uint_gt(n, 10);
			return;
		}
		FAILS(code, write_faults[_i].code);
		TBRW_PTR ptr = open_file("a.tb5", READ);
		OK(TBRW_verify(ptr));
		OK(TBRW_close(ptr));
		OK(scenario_read(path, 7, &count));
		ck_assert_uint_eq(count, SCENARIO_SAMPLES);
		if (code == VT_SUCCESS) {
			unlink(path_of("a.tb5"));
			OK(scenario_write(path, 7, &count));
		}
	}
	ck_abort_msg("writes without end");
}
END_TEST

static const struct {
	int error;
	TBRW_U32 code;
} sync_faults[] = {{EIO, VT_WRITE_ERROR},
		   {ENOSPC, VT_NO_SPACE},
		   {EINTR, VT_SUCCESS},
		   {EINVAL, VT_SUCCESS}}; /* a file system that cannot sync */

/* What did not get to the disk is not complete, though all of it can be read for now. */
START_TEST(each_sync)
{
	const wchar_t *path = wide_path_of("a.tb5");

	for (uint32_t n = 0; n < 3; n++) {
		uint32_t added, seen;

		unlink(path_of("a.tb5"));
		fault_after(FAIL_SYNC, n, sync_faults[_i].error);
		TBRW_U32 code = scenario_write(path, 7, &added);
		if (!fault_end()) {
			OK(code);
			ck_assert_uint_eq(n, 2);
			return;
		}
		FAILS(code, sync_faults[_i].code);
		TBRW_PTR ptr = open_file("a.tb5", READ);
		FAILS(TBRW_verify(ptr), code == VT_SUCCESS ? code : VT_INCOMPLETE_TB5_ENCOUNTERED);
		OK(TBRW_close(ptr));
		OK(scenario_read(path, 7, &seen));
		ck_assert_uint_eq(seen, SCENARIO_SAMPLES);
	}
	ck_abort_msg("syncs without end");
}
END_TEST

/* A complete file keeps what it had. */
START_TEST(each_sync_of_an_addition)
{
	const wchar_t *path = wide_path_of("a.tb5");
	uint32_t count;

	OK(scenario_write(path, 7, &count));
	for (uint32_t n = 0; n < 1000; n++) {
		fault_after(FAIL_SYNC, n, sync_faults[_i].error);
		TBRW_U32 code = scenario_bind(path);
		if (!fault_end()) {
			ck_assert_uint_ge(n, 2);
			return;
		}
		FAILS(code, sync_faults[_i].code);
		TBRW_PTR ptr = open_file("a.tb5", READ);
		OK(TBRW_verify(ptr));
		OK(TBRW_close(ptr));
		OK(scenario_read(path, 7, &count));
		ck_assert_uint_eq(count, SCENARIO_SAMPLES);
		if (code == VT_SUCCESS) {
			unlink(path_of("a.tb5"));
			OK(scenario_write(path, 7, &count));
		}
	}
	ck_abort_msg("syncs without end");
}
END_TEST

START_TEST(each_read)
{
	static const struct {
		enum fault fault;
		int error;
		TBRW_U32 code;
	} faults[] = {{FAIL_READ, EIO, VT_SAMPLE_FILE_MAPPING_ERROR},
		      {FAIL_READ, EINTR, VT_SUCCESS},
		      {SHORT_READ, 0, VT_SUCCESS}};
	const wchar_t *path = wide_path_of("a.tb5");
	uint32_t count;

	OK(scenario_write(path, 7, &count));
	for (uint32_t n = 0; n < 10000; n++) {
		fault_after(faults[_i].fault, n, faults[_i].error);
		TBRW_U32 code = scenario_read(path, 7, &count);
		if (!fault_end()) {
			OK(code);
			ck_assert_uint_gt(n, 10);
			return;
		}
		FAILS(code, faults[_i].code);
	}
	ck_abort_msg("reads without end");
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {interrupted_and_short_writes};
	Suite *suite = suite_of("fault", tests, sizeof(tests) / sizeof(*tests));
	TCase *each = tcase_create("each");

	tcase_set_timeout(each, 240);
	tcase_add_checked_fixture(each, folder_setup, folder_teardown);
	tcase_add_loop_test(each, each_write, 0, 6);
	tcase_add_loop_test(each, each_write_of_an_addition, 0, 6);
	tcase_add_loop_test(each, each_sync, 0, 4);
	tcase_add_loop_test(each, each_sync_of_an_addition, 0, 4);
	tcase_add_loop_test(each, each_read, 0, 3);
	suite_add_tcase(suite, each);
	return run_suite(suite);
}
