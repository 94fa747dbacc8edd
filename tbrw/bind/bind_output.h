/* The four streams of bind's results, while they are written. */
#ifndef TBRW_BIND_OUTPUT_H
#define TBRW_BIND_OUTPUT_H

#include "tbrw/file/file.h"

struct tb5_bind_output {
	struct tb5_file *file;
	struct tb5_store *store;
	uint32_t first_stream;
	uint64_t store_end; /* before the streams */
	struct tb5_bind_set streams;
};

/* Adds the streams with their information and descriptors, open for writing: in the file, or in a
 * temporary one if the file is only open for reading. On failure nothing is added. */
TBRW_U32 tb5_bind_output_begin(struct tb5_bind_output *output, struct tb5_file *file);

/* Completes the streams if `code` is VT_SUCCESS, else takes them away. Returns `code`, or why they
 * could not be completed. */
TBRW_U32 tb5_bind_output_end(struct tb5_bind_output *output, TBRW_U32 code);

#endif
