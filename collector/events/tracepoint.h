/* Numbers of the kernel's tracepoints, as its tracing file system has them. */
#ifndef COLLECTOR_EVENTS_TRACEPOINT_H
#define COLLECTOR_EVENTS_TRACEPOINT_H

#include <stdint.h>

/* Whether there is such a tracepoint. */
enum tracepoint_answer {
	TRACEPOINT_FOUND,
	TRACEPOINT_UNKNOWN,   /* no tracepoint of this kernel has the name */
	TRACEPOINT_FORBIDDEN, /* the file system is not for this user, or mounted nowhere, and
				 this user may mount none */
	TRACEPOINT_UNREAD,    /* errno says why */
};

/*
 * The number of the tracepoint SYSTEM:NAME for perf_event_attr.config, from events/SYSTEM/NAME/id
 * (Documentation/trace/events.rst). Where the file system is not mounted, as on a computer that
 * nobody traced since its start, it is mounted for this call alone, and no path shows it. *id is
 * untouched unless found. Thread-safe.
 */
enum tracepoint_answer tracepoint_find(const char *system, const char *name, uint64_t *id);

#endif
