/* Shared by the files of the profile reader. Private to profile/read/ and copy.c. */
#ifndef TBRW_PROFILE_READER_PRIVATE_H
#define TBRW_PROFILE_READER_PRIVATE_H

#include "profile/base/streams.h"
#include "profile/read/external.h"
#include "profile/read/reader.h"
#include "profile/read/strpool.h"
#include "tbrw/bind/binder.h"

struct profile_sample_batch;

/* Values of a sample's eventIndex, which has 8 bits. */
#define PROFILE_EVENT_COUNT 256u

/* The places of a sample's fields in an entry of stream 0. */
struct profile_sample_layout {
	uint32_t entry_size;
	uint32_t pc_offset;
	uint32_t tsc_offset; /* PROFILE_NONE: samples have no times */
	uint32_t stack_size; /* bytes of a stack's record in the file */
};

/* The records of a stream. */
struct profile_records {
	void *items;
	uint32_t count;
};

/* The streams of an import. */
struct profile_group {
	uint32_t first_stream; /* number in the file of the first of enum profile_stream */
	struct profile_texts texts;
	struct profile_records sources;
	struct profile_records series;
	uint32_t *source_ids; /* the reader's numbers; PROFILE_NONE: not used */
	uint32_t *series_ids;
};

struct profile_external {
	struct profile_group *groups;
	size_t group_count;
	uint32_t run; /* streams of a group found so far */
	uint32_t source_count;
	const char **source_names; /* by the reader's numbers */
	const char **source_hosts;
	const char **series_names;
};

/* The thread with an id from one time on to another. */
struct profile_found_thread {
	uint32_t tid;
	uint32_t thread; /* index; PROFILE_NONE: there is none */
	uint64_t first_tsc;
	uint64_t last_tsc;
};

#define PROFILE_FOUND_THREADS 1024u

struct profile_reader {
	TBRW_PTR file;
	bool is_complete;
	bool is_bound;
	bool is_plain;  /* another program's file, without tbcollect's streams */
	bool must_scan; /* bind deduced processes or threads; the reader has its own rules */
	uint32_t streams[PROFILE_STREAM_COUNT]; /* numbers; PROFILE_NONE: not in the file */

	/* Checked; none for the streams of texts and of stacks. */
	struct profile_records records[PROFILE_STREAM_COUNT];
	struct profile_texts texts[PROFILE_STREAM_COUNT]; /* of the streams of texts */
	struct profile_external external;                 /* its values are read on demand */
	uint8_t *node_damaged;  /* per node: the way to the root has a gap; NULL: none has */
	uint32_t *symbol_first; /* per frame and one more: its first symbol */
	uint32_t *thread_order; /* threads by tid and start; NULL until somebody asks */
	struct profile_found_thread
		found_threads[PROFILE_FOUND_THREADS]; /* the last ones, by tid */

	struct profile_strings names; /* TBRW's strings by their ids */
	struct profile_strpool made_names;

	/* Its process and thread numbers are indices here; lives are sealed with the modules. */
	struct tb5_binder binder;
	struct profile_module_info *modules;
	uint32_t module_count;
	uint32_t *module_of_record; /* PROFILE_NONE for an UNLOADED record joined to another */
	struct profile_process_info *processes;
	uint32_t process_count;
	struct profile_thread_info *threads;
	uint32_t thread_count;
	uint64_t unattributed_ns; /* CPU time of no thread */

	bool has_sample_streams; /* they are open for reading; a plain file has only stream 0 */
	struct profile_sample_layout layout;
	uint64_t weight_ns[PROFILE_EVENT_COUNT]; /* of a plain file's sample, by its event */
	uint64_t sample_count;
	uint32_t event_count; /* beside CPU time */
	uint32_t event;       /* whose samples are given; 0: CPU time */
	struct profile_sample_batch *batch;
	profile_reader_watcher *watcher;
	void *watcher_user;
	struct profile_host_info host;
	uint64_t start_ns; /* of the collection, CLOCK_MONOTONIC_RAW */
};

static inline uint64_t add_saturating(uint64_t a, uint64_t b)
{
	return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

/* ---- reader_streams.c ---- */

/* Finds the streams by their names. *is_any: the file has a stream written while collecting. */
TBRW_U32 profile_reader_find_streams(struct profile_reader *reader, bool *is_any);

/* Reads a descriptor set. A field of the spec is there if the set has its name, place and size.
 * *known_size receives the number of the record's bytes in the file: all if all fields are there,
 * else those of the fields of every version. VT_INCOMPATIBLE_VERSION: not even these are there.
 * Entries of the file may be longer than the record (fields appended by a later version), and
 * *entry_size receives their size. */
TBRW_U32 profile_stream_check(TBRW_PTR file, TBRW_U32 number,
			      const struct profile_stream_spec *spec, uint32_t *known_size,
			      uint32_t *entry_size);

/* ---- reader_load.c ---- */

/* Loads the records of a stream; none if the file lacks the stream. In a file that was not closed,
 * any part of the stream may be missing: the other parts count. */
TBRW_U32 profile_reader_load(struct profile_reader *reader, enum profile_stream stream);

/* Gives the records of stream `number` of the file, which is a `stream`, one by one: fields missing
 * in the file are 0. false stops. None if the file lacks the stream's data. */
typedef bool profile_record_callback(union profile_record *record, void *user);
TBRW_U32 profile_reader_each_record(const struct profile_reader *reader, enum profile_stream stream,
				    uint32_t number, profile_record_callback *callback, void *user);
/* The same from the record `first` on; first is at most the number of records. */
TBRW_U32 profile_reader_each_record_from(const struct profile_reader *reader,
					 enum profile_stream stream, uint32_t number,
					 uint64_t first, profile_record_callback *callback,
					 void *user);

/* The meaning of an error while reading: in a file that was not closed, a missing part. */
TBRW_U32 profile_reader_tolerate(const struct profile_reader *reader, TBRW_U32 code);

/* A TBRW string; "" if the file has none. *string is valid until the reader is closed. */
TBRW_U32 profile_reader_string(struct profile_reader *reader, TBRW_STRING_OR_ID id,
			       const char **string);

/* ---- reader_records.c: the streams kept in memory, loaded and checked ---- */

/* The streams from the first to the one before end. */
TBRW_U32 profile_reader_load_records(struct profile_reader *reader, enum profile_stream first,
				     enum profile_stream end);
/* Sorts the symbols by frame. */
TBRW_U32 profile_reader_index_symbols(struct profile_reader *reader);

/* Checks the references of the record's fields (profile_stream_references), and replaces bad ones
 * by the rules of streams.h. index: the record's own; references to its own stream must be smaller.
 * false: the record is lost. */
bool profile_reader_check(const struct profile_reader *reader, enum profile_stream stream,
			  uint64_t fields, uint32_t index, void *record);

/* ---- reader_external.c ---- */

TBRW_U32 profile_reader_load_external(struct profile_reader *reader);
void profile_reader_close_external(struct profile_reader *reader);

/* ---- reader_accounts.c ---- */

/* Gives the threads their parts of the time in no account; comes after the records. */
TBRW_U32 profile_reader_divide_accounts(struct profile_reader *reader);

/* ---- reader_event.c ---- */

/* Counts the events that the notes name. */
TBRW_U32 profile_reader_find_events(struct profile_reader *reader);

/* Whether a sample is of that event. Those of a plain file are of any. */
static inline bool profile_reader_is_of(const struct profile_reader *reader,
					const struct profile_sample_record *sample, uint32_t event)
{
	return reader->event_count == 0 || sample->pc.eventIndex == event;
}

/* ---- reader_host.c ---- */
TBRW_U32 profile_reader_load_host(struct profile_reader *reader);

/* ---- reader_lives.c ---- */

/* Gives the binder the recorded processes and threads. */
TBRW_U32 profile_reader_load_lives(struct profile_reader *reader);
/* Finds unrecorded ones by recorded threads and samples; needs modules and sample streams. */
TBRW_U32 profile_reader_deduce(struct profile_reader *reader);

/* ---- reader_modules.c ---- */

/* Seals the binder; needs the lives. */
TBRW_U32 profile_reader_load_modules(struct profile_reader *reader);
/* PROFILE_NONE: no such record, or a record joined to another. */
uint32_t profile_module_of_record(const struct profile_reader *reader, uint64_t record);

/* ---- reader_plain.c ---- */

/* Makes the reader a plain one if stream 0 has sample records. */
TBRW_U32 profile_plain_find(struct profile_reader *reader);
/* Makes images, notes and weights; needs the modules. */
TBRW_U32 profile_plain_load(struct profile_reader *reader);
/* Makes frames and nodes; needs the lives, and reads all samples. */
TBRW_U32 profile_plain_make_frames(struct profile_reader *reader);

/* ---- reader_plain_leaf.c ---- */

/* The frame of a sample in a module that has an image. */
struct profile_frame profile_plain_leaf(const struct profile_reader *reader, uint32_t module,
					uint64_t ip);
/* The order of frames, for qsort. */
int profile_plain_compare(const void *left, const void *right);
/* The node of a leaf; 0 outside of modules with names. */
uint32_t profile_plain_node(const struct profile_reader *reader, uint32_t module, uint64_t ip);

/* ---- reader_samples.c ---- */

static inline uint64_t profile_sample_ip(const TBRW_SampleRecordPC *pc)
{
	return pc->IA64PC ? pc->iip : pc->eip;
}

/* The module at a sample's address; PROFILE_NONE: none. */
uint32_t profile_sample_module(struct profile_reader *reader, uint64_t index,
			       const struct profile_sample_record *sample);

TBRW_U32 profile_reader_open_samples(struct profile_reader *reader);
void profile_reader_close_samples(struct profile_reader *reader);

/* A sample as in the file, node checked. bind is NULL if the file is not bound or with_bind was
 * false. Returns VT_SUCCESS to go on. */
typedef TBRW_U32 profile_raw_sample_callback(struct profile_reader *reader, uint64_t index,
					     const struct profile_sample_record *sample,
					     const struct profile_stack *stack,
					     const DATA_BIND_STRUCT *bind, void *user);
TBRW_U32 profile_reader_each_raw_sample(struct profile_reader *reader, bool with_bind,
					profile_raw_sample_callback *callback, void *user);

#endif
