#include "tools/import_stacks/unpack.h"

#include "tools/memory/xalloc.h"
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#define BLOCK ((size_t)1 << 16)

struct unpacked {
	uint8_t *bytes;
	size_t size;
	size_t capacity;
};

static const char too_large[] = "it is larger than 1 GB";

static const char *read_whole(int fd, struct unpacked *file)
{
	for (;;) {
		if (file->size > UNPACK_MAX)
			return too_large;
		xalloc_room(&file->bytes, &file->capacity, file->size + BLOCK, 1);
		ssize_t size = read(fd, file->bytes + file->size, BLOCK - 1);
		if (size < 0 && errno == EINTR)
			continue;
		if (size < 0)
			return strerror(errno);
		if (size == 0)
			return NULL;
		file->size += (size_t)size;
	}
}

static size_t limit_of(size_t packed)
{
	size_t limit = packed > UNPACK_MAX / UNPACK_RATIO ? UNPACK_MAX : packed * UNPACK_RATIO;
	return limit < UNPACK_SMALL ? UNPACK_SMALL : limit;
}

/* Inflates until the end of the first member. */
static const char *inflate_all(z_stream *stream, struct unpacked *content, size_t limit)
{
	int status = Z_OK;
	while (status != Z_STREAM_END) {
		if (content->size > limit)
			return limit == UNPACK_MAX ? too_large
						   : "it unpacks to a hundred times its size";
		xalloc_room(&content->bytes, &content->capacity, content->size + BLOCK, 1);
		size_t room = content->capacity - content->size - 1;
		stream->next_out = content->bytes + content->size;
		stream->avail_out = (uInt)(room < UNPACK_SMALL ? room : UNPACK_SMALL);
		uInt before = stream->avail_out;
		status = inflate(stream, Z_NO_FLUSH);
		content->size += before - stream->avail_out;
		if (status != Z_OK && status != Z_STREAM_END)
			return "its gzip data is damaged, or ends too early";
	}
	return NULL;
}

static const char *inflate_file(const struct unpacked *file, struct unpacked *content)
{
	z_stream stream = {.next_in = file->bytes, .avail_in = (uInt)file->size};
	if (inflateInit2(&stream, MAX_WBITS + 16) != Z_OK)
		xalloc_fail();
	const char *problem = inflate_all(&stream, content, limit_of(file->size));
	inflateEnd(&stream);
	return problem;
}

const char *unpack_file(int fd, uint8_t **bytes, size_t *size)
{
	struct unpacked file = {0};
	struct unpacked content = {0};
	const char *problem = read_whole(fd, &file);
	bool is_packed = file.size >= 2 && file.bytes[0] == 0x1f && file.bytes[1] == 0x8b;
	if (!problem && is_packed)
		problem = inflate_file(&file, &content);
	if (is_packed || problem) {
		free(file.bytes);
		file = content;
	}
	if (problem) {
		free(content.bytes);
		return problem;
	}
	*bytes = file.bytes;
	*size = file.size;
	return NULL;
}
