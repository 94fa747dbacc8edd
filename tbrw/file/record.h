/* Reading and writing the records of a sequence, by the protocols of the API. */
#ifndef TBRW_RECORD_H
#define TBRW_RECORD_H

#include "tbrw/tbrw.h"
#include <stddef.h>
#include <stdint.h>

struct tb5_file;
struct tb5_seq;

/* Makes a caller's record, of a content with records (content.h), one of the file's: its strings
 * become ids. VT_UNSUPPORTED_DATA_SIZE if its own size field is not right; errors of
 * tb5_file_intern. */
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

/* A tb5_fetch for records with a size field; source is a struct tb5_record_source. */
struct tb5_record_source {
	struct tb5_seq *seq;
	TBRW_U32 size;
};
tb5_fetch tb5_fetch_records;

/* How many enumerate_ callbacks get in one run, in bytes; at least one record. */
#define TB5_RUN_SIZE (256u << 10)

#endif
