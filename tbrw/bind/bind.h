/* The results of binding (FORMAT.md section 4): finding them in a file, and the completed lists of
 * processes and threads. */
#ifndef TBRW_BIND_H
#define TBRW_BIND_H

#include "tbrw/tbrw.h"

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

/* Binds stream 0 into new streams at the end of the list. On failure the file is as before. */
TBRW_U32 tb5_bind_run(struct tb5_file *file);

#endif
