/*
 * A thread's samples as a CPU profile of V8: nodes of stacks, each before the samples that need it,
 * in events of a bounded number of samples.
 */
#ifndef TOOLS_CHROME_CHROME_SAMPLES_H
#define TOOLS_CHROME_CHROME_SAMPLES_H

#include "tools/chrome/chrome_events.h"
#include "tools/json/json_writer.h"
#include "tools/timelines/stack_tree.h"
#include "tools/timelines/timelines.h"
#include <stddef.h>
#include <stdint.h>

struct chrome_samples { /* begins with the tree's first members set */
	struct stack_tree tree;
	uint32_t *written; /* by step: the last profile that has it, as its number; 0: none */
	size_t written_capacity;
	uint32_t profiles;
	uint32_t *path; /* scratch: steps whose nodes are to be written */
	size_t path_capacity;
};

void chrome_samples_finish(struct chrome_samples *samples);

/* The profile of the timeline (TIMELINE_BY_SAMPLE); none, if it has no time. */
void chrome_samples_write(struct chrome_samples *samples, const struct timelines *timelines,
			  uint32_t index, const struct chrome_thread *thread,
			  struct json_writer *json);

#endif
