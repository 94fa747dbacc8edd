#include "collector/session/session_private.h"
#include <inttypes.h>
#include <stdio.h>

/* Of waits by the library, where the user gives none. */
#define STACK_NS 10000ull

enum { STACK_BYTES = 16 * 1024, WARNING_MAX = 512 };

int session_open_preload(struct session *session, struct failure *failure)
{
	const struct options *options = session->options;
	if (!options->preload)
		return 0;
	uint64_t stack_ns = options->wait_threshold_ns > 0 ? options->wait_threshold_ns : STACK_NS;
	if (preload_open(&session->preload, options->program[0], stack_ns, STACK_BYTES, failure) <
	    0)
		return -1;
	session->agent = agent_source_create(session->preload.channel);
	return session->agent ? 0 : failure_set(failure, FAILURE_EXIT, "out of memory");
}

int session_add_preload(struct session *session, struct failure *failure)
{
	return !session->agent || agent_source_add(session->agent, session->drain)
		       ? 0
		       : failure_set(failure, FAILURE_EXIT, "out of memory");
}

void session_close_preload(struct session *session)
{
	agent_source_destroy(session->agent);
	session->agent = NULL;
	preload_close(&session->preload);
}

void session_note_preload(struct session *session)
{
	if (session->agent)
		emit_note(session->emit, PROFILE_NOTE_WAITS, session->start_ns,
			  .value = PRELOAD_RECORD_NS, .tid = PROFILE_WAIT_BY_LIBRARY);
}

static void add_warning(struct session *session, const char *text)
{
	emit_note(session->emit, PROFILE_NOTE_WARNING, session->end_ns, .text = text);
}

static void note_absence(struct session *session, const struct agent_source_counts *counts)
{
	char text[WARNING_MAX];
	const char *obstacle = session->preload.obstacle;
	if (counts->processes == 0) {
		snprintf(text, sizeof(text),
			 "--preload had no effect: no process loaded the library%s%s",
			 obstacle ? "; of the program: " : "", obstacle ? obstacle : "");
		add_warning(session, text);
	}
	if (counts->limited > 0) {
		snprintf(text, sizeof(text),
			 "--preload had no effect on %" PRIu64 " processes: their address space is "
			 "limited (ulimit -v)",
			 counts->limited);
		add_warning(session, text);
	}
	if (counts->foreign > 0) {
		snprintf(text, sizeof(text),
			 "--preload had no effect on %" PRIu64
			 " processes: they have a pid namespace of their own",
			 counts->foreign);
		add_warning(session, text);
	}
}

void session_note_preload_end(struct session *session)
{
	struct agent_source_counts counts;
	if (!session->agent)
		return;
	agent_source_counts(session->agent, &counts);
	note_absence(session, &counts);
	if (counts.lost + counts.nested > 0)
		emit_note(session->emit, PROFILE_NOTE_WAITS_LOST, session->end_ns,
			  .value = counts.lost + counts.nested, .tid = PROFILE_WAIT_BY_LIBRARY);
	if (counts.broken > 0)
		emit_note(session->emit, PROFILE_NOTE_BYTES_LOST, session->end_ns,
			  .value = counts.dropped_bytes,
			  .text = "a ring of the preloaded library held bytes that are no records");
	log_line(session->log, LOG_VERBOSE,
		 "the library in %" PRIu64 " programs: %" PRIu64 " records, %" PRIu64
		 " lost; %" PRIu64 " waits of less than %.0f us, %.6f s in all; %" PRIu64
		 " makings of objects unseen",
		 counts.processes, counts.records, counts.lost + counts.nested, counts.brief,
		 (double)PRELOAD_RECORD_NS / 1e3, (double)counts.brief_ns / 1e9,
		 counts.unseen_news);
}
