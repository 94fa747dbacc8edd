/* Full disks, which tell beforehand or do not: what is accepted is stored, and can be read. */
#include "tests/tbrw/disk.h"
#include "tests/tbrw/scenario.h"
#include "tests/tbrw/support.h"
#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

/* Writes until something fails; gives what failed it. */
static TBRW_U32 write_until_full(const char *name, size_t room, int error, uint32_t *whole)
{
	struct sample s = sample_of(1, 1, 0x1000, 1);
	TBRW_PTR ptr = open_file(name, CREATE);
	uint32_t one = 1;
	TBRW_U32 code = VT_SUCCESS;

	write_custom_stream(ptr, 0, L"whole", 4, &one, 4);
	disk.room = room;
	disk.error = error;
	*whole = 0;
	code = TBRW_writing_stream(ptr, 1);
	if (code == VT_SUCCESS)
		code = TBRW_writing_stream_section(ptr, 1, TBRW_DATA_SECTION);
	for (int i = 0; code == VT_SUCCESS && i < 100000; i++) {
		code = TBRW_add_data(ptr, 1, sizeof(s), &s);
		++*whole;
	}
	ck_assert_uint_ne(code, VT_SUCCESS);
	disk.room = SIZE_MAX;
	/* Even with room again: a gap must not look like a whole. */
	FAILS(TBRW_add_data(ptr, 1, 1, &s), code);
	FAILS(TBRW_verify(ptr), code);
	ck_assert_uint_ne(TBRW_close(ptr), VT_SUCCESS);
	OK(TBRW_abort_cleanup_and_close(ptr));
	return code;
}

static void expect_incomplete_but_readable(const char *name)
{
	TBRW_PTR ptr = open_file(name, READ);

	FAILS(TBRW_verify(ptr), VT_INCOMPLETE_TB5_ENCOUNTERED);
	OK(TBRW_reading_stream(ptr, 0));
	OK(TBRW_reading_stream_section(ptr, 0, TBRW_DATA_SECTION));
	OK(TBRW_abort_cleanup_and_close(ptr));
}

START_TEST(disk_full)
{
	uint32_t whole;

	for (size_t room = 40; room < 600000; room += 100001) {
		FAILS(write_until_full("full.tb5", room, ENOSPC, &whole), VT_NO_SPACE);
		expect_incomplete_but_readable("full.tb5");
	}
	FAILS(write_until_full("quota.tb5", 1000, EDQUOT, &whole), VT_NO_SPACE);
	FAILS(write_until_full("broken.tb5", 1000, EIO, &whole), VT_WRITE_ERROR);
	expect_incomplete_but_readable("broken.tb5");
}
END_TEST

static TBRW_U32 count_entries(void *data, TBRW_U32 size, TBRW_U32 count, void *user)
{
	uint32_t *seen = user;

	(void)data, (void)size;
	*seen += count;
	return TRUE;
}

static uint32_t entries_of(TBRW_PTR ptr, uint32_t stream)
{
	uint32_t seen = 0;

	OK(TBRW_reading_stream(ptr, stream));
	TBRW_U32 code = TBRW_reading_stream_section(ptr, stream, TBRW_DATA_SECTION);
	if (code == VT_SUCCESS)
		OK(TBRW_enumerate_data(ptr, stream, count_entries, &seen, 0));
	else
		FAILS(code, VT_SECTION_NOT_EXIST);
	return seen;
}

#define SIDE_STREAMS 3

/* Stream 0 and others beside it, all open for data. */
static void begin_side_by_side(TBRW_PTR ptr)
{
	begin_samples(ptr);
	for (uint32_t n = 1; n <= SIDE_STREAMS; n++) {
		TBRW_STREAM_INFO info = stream_info_of(TBRW_CUSTOM_STREAM, L"side");
		TBRW_SAMPREC_DESC_ENTRY field = descriptor_of(ST_NONE, 0, 0, 4, L"field");

		OK(TBRW_writing_stream(ptr, n));
		OK(TBRW_writing_stream_section(ptr, n, TBRW_STREAM_INFO_SECTION));
		OK(TBRW_set_stream_info(ptr, n, &info));
		OK(TBRW_done_stream_section(ptr, n, TBRW_STREAM_INFO_SECTION));
		OK(TBRW_writing_stream_section(ptr, n, TBRW_DATA_DESCRIPTION_SECTION));
		OK(TBRW_add_data_descriptor_entry(ptr, n, &field));
		OK(TBRW_done_stream_section(ptr, n, TBRW_DATA_DESCRIPTION_SECTION));
		OK(TBRW_writing_stream_section(ptr, n, TBRW_DATA_SECTION));
	}
}

/* An entry of 4 bytes to each of the others, then a sample, until one is not taken; how many were,
 * by stream. */
static void add_side_by_side(TBRW_PTR ptr, uint32_t *taken)
{
	TBRW_U32 code = VT_SUCCESS;

	while (code == VT_SUCCESS) {
		struct sample s = sample_of(1, 1, 0x1000, taken[0]);

		for (uint32_t n = 1; code == VT_SUCCESS && n <= SIDE_STREAMS; n++) {
			code = TBRW_add_data(ptr, n, 4, &taken[n]);
			taken[n] += code == VT_SUCCESS;
		}
		if (code == VT_SUCCESS)
			code = TBRW_add_data(ptr, 0, sizeof(s), &s);
		taken[0] += code == VT_SUCCESS;
	}
	FAILS(code, VT_NO_SPACE);
}

/* Fills a disk, and opens what became of the file. */
static TBRW_PTR fill_disk(size_t room, bool reserves, uint32_t *taken)
{
	uint32_t value = 1;

	disk_begin(room, reserves);
	TBRW_PTR ptr = open_file("full.tb5", CREATE);
	begin_side_by_side(ptr);
	add_side_by_side(ptr, taken);
	disk_end();
	FAILS(TBRW_add_data(ptr, 1, 4, &value), VT_NO_SPACE);
	FAILS(TBRW_verify(ptr), VT_NO_SPACE);
	OK(TBRW_abort_cleanup_and_close(ptr));
	ptr = open_file("full.tb5", READ);
	FAILS(TBRW_verify(ptr), VT_INCOMPLETE_TB5_ENCOUNTERED);
	return ptr;
}

enum { FIRST_ABOVE_SLACK = 3 }; /* the rooms before say nothing where 70 KB may be lost */
static const size_t rooms[] = {8000, 12288, 65536, 100000, 300000, 524288, 1048576, 3000000};

/* All that was taken can be read, and it takes all the room but less than a block: no stream is
 * behind another by what a buffer holds. */
START_TEST(full_disk_holds_what_fits)
{
	uint32_t taken[SIDE_STREAMS + 1] = {0};
	TBRW_PTR ptr = fill_disk(rooms[_i], true, taken);
	struct stat st;

	ck_assert_int_eq(stat(path_of("full.tb5"), &st), 0);
	ck_assert_uint_le((size_t)st.st_size, rooms[_i]);
	ck_assert_uint_gt((size_t)st.st_size + 4096 + 200, rooms[_i]);
	for (uint32_t n = 0; n <= SIDE_STREAMS; n++)
		ck_assert_uint_eq(entries_of(ptr, n), taken[n]);
	OK(TBRW_abort_cleanup_and_close(ptr));
}
END_TEST

/* Without a file system that reserves, some 64 KB are lost at most, and some chunks' headers. */
START_TEST(full_disk_without_reserving)
{
	uint32_t taken[SIDE_STREAMS + 1] = {0};
	TBRW_PTR ptr = fill_disk(rooms[_i], false, taken);
	const size_t each = sizeof(struct sample) + 4 * SIDE_STREAMS;

	for (uint32_t n = 0; n <= SIDE_STREAMS; n++) {
		uint32_t seen = entries_of(ptr, n);

		ck_assert_uint_le(seen, taken[n]);
		ck_assert_uint_gt((seen + 1) * each + 70000 + rooms[_i] / 100, rooms[_i]);
	}
	OK(TBRW_abort_cleanup_and_close(ptr));
}
END_TEST

/* Whether it ends well or is given up, a file keeps no more room than its bytes take. */
START_TEST(room_is_given_back)
{
	uint32_t one = 1;
	struct stat st;

	disk_begin(1 << 20, true);
	TBRW_PTR ptr = open_file("a.tb5", CREATE);
	write_custom_stream(ptr, 0, L"whole", 4, &one, 4);
	ck_assert_uint_gt(disk.reserved, 0);
	OK(_i ? TBRW_close(ptr) : TBRW_abort_cleanup_and_close(ptr));
	ck_assert_uint_eq(disk.reserved, 0);
	ck_assert_int_eq(stat(path_of("a.tb5"), &st), 0);
	ck_assert_uint_eq(disk.room + (size_t)st.st_size, 1 << 20);
	disk_end();
}
END_TEST

/* Nor is it forgotten where that fails the first time. */
START_TEST(room_is_given_back_later)
{
	uint32_t value = 1;
	TBRW_PTR ptr = open_file("a.tb5", CREATE);

	disk_begin(1 << 20, true);
	write_custom_stream(ptr, 0, L"whole", 4, &value, 4);
	fault_after(FAIL_WRITE, 0, EIO);
	disk.no_truncation = true;
	FAILS(TBRW_close(ptr), VT_WRITE_ERROR);
	disk.no_truncation = false;
	ck_assert(fault_end() && disk.reserved > 0);
	OK(TBRW_abort_cleanup_and_close(ptr));
	ck_assert_uint_eq(disk.reserved, 0);
	disk_end();
}
END_TEST

START_TEST(create_on_a_full_disk)
{
	TBRW_PTR ptr = NULL;

	disk.room = 10;
	FAILS(TBRW_open(&ptr, wide_path_of("a.tb5"), CREATE), VT_NO_SPACE);
	disk.room = SIZE_MAX;
	FAILS(TBRW_open(&ptr, wide_path_of("a.tb5"), READ), VT_FILE_OPEN_FAILED);
}
END_TEST

/* Whatever byte the index breaks off at, the file is incomplete. */
START_TEST(close_on_a_full_disk)
{
	for (size_t room = 0; room < 2000; room += 7) {
		TBRW_PTR ptr = open_file("a.tb5", CREATE);
		uint32_t one = 1;

		write_custom_stream(ptr, 0, L"whole", 4, &one, 4);
		disk.room = room;
		TBRW_U32 code = TBRW_close(ptr);
		disk.room = SIZE_MAX;
		if (code == VT_SUCCESS) {
			ck_assert_uint_gt(room, 64);
			return;
		}
		FAILS(code, VT_NO_SPACE);
		OK(TBRW_abort_cleanup_and_close(ptr));
		expect_incomplete_but_readable("a.tb5");
	}
	ck_abort_msg("closing never succeeded");
}
END_TEST

/* Binding a complete file that has no room leaves it as it was, complete; whether the disk tells
 * beforehand or not. */
START_TEST(bind_on_a_full_disk)
{
	const struct sample samples[] = {sample_of(1, 1, 0x1000, 1), sample_of(1, 2, 0x1000, 2)};
	TBRW_PTR ptr = open_file("a.tb5", CREATE);
	bool failed = false, succeeded = false;
	TBRW_U32 bound;

	write_samples(ptr, samples, 2);
	OK(TBRW_close(ptr));
	for (size_t room = 0; room < 20000 && !succeeded; room += 100) {
		ptr = open_file("a.tb5", READ_WRITE);
		disk_begin(room, _i);
		if (TBRW_dobind(ptr, 0) == VT_SUCCESS) {
			succeeded = true;
		} else {
			failed = true;
			OK(TBRW_is_bound(ptr, 0, &bound));
			ck_assert_uint_eq(bound, 0);
		}
		disk_end();
		OK(TBRW_close(ptr));
		ptr = open_file("a.tb5", READ);
		OK(TBRW_verify(ptr));
		OK(TBRW_is_bound(ptr, 0, &bound));
		ck_assert_uint_eq(bound, succeeded);
		OK(TBRW_close(ptr));
	}
	ck_assert(failed);
	ck_assert(succeeded);
}
END_TEST

/* Wherever a disk that tells beforehand is full, what fits is readable. */
START_TEST(each_room)
{
	const wchar_t *path = wide_path_of("a.tb5");

	for (size_t room = 0; room < 10000000; room += 500) {
		uint32_t added;

		unlink(path_of("a.tb5"));
		disk_begin(room, true);
		TBRW_U32 code = scenario_write(path, 7, &added);
		disk_end();
		if (code == VT_SUCCESS) {
			ck_assert_uint_gt(room, 20000);
			return;
		}
		FAILS(code, VT_NO_SPACE);
		expect_no_more_than(path, added);
	}
	ck_abort_msg("never enough room");
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {disk_full, create_on_a_full_disk, close_on_a_full_disk};
	Suite *suite = suite_of("full disk", tests, sizeof(tests) / sizeof(*tests));
	TCase *each = tcase_create("each");

	tcase_set_timeout(each, 240);
	tcase_add_checked_fixture(each, folder_setup, folder_teardown);
	tcase_add_loop_test(each, full_disk_holds_what_fits, 0, 8);
	tcase_add_loop_test(each, room_is_given_back, 0, 2);
	tcase_add_test(each, room_is_given_back_later);
	tcase_add_loop_test(each, full_disk_without_reserving, FIRST_ABOVE_SLACK, 8);
	tcase_add_loop_test(each, bind_on_a_full_disk, 0, 2);
	tcase_add_test(each, each_room);
	suite_add_tcase(suite, each);
	return run_suite(suite);
}
