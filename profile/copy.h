/*
 * Copies what a reader holds into a result that is being written, as the table of streams says
 * (streams.h): records of every stream that is copied get new indices, behind those that the writer
 * has already, and what refers to them follows. The records that every result begins with are the
 * same in both. A record that refers to one that is not copied is not copied either. Times are
 * turned into the writer's TSC values by way of CLOCK_MONOTONIC_RAW.
 *
 * Copied are samples, modules, processes and threads, deduced ones too (as such), and the streams
 * beside them. Not copied are sync points, which the writer has of its own, and the machine (the
 * hardware and software sections).
 */
#ifndef TBRW_PROFILE_COPY_H
#define TBRW_PROFILE_COPY_H

#include "profile/read/reader.h"
#include "profile/write/writer.h"

struct profile_copy {
	struct profile_reader *reader; /* reader, writer and on_sample are the caller's to set */
	struct profile_writer *writer;
	/* Called with the number of samples that were copied so far. NULL: nobody asks. */
	void (*on_sample)(uint64_t count, void *user);
	void *user;
	TBRW_U32 error; /* of the writer: first failure */
	/* Per record of the reader's stream its index in the writer's; PROFILE_NONE: not copied. */
	uint32_t *ids[PROFILE_STREAM_COUNT];
};

/* All but the symbols, once per copy. A TBRW code; VT_NO_MEMORY leaves the writer as it is. */
TBRW_U32 profile_copy_all(struct profile_copy *copy);

/* The symbols, to the result that was copied to and has been finished since. None: success. path:
 * as for profile_symbol_writer_begin, which is not called if there are none. */
TBRW_U32 profile_copy_symbols(struct profile_copy *copy, const char *path);

void profile_copy_finish(struct profile_copy *copy); /* its memory; reader and writer stay */

#endif
