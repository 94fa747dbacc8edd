/*
 * The cost of unwinding: each walk's own part of its space's counts, added up over the run, by
 * thread and by the image of the leaf. Deep copies, not being samples, are counted apart.
 */
#ifndef COLLECTOR_CONTEXT_WALK_COUNTS_H
#define COLLECTOR_CONTEXT_WALK_COUNTS_H

#include "collector/context/guess.h"
#include "profile/profile.h"
#include "unwind/unwind.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct emit;

/* Zeros before the first use. */
struct walk_counts {
	struct profile_unwinding run;
	struct profile_unwinding deep;    /* of deep copies; in no other */
	struct profile_unwinding *images; /* by image */
	size_t image_count;
	size_t image_capacity;
	uint64_t turn; /* walks of samples so far */
};

void walk_counts_finish(struct walk_counts *counts);

/* Where the counts of a stack belong. */
struct walk_counts_subject {
	struct profile_unwinding *thread; /* the sampled thread's */
	uint32_t image;                   /* of its leaf; 0: the unknown one */
};

/* A walk being measured. One in 64 is timed: reading a clock costs no small part of a walk. */
struct walk_counts_walk {
	struct uw_counts before;
	uint64_t start_ns; /* 0: not timed */
	bool is_deep;
};

void walk_counts_begin(struct walk_counts *counts, struct walk_counts_walk *walk,
		       const struct uw_space *space, bool is_deep);

/* Adds up the walk; without memory, for the run and the thread only. */
void walk_counts_end(struct walk_counts *counts, const struct walk_counts_walk *walk,
		     const struct uw_space *space, const struct walk_counts_subject *subject);

/* Counts the result of testing a guess on a whole stack. */
void walk_counts_add_test(struct walk_counts *counts, enum guess_result result,
			  const struct walk_counts_subject *subject);

/* Likewise of testing late frames. */
void walk_counts_add_late_test(struct walk_counts *counts, enum guess_result result,
			       const struct walk_counts_subject *subject);

/* Takes back all tests of guesses. The caller does so for threads, with walk_counts_forget_test. */
void walk_counts_forget_tests(struct walk_counts *counts);
void walk_counts_forget_test(struct profile_unwinding *sum);

/* Writes the counts by image, and over the run. */
void walk_counts_emit(const struct walk_counts *counts, struct emit *emit);

#endif
