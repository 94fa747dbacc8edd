/*
 * The switches recorded by BPF (bpf/switches_source.h) as a source of records: RECORD_SWITCH with
 * by_cpu, and RECORD_LOST for those that found no room: one behind the last record before, of none
 * lost, and one with their number before the next record. record->source is the source's index.
 */
#ifndef COLLECTOR_STREAM_SWITCH_SOURCE_H
#define COLLECTOR_STREAM_SWITCH_SOURCE_H

#include "collector/stream/source.h"
#include <stdbool.h>
#include <stdint.h>

struct switches_source;

/* Two clocks at one moment. */
struct switch_moment {
	uint64_t monotonic_ns;
	uint64_t raw_ns;
};

/* What the next record of a ring tells; one tells of up to three things. */
enum switch_part { SWITCH_LOST, SWITCH_FROM, SWITCH_TO, SWITCH_PARTS };

/* The state of the source of one CPU. */
struct switch_source {
	struct switches_source *rings;
	uint32_t cpu;
	uint64_t head; /* as of the last refresh */
	uint64_t tail;
	uint32_t lost;  /* told so far */
	bool is_losing; /* told that records are being lost, and not yet how many */
	bool is_ending; /* no more records come: set by the user, to be told of the last losses */
	struct switch_moment before;
	struct switch_moment last;
	struct switch_now {
		enum switch_part part;
		uint64_t time_ns; /* CLOCK_MONOTONIC_RAW; never less than the one before */
		uint32_t lost;
	} now; /* of the record at the tail */
};

/* Begins with the records from now on. The rings are borrowed. */
void switch_source_begin(struct switch_source *state, struct switches_source *rings, uint32_t cpu);

/* Whether the ring is more than so many eighths full; in any thread. */
bool switch_source_is_full(const struct switches_source *rings, uint32_t cpu, unsigned eighths);

/* The state is a struct switch_source. */
extern const struct source_kind source_switches;

#endif
