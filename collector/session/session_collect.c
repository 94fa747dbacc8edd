#include "collector/machine/clock.h"
#include "collector/session/cpu_time.h"
#include "collector/session/session_private.h"
#include <assert.h>
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#define NS_PER_S  1000000000ull
#define NS_PER_MS 1000000ull

enum {
	ROUND_RECORDS = 4096, /* applied at once */
	CHECK_EACH = 64,      /* records between looks at the clock */
	IDLE_MS = 1000        /* a round without records, for a sync point */
};

/* How long signals wait at most, but for the records between two looks at the clock. */
#define ROUND_NS (50 * NS_PER_MS)

static void show_switch(const struct record_switch *found, void *user)
{
	switch_lead_show(user, found);
}

static void ask_scheduler(void *user)
{
	switch_lead_ask(user, clock_now());
}

static void follow_switches(struct session *session)
{
	struct drain_watcher watcher = {show_switch, ask_scheduler, &session->lead};
	if (session->sampler.config.switches && !session->sampler.switches)
		drain_add_watcher(session->drain, &watcher);
}

int session_open_drain(struct session *session, struct failure *failure)
{
	assert(!session->drain);
	if (session_check_waits(session, failure) < 0)
		return -1;
	session->drain = drain_create(&session->sampler);
	if (!session->drain || !session_add_observer(session))
		return failure_set_error(failure, errno, "cannot make the buffers of samples");
	follow_switches(session);
	return session_add_preload(session, failure);
}

/* The program's CPU time by the events' own counts; samples show a part of it, later. */
static uint64_t program_cpu_ns(const struct session *session)
{
	uint64_t total = 0;
	for (size_t i = 0; i < session->sampler.thread_count; i++) {
		struct event_reading one;
		sampler_read(&session->sampler, i, &one);
		total += one.count_ns;
	}
	return total;
}

/* Has as many stacks kept as all threads of ours may take CPU time for. */
static void follow_budget(struct session *session, uint64_t now)
{
	uint64_t began_ns = cpu_time_of_thread_ns();
	struct budget_reading reading = {.now_ns = now, .own_ns = cpu_time_of_self_ns()};
	reading.program_ns = program_cpu_ns(session);
	reading.taken_ns = cpu_time_of_thread_ns() - began_ns;
	budget_step(&session->budget, &reading);
	sampler_keep_share(&session->sampler, session->budget.share);
	drain_keep_share(session->drain, session->budget.share);
}

bool session_apply(struct session *session, enum drain_extent extent)
{
	uint64_t now = clock_now();
	uint64_t end_ns = now + ROUND_NS;
	const struct record *record;
	bool more = true;
	drain_begin(session->drain, extent);
	for (int i = 0; i < ROUND_RECORDS && more && now < end_ns; i++) {
		if (budget_is_due(&session->budget, now))
			follow_budget(session, now);
		more = drain_next(session->drain, &record);
		if (more)
			analyzer_apply(session->analyzer, record);
		if (i % CHECK_EACH == CHECK_EACH - 1)
			now = clock_now();
	}
	return more;
}

static void forward(const struct session *session, const struct signals_event *event)
{
	/* The terminal's signals reach the program anyway, in our process group. */
	if (!event->from_terminal && session->target.pid > 0 && !session->target.ended)
		kill(session->target.pid, event->number);
}

void session_handle_signals(struct session *session)
{
	struct signals_event event;
	while (signals_next(&session->signals, &event)) {
		if (session->finalizer > 0 && signals_asks_to_end(event.number))
			kill(session->finalizer, event.number);
		if (signals_asks_to_end(event.number))
			custom_collector_ask(&session->custom, event.number, clock_now());
		if (event.number == SIGCHLD)
			target_check(&session->target, false);
		else if (session_is_launch(session))
			forward(session, &event);
		else if (signals_asks_to_end(event.number))
			session->stop = true;
	}
	if (session_is_launch(session) && session->target.ended)
		session->stop = true;
}

/* Attached processes that ended are not waited for any more. */
static void handle_ends(struct session *session)
{
	size_t live = 0;
	for (size_t i = 1; i <= session->options->pid_count; i++) {
		struct pollfd *poll = &session->polls[i];
		if (poll->fd >= 0 && poll->revents != 0) {
			close(poll->fd);
			poll->fd = -1;
		}
		live += poll->fd >= 0;
	}
	if (!session_is_launch(session) && live == 0)
		session->stop = true;
}

static int next_timeout(const struct session *session, uint64_t now)
{
	uint64_t limit_ms = session->has_drain_thread ? IDLE_MS : DRAIN_POLL_MS;
	uint64_t duration = session->options->duration_ns;
	uint64_t elapsed = now - session->start_ns;
	if (duration == 0 || elapsed + limit_ms * NS_PER_MS < duration)
		return (int)limit_ms;
	return elapsed >= duration ? 0 : (int)((duration - elapsed) / NS_PER_MS) + 1;
}

/* Without the thread (a limit of processes or memory) we look at the rings ourselves. */
void session_start_draining(struct session *session)
{
	if (session->is_draining)
		return;
	session->is_draining = true;
	session->has_drain_thread = drain_start(session->drain) == 0;
	int error = errno;
	session->poll_count += drain_polls(session->drain, session->polls + session->poll_count);
	assert(session->poll_count <=
	       1 + session->options->pid_count + session->sampler.cpus.count); /* open_polls */
	if (!session->has_drain_thread)
		log_line(session->log, LOG_VERBOSE, "no thread to watch the rings: %s",
			 strerror(error));
}

void session_watch(struct session *session, int timeout_ms)
{
	uint64_t duration = session->options->duration_ns;
	poll(session->polls, session->poll_count, timeout_ms);
	session_handle_signals(session);
	handle_ends(session);
	if (duration > 0 && clock_now() - session->start_ns >= duration)
		session->stop = true;
}

/* Until the program or the user ends it, or the file cannot be written. */
int session_collect(struct session *session, struct failure *failure)
{
	bool more = false;
	session_start_draining(session);
	session_start_observing(session);
	while (!session->stop) {
		uint64_t now = clock_now();
		session_watch(session, more ? 0 : next_timeout(session, now));
		more = session_apply(session, DRAIN_SETTLED);
		sampler_renew(&session->sampler);
		if (emit_failed(session->emit, failure) < 0)
			return -1;
		now = clock_now();
		if (now >= session->next_sync_ns) {
			struct profile_clock point = clock_sync(&session->clock);
			emit_clock(session->emit, &point);
			session->next_sync_ns = now + NS_PER_S;
			if (result_check(&session->result, failure) < 0)
				return -1;
		}
	}
	return 0;
}
