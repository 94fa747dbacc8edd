/* A thread's ring in the channel. */
#ifndef COLLECTOR_AGENT_RING_H
#define COLLECTOR_AGENT_RING_H

#include "collector/agent/channel.h"
#include <stdbool.h>

/* Writes a record with its registers and, as far as the ring has room, its stack. `record` has all
 * but its size, stack and the flags for these; registers NULL: none. What finds no room is counted,
 * as is what a signal handler has to say while the thread it interrupted is in here. */
void agent_ring_put(struct channel_record *record, const struct channel_registers *registers);

/* Counts a wait that was too short for a record. */
void agent_ring_count_brief(uint64_t ns);

/* Whether the thread may record the making of one more object now; if not, that is counted. */
bool agent_ring_takes_new(uint64_t now_ns);

#endif
