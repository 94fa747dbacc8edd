/* Opening files that a result or an ELF file names, or where separate debug files would be. */
#ifndef TOOLS_SYMBOLS_REGULAR_FILE_H
#define TOOLS_SYMBOLS_REGULAR_FILE_H

#include <stdbool.h>
#include <sys/stat.h>

/* Whether a name leads upwards: a part of it is "..". */
bool symbol_path_leads_up(const char *path);

/* Opens a regular file for reading, and nothing else: what lies in its place is not opened at all,
 * as that may wait, or do something (a fifo, a tape, a watchdog). Files that the kernel makes up
 * (procfs, sysfs, tracefs and the like) are regular by name only: reading them may wait or take
 * something away (kmsg, trace_pipe); they are none here, nor is an empty file. flags: 0, or
 * O_NOFOLLOW where a link as the last part of the path is no file either. Needs /proc. Returns the
 * descriptor (close-on-exec), for the caller to close, and its status; or -1 with errno; ENOEXEC:
 * it is no such file. */
int symbol_regular_file_open(const char *path, int flags, struct stat *status);

#endif
