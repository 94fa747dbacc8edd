/* Shared by the sources of waits: each turns its records into waits, with the calls in
 * wait_parts.c. waits.c calls them, and they never call it. */
#ifndef COLLECTOR_WAITS_WAITS_PRIVATE_H
#define COLLECTOR_WAITS_WAITS_PRIVATE_H

#include "collector/waits/bpf_waits.h"
#include "collector/waits/looked_waits.h"
#include "collector/waits/sync_threads.h"
#include "collector/waits/sync_waits.h"
#include "collector/waits/wait_objects.h"
#include "collector/waits/waits.h"

struct process;
struct record_call;
struct record_sample;

struct waits {
	struct waits_config config;
	struct tracker *tracker;
	struct stacks *stacks;
	struct emit *emit;
	struct wait_objects objects;
	struct looked_waits looked;
	struct bpf_waits bpf;
	struct sync_threads sync_threads;
	struct sync_objects sync_objects;
	struct sync_waits sync_waits;
	uint64_t start_ns; /* the collection's */
	uint64_t now_ns;   /* of the last record */
	uint64_t left_out; /* waits that nobody wants */
};

/* The process of a waiting thread, ready for look-ups of its addresses at that time; NULL: unknown,
 * or out of memory. */
struct process *waits_process(struct waits *waits, uint32_t pid, uint64_t time_ns);

/* The object of a system call (PROFILE_NONE: nobody wants waits for it), and the number of the call
 * among the machine's 64-bit ones. file: what the descriptor leads to, if known; NULL: it is looked
 * up if the call has one. */
uint32_t waits_object_of_call(struct waits *waits, const struct process *process,
			      const struct record_call *call, bool is_32bit, const char *file,
			      uint16_t *number);

/* The node, state, reason and number of collapsed frames of a stack by its sample's registers and
 * copy. A sample without registers is skipped. The stack has no weight. */
void waits_stack(struct waits *waits, struct process *process, const struct record_sample *sample,
		 struct profile_stack *stack);

/* Writes a wait, unless the library in the target saw it, or it has the object PROFILE_NONE. One of
 * the collection's start began before. */
void waits_put(struct waits *waits, const struct profile_wait *wait, uint64_t start_ns);

#endif
