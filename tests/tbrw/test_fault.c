/* Full disks, failing writes, reads, syncs and truncations, made by functions of the test's own
 * (linked with --wrap). The library does not rename. */
#include "tests/tbrw/scenario.h"
#include "tests/tbrw/support.h"
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

ssize_t __real_pwritev64(int fd, const struct iovec *iov, int count, off_t offset);
ssize_t __wrap_pwritev64(int fd, const struct iovec *iov, int count, off_t offset);
ssize_t __real_pread64(int fd, void *buffer, size_t size, off_t offset);
ssize_t __wrap_pread64(int fd, void *buffer, size_t size, off_t offset);
int __real_ftruncate64(int fd, off_t size);
int __wrap_ftruncate64(int fd, off_t size);
int __real_fsync(int fd);
int __wrap_fsync(int fd);
int __wrap_fallocate64(int fd, int mode, off_t offset, off_t size);

/* What is to happen to one call, chosen by its number. */
enum fault { NO_FAULT, FAIL_WRITE, TEAR_WRITE, FAIL_SYNC, FAIL_READ, SHORT_READ };

static struct {
	size_t room;         /* bytes that can still be written or reserved */
	bool reserves;       /* can do so; else writes find out */
	size_t reserved;     /* bytes that can be written besides */
	int error;           /* what the write that finds no room gets */
	unsigned interrupts; /* calls that fail with EINTR first */
	bool dribble;        /* write at most 5 bytes per call */
	uint32_t until_fault;
	bool faulted;
	enum fault fault;
	bool no_truncation;
} disk = {.room = SIZE_MAX, .error = ENOSPC};

/* Whether this is the call that the test has chosen. */
static bool fault_is_now(enum fault fault, enum fault other)
{
	if ((disk.fault != fault && disk.fault != other) || disk.until_fault-- != 0)
		return false;
	disk.fault = NO_FAULT;
	disk.faulted = true;
	return true;
}

static void fault_after(enum fault fault, uint32_t calls, int error)
{
	disk.fault = fault;
	disk.until_fault = calls;
	disk.error = error;
	disk.faulted = false;
}

/* Whether it came. */
static bool fault_end(void)
{
	disk.fault = NO_FAULT;
	return disk.faulted;
}

ssize_t __wrap_pread64(int fd, void *buffer, size_t size, off_t offset)
{
	bool whole = disk.fault == FAIL_READ;

	if (fault_is_now(FAIL_READ, SHORT_READ)) {
		if (!whole)
			return __real_pread64(fd, buffer, size > 3 ? 3 : size, offset);
		errno = disk.error;
		return -1;
	}
	return __real_pread64(fd, buffer, size, offset);
}

int __wrap_fallocate64(int fd, int mode, off_t offset, off_t size)
{
	struct stat st;

	ck_assert_int_eq(mode, FALLOC_FL_KEEP_SIZE);
	ck_assert_int_gt(size, 0);
	ck_assert_int_eq(fstat(fd, &st), 0);
	/* Where the file ends, or what is reserved; unless a torn chunk could not be cut off. */
	if (!disk.no_truncation)
		ck_assert_int_eq(offset, st.st_size + (off_t)disk.reserved);
	if (disk.interrupts) {
		disk.interrupts--;
		errno = EINTR;
		return -1;
	}
	if (!disk.reserves || (size_t)size > disk.room) {
		errno = disk.reserves ? disk.error : EOPNOTSUPP;
		return -1;
	}
	disk.room -= (size_t)size;
	disk.reserved += (size_t)size;
	return 0;
}

/* A disk that has so much room, and does or does not tell beforehand. */
static void disk_begin(size_t room, bool reserves)
{
	disk.room = room;
	disk.reserves = reserves;
	disk.reserved = 0;
}

static void disk_end(void)
{
	disk_begin(SIZE_MAX, false);
}

int __wrap_ftruncate64(int fd, off_t size)
{
	if (disk.no_truncation) {
		errno = EIO;
		return -1;
	}
	disk.room += disk.reserved;
	disk.reserved = 0;
	return __real_ftruncate64(fd, size);
}

int __wrap_fsync(int fd)
{
	if (fault_is_now(FAIL_SYNC, FAIL_SYNC)) {
		errno = disk.error;
		return -1;
	}
	return __real_fsync(fd);
}

ssize_t __wrap_pwritev64(int fd, const struct iovec *iov, int count, off_t offset)
{
	size_t whole = disk.reserved ? disk.reserved : disk.room;
	size_t limit = disk.dribble && whole > 5 ? 5 : whole;

	if (disk.interrupts) {
		disk.interrupts--;
		errno = EINTR;
		return -1;
	}
	if (disk.fault == TEAR_WRITE && fault_is_now(TEAR_WRITE, TEAR_WRITE)) {
		/* Part of it, and then nothing. */
		limit = 10;
		disk.room = 10;
	} else if (!limit || fault_is_now(FAIL_WRITE, FAIL_WRITE)) {
		errno = disk.error;
		return -1;
	}
	for (; count && !iov->iov_len; count--)
		iov++;
	if (!count)
		return 0;
	struct iovec first = *iov;
	if (first.iov_len > limit)
		first.iov_len = limit;
	if (disk.reserved)
		disk.reserved -= first.iov_len;
	else
		disk.room -= first.iov_len;
	return __real_pwritev64(fd, &first, 1, offset);
}

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

/* What a scenario that failed may leave: nothing, or a file that reads without an error and holds
 * no sample that was not added. */
static void expect_no_more_than(const wchar_t *path, uint32_t added)
{
	uint32_t seen = 0;
	TBRW_U32 code = scenario_read(path, 7, &seen);

	ck_assert_msg(code == VT_SUCCESS || code == VT_FILE_OPEN_FAILED ||
			      code == VT_DATA_DESC_NOT_EXIST,
		      "%u", code);
	ck_assert_uint_le(seen, added);
}

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
	const TTest *const tests[] = {disk_full, create_on_a_full_disk, close_on_a_full_disk,
				      interrupted_and_short_writes};
	Suite *suite = suite_of("fault", tests, sizeof(tests) / sizeof(*tests));
	TCase *each = tcase_create("each");

	tcase_set_timeout(each, 240);
	tcase_add_checked_fixture(each, folder_setup, folder_teardown);
	tcase_add_loop_test(each, full_disk_holds_what_fits, 0, 8);
	tcase_add_loop_test(each, room_is_given_back, 0, 2);
	tcase_add_test(each, room_is_given_back_later);
	tcase_add_loop_test(each, full_disk_without_reserving, FIRST_ABOVE_SLACK, 8);
	tcase_add_loop_test(each, bind_on_a_full_disk, 0, 2);
	tcase_add_test(each, each_room);
	tcase_add_loop_test(each, each_write, 0, 6);
	tcase_add_loop_test(each, each_write_of_an_addition, 0, 6);
	tcase_add_loop_test(each, each_sync, 0, 4);
	tcase_add_loop_test(each, each_sync_of_an_addition, 0, 4);
	tcase_add_loop_test(each, each_read, 0, 3);
	suite_add_tcase(suite, each);
	return run_suite(suite);
}
