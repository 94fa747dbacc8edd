#include "collector/session.h"

#include "collector/assembly.h"
#include "collector/attach.h"
#include "collector/clock.h"
#include "collector/cost.h"
#include "collector/emit.h"
#include "collector/finalize.h"
#include "collector/host.h"
#include "collector/log.h"
#include "collector/merge.h"
#include "collector/priority.h"
#include "collector/result.h"
#include "collector/sampler.h"
#include "collector/signals.h"
#include "collector/target.h"
#include "collector/tracker.h"
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#define NS_PER_S  1000000000ull
#define NS_PER_MS 1000000ull

enum {
	POLL_MS = 200, /* how long records may lie in a ring that does not fill up */
	COMMAND_LINE_MAX = 4096
};

/* How long after its time stamp a record may appear in its ring (see merge_begin). */
#define VISIBLE_NS (2 * NS_PER_MS)

/* CPU time of the target that the budget starts with. */
#define BUDGET_START_NS (NS_PER_S / 2)

struct session {
	const struct options *options;
	enum log_level log;
	char command[COMMAND_LINE_MAX];
	struct profile_clock clock; /* first sync point */
	struct signals signals;
	struct target target;
	struct result result;
	struct emit *emit;
	struct sampler sampler;
	struct merge *merge;
	struct assembly *assembly;
	bool *behind; /* per ring: stacks are left out */
	struct tracker *tracker;
	struct pollfd *polls; /* signals, then attached processes, then rings */
	size_t poll_count;
	uint64_t start_ns;
	uint64_t start_cpu_ns;    /* the collector's own CPU time at the start */
	uint64_t attached_cpu_ns; /* of the attached processes, once all events were open */
	uint64_t end_ns;
	uint64_t next_sync_ns;
	bool stop;
};

static bool is_launch(const struct session *session)
{
	return session->options->program != NULL;
}

/* The command line as a user would type it, more or less: arguments with blanks are quoted. */
static void join_command(char *text, size_t size, char *const *argv)
{
	size_t used = 0;
	text[0] = '\0';
	for (size_t i = 0; argv[i] != NULL && used < size - 1; i++) {
		const char *quote = argv[i][0] == '\0' || strpbrk(argv[i], " \t\n\"'$`") ? "'" : "";
		int more = snprintf(text + used, size - used, "%s%s%s%s", i > 0 ? " " : "", quote,
				    argv[i], quote);
		if (more < 0)
			break;
		used += (size_t)more;
	}
}

static void describe_command(struct session *session)
{
	const struct options *options = session->options;
	size_t used = 0;
	if (is_launch(session)) {
		join_command(session->command, sizeof(session->command), options->program);
		return;
	}
	for (size_t i = 0; i < options->pid_count && used < sizeof(session->command); i++)
		used += (size_t)snprintf(session->command + used, sizeof(session->command) - used,
					 "%s%d", i > 0 ? "," : "-p ", (int)options->pids[i]);
}

/* More than half of a ring to catch up with means that we do not keep up: stacks are left out until
 * it is down to a quarter. Samples never are. */
static bool is_behind(struct session *session, size_t ring_index)
{
	const struct ring *ring = &session->sampler.rings[ring_index];
	size_t fill = ring_fill(ring);
	if (fill > ring->size / 2)
		session->behind[ring_index] = true;
	else if (fill < ring->size / 4)
		session->behind[ring_index] = false;
	return session->behind[ring_index];
}

/* Whether collecting has taken more of the CPU than it may. The start's cost is not held against
 * the first samples. */
static bool is_over_budget(const struct session *session)
{
	struct tracker_counts counts;
	double limit = session->options->overhead_limit;
	tracker_counts(session->tracker, &counts);
	return limit > 0 && (double)(cpu_time_of_thread_ns() - session->start_cpu_ns) >
				    limit * (double)(counts.cpu_ns + BUDGET_START_NS);
}

/* Applies a record of a ring, and before it the sample that it leaves unfinished. record NULL: only
 * that. */
static void apply(struct session *session, struct record *record, size_t ring_index,
		  bool skip_stack)
{
	struct record cut;
	if (assembly_cut(session->assembly, ring_index, record, &cut))
		tracker_apply(session->tracker, &cut, ring_index, skip_stack);
	if (record == NULL || !assembly_add(session->assembly, ring_index, record))
		return;
	if (record->kind == RECORD_LOST) {
		record->lost -= sampler_take_refused(&session->sampler, ring_index, record->lost);
		if (record->lost == 0)
			return;
	}
	tracker_apply(session->tracker, record, ring_index, skip_stack);
}

static void drain(struct session *session, uint64_t limit_ns)
{
	struct record record;
	size_t ring_index;
	bool over_budget = is_over_budget(session);
	merge_begin(session->merge, limit_ns);
	while (merge_next(session->merge, &record, &ring_index))
		apply(session, &record, ring_index, is_behind(session, ring_index) || over_budget);
	merge_end(session->merge);
}

static void drain_all(void *user)
{
	drain(user, UINT64_MAX);
}

static int open_merge(struct session *session, struct failure *failure)
{
	struct record_format format = event_format(&session->sampler.config);
	size_t count = session->sampler.cpus.count;
	session->behind = calloc(count, sizeof(*session->behind));
	session->merge = merge_create(session->sampler.rings, count, &format);
	session->assembly = assembly_create(count);
	if (session->behind == NULL || session->merge == NULL || session->assembly == NULL)
		return failure_set(failure, FAILURE_EXIT, "out of memory");
	return 0;
}

static int open_launched(struct session *session, struct failure *failure)
{
	pid_t pid = session->target.pid;
	int opened = sampler_add(&session->sampler, pid, pid, failure);
	if (opened > 0)
		return failure_set(failure, FAILURE_EXIT,
				   "the program was killed before it started");
	if (opened < 0 || open_merge(session, failure) < 0)
		return -1;
	if (tracker_add_thread(session->tracker, pid, pid, false) < 0)
		return failure_set(failure, FAILURE_EXIT, "out of memory");
	return 0;
}

/* The merge needs the rings, and these come with the first thread. */
static void drain_attaching(void *user)
{
	struct session *session = user;
	struct failure failure = {0};
	if (session->merge == NULL && open_merge(session, &failure) < 0)
		return;
	drain_all(session);
}

static int open_attached(struct session *session, struct failure *failure)
{
	const struct options *options = session->options;
	for (size_t i = 0; i < options->pid_count; i++)
		if (attach_check(options->pids[i], failure) < 0 ||
		    attach_process(&session->sampler, session->tracker, options->pids[i],
				   drain_attaching, session, failure) < 0)
			return -1;
	if (session->merge == NULL && open_merge(session, failure) < 0)
		return -1;
	attach_drop_doubles(&session->sampler, session->tracker);
	for (size_t i = 0; i < options->pid_count; i++)
		session->attached_cpu_ns += cpu_time_of_process_ns(options->pids[i]);
	return 0;
}

static int open_polls(struct session *session, struct failure *failure)
{
	const struct options *options = session->options;
	size_t count = 1 + options->pid_count + session->sampler.cpus.count;
	session->polls = calloc(count, sizeof(*session->polls));
	if (session->polls == NULL)
		return failure_set(failure, FAILURE_EXIT, "out of memory");
	struct pollfd *next = session->polls;
	*next++ = (struct pollfd){.fd = session->signals.fd, .events = POLLIN};
	for (size_t i = 0; i < options->pid_count; i++) {
		int fd = (int)syscall(SYS_pidfd_open, options->pids[i], 0);
		if (fd < 0 && errno != ESRCH)
			return failure_set(failure, FAILURE_EXIT,
					   "cannot watch process %d: %s (pidfd_open)",
					   (int)options->pids[i], strerror(errno));
		*next++ = (struct pollfd){.fd = fd, .events = POLLIN};
	}
	for (size_t i = 0; i < session->sampler.cpus.count; i++)
		*next++ = (struct pollfd){.fd = session->sampler.rings[i].fd, .events = POLLIN};
	session->poll_count = count;
	return 0;
}

static void add_start_notes(struct session *session)
{
	const struct options *options = session->options;
	struct emit *emit = session->emit;
	uint64_t now = session->start_ns;
	uint32_t pid =
		is_launch(session) ? (uint32_t)session->target.pid : (uint32_t)options->pids[0];
	emit_note(emit, PROFILE_NOTE_COLLECTOR, now, 0, (uint32_t)getpid(), 0,
		  "tbcollect " TBCOLLECT_VERSION);
	emit_note(emit, PROFILE_NOTE_ANALYSIS, now, 0, 0, 0, "hotspots");
	emit_note(emit, PROFILE_NOTE_COMMAND, now, 0, pid, 0, session->command);
	emit_note(emit, PROFILE_NOTE_INTERVAL, now, options->interval_ns, 0, 0, NULL);
	emit_note(emit, PROFILE_NOTE_STACK_SIZE, now, session->sampler.config.stack_size, 0, 0,
		  NULL);
	for (size_t i = 0; i < options->pid_count; i++)
		emit_note(emit, PROFILE_NOTE_ATTACHED, now, 0, (uint32_t)options->pids[i], 0, NULL);
	if (!session->sampler.config.has_count)
		emit_note(emit, PROFILE_NOTE_WARNING, now, 0, 0, 0,
			  "this kernel gives no CPU time with the samples (Linux 6.12 does): "
			  "samples "
			  "count one interval each");
}

/* Everything up to the moment when samples flow. */
static int set_up(struct session *session, struct failure *failure)
{
	const struct options *options = session->options;
	struct event_config config = {
		.interval_ns = options->interval_ns,
		.stack_size = options->unwind == OPTIONS_UNWIND_NONE ? 0
			      : options->stack_size > 0              ? options->stack_size
								     : UINT32_MAX,
		.inherit = true,
		.same_process = !options->children,
		.kernel = options->kernel,
		.on_exec = is_launch(session),
	};
	session->clock = clock_calibrate();
	static const enum sampler_source sources[] = {
		[OPTIONS_UNWIND_AUTO] = SAMPLER_AUTO,
		[OPTIONS_UNWIND_COPY] = SAMPLER_COPY,
		[OPTIONS_UNWIND_BPF] = SAMPLER_BPF,
		[OPTIONS_UNWIND_NONE] = SAMPLER_COPY,
	};
	if (sampler_init(&session->sampler, &config, sources[options->unwind], failure) < 0 ||
	    result_create(&session->result, options->result_dir, failure) < 0 ||
	    emit_create(session->result.file, &session->clock, options->interval_ns, &session->emit,
			failure) < 0)
		return -1;
	struct tracker_config tracker = {
		.rings = session->sampler.cpus.count,
		.cpus = session->sampler.cpus.numbers,
		.interval_ns = options->interval_ns,
		.has_count = session->sampler.config.has_count,
		.final_counts = session->sampler.config.final_counts,
		.unwind = options->unwind != OPTIONS_UNWIND_NONE,
		.collapse = options->collapse,
	};
	session->tracker = tracker_create(&tracker, session->emit);
	if (session->tracker == NULL)
		return failure_set(failure, FAILURE_EXIT, "out of memory");
	struct host *host = host_create();
	if (host != NULL)
		emit_host(session->emit, host);
	host_destroy(host);
	session->start_ns = clock_now();
	if ((is_launch(session) ? open_launched(session, failure)
				: open_attached(session, failure)) < 0 ||
	    open_polls(session, failure) < 0)
		return -1;
	session->start_ns = is_launch(session) ? clock_now() : session->start_ns;
	session->start_cpu_ns = cpu_time_of_thread_ns();
	session->next_sync_ns = session->start_ns + NS_PER_S;
	add_start_notes(session);
	return 0;
}

static void forward(const struct session *session, const struct signals_event *event)
{
	/* What the terminal sends reaches the program anyway: it is in our process group. */
	if (!event->from_terminal && session->target.pid > 0 && !session->target.ended)
		kill(session->target.pid, event->number);
}

static void handle_signals(struct session *session)
{
	struct signals_event event;
	while (signals_next(&session->signals, &event)) {
		if (event.number == SIGCHLD)
			target_check(&session->target, false);
		else if (is_launch(session))
			forward(session, &event);
		else if (event.number == SIGINT || event.number == SIGTERM ||
			 event.number == SIGHUP || event.number == SIGQUIT)
			session->stop = true;
	}
	if (is_launch(session) && session->target.ended)
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
	if (!is_launch(session) && live == 0)
		session->stop = true;
}

static int next_timeout(const struct session *session, uint64_t now)
{
	uint64_t duration = session->options->duration_ns;
	uint64_t elapsed = now - session->start_ns;
	if (duration == 0 || elapsed + POLL_MS * NS_PER_MS < duration)
		return POLL_MS;
	return elapsed >= duration ? 0 : (int)((duration - elapsed) / NS_PER_MS) + 1;
}

/* Until the program or the user ends it, or the file cannot be written. */
static int collect(struct session *session, struct failure *failure)
{
	while (!session->stop) {
		uint64_t now = clock_now();
		poll(session->polls, session->poll_count, next_timeout(session, now));
		handle_signals(session);
		handle_ends(session);
		now = clock_now();
		drain(session, now - VISIBLE_NS);
		if (emit_failed(session->emit, failure) < 0)
			return -1;
		if (now >= session->next_sync_ns) {
			struct profile_clock point = clock_sync(&session->clock);
			emit_clock(session->emit, &point);
			session->next_sync_ns = now + NS_PER_S;
		}
		if (session->options->duration_ns > 0 &&
		    now - session->start_ns >= session->options->duration_ns)
			session->stop = true;
	}
	return 0;
}

/* CPU time of the attached processes so far, threads that ended included; those that are gone count
 * as they did at the start, so that the difference is never too much. */
static uint64_t attached_cpu_ns(const struct session *session)
{
	uint64_t total = 0;
	for (size_t i = 0; i < session->options->pid_count; i++)
		total += cpu_time_of_process_ns(session->options->pids[i]);
	return total > session->attached_cpu_ns ? total : session->attached_cpu_ns;
}

/* The events' own totals: CPU time that no sample told of, and records lost without a trace. */
static void settle(struct session *session)
{
	uint64_t lost = 0;
	struct tracker_counts counts;
	for (size_t i = 0; i < session->sampler.thread_count; i++) {
		struct event_reading total;
		sampler_read(&session->sampler, i, &total);
		tracker_settle(session->tracker, session->sampler.threads[i].family,
			       total.count_ns);
		lost += total.lost;
	}
	if (session->target.ended)
		tracker_settle_all(session->tracker, session->target.cpu_ns);
	else if (!is_launch(session))
		tracker_settle_all(session->tracker,
				   attached_cpu_ns(session) - session->attached_cpu_ns);
	tracker_counts(session->tracker, &counts);
	if (lost > counts.lost)
		emit_note(session->emit, PROFILE_NOTE_RECORDS_LOST, session->end_ns,
			  lost - counts.lost, 0, 0, NULL);
}

static void add_end_notes(struct session *session)
{
	struct emit *emit = session->emit;
	uint64_t now = session->end_ns;
	struct rusage self;
	struct merge_counts merge;
	struct tracker_counts counts;
	getrusage(RUSAGE_SELF, &self);
	merge_counts(session->merge, &merge);
	tracker_counts(session->tracker, &counts);
	if (merge.malformed > 0)
		emit_note(emit, PROFILE_NOTE_RECORDS_LOST, now, merge.malformed, 0, 0,
			  "records that could not be read");
	emit_note(emit, PROFILE_NOTE_ELAPSED, now, now - session->start_ns, 0, 0, NULL);
	if (session->target.ended)
		emit_note(emit, PROFILE_NOTE_EXIT_STATUS, now,
			  (uint64_t)session->target.exit_status, (uint32_t)session->target.pid, 0,
			  NULL);
	if (session->target.ended)
		emit_note(emit, PROFILE_NOTE_RUSAGE_CPU, now, session->target.cpu_ns,
			  (uint32_t)session->target.pid, 0, NULL);
	emit_note(emit, PROFILE_NOTE_STACK_COPY, now, counts.stack_copy_bytes, 0, 0, NULL);
	emit_note(emit, PROFILE_NOTE_COLLECTOR_RSS, now, (uint64_t)self.ru_maxrss * 1024, 0, 0,
		  NULL);
	emit_note(emit, PROFILE_NOTE_COLLECTOR_CPU, now, cpu_time_ns(&self), 0, 0, NULL);
}

static int finish(struct session *session, struct failure *failure)
{
	sampler_stop(&session->sampler);
	session->end_ns = clock_now();
	drain_all(session);
	for (size_t i = 0; i < session->sampler.cpus.count; i++)
		apply(session, NULL, i, false);
	settle(session);
	tracker_finish(session->tracker);
	add_end_notes(session);
	struct profile_clock last = clock_sync(&session->clock);
	struct emit *emit = session->emit;
	session->emit = NULL;
	return emit_finish(emit, session->command, &last, failure);
}

static void report(const struct session *session)
{
	struct tracker_counts counts;
	char lost[64] = "";
	char more[64] = "";
	tracker_counts(session->tracker, &counts);
	if (counts.lost > 0)
		snprintf(lost, sizeof(lost), " (%llu lost)", (unsigned long long)counts.lost);
	if (counts.unattributed_ns > counts.cpu_ns / 100)
		snprintf(more, sizeof(more), " (and %.3f s in no thread's account)",
			 (double)counts.unattributed_ns / 1e9);
	log_line(session->log, LOG_NORMAL,
		 "%.3f s of CPU time%s in %llu samples%s of %llu thread%s over %.3f s; result in "
		 "%s",
		 (double)counts.cpu_ns / 1e9, more, (unsigned long long)counts.samples, lost,
		 (unsigned long long)counts.threads, counts.threads == 1 ? "" : "s",
		 (double)(session->end_ns - session->start_ns) / 1e9, session->result.directory);
}

static void tear_down(struct session *session)
{
	for (size_t i = 1; session->polls != NULL && i <= session->options->pid_count; i++)
		if (session->polls[i].fd >= 0)
			close(session->polls[i].fd);
	free(session->polls);
	free(session->behind);
	tracker_destroy(session->tracker);
	emit_abandon(session->emit);
	merge_destroy(session->merge);
	assembly_destroy(session->assembly);
	sampler_finish(&session->sampler);
}

/* The program goes on without us; its end is ours, since it has our exit status. */
static void outlive_target(struct session *session)
{
	while (is_launch(session) && !session->target.ended && session->target.pid > 0) {
		struct pollfd signals = {.fd = session->signals.fd, .events = POLLIN};
		poll(&signals, 1, -1);
		handle_signals(session);
	}
}

static int run(struct session *session, struct failure *failure)
{
	int result = collect(session, failure);
	if (result == 0)
		result = finish(session, failure);
	if (result == 0) {
		report(session);
		if (session->options->finalize && finalize_run(session->result.directory) != 0)
			log_line(session->log, LOG_NORMAL,
				 "the result has no symbols yet: run tbconvert finalize %s",
				 session->result.directory);
	} else {
		/* Said now, not when the program ends. */
		log_line(LOG_QUIET, LOG_QUIET, "%s", failure->text);
		failure->text[0] = '\0';
		sampler_stop(&session->sampler);
	}
	return result;
}

static int start(struct session *session, struct failure *failure)
{
	const struct options *options = session->options;
	if (is_launch(session) &&
	    target_fork(&session->target, options->program, &session->signals, failure) < 0)
		return -1;
	priority_raise();
	if (set_up(session, failure) == 0 &&
	    (!is_launch(session) ||
	     target_start(&session->target, options->program[0], failure) == 0)) {
		log_line(session->log, LOG_VERBOSE,
			 "sampling each %.1f ms on %zu CPUs, %u bytes of stack%s, rings of %zu KB",
			 (double)options->interval_ns / 1e6, session->sampler.cpus.count,
			 session->sampler.config.stack_size,
			 session->sampler.source != NULL ? " or what is used of it, by BPF" : "",
			 session->sampler.ring_size / 1024);
		return 0;
	}
	target_cancel(&session->target);
	emit_abandon(session->emit);
	session->emit = NULL;
	result_remove(&session->result);
	return -1;
}

int session_run(const struct options *options, int *exit_status, struct failure *failure)
{
	struct session *session = calloc(1, sizeof(*session));
	if (session == NULL)
		return failure_set(failure, FAILURE_EXIT, "out of memory");
	session->options = options;
	session->log = options->quiet ? LOG_QUIET : options->verbose ? LOG_VERBOSE : LOG_NORMAL;
	session->target = (struct target){.go_fd = -1, .error_fd = -1};
	describe_command(session);
	int result = signals_init(&session->signals, failure);
	if (result == 0)
		result = start(session, failure);
	if (result == 0) {
		result = run(session, failure);
		outlive_target(session);
	}
	*exit_status = session->target.exit_status;
	tear_down(session);
	signals_finish(&session->signals);
	free(session);
	return result;
}
