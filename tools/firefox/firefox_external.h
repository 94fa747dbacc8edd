/*
 * External data of a result for the markers of a Firefox profile: tasks and frames, and values of
 * counters.
 */
#ifndef TOOLS_FIREFOX_FIREFOX_EXTERNAL_H
#define TOOLS_FIREFOX_FIREFOX_EXTERNAL_H

#include "tbrw/tbrw.h"
#include <stdbool.h>
#include <stdint.h>

struct timelines;
struct thread_spool;

struct external_owner {
	uint32_t pid;
	uint32_t tid;
	uint32_t timeline;
};

struct external_marker {
	uint64_t start_ns; /* since the start of the collection */
	uint64_t end_ns;   /* of a value: the start */
	uint64_t value;    /* as in struct profile_counter */
	uint32_t series;
	uint32_t flags;
};

struct firefox_external {
	const struct timelines *timelines;
	uint32_t main_timeline;        /* for what is of no thread of the result */
	struct thread_spool *spool;    /* struct external_marker, by timeline */
	struct external_owner *owners; /* the last ones asked for, by a hash */
};

/* Those in the filter's time. What is of a process but of no thread goes to its first thread, what
 * is of nobody to the thread with the most time. Returns the reader's code. firefox_external_finish
 * goes with each. */
TBRW_U32 firefox_external_collect(struct firefox_external *external,
				  const struct timelines *timelines);
void firefox_external_finish(struct firefox_external *external);

/* Goes before the first marker of a timeline. */
void firefox_external_rewind(const struct firefox_external *external, uint32_t timeline);
/* NULL: no more. Lives until the next call. */
const struct external_marker *firefox_external_next(const struct firefox_external *external);

#endif
