/* Shared by the parts of tbrw_reader: the tb5 file and the two data files. */
#ifndef TOOLS_TB5_TBRW_READER_H
#define TOOLS_TB5_TBRW_READER_H

#include "tools/tb5/tb5_walk.h"
#include <stdio.h>

struct reader {
	struct tb5_walk walk;
	FILE *out;             /* every section but the sampling data */
	FILE *data;            /* the sampling data: stream 0's data section */
	const char *data_name; /* of `data`, without its folder */
	uint32_t stream_out;   /* its number in `out`: unbinding leaves gaps in the numbers */
};

/* Writes an item. Errors show in ferror(reader->out). */
void reader_put(struct reader *r, enum dat_kind kind, const void *bytes, size_t size);

/* Reads all global sections, or the sections of a stream. Returns a TBRW code. */
TBRW_U32 reader_sections(struct reader *r, uint32_t stream);

#endif
