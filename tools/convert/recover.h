/*
 * A complete result from the readable part of one whose collection did not end.
 */
#ifndef TOOLS_CONVERT_RECOVER_H
#define TOOLS_CONVERT_RECOVER_H

#include "profile/read/reader.h"
#include "tools/cli/progress.h"

/*
 * Writes all that the reader, open on the result at source, has to a new result at path, which must
 * not exist yet: symbols too. Returns a TBRW code; after a failure what is at path is to be
 * removed.
 */
TBRW_U32 recover_write(struct profile_reader *reader, const char *source, const char *path,
		       struct progress *progress);

#endif
