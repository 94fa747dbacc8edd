/* Copies of records that outlast the ring, with the records' data beside them. */
#ifndef COLLECTOR_STREAM_RECORD_COPY_H
#define COLLECTOR_STREAM_RECORD_COPY_H

#include "collector/bpf/stack_chunk.h"
#include "collector/perf/record.h"
#include <stddef.h>
#include <stdint.h>

enum {
	RECORD_COPY_ALIGNMENT = 16,
	/* The maximum of record_copy_size: a record's callchain, and the stack of a sample joined
	 * from parts. perf_event_header.size has 16 bits. */
	RECORD_COPY_MAX = UINT16_MAX + STACK_CHUNK_TOTAL_MAX + 2 * RECORD_COPY_ALIGNMENT
};

/* Bytes that record_copy needs. */
size_t record_copy_size(const struct record *record);

/* *to, of record_extent at least, is the record with its pointers into bytes, which are aligned to
 * RECORD_COPY_ALIGNMENT. */
void record_copy(struct record *to, const struct record *record, void *bytes);

#endif
