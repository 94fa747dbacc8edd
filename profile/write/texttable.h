/* The distinct texts of a stream of text while it is written: gives each text its place once, in a
 * set of the stream's texts so far. Not thread-safe. */
#ifndef TBRW_PROFILE_TEXTTABLE_H
#define TBRW_PROFILE_TEXTTABLE_H

#include "containers/text_set.h"
#include "profile/base/streams.h"

enum profile_text_status {
	PROFILE_TEXT_KNOWN, /* was there already */
	PROFILE_TEXT_NEW,   /* set->bytes + text->offset must now be appended to the stream */
	PROFILE_TEXT_NO_MEMORY,
};

/* s: any bytes; stored as clean UTF-8. NULL and "" are no text: KNOWN, length 0. So is a text
 * beyond the stream's 2 GB, the most that readers hold. */
enum profile_text_status profile_text_add(struct text_set *set, const char *s,
					  struct profile_text *text);

#endif
