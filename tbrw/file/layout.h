/* The layout of a stream's entries by its data descriptors. */
#ifndef TBRW_LAYOUT_H
#define TBRW_LAYOUT_H

#include "tbrw/tbrw.h"
#include <stdbool.h>
#include <stdint.h>

struct tb5_file;
struct tb5_stream;

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
