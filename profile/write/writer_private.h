/* Shared by the files of the profile writer. Private to profile/write/ and copy.c. */
#ifndef TBRW_PROFILE_WRITER_PRIVATE_H
#define TBRW_PROFILE_WRITER_PRIVATE_H

#include "profile/base/streams.h"
#include "profile/write/texttable.h"
#include "profile/write/wide.h"
#include "profile/write/writer.h"
#include "tbrw/utf8.h"

struct profile_writer {
	TBRW_PTR file;
	TBRW_U32 error;        /* first failure of the file, VT_SUCCESS while there is none */
	TBRW_U32 first_stream; /* number in the file of the first of enum profile_stream */
	struct profile_clock first;
	bool is_timeless;
	uint64_t interval_ns;
	uint64_t sample_count;
	uint32_t counts[PROFILE_STREAM_COUNT]; /* records added */
	struct profile_references fields[PROFILE_STREAM_COUNT];
	uint32_t module_record_count;
	bool has_software;
	bool has_system;
	struct text_set texts;    /* of the one stream of texts being written */
	struct profile_wide path; /* scratch for the strings of one call */
	struct profile_wide name;
};

/* ---- writer_streams.c ---- */

/* Writes a stream's data description section, from begin to done. */
TBRW_U32 profile_stream_describe(TBRW_PTR file, TBRW_U32 number,
				 const struct profile_stream_spec *spec);

/* Writes a stream's information section, from begin to done; info's size is filled in. */
TBRW_U32 profile_stream_write_info(TBRW_PTR file, TBRW_U32 number, TBRW_STREAM_INFO *info);

/* Closes the data section and the stream. */
TBRW_U32 profile_stream_done(TBRW_PTR file, TBRW_U32 number);

/* Creates the streams from the first to the one before end, and ends them. */
TBRW_U32 profile_writer_open_streams(struct profile_writer *writer, enum profile_stream first,
				     enum profile_stream end);
TBRW_U32 profile_writer_close_streams(struct profile_writer *writer, enum profile_stream first,
				      enum profile_stream end);

/* ---- writer_records.c ---- */

/* Keeps the first failure and returns code. */
TBRW_U32 profile_writer_keep(struct profile_writer *writer, TBRW_U32 code);

/* Appends bytes to a stream as they are. */
TBRW_U32 profile_writer_append(struct profile_writer *writer, enum profile_stream stream,
			       const void *bytes, size_t size);

/* Whether all that the record refers to was added. */
bool profile_writer_accepts(const struct profile_writer *writer, enum profile_stream stream,
			    const void *record);
/* profile_writer_add for accepted records, while the writer has no error. */
TBRW_U32 profile_writer_add_accepted(struct profile_writer *writer, enum profile_stream stream,
				     const void *record, const char *const *texts, uint32_t *index);

/* ---- writer_lives.c ---- */

/* As profile_writer_add_thread, but for the unwinding. record->name is filled in by the call. */
TBRW_U32 profile_writer_put_thread(struct profile_writer *writer,
				   const struct profile_thread *record, const char *name,
				   uint32_t *index);

/* ---- writer_samples.c ---- */

/* Opens stream 0 and writes its sections known before the first sample. */
TBRW_U32 profile_writer_open_samples(struct profile_writer *writer, const struct profile_run *run);
/* Writes the information of stream 0 and closes it. */
TBRW_U32 profile_writer_close_samples(struct profile_writer *writer,
				      const struct profile_run_end *end);

/* ---- writer.c ---- */

/* Closes the file after the end of everything inside, which gave this code; the writer is gone. */
TBRW_U32 profile_writer_close(struct profile_writer *writer, TBRW_U32 code);

#endif
