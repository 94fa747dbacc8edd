/*
 * Trace events: what all of them have.
 */
#ifndef TOOLS_CHROME_CHROME_EVENTS_H
#define TOOLS_CHROME_CHROME_EVENTS_H

#include "tools/json/json_writer.h"
#include <stdint.h>

struct timeline;

/* Whose events they are, by numbers of which the whole file has each for one process or thread. */
struct chrome_thread {
	uint32_t pid;
	uint32_t tid;
};

struct chrome_thread chrome_thread_of(const struct timeline *timeline);
/* In place of a process that is not said. */
struct chrome_thread chrome_nobody(void);
/* Of all processes. */
struct chrome_thread chrome_machine(void);

/* Opens an event; the caller adds members and closes the object. Phases: "X", ... */
void chrome_open_event(struct json_writer *json, const char *phase, const char *name,
		       const struct chrome_thread *thread);

/* A whole event: "process_name" or "thread_name". */
void chrome_write_name(struct json_writer *json, const char *event,
		       const struct chrome_thread *thread, const char *name);

/* A member in the format's unit, us, exactly. */
void chrome_write_us(struct json_writer *json, const char *name, uint64_t ns);

#endif
