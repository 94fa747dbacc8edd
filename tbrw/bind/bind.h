/* The results of binding (FORMAT.md section 4): made, found in a file, and dropped. */
#ifndef TBRW_BIND_H
#define TBRW_BIND_H

#include "tbrw/tbrw.h"
#include <stdbool.h>

struct tb5_file;

/* An entry of the thread bind stream. */
struct tb5_bind_tid {
	TBRW_U64 pid_index;
	TBRW_TID tid;
};
_Static_assert(sizeof(struct tb5_bind_tid) == 48, "FORMAT.md section 4");

/* Brings file->bound and file->bind up to date. VT_UNEXPECTED_BIND_MISMATCH: there are results, but
 * not for as many samples, modules or threads as there are; file->bound is false then. */
TBRW_U32 tb5_bind_find(struct tb5_file *file);

/* The checks of the bind_enumerate_ calls, in their order: errors of tb5_bind_find;
 * VT_UNEXPECTED_NULL_PTR without a callback; `unbound` if there are no results. */
TBRW_U32 tb5_bind_require(struct tb5_file *file, bool has_callback, TBRW_U32 unbound);

/* Drops the streams of results, all or none: VT_STREAM_ALREADY_IN_USE while one is read. */
TBRW_U32 tb5_bind_drop(struct tb5_file *file);

/* Binds stream 0 into new streams at the end of the list. On failure the file is as before. */
TBRW_U32 tb5_bind_run(struct tb5_file *file);

#endif
