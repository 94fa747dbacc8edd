/*
 * Files with external data on their way into a result: named by the user, or left in its directory.
 */
#ifndef TOOLS_CONVERT_IMPORT_EXTERNAL_H
#define TOOLS_CONVERT_IMPORT_EXTERNAL_H

#include <stdbool.h>
#include <stddef.h>

/* Whether a name is a result's: a directory, or a file NAME.tb5. */
bool import_external_is_result(const char *name);

/* Whether a name is that of a CSV file. */
bool import_external_is_csv(const char *name);

/* Imports the files into the result. Returns 0, or the exit status of the first one that failed,
 * after a message; the others are imported. None is if two have one name. */
int import_external_files(const char *result, char **names, size_t count);

/* Imports the files NAME-hostname-HOST.csv in the directory of the tb5 file at path, if that is
 * DIR/DIR.tb5, but those that were imported before and have not changed. A file that cannot be
 * imported gets a message, no more: the result is whole without. */
void import_external_left(const char *path, bool is_quiet);

/* Whether the folder is one that import_external_left looks into: the result's at path, or another
 * result's. */
bool import_external_looks_into(const char *folder, const char *path);

#endif
