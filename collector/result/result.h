/*
 * The result directory and its tb5 file. Both are for their owner only: addresses and names of
 * programs stand in them. Others cannot lead the result elsewhere: a directory or link that another
 * user put in its place, before or after it was made, is refused, and the file is made anew
 * (tbrw/tbrw.h) in the directory that was looked at, whatever its name leads to by then.
 */
#ifndef COLLECTOR_RESULT_RESULT_H
#define COLLECTOR_RESULT_RESULT_H

#include "collector/machine/failure.h"
#include <stdbool.h>

struct result {
	char directory[4096];
	char file[4352];   /* directory/NAME.tb5, NAME the directory's last component */
	char through[320]; /* the file's path by the directory's descriptor (profile/place.h) */
	bool created;      /* the directory was made by us */
	int place;         /* the directory, wherever it is by now; -1: not held */
	int held;          /* the file, likewise */
};

/* Makes the directory, mode 0700 whatever the umask: the given one (NULL: the next free r@@@ here,
 * with the analysis's suffix). One that exists is taken as it is if it is ours or root's and no
 * result is in it. */
int result_create(struct result *result, const char *directory, const char *suffix,
		  struct failure *failure);

/* Remembers the file, once it is made, by more than its name. Fails when the directory is none that
 * we made. */
int result_hold(struct result *result, struct failure *failure);

/* Whether the file that is held is still to be found. One that was moved with or out of its
 * directory is: directory and file are then where it is now. Fails when it was deleted, or when no
 * name leads to it any more. */
int result_check(struct result *result, struct failure *failure);

/* Whether the file is ours by what its file system says; that of a network may call its owner
 * another (squashed on NFS). */
bool result_is_ours(const struct result *result);

/* Takes everything back that result_create and the collection made so far. */
void result_remove(const struct result *result);

/* Lets go of file and directory. */
void result_finish(struct result *result);

#endif
