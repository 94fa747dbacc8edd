/* The chunks of a file: found at opening from the index or by scanning, and written as the index at
 * closing (FORMAT.md 1.4, 1.5). */
#ifndef TBRW_CATALOG_H
#define TBRW_CATALOG_H

#include "tbrw/tbrw.h"

struct tb5_file;

/* Fills the sections and streams of a file just opened; file->store.end becomes the end of the
 * valid chunks. Sets file->incomplete. */
TBRW_U32 tb5_catalog_load(struct tb5_file *file);

/* Writes the index and the end chunk. */
TBRW_U32 tb5_catalog_write(struct tb5_file *file);

#endif
