/*
 * Files that are to be changed or made: found once, and from then on by their directory's
 * descriptor, which stays open until the program ends.
 */
#ifndef TOOLS_CONVERT_HOLD_H
#define TOOLS_CONVERT_HOLD_H

/* Checks that the result at path, which is to be changed, and its directory are the user's or
 * root's, and not reached through a symbolic link that another user made. *held is a path that
 * leads there whatever becomes of the directory's name, for the caller to free. Returns 0, or the
 * exit status after saying what is wrong. */
int hold_result(const char *path, char **held);

/* The same for what is to be made, without a look at whose the directory is. */
int hold_output(const char *path, char **held);

#endif
