/* The tb5 container's bytes: FORMAT.md section 1, and nothing else. */
#ifndef TBRW_FORMAT_H
#define TBRW_FORMAT_H

#include <stdint.h>

#define TB5_FILE_MAGIC     "\x89TB5\r\n\x1a\n"
#define TB5_FORMAT_VERSION 2
#define TB5_CHUNK_MAGIC    0x63356274u /* "tb5c" */
#define TB5_PAYLOAD_MAX    (16u << 20)
#define TB5_NO_STREAM      UINT32_MAX

enum tb5_kind {
	TB5_KIND_BYTES = 1,
	TB5_KIND_SECTION_DONE = 2,
	TB5_KIND_STREAM_OPEN = 3,
	TB5_KIND_STREAM_DONE = 4,
	TB5_KIND_STREAM_DROPPED = 5,
	TB5_KIND_INDEX = 6,
	TB5_KIND_END = 7,
	TB5_KIND_LISTS = 8
};

enum tb5_content {
	TB5_STRINGS = 1,

	TB5_GLOBAL_FIRST = 16,
	TB5_HARDWARE = 16,
	TB5_HOST = 17,
	TB5_OS = 18,
	TB5_APPLICATION = 19,
	TB5_PROCESSES = 20,
	TB5_THREADS = 21,
	TB5_MODULES = 22,
	TB5_USER_GLOBAL = 23,
	TB5_VERSION_INFO = 24,
	TB5_GLOBAL_END = 25,

	TB5_STREAM_FIRST = 32,
	TB5_EVENTS = 32,
	TB5_EVENT_DETAILS = 33,
	TB5_DESCRIPTORS = 34,
	TB5_DATA = 35,
	TB5_USER_STREAM = 36,
	TB5_STREAM_INFO = 37,
	TB5_STREAM_END = 38
};

struct tb5_file_header {
	char magic[8];
	uint16_t version;
	uint16_t header_size;
	uint32_t reserved;
	uint64_t created_ns;
	uint8_t reserved2[36];
	uint32_t crc;
};

struct tb5_chunk_header {
	uint32_t magic;
	uint16_t kind;
	uint16_t content;
	uint32_t stream;
	uint32_t length;
	uint64_t start;
	uint32_t payload_crc;
	uint32_t header_crc;
};

struct tb5_list_record {
	uint64_t offset;
	uint32_t length;
	uint32_t crc;
};

struct tb5_index_entry {
	uint64_t offset;
	uint16_t kind;
	uint16_t content;
	uint32_t stream;
	uint64_t end;
	uint32_t size;
	uint32_t crc;
};

struct tb5_end {
	uint64_t index_offset;
	uint64_t index_size;
	uint64_t file_size;
	uint64_t reserved;
};

_Static_assert(sizeof(struct tb5_file_header) == 64, "FORMAT.md 1.1");
_Static_assert(sizeof(struct tb5_chunk_header) == 32, "FORMAT.md 1.2");
_Static_assert(sizeof(struct tb5_list_record) == 16, "FORMAT.md 1.4");
_Static_assert(sizeof(struct tb5_index_entry) == 32, "FORMAT.md 1.4");
_Static_assert(sizeof(struct tb5_end) == 32, "FORMAT.md 1.4");

/* The space of a chunk with `length` bytes of payload. */
static inline uint64_t tb5_chunk_space(uint32_t length)
{
	return sizeof(struct tb5_chunk_header) + (((uint64_t)length + 7) & ~(uint64_t)7);
}

#endif
