/* The streams of a result as a table: the fields of their records, the records these refer to, and
 * how records are written. The descriptors in the file, the reader's loads and checks, the writer's
 * checks, and the copies of copy.h follow from this table. */
#ifndef TBRW_PROFILE_STREAMS_H
#define TBRW_PROFILE_STREAMS_H

#include "profile/profile.h"
#include "tbrw/tbrw.h"
#include <assert.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* How a stream's records are written, and therefore copied. */
enum profile_written {
	PROFILE_WRITTEN_ALONE,
	PROFILE_WRITTEN_STREAMED,    /* alone; not kept in memory */
	PROFILE_WRITTEN_AS_TEXT,     /* bytes: with the first record of the text */
	PROFILE_WRITTEN_WITH_CLOCK,  /* with the result's creation and end, and between */
	PROFILE_WRITTEN_WITH_SAMPLE, /* record i with sample i of stream 0: not kept in memory */
	PROFILE_WRITTEN_WITH_MODULE, /* with its LOADED record */
	PROFILE_WRITTEN_WITH_THREAD, /* with its records in the process/thread section */
	PROFILE_WRITTEN_BY_IMPORT,   /* in groups behind the rest; values are not kept in memory */
};

/* How a reader replaces a reference to a record missing in the file. */
enum profile_lost {
	PROFILE_LOST_RECORD,     /* the referring record is dropped; nothing refers to its stream */
	PROFILE_LOST_TO_UNKNOWN, /* 0: the record for the unknown */
	PROFILE_LOST_TO_NONE, /* PROFILE_NONE; the reader's own check of the stream mends the record
			       */
};

struct profile_stream_field {
	const char *name; /* texts have two: name.offset and name.length */
	uint16_t offset;
	uint16_t size;
	uint16_t type;    /* ST_ */
	uint16_t subtype; /* SST_ */
	/* The stream referred to: to a record by its index (uint32_t) or, in the offset of a struct
	 * profile_text, to bytes. PROFILE_STREAM_COUNT: the field refers to nothing. */
	enum profile_stream refers_to;
	enum profile_lost lost; /* of an index; a text becomes no text */
	/* With PROFILE_STREAM_BY_KIND, refers_to for each kind, the first field of such records:
	 * PROFILE_KINDS_MAX elements; PROFILE_STREAM_COUNT: no such kind, the record is lost. */
	const enum profile_stream *refers_by_kind;
};

#define PROFILE_STREAM_BY_KIND ((enum profile_stream)(PROFILE_STREAM_COUNT + 1))

#define PROFILE_KINDS_MAX  5u
#define PROFILE_TEXTS_MAX  4u   /* texts of one record */
#define PROFILE_RECORD_MAX 128u /* bytes */
/* Bytes of a text. Longer ones are cut, and end in PROFILE_TEXT_CUT: a command line may have
 * megabytes, a report line does not. */
#define PROFILE_TEXT_MAX 131072u
#define PROFILE_TEXT_CUT "..."

/* A record of any stream but the texts. */
union profile_record {
	unsigned char bytes[PROFILE_RECORD_MAX];
	struct profile_thread thread;
	struct profile_slice slice;
	struct profile_wait wait;
	struct profile_interval interval;
	struct profile_counter counter;
};

struct profile_stream_spec {
	const char *name;
	uint32_t record_size;  /* bytes */
	uint32_t field_count;  /* below 64, in the order of their offsets */
	uint32_t first_count;  /* of these, the fields of every version; 0: all, none came later */
	uint32_t preset_count; /* first records of each result, the same in all */
	enum profile_written written;
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

/* The stream that the field of this record refers to; PROFILE_STREAM_COUNT: none, or the record's
 * kind is unknown to this version. */
static inline enum profile_stream profile_field_target(const struct profile_stream_field *field,
						       const void *record)
{
	uint32_t kind;

	if (field->refers_to != PROFILE_STREAM_BY_KIND)
		return field->refers_to;
	memcpy(&kind, record, sizeof(kind));
	return kind < PROFILE_KINDS_MAX ? field->refers_by_kind[kind] : PROFILE_STREAM_COUNT;
}

static inline bool profile_field_refers(const struct profile_stream_field *field)
{
	return field->refers_to != PROFILE_STREAM_COUNT;
}

/* Whether a stream is one of texts; PROFILE_STREAM_COUNT is none. */
bool profile_stream_is_text(enum profile_stream stream);

/* The referring fields of a stream's records, a bit for each: the check of a sample visits these
 * alone, not all of the sample's fields. */
struct profile_references {
	uint64_t indices;
	uint64_t texts;
};
struct profile_references profile_stream_references(enum profile_stream stream);

/* Takes the first field out of a set that is not empty. */
static inline const struct profile_stream_field *
profile_take_field(const struct profile_stream_spec *spec, uint64_t *set)
{
	assert(*set);
	const struct profile_stream_field *field = &spec->fields[__builtin_ctzll(*set)];

	*set &= *set - 1;
	return field;
}

#endif
