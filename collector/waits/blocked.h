/*
 * The threads that are blocked and not read yet, by the switches in the rings: the switches of a
 * moment are noted first, and threads blocked after all of them wait for their turn in order of
 * time.
 */
#ifndef COLLECTOR_WAITS_BLOCKED_H
#define COLLECTOR_WAITS_BLOCKED_H

#include "containers/hash.h"
#include "containers/hash_table.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct record_switch;

struct blocked_thread {
	uint64_t since_ns;
	uint32_t pid;
	uint32_t tid;
};

/* blocked_init first; all memory is the tables'. */
struct blocked {
	struct hash_table threads;
	struct hash_key key;
	uint32_t *changed; /* threads with switches since the last settling */
	size_t changed_count, changed_capacity;
	struct blocked_thread *queue; /* in order of time, from first to count */
	size_t first, count, capacity;
};

void blocked_init(struct blocked *blocked);
void blocked_finish(struct blocked *blocked);

/* Notes a switch; those of one thread may come in any order. Without memory threads are missed. */
void blocked_note(struct blocked *blocked, const struct record_switch *found);

/* Queues the threads that are blocked by now. */
void blocked_settle(struct blocked *blocked);

/* Since when the first one in the queue has been blocked; false: there is none. */
bool blocked_first(const struct blocked *blocked, uint64_t *since_ns);

/* Takes the first thread that is still blocked, if it has been since due_ns or before. */
bool blocked_take(struct blocked *blocked, uint64_t due_ns, struct blocked_thread *taken);

#endif
