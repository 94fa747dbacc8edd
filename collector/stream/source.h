/*
 * Where records come from: each source is one stream of them in order of time, as far as its writer
 * could help it. The rings of perf events are sources. What else delivers records beside them
 * (memory that a library in the program shares, a file) becomes one by these five calls.
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
	/* Takes over what was written since. */
	void (*refresh)(const struct source *source);

	/* The bytes of the next record, the same ones until consume, which takes their size and
	 * gives their space back; false: there is none for now. */
	bool (*peek)(const struct source *source, const void **bytes, size_t *size);
	void (*consume)(const struct source *source, size_t size);

	/* When a record was made, and all of it, which may point into the bytes. false: they are no
	 * record. */
	bool (*time)(const void *bytes, size_t size, uint64_t *time_ns);
	bool (*decode)(const struct source *source, const void *bytes, size_t size,
		       struct record *record);
};

extern const struct source_kind source_ring;

#endif
