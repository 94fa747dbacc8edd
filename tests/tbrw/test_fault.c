/* Full disks and failing writes, made by a pwritev64 of the test's own (linked with --wrap). */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>

#include "tests/tbrw/support.h"

ssize_t __real_pwritev64(int fd, const struct iovec *iov, int count, off_t offset);
ssize_t __wrap_pwritev64(int fd, const struct iovec *iov, int count, off_t offset);

static struct {
	size_t room;         /* bytes that can still be written */
	int error;           /* what the write that finds no room gets */
	unsigned interrupts; /* calls that fail with EINTR first */
	bool dribble;        /* write at most 5 bytes per call */
} disk = {SIZE_MAX, ENOSPC, 0, false};

ssize_t __wrap_pwritev64(int fd, const struct iovec *iov, int count, off_t offset)
{
	size_t limit = disk.dribble && disk.room > 5 ? 5 : disk.room;
	struct iovec first;

	if (disk.interrupts) {
		disk.interrupts--;
		errno = EINTR;
		return -1;
	}
	if (!limit) {
		errno = disk.error;
		return -1;
	}
	for (; count && !iov->iov_len; count--)
		iov++;
	if (!count)
		return 0;
	first = *iov;
	if (first.iov_len > limit)
		first.iov_len = limit;
	disk.room -= first.iov_len;
	return __real_pwritev64(fd, &first, 1, offset);
}

/* Writes until something fails; gives what failed it. */
static TBRW_U32 write_until_full(const char *name, size_t room, int error, uint32_t *whole)
{
	struct sample s = sample_of(1, 1, 0x1000, 1);
	TBRW_PTR ptr = open_file(name, CREATE);
	uint32_t one = 1;
	TBRW_U32 ret = VT_SUCCESS;

	write_custom_stream(ptr, 0, L"whole", 4, &one, 4);
	disk.room = room;
	disk.error = error;
	*whole = 0;
	ret = TBRW_writing_stream(ptr, 1);
	if (ret == VT_SUCCESS)
		ret = TBRW_writing_stream_section(ptr, 1, TBRW_DATA_SECTION);
	for (int i = 0; ret == VT_SUCCESS && i < 100000; i++) {
		ret = TBRW_add_data(ptr, 1, sizeof s, &s);
		++*whole;
	}
	ck_assert_uint_ne(ret, VT_SUCCESS);
	disk.room = SIZE_MAX;
	/* Even with room again: a gap must not look like a whole. */
	FAILS(TBRW_add_data(ptr, 1, 1, &s), ret);
	FAILS(TBRW_verify(ptr), ret);
	ck_assert_uint_ne(TBRW_close(ptr), VT_SUCCESS);
	OK(TBRW_abort_cleanup_and_close(ptr));
	return ret;
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
		TBRW_U32 ret;

		write_custom_stream(ptr, 0, L"whole", 4, &one, 4);
		disk.room = room;
		ret = TBRW_close(ptr);
		disk.room = SIZE_MAX;
		if (ret == VT_SUCCESS) {
			ck_assert_uint_gt(room, 64);
			return;
		}
		FAILS(ret, VT_NO_SPACE);
		OK(TBRW_abort_cleanup_and_close(ptr));
		expect_incomplete_but_readable("a.tb5");
	}
	ck_abort_msg("closing never succeeded");
}
END_TEST

/* Binding a complete file that has no room leaves it as it was, complete. */
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
		disk.room = room;
		if (TBRW_dobind(ptr, 0) == VT_SUCCESS) {
			succeeded = true;
		} else {
			failed = true;
			OK(TBRW_is_bound(ptr, 0, &bound));
			ck_assert_uint_eq(bound, 0);
		}
		disk.room = SIZE_MAX;
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
	TBRW_PTR ptr;
	uint32_t values[] = {1, 2, 3};

	disk.interrupts = 3;
	disk.dribble = true;
	ptr = open_file("a.tb5", CREATE);
	write_custom_stream(ptr, 0, L"whole", 4, values, sizeof values);
	disk.interrupts = 3;
	OK(TBRW_close(ptr));
	disk.dribble = false;
	ptr = open_file("a.tb5", READ);
	OK(TBRW_verify(ptr));
	OK(TBRW_close(ptr));
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {disk_full, create_on_a_full_disk, close_on_a_full_disk,
				      bind_on_a_full_disk, interrupted_and_short_writes};

	return run_suite(suite_of("fault", tests, sizeof tests / sizeof *tests));
}
