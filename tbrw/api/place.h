/* Where a function of the API writes or reads: which sections and streams are open for it. */
#ifndef TBRW_PLACE_H
#define TBRW_PLACE_H

#include "tbrw/file/record.h"

/* A section of a file, or of one of its streams. */
struct tb5_place {
	struct tb5_file *file;
	struct tb5_stream *stream; /* NULL: a global section */
	struct tb5_section *section;
};

/* The section whatever it is open for; VT_UNKNOWN_SECTION_NUMBER, VT_STREAM_NOT_EXIST. */
TBRW_U32 tb5_place_find_global(TBRW_PTR ptr, unsigned section, struct tb5_place *place);
TBRW_U32 tb5_place_find_in_stream(TBRW_PTR ptr, uint32_t number, unsigned section,
				  struct tb5_place *place);

/* The place and the sequence of a content, if its section may be written now, or read. `number`
 * says of which stream it is, if it is a stream's. */
TBRW_U32 tb5_place_write(TBRW_PTR ptr, uint32_t number, unsigned content, struct tb5_place *place,
			 struct tb5_seq **seq);
TBRW_U32 tb5_place_read(TBRW_PTR ptr, uint32_t number, unsigned content, struct tb5_place *place,
			struct tb5_seq **seq);

/* Adds a record, as tb5_record_take has it; VT_UNEXPECTED_NULL_PTR. set: the only one of its
 * content, VT_SECTION_ALREADY_IN_USE. */
TBRW_U32 tb5_place_add(TBRW_PTR ptr, uint32_t number, unsigned content, const void *record);
TBRW_U32 tb5_place_set(TBRW_PTR ptr, uint32_t number, unsigned content, const void *record);

/* Adds bytes as they are; VT_BUFFER_NULL. */
TBRW_U32 tb5_place_append(TBRW_PTR ptr, uint32_t number, unsigned content, const void *bytes,
			  TBRW_U32 size);

/* The get_ protocol: for the only record of a content, or for all bytes of one without records. */
TBRW_U32 tb5_place_get(TBRW_PTR ptr, uint32_t number, unsigned content, TBRW_U32 size_of_buffer,
		       void *buffer, TBRW_U32 *size_used);

/* The enumerate_ protocol for the records of a content; emit and context are tb5_enumerate's.
 * VT_UNEXPECTED_NULL_PTR if there is no callback. */
TBRW_U32 tb5_place_enumerate(TBRW_PTR ptr, uint32_t number, unsigned content, uint64_t start,
			     bool has_callback, tb5_emit *emit, void *context);

#endif
