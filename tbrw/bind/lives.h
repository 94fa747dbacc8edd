/*
 * The lives of a file's processes (key: pid) or threads (key: pid << 32 | tid), from their records
 * in any order. TBRW_dobind and the profile reader use the same rules:
 *
 * - A termination ends the life open at its time, in any order of the file. If one life ends at the
 *   moment the next begins, the first termination of the moment is the older life's, written first
 *   or not. A life still open when the next of its key begins ends then.
 * - A life covers both moments, start and end, but the moment the next one of its key begins is the
 *   next one's. An exec ends one life and begins the next at one moment: this leaves neither a gap
 *   nor a doubt.
 * - Every other time is in a gap. One gap holds one unrecorded life, but for cuts: when a pid
 *   continues as another program, one such life ends and the next begins.
 */
#ifndef TBRW_LIVES_H
#define TBRW_LIVES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TB5_LIFE_NONE  UINT64_MAX
#define TB5_LIVES_MEMO 512u

struct tb5_life {
	uint64_t key;
	uint64_t start;
	uint64_t end;        /* the last moment, UINT64_MAX: not known */
	uint64_t record;     /* the creation; TB5_LIFE_NONE: a cut, covering nothing */
	uint64_t end_record; /* the termination, TB5_LIFE_NONE: none */
	size_t last;         /* the item after its execs, at most itself */
};

struct tb5_lives {
	struct tb5_life *items; /* sealed: by key and start */
	size_t count;
	size_t capacity;
	/* Positions found last, by a hash of the key: samples of threads that run at the same time
	 * take turns. */
	size_t memo[TB5_LIVES_MEMO];
};

static inline uint64_t tb5_thread_key(uint32_t pid, uint32_t tid)
{
	return (uint64_t)pid << 32 | tid;
}

/* All zero: empty. */
void tb5_lives_finish(struct tb5_lives *lives);

/* Before sealing: a record of the process/thread section. `flags` are TBRW_PID_ or TBRW_TID_ (the
 * same values); without TSC_USED a creation counts as before all times, a termination not at all.
 * `record` numbers creations, in their order; a termination has the number of the creation right
 * behind it, or one of its own. false: out of memory. */
bool tb5_lives_add(struct tb5_lives *lives, uint64_t key, uint32_t flags, uint64_t when,
		   uint64_t record);
/* Before sealing: an exec at this time. false: out of memory. */
bool tb5_lives_cut(struct tb5_lives *lives, uint64_t key, uint64_t when);
void tb5_lives_seal(struct tb5_lives *lives);

/* The life at a moment, NULL in a gap. *position: of items, how many are before or begin then: the
 * number of the life and one, or the gap's own, together with the key. */
const struct tb5_life *tb5_lives_at(struct tb5_lives *lives, uint64_t key, uint64_t when,
				    size_t *position);

/* The item of this key at a position, NULL: the key has none there. */
const struct tb5_life *tb5_lives_item(const struct tb5_lives *lives, uint64_t key, size_t position);

/* The first moment behind the life or the gap at a position, UINT64_MAX: there is none. */
uint64_t tb5_lives_end(const struct tb5_lives *lives, uint64_t key, size_t position, bool is_gap);

#endif
