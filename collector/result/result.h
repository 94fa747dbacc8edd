/*
 * The result directory and its tb5 file. Both are for their owner only: they hold addresses and
 * names of programs. Others cannot redirect the result: a directory or link that another user put
 * in its place, before or after the making, is refused, and the file is made anew (tbrw/tbrw.h) in
 * the checked directory, wherever its name leads by then.
 */
#ifndef COLLECTOR_RESULT_RESULT_H
#define COLLECTOR_RESULT_RESULT_H

#include "collector/message/failure.h"
#include <stdbool.h>

/* What a custom collector printed, in the directory. */
#define RESULT_CUSTOM_LOG "custom-collector.log"

struct result {
	char directory[4096];
	char file[4352];   /* directory/NAME.tb5, NAME the directory's last component */
	char through[320]; /* the file's path by the directory's descriptor (profile/base/place.h)
			    */
	bool created;      /* we made the directory */
	int place;         /* descriptor of the directory, even if moved; -1: not held */
	int held;          /* the file, likewise */
};

/* Makes the directory, mode 0700 whatever the umask: the given one (NULL: the next free r@@@ here,
 * with the analysis's suffix). An existing one is used as is if it is ours or root's and holds no
 * result. */
int result_create(struct result *result, const char *directory, const char *suffix,
		  struct failure *failure);

/* Holds the file, once made, by more than its name. Fails when another user replaced the directory
 * we made. */
int result_hold(struct result *result, struct failure *failure);

/* Checks that the held file can be found. After a move with or out of its directory, directory and
 * file are updated. Fails when the file was deleted, or no name leads to it any more. */
int result_check(struct result *result, struct failure *failure);

/* Whether the file is ours by its file system; a network's may show another owner (squashed on
 * NFS). */
bool result_is_ours(const struct result *result);

/* Removes everything made by result_create and the collection; from a directory that we made, a
 * custom collector's files too. */
void result_remove(const struct result *result);

/* Releases file and directory. */
void result_finish(struct result *result);

#endif
