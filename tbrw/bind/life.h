/* When each process or thread lived: from its create and terminate records, in any order. */
#ifndef TBRW_LIFE_H
#define TBRW_LIFE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A create or terminate record. For processes tid is 0. */
struct tb5_life_event {
	uint32_t pid;
	uint32_t tid;
	uint64_t when;
	uint64_t index; /* of the record */
	bool terminate;
};

/* Lives from start up to but without end. */
struct tb5_life {
	uint32_t pid;
	uint32_t tid;
	uint64_t start;
	uint64_t end;
	uint64_t index;           /* of the create record */
	uint64_t terminate_index; /* UINT64_MAX: none */
};

struct tb5_lives {
	struct tb5_life *items; /* by pid, tid, start; those of one pid and tid do not overlap */
	size_t count;
};

/* Sorts the events. False: no memory. */
bool tb5_lives_build(struct tb5_lives *lives, struct tb5_life_event *events, size_t count);
void tb5_lives_finish(struct tb5_lives *lives);

/* How many items come before or begin at this moment: what covers it is the last of them. Also a
 * number for the gap between lives, if nothing covers it. */
size_t tb5_lives_position(const struct tb5_lives *lives, uint32_t pid, uint32_t tid, uint64_t when);

/* The life that covers a moment at `position`, or NULL. */
const struct tb5_life *tb5_lives_at(const struct tb5_lives *lives, size_t position, uint32_t pid,
				    uint32_t tid, uint64_t when);

/* The next life of the same pid and tid after `position`, or NULL. */
const struct tb5_life *tb5_lives_next(const struct tb5_lives *lives, size_t position, uint32_t pid,
				      uint32_t tid);

#endif
