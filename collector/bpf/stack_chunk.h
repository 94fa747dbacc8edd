/*
 * Records of the BPF programs, read by the collector.
 *
 * The programs send each record as the raw field (PERF_SAMPLE_RAW) of a sample without a stack
 * field, otherwise like the sampling event's own; the record codec reads it. The record is one part
 * of a copy of a user stack, a wait with its stack (wait_head.h), or a thread's account, in a
 * sample of no thread. A sample by the kernel itself has an empty raw field of four bytes. Compiled
 * for BPF too.
 */
#ifndef COLLECTOR_BPF_STACK_CHUNK_H
#define COLLECTOR_BPF_STACK_CHUNK_H

#include "collector/bpf/wait_head.h"
#include <linux/bpf.h>

/* In stack_chunk.absent, the same in all parts of a copy: the copy reaches the end of the stack, of
 * two the outer one's. */
#define STACK_CHUNK_ENDS 0x8000u

/* Likewise: the stack was left out, not a byte of it was copied. */
#define STACK_CHUNK_LEFT_OUT 0x4000u

/* Beside STACK_CHUNK_LEFT_OUT: a tick that was not drawn, not a sample. */
#define STACK_CHUNK_TICK 0x2000u

enum {
	STACK_CHUNK_MAGIC = 0x6b636174, /* tells our records from those of another program */
	STACK_CHUNK_PAGE = 4096,
	STACK_CHUNK_PAGES = 8,
	STACK_CHUNK_BYTES = STACK_CHUNK_PAGE * STACK_CHUNK_PAGES,
	STACK_CHUNK_TOTAL_MAX = 16 * STACK_CHUNK_BYTES, /* of one copy */
	STACK_CHUNK_RED_ZONE = 128 /* psABI of x86-64, section 3.2.2: code may use as much below its
				      stack pointer */
};

/*
 * Chunks end where the page number is a multiple of STACK_CHUNK_PAGES, counted from the copy's
 * first page: a chunk holds at most STACK_CHUNK_PAGES pages. size bytes of stack follow; the kernel
 * pads them to 8 bytes.
 */
struct stack_chunk {
	__u32 raw_size; /* the kernel's: bytes from here on, padding included */
	__u32 magic;
	__u64 count; /* of the sampling event, as PERF_SAMPLE_READ has it */
	__u64 period;
	__u32 offset; /* of this part in the copy */
	__u32 size;   /* of this part */
	__u32 total;  /* of the copy, its outer stack included */
	__u16 absent; /* bit n: this part's page n was not in memory, its bytes are undefined; and
			 STACK_CHUNK_ENDS, or STACK_CHUNK_LEFT_OUT and STACK_CHUNK_TICK */
	__u16 below;  /* bytes between the copy's start and the stack pointer above, the same in all
			 parts: the copied part of STACK_CHUNK_RED_ZONE */
	/* The same in all parts, none of which has bytes of both stacks. */
	__u64 outer_base;   /* address of the copy of a second stack, which a signal interrupted to
			       go on the first; 0: there is one stack */
	__u32 outer_offset; /* where it begins in the copy, behind all of the first stack */
	__u32 reserved;
};

_Static_assert(sizeof(struct stack_chunk) == 56, "no holes, and the stack's bytes are aligned");

enum thread_account_kind {
	THREAD_ACCOUNT_WHOLE = 0,   /* of the whole life of an ended thread */
	THREAD_ACCOUNT_RENAMED = 1, /* so far: an exec gave the thread its process's id */
	THREAD_ACCOUNT_ENDING = 2 /* a sample of an ending thread, after the kernel freed its ids */
};

/* A thread's CPU time. */
struct thread_account {
	__u32 raw_size; /* as above */
	__u32 magic;    /* THREAD_ACCOUNT_MAGIC */
	__u32 pid;
	__u32 tid;
	__u32 kind; /* enum thread_account_kind */
	__u32 reserved;
	__u64 cpu_ns; /* THREAD_ACCOUNT_ENDING: 0 */
};

_Static_assert(sizeof(struct thread_account) == 32, "no holes");

enum { THREAD_ACCOUNT_MAGIC = 0x6b636175 };

/* State of a process whose threads are followed. Another process may get the id before the kernel
 * frees the first thread. */
struct follow_entry {
	__u64 start_time; /* task_struct.start_time of its first thread; 0: not known */
	__u32 state;      /* enum follow_state */
	__u32 reserved;
};

enum follow_state {
	FOLLOW_WAITS = 1, /* for its exec */
	FOLLOW_FOLLOWS = 2,
	FOLLOW_ENDED = 3,
	FOLLOW_LOST = 4 /* an exec took the events; start_time is the exec's */
};

enum {
	FOLLOW_PROCESSES = 16384,
	FOLLOW_ENDED_KEPT = 4096 /* of these at most */
};

#endif
