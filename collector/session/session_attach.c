#include "collector/machine/clock.h"
#include "collector/session/attach.h"
#include "collector/session/cpu_time.h"
#include "collector/session/session_private.h"

#define NS_PER_MS 1000000ull

/* Between looks at rings, signals and the clock: the rings are watched by drain's thread. */
#define LOOK_NS (5 * NS_PER_MS)

/* Time for the rings' records, if more come as fast as they are applied. A followed thread not
 * known by then is opened, and dropped later. */
#define ALL_NS (500 * NS_PER_MS)

int session_check_attached(const struct session *session, struct failure *failure)
{
	for (size_t i = 0; i < session->options->pid_count; i++)
		if (attach_check(session->options->pids[i], failure) < 0)
			return -1;
	return 0;
}

/* The rings come with the first thread. */
static bool start_draining(struct session *session)
{
	struct failure ignored = {0};
	if (!session->drain && session_open_drain(session, &ignored) < 0)
		return false;
	session_start_draining(session);
	return true;
}

static bool look_while_attaching(void *user, enum drain_extent extent)
{
	struct session *session = user;
	uint64_t began_ns = clock_now();
	bool more = true;
	/* The threads of most processes are all opened before anything else takes time. */
	if (session->next_look_ns == 0)
		session->next_look_ns = began_ns + LOOK_NS;
	if (extent == DRAIN_SETTLED && began_ns < session->next_look_ns)
		return true;
	/* Without memory for drain, that is said when all are open. */
	if (!start_draining(session))
		return true;
	while (more && !session->stop) {
		session_watch(session, 0);
		more = session_apply(session, extent) && extent == DRAIN_ALL &&
		       clock_now() - began_ns < ALL_NS;
	}
	session->next_look_ns = clock_now() + LOOK_NS;
	return !session->stop;
}

static void note_missing(struct session *session)
{
	static const char text[] = "the collection ended before all threads were attached to: what "
				   "the others did is not in it";
	emit_note(session->emit, PROFILE_NOTE_WARNING, clock_now(), .text = text);
	log_line(session->log, LOG_NORMAL, "%s", text);
}

/* CPU time of the attached processes so far, with ended threads; a process that is gone counts as
 * at the start: the difference is never too much. */
uint64_t session_attached_cpu_ns(const struct session *session)
{
	uint64_t total = 0;
	for (size_t i = 0; i < session->options->pid_count; i++)
		total += cpu_time_of_process_ns(session->options->pids[i]);
	return total > session->attached_cpu_ns ? total : session->attached_cpu_ns;
}

int session_attach(struct session *session, struct failure *failure)
{
	const struct options *options = session->options;
	session->start_ns = clock_now();
	analyzer_begin(session->analyzer, session->start_ns);
	int result = 0;
	for (size_t i = 0; i < options->pid_count && result == 0; i++)
		result = attach_process(&session->sampler, session->tracker, options->pids[i],
					look_while_attaching, session, failure);
	if (result < 0)
		return -1;
	if (!session->drain && session_open_drain(session, failure) < 0)
		return -1;
	attach_drop_doubles(&session->sampler, session->tracker);
	for (size_t i = 0; i < options->pid_count; i++)
		tracker_read_attached(session->tracker, options->pids[i]);
	session->attached_cpu_ns = session_attached_cpu_ns(session);
	if (result > 0)
		note_missing(session);
	return 0;
}
