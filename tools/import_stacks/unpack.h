/*
 * A whole file in memory, unpacked if it is gzip. The unpacked size has limits, so that a small
 * file cannot fill the memory.
 */
#ifndef TOOLS_IMPORT_STACKS_UNPACK_H
#define TOOLS_IMPORT_STACKS_UNPACK_H

#include <stddef.h>
#include <stdint.h>

/* Unpacked content is limited to the first or, of larger files, to the second times the file, and
 * any content to the third. */
#define UNPACK_SMALL ((size_t)64 << 20)
#define UNPACK_RATIO 100u
#define UNPACK_MAX   ((size_t)1 << 30)

/* Reads fd from where it is. Returns NULL, or why not. *bytes has room for one byte more; the
 * caller frees it. */
const char *unpack_file(int fd, uint8_t **bytes, size_t *size);

#endif
