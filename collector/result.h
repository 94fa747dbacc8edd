/*
 * The result directory and its tb5 file. Both are for their owner only: addresses and names of
 * programs stand in them. Others cannot lead the result elsewhere: a directory or link that another
 * user put in its place is refused, the file is made anew (tbrw/tbrw.h).
 */
#ifndef COLLECTOR_RESULT_H
#define COLLECTOR_RESULT_H

#include "collector/failure.h"
#include <stdbool.h>

struct result {
	char directory[4096];
	char file[4352]; /* directory/NAME.tb5, NAME the directory's last component */
	bool created;    /* the directory was made by us */
	int held;        /* the file, wherever it is by now; -1: not held */
};

/* Makes the directory, mode 0700 whatever the umask: the given one (NULL: the next free r@@@hs
 * here). One that exists is taken as it is if it is ours or root's and no result is in it. */
int result_create(struct result *result, const char *directory, struct failure *failure);

/* Remembers the file, once it is made, by more than its name. */
int result_hold(struct result *result, struct failure *failure);

/* Whether the file that is held is still to be found. One that was moved with or out of its
 * directory is: directory and file are then where it is now. Fails when it was deleted, or when no
 * name leads to it any more. */
int result_check(struct result *result, struct failure *failure);

/* Takes everything back that result_create and the collection made so far. */
void result_remove(const struct result *result);

/* Lets go of the file. */
void result_finish(struct result *result);

#endif
