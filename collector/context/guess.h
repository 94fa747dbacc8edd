/*
 * Guesses the outer frames of a stack whose copy ended too early, from whole stacks of the same
 * thread. A guess is made only if all of these conditions hold:
 * - The last verified frame was in at least four whole stacks, at the same place in the code and on
 * the stack, with the same callers each time, and never with others.
 * - None of these stacks is old: of the last 16 stacks of the full size, one had the frame. A
 * program that goes on to other code, without whole stacks, is not guessed from its past.
 * - All four are younger than any stack, whole or not, with a return address into another function
 * in the place of a guessed one.
 * - No function called by a guessed frame was seen called from elsewhere at the same place on the
 * stack, whatever its own address was then: for a function with two callers, progress in the
 * function is no evidence of the caller.
 * - No function appears twice: the depth of a recursion is never guessed.
 *
 * At most 40 KB a thread.
 *
 * Why four stacks, and why not the frame pointer. Measured with copies of 8 KB at 0.1 ms on g++,
 * mostly recursion: with two stacks, 0.44 % of the guesses were wrong (28 of 6417), with three 0.21
 * %, with four 0.15 %, of 5.5 % fewer guesses. With two stacks and the same frame pointer 0.1 %
 * were wrong (6 of 6130, 4.5 % fewer). But code keeps values of its own in the frame pointer
 * register, as gcc's does by default, and walks ignore the register in reused frames unless
 * something depends on it: of the stacks of tests/targets/stacks/stairs cut at 0.1 ms, 99 % are
 * guessed without the frame pointer and none with it. On clang++ none of 4000 guesses was wrong
 * under any of these conditions.
 */
#ifndef COLLECTOR_CONTEXT_GUESS_H
#define COLLECTOR_CONTEXT_GUESS_H

#include "unwind/unwind.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { GUESS_DEPTH_MAX = 256 }; /* frames from the root, remembered and guessed at most */

struct guess;

/* NULL: out of memory. */
struct guess *guess_create(void);
void guess_destroy(struct guess *guess); /* accepts NULL */

/*
 * Remembers a whole stack, leaf first. Its last `reused` frames equal those of the stack noted
 * before. version names the state of the process's mappings: a new version forgets everything.
 * Without memory nothing is remembered.
 */
void guess_note(struct guess *guess, uint64_t version, const struct uw_frame *frames, size_t count,
		size_t reused);

/*
 * The callers of `last`, inner ones first, up to the root. The copy of the stack ends at copy_end.
 * callers has room for GUESS_DEPTH_MAX frames. Returns the number of callers; 0: no guess.
 * Otherwise *hits is the number of whole stacks that agree, UINT8_MAX: that many or more.
 */
size_t guess_callers(const struct guess *guess, uint64_t version, const struct uw_frame *last,
		     uint64_t copy_end, struct uw_frame *callers, uint8_t *hits);

/* Remembers where the verified frames of an incomplete stack, leaf first, contradict whole
 * stacks. */
void guess_note_part(struct guess *guess, uint64_t version, const struct uw_frame *frames,
		     size_t count);

/* Counts a stack copied with the largest size, whole or not. */
void guess_grow_old(struct guess *guess);

/* Remembers where a copy of the thread's stack ended too early: tests of guesses cut whole stacks
 * at these places. */
void guess_note_cut(struct guess *guess, uint64_t copy_end);

/* The address to cut a whole stack at to test a guess; the stack's copy starts at base. Takes the
 * last places in turn where copies ended too early, or half way before there are any. 0: no place
 * would leave a part of the stack and hide a part. */
uint64_t guess_choose_cut(struct guess *guess, const struct uw_frame *frames, size_t count,
			  uint64_t base);

bool guess_has_cut(const struct guess *guess);

enum guess_result {
	GUESS_NOT_TESTED, /* no frame lies beyond copy_end */
	GUESS_NONE,       /* the frames beyond were not guessed */
	GUESS_RIGHT,
	GUESS_WRONG
};

/* Tests guess_callers on this whole stack, as if its copy ended at copy_end. Call before the stack
 * is noted. */
enum guess_result guess_test(const struct guess *guess, uint64_t version,
			     const struct uw_frame *frames, size_t count, uint64_t copy_end);

#endif
