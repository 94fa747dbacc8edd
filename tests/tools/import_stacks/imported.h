/*
 * Files read as tbconvert import reads them, and what the results say.
 */
#ifndef TESTS_TOOLS_IMPORT_STACKS_IMPORTED_H
#define TESTS_TOOLS_IMPORT_STACKS_IMPORTED_H

#include "tools/import_stacks/import_stacks.h"
#include <stddef.h>

typedef int import_reader(const struct import_input *input, const char *path, const char *name,
			  struct import_events *events);

/* Paths in build_folder (tests/tools/build_result.h). */
extern char imported_path[64]; /* of the result */

/* Writes the bytes to a file and imports that to imported_path. Returns the reader's status. */
int imported_read(import_reader *read, const void *bytes, size_t size);

/* The same, of a good file. */
void imported_check(import_reader *read, const void *bytes, size_t size);

/* The warnings of the result, a line each, for the caller to free. */
char *imported_warnings(void);

#endif
