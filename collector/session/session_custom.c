/* The custom collector's steps: waited for, and what went wrong noted. The collection goes on
 * without it. */
#include "collector/machine/clock.h"
#include "collector/session/session_private.h"
#include <assert.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#define NS_PER_MS 1000000ull

/* How long a step may take, and then how long its end is waited for. */
#define STEP_NS   (10000 * NS_PER_MS)
#define KILLED_NS (1000 * NS_PER_MS)

/* How long what start left may take for its last words, and between looks whether it is gone. */
#define LEFT_NS (1000 * NS_PER_MS)
#define LOOK_MS 10

enum { REASON_SIZE = 128 };

static void note_failure(struct session *session, enum custom_step step, const char *why)
{
	char text[REASON_SIZE + 192];
	snprintf(text, sizeof(text),
		 "the custom collector's %s %s: some of its data may be missing; what it printed, "
		 "if "
		 "anything, is in the result's " RESULT_CUSTOM_LOG,
		 custom_collector_word(step), why);
	session->custom.failed++;
	if (session->emit)
		emit_note(session->emit, PROFILE_NOTE_WARNING, clock_now(), .text = text);
	log_line(session->log, LOG_NORMAL, "%s", text);
}

/* Takes signals meanwhile: one that ends a collection ends the step too. Returns whether the step
 * ended in time. */
static bool await(struct session *session, enum custom_step step, uint64_t limit_ns,
		  struct custom_end *end)
{
	uint64_t end_ns = clock_now() + limit_ns;
	while (!custom_collector_has_ended(&session->custom, step, end)) {
		struct pollfd signals = {.fd = session->signals.fd, .events = POLLIN};
		uint64_t now = clock_now();
		if (now >= end_ns)
			return false;
		poll(&signals, 1,
		     (int)((end_ns - now) / NS_PER_MS) + 1); /* SIGCHLD is among them */
		session_handle_signals(session);
	}
	return true;
}

/* Returns whether the step went well; reason is filled in otherwise. */
static bool run_step(struct session *session, enum custom_step step, char reason[REASON_SIZE])
{
	const struct options *options = session->options;
	const struct custom_place place = {
		.directory = session->result.place,
		.pids = session_is_launch(session) ? &session->target.pid : options->pids,
		.pid_count = session_is_launch(session) ? 1 : options->pid_count,
	};
	struct custom_end end = {0};
	if (custom_collector_run(&session->custom, step, &place) < 0) {
		snprintf(reason, REASON_SIZE, "could not be run (%s)", strerror(errno));
		return false;
	}
	if (!await(session, step, STEP_NS, &end)) {
		snprintf(reason, REASON_SIZE, "took more than %llu s and was killed",
			 STEP_NS / NS_PER_MS / 1000);
		custom_collector_signal(&session->custom, SIGKILL);
		/* Else the kernel holds it, in a file system that does not answer. */
		if (!await(session, step, KILLED_NS, &end))
			session->custom.running = 0;
		return false;
	}
	if (end.by_signal)
		snprintf(reason, REASON_SIZE, "was ended by signal %d", end.status);
	else if (end.status != 0)
		snprintf(reason, REASON_SIZE, "failed (exit status %d)", end.status);
	return !end.by_signal && end.status == 0;
}

/* What a collector left in the background has no work any more, but may have last rows to write. */
static void await_left(struct session *session)
{
	uint64_t end_ns = clock_now() + LEFT_NS;
	custom_collector_ask_left(&session->custom);
	while (custom_collector_has_left(&session->custom) && clock_now() < end_ns) {
		struct pollfd signals = {.fd = session->signals.fd, .events = POLLIN};
		poll(&signals, 1, LOOK_MS);
		session_handle_signals(session);
	}
}

void session_custom_step(struct session *session, enum custom_step step)
{
	char reason[REASON_SIZE] = "";
	struct custom_collector *custom = &session->custom;
	assert(custom->command || !custom->is_started);
	if (!custom->command || (step != CUSTOM_START && !custom->is_started))
		return;
	bool went_well = run_step(session, step, reason);
	if (!went_well)
		note_failure(session, step, reason);
	custom->is_started = step == CUSTOM_START ? went_well : step != CUSTOM_STOP;
	if (step == CUSTOM_STOP)
		await_left(session);
	if (!custom->is_started)
		custom_collector_end(custom);
}

void session_custom_finish(struct session *session)
{
	session_custom_step(session, CUSTOM_STOP);
	if (!session->custom.command)
		return;
	if (session->emit)
		emit_note(session->emit, PROFILE_NOTE_CUSTOM_COLLECTOR, session->end_ns,
			  .value = session->custom.failed, .text = session->custom.command);
	custom_collector_tidy(session->result.place);
}
