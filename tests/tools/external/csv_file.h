/* A CSV file of a test: text as an open file without a name. */
#ifndef TESTS_TOOLS_EXTERNAL_CSV_FILE_H
#define TESTS_TOOLS_EXTERNAL_CSV_FILE_H

#include <check.h>
#include <stddef.h>
#include <sys/mman.h>
#include <unistd.h>

static inline int csv_file_of(const char *text, size_t size)
{
	int fd = memfd_create("csv", MFD_CLOEXEC);
	ck_assert_int_ge(fd, 0);
	for (size_t at = 0; at < size;) {
		ssize_t n = write(fd, text + at, size - at);
		ck_assert_int_gt(n, 0);
		at += (size_t)n;
	}
	ck_assert_int_eq(lseek(fd, 0, SEEK_SET), 0);
	return fd;
}

#endif
