/* Opening files that a result names, or where separate debug files would be. */
#ifndef TOOLS_SYMBOLS_REGULAR_FILE_H
#define TOOLS_SYMBOLS_REGULAR_FILE_H

#include <sys/stat.h>

/* Opens a regular file for reading, and nothing else: what lies in its place is not opened at all,
 * as that may wait, or do something (a fifo, a tape, a watchdog). flags: 0, or O_NOFOLLOW where a
 * link as the last part of the path is no file either. Needs /proc. Returns the descriptor
 * (close-on-exec), for the caller to close, and its status; or -1. */
int symbol_regular_file_open(const char *path, int flags, struct stat *status);

#endif
