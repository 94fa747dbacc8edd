/*
 * Files to change or to make: found once, and from then on named by their directory's descriptor,
 * open until the program ends.
 */
#ifndef TOOLS_CONVERT_HOLD_H
#define TOOLS_CONVERT_HOLD_H

/* Checks that the result at path, to be changed, and its directory belong to the user or root, and
 * that no other user's symbolic link leads there. *held, for the caller to free, is a path to the
 * file whatever becomes of the directory's name. Returns 0, or the exit status after a message. */
int hold_result(const char *path, char **held);

/* The same for a file to be made, whoever owns the directory. */
int hold_output(const char *path, char **held);

#endif
