/*
 * A result written anew: a complete one from the readable part of one whose collection did not end,
 * or one with generated code kept apart by time.
 */
#ifndef TOOLS_CONVERT_RECOVER_H
#define TOOLS_CONVERT_RECOVER_H

#include "profile/copy.h"
#include "tools/convert/progress.h"

/*
 * Writes the content of the reader, open on the result at source, to a new result at path, symbols
 * too. No file may exist at path; after a failure the caller removes the file there. Returns a TBRW
 * code.
 */
TBRW_U32 recover_write(struct profile_reader *reader, const char *source, const char *path,
		       struct progress *progress);

/* Likewise, by a copy whose reader and `place` are set; progress tells of its samples. */
TBRW_U32 recover_copy(struct profile_copy *copy, const char *source, const char *path,
		      struct progress *progress);

/* Gives the new file the name of the result, for good: a crash leaves one of the two files. Returns
 * 0 or an errno. */
int recover_move(const char *temporary, const char *output);

#endif
