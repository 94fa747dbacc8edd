/* Files that were deleted, but that a process still runs or has mapped. */
#ifndef TOOLS_IMAGE_DELETED_FILE_H
#define TOOLS_IMAGE_DELETED_FILE_H

#include <stdint.h>

/* The link in /proc by which the file that had this path can still be opened, for the caller to
 * free; NULL: the process has none, is gone, or may not be looked into. Which file it is has yet to
 * be checked: others may have had the path, and the pid may be another process's by now. */
char *symbol_deleted_file_find(uint32_t pid, const char *path);

#endif
