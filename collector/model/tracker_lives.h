/* The tracker's tables of processes and threads: who lives now, and under which id. */
#ifndef COLLECTOR_MODEL_TRACKER_LIVES_H
#define COLLECTOR_MODEL_TRACKER_LIVES_H

#include "collector/model/process.h"
#include "collector/model/thread.h"
#include "collector/model/tracker.h"

/* The process and thread of a sample; made from /proc where they are not known (a lost fork). NULL:
 * out of memory. */
struct process *tracker_process(struct tracker *tracker, uint32_t pid);
struct thread *tracker_thread(struct tracker *tracker, uint32_t pid, uint32_t tid);

/* The same, but NULL where they are not known. */
struct process *tracker_find_process(const struct tracker *tracker, uint32_t pid);
struct thread *tracker_find_thread(const struct tracker *tracker, uint32_t pid, uint32_t tid);

bool tracker_is_live(const struct thread *thread); /* accepts NULL */

/* The name of a task from /proc; "" when it is gone. */
void tracker_read_name(uint32_t pid, uint32_t tid, char *name, size_t size);

/* Takes over a process whose id is free; accepts NULL. NULL: out of memory, it is destroyed. */
struct process *tracker_put_process(struct tracker *tracker, struct process *process);

/* A new thread, whose id is free. NULL: out of memory. */
struct thread *tracker_put_thread(struct tracker *tracker, uint32_t pid, uint32_t tid,
				  const char *name, uint32_t family);

/* A live thread of the process; NULL when there is none. */
struct thread *tracker_find_live_thread(const struct tracker *tracker, uint32_t pid);

void tracker_end_thread(struct tracker *tracker, struct thread *thread, uint64_t time_ns);

/* Takes an ended thread out of the table, so that its tid can be used again. */
void tracker_retire(struct tracker *tracker, struct thread *thread);

/* Make sure that an id is free for a new thread, or process: exits may have been lost. */
void tracker_free_tid(struct tracker *tracker, uint32_t tid);
void tracker_free_pid(struct tracker *tracker, uint32_t pid);

/* Writes all threads: those that live on, and those whose account is still open. */
void tracker_write_threads(struct tracker *tracker);

#endif
