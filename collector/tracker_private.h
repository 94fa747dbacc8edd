/* What the tracker's files share: tracker.c follows processes and threads, tracker_sample.c turns
 * samples into nodes and weights. */
#ifndef COLLECTOR_TRACKER_PRIVATE_H
#define COLLECTOR_TRACKER_PRIVATE_H

#include "collector/chain.h"
#include "collector/guess.h"
#include "collector/idmap.h"
#include "collector/image.h"
#include "collector/process.h"
#include "collector/tables.h"
#include "collector/thread.h"
#include "collector/tracker.h"
#include "collector/tree.h"
#include "collector/unwinding.h"
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

/* A deep copy of a thread's stack: remembered for the samples that follow, and nothing else. */
void tracker_apply_deep(struct tracker *tracker, const struct record *record, bool skip_stack);

void tracker_apply_sample(struct tracker *tracker, const struct record *record, size_t ring_index,
			  bool skip_stack);

#endif
