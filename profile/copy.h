/*
 * Copies a reader's contents into a result being written, by the table of streams (streams.h): the
 * records of copied streams get new indices behind the writer's own records, and references are
 * converted. The first records of every result are the same in both. A record with a reference to
 * an uncopied record is not copied either. Times are turned into the writer's TSC values by way of
 * CLOCK_MONOTONIC_RAW.
 *
 * Copied are samples, modules, processes and threads, deduced ones too (as such), and the streams
 * beside them. Not copied are sync points (the writer has its own) and the machine (the hardware
 * and software sections).
 */
#ifndef TBRW_PROFILE_COPY_H
#define TBRW_PROFILE_COPY_H

#include "profile/read/reader.h"
#include "profile/write/writer.h"

struct profile_copy {
	struct profile_reader *reader; /* reader, writer and on_sample are the caller's to set */
	struct profile_writer *writer;
	/* Called with the number of samples copied so far. NULL: nobody asks. */
	void (*on_sample)(uint64_t count, void *user);
	void *user;
	/* Asked for the writer's node in place of the copied one, of a sample, or of a wait at its
	 * start and for its waker at its end; tsc is the reader's. NULL: nobody is asked. */
	TBRW_U32(*place)
	(const struct profile_copy *copy, uint32_t node, uint64_t tsc, uint32_t *placed);
	TBRW_U32 error; /* of the writer: first failure */
	/* The writer's first sync point, noted by profile_copy_all: the writer is gone when
	 * external data is copied. */
	struct profile_clock first;
	/* Per record of the reader's stream its index in the writer's; PROFILE_NONE: not copied. */
	uint32_t *ids[PROFILE_STREAM_COUNT];
};

/* All but symbols and external data, once per copy. A TBRW code; VT_NO_MEMORY leaves the writer as
 * it is. */
TBRW_U32 profile_copy_all(struct profile_copy *copy);

/* The symbols, to the copy after its writer finished. path: as for profile_symbol_writer_begin. No
 * symbols: success without opening the file. */
TBRW_U32 profile_copy_symbols(struct profile_copy *copy, const char *path);

/* Likewise the external data, of all imports as one. */
TBRW_U32 profile_copy_external(struct profile_copy *copy, const char *path);

void profile_copy_finish(struct profile_copy *copy); /* its memory; reader and writer stay */

#endif
