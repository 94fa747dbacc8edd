/*
 * Whose a place is. Where several users may write, as in /tmp, somebody else can have put a
 * symbolic link, a directory or a file where a result is expected to go or to be.
 */
#ifndef TBRW_PROFILE_PLACE_H
#define TBRW_PROFILE_PLACE_H

enum profile_place {
	PROFILE_PLACE_OURS,    /* the effective user's or root's */
	PROFILE_PLACE_LINK,    /* a symbolic link that another user made */
	PROFILE_PLACE_OTHERS,  /* another user's, or leads to what is */
	PROFILE_PLACE_MISSING, /* nothing is there, or it cannot be looked at: errno */
};

/* What path leads to; of links in it only the last component is looked at. Changes nothing. */
enum profile_place profile_place_of(const char *path);

#endif
