/* A thread's time in speedscope's evented form: functions open and close at times of the clock. */
#ifndef TOOLS_EXPORT_SPEEDSCOPE_EVENTS_H
#define TOOLS_EXPORT_SPEEDSCOPE_EVENTS_H

#include "tools/json/json_writer.h"
#include "tools/timelines/stack_tree.h"
#include "tools/timelines/timelines.h"

/* Writes "events", "startValue" and "endValue" of a profile. Each piece of time lasts as long as
 * its CPU time and ends with its last sample, or later where the piece before leaves no room.
 * Frames are the tree's functions. */
void speedscope_events_write(struct json_writer *json, const struct timelines *timelines,
			     uint32_t index, struct stack_tree *tree);

#endif
