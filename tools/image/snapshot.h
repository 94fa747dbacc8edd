/*
 * A copy in memory of a file that somebody else may change, or cut short, while it is read: libelf
 * and libdw map files and check what they read but once.
 */
#ifndef TOOLS_IMAGE_SNAPSHOT_H
#define TOOLS_IMAGE_SNAPSHOT_H

#include <sys/stat.h>

/* Limits of what is copied: of the file's size, as its holes are kept, of the bytes in it, and of
 * the time that reading takes. */
#define SNAPSHOT_SIZE_MAX    ((off_t)64 << 30)
#define SNAPSHOT_BYTES_MAX   ((off_t)8 << 30)
#define SNAPSHOT_SECONDS_MAX 120

/*
 * Returns a descriptor of the copy of an ELF file (a memfd, for the caller to close), with its
 * compressed sections inflated, and without what inflates to too much and what nobody reads
 * (expansion.h). status: of the file when it was opened. -1 with errno: ENOEXEC, it is no ELF file;
 * ESTALE, it is not what the status says, or was written to meanwhile; EFBIG, ETIMEDOUT for the
 * limits; what read(2) and memfd_create(2) return.
 */
int snapshot_of(int fd, const struct stat *status);

#endif
