/* Opening files that others name. */
#ifndef COLLECTOR_REGULAR_FILE_H
#define COLLECTOR_REGULAR_FILE_H

#include <sys/stat.h>

/* Opens a regular file for reading, and nothing else: what lies in its place is not opened at all,
 * as that may wait, or do something (a fifo, a tape, a watchdog). Files that the kernel makes up
 * (procfs, sysfs, tracefs and the like) are regular by name only: reading them may wait or take
 * something away (kmsg, trace_pipe); they are none here, nor is an empty file. Needs /proc. Returns
 * the descriptor (close-on-exec) and its status, or -1 with errno; ENOEXEC: it is no such file. */
int regular_file_open(const char *path, struct stat *status);

#endif
