/* The data file between tbrw_reader and tbrw_writer: a magic, then items in the order in which the
 * writer's calls are to be made. An item is a header and `size` bytes:
 *
 *   DAT_SECTION, DAT_SECTION_DONE, DAT_STREAM, DAT_STREAM_DONE   nothing
 *   DAT_USER_GLOBAL, DAT_USER_STREAM, DAT_DATA                   bytes as the API has them
 *   DAT_DATA_FILE   name of the second file, which is in the folder of the first one
 *   DAT_SYSTEM      what TBRW_get_system gives, each pointer as the offset of what it points to
 *   all others      the structure of the API; its strings in order, each as a 32-bit length and
 *                   UTF-8, all ones for none; an event's details
 *
 * Integers are those of the machine: the file goes from one example to the other. */
#ifndef TOOLS_TB5_TBRW_DAT_H
#define TOOLS_TB5_TBRW_DAT_H

#include <stddef.h>
#include <stdint.h>

#define DAT_MAGIC       "tb5 data 1\n"
#define DAT_NO_STREAM   UINT32_MAX
#define DAT_NO_STRING   UINT32_MAX
#define DAT_STRINGS_MAX 3
#define DAT_DATA_SUFFIX ".dat"
#define DAT_PAYLOAD_MAX (UINT32_MAX / 2)

enum dat_kind {
	DAT_SECTION = 1,
	DAT_SECTION_DONE,
	DAT_STREAM,
	DAT_STREAM_DONE,
	DAT_SYSTEM,
	DAT_HOST,
	DAT_OS,
	DAT_APPLICATION,
	DAT_PROCESS,
	DAT_THREAD,
	DAT_MODULE,
	DAT_USER_GLOBAL,
	DAT_VERSION_INFO,
	DAT_STREAM_INFO,
	DAT_EVENT,
	DAT_DESCRIPTOR,
	DAT_DATA,
	DAT_DATA_FILE,
	DAT_USER_STREAM,
	DAT_KINDS
};

struct dat_item {
	uint32_t kind;
	uint32_t stream;  /* DAT_NO_STREAM for global sections */
	uint32_t section; /* its identifier, for DAT_SECTION and DAT_SECTION_DONE */
	uint32_t reserved;
	uint64_t size;
};

/* The structure of a kind: its size, 0 for kinds without one, and where its strings are. */
struct dat_record {
	uint32_t size;
	uint32_t string_count;
	size_t strings[DAT_STRINGS_MAX];
};

/* NULL: no such kind. */
const struct dat_record *dat_record_of(uint32_t kind);

#endif
