/*
 * Memory for the command-line tools: a tool without memory prints one line and exits with status 1;
 * its output file is replaced only when whole (tools/cli/output.h). Only tools use these functions;
 * libraries return codes.
 */
#ifndef TOOLS_MEMORY_XALLOC_H
#define TOOLS_MEMORY_XALLOC_H

#include <stddef.h>

/* Reports the lack of memory and ends the program. */
_Noreturn void xalloc_fail(void);

/* Never return NULL, also for 0 bytes. The caller frees. */
void *xalloc_zeroed(size_t count, size_t size);
/* Grows an array to count elements of size bytes; the new part is not initialized. */
void *xalloc_resize(void *memory, size_t count, size_t size);
char *xalloc_text(const char *text);
char *xalloc_text_of(const char *bytes, size_t length);
char *xalloc_printf(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* As array_reserve (containers/array.h), but without failures. */
void xalloc_room(void *array, size_t *capacity, size_t count, size_t size);

#endif
