/*
 * Writes a result: stream 0 and the module and process/thread sections of the guide, and the
 * profile streams of profile.h beside them, all open at once and streamed.
 *
 * Every call returns a TBRW code (VT_SUCCESS or an error of tbrw.h). The first failure of the file
 * is final: later calls return the same code without touching the file. VT_BAD_PARAMETER (a
 * reference to a record not added, a section set twice) is no such failure: nothing was written,
 * and the next call may succeed. Nothing is kept in memory per sample; texts are kept once each
 * (hash table of the distinct ones), cut after 64 KB, invalid UTF-8 replaced by U+FFFD. Times are
 * CLOCK_MONOTONIC_RAW nanoseconds; the writer turns them into TSC values by the first sync point.
 * One thread at a time.
 */
#ifndef TBRW_PROFILE_WRITER_H
#define TBRW_PROFILE_WRITER_H

#include "profile/write/records.h"
#include "tbrw/tbrw.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct profile_writer;

/* Known at the file's creation. Pointers are borrowed during the call. */
struct profile_run {
	struct profile_clock clock; /* first sync point */
	/* Nobody knows when the samples were taken: times are but an order, TSC values equal them,
	 * and the result has no sync points. Of the clock, real_ns alone counts, the start's date.
	 */
	bool is_timeless;
	uint64_t interval_ns;
	const char *event_name; /* "CPU Time" */
	/* Names of the events 1, 2, ... of samples, PROFILE_EVENTS_MAX at most, and NULL behind
	 * them; PROFILE_NOTE_EVENT_ADDED is the caller's. NULL: none. */
	const char *const *added_events;
};

/* Known only at the end; goes to the stream info of stream 0. */
struct profile_run_end {
	const char *command_line;
	const char *comment;
	struct profile_clock clock; /* last sync point; also added to tbcollect.clock */
};

/* path: any bytes. Creates the file, never through a symbolic link.
 * clock.tsc_per_ns_q32 (but of a timeless run) and interval_ns are not 0. The event of stream 0 is
 * time-based, its sample after value the interval in microseconds, rounded; PROFILE_NOTE_INTERVAL
 * is the caller's. */
TBRW_U32 profile_writer_create(const char *path, const struct profile_run *run,
			       struct profile_writer **writer);

/* Hardware, software and version sections; each at most once, any time before the end. */
TBRW_U32 profile_writer_set_system(struct profile_writer *writer, TBRW_SYSTEM *system);
TBRW_U32 profile_writer_set_software(struct profile_writer *writer, TBRW_HOST *host, TBRW_OS *os,
				     TBRW_APPLICATION *application);

/* Adds a record to a stream written alone (streams.h); the calls below do so for the records in
 * their names. record has the stream's size; texts has the texts of its fields in their order
 * (NULL: none), and the file's record refers to them. *index receives the record's index; index may
 * be NULL. */
TBRW_U32 profile_writer_add(struct profile_writer *writer, enum profile_stream stream,
			    const void *record, const char *const *texts, uint32_t *index);

/* Image i is the i-th one added (record 0, unknown, is added by profile_writer_create). path is
 * UTF-8 where possible; invalid bytes are stored as U+FFFD. image->path is filled in by the call.
 * *index receives the image's index. */
TBRW_U32 profile_writer_add_image(struct profile_writer *writer, const struct profile_image *image,
				  const char *path, uint32_t *index);

/* The callers number frames and nodes densely in order of their calls; node 0 exists already. */
TBRW_U32 profile_writer_add_frame(struct profile_writer *writer, const struct profile_frame *frame);
TBRW_U32 profile_writer_add_node(struct profile_writer *writer, const struct profile_node *node);

TBRW_U32 profile_writer_add_sample(struct profile_writer *writer,
				   const struct profile_sample *sample);

/* add at load: writes the LOADED record and the mapping; end at unload: the UNLOADED record. */
TBRW_U32 profile_writer_add_module(struct profile_writer *writer,
				   const struct profile_module *module);
TBRW_U32 profile_writer_end_module(struct profile_writer *writer,
				   const struct profile_module *module);

/* One life of one process image (exec begins a new one); written when the life ends or at the end:
 * a create record and, for an ended life, a terminate record of the process/thread section. */
TBRW_U32 profile_writer_add_process(struct profile_writer *writer,
				    const struct profile_process *process);

/* Writes the thread's create/terminate records, its record in tbcollect.threads, and its record of
 * unwinding. */
TBRW_U32 profile_writer_add_thread(struct profile_writer *writer,
				   const struct profile_thread_life *thread);

/* *index receives the object's index; its place among the texts is filled in. name may be NULL. */
TBRW_U32 profile_writer_add_object(struct profile_writer *writer,
				   const struct profile_object *object, const char *name,
				   uint32_t *index);

/* start_ns is written as start_tsc. Slices come in the order of their ends. */
TBRW_U32 profile_writer_add_slice(struct profile_writer *writer, const struct profile_slice *slice,
				  uint64_t start_ns);
TBRW_U32 profile_writer_add_wait(struct profile_writer *writer, const struct profile_wait *wait,
				 uint64_t start_ns);

TBRW_U32 profile_writer_add_clock(struct profile_writer *writer, const struct profile_clock *clock);

/* text may be NULL. pid, tid: 0 where they say nothing. */
TBRW_U32 profile_writer_add_note(struct profile_writer *writer, enum profile_note_kind kind,
				 uint64_t time_ns, uint64_t value, uint32_t pid, uint32_t tid,
				 const char *text);

/* Ends every section and stream, binds stream 0 and closes the file. The writer is gone afterwards,
 * also on failure; the file then keeps all that was written, and reads as incomplete. */
TBRW_U32 profile_writer_finish(struct profile_writer *writer, const struct profile_run_end *end);

/* Gives up: the file keeps all that was written, and reads as incomplete. Accepts NULL. */
void profile_writer_abandon(struct profile_writer *writer);

/*
 * Appends finalization's symbols to an existing, complete result: begin opens the file for writing,
 * add appends, finish closes. The texts of a call are borrowed. An incomplete result gives
 * VT_INCOMPLETE_TB5_ENCOUNTERED. An abandoned (profile_writer_abandon) or failed writer leaves the
 * file unchanged.
 */
TBRW_U32 profile_symbol_writer_begin(const char *path, struct profile_writer **writer);
/* symbol's texts are filled in from text. */
TBRW_U32 profile_symbol_writer_add(struct profile_writer *writer,
				   const struct profile_symbol *symbol,
				   const struct profile_symbol_text *text);
TBRW_U32 profile_symbol_writer_finish(struct profile_writer *writer);

/* Appends external data in the same way, by profile_writer_add: series, their intervals and values,
 * and the sources, which the series name by their index. Times are TSC values of the result. A
 * source replaces earlier ones of its name. */
TBRW_U32 profile_external_writer_begin(const char *path, struct profile_writer **writer);
TBRW_U32 profile_external_writer_finish(struct profile_writer *writer);

#endif
