/*
 * The name of a file with external data of a host: NAME-hostname-HOST.csv.
 */
#ifndef TBRW_PROFILE_EXTERNAL_NAME_H
#define TBRW_PROFILE_EXTERNAL_NAME_H

#include <stdbool.h>
#include <stddef.h>

struct profile_external_name {
	size_t stem_length; /* of NAME: what stands in front */
	const char *host;   /* in the file's name */
	size_t host_length; /* 0: the name says none */
};

/* The parts of a file's name without its folder; the last "-hostname-" counts, the ending in any
 * case. false: the name has no such parts, its stem is all that stands before the ending. */
bool profile_external_name_split(const char *file, struct profile_external_name *parts);

#endif
