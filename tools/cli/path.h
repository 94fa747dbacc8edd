/*
 * Parts of file names.
 */
#ifndef TOOLS_CLI_PATH_H
#define TOOLS_CLI_PATH_H

/* The last component of a path, within it; the path itself where that is empty. */
const char *path_base_name(const char *path);

/* The directory that a file is in, "." where the path names none; for the caller to free. */
char *path_directory(const char *path);

#endif
