#include "collector/session/session.h"

#include "collector/machine/clock.h"
#include "collector/session/cpu_time.h"
#include "collector/session/finalize.h"
#include "collector/session/session_private.h"
#include "collector/stream/priority.h"
#include "collector/waits/observer.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define NS_PER_S 1000000000ull

/* The kernel frees a thread after its end, when all CPUs have passed on (RCU): mostly within 50 ms.
 */
enum { ACCOUNT_LOOKS = 100, ACCOUNT_LOOK_MS = 3 };

static int open_launched(struct session *session, struct failure *failure)
{
	pid_t pid = session->target.pid;
	int opened = sampler_add(&session->sampler, pid, pid, failure);
	if (opened > 0)
		return failure_set(failure, FAILURE_EXIT,
				   "the program was killed before it started");
	if (opened < 0 || session_open_drain(session, failure) < 0)
		return -1;
	if (tracker_add_thread(session->tracker, pid, pid, false) < 0)
		return failure_set(failure, FAILURE_EXIT, "out of memory");
	return 0;
}

/* Room for all; drain's are filled in when it starts. */
static int open_polls(struct session *session, struct failure *failure)
{
	const struct options *options = session->options;
	size_t count = 1 + options->pid_count;
	session->polls = calloc(count + session->sampler.cpus.count, sizeof(*session->polls));
	if (!session->polls)
		return failure_set(failure, FAILURE_EXIT, "out of memory");
	for (size_t i = 0; i < count; i++)
		session->polls[i] = (struct pollfd){.fd = -1, .events = POLLIN};
	session->polls[0].fd = session->signals.fd;
	session->poll_count = count;
	for (size_t i = 0; i < options->pid_count; i++) {
		int fd = (int)syscall(SYS_pidfd_open, options->pids[i], 0);
		if (fd < 0 && errno != ESRCH)
			return failure_set_error(failure, errno, "cannot watch process %d",
						 (int)options->pids[i]);
		session->polls[i + 1].fd = fd;
	}
	return 0;
}

static int begin_launched(struct session *session, struct failure *failure)
{
	if (open_launched(session, failure) < 0 || open_polls(session, failure) < 0)
		return -1;
	/* Before the program: its first samples may fill a ring within 50 ms. */
	session_start_draining(session);
	session->start_ns = clock_now();
	analyzer_begin(session->analyzer, session->start_ns);
	return 0;
}

static int begin_attached(struct session *session, struct failure *failure)
{
	return open_polls(session, failure) < 0 ? -1 : session_attach(session, failure);
}

/* Differs for each run. Without the kernel's random numbers, the time has to do. */
static uint64_t draw_seed(void)
{
	uint64_t seed;
	return getrandom(&seed, sizeof(seed), GRND_NONBLOCK) == sizeof(seed) ? seed : clock_now();
}

static bool is_sampled(const struct session *session)
{
	return session->options->sampling != OPTIONS_SAMPLING_OFF;
}

static struct event_config choose_events(const struct session *session)
{
	const struct options *options = session->options;
	bool is_random = is_sampled(session) && options->sampling != OPTIONS_SAMPLING_FIXED;
	struct event_config config = {
		.sampling = {.kind = is_random ? PROFILE_SAMPLING_CPUS : PROFILE_SAMPLING_FIXED,
			     .interval_ns = options->interval_ns,
			     .seed = draw_seed()},
		.stack_size = options->unwind == OPTIONS_UNWIND_NONE ? 0
			      : options->stack_size > 0              ? options->stack_size
								     : UINT32_MAX,
		.inherit = true,
		.same_process = !options->children,
		.switches = options->switches,
		.no_samples = !is_sampled(session),
		.kernel = options->kernel,
		.on_exec = session_is_launch(session),
		.added_count = options->event_count,
	};
	memcpy(config.added, options->events, sizeof(config.added));
	return config;
}

/* The sampler, and the sources beside it. */
static int set_up_sources(struct session *session, struct failure *failure)
{
	static const enum sampler_source sources[] = {
		[OPTIONS_UNWIND_AUTO] = SAMPLER_AUTO,
		[OPTIONS_UNWIND_COPY] = SAMPLER_COPY,
		[OPTIONS_UNWIND_BPF] = SAMPLER_BPF,
		[OPTIONS_UNWIND_NONE] = SAMPLER_COPY,
	};
	struct event_config config = choose_events(session);
	enum sampler_source source =
		is_sampled(session) ? sources[session->options->unwind] : SAMPLER_COPY;
	if (sampler_init(&session->sampler, &config, source, failure) < 0 ||
	    session_open_waits(session, failure) < 0)
		return -1;
	/* An observer reads the events' switches. */
	if (session->wait_source != PROFILE_WAIT_BY_OBSERVER)
		sampler_open_switches(&session->sampler);
	return 0;
}

static int set_up_result(struct session *session, struct failure *failure)
{
	const struct options *options = session->options;
	const char *events[PROFILE_EVENTS_MAX + 1] = {NULL};
	for (uint32_t i = 0; i < options->event_count; i++)
		events[i] = options->events[i].name;
	if (result_create(&session->result, options->result_dir, options->analysis->suffix,
			  failure) < 0 ||
	    emit_create(session->result.through, session->result.file, &session->clock,
			options->interval_ns, events, &session->emit, failure) < 0)
		return -1;
	return result_hold(&session->result, failure);
}

static int set_up_analysis(struct session *session, struct failure *failure)
{
	const struct options *options = session->options;
	struct analysis_config analysis = {
		.kernel_time = event_kernel_time(&session->sampler.config),
		.unwind = options->unwind != OPTIONS_UNWIND_NONE,
		.collapse = options->collapse,
		.switches = options->switches,
		.lead = session->sampler.switches ? NULL : &session->lead,
		.waits = options->analysis->waits,
		.wait_source = session->wait_source,
		.wait_threshold_ns = session->wait_threshold_ns,
		.without_children = !options->children,
		.without_io_waits = options->without_io_waits,
		.library = options->preload,
	};
	session->tracker = tracker_create(&session->sampler, session->emit);
	if (session->tracker)
		session->analyzer = analyzer_create(&analysis, session->tracker, session->emit);
	return session->analyzer ? 0 : failure_set(failure, FAILURE_EXIT, "out of memory");
}

/* Everything up to the first samples. */
static int set_up(struct session *session, struct failure *failure)
{
	session->clock = clock_calibrate();
	if (set_up_sources(session, failure) < 0 || set_up_result(session, failure) < 0 ||
	    set_up_analysis(session, failure) < 0)
		return -1;
	emit_host(session->emit);
	if (!session_is_launch(session) && session_check_attached(session, failure) < 0)
		return -1;
	session_custom_step(session, CUSTOM_START);
	session->stolen_before_ns = cpu_time_stolen_ns("/proc/stat");
	if ((session_is_launch(session) ? begin_launched(session, failure)
					: begin_attached(session, failure)) < 0)
		return -1;
	/* The budget begins here: the cost of the start is not held against it. */
	budget_begin(&session->budget, session->options->overhead_limit, clock_now());
	session->next_sync_ns = session->start_ns + NS_PER_S;
	session_note_start(session);
	return 0;
}

/* Waits for the accounts of threads that ended just now. */
static void await_accounts(struct session *session)
{
	if (session->sampler.config.sampling.kind != PROFILE_SAMPLING_CPUS)
		return;
	for (int i = 0; i < ACCOUNT_LOOKS && tracker_read_accounts(session->tracker) > 0; i++) {
		while (session_apply(session, DRAIN_SETTLED))
			continue;
		poll(NULL, 0, ACCOUNT_LOOK_MS);
	}
}

static int finish(struct session *session, struct failure *failure)
{
	sampler_stop(&session->sampler);
	session_stop_observing(session);
	session->end_ns = clock_now();
	session->attached_used_ns = session_attached_cpu_ns(session) - session->attached_cpu_ns;
	await_accounts(session);
	while (session_apply(session, DRAIN_REST))
		continue;
	session_end_waits(session);
	session_note_running(session);
	session_settle(session);
	analyzer_finish(session->analyzer, session->end_ns);
	session_note_end(session);
	/* Only now: it may take its time, and what the program does meanwhile is in no account. */
	session_custom_finish(session);
	struct profile_clock last = clock_sync(&session->clock);
	struct emit *emit = session->emit;
	session->emit = NULL;
	return emit_finish(emit, session->options->analysis->name, session->command, &last,
			   failure);
}

static void tear_down(struct session *session)
{
	for (size_t i = 1; session->polls && i <= session->options->pid_count; i++)
		if (session->polls[i].fd >= 0)
			close(session->polls[i].fd);
	free(session->polls);
	observer_destroy(session->observer);
	drain_destroy(session->drain);
	session_close_preload(session);
	tracker_destroy(session->tracker);
	analyzer_destroy(session->analyzer);
	emit_abandon(session->emit);
	sampler_finish(&session->sampler);
	result_finish(&session->result);
}

/* The program goes on without us; its end is ours, since it has our exit status. */
static void outlive_target(struct session *session)
{
	while (session_is_launch(session) && !session->target.ended && session->target.pid > 0) {
		struct pollfd signals = {.fd = session->signals.fd, .events = POLLIN};
		poll(&signals, 1, -1);
		session_handle_signals(session);
	}
}

/* Handles signals meanwhile: the user may stop the finalizer, and a program we outlive may end.
 * Returns the finalizer's status. */
static int wait_for_symbols(struct session *session)
{
	int status = -1;
	struct pollfd signals = {.fd = session->signals.fd, .events = POLLIN};
	session->finalizer =
		finalize_start(session->result.directory, !result_is_ours(&session->result));
	while (session->finalizer > 0 && !finalize_has_ended(session->finalizer, &status)) {
		poll(&signals, 1, -1); /* SIGCHLD is among them */
		session_handle_signals(session);
	}
	session->finalizer = 0;
	return status;
}

/* Reading symbols takes a while: the result may be gone after it. */
static int finalize(struct session *session, struct failure *failure)
{
	int status = session->options->finalize ? wait_for_symbols(session) : 0;
	if (status == 0)
		return 0;
	if (result_check(&session->result, failure) < 0)
		return -1;
	/* Stopped by the user, the finalizer has said so. */
	if (status <= 128 || !signals_asks_to_end(status - 128))
		log_line(session->log, LOG_NORMAL,
			 "the result has no symbols yet: run tbconvert finalize %s",
			 session->result.directory);
	return 0;
}

static int run(struct session *session, struct failure *failure)
{
	int result = session_collect(session, failure);
	if (result == 0)
		result = finish(session, failure);
	if (result == 0)
		result = result_check(&session->result, failure);
	if (result == 0) {
		session_report(session);
		result = finalize(session, failure);
	}
	if (result < 0) {
		/* Said now, not when the program ends. */
		log_line(LOG_QUIET, LOG_QUIET, "%s", failure->text);
		failure->text[0] = '\0';
		sampler_stop(&session->sampler);
		session_custom_finish(session);
		session_stop_observing(session);
		drain_destroy(session->drain);
		session->drain = NULL;
	}
	return result;
}

static int start(struct session *session, struct failure *failure)
{
	const struct options *options = session->options;
	if (session_open_preload(session, failure) < 0 ||
	    (session_is_launch(session) &&
	     target_fork(&session->target, options->program, session->preload.environment,
			 &session->signals, failure) < 0))
		return -1;
	/* Our files from here on are for nobody else; the program has its own mask. */
	umask(077);
	priority_raise();
	if (set_up(session, failure) == 0 &&
	    (!session_is_launch(session) ||
	     target_start(&session->target, options->program[0], failure) == 0)) {
		log_line(session->log, LOG_VERBOSE,
			 "sampling every %.1f ms on %zu CPUs, %u bytes of stack%s, rings of %zu KB",
			 (double)options->interval_ns / 1e6, session->sampler.cpus.count,
			 session->sampler.config.stack_size,
			 session->sampler.copies ? " or what is used of it, by BPF" : "",
			 session->sampler.ring_size / 1024);
		session_say_sampling(session);
		session_say_waits(session);
		log_line(session->log, LOG_VERBOSE, "time in system calls and faults: %s",
			 session_kernel_words(session));
		session_announce(session);
		return 0;
	}
	target_cancel(&session->target);
	session_custom_finish(session);
	emit_abandon(session->emit);
	session->emit = NULL;
	result_remove(&session->result);
	return -1;
}

int session_run(const struct options *options, int *exit_status, struct failure *failure)
{
	struct session *session = calloc(1, sizeof(*session));
	if (!session)
		return failure_set(failure, FAILURE_EXIT, "out of memory");
	session->options = options;
	session->log = options->quiet ? LOG_QUIET : options->verbose ? LOG_VERBOSE : LOG_NORMAL;
	session->target = (struct target){.go_fd = -1, .error_fd = -1};
	session->result = (struct result){.place = -1, .held = -1};
	session->preload.fd = -1;
	session->custom.command = options->custom_collector;
	session_describe(session);
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
