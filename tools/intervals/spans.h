/*
 * The intervals of a result by thread and time, to ask which ones a sample lies in. A task holds
 * the samples of its thread, a frame those of all threads of its process, or of all processes. A
 * start belongs to an interval, an end does not. Intervals may nest and overlap.
 */
#ifndef TOOLS_INTERVALS_SPANS_H
#define TOOLS_INTERVALS_SPANS_H

#include "profile/read/external.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SPANS_NOT UINT32_MAX /* no item: the interval is left out */

/* The caller's item for an interval; several may have one. */
typedef uint32_t spans_choice(const struct profile_interval *interval, void *user);

struct span {
	uint64_t start_tsc;
	uint64_t end_tsc;
	/* The latest end of the part of the owner's spans that this one is the middle of. */
	uint64_t last_tsc;
	uint32_t owner; /* index */
	uint32_t item;
};
_Static_assert(sizeof(struct span) == 32, "as spans_load says");

/* Its spans are in the order of their starts. */
struct spans_owner {
	uint64_t key; /* pid, tid as intervals have them; 0: any */
	size_t first;
	size_t count;
};

struct spans { /* all zero: none */
	struct span *spans;
	size_t count;
	size_t capacity;
	struct spans_owner *owners; /* by key */
	size_t owner_count;
	size_t owner_capacity;
};

/* Reads the intervals, 32 bytes of memory each, and 8 for each item up to the largest. Returns the
 * reader's code. */
TBRW_U32 spans_load(struct spans *spans, struct profile_reader *reader, spans_choice *choose,
		    void *user);
void spans_finish(struct spans *spans);

/* Moves the spans of the items that are_taken to others, which are none before. Both have all
 * owners. */
void spans_part(struct spans *spans, const bool *are_taken, struct spans *taken);

enum { SPANS_KEYS = 4 };
/* The keys of the owners that a sample may have; returns how many. */
size_t spans_keys_of(uint32_t pid, uint32_t tid, uint64_t keys[SPANS_KEYS]);
/* NULL: none with the key. */
const struct spans_owner *spans_find_owner(const struct spans_owner *owners, size_t count,
					   uint64_t key);

/* Calls back for each item that has an interval with the sample's moment, once for each of the
 * thread, the process and all; the callback returns false to stop. Returns false if it stopped.
 * Time: logarithm of the count, for each call. */
typedef bool spans_callback(uint32_t item, void *user);
bool spans_at(const struct spans *spans, uint32_t pid, uint32_t tid, uint64_t tsc,
	      spans_callback *callback, void *user);

/* The item of the interval that has the moment and began last, of several the one that ends first;
 * overlapping intervals of an item are one. SPANS_NOT: none has it. Time: as spans_at. */
uint32_t spans_innermost(const struct spans *spans, uint32_t pid, uint32_t tid, uint64_t tsc);

#endif
