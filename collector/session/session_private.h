/*
 * What the session's files share: session.c sets up and takes down, session_collect.c is the loop
 * in between, session_notes.c says at the start and the end what the collection was.
 *
 * All of it is one thread's, and with it the tracker and the file; the rings are drain's.
 */
#ifndef COLLECTOR_SESSION_SESSION_PRIVATE_H
#define COLLECTOR_SESSION_SESSION_PRIVATE_H

#include "collector/machine/log.h"
#include "collector/model/tracker.h"
#include "collector/perf/sampler.h"
#include "collector/result/emit.h"
#include "collector/result/result.h"
#include "collector/session/options.h"
#include "collector/session/signals.h"
#include "collector/session/target.h"
#include "collector/stream/budget.h"
#include "collector/stream/drain.h"
#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { SESSION_COMMAND_MAX = 4096 };

struct session {
	const struct options *options;
	enum log_level log;
	char command[SESSION_COMMAND_MAX];
	struct profile_clock clock; /* first sync point */
	struct signals signals;
	pid_t finalizer; /* tbconvert, while it runs; else 0 */
	struct target target;
	struct result result;
	bool has_drain_thread;
	bool is_draining; /* the polls of drain are there */
	bool stop;
	struct emit *emit;
	struct sampler sampler;
	struct drain *drain;
	struct tracker *tracker;
	void *analysis;       /* state of options->analysis */
	struct pollfd *polls; /* signals, then attached processes, then drain's */
	size_t poll_count;
	uint64_t start_ns;     /* a launch: all events are open; an attach: before the first is */
	uint64_t next_look_ns; /* while attaching */
	struct budget budget;
	uint64_t attached_cpu_ns;  /* of the attached processes, once all events were open */
	uint64_t attached_used_ns; /* by them, from then until the events were stopped */
	uint64_t end_ns;
	uint64_t next_sync_ns;
};

static inline bool session_is_launch(const struct session *session)
{
	return session->options->program != NULL;
}

/* Makes drain, once the sampler has its rings. */
int session_open_drain(struct session *session, struct failure *failure);

/* Whether what is to be attached are processes. */
int session_check_attached(const struct session *session, struct failure *failure);

/* Opens the events of the processes, and applies meanwhile what the first ones deliver. 0 also when
 * the user or the duration ended the collection before all threads were open: then it stops. */
int session_attach(struct session *session, struct failure *failure);

/* Starts the thread that watches the rings, unless it was. */
void session_start_draining(struct session *session);

/* Waits for the polls, takes the pending signals, and looks at what ends the collection. */
void session_watch(struct session *session, int timeout_ms);

/* Applies the records that drain has, once around. Returns whether there may be more. */
bool session_apply(struct session *session, enum drain_extent extent);

/* Takes the pending signals: forwards them, or ends the collection. */
void session_handle_signals(struct session *session);

/* Collects until the program or the user ends it; -1 when the file cannot be written. */
int session_collect(struct session *session, struct failure *failure);

/* What becomes of the time in the kernel, in words. */
const char *session_kernel_words(const struct session *session);

/* Says when samples are taken. */
void session_say_sampling(const struct session *session);

/* Fills in the command line. */
void session_describe(struct session *session);

/* CPU time of the attached processes so far, as far as they live. */
uint64_t session_attached_cpu_ns(const struct session *session);

/* On a terminal: what was attached to, and how it ends, unless that is over already. */
void session_announce(const struct session *session);

/* Names the processes that live on when the launched one has ended: nobody samples them. */
void session_note_running(struct session *session);

void session_note_start(struct session *session);

/* Closes the accounts: CPU time that no sample told of, records lost without a trace. */
void session_settle(struct session *session);

void session_note_end(struct session *session);

/* The line for the user. */
void session_report(const struct session *session);

#endif
