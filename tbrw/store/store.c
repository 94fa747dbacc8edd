#include "tbrw/store/store.h"

#include "tbrw/store/crc32c.h"
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

/* Reserving this much at a time costs some calls a second at most. */
#define RESERVE_AHEAD (256u << 10)
#define RESERVE_UNIT  4096u

static TBRW_U32 write_error(int error)
{
	return error == ENOSPC || error == EDQUOT ? VT_NO_SPACE : VT_WRITE_ERROR;
}

static TBRW_U32 create_error(int error)
{
	switch (error) {
	case EACCES:
	case EPERM:
	case EROFS:
		return VT_NO_WRITE_PERMISSION;
	case ENOSPC:
	case EDQUOT:
		return VT_NO_SPACE;
	case ENAMETOOLONG:
	case EISDIR:
	case ELOOP:
		return VT_INVALID_SAMPLE_FILE_NAME;
	default:
		return VT_SAMP_FILE_CREATE_FAILED;
	}
}

/* Writes all of the vector at `offset`; changes the vector. */
static TBRW_U32 store_write(int fd, struct iovec *iov, int count, uint64_t offset)
{
	while (count) {
		ssize_t n = pwritev(fd, iov, count, (off_t)offset);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n < 0 ? write_error(errno) : VT_WRITE_ERROR;
		offset += (uint64_t)n;
		while (count && (size_t)n >= iov->iov_len) {
			n -= (ssize_t)iov->iov_len;
			iov++;
			count--;
		}
		if (count) {
			iov->iov_base = (char *)iov->iov_base + n;
			iov->iov_len -= (size_t)n;
		}
	}
	return VT_SUCCESS;
}

/* Removes an old file in the way of a new one, if the old one may be replaced. */
static TBRW_U32 store_remove_old(const char *path)
{
	struct stat st;
	TBRW_U32 code = VT_SUCCESS;

	if (lstat(path, &st) < 0)
		return errno == ENOENT ? VT_SUCCESS : create_error(errno);
	if (!S_ISREG(st.st_mode))
		return VT_INVALID_SAMPLE_FILE_NAME;
	if (st.st_uid != geteuid())
		return VT_NO_WRITE_PERMISSION;
	/* A file unreadable for us need not have a writer: there is no lock to check then. */
	int fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) < 0 && errno == EWOULDBLOCK)
		code = VT_TB5_IN_USE;
	else if (unlink(path) < 0 && errno != ENOENT)
		code = create_error(errno);
	if (fd >= 0)
		close(fd);
	return code;
}

TBRW_U32 tb5_store_create(struct tb5_store *store, const char *path)
{
	struct tb5_file_header header = {.version = TB5_FORMAT_VERSION,
					 .header_size = sizeof(header)};
	struct iovec iov = {&header, sizeof(header)};
	struct timespec now;
	TBRW_U32 code = store_remove_old(path);

	if (code != VT_SUCCESS)
		return code;
	int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
	if (fd < 0)
		return create_error(errno);
	if (flock(fd, LOCK_EX | LOCK_NB) < 0 && errno == EWOULDBLOCK) {
		close(fd);
		return VT_TB5_IN_USE;
	}
	memcpy(header.magic, TB5_FILE_MAGIC, sizeof(header.magic));
	clock_gettime(CLOCK_REALTIME, &now);
	header.created_ns = (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
	header.crc = tb5_crc32c(0, &header, offsetof(struct tb5_file_header, crc));
	code = store_write(fd, &iov, 1, 0);
	if (code != VT_SUCCESS) {
		unlink(path);
		close(fd);
		return code;
	}
	*store = (struct tb5_store){.fd = fd, .end = sizeof(header), .ahead = RESERVE_AHEAD};
	return VT_SUCCESS;
}

static TBRW_U32 store_check_file_header(const struct tb5_store *store)
{
	struct tb5_file_header header;
	TBRW_U32 code = tb5_store_read(store, 0, &header, sizeof(header));

	if (code != VT_SUCCESS)
		return code;
	if (memcmp(header.magic, TB5_FILE_MAGIC, sizeof(header.magic)) != 0 ||
	    header.crc != tb5_crc32c(0, &header, offsetof(struct tb5_file_header, crc)))
		return VT_INVALID_SAMPLE_FILE;
	if (header.version != TB5_FORMAT_VERSION)
		return VT_INCOMPATIBLE_VERSION;
	return header.header_size == sizeof(header) ? VT_SUCCESS : VT_INVALID_SAMPLE_FILE;
}

TBRW_U32 tb5_store_open(struct tb5_store *store, const char *path, bool writable)
{
	/* Not blocking, or a FIFO in the file's place would hold us up. */
	int flags = O_CLOEXEC | O_NONBLOCK | (writable ? O_RDWR | O_NOFOLLOW : O_RDONLY);
	struct tb5_store opened = {.fd = open(path, flags), .ahead = RESERVE_AHEAD};
	TBRW_U32 code = VT_SUCCESS;
	struct stat st;

	if (opened.fd < 0) {
		if (writable && (errno == EACCES || errno == EROFS || errno == EPERM))
			return VT_NO_WRITE_PERMISSION;
		return errno == ENAMETOOLONG || errno == ELOOP || errno == EISDIR
			       ? VT_INVALID_SAMPLE_FILE_NAME
			       : VT_FILE_OPEN_FAILED;
	}
	if (fstat(opened.fd, &st) < 0 || !S_ISREG(st.st_mode))
		code = VT_INVALID_SAMPLE_FILE_NAME;
	else if (writable && flock(opened.fd, LOCK_EX | LOCK_NB) < 0 && errno == EWOULDBLOCK)
		code = VT_TB5_IN_USE;
	if (code == VT_SUCCESS) {
		opened.end = (uint64_t)st.st_size;
		code = store_check_file_header(&opened);
	}
	if (code != VT_SUCCESS) {
		close(opened.fd);
		return code;
	}
	*store = opened;
	return VT_SUCCESS;
}

TBRW_U32 tb5_store_open_temporary(struct tb5_store *store)
{
	const char *places[] = {secure_getenv("TMPDIR"), "/var/tmp", "/tmp"};
	int fd = -1;

	for (size_t i = 0; i < sizeof(places) / sizeof(*places) && fd < 0; i++)
		if (places[i] && *places[i])
			fd = open(places[i], O_TMPFILE | O_RDWR | O_EXCL | O_CLOEXEC, 0600);
	if (fd < 0)
		fd = memfd_create("tb5", MFD_CLOEXEC);
	if (fd < 0)
		return VT_SAMP_FILE_CREATE_FAILED;
	*store = (struct tb5_store){.fd = fd};
	return VT_SUCCESS;
}

void tb5_store_close(struct tb5_store *store)
{
	tb5_store_give_back(store);
	if (store->fd >= 0)
		close(store->fd);
	free(store->found);
	*store = (struct tb5_store){.fd = -1};
}

TBRW_U32 tb5_store_read(const struct tb5_store *store, uint64_t offset, void *buffer, size_t size)
{
	char *p = buffer;

	if (offset > INT64_MAX - size)
		return VT_INVALID_SAMPLE_FILE;
	while (size) {
		ssize_t n = pread(store->fd, p, size, (off_t)offset);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return VT_SAMPLE_FILE_MAPPING_ERROR;
		if (n == 0)
			return VT_INVALID_SAMPLE_FILE;
		p += n;
		offset += (uint64_t)n;
		size -= (size_t)n;
	}
	return VT_SUCCESS;
}

TBRW_U32 tb5_store_read_header(const struct tb5_store *store, uint64_t offset,
			       struct tb5_chunk_header *header)
{
	struct tb5_chunk_header h;

	if (offset > store->end || store->end - offset < sizeof(h))
		return VT_INVALID_SAMPLE_FILE;
	TBRW_U32 code = tb5_store_read(store, offset, &h, sizeof(h));
	if (code != VT_SUCCESS)
		return code;
	if (h.magic != TB5_CHUNK_MAGIC || h.length > TB5_PAYLOAD_MAX ||
	    h.header_crc != tb5_crc32c(0, &h, offsetof(struct tb5_chunk_header, header_crc)) ||
	    tb5_chunk_space(h.length) > store->end - offset)
		return VT_INVALID_SAMPLE_FILE;
	*header = h;
	return VT_SUCCESS;
}

TBRW_U32 tb5_store_read_payload(const struct tb5_store *store, uint64_t offset,
				const struct tb5_chunk_header *header, void *payload)
{
	TBRW_U32 code = tb5_store_read(store, offset + sizeof(*header), payload, header->length);

	if (code == VT_SUCCESS && tb5_crc32c(0, payload, header->length) != header->payload_crc)
		code = VT_INVALID_SAMPLE_FILE;
	return code;
}

TBRW_U32 tb5_store_append(struct tb5_store *store, struct tb5_chunk_header *header,
			  const void *payload, uint64_t *offset)
{
	static const char zeros[8];
	uint64_t space = tb5_chunk_space(header->length);
	struct iovec iov[3];

	assert(header->length <= TB5_PAYLOAD_MAX);
	header->magic = TB5_CHUNK_MAGIC;
	header->payload_crc = tb5_crc32c(0, payload, header->length);
	header->header_crc = tb5_crc32c(0, header, offsetof(struct tb5_chunk_header, header_crc));
	iov[0] = (struct iovec){header, sizeof(*header)};
	/* An iovec's pointer is not const, but pwritev does not write there. */
	iov[1] = (struct iovec){(void *)(uintptr_t)payload, header->length};
	iov[2] = (struct iovec){(void *)(uintptr_t)zeros,
				(size_t)(space - sizeof(*header) - header->length)};
	TBRW_U32 code = store_write(store->fd, iov, 3, store->end);
	if (code != VT_SUCCESS) {
		tb5_store_truncate(store, store->end);
		return code;
	}
	*offset = store->end;
	store->end += space;
	return VT_SUCCESS;
}

void tb5_store_give_back(struct tb5_store *store)
{
	if (store->reserved > store->end)
		tb5_store_truncate(store, store->end);
}

/* Has the file system keep room up to `end`, without making the file longer. */
static TBRW_U32 store_allocate(struct tb5_store *store, uint64_t end)
{
	uint64_t from = store->reserved > store->end ? store->reserved : store->end;
	int ret;

	assert(end > from);
	do
		ret = fallocate(store->fd, FALLOC_FL_KEEP_SIZE, (off_t)from, (off_t)(end - from));
	while (ret < 0 && errno == EINTR);
	if (ret < 0)
		return write_error(errno);
	store->reserved = end;
	return VT_SUCCESS;
}

/* The limit of a file's length (RLIMIT_FSIZE). Asking for more may end the process by SIGXFSZ. */
static uint64_t file_size_limit(void)
{
	struct rlimit limit;

	return getrlimit(RLIMIT_FSIZE, &limit) < 0 ? RLIM_INFINITY : limit.rlim_cur;
}

static uint64_t smaller(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* store_allocate with room ahead, up to `limit`. On a nearly full disk, half as much is tried until
 * a request succeeds; after a success the next request doubles. */
static TBRW_U32 store_allocate_ahead(struct tb5_store *store, uint64_t end, uint64_t limit)
{
	uint64_t ahead = store->ahead;
	TBRW_U32 code = store_allocate(store, smaller(end + ahead, limit));

	while (code == VT_NO_SPACE && ahead) {
		ahead = ahead > RESERVE_UNIT ? ahead / 2 : 0;
		code = store_allocate(store, smaller(end + ahead, limit));
	}
	store->ahead = ahead ? ahead * 2 : RESERVE_UNIT;
	if (store->ahead > RESERVE_AHEAD)
		store->ahead = RESERVE_AHEAD;
	return code;
}

TBRW_U32 tb5_store_reserve(struct tb5_store *store, uint64_t size)
{
	uint64_t needed = store->end + size;
	uint64_t unit_end = (needed + RESERVE_UNIT - 1) / RESERVE_UNIT * RESERVE_UNIT;
	uint64_t limit = file_size_limit();
	TBRW_U32 code = VT_SUCCESS;

	if (store->cannot_reserve)
		return VT_SUCCESS;
	/* Above the limit, writing fails and reports the error. */
	if (needed > limit)
		code = VT_WRITE_ERROR;
	else if (needed > store->reserved)
		code = store_allocate_ahead(store, unit_end, limit);
	if (code == VT_NO_SPACE)
		return code;
	/* After other errors writing may work all the same. */
	store->cannot_reserve = code != VT_SUCCESS;
	assert(store->cannot_reserve || store->reserved >= needed);
	store->room = code == VT_SUCCESS ? store->reserved - needed : 0;
	return VT_SUCCESS;
}

TBRW_U32 tb5_store_sync(struct tb5_store *store)
{
	int ret;

	do
		ret = fsync(store->fd);
	while (ret < 0 && errno == EINTR);
	if (ret == 0 || errno == EINVAL || errno == ENOSYS)
		return VT_SUCCESS;
	return write_error(errno);
}

void tb5_store_truncate(struct tb5_store *store, uint64_t end)
{
	assert(end <= store->end);
	/* If this fails, the tail is a chunk with a wrong CRC; readers skip such a chunk. */
	if (ftruncate(store->fd, (off_t)end) == 0) {
		store->end = end;
		store->reserved = 0;
	}
	store->room = 0;
}
