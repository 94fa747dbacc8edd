/*
 * Guesses the outer frames of a stack of which the copy ended too early, from whole stacks of the
 * same thread. A guess is made only where all of these agree:
 * - The last frame that was verified was in at least four whole stacks, at the same place in the
 *   code and on the stack, with the same callers each time, and never with others.
 * - None of these was long ago: of the last 16 stacks of the full size, one had it. So a program
 * that comes to run other code, of which no stack is whole, is not taken for what it was.
 * - All four are younger than any stack, whole or not, that had a return address into another
 *   function where one of the guess would lie.
 * - Nothing that a guessed frame called was seen called from elsewhere at the same place on the
 *   stack, from whatever place in it: a function that two others call is not guessed by how far it
 *   had come.
 * - No function appears twice, so that the depth of a recursion is never guessed.
 *
 * At most 40 KB a thread.
 *
 * Why four, and why the frame pointer is not asked for. Measured with copies of 8 KB at 0.1 ms on
 * g++, where most is recursion: with two stacks, 0.44 % of the guesses were wrong (28 of 6417),
 * with three 0.21 %, with four 0.15 %, of 5.5 % fewer guesses. With two and the same frame pointer
 * 0.1 % were (6 of 6130, 4.5 % fewer). But code keeps values of its own in that register, as gcc's
 * does by default, and walks do not look at it in frames that they take over unless something
 * depends on it: of the stacks of tests/targets/stacks/stairs that are cut at 0.1 ms, 99 % are
 * guessed without it and none with it. On clang++ none of 4000 guesses was wrong, whatever was
 * asked for.
 */
#ifndef COLLECTOR_CONTEXT_GUESS_H
#define COLLECTOR_CONTEXT_GUESS_H

#include "unwind/unwind.h"
#include <stdbool.h>
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
 * guess. Otherwise *hits is the number of whole stacks that agree, UINT8_MAX: that many or more.
 */
size_t guess_callers(const struct guess *guess, uint64_t version, const struct uw_frame *last,
		     uint64_t copy_end, struct uw_frame *callers, uint8_t *hits);

/* Remembers what the verified frames of a stack that is not whole, leaf first, say against what
 * whole ones had. */
void guess_note_part(struct guess *guess, uint64_t version, const struct uw_frame *frames,
		     size_t count);

/* A stack was copied, whole or not, with the largest size that there is. */
void guess_grow_old(struct guess *guess);

/* Remembers where a copy of the thread's stack ended too early, so that guesses are tried on what
 * really lies beyond. */
void guess_note_cut(struct guess *guess, uint64_t copy_end);

/* Where to cut a whole stack, whose copy starts at base, to try a guess on it: at one of the last
 * places where copies ended too early, each in its turn; half way where none has yet. 0: no place
 * would leave some of the stack and hide some. */
uint64_t guess_choose_cut(struct guess *guess, const struct uw_frame *frames, size_t count,
			  uint64_t base);

bool guess_has_cut(const struct guess *guess);

enum guess_result {
	GUESS_NOT_TESTED, /* nothing lies beyond copy_end */
	GUESS_NONE,       /* what does was not guessed */
	GUESS_RIGHT,
	GUESS_WRONG
};

/* Tries what guess_callers would say of this whole stack if its copy ended at copy_end. To be
 * called before the stack is noted. */
enum guess_result guess_test(const struct guess *guess, uint64_t version,
			     const struct uw_frame *frames, size_t count, uint64_t copy_end);

#endif
