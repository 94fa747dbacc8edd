/*
 * The observer's looks on their way to the unwinding thread: a source of records (stream/source.h).
 * One thread puts. The source's calls, and looks_put, come with the drain locked.
 */
#ifndef COLLECTOR_WAITS_LOOKS_H
#define COLLECTOR_WAITS_LOOKS_H

#include "collector/waits/look.h"
#include <stdbool.h>
#include <stdint.h>

struct source;

/* A look with its file's name and stack behind it. */
struct looks_entry;

/* All zero: empty. */
struct looks {
	struct looks_entry *first;
	struct looks_entry *last;
	uint64_t bytes;
	uint64_t count;
	uint64_t visible; /* of count, those of the present round */
};

void looks_finish(struct looks *looks);

/* The source of its records; looks is borrowed. */
struct source looks_source(struct looks *looks);

/* A copy of a look, in any thread. NULL: out of memory. */
struct looks_entry *looks_entry_create(uint32_t pid, uint32_t tid, const struct look *look,
				       const char *name, const uint8_t *stack);

/* Takes an entry over as of time_ns, which is no earlier than that of the one before. false: too
 * many wait to be taken, and the entry is freed. */
bool looks_put(struct looks *looks, struct looks_entry *entry, uint64_t time_ns);

#endif
