/* Who sees what threads wait for: BPF where it may, else the observer. */
#include "collector/machine/clock.h"
#include "collector/session/session_private.h"
#include "collector/waits/observer.h"
#include "collector/waits/waits.h"
#include "profile/profile.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>

/* Waits without a record, unless the user says which. By BPF a record costs a few microseconds; the
 * observer looks each few milliseconds. */
enum { BPF_THRESHOLD_NS = 10000, OBSERVER_THRESHOLD_NS = 3000000 };

static uint64_t choose_threshold(const struct options *options, uint64_t by_default_ns)
{
	return options->wait_threshold_ns > 0 ? options->wait_threshold_ns : by_default_ns;
}

static void choose_observer(struct session *session)
{
	session->wait_source = PROFILE_WAIT_BY_OBSERVER;
	session->wait_threshold_ns = choose_threshold(session->options, OBSERVER_THRESHOLD_NS);
	if (session->wait_threshold_ns < OBSERVER_THRESHOLD_LEAST_NS)
		session->wait_threshold_ns = OBSERVER_THRESHOLD_LEAST_NS;
}

int session_open_waits(struct session *session, struct failure *failure)
{
	const struct options *options = session->options;
	if (!options->analysis->waits)
		return 0;
	choose_observer(session);
	if (options->wait_source == OPTIONS_WAITS_OBSERVER)
		return 0;
	uint64_t threshold_ns = choose_threshold(options, BPF_THRESHOLD_NS);
	sampler_open_waits(&session->sampler, threshold_ns, options->all_wakers);
	if (session->sampler.waits) {
		session->wait_source = PROFILE_WAIT_BY_BPF;
		session->wait_threshold_ns = threshold_ns;
		return 0;
	}
	if (options->wait_source == OPTIONS_WAITS_BPF)
		return failure_set(failure, FAILURE_EXIT,
				   "cannot use --wait-source bpf: %s; run as root, or: sudo setcap "
				   "cap_bpf,cap_perfmon=ep tbcollect, or use --wait-source "
				   "observer",
				   sampler_waits_words(&session->sampler));
	return 0;
}

int session_check_waits(struct session *session, struct failure *failure)
{
	if (session->wait_source != PROFILE_WAIT_BY_BPF || session->sampler.waits)
		return 0;
	if (session->options->wait_source == OPTIONS_WAITS_BPF)
		return failure_set(failure, FAILURE_EXIT,
				   "cannot use --wait-source bpf: %s; permit more open files "
				   "(ulimit "
				   "-n), or use --wait-source observer",
				   sampler_waits_words(&session->sampler));
	choose_observer(session);
	analyzer_choose_waits(session->analyzer, session->wait_source, session->wait_threshold_ns);
	return 0;
}

bool session_add_observer(struct session *session)
{
	if (session->wait_source != PROFILE_WAIT_BY_OBSERVER)
		return true;
	session->observer = observer_create(session->wait_threshold_ns, session->drain);
	return session->observer != NULL;
}

void session_start_observing(struct session *session)
{
	char text[160];
	if (!session->observer)
		return;
	/* Threads of before: of those that block, no record tells. */
	for (size_t i = 0; !session_is_launch(session) && i < session->sampler.thread_count; i++)
		observer_add_thread(session->observer, (uint32_t)session->sampler.threads[i].pid,
				    (uint32_t)session->sampler.threads[i].tid);
	if (observer_start(session->observer) == 0)
		return;
	snprintf(text, sizeof(text), "nobody looks at what threads wait for: no thread for it: %s",
		 strerror(errno));
	emit_note(session->emit, PROFILE_NOTE_WARNING, clock_now(), .text = text);
	log_line(session->log, LOG_NORMAL, "%s", text);
}

void session_stop_observing(struct session *session)
{
	if (session->observer)
		observer_stop(session->observer);
	preload_end(&session->preload);
}

void session_say_observed(const struct session *session)
{
	if (!session->observer)
		return;
	struct observer_counts counts = observer_counts(session->observer);
	log_line(session->log, LOG_VERBOSE,
		 "%llu threads read while they waited, %llu of them still blocked, %llu of these "
		 "too late, %llu missed, in %.4f s of CPU time",
		 (unsigned long long)counts.reads, (unsigned long long)counts.looks,
		 (unsigned long long)analyzer_stale_looks(session->analyzer),
		 (unsigned long long)counts.missed, (double)counts.cpu_ns / 1e9);
}

/* Two clocks at one moment. */
struct moment {
	uint64_t monotonic_ns; /* BPF's */
	uint64_t raw_ns;
};

/* 0 stays 0. */
static uint64_t raw_time(const struct moment *now, uint64_t monotonic_ns)
{
	uint64_t age_ns = now->monotonic_ns - monotonic_ns;
	if (monotonic_ns == 0)
		return 0;
	if (monotonic_ns > now->monotonic_ns)
		return now->raw_ns;
	return age_ns < now->raw_ns ? now->raw_ns - age_ns : 1;
}

static void put_unended(struct session *session, const struct moment *now,
			const struct waits_source_waiting *waiting)
{
	bool is_call = waiting->syscall >= 0 && waiting->syscall < PROFILE_NO_SYSCALL;
	struct waits_unended unended = {
		.pid = waiting->pid,
		.tid = waiting->tid,
		.first_ns = session->start_ns,
		.begin_ns = raw_time(now, waiting->begin_ns),
		.block_ns = raw_time(now, waiting->block_ns),
		.blocked_ns = waiting->blocked_ns,
		.ready_ns = waiting->ready_ns,
		.stopped_ns = waiting->stopped_ns,
		.blocks = waiting->blocks,
		.is_interrupted = waiting->is_interrupted,
		.is_32bit = waiting->is_32bit,
	};
	unended.call.number = is_call ? (uint16_t)waiting->syscall : PROFILE_NO_SYSCALL;
	memcpy(unended.call.arguments, waiting->args, sizeof(waiting->args));
	analyzer_put_unended(session->analyzer, &unended, session->end_ns);
}

/* The clocks are read before the first thread is looked at: that takes its time. */
void session_end_waits(struct session *session)
{
	struct moment now = {clock_read(CLOCK_MONOTONIC), clock_now()};
	struct waits_source_waiting waiting;
	uint32_t tid = 0;
	while (session->sampler.waits &&
	       waits_source_next_waiting(session->sampler.waits, &tid, &waiting))
		put_unended(session, &now, &waiting);
}

void session_say_waits(const struct session *session)
{
	double threshold_ms = (double)session->wait_threshold_ns / 1e6;
	if (session->options->all_wakers && session->wait_source == PROFILE_WAIT_BY_OBSERVER)
		log_line(session->log, LOG_NORMAL,
			 "no wakers' stacks: the waits are seen by an observer, not by BPF: %s",
			 sampler_waits_words(&session->sampler));
	if (session->wait_source == PROFILE_WAIT_BY_BPF)
		log_line(session->log, LOG_VERBOSE, "waits of %g ms and longer by BPF",
			 threshold_ms);
	else if (session->sampler.waits_error != 0)
		log_line(session->log, LOG_VERBOSE,
			 "waits of %g ms and longer by an observer, not by BPF: %s", threshold_ms,
			 sampler_waits_words(&session->sampler));
	else if (session->wait_source == PROFILE_WAIT_BY_OBSERVER)
		log_line(session->log, LOG_VERBOSE, "waits of %g ms and longer by an observer",
			 threshold_ms);
}

void session_note_waits(struct session *session)
{
	if (session->wait_source != 0)
		emit_note(session->emit, PROFILE_NOTE_WAITS, session->start_ns,
			  .value = session->wait_threshold_ns, .tid = session->wait_source);
}

/* What BPF lost. */
void session_note_lost_waits(struct session *session)
{
	struct waits_source_missing missing;
	char text[160];
	if (session->wait_source != PROFILE_WAIT_BY_BPF)
		return;
	sampler_missing_waits(&session->sampler, &missing);
	if (missing.waits > 0)
		emit_note(session->emit, PROFILE_NOTE_WAITS_LOST, session->end_ns,
			  .value = missing.waits, .tid = PROFILE_WAIT_BY_BPF);
	if (missing.threads == 0)
		return;
	snprintf(text, sizeof(text),
		 "the waits of %llu threads are missing: too many lived at once; "
		 "--wait-source observer has no limit",
		 (unsigned long long)missing.threads);
	emit_note(session->emit, PROFILE_NOTE_WARNING, session->end_ns, .text = text);
	log_line(session->log, LOG_NORMAL, "%s", text);
}
