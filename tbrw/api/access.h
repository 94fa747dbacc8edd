/* What a function of the API writes or reads: a section of a file, or of one of its streams. */
#ifndef TBRW_ACCESS_H
#define TBRW_ACCESS_H

#include "tbrw/file/content.h"

struct tb5_stream;

struct tb5_access {
	struct tb5_file *file;
	struct tb5_stream *stream; /* NULL: a global section */
	struct tb5_section *section;
};

/* The section, open or not; VT_UNKNOWN_SECTION_NUMBER, VT_STREAM_NOT_EXIST. */
TBRW_U32 tb5_access_find_global(TBRW_PTR ptr, unsigned section, struct tb5_access *access);
TBRW_U32 tb5_access_find_in_stream(TBRW_PTR ptr, uint32_t number, unsigned section,
				   struct tb5_access *access);

/* The section and the sequence of a content, if the section may be written now, or read. `number`:
 * the stream of a stream's content. */
TBRW_U32 tb5_access_write(TBRW_PTR ptr, uint32_t number, unsigned content,
			  struct tb5_access *access, struct tb5_seq **seq);
TBRW_U32 tb5_access_read(TBRW_PTR ptr, uint32_t number, unsigned content, struct tb5_access *access,
			 struct tb5_seq **seq);

/* Adds a record, taken by tb5_record_take. VT_UNEXPECTED_NULL_PTR; VT_SECTION_ALREADY_IN_USE for a
 * second record of a content with only one. */
TBRW_U32 tb5_access_add(TBRW_PTR ptr, uint32_t number, unsigned content, const void *record);

/* Adds bytes as they are; VT_BUFFER_NULL. */
TBRW_U32 tb5_access_append(TBRW_PTR ptr, uint32_t number, unsigned content, const void *bytes,
			   TBRW_U32 size);

/* The get_ protocol: for the only record of a content, or for all bytes of one without records. */
TBRW_U32 tb5_access_get(TBRW_PTR ptr, uint32_t number, unsigned content, TBRW_U32 size_of_buffer,
			void *buffer, TBRW_U32 *size_used);

/* A caller's function for runs of the records of a content. */
struct tb5_callback {
	unsigned content;
	void *user;
	union {
		void (*any)(void);
		TBRW_PID_CALLBACK *processes;
		TBRW_TID_CALLBACK *threads;
		TBRW_MODULE_CALLBACK *modules;
		TBRW_DATA_DESC_CALLBACK *descriptors;
	} of;
};

/* The number of a content's records, deduced ones too. */
typedef TBRW_U32 tb5_access_count(struct tb5_file *file, unsigned content, uint64_t *count);

/* The enumerate_ protocol. count and fetch are NULL for the records of the sequence alone; fetch's
 * source is a struct tb5_record_source of the sequence. VT_UNEXPECTED_NULL_PTR: no callback. */
TBRW_U32 tb5_access_enumerate(TBRW_PTR ptr, uint32_t number, uint64_t start,
			      struct tb5_callback callback, tb5_access_count *count,
			      tb5_fetch *fetch);

#endif
