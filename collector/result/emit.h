/*
 * The collector's only way to the result (profile/). Records are the profile's own, and borrowed;
 * times are CLOCK_MONOTONIC_RAW ns.
 *
 * The first failure of the file is kept (emit_failed) and later calls do nothing: callers on the
 * sampling path need not check each call, the session checks once per round.
 */
#ifndef COLLECTOR_RESULT_EMIT_H
#define COLLECTOR_RESULT_EMIT_H

#include "collector/message/failure.h"
#include "profile/write/records.h"

struct emit;

/* Creates the result file at path; messages call it name. events: as profile_run.added_events. */
int emit_create(const char *path, const char *name, const struct profile_clock *clock,
		uint64_t interval_ns, const char *const *events, struct emit **emit,
		struct failure *failure);

struct host;

/* Describes this computer, as far as memory allows. */
void emit_host(struct emit *emit);

/* Describes another one; NULL: nothing is known. */
void emit_other_host(struct emit *emit, struct host *host);

/* Returns the image's index. */
uint32_t emit_image(struct emit *emit, const struct profile_image *image, const char *path);

/* Frames and nodes are numbered by the order of the calls; node 0 exists. */
void emit_frame(struct emit *emit, const struct profile_frame *frame);
void emit_node(struct emit *emit, const struct profile_node *node);

void emit_sample(struct emit *emit, const struct profile_sample *sample);
void emit_module_load(struct emit *emit, const struct profile_module *module);
void emit_module_unload(struct emit *emit, const struct profile_module *module);
void emit_process(struct emit *emit, const struct profile_process *process);
void emit_thread(struct emit *emit, const struct profile_thread_life *thread);

/* Returns the object's index. name: NULL: none. */
uint32_t emit_object(struct emit *emit, const struct profile_object *object, const char *name);

/* start_ns is written as start_tsc. Slices come in the order of their ends. */
void emit_slice(struct emit *emit, const struct profile_slice *slice, uint64_t start_ns);
void emit_wait(struct emit *emit, const struct profile_wait *wait, uint64_t start_ns);

/* A record of a stream without a call of its own here (profile_writer_add). Its texts, in the order
 * of its fields; NULL: none. */
void emit_record(struct emit *emit, enum profile_stream stream, const void *record,
		 const char *const *texts);

void emit_clock(struct emit *emit, const struct profile_clock *clock);

/* Further fields of a note. */
struct emit_note {
	uint64_t value;
	uint32_t pid;
	uint32_t tid;
	const char *text; /* NULL: none */
};

/* A note with the given fields of struct emit_note, as emit_note(emit, PROFILE_NOTE_INTERVAL,
 * now_ns, .value = interval_ns). */
#define emit_note(emit, kind, time_ns, ...) \
	emit_add_note(emit, kind, time_ns, &(struct emit_note){__VA_ARGS__})

void emit_add_note(struct emit *emit, enum profile_note_kind kind, uint64_t time_ns,
		   const struct emit_note *note);

/* 0, or -1 with the file's first failure. */
int emit_failed(const struct emit *emit, struct failure *failure);

/* Ends, binds and closes the file; analysis is its maker's name. Destroys emit in any case. */
int emit_finish(struct emit *emit, const char *analysis, const char *command_line,
		const struct profile_clock *clock, struct failure *failure);

/* Gives up: the data so far stays readable as an incomplete result. Accepts NULL. */
void emit_abandon(struct emit *emit);

#endif
