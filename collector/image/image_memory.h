/* Images that no file can be opened for, put together from the memory of a process that maps them.
 */
#ifndef COLLECTOR_IMAGE_IMAGE_MEMORY_H
#define COLLECTOR_IMAGE_IMAGE_MEMORY_H

#include "collector/image/image.h"

/*
 * For a file that is deleted and that we may not open through /proc/PID/map_files: its read-only
 * segments lie in the process's memory as they lie in the file, and that is where unwind
 * information is. Needs the right to trace the process, as a parent has. NULL where it cannot be
 * had, or would take more than *budget bytes, of which what it takes is taken; fills in record's
 * inode and device.
 */
struct uw_module *image_memory_open(const struct image_source *source, struct profile_image *record,
				    uint64_t *budget);

/* The vdso of a 32-bit process, from its memory. The same right; NULL where it cannot be had. */
struct uw_module *image_memory_open_vdso(const struct image_source *source);

#endif
