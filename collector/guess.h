/*
 * Guesses the outer frames of a stack of which the copy ended too early, from whole stacks of the
 * same thread. A guess is made only where all of these agree: the last frame that was verified was
 * in at least two whole stacks, at the same place in the code and on the stack, with the same
 * callers each time; none of them was ever seen with another caller; no function appears twice, so
 * that the depth of a recursion is never guessed. At most 40 KB a thread.
 */
#ifndef COLLECTOR_GUESS_H
#define COLLECTOR_GUESS_H

#include "unwind/unwind.h"
#include <stddef.h>
#include <stdint.h>

enum { GUESS_DEPTH_MAX = 256 }; /* frames from the root that are remembered, and guessed at most */

struct guess;

/* NULL: out of memory. */
struct guess *guess_create(void);
void guess_destroy(struct guess *guess); /* accepts NULL */

/*
 * Remembers a whole stack, leaf first. The last `reused` frames equal those of the stack that was
 * noted before. version names the state of the process's mappings: with another one than before,
 * everything is forgotten. Without memory nothing is remembered.
 */
void guess_note(struct guess *guess, uint64_t version, const struct uw_frame *frames, size_t count,
		size_t reused);

/*
 * The callers of `last`, inner ones first, up to the root. copy_end is the address where the copy
 * of the stack ends. callers has room for GUESS_DEPTH_MAX frames. Returns how many they are; 0: no
 * guess.
 */
size_t guess_callers(const struct guess *guess, uint64_t version, const struct uw_frame *last,
		     uint64_t copy_end, struct uw_frame *callers);

struct guess_counts {
	uint64_t tested;  /* whole stacks of which a part was hidden */
	uint64_t covered; /* of these: what was hidden was guessed */
	uint64_t wrong;   /* of these: not as it was */
};

/* Tries what guess_callers would say if the copy of this whole stack, which starts at base, had
 * only half of what it took. To be called before the stack is noted. */
void guess_test(const struct guess *guess, uint64_t version, const struct uw_frame *frames,
		size_t count, uint64_t base, struct guess_counts *counts);

#endif
