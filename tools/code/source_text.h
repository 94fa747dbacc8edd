/*
 * The lines of a source file, as a result names it.
 */
#ifndef TOOLS_CODE_SOURCE_TEXT_H
#define TOOLS_CODE_SOURCE_TEXT_H

#include <stddef.h>
#include <stdint.h>

/* Larger files are generated, and nobody reads them. */
#define SOURCE_TEXT_MAX ((size_t)32 << 20)

struct source_text { /* all zero: no lines */
	char *path;  /* the file read; NULL: none */
	char *bytes;
	size_t *starts;     /* of the lines in bytes, and the end */
	uint32_t count;     /* lines */
	int64_t changed_ns; /* the file's last modification, ns since 1970 */
};

/* Reads the file: in each of the directories (NULL behind the last one) the longest end of the path
 * that leads to a file, then the path itself. Only regular files are opened
 * (program/regular_file.h), and nothing upwards (..) from a directory. Returns 0 or the errno value
 * of the path itself: ENOENT no such file, EFBIG beyond SOURCE_TEXT_MAX, ENOEXEC empty or no
 * regular file, ... ; the text is then empty. One thread at a time per text. */
int source_text_read(struct source_text *text, const char *path, const char *const *directories);

/* A line from 1 on without its end, tabs as spaces up to the next multiple of 8, what would steer a
 * terminal made visible (profile/base/visible.h), for the caller to free, its first 4096 bytes; ""
 * for a line that the file lacks. */
char *source_text_line(const struct source_text *text, uint32_t line);

void source_text_finish(struct source_text *text);

#endif
