/* What the files of the profile writer share. Private to tbrw/profile/writer*.c. */
#ifndef TBRW_PROFILE_WRITER_PRIVATE_H
#define TBRW_PROFILE_WRITER_PRIVATE_H

#include "tbrw/profile/streams.h"
#include "tbrw/profile/texttable.h"
#include "tbrw/profile/wide.h"
#include "tbrw/profile/writer.h"

/* Stream 0 is the guide's; the profile's own follow in the order of enum profile_stream. */
#define PROFILE_WRITER_STREAM(id) ((TBRW_U32)(id) + 1u)

struct profile_writer {
	TBRW_PTR file;
	TBRW_U32 error; /* first failure of the file, VT_SUCCESS while there is none */
	struct profile_clock first;
	uint64_t interval_ns;
	uint64_t bytes;
	uint64_t sample_count;
	uint32_t image_count;
	uint32_t frame_count;
	uint32_t node_count;
	uint32_t module_record_count;
	uint32_t thread_count;
	bool has_software;
	bool has_system;
	struct profile_text_table texts;
	struct profile_wide path; /* scratch for the strings of one call */
	struct profile_wide name;
};

/* Keeps the first failure and returns code. */
TBRW_U32 profile_writer_keep(struct profile_writer *writer, TBRW_U32 code);

/* Appends a record to a stream. Returns the writer's error if it has one. */
TBRW_U32 profile_writer_append(struct profile_writer *writer, enum profile_stream stream,
			       const void *record, size_t size);

/* Gives s its place in tbcollect.strings and appends it if it is new. */
TBRW_U32 profile_writer_text(struct profile_writer *writer, const char *s,
			     struct profile_text *text);

/* The last component of a path, for names. */
const char *profile_path_name(const char *path);

/* Opens stream 0 and writes what is known of it before the first sample (writer_samples.c). */
TBRW_U32 profile_writer_open_samples(struct profile_writer *writer, const char *event_name);
/* Writes the information of stream 0 and closes it. */
TBRW_U32 profile_writer_close_samples(struct profile_writer *writer,
				      const struct profile_run_end *end);

#endif
