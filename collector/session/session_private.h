/*
 * Shared by the session's files: session.c sets up and takes down, session_collect.c is the loop in
 * between, session_notes.c describes the collection at its start and end, session_custom.c runs the
 * custom collector, session_preload.c has the library in the program.
 *
 * All of this belongs to one thread, with the tracker and the file; the rings are drain's.
 */
#ifndef COLLECTOR_SESSION_SESSION_PRIVATE_H
#define COLLECTOR_SESSION_SESSION_PRIVATE_H

#include "collector/analysis/analyzer.h"
#include "collector/message/log.h"
#include "collector/model/tracker.h"
#include "collector/options/options.h"
#include "collector/perf/sampler.h"
#include "collector/preload/agent_source.h"
#include "collector/preload/preload.h"
#include "collector/result/emit.h"
#include "collector/result/result.h"
#include "collector/session/budget.h"
#include "collector/session/custom_collector.h"
#include "collector/session/signals.h"
#include "collector/session/target.h"
#include "collector/states/states.h"
#include "collector/stream/drain.h"
#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { SESSION_COMMAND_MAX = 4096 };

struct observer;

struct session {
	const struct options *options;
	enum log_level log;
	char command[SESSION_COMMAND_MAX];
	struct profile_clock clock; /* first sync point */
	struct signals signals;
	pid_t finalizer; /* tbconvert, while it runs; else 0 */
	struct target target;
	struct custom_collector custom;
	struct preload preload;
	struct agent_source *agent; /* NULL: no library is preloaded */
	struct result result;
	bool has_drain_thread;
	bool is_draining; /* drain's polls are filled in */
	bool stop;
	struct emit *emit;
	struct sampler sampler;
	struct drain *drain;
	struct observer *observer; /* NULL: of no use */
	struct switch_lead lead;   /* where threads' events record their switches */
	struct tracker *tracker;
	struct analyzer *analyzer;
	struct pollfd *polls; /* signals, then attached processes, then drain's */
	size_t poll_count;
	enum profile_wait_source wait_source; /* 0: no waits are wanted */
	uint64_t wait_threshold_ns;
	uint64_t start_ns;     /* a launch: all events are open; an attach: before the first one */
	uint64_t next_look_ns; /* while attaching */
	struct budget budget;
	uint64_t attached_cpu_ns;  /* of the attached processes, once all events were open */
	uint64_t attached_used_ns; /* by them, from then until the events were stopped */
	uint64_t stolen_before_ns; /* by the host, at the start of the machine and of events */
	uint64_t end_ns;
	uint64_t next_sync_ns;
};

static inline bool session_is_launch(const struct session *session)
{
	return session->options->program != NULL;
}

/* Makes drain, once the sampler has its rings. */
int session_open_drain(struct session *session, struct failure *failure);

/* Makes what the preloaded library needs, before the program's fork; takes it down, after drain. */
int session_open_preload(struct session *session, struct failure *failure);
void session_close_preload(struct session *session);

/* Has drain take the library's records. */
int session_add_preload(struct session *session, struct failure *failure);

void session_note_preload(struct session *session);
void session_note_preload_end(struct session *session);

/* Whether the ids to attach to are processes. */
int session_check_attached(const struct session *session, struct failure *failure);

/* Opens the events of the processes, and meanwhile applies the first ones' records. 0 also when the
 * user or the duration ended the collection before all threads were open: then it stops. */
int session_attach(struct session *session, struct failure *failure);

/* CPU time of the attached processes so far, as far as they live. */
uint64_t session_attached_cpu_ns(const struct session *session);

/* Starts the thread for the rings, unless it was started. */
void session_start_draining(struct session *session);

/* Waits for the polls, takes the pending signals, and checks for the collection's end. */
void session_watch(struct session *session, int timeout_ms);

/* Applies drain's records, once around. Returns whether there may be more. */
bool session_apply(struct session *session, enum drain_extent extent);

/* Runs a step of the custom collector and waits for its end, if there is one and it was started.
 * What goes wrong becomes a warning. */
void session_custom_step(struct session *session, enum custom_step step);

/* The last step, if it is still to come, and its note. */
void session_custom_finish(struct session *session);

/* Takes the pending signals: forwards them, or ends the collection. */
void session_handle_signals(struct session *session);

/* Collects until the program or the user ends it; -1 when the file cannot be written. */
int session_collect(struct session *session, struct failure *failure);

/* Chooses the source of waits, if the analysis wants any, and opens BPF. To be called before the
 * first thread's events are opened. */
int session_open_waits(struct session *session, struct failure *failure);

/* Once the sampler has its rings: it may have given BPF up for them. Then the observer is chosen;
 * -1: the user wants BPF. */
int session_check_waits(struct session *session, struct failure *failure);

/* Where nobody is permitted more: gives drain the observer. false: out of memory. Then, once the
 * events are open, its thread; and its end, before the last records are applied. */
bool session_add_observer(struct session *session);
void session_start_observing(struct session *session);
void session_stop_observing(struct session *session);
void session_say_observed(const struct session *session);

void session_say_waits(const struct session *session);
/* After the last record: waits that BPF saw begin, and that go on. */
void session_end_waits(struct session *session);

void session_note_waits(struct session *session);      /* at the start */
void session_note_lost_waits(struct session *session); /* at the end */

/* How time in the kernel is recorded, in words. */
const char *session_kernel_words(const struct session *session);

/* Says when samples are taken. */
void session_say_sampling(const struct session *session);

/* Fills in the command line. */
void session_describe(struct session *session);

/* On a terminal: the attached processes, and how to end, unless the collection is over already. */
void session_announce(const struct session *session);

/* Names the processes that live on after the launched one's end: nobody samples them. */
void session_note_running(struct session *session);

void session_note_start(struct session *session);

/* Closes the accounts: CPU time in no sample, records lost without a trace. */
void session_settle(struct session *session);

void session_note_end(struct session *session);

/* The line for the user. */
void session_report(const struct session *session);

#endif
