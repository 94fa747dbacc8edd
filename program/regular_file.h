/* Opening files that a target, a result or an ELF file names. */
#ifndef PROGRAM_REGULAR_FILE_H
#define PROGRAM_REGULAR_FILE_H

#include <stdbool.h>
#include <sys/stat.h>

/* Whether a name leads upwards: a part of it is "..". */
bool path_leads_up(const char *path);

/* Opens a regular file for reading, and nothing else: what lies in its place is not opened at all,
 * as that may wait, or do something (a fifo, a tape, a watchdog). Files that the kernel makes up
 * (procfs, sysfs, tracefs and the like) are regular by name only: reading them may wait or take
 * something away (kmsg, trace_pipe); they are none here, nor is an empty file. flags: 0, or
 * O_NOFOLLOW where a link as the last part of the path is no file either. Needs /proc. Returns the
 * descriptor (close-on-exec), for the caller to close, and its status; or -1 with errno; ENOEXEC:
 * it is no such file. */
int regular_file_open(const char *path, int flags, struct stat *status);

/* What is done with a file that was found at path, open for reading; whoever found it closes it.
 * Returns 0 if the file is the one, else an errno: of no use. */
typedef int regular_file_take(void *user, int fd, const struct stat *status, const char *path);

#endif
