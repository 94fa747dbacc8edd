#include "tests/tbrw/disk.h"

#include <check.h>
#include <errno.h>
#include <fcntl.h>
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

struct disk disk = {.room = SIZE_MAX, .error = ENOSPC};

/* Whether this is the call that the test has chosen. */
static bool fault_is_now(enum fault fault, enum fault other)
{
	if ((disk.fault != fault && disk.fault != other) || disk.until_fault-- != 0)
		return false;
	disk.fault = NO_FAULT;
	disk.faulted = true;
	return true;
}

void fault_after(enum fault fault, uint32_t calls, int error)
{
	disk.fault = fault;
	disk.until_fault = calls;
	disk.error = error;
	disk.faulted = false;
}

bool fault_end(void)
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

void disk_begin(size_t room, bool reserves)
{
	disk.room = room;
	disk.reserves = reserves;
	disk.reserved = 0;
}

void disk_end(void)
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
