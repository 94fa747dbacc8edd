/* What the tracker's files share: tracker.c follows processes and threads, tracker_sample.c turns
 * samples into nodes, tracker_account.c keeps the accounts of CPU time, and so the weights. */
#ifndef COLLECTOR_TRACKER_PRIVATE_H
#define COLLECTOR_TRACKER_PRIVATE_H

#include "collector/context/chain.h"
#include "collector/context/guess.h"
#include "collector/context/table_builder.h"
#include "collector/context/tree.h"
#include "collector/context/walk_counts.h"
#include "collector/image/image.h"
#include "collector/model/idmap.h"
#include "collector/model/process.h"
#include "collector/model/thread.h"
#include "collector/model/tracker.h"
#include "unwind/unwind.h"

enum {
	NOTED_NAMES_MAX = 32,
	COMMAND_BYTES_MAX = 16 << 20 /* of all command lines that are noted */
};

/* The threads that one opened thread and its descendants make. */
struct family {
	uint64_t cpu_ns;      /* counted by samples and final counts */
	bool has_descendants; /* other threads whose last counts are not known */
};

/* What guesses are tried on. A later one is closer to the guesses that are made, and replaces what
 * came of an earlier one from the moment when it becomes possible. */
enum guess_trial {
	TRIAL_HALF, /* the outer half of whole stacks */
	TRIAL_CUT,  /* what lay beyond the thread's copies that ended too early, of whole stacks */
	TRIAL_DEEP  /* what lies beyond a sample's copy, of deep copies that are larger: these are
		       as the stacks that samples' copies are too small for */
};

struct tracker {
	struct tracker_config config;
	struct process_context context;
	struct tree *tree;
	struct tables *tables;
	struct idmap processes;
	struct idmap threads; /* live ones, and ended ones that wait for their final counts */
	struct family *families;
	uint32_t family_count;
	uint64_t *gaps;               /* in each ring: times that samples were lost */
	struct thread *open_accounts; /* ended, but the final count is still to come */
	uint64_t now_ns;              /* time of the last record */
	uint32_t kernel_image;        /* 0: none yet */
	char noted_names[NOTED_NAMES_MAX][PROCESS_NAME_MAX]; /* programs noted as not followed */
	size_t noted_count;
	size_t command_bytes; /* of command lines noted so far */
	uint64_t unknown_ns;  /* in accounts of no known thread */
	uint64_t open_ns;     /* of followed threads, in no account (tracker_settle) */
	uint64_t busy_ns;     /* of it, what can lie between ticks (thread_lack) */
	struct tracker_counts counts;
	struct unwinding unwinding;
	size_t copy_size;    /* bytes of stack that the last walked sample asked for */
	uint64_t guess_turn; /* whole stacks that guesses might have been tried on */
	enum guess_trial guess_trial;
	struct uw_frame frames[UW_DEPTH_MAX + GUESS_DEPTH_MAX];
	struct chain *chain; /* for stacks that no thread's next one can build on */
};

/* The process and thread of a sample; made from /proc where they are not known (a lost fork). NULL:
 * out of memory. */
struct process *tracker_process(struct tracker *tracker, uint32_t pid);
struct thread *tracker_thread(struct tracker *tracker, uint32_t pid, uint32_t tid);

/* Notes the command line that a process has by now, if that is asked for. */
void tracker_note_command(struct tracker *tracker, const struct process *process, uint64_t time_ns);

/* A sample of a thread in its end: in the kernel, and of the time when it had ended for all that
 * the file says. */
void tracker_apply_ending(struct tracker *tracker, const struct record *record);

/* A deep copy of a thread's stack: remembered for the samples that follow, and nothing else. */
void tracker_apply_deep(struct tracker *tracker, const struct record *record, bool skip_stack);

void tracker_apply_sample(struct tracker *tracker, const struct record *record, size_t ring_index,
			  bool skip_stack);

/* A tick that is no sample. */
void tracker_apply_tick(struct tracker *tracker, const struct record *record, size_t ring_index);

/* tracker_account.c */

/* What a tick tells of its thread's CPU time. */
struct tick {
	uint64_t user_ns;   /* of what it shows; all of it where kernel mode is sampled */
	uint64_t kernel_ns; /* in the kernel, unseen: of no stack */
	uint64_t lost_ns;   /* of what was lost: of no sample */
};

/* Counts a tick in its thread's account. */
struct tick tracker_count_tick(struct tracker *tracker, struct thread *thread,
			       const struct record *record, size_t ring_index);

/* Fills in what a sample weighs, and its part of that in the kernel. is_kernel: all of it is. */
void tracker_weigh(struct tracker *tracker, struct thread *thread, const struct tick *tick,
		   uint64_t period_ns, bool is_kernel, struct profile_stack *stack);

/* What a tick that is no sample leaves for the next one. */
void tracker_keep_pending(struct tracker *tracker, struct thread *thread, const struct tick *tick,
			  bool is_kernel);

/* Takes what a thread's next sample would carry. */
uint64_t tracker_take_pending(const struct tracker *tracker, struct thread *thread);

/* A thread's final count. */
void tracker_apply_count(struct tracker *tracker, const struct record *record, size_t ring_index);

/* Whether more may become known of the thread's CPU time: its final counts, or for the thread
 * that events were opened for, what these read at the end. */
bool tracker_has_open_account(const struct tracker *tracker, const struct thread *thread);

/* Says what the account may lack, before it is written. */
void tracker_close_account(struct tracker *tracker, struct thread *thread);

/* What of the followed threads' time in no account was in the kernel, unseen; once all accounts are
 * closed. */
uint64_t tracker_unattributed_kernel_ns(const struct tracker *tracker);

/* tracker_exact.c */

/* Whether accounts are the kernel's own, and BPF sends them. */
bool tracker_is_exact(const struct tracker *tracker);

/* Has what a thread used before now be no part of its account. attach: it lacks the account if that
 * cannot be read any more. */
void tracker_begin_account(const struct tracker *tracker, struct thread *thread, bool attach);

void tracker_apply_account(struct tracker *tracker, const struct record *record);

/* The thread that an account, or a sample of its end, is of; NULL: it is not known, or its account
 * was read before. */
struct thread *tracker_waiting(const struct tracker *tracker, const struct record *record);

/* By an exec, thread before got the id of the first thread of process pid, which ended, and the
 * kernel gave that one its. */
void tracker_rename_account(struct tracker *tracker, struct thread *before, uint32_t pid);

/* Takes an ended thread out of the table, so that its tid can be used again. */
void tracker_retire(struct tracker *tracker, struct thread *thread);

#endif
