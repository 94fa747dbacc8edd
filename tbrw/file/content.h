/* The contents of a file (store/format.h): the section of each, and its records. */
#ifndef TBRW_CONTENT_H
#define TBRW_CONTENT_H

#include <stdbool.h>
#include <stdint.h>

#define TB5_CONTENT_STRINGS 3
#define TB5_CONTENT_GAPS    2

struct tb5_content_spec {
	uint8_t section;     /* of 8.2's global ones, or of the stream ones */
	bool is_only;        /* there is one record at most */
	uint8_t record_size; /* bytes; records begin with their size; 0: there are none of one size
			      */
	/* Offsets of the strings (TBRW_STRING_OR_ID) of a record; 0: no more. */
	uint8_t strings[TB5_CONTENT_STRINGS];
	/* Words of 4 bytes with padding bits, which a caller need not have set, and the bits of
	 * members. At 0: no more. */
	struct {
		uint8_t at;
		uint8_t used;
	} gaps[TB5_CONTENT_GAPS];
};

/* Static, read-only; `content` is global or a stream's. */
const struct tb5_content_spec *tb5_content_spec(unsigned content);

#endif
