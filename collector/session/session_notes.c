#include "collector/bpf/stack_chunk.h"
#include "collector/proc/command_line.h"
#include "collector/session/cpu_time.h"
#include "collector/session/session_private.h"
#include "collector/states/cpu_allowance.h"
#include <assert.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

enum {
	LISTED_MAX = 3, /* processes named in a line */
	LISTED_SIZE = 256
};

void session_describe(struct session *session)
{
	const struct options *options = session->options;
	size_t used = 0;
	if (session_is_launch(session)) {
		command_line_join(session->command, sizeof(session->command),
				  (const char *const *)options->program);
		return;
	}
	for (size_t i = 0; i < options->pid_count && used < sizeof(session->command); i++)
		used += (size_t)snprintf(session->command + used, sizeof(session->command) - used,
					 "%s%d", i > 0 ? "," : "-p ", (int)options->pids[i]);
}

const char *session_kernel_words(const struct session *session)
{
	static const char *const words[] = {
		[PROFILE_KERNEL_TIME_APART] = "apart, since this user may not sample kernel mode",
		[PROFILE_KERNEL_TIME_AT_CALLS] = "at the user code that entered the kernel",
		[PROFILE_KERNEL_TIME_FRAMES] = "in the kernel's frames",
	};
	return words[event_kernel_time(&session->sampler.config)];
}

void session_say_sampling(const struct session *session)
{
	const struct sampling *sampling = &session->sampler.config.sampling;
	if (session->sampler.config.no_samples)
		log_line(session->log, LOG_VERBOSE, "no samples of CPU time");
	else if (!sampling_is_random(sampling))
		log_line(session->log, LOG_VERBOSE, "samples each time that an interval is used");
	else if (2 * sampling->tick_ns > sampling->interval_ns)
		log_line(session->log, LOG_VERBOSE,
			 "samples each time that about an interval is used: another distance for "
			 "each CPU");
	else
		log_line(session->log, LOG_VERBOSE,
			 "samples at random times: 1 of %.3g ticks of each %s's CPU time, seed "
			 "%llu",
			 (double)sampling->interval_ns / (double)sampling->tick_ns,
			 sampling->kind == PROFILE_SAMPLING_THREADS ? "thread" : "CPU",
			 (unsigned long long)sampling->seed);
}

static void note_sampling(struct session *session)
{
	const struct sampling *sampling = &session->sampler.config.sampling;
	uint64_t now = session->start_ns;
	if (session->sampler.config.no_samples) {
		emit_note(session->emit, PROFILE_NOTE_SAMPLING, now,
			  .value = PROFILE_SAMPLING_NONE);
		return;
	}
	emit_note(session->emit, PROFILE_NOTE_INTERVAL, now,
		  .value = session->options->interval_ns);
	emit_note(session->emit, PROFILE_NOTE_SAMPLING, now, .value = sampling->kind);
	if (!sampling_is_random(sampling))
		return;
	emit_note(session->emit, PROFILE_NOTE_TICK, now, .value = sampling->tick_ns);
	emit_note(session->emit, PROFILE_NOTE_SEED, now, .value = sampling->seed);
}

/* "nginx (12), nginx (13), and 4 more" of the processes that live. Returns how many. */
static size_t list_processes(const struct session *session, char *text, size_t size)
{
	size_t count = 0;
	size_t used = 0;
	size_t position = 0;
	uint32_t pid;
	const char *name;
	text[0] = '\0';
	while ((name = tracker_next_process(session->tracker, &position, &pid))) {
		/* The record of its end may be still to come. */
		if (kill((pid_t)pid, 0) < 0 && errno == ESRCH)
			continue;
		if (count++ < LISTED_MAX)
			used += (size_t)snprintf(text + used, size - used, "%s%s (%u)",
						 used > 0 ? ", " : "", name, pid);
		assert(used < size); /* names are bounded */
	}
	if (count > LISTED_MAX)
		snprintf(text + used, size - used, ", and %zu more", count - LISTED_MAX);
	return count;
}

void session_announce(const struct session *session)
{
	struct tracker_counts counts;
	char names[LISTED_SIZE];
	char end[64] = "";
	if (session_is_launch(session) || session->stop || !isatty(STDERR_FILENO))
		return;
	tracker_counts(session->tracker, &counts);
	/* All may have ended meanwhile. */
	if (list_processes(session, names, sizeof(names)) == 0 || counts.live_threads == 0)
		return;
	if (session->options->duration_ns > 0)
		snprintf(end, sizeof(end), "after %g s or ",
			 (double)session->options->duration_ns / 1e9);
	log_line(session->log, LOG_NORMAL,
		 "attached to %llu thread%s of %s; detaches %swith Ctrl-C",
		 (unsigned long long)counts.live_threads, counts.live_threads == 1 ? "" : "s",
		 names, end);
}

void session_note_running(struct session *session)
{
	char names[LISTED_SIZE];
	char text[LISTED_SIZE + 192];
	if (!session_is_launch(session) || !session->target.ended)
		return;
	size_t count = list_processes(session, names, sizeof(names));
	if (count == 0)
		return;
	snprintf(text, sizeof(text),
		 "the program ended before %zu process%s that it started: %s; from then on %s not "
		 "sampled; tbcollect -p PID samples %s",
		 count, count == 1 ? "" : "es", names, count == 1 ? "it is" : "they are",
		 count == 1 ? "it" : "them");
	emit_note(session->emit, PROFILE_NOTE_WARNING, session->end_ns, .text = text);
	log_line(session->log, LOG_NORMAL, "%s", text);
}

static void note_states(struct session *session)
{
	const struct options *options = session->options;
	bool is_launch = session_is_launch(session);
	uint64_t allowed = is_launch ? cpu_allowance(&session->target.pid, 1)
				     : cpu_allowance(options->pids, options->pid_count);
	emit_note(session->emit, PROFILE_NOTE_STATES, session->start_ns,
		  .value = PROFILE_STATES_SWITCHES);
	if (allowed > 0)
		emit_note(session->emit, PROFILE_NOTE_TARGET_CPUS, session->start_ns,
			  .value = allowed);
}

static void note_events(struct session *session)
{
	const struct options *options = session->options;
	for (uint32_t i = 0; i < options->event_count; i++) {
		const struct event_choice *event = &options->events[i];
		emit_note(session->emit, PROFILE_NOTE_EVENT_ADDED, session->start_ns,
			  .value = i + 1,
			  .tid = event->period < UINT32_MAX ? (uint32_t)event->period : UINT32_MAX,
			  .text = event->name);
	}
}

/* The events' own totals. */
static void note_event_counts(struct session *session)
{
	for (uint32_t i = 1; i <= session->options->event_count; i++) {
		struct event_reading total;
		sampler_read_event(&session->sampler, i, &total);
		emit_note(session->emit, PROFILE_NOTE_EVENT_COUNT, session->end_ns,
			  .value = total.count_ns, .tid = i);
		if (total.lost > 0)
			emit_note(session->emit, PROFILE_NOTE_EVENT_LOST, session->end_ns,
				  .value = total.lost, .tid = i);
	}
}

void session_note_start(struct session *session)
{
	const struct options *options = session->options;
	struct emit *emit = session->emit;
	uint64_t now = session->start_ns;
	uint32_t pid = session_is_launch(session) ? (uint32_t)session->target.pid
						  : (uint32_t)options->pids[0];
	emit_note(emit, PROFILE_NOTE_COLLECTOR, now, .pid = (uint32_t)getpid(),
		  .text = "tbcollect " TBCOLLECT_VERSION);
	emit_note(emit, PROFILE_NOTE_ANALYSIS, now, .text = options->analysis->name);
	emit_note(emit, PROFILE_NOTE_COMMAND, now, .pid = pid, .text = session->command);
	note_sampling(session);
	note_events(session);
	emit_note(emit, PROFILE_NOTE_STACK_SIZE, now, .value = session->sampler.config.stack_size);
	emit_note(emit, PROFILE_NOTE_STACK_SOURCE, now,
		  .value = session->sampler.copies ? PROFILE_STACKS_BY_BPF
						   : PROFILE_STACKS_BY_KERNEL);
	session_note_waits(session);
	session_note_preload(session);
	if (!session->sampler.config.no_samples)
		emit_note(emit, PROFILE_NOTE_KERNEL_TIME, now,
			  .value = event_kernel_time(&session->sampler.config));
	if (options->switches)
		note_states(session);
	for (size_t i = 0; i < options->pid_count; i++)
		emit_note(emit, PROFILE_NOTE_ATTACHED, now, .pid = (uint32_t)options->pids[i]);
	if (!session->sampler.config.has_count &&
	    session->sampler.config.sampling.kind != PROFILE_SAMPLING_CPUS)
		emit_note(emit, PROFILE_NOTE_WARNING, now,
			  .text = "this kernel gives no CPU time with the samples (Linux 6.12 "
				  "does): samples count one interval each");
}

/* Notes BPF's losses. total_ns: CPU time counted by the events. */
static void settle_missing(struct session *session, uint64_t total_ns)
{
	struct stack_source_missing missing;
	char text[160];
	sampler_missing(&session->sampler, &missing);
	tracker_add_unattributed(session->tracker, missing.cpu_ns, total_ns);
	if (missing.accounts > 0)
		emit_note(session->emit, PROFILE_NOTE_RECORDS_LOST, session->end_ns,
			  .value = missing.accounts, .text = "CPU times of ended threads");
	if (missing.processes == 0)
		return;
	snprintf(text, sizeof(text),
		 "%llu processes were not sampled: more than %d lived at once; --sampling fixed "
		 "follows any number",
		 (unsigned long long)missing.processes, FOLLOW_PROCESSES - FOLLOW_ENDED_KEPT);
	emit_note(session->emit, PROFILE_NOTE_WARNING, session->end_ns, .text = text);
	log_line(session->log, LOG_NORMAL, "%s", text);
}

/* CPU time that the accounts have beyond the scheduler's count, as far as the host took any:
 * children that nobody waited for are in no such count either. */
static void note_stolen(const struct session *session, uint64_t beyond_ns)
{
	uint64_t now_ns = cpu_time_stolen_ns("/proc/stat");
	uint64_t stolen_ns =
		now_ns > session->stolen_before_ns ? now_ns - session->stolen_before_ns : 0;
	if (beyond_ns < stolen_ns)
		stolen_ns = beyond_ns;
	if (stolen_ns > 0)
		emit_note(session->emit, PROFILE_NOTE_STOLEN, session->end_ns, .value = stolen_ns);
}

/* The events' own totals: CPU time in no sample, and records lost without a trace. */
void session_settle(struct session *session)
{
	bool is_exact = session->sampler.config.sampling.kind == PROFILE_SAMPLING_CPUS;
	uint64_t lost =
		sampler_lost_ticks(&session->sampler) + sampler_lost_switches(&session->sampler);
	uint64_t total_ns = 0;
	struct tracker_counts counts;
	for (size_t i = 0; i < session->sampler.thread_count; i++) {
		struct event_reading total;
		sampler_read(&session->sampler, i, &total);
		if (!is_exact)
			tracker_settle(session->tracker, session->sampler.threads[i].family,
				       total.count_ns);
		lost += total.lost;
		total_ns += total.count_ns;
	}
	if (is_exact)
		settle_missing(session, total_ns);
	/* wait4 counts all children the program waited for, followed or not. */
	if (session->target.ended && session->options->children)
		tracker_settle_all(session->tracker, session->target.cpu_ns);
	else if (!session_is_launch(session))
		tracker_settle_all(session->tracker, session->attached_used_ns);
	tracker_counts(session->tracker, &counts);
	note_stolen(session, counts.beyond_ns);
	if (lost > counts.lost)
		emit_note(session->emit, PROFILE_NOTE_RECORDS_LOST, session->end_ns,
			  .value = lost - counts.lost);
	if (lost > counts.lost && session->sampler.config.switches)
		analyzer_lose_rest(session->analyzer);
}

void session_note_end(struct session *session)
{
	struct emit *emit = session->emit;
	uint64_t now = session->end_ns;
	struct rusage self;
	struct tracker_counts counts;
	struct drain_counts drained;
	getrusage(RUSAGE_SELF, &self);
	tracker_counts(session->tracker, &counts);
	drain_counts(session->drain, &drained);
	if (drained.malformed > 0)
		emit_note(emit, PROFILE_NOTE_RECORDS_LOST, now, .value = drained.malformed,
			  .text = "records that could not be read");
	if (drained.broken > 0)
		emit_note(emit, PROFILE_NOTE_BYTES_LOST, now, .value = drained.dropped_bytes,
			  .text = "a ring held bytes that are no records");
	if (drained.out_of_order > 0)
		emit_note(emit, PROFILE_NOTE_OUT_OF_ORDER, now, .value = drained.out_of_order);
	session_note_lost_waits(session);
	note_event_counts(session);
	session_note_preload_end(session);
	emit_note(emit, PROFILE_NOTE_ELAPSED, now, .value = now - session->start_ns);
	if (session->target.ended)
		emit_note(emit, PROFILE_NOTE_EXIT_STATUS, now,
			  .value = (uint64_t)session->target.exit_status,
			  .pid = (uint32_t)session->target.pid);
	if (session->target.ended)
		emit_note(emit, PROFILE_NOTE_RUSAGE_CPU, now, .value = session->target.cpu_ns,
			  .pid = (uint32_t)session->target.pid);
	emit_note(emit, PROFILE_NOTE_STACK_COPY, now,
		  .value = counts.stack_copy_bytes + drained.left_out_bytes);
	emit_note(emit, PROFILE_NOTE_COLLECTOR_RSS, now, .value = (uint64_t)self.ru_maxrss * 1024);
	emit_note(emit, PROFILE_NOTE_COLLECTOR_CPU, now, .value = cpu_time_ns(&self));
}

/* Whether lost ticks were still to be drawn. */
static bool is_lost_estimated(const struct session *session)
{
	const struct event_config *config = &session->sampler.config;
	return config->sampling.kind == PROFILE_SAMPLING_THREADS && !config->raw;
}

/* How far switches and accounts of CPU time agree. */
static void say_states(const struct session *session, uint64_t cpu_ns)
{
	const struct states *states = analyzer_states(session->analyzer);
	struct states_counts counts;
	if (!states)
		return;
	states_counts(states, &counts);
	log_line(session->log, LOG_VERBOSE,
		 "%llu switches: %.3f s on CPUs, %+.2f %% beside the CPU time; %llu stretches "
		 "without an end, %llu records too late",
		 (unsigned long long)counts.switches, (double)counts.run_ns / 1e9,
		 cpu_ns > 0 ? 100 * ((double)counts.run_ns / (double)cpu_ns - 1) : 0,
		 (unsigned long long)counts.cut, (unsigned long long)counts.unordered);
}

void session_report(const struct session *session)
{
	struct drain_counts drained;
	struct tracker_counts counts;
	char lost[64] = "";
	char more[64] = "";
	tracker_counts(session->tracker, &counts);
	if (counts.lost_samples > 0)
		snprintf(lost, sizeof(lost), " (%s%llu lost)",
			 is_lost_estimated(session) ? "about " : "",
			 (unsigned long long)counts.lost_samples);
	if (counts.unattributed_ns > counts.cpu_ns / 100 && counts.unattributed_ns >= 500000)
		snprintf(more, sizeof(more), " (%.3f s of it known as a sum only)",
			 (double)counts.unattributed_ns / 1e9);
	log_line(session->log, LOG_NORMAL,
		 "%.3f s of CPU time%s in %llu sample%s%s of %llu thread%s over %.3f s; result in "
		 "%s",
		 (double)(counts.cpu_ns + counts.unattributed_ns) / 1e9, more,
		 (unsigned long long)counts.samples, counts.samples == 1 ? "" : "s", lost,
		 (unsigned long long)counts.threads, counts.threads == 1 ? "" : "s",
		 (double)(session->end_ns - session->start_ns) / 1e9, session->result.directory);
	for (uint32_t i = 1; i <= session->options->event_count; i++) {
		struct event_reading total;
		sampler_read_event(&session->sampler, i, &total);
		log_line(session->log, LOG_NORMAL, "%llu %s", (unsigned long long)total.count_ns,
			 session->options->events[i - 1].name);
	}
	say_states(session, counts.cpu_ns + counts.unattributed_ns);
	session_say_observed(session);
	drain_counts(session->drain, &drained);
	log_line(session->log, LOG_VERBOSE, "%llu records were copied to make room in the rings",
		 (unsigned long long)drained.copied);
}
