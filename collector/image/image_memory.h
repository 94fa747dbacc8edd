/* Images of files that cannot be opened, put together from the memory of a process that maps
 * them. */
#ifndef COLLECTOR_IMAGE_IMAGE_MEMORY_H
#define COLLECTOR_IMAGE_IMAGE_MEMORY_H

#include "collector/image/image_file.h"

/*
 * For a deleted file that we may not open through /proc/PID/map_files. Its read-only segments, with
 * the unwind information, lie in the process's memory as in the file. Needs the right to trace the
 * process, as a parent has. No module if the memory cannot be read or exceeds the budget; the
 * copied bytes are taken from the budget.
 */
void image_memory_open(const struct image_source *source, struct image_opened *opened);

/* The vdso of a 32-bit process, from its memory. Needs the same right; no module if reading
 * fails. */
void image_memory_open_vdso(const struct image_source *source, struct image_opened *opened);

#endif
