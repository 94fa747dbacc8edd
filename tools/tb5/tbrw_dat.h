/*
 * The structures of the TBRW API as tables, and the data file between tbrw_reader and tbrw_writer:
 * a magic, then items in the order of the writer's calls. An item is a header and `size` bytes:
 *
 *   DAT_SECTION, DAT_SECTION_DONE, DAT_STREAM, DAT_STREAM_DONE   nothing
 *   DAT_USER_GLOBAL, DAT_USER_STREAM, DAT_DATA                   bytes as in the API
 *   DAT_DATA_FILE   name of the second file, in the folder of the first one
 *   DAT_SYSTEM      the system from TBRW_get_system, each pointer as the offset of its target
 *   all others      the structure of the API; its strings in order, each as a 32-bit length and
 *                   UTF-8, all ones for none; an event's details
 *
 * Integers are in the machine's form: the file only passes from one example to the other.
 */
#ifndef TOOLS_TB5_TBRW_DAT_H
#define TOOLS_TB5_TBRW_DAT_H

#include <stdbool.h>
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
	DAT_ITEM_KINDS, /* those below are parts of other items */
	DAT_NODE = DAT_ITEM_KINDS,
	DAT_CPU,
	DAT_ARCH,
	DAT_CPUID_IA32,
	DAT_CPUID_IA64,
	DAT_EVENT_DETAIL,
	DAT_KINDS
};

struct dat_item {
	uint32_t kind;
	uint32_t stream;  /* DAT_NO_STREAM for global sections */
	uint32_t section; /* its identifier, for DAT_SECTION and DAT_SECTION_DONE */
	uint32_t reserved;
	uint64_t size;
};

struct dat_place {
	size_t offset;
	size_t size; /* bytes */
};

#define DAT_FIELDS_MAX 12
#define DAT_TEXT       's'

/* A structure of the API, all zero for kinds without one. The format is for a line with the fields
 * in order: %u and %i decimal, %x hexadecimal, %h and %8 without 0x, %8 with leading zeros, %m the
 * two lowest bits, %t a time or "never", %y a type of streams, %s (DAT_TEXT) a TBRW_STRING_OR_ID.
 * The format has every string of the structure. */
struct dat_record {
	size_t size;
	const char *format;
	struct dat_place fields[DAT_FIELDS_MAX];
};

const struct dat_record *dat_record_of(enum dat_kind kind);

/* Stores the offsets of the structure's strings; returns their number. */
size_t dat_texts_of(enum dat_kind kind, size_t texts[DAT_STRINGS_MAX]);

/* An unsigned number of 1 to 8 bytes in a structure; of 0 bytes, 0. */
uint64_t dat_number(const void *record, struct dat_place place);

/* The array of a structure: nodes, CPUs, ... of the hardware, details of an event. */
struct dat_array {
	enum dat_kind kind; /* of its entries; 0: the structure has no array */
	size_t place;       /* of the pointer in the structure */
	uintptr_t pointer;  /* 0: none */
	uint64_t count;
};

struct dat_array dat_array_of(enum dat_kind kind, const void *record);

/* Rebases the pointers of a DAT_SYSTEM from `from` to `to`: one is 0, the other the system's
 * address. TBRW_get_system lays each level of the tree out as one run behind the level above; false
 * for any other layout, so no two arrays overlap. */
bool dat_system_move(unsigned char *system, uint64_t size, uintptr_t from, uintptr_t to);

/* Answers --help, --version and a wrong number of arguments but two; -1: the program goes on. */
int dat_check_arguments(int argc, char **argv, const char *usage, const char *version);

#endif
