/* The streams of a result as a table, and how they are opened in a file. What adds a stream adds a
 * row here, its record to profile.h, a call to the writer and an array to the reader. */
#ifndef TBRW_PROFILE_STREAMS_H
#define TBRW_PROFILE_STREAMS_H

#include "tbrw/tbrw.h"
#include <stdbool.h>
#include <stdint.h>

enum profile_stream {
	PROFILE_STREAM_ID_STRINGS,
	PROFILE_STREAM_ID_IMAGES,
	PROFILE_STREAM_ID_FRAMES,
	PROFILE_STREAM_ID_NODES,
	PROFILE_STREAM_ID_STACKS,
	PROFILE_STREAM_ID_MAPPINGS,
	PROFILE_STREAM_ID_THREADS,
	PROFILE_STREAM_ID_CLOCK,
	PROFILE_STREAM_ID_NOTES,
	PROFILE_STREAM_ID_UNWINDING,
	PROFILE_STREAM_ID_SYMTEXT,
	PROFILE_STREAM_ID_SYMBOLS,
	PROFILE_STREAM_ID_COUNT
};

/* Those before symtext are written while collecting, the others by finalization. */
#define PROFILE_STREAM_ID_COLLECTED PROFILE_STREAM_ID_SYMTEXT

struct profile_stream_field {
	const char *name; /* texts have two: name.offset and name.length */
	uint16_t offset;
	uint16_t size;
	uint16_t type;    /* ST_ */
	uint16_t subtype; /* SST_ */
};

struct profile_stream_spec {
	const char *name;
	uint32_t record_size; /* bytes */
	uint32_t field_count; /* below 64, in the order of their offsets */
	uint32_t first_count; /* of these, those that each version wrote: others came later */
	const struct profile_stream_field *fields;
};

/* A record of stream 0: the guide's legacy record (6.10) and the time stamp behind it (6.9). */
struct profile_sample_record {
	TBRW_SampleRecordPC pc;
	TBRW_SampleRecordTSC tsc;
};
_Static_assert(sizeof(struct profile_sample_record) == 40, "");

/* Static, read-only. */
const struct profile_stream_spec *profile_stream_spec(enum profile_stream stream);
const struct profile_stream_spec *profile_stream_sample_spec(void);

/* Writes a stream's data description section, from begin to done. */
TBRW_U32 profile_stream_describe(TBRW_PTR file, TBRW_U32 number,
				 const struct profile_stream_spec *spec);

/* Opens stream number `number` for writing: its information and descriptors are written and done,
 * its data section is open on success. */
TBRW_U32 profile_stream_create(TBRW_PTR file, TBRW_U32 number, enum profile_stream stream);

/* Closes the data section and the stream. */
TBRW_U32 profile_stream_done(TBRW_PTR file, TBRW_U32 number);

/* Reads a descriptor set. A field of the spec is there if one with its name, place and size is.
 * *known_size receives how many bytes of the record are in the file: all if all fields are there;
 * those of the fields that each version wrote if only these are surely there; 0 if not even these.
 * Entries of the file may be longer than the record (fields appended by a later version), and
 * *entry_size receives their size. */
TBRW_U32 profile_stream_check(TBRW_PTR file, TBRW_U32 number,
			      const struct profile_stream_spec *spec, uint32_t *known_size,
			      uint32_t *entry_size);

#endif
