/* NUL-terminated strings that live as long as the reader, and the texts of a stream of text turned
 * into such strings. Not thread-safe. */
#ifndef TBRW_PROFILE_STRPOOL_H
#define TBRW_PROFILE_STRPOOL_H

#include "containers/hash.h"
#include "containers/hash_table.h"
#include "profile/profile.h"
#include <stdbool.h>
#include <stddef.h>

struct profile_strpool {
	struct profile_strpool_block *blocks;
};

/* A zeroed pool is empty and needs no init. */
void profile_strpool_finish(struct profile_strpool *pool);

/* A clean (tbrw/utf8.h) copy of s[0..size). NULL: out of memory. */
const char *profile_strpool_add(struct profile_strpool *pool, const char *s, size_t size);

/* Strings found by a 64-bit key: the id of a TBRW string, the place of a text. */
struct profile_strings {
	struct profile_strpool pool;
	struct hash_table table;
	struct hash_key key; /* those of the strings come from files */
};

/* A zeroed table is empty and needs no init. */
void profile_strings_finish(struct profile_strings *strings);
/* NULL: not there. */
const char *profile_strings_get(const struct profile_strings *strings, uint64_t key);
/* Adds a clean copy under a new key. NULL: out of memory. */
const char *profile_strings_put(struct profile_strings *strings, uint64_t key, const char *s,
				size_t size);

/* The texts of one stream of text. */
struct profile_texts {
	struct profile_strings strings;
	uint64_t budget; /* bytes that texts may still take */
	uint32_t made;   /* bytes of the texts made so far */
};

/* blob_size: bytes of the stream. Texts of an honest file do not overlap; those of a hostile one
 * may take four times its size, texts beyond read as "". */
void profile_texts_init(struct profile_texts *texts, size_t blob_size);
void profile_texts_finish(struct profile_texts *texts);

/* Adds text, a reference into blob; a reference beyond blob becomes no text. false: out of
 * memory. */
bool profile_texts_add(struct profile_texts *texts, const char *blob, size_t blob_size,
		       struct profile_text *text);

/* Makes a text of one's own, in place of those of a stream: s cut after PROFILE_TEXT_MAX bytes. ""
 * is no text, nor is one without a place in 32 bits. false: out of memory. */
bool profile_texts_make(struct profile_texts *texts, const char *s, struct profile_text *text);

/* "" for no text and for a text never added. */
const char *profile_texts_get(const struct profile_texts *texts, struct profile_text text);

#endif
