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
#include "unwind/unwind.h"

enum { NOTED_NAMES_MAX = 32 };

/* The threads that one opened thread and its descendants make. */
struct family {
	uint64_t cpu_ns;      /* counted by samples and final counts */
	bool has_descendants; /* other threads whose last counts are not known */
};

/* One walk in 64 is timed: what a clock costs is no small part of a walk. */
struct timed_walks {
	uint64_t walks;
	uint64_t frames;
	uint64_t ns;
	uint64_t turn; /* walks so far, timed or not */
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
	struct thread *open_accounts; /* ended, but the final count is still to come */
	uint64_t now_ns;              /* time of the last record */
	uint32_t kernel_image;        /* 0: none yet */
	char noted_names[NOTED_NAMES_MAX][PROCESS_NAME_MAX]; /* programs noted as not followed */
	size_t noted_count;
	struct tracker_counts counts;
	struct uw_counts unwound; /* of processes that ended */
	struct timed_walks timed;
	struct guess_counts guesses;
	uint64_t guess_turn; /* whole stacks so far, tested or not */
	struct uw_frame frames[UW_DEPTH_MAX + GUESS_DEPTH_MAX];
	struct chain *chain; /* for stacks that no thread's next one can build on */
};

/* The process and thread of a sample; made from /proc where they are not known (a lost fork). NULL:
 * out of memory. */
struct process *tracker_process(struct tracker *tracker, uint32_t pid);
struct thread *tracker_thread(struct tracker *tracker, uint32_t pid, uint32_t tid);

/* A deep copy of a thread's stack: remembered for the samples that follow, and nothing else. */
void tracker_apply_deep(struct tracker *tracker, const struct record *record, bool skip_stack);

void tracker_apply_sample(struct tracker *tracker, const struct record *record, size_t ring_index,
			  bool skip_stack);

/* Writes what unwinding took in all; after the end of every process. */
void tracker_note_unwinding(struct tracker *tracker);

#endif
