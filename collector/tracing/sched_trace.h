/*
 * What the tracepoints of Linux's scheduler say (perf record -e sched:sched_switch, perf sched
 * record), by the bytes of their records. Source: include/trace/events/sched.h.
 *
 * Until a recording tells the places of the fields, they are those of 64-bit kernels.
 */
#ifndef COLLECTOR_TRACING_SCHED_TRACE_H
#define COLLECTOR_TRACING_SCHED_TRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sched_trace_field {
	uint16_t offset;
	uint16_t size; /* 4 or 8 */
};

struct sched_trace {
	struct sched_trace_field prev_pid;
	struct sched_trace_field prev_state;
	struct sched_trace_field next_pid;
	struct sched_trace_field woken_pid;
};

void sched_trace_init(struct sched_trace *trace);

/* Takes the formats of events in the bytes, as /sys/kernel/tracing/events has them; whatever else
 * is there. A format that is damaged, or lacks a field, changes nothing. */
void sched_trace_learn(struct sched_trace *trace, const uint8_t *bytes, size_t size);

/* What the thread before does. */
enum sched_trace_leaving {
	SCHED_TRACE_PREEMPTED, /* it could go on; a yield too */
	SCHED_TRACE_BLOCKED,   /* or stopped */
	SCHED_TRACE_ENDED,
};

struct sched_trace_switch {
	uint32_t prev_tid; /* 0: the CPU idled */
	uint32_t next_tid; /* likewise */
	enum sched_trace_leaving leaving;
};

/* sched_switch; false: the record is too short. */
bool sched_trace_read_switch(const struct sched_trace *trace, const uint8_t *raw, size_t size,
			     struct sched_trace_switch *read);

/* sched_waking, sched_wakeup, sched_wakeup_new: the woken thread; false as above. */
bool sched_trace_read_wake(const struct sched_trace *trace, const uint8_t *raw, size_t size,
			   uint32_t *tid);

#endif
