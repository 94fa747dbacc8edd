/*
 * A complete result from the readable part of one whose collection did not end.
 */
#ifndef TOOLS_CONVERT_RECOVER_H
#define TOOLS_CONVERT_RECOVER_H

#include "profile/read/reader.h"
#include "tools/convert/progress.h"

/*
 * Writes the content of the reader, open on the result at source, to a new result at path, symbols
 * too. No file may exist at path; after a failure the caller removes the file there. Returns a TBRW
 * code.
 */
TBRW_U32 recover_write(struct profile_reader *reader, const char *source, const char *path,
		       struct progress *progress);

#endif
