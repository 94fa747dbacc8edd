/*
 * A copy in memory of a file that somebody else may change, or cut short, during reading: libelf
 * and libdw map files and check their contents only once.
 */
#ifndef TOOLS_DEBUGINFO_SNAPSHOT_H
#define TOOLS_DEBUGINFO_SNAPSHOT_H

#include <sys/stat.h>

/* Limits of a copy: the file's size (holes stay holes), its bytes of data, and the time of
 * reading. */
#define SNAPSHOT_SIZE_MAX    ((off_t)64 << 30)
#define SNAPSHOT_BYTES_MAX   ((off_t)8 << 30)
#define SNAPSHOT_SECONDS_MAX 120

/*
 * Returns a descriptor of a copy of an ELF file (a memfd, for the caller to close): compressed
 * sections are inflated, too large and unread ones are zeros (expansion.h). status: of the file
 * when opened. -1 with errno: ENOEXEC, no ELF file; ESTALE, the file differs from the status, or
 * was written to meanwhile; EFBIG, ETIMEDOUT for the limits; errors of read(2) and memfd_create(2).
 */
int snapshot_of(int fd, const struct stat *status);

#endif
