/* Shared by the tracker's files: the state, and functions for each other. */
#ifndef COLLECTOR_MODEL_TRACKER_PRIVATE_H
#define COLLECTOR_MODEL_TRACKER_PRIVATE_H

#include "collector/model/idmap.h"
#include "collector/model/tracker_sampled.h"
#include "collector/perf/sampler.h"

enum { NOTED_NAMES_MAX = 32 };

/* An opened thread and its descendants. */
struct family {
	uint64_t cpu_ns;      /* counted by samples and final counts */
	bool has_descendants; /* other threads whose last counts are not known */
};

struct tracker {
	const struct event_config *events;
	const struct cpus *cpus;
	struct process_context context;
	struct hash_table processes;
	struct hash_table threads; /* live ones, and ended ones waiting for final counts */
	struct family *families;
	uint32_t family_count;
	size_t family_capacity;
	uint64_t *gaps;               /* by ring: number of times samples were lost */
	struct thread *open_accounts; /* ended threads waiting for final counts */
	uint64_t now_ns;              /* time of the last record */
	char noted_names[NOTED_NAMES_MAX][PROCESS_NAME_MAX]; /* programs noted as not followed */
	size_t noted_count;
	size_t command_bytes;  /* of command lines noted so far */
	uint64_t unknown_ns;   /* in accounts of no known thread */
	uint64_t open_ns;      /* of followed threads, in no account (tracker_settle) */
	uint64_t busy_ns;      /* of open_ns: possible between ticks (thread_lack) */
	uint64_t lost_records; /* by the rings; without switches */
	struct tracker_listener listener;
	struct tracker_counts counts;
};

/* tracker_lives.c: live tasks and their ids. */

bool tracker_is_live(const struct thread *thread); /* accepts NULL */

/* A line of a task's file in /proc. false: it is gone. */
bool tracker_read_line(uint32_t pid, uint32_t tid, const char *name, char *line, size_t size);

/* The name of a task from /proc; "" when it is gone. Of a recording's unknown task: ":TID". */
void tracker_read_name(const struct tracker *tracker, uint32_t pid, uint32_t tid, char *name,
		       size_t size);

/* Takes over a process whose id is free; accepts NULL. NULL: out of memory, it is destroyed. */
struct process *tracker_put_process(struct tracker *tracker, struct process *process);

/* A new thread, whose id is free. NULL: out of memory. */
struct thread *tracker_put_thread(struct tracker *tracker, uint32_t pid, uint32_t tid,
				  const char *name, uint32_t family);

/* A live thread of the process; NULL when there is none. */
struct thread *tracker_find_live_thread(const struct tracker *tracker, uint32_t pid);

void tracker_end_thread(struct tracker *tracker, struct thread *thread, uint64_t time_ns);

/* Ends a thread whose exit record was lost. */
void tracker_lose_thread(struct tracker *tracker, struct thread *thread);

/* Tell the listener, if there is one. */
void tracker_tell_birth(const struct tracker *tracker, struct thread *thread,
			enum tracker_birth birth);
void tracker_tell_end(const struct tracker *tracker, struct thread *thread, uint64_t time_ns,
		      const struct record *record);

/* Removes an ended thread from the table: its tid can be used again. */
void tracker_retire(struct tracker *tracker, struct thread *thread);

/* Make sure that an id is free for a new thread, or process: exits may have been lost. */
void tracker_free_tid(struct tracker *tracker, uint32_t tid);
void tracker_free_pid(struct tracker *tracker, uint32_t pid);

/* Writes all threads: those that live on, and those whose account is still open. */
void tracker_write_threads(struct tracker *tracker);

/* tracker_account.c: the threads' accounts of CPU time while ticks come. */

/* Whether BPF sends the kernel's own accounts. */
bool tracker_is_exact(const struct tracker *tracker);

bool tracker_is_random(const struct tracker *tracker);

/* Whether the events count time that ticks cannot hit: kernel mode, not sampled. */
bool tracker_has_unseen(const struct tracker *tracker);

/* Whether each ended thread's last count comes from each ring. */
bool tracker_has_final_counts(const struct tracker *tracker);

/* Takes the time pending for the thread's next sample. */
uint64_t tracker_take_pending(const struct tracker *tracker, struct thread *thread);

/* Adds a thread's final count on a ring. Returns whether it was the last one. */
bool tracker_count_final(struct tracker *tracker, struct thread *thread, uint64_t counted_ns,
			 size_t ring_index);

/* Whether more of the thread's CPU time may become known: by final counts, or for a thread with
 * events of its own, by the reading at the end. */
bool tracker_has_open_account(const struct tracker *tracker, const struct thread *thread);

/* Estimates the time missing from the account, before it is written. */
void tracker_close_account(struct tracker *tracker, struct thread *thread);

/* Whether there are no samples, but states, who listen: then a thread's account is its runs. */
bool tracker_has_runs(const struct tracker *tracker);

/* Counts them, once. */
void tracker_count_runs(struct tracker *tracker, struct thread *thread);

/* Kernel time of the followed threads in no account; once all accounts are closed. */
uint64_t tracker_unattributed_kernel_ns(const struct tracker *tracker);

/* tracker_exact.c: accounts by the kernel, sent by BPF (tracker_is_exact). */

/* Keeps the thread's CPU time before now out of its account. attach: the account is unknown if this
 * time can no longer be read. */
void tracker_begin_account(const struct tracker *tracker, struct thread *thread, bool attach);

void tracker_apply_account(struct tracker *tracker, const struct record *record);

/* An exec gave thread `before` the id of the ended first thread of process pid, and the kernel gave
 * that thread the id of `before`. */
void tracker_rename_account(struct tracker *tracker, struct thread *before, uint32_t pid);

/* tracker_sampled.c: beside the functions for analyses. */

/* Notes the process's command line by now, if command lines are wanted. */
void tracker_note_command(struct tracker *tracker, const struct process *process, uint64_t time_ns);

#endif
