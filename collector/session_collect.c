#include "collector/session_private.h"

#include "collector/clock.h"
#include "collector/cost.h"
#include <signal.h>
#include <unistd.h>

#define NS_PER_S  1000000000ull
#define NS_PER_MS 1000000ull

enum { POLL_MS = 200 }; /* how long records may lie in a ring that does not fill up */

/* How long after its time stamp a record may appear in its ring (see merge_begin). */
#define VISIBLE_NS (2 * NS_PER_MS)

/* CPU time of the target that the budget starts with. */
#define BUDGET_START_NS (500 * NS_PER_MS)

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

void session_drain_all(void *user)
{
	drain(user, UINT64_MAX);
}

void session_drain_rest(struct session *session)
{
	session_drain_all(session);
	for (size_t i = 0; i < session->sampler.cpus.count; i++)
		apply(session, NULL, i, false);
}

static void forward(const struct session *session, const struct signals_event *event)
{
	/* What the terminal sends reaches the program anyway: it is in our process group. */
	if (!event->from_terminal && session->target.pid > 0 && !session->target.ended)
		kill(session->target.pid, event->number);
}

void session_handle_signals(struct session *session)
{
	struct signals_event event;
	while (signals_next(&session->signals, &event)) {
		if (event.number == SIGCHLD)
			target_check(&session->target, false);
		else if (session_is_launch(session))
			forward(session, &event);
		else if (event.number == SIGINT || event.number == SIGTERM ||
			 event.number == SIGHUP || event.number == SIGQUIT)
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
	uint64_t duration = session->options->duration_ns;
	uint64_t elapsed = now - session->start_ns;
	if (duration == 0 || elapsed + POLL_MS * NS_PER_MS < duration)
		return POLL_MS;
	return elapsed >= duration ? 0 : (int)((duration - elapsed) / NS_PER_MS) + 1;
}

/* Until the program or the user ends it, or the file cannot be written. */
int session_collect(struct session *session, struct failure *failure)
{
	while (!session->stop) {
		uint64_t now = clock_now();
		poll(session->polls, session->poll_count, next_timeout(session, now));
		session_handle_signals(session);
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
