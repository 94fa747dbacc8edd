/* The contents of a file (store/format.h): the section of each, the records of a sequence by the
 * protocols of the API, and the layout of a stream's entries by its data descriptors. */
#ifndef TBRW_CONTENT_H
#define TBRW_CONTENT_H

#include "tbrw/tbrw.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tb5_file;
struct tb5_seq;
struct tb5_stream;

#define TB5_CONTENT_STRINGS 3
#define TB5_CONTENT_GAPS    2

struct tb5_content_spec {
	uint8_t section;     /* of 8.2's global ones, or of the stream ones */
	bool is_only;        /* there is one record at most */
	uint8_t record_size; /* bytes; records begin with their size; 0: there are none of one size
			      */
	/* Offsets of the strings (TBRW_STRING_OR_ID) of a record; 0: no more. */
	uint8_t strings[TB5_CONTENT_STRINGS];
	/* Words of 4 bytes with padding bits, which a caller need not have set, and the bits of
	 * members. At 0: no more. */
	struct {
		uint8_t at;
		uint8_t used;
	} gaps[TB5_CONTENT_GAPS];
};

/* Static, read-only; `content` is global or a stream's. */
const struct tb5_content_spec *tb5_content_spec(unsigned content);

/* ---- Records ---- */

/* Makes a caller's record, of a content with records, one of the file's: its strings become ids.
 * VT_UNSUPPORTED_DATA_SIZE if its own size field is not right; errors of tb5_file_intern. */
TBRW_U32 tb5_record_take(struct tb5_file *file, unsigned content, const void *given, void *record);

/* The checks of the get_ protocol: whether `needed` bytes may be put into `buffer`. */
TBRW_U32 tb5_buffer_check(uint64_t needed, TBRW_U32 size_of_buffer, const void *buffer,
			  TBRW_U32 *size_used);

/* A record whose own size field is right. */
TBRW_U32 tb5_record_read(struct tb5_file *file, struct tb5_seq *seq, uint64_t index, void *record,
			 TBRW_U32 size);

/* Hands a run of records to a callback whose type only the caller knows. */
typedef TBRW_U32 tb5_emit(void *records, TBRW_U32 size, TBRW_U32 count, void *context);

/* Fills `count` records from `index` on. */
typedef TBRW_U32 tb5_fetch(struct tb5_file *file, void *source, uint64_t index, TBRW_U32 count,
			   void *records);

/* The enumerate_ protocol: records `start` to `total` of `size` bytes each, in runs. */
TBRW_U32 tb5_enumerate(struct tb5_file *file, tb5_fetch *fetch, void *source, uint64_t total,
		       TBRW_U32 size, uint64_t start, tb5_emit *emit, void *context);

/* The source of both: records of one size. */
struct tb5_record_source {
	struct tb5_seq *seq;
	TBRW_U32 size;
};
tb5_fetch tb5_fetch_entries; /* of data: any bytes */
tb5_fetch tb5_fetch_records; /* with a size field */

/* How many enumerate_ callbacks get in one run, in bytes; at least one record. */
#define TB5_RUN_SIZE (256u << 10)

/* ---- Layout ---- */

#define TB5_NO_FIELD UINT32_MAX

struct tb5_layout {
	uint32_t entry_size;    /* never 0 */
	uint32_t record_offset; /* of a TBRW_SampleRecordPC, or TB5_NO_FIELD */
	uint32_t tsc_offset;    /* of a TBRW_SampleRecordTSC, or TB5_NO_FIELD */
	bool has_event_id;
};

/* VT_DATA_DESC_NOT_EXIST, VT_INVALID_SAMPLE_FILE. */
TBRW_U32 tb5_layout_read(struct tb5_file *file, struct tb5_stream *stream,
			 struct tb5_layout *layout);

/* Adds a descriptor; the name is a string id already. */
TBRW_U32 tb5_descriptor_append(struct tb5_file *file, struct tb5_stream *stream,
			       const TBRW_SAMPREC_DESC_ENTRY *entry);

#endif
