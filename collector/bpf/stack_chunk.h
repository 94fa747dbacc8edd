/*
 * What the BPF program sends and the record codec reads: one part of a copy of a user stack, as the
 * raw field (PERF_SAMPLE_RAW) of a sample that is otherwise like the sampling event's own.
 *
 * A sample that the kernel makes itself has an empty raw field of four bytes. Compiled for BPF too.
 */
#ifndef COLLECTOR_BPF_STACK_CHUNK_H
#define COLLECTOR_BPF_STACK_CHUNK_H

#include <linux/bpf.h>

/* In stack_chunk.absent, the same in all parts of a copy: the copy ends where the stack does. */
#define STACK_CHUNK_ENDS 0x80000000u

enum {
	STACK_CHUNK_MAGIC = 0x6b636174, /* told apart from what another program might send */
	STACK_CHUNK_PAGE = 4096,
	STACK_CHUNK_PAGES = 8,
	STACK_CHUNK_BYTES = STACK_CHUNK_PAGE * STACK_CHUNK_PAGES,
	STACK_CHUNK_TOTAL_MAX = 16 * STACK_CHUNK_BYTES /* of one copy */
};

/*
 * Chunks end where the page number is a multiple of STACK_CHUNK_PAGES, counted from the stack
 * pointer's page, so that a chunk holds at most as many pages. size bytes of stack follow; the
 * kernel pads them to 8 bytes.
 */
struct stack_chunk {
	__u32 raw_size; /* the kernel's: bytes from here on, padding included */
	__u32 magic;
	__u64 count; /* of the sampling event, as PERF_SAMPLE_READ has it */
	__u64 period;
	__u32 offset; /* of this part in the copy, which starts at the stack pointer */
	__u32 size;   /* of this part */
	__u32 total;  /* of the copy */
	__u32 absent; /* bit n: this part's page n was not in memory, its bytes say nothing; and
			 STACK_CHUNK_ENDS */
};

_Static_assert(sizeof(struct stack_chunk) == 40, "no holes, and the stack's bytes are aligned");

#endif
