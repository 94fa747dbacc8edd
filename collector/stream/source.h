/*
 * Sources of records: each source is one stream in order of time, as far as its writer could keep
 * the order. The rings of perf events are sources. Another supplier of records (memory shared by a
 * library in the program, a file) becomes a source by these calls.
 */
#ifndef COLLECTOR_STREAM_SOURCE_H
#define COLLECTOR_STREAM_SOURCE_H

#include "collector/perf/record.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct source {
	const struct source_kind *kind;
	void *state;                        /* the kind's own: a ring's is the struct ring */
	const struct record_format *format; /* of a ring's records */
};

struct source_kind {
	/* Takes over the records written since. */
	void (*refresh)(const struct source *source);

	/* The bytes of the next record, the same ones until consume, which takes their size and
	 * gives their space back; false: none for now. */
	bool (*peek)(const struct source *source, const void **bytes, size_t *size);
	void (*consume)(const struct source *source, size_t size);

	/* A record's time, and all of the record, which may point into the bytes. false: not a
	 * record. */
	bool (*time)(const struct source *source, const void *bytes, size_t size,
		     uint64_t *time_ns);
	bool (*decode)(const struct source *source, const void *bytes, size_t size,
		       struct record *record);

	/* Takes over the records at other times too, so that their writer has room: the source's
	 * next record stays what it is. NULL: room is no matter. */
	void (*take)(const struct source *source);
};

extern const struct source_kind source_ring;

#endif
