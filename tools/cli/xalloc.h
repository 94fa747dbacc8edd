/*
 * Memory for the command-line tools: a tool that runs out of memory has nothing better to do than
 * to say so in one line and exit with status 1; its output file is replaced only when whole
 * (tools/cli/output.h). Only tools use this; libraries return codes.
 */
#ifndef TOOLS_CLI_XALLOC_H
#define TOOLS_CLI_XALLOC_H

#include <stddef.h>

/* Says that there is no memory, and ends the program. */
_Noreturn void xalloc_fail(void);

/* Never return NULL, also for 0 bytes. The caller frees. */
void *xalloc_zeroed(size_t count, size_t size);
/* Grows an array to count elements of size bytes; the new part is not initialized. */
void *xalloc_resize(void *memory, size_t count, size_t size);
char *xalloc_text(const char *text);
char *xalloc_text_of(const char *bytes, size_t length);
char *xalloc_printf(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* array_reserve (containers/array.h), which succeeds. */
void xalloc_room(void *array, size_t *capacity, size_t count, size_t size);

#endif
