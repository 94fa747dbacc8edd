/* The strings of a file: each stored once, named by its place (FORMAT.md section 2). */
#ifndef TBRW_STRINGS_H
#define TBRW_STRINGS_H

#include "containers/text_set.h"
#include "tbrw/store/seq.h"
#include <stdbool.h>
#include <wchar.h>

#define TB5_STRING_ID_BIT ((uint64_t)1 << 63)

/* A string as given, and its id; 0: none. */
struct tb5_recent {
	wchar_t text[256];
	uint64_t id;
};

#define TB5_RECENT 4u

/* A string in the writer's memory is found by hash; readers need no memory for strings. */
struct tb5_strings {
	struct tb5_seq seq;
	struct text_set set; /* a copy of the sequence, once loaded */
	struct tb5_recent recent[TB5_RECENT];
	unsigned turn; /* whose turn it is to be forgotten */
};

void tb5_strings_init(struct tb5_strings *strings, struct tb5_store *store);
void tb5_strings_finish(struct tb5_strings *strings);

/* Gives the id of `utf8`, and adds a new string: then the caller has to append the last *added
 * bytes of the set to `seq`. */
TBRW_U32 tb5_strings_intern(struct tb5_strings *strings, struct tb5_cache *cache, const char *utf8,
			    size_t size, uint64_t *id, size_t *added);

/* Whether a string is one of the last remembered ones, and its id then: record after record names
 * the same strings. */
bool tb5_strings_recall(const struct tb5_strings *strings, const wchar_t *text, uint64_t *id);

/* Remembers a string with its id, unless too long. */
void tb5_strings_remember(struct tb5_strings *strings, const wchar_t *text, uint64_t id);

/* The UTF-8 bytes of a string, and a NUL, in a new buffer, the caller's to free.
 * VT_INVALID_STRING. */
TBRW_U32 tb5_strings_get(struct tb5_strings *strings, struct tb5_cache *cache, uint64_t id,
			 char **utf8, size_t *size);

#endif
