/*
 * Whose a place is. Where several users may write, as in /tmp, somebody else can have put a
 * symbolic link, a directory or a file where a result is expected to go or to be; and whoever owns
 * the directory around can do so at any time. What must not be led elsewhere is named by the
 * descriptor of its directory.
 */
#ifndef TBRW_PROFILE_PLACE_H
#define TBRW_PROFILE_PLACE_H

#include <stddef.h>

enum profile_place {
	PROFILE_PLACE_OURS,    /* the effective user's or root's */
	PROFILE_PLACE_LINK,    /* a symbolic link that another user made */
	PROFILE_PLACE_OTHERS,  /* another user's, or leads to what is */
	PROFILE_PLACE_MISSING, /* nothing is there, or it cannot be looked at: errno */
};

/* What path leads to; of links in it only the last component is looked at. Changes nothing. */
enum profile_place profile_place_of(const char *path);

/* A descriptor (O_PATH) of the directory at path, which is ours, for the caller to close. A link as
 * its last component is followed if it is ours, and so on. -1: *place says what is there; OURS: no
 * directory; MISSING: errno. */
int profile_place_open(const char *path, enum profile_place *place);

/* The path of a file in the directory that is open as `folder`, wherever that is by now; holds in
 * this process, while it is open. Needs 32 bytes more than the name. */
void profile_place_file(int folder, const char *name, char *path, size_t size);

#endif
