/* Opening files that a target, a result or an ELF file names. */
#ifndef PROGRAM_REGULAR_FILE_H
#define PROGRAM_REGULAR_FILE_H

#include <stdbool.h>
#include <sys/stat.h>

/* Whether a name leads upwards: a part of it is "..". */
bool path_leads_up(const char *path);

/* Opens a regular file for reading. Anything else is not opened at all, as opening may wait or do
 * something (a fifo, a tape, a watchdog). Files made up by the kernel (procfs, sysfs, tracefs and
 * the like) are regular by name only: reading them may wait or take something away (kmsg,
 * trace_pipe). Those are refused, and so are empty files. flags: 0, or O_NOFOLLOW to refuse a link
 * as the last part of the path. Needs /proc. Returns the descriptor (close-on-exec), for the caller
 * to close, and the file's status; or -1 with errno; ENOEXEC: refused. */
int regular_file_open(const char *path, int flags, struct stat *status);

/* Examines a file found at path, open for reading; the finder closes the descriptor. Returns 0 if
 * the file is the right one, else an errno: of no use. */
typedef int regular_file_take(void *user, int fd, const struct stat *status, const char *path);

#endif
