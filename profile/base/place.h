/*
 * Who owns a place. In a directory of several users, as /tmp, somebody else can have put a symbolic
 * link, a directory or a file at a result's path; and the owner of the directory around can do so
 * at any time. A file that must not be led elsewhere is named by the descriptor of its directory.
 */
#ifndef TBRW_PROFILE_PLACE_H
#define TBRW_PROFILE_PLACE_H

#include <stddef.h>

enum profile_place {
	PROFILE_PLACE_OURS,    /* the effective user's or root's */
	PROFILE_PLACE_LINK,    /* a symbolic link that another user made */
	PROFILE_PLACE_OTHERS,  /* another user's, or a link to such a place */
	PROFILE_PLACE_MISSING, /* nothing is there, or the look failed: errno */
};

/* The owner of the place at path; of links in path, only the last component is examined. Changes
 * nothing. */
enum profile_place profile_place_of(const char *path);

/* A descriptor (O_PATH) of our own directory at path, for the caller to close. Our own links as
 * last components are followed. -1: *place has the reason; OURS: no directory; MISSING: errno. */
int profile_place_open(const char *path, enum profile_place *place);

/* The path of a file in the directory open as `folder`, wherever the directory is by now; valid in
 * this process, while `folder` is open. Needs 32 bytes more than the name. */
void profile_place_file(int folder, const char *name, char *path, size_t size);

#endif
