/* What the parts of tbrw_reader share: the file it reads and the two that it writes. */
#ifndef TOOLS_TB5_TBRW_READER_H
#define TOOLS_TB5_TBRW_READER_H

#include "tbrw/tbrw.h"
#include "tools/tb5/tbrw_dat.h"
#include <stdio.h>

struct reader {
	TBRW_PTR file;
	FILE *out;             /* every section but the sampling data */
	FILE *data;            /* the sampling data: stream 0's data section */
	const char *data_name; /* of `data`, without its folder */
	uint32_t stream;       /* that is being read, DAT_NO_STREAM for global sections */
	uint32_t stream_out;   /* its number in `out`: unbinding leaves gaps in the numbers */
};

/* Write an item. Errors show in ferror(reader->out). */
void reader_put(struct reader *r, enum dat_kind kind, const void *bytes, size_t size);
void reader_put_section(struct reader *r, enum dat_kind kind, uint32_t section);
/* A structure with its strings, and `tail_size` bytes behind them. VT_NO_MEMORY, or what getting
 * a string returned. */
TBRW_U32 reader_put_record(struct reader *r, enum dat_kind kind, const void *record,
			   const void *tail, size_t tail_size);

/* Read all global sections, and the sections of the stream reader->stream. */
TBRW_U32 reader_global_sections(struct reader *r);
TBRW_U32 reader_stream_sections(struct reader *r);

#endif
