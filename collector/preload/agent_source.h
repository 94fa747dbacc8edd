/*
 * The records that libtbagent.so writes in the target (agent/channel.h), as one source: those of
 * all rings by time. The target can write anything there, at any time: records are copied before
 * they are looked at, what is no record costs its ring's contents, and all work is bounded.
 */
#ifndef COLLECTOR_PRELOAD_AGENT_SOURCE_H
#define COLLECTOR_PRELOAD_AGENT_SOURCE_H

#include "collector/stream/drain.h"
#include <stdbool.h>
#include <stdint.h>

struct agent_source;
struct channel;

/* channel is borrowed, of CHANNEL_SIZE bytes. NULL: out of memory. */
struct agent_source *agent_source_create(struct channel *channel);
void agent_source_destroy(struct agent_source *agent); /* accepts NULL */

/* The source's time is the end of what a record tells, which is when it was written. */
struct source agent_source_of(struct agent_source *agent);

/* As drain_add_source. */
bool agent_source_add(struct agent_source *agent, struct drain *drain);

struct agent_source_counts {
	uint64_t processes;     /* that used the memory; an exec is another one */
	uint64_t limited;       /* that could not, because of a limit of address space */
	uint64_t foreign;       /* that could not, because of a pid namespace of their own */
	uint64_t records;       /* taken */
	uint64_t lost;          /* records that found no room, or no ring */
	uint64_t nested;        /* records of signal handlers that were left out */
	uint64_t unseen_news;   /* objects made without a record */
	uint64_t broken;        /* times a ring held no records */
	uint64_t dropped_bytes; /* then */
	uint64_t brief;         /* waits too short for a record */
	uint64_t brief_ns;
};

/* All but records, broken and dropped_bytes are what the target says. */
void agent_source_counts(const struct agent_source *agent, struct agent_source_counts *counts);

#endif
