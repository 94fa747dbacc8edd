/* Opening files that others name. */
#ifndef COLLECTOR_REGULAR_FILE_H
#define COLLECTOR_REGULAR_FILE_H

#include <sys/stat.h>

/* Opens a regular file for reading, and nothing else: what lies in its place is not opened at all,
 * as that may wait, or do something (a fifo, a tape, a watchdog). Needs /proc. Returns the
 * descriptor (close-on-exec) and its status, or -1 with errno; ENOEXEC: it is no regular file. */
int regular_file_open(const char *path, struct stat *status);

#endif
