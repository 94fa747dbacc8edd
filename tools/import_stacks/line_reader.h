/*
 * The lines of a file, one by one. Lines beyond a limit are passed over and counted. Without memory
 * the program ends (tools/memory/xalloc.h).
 */
#ifndef TOOLS_IMPORT_STACKS_LINE_READER_H
#define TOOLS_IMPORT_STACKS_LINE_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LINE_READER_MAX ((size_t)16 << 20)

struct line_reader { /* begins with fd, the rest zero */
	int fd;
	int error; /* errno value of a failed read, which ends the lines */
	char *line;
	size_t capacity;
	size_t length; /* of the present line, without its end */
	uint64_t too_long;
	uint64_t bytes; /* read so far */
	size_t at;      /* in `block` */
	size_t filled;
	char block[1 << 16];
};

/* The next line, with a NUL behind, until the next call. NUL bytes within are question marks. */
bool line_reader_next(struct line_reader *reader);
void line_reader_finish(struct line_reader *reader);

#endif
