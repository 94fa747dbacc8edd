/*
 * The states of threads as trace events, where the result has them: a slice for each piece of a
 * thread's life, with what it waited for; a flow from the thread that ended a wait to the one that
 * waited; the utilization of CPUs as a counter.
 */
#ifndef TOOLS_CHROME_CHROME_STATES_H
#define TOOLS_CHROME_CHROME_STATES_H

#include "tbrw/tbrw.h"
#include "tools/chrome/chrome_events.h"
#include "tools/json/json_writer.h"
#include "tools/lives/lives.h"
#include "tools/timelines/timelines.h"
#include <stdint.h>

struct chrome_states { /* begins with the first members set */
	const struct timelines *timelines;
	struct lives *lives;
	struct json_writer *json;
	uint64_t flows;
	struct call_path path; /* scratch */
};

void chrome_states_finish(struct chrome_states *states);

/* Of a thread of the reader whose states are known (lives_has). */
void chrome_states_write(struct chrome_states *states, uint32_t index,
			 const struct chrome_thread *thread);

/* Mean numbers of running threads, of all threads. Returns the reader's code. */
TBRW_U32 chrome_utilization_write(const struct timelines *timelines, struct json_writer *json);

#endif
