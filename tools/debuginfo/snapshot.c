#include "tools/debuginfo/snapshot.h"

#include "tools/debuginfo/expansion.h"
#include "tools/memory/xalloc.h"
#include <assert.h>
#include <errno.h>
#include <gelf.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

enum { PIECE = 1 << 20 };

struct copy {
	int from;
	int to;
	off_t size;
	off_t copied;
	time_t deadline;
	char *piece;
};

static time_t now(void)
{
	struct timespec time;
	clock_gettime(CLOCK_MONOTONIC, &time);
	return time.tv_sec;
}

static int copy_piece(struct copy *copy, off_t at)
{
	assert(at < copy->size);
	size_t wanted = copy->size - at < PIECE ? (size_t)(copy->size - at) : PIECE;
	ssize_t got = pread(copy->from, copy->piece, wanted, at);
	if (got < 0)
		return -1;
	if (got == 0) {
		errno = ESTALE;
		return -1;
	}
	copy->copied += got;
	if (copy->copied > SNAPSHOT_BYTES_MAX || now() > copy->deadline) {
		errno = copy->copied > SNAPSHOT_BYTES_MAX ? EFBIG : ETIMEDOUT;
		return -1;
	}
	return pwrite(copy->to, copy->piece, (size_t)got, at) == got ? (int)got : -1;
}

/* Holes stay holes. */
static int copy_pieces(struct copy *copy)
{
	for (off_t at = 0; at < copy->size;) {
		off_t data = lseek(copy->from, at, SEEK_DATA);
		if (data < 0 && errno == ENXIO)
			break;
		if (data > at)
			at = data;
		int got = at < copy->size ? copy_piece(copy, at) : 0;
		if (got < 0)
			return -1;
		at += got;
	}
	return 0;
}

static bool is_elf(int fd)
{
	char magic[SELFMAG];
	return pread(fd, magic, SELFMAG, 0) == SELFMAG && memcmp(magic, ELFMAG, SELFMAG) == 0;
}

/* Whether nobody wrote to the file since. A writer can reset the times, but to no use: the copy
 * counts. */
static bool is_unchanged(int fd, const struct stat *status)
{
	struct stat present;
	return fstat(fd, &present) == 0 && present.st_size == status->st_size &&
	       present.st_mtim.tv_sec == status->st_mtim.tv_sec &&
	       present.st_mtim.tv_nsec == status->st_mtim.tv_nsec;
}

int snapshot_of(int fd, const struct stat *status)
{
	struct copy copy = {.from = fd, .size = status->st_size};
	if (!is_elf(fd) || status->st_size > SNAPSHOT_SIZE_MAX) {
		errno = status->st_size > SNAPSHOT_SIZE_MAX ? EFBIG : ENOEXEC;
		return -1;
	}
	copy.to = memfd_create("file", MFD_CLOEXEC);
	if (copy.to < 0)
		return -1;
	copy.deadline = now() + SNAPSHOT_SECONDS_MAX;
	copy.piece = xalloc_zeroed(PIECE, 1);
	int result = ftruncate(copy.to, copy.size);
	if (result == 0)
		result = copy_pieces(&copy);
	if (result == 0 && !is_unchanged(fd, status)) {
		errno = ESTALE;
		result = -1;
	}
	free(copy.piece);
	if (result == 0) {
		expansion_make(copy.to, (uint64_t)copy.copied);
		return copy.to;
	}
	int error = errno;
	close(copy.to);
	errno = error;
	return -1;
}
