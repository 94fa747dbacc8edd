/*
 * Parts of file names.
 */
#ifndef TOOLS_TEXT_PATH_H
#define TOOLS_TEXT_PATH_H

/* The last component of a path, a pointer into it; the path itself if the component is empty. */
const char *path_base_name(const char *path);

/* The directory of a file, "." for a path without one. The caller frees the text. */
char *path_directory(const char *path);

/* The name of a file as seen from a directory: joined, without the parts "." and "..", as the text
 * alone leaves them out. A name stays if it is absolute, or the directory is not (NULL: none). The
 * caller frees the text. */
char *path_join(const char *directory, const char *name);

#endif
