/* The chunks of a file: found at opening from the index or by scanning, and written as the index at
 * closing (FORMAT.md 1.4, 1.5). */
#ifndef TBRW_CATALOG_H
#define TBRW_CATALOG_H

#include "tbrw/tbrw.h"
#include <stdint.h>

struct tb5_file;

/* Fills the sections and streams of a file just opened; file->store.end becomes the end of the
 * valid chunks. Sets file->incomplete. */
TBRW_U32 tb5_catalog_load(struct tb5_file *file);

/* *whole: the end of the last chunk before the first damaged one. For a file to be closed at once.
 */
TBRW_U32 tb5_catalog_whole(struct tb5_file *file, uint64_t *whole);

/* Writes the index and the end chunk. */
TBRW_U32 tb5_catalog_write(struct tb5_file *file);

#endif
