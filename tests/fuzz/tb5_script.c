#include "tests/fuzz/tb5_script.h"

#include "tbrw/store/crc32c.h"
#include "tbrw/store/format.h"
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

struct step {
	uint8_t kind;
	uint8_t content;
	uint8_t stream;
	uint8_t size_high;
	uint8_t size_low;
};

static void put(int fd, const void *data, size_t size)
{
	if (write(fd, data, size) != (ssize_t)size)
		abort();
}

static void put_file_header(int fd)
{
	struct tb5_file_header h = {.version = TB5_FORMAT_VERSION, .header_size = sizeof(h)};

	memcpy(h.magic, TB5_FILE_MAGIC, sizeof(h.magic));
	h.crc = tb5_crc32c(0, &h, offsetof(struct tb5_file_header, crc));
	put(fd, &h, sizeof(h));
}

static void put_chunk(int fd, const struct step *step, const uint8_t *payload, uint32_t length,
		      uint64_t start)
{
	static const char zeros[8];
	struct tb5_chunk_header h = {.magic = TB5_CHUNK_MAGIC,
				     .kind = step->kind,
				     .content = step->content,
				     .stream = step->stream == 0xff ? TB5_NO_STREAM : step->stream,
				     .length = length,
				     .start = start,
				     .payload_crc = tb5_crc32c(0, payload, length)};

	h.header_crc = tb5_crc32c(0, &h, offsetof(struct tb5_chunk_header, header_crc));
	put(fd, &h, sizeof(h));
	put(fd, payload, length);
	put(fd, zeros, (size_t)(tb5_chunk_space(length) - sizeof(h) - length));
}

/* Makes the checksums that lists hold of chunks right. */
static void put_lists(int fd, const struct step *step, const uint8_t *payload, uint32_t length)
{
	static uint8_t mended[UINT16_MAX];

	if (length)
		memcpy(mended, payload, length);
	for (uint32_t at = 0; at + sizeof(struct tb5_list_record) <= length;
	     at += (uint32_t)sizeof(struct tb5_list_record)) {
		struct tb5_list_record record;
		struct tb5_chunk_header h;

		memcpy(&record, mended + at, sizeof(record));
		if (pread(fd, &h, sizeof(h), (off_t)record.offset) != (ssize_t)sizeof(h))
			continue;
		record.crc = h.payload_crc;
		memcpy(mended + at, &record, sizeof(record));
	}
	put_chunk(fd, step, mended, length, 0);
}

/* Makes the checksums of the lists that an index names right. */
static void put_index(int fd, const struct step *step, const uint8_t *payload, uint32_t length)
{
	static uint8_t mended[UINT16_MAX];
	static uint8_t list[UINT16_MAX];

	if (length)
		memcpy(mended, payload, length);
	for (uint32_t at = 0; at + sizeof(struct tb5_index_entry) <= length;
	     at += (uint32_t)sizeof(struct tb5_index_entry)) {
		struct tb5_index_entry entry;

		memcpy(&entry, mended + at, sizeof(entry));
		if (entry.kind != TB5_KIND_LISTS || entry.size > sizeof(list) ||
		    pread(fd, list, entry.size, (off_t)entry.offset) != (ssize_t)entry.size)
			continue;
		entry.crc = tb5_crc32c(0, list, entry.size);
		memcpy(mended + at, &entry, sizeof(entry));
	}
	put_chunk(fd, step, mended, length, 0);
}

static void put_script(int fd, const uint8_t *data, size_t size)
{
	static uint64_t starts[256][64];

	memset(starts, 0, sizeof(starts));
	put_file_header(fd);
	while (size >= sizeof(struct step)) {
		struct step step;

		memcpy(&step, data, sizeof(step));
		data += sizeof(step);
		size -= sizeof(step);
		size_t length = (size_t)step.size_high << 8 | step.size_low;
		if (length > size)
			length = size;
		uint64_t *start = &starts[step.stream][step.content % 64];
		if (step.kind == TB5_KIND_INDEX)
			put_index(fd, &step, data, (uint32_t)length);
		else if (step.kind == TB5_KIND_LISTS)
			put_lists(fd, &step, data, (uint32_t)length);
		else
			put_chunk(fd, &step, data, (uint32_t)length,
				  step.kind == TB5_KIND_BYTES ? *start : 0);
		if (step.kind == TB5_KIND_BYTES)
			*start += length;
		data += length;
		size -= length;
	}
}

int tb5_script_run(const uint8_t *data, size_t size)
{
	int fd = memfd_create("fuzz", MFD_CLOEXEC);

	if (fd < 0)
		abort();
	if (size && *data == 'R')
		put(fd, data + 1, size - 1);
	else
		put_script(fd, data, size);
	return fd;
}
