#include "tools/import_stacks/line_reader.h"

#include "tools/memory/xalloc.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* False: the end, or an error. */
static bool fill_block(struct line_reader *reader)
{
	ssize_t size;
	do
		size = read(reader->fd, reader->block, sizeof(reader->block));
	while (size < 0 && errno == EINTR);
	if (size < 0)
		reader->error = errno;
	reader->at = 0;
	reader->filled = size > 0 ? (size_t)size : 0;
	reader->bytes += reader->filled;
	return size > 0;
}

static void append(struct line_reader *reader, const char *bytes, size_t size, bool *is_long)
{
	*is_long = *is_long || size > LINE_READER_MAX - reader->length;
	if (*is_long)
		return;
	xalloc_room(&reader->line, &reader->capacity, reader->length + size + 1, 1);
	memcpy(reader->line + reader->length, bytes, size);
	reader->length += size;
}

/* Takes a line, long or not. False: there is none. */
static bool take_line(struct line_reader *reader, bool *is_long)
{
	bool is_begun = false;
	*is_long = false;
	reader->length = 0;
	while (reader->at < reader->filled || fill_block(reader)) {
		const char *start = reader->block + reader->at;
		size_t left = reader->filled - reader->at;
		const char *end = memchr(start, '\n', left);
		size_t size = end ? (size_t)(end - start) : left;
		is_begun = true;
		append(reader, start, size, is_long);
		reader->at += size + (end ? 1 : 0);
		if (end)
			return true;
	}
	return is_begun && reader->error == 0;
}

bool line_reader_next(struct line_reader *reader)
{
	bool is_long;
	do {
		if (!take_line(reader, &is_long))
			return false;
		reader->too_long += is_long;
	} while (is_long);
	xalloc_room(&reader->line, &reader->capacity, reader->length + 1, 1);
	for (char *at = reader->line;
	     (at = memchr(at, '\0', reader->length - (size_t)(at - reader->line)));)
		*at = '?';
	reader->line[reader->length] = '\0';
	return true;
}

void line_reader_finish(struct line_reader *reader)
{
	free(reader->line);
}
