/* Images that no file can be opened for, put together from the memory of a process that maps them.
 */
#ifndef COLLECTOR_IMAGE_IMAGE_MEMORY_H
#define COLLECTOR_IMAGE_IMAGE_MEMORY_H

#include "collector/image/image_file.h"

/*
 * For a file that is deleted and that we may not open through /proc/PID/map_files: its read-only
 * segments lie in the process's memory as they lie in the file, and that is where unwind
 * information is. Needs the right to trace the process, as a parent has. No module where it cannot
 * be had, or would take more than the budget, of which what it takes is taken.
 */
void image_memory_open(const struct image_source *source, struct image_opened *opened);

/* The vdso of a 32-bit process, from its memory. The same right; no module where it cannot be had.
 */
void image_memory_open_vdso(const struct image_source *source, struct image_opened *opened);

#endif
