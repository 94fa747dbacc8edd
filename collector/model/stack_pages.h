/*
 * Pages of a stack that were never touched: large local arrays leave them, and the kernel's copy of
 * a stack ends at the first one, because it brings no page into memory (perf_output_sample_ustack
 * in kernel/events/core.c copies with page faults disabled). Reading such a page from outside makes
 * the kernel map its page of zeros there (do_anonymous_page, mm/memory.c): the program's memory has
 * the same contents and size as before, and later copies go past it. Some kernels have no page of
 * zeros for that, and a page that is read takes memory: there none is read.
 *
 * The pages behind such a page, which are in memory, can be copied from the running thread.
 */
#ifndef COLLECTOR_MODEL_STACK_PAGES_H
#define COLLECTOR_MODEL_STACK_PAGES_H

#include "profile/profile.h"
#include "unwind/unwind.h"
#include <stdbool.h>
#include <stdint.h>

struct process;

/* The mapping of a thread's stack, as last seen, and why a copy of it ended; zeros before. */
struct stack_mapping {
	uint64_t low;
	uint64_t high;
	uint64_t map_version; /* the process's when it was seen */
	uint64_t read_ns;     /* CLOCK_MONOTONIC_RAW: last reading, or try */
	uint64_t refused_ns;  /* likewise: last copy that was not permitted; 0: none */
	bool is_vain;         /* it left pages absent: none follows for a second */
	uint8_t reason;       /* enum profile_skip_reason */
};

enum stack_pages_price {
	STACK_PAGES_UNKNOWN,
	STACK_PAGES_FREE, /* a page that is read and not written takes no memory */
	STACK_PAGES_COST
};

/* Of a collection, whose readings take a small share of the time. Zeros before the first. */
struct stack_pages {
	uint64_t due_ns; /* CLOCK_MONOTONIC_RAW: none before then */
	uint64_t count;  /* of pages read so far */
	enum stack_pages_price price;
};

/* What a read of an untouched page takes, by a page of our own. */
enum stack_pages_price stack_pages_try(void);

/*
 * Reads the pages that a copy of a thread's stack lacks, where nobody has touched them and the
 * price is no memory; those on disk stay there. Only private anonymous memory is read, and as far
 * as the copy was to reach. Returns why the copy ended: PROFILE_SKIP_UNTOUCHED, or
 * PROFILE_SKIP_NOT_RESIDENT if its next page is on disk, or nobody may tell. Where it is too early
 * for a reading, the thread's last reason. Needs the right to trace the process; without it, the
 * reason only. Processes of others are asked as collector/proc/asker.h says.
 */
enum profile_skip_reason stack_pages_read(struct stack_pages *pages, const struct process *process,
					  struct stack_mapping *mapping,
					  const struct uw_stack *copy, uint64_t sampled_ns);

/*
 * Copies up to size bytes of a thread's stack from start on, as it is now: no further than its
 * mapping, and only pages that are in memory. The others stay as they are; their bytes are
 * `absent`. Returns the number of bytes; 0: it is too early for a reading, or nothing can be read.
 * Rights, and processes of others, as with stack_pages_read. The target is not stopped.
 */
size_t stack_pages_copy(struct stack_pages *pages, const struct process *process,
			struct stack_mapping *mapping, uint64_t start, uint8_t *bytes, size_t size,
			uint8_t absent);

#endif
