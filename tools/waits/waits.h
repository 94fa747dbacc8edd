/*
 * The waits of a result, added up by what they have in common: thread, object, stack, and who ended
 * them. They are streamed: memory goes by the number of distinct ones. For those who read them one
 * by one, the filter's conditions alone.
 */
#ifndef TOOLS_WAITS_WAITS_H
#define TOOLS_WAITS_WAITS_H

#include "tbrw/tbrw.h"
#include "tools/waits/wait_type.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct filter;
struct functions;
struct profile_reader;
struct profile_wait_info;
struct task_filter;

struct waits_sum {
	uint64_t count;
	uint64_t wait_ns;  /* blocked */
	uint64_t ready_ns; /* woken, and not yet on a CPU, as far as known */
	uint64_t spin_ns;  /* on the CPU in the call, before it blocked, as far as known */
	uint64_t poor_ns;  /* of wait_ns, while few CPUs were utilized (poor_time.h) */
	uint64_t most_ns;  /* the longest */
	uint64_t timeouts;
	uint64_t before;  /* went on when the collection began */
	uint64_t unended; /* lasted beyond the collection or the thread's end */
};

void waits_sum_add(struct waits_sum *sum, const struct waits_sum *more);

/* What a thread waited for, as users tell it apart: all objects of a process with this name and
 * type; of all processes, unless the name has an address or a number of a process. */
struct waits_item {
	char *name; /* "Mutex queue_lock+0x10", "Sleep" */
	enum wait_type type;
	uint32_t pid;     /* 0: of all */
	uint32_t created; /* function that made it (struct wait_site); FUNCTION_UNKNOWN: not seen */
};

struct waits_entry {
	uint32_t thread; /* index; PROFILE_NONE: not known */
	uint32_t tid;
	uint32_t object; /* record */
	uint32_t node;   /* of the stack's leaf; 0: none */
	uint32_t waker_thread;
	uint32_t waker_tid;  /* 0: not known, or no thread */
	uint32_t waker_node; /* 0: no stack */
	uint16_t syscall;
	uint8_t state; /* of the stack, enum profile_stack_state */
	uint8_t waker_state;
	struct waits_sum sum;
	/* These follow from the others. */
	uint32_t item;
	uint32_t function;       /* that waits (struct wait_site) */
	uint32_t waker_function; /* that wakes; without a stack FUNCTION_UNKNOWN */
};

/* All waits of a thread, whatever the filter says of functions. */
struct waits_thread {
	uint64_t wait_ns;
	uint64_t ready_ns;
	uint64_t blocks; /* times it blocked in them */
};

struct waits { /* all zero: none */
	struct waits_entry *entries;
	size_t count;
	struct waits_item *items;
	size_t item_count;
	struct waits_thread *threads; /* by index */
	struct waits_sum sum;         /* of the entries */
};

/* The waits that meet the filter: by thread and process; by the function that waits; a task, if
 * they began inside; of a part of the run, what lies in it. target: of poor_ns, in thousandths of a
 * CPU; 0: poor_ns is not asked for, and 0. Returns the reader's code. */
TBRW_U32 result_waits_collect(struct waits *waits, struct profile_reader *reader,
			      const struct functions *functions, const struct filter *filter,
			      uint32_t target);
void result_waits_finish(struct waits *waits);

/* Times are CLOCK_MONOTONIC_RAW ns. */
struct wait_stretch {
	uint64_t start_ns;
	uint64_t end_ns; /* not before the start */
};

struct wait_filter {
	struct profile_reader *reader;
	const struct filter *filter;
	const struct functions *functions; /* NULL: conditions on functions are the caller's */
	struct wait_functions *sites;      /* NULL: there are no such conditions, or likewise */
	struct task_filter *tasks;         /* the filter's conditions on tasks */
	bool *takes_thread;                /* by index, and of PROFILE_NONE behind the last */
	struct wait_stretch part;          /* of the run, the filter's */
};

/* Returns the reader's code; finish it in any case. Reader, functions and filter outlive it. */
TBRW_U32 wait_filter_load(struct wait_filter *waits, struct profile_reader *reader,
			  const struct functions *functions, const struct filter *filter);
void wait_filter_finish(struct wait_filter *waits);

/* Whether a wait meets the filter, but for its times: by its thread; its start's task; the function
 * that waits. */
bool wait_filter_takes(const struct wait_filter *waits, const struct profile_wait_info *info);

/* The filter's conditions on functions: of the one that waits, and of all in the stack of `node`.
 */
bool wait_filter_takes_functions(const struct profile_reader *reader,
				 const struct functions *functions, const struct filter *filter,
				 uint32_t node, uint32_t function);

/* What of the time from start_ns on lies in the filter's part of the run. */
struct wait_stretch wait_filter_cut(const struct wait_filter *waits, uint64_t start_ns,
				    uint64_t length_ns);

#endif
