/* What an analysis tells the tracker of its samples, and has it do for them. */
#ifndef COLLECTOR_MODEL_TRACKER_SAMPLED_H
#define COLLECTOR_MODEL_TRACKER_SAMPLED_H

#include "collector/model/process.h"
#include "collector/model/thread.h"
#include "collector/model/tracker.h"

/* Before a sample's addresses are looked up: reads the maps where they are stale, and writes what
 * was not written yet because the process had no samples. */
void tracker_prepare(struct tracker *tracker, struct process *process, uint64_t time_ns);

/* Counts a sample that was written. */
void tracker_count_sample(struct tracker *tracker, struct thread *thread);

/* Counts a copy of a stack that was used. */
void tracker_count_copy(struct tracker *tracker, size_t size);

/* A sample that there is no memory for. */
void tracker_lose_sample(struct tracker *tracker, const struct record *record);

/* Notes the command line that a process has by now, if that is asked for. */
void tracker_note_command(struct tracker *tracker, const struct process *process, uint64_t time_ns);

#endif
