/*
 * Records of the BPF programs about waits, read by the collector.
 *
 * Sent like a part of a stack (stack_chunk.h): the raw field is this head, a stack_chunk without
 * the meaning of its raw_size, count and period, and the part of the stack. All parts of a record
 * have the same head but for age_ns. A chunk of STACK_CHUNK_LEFT_OUT has no stack. Times are ns of
 * CLOCK_MONOTONIC; a record's own time is the sending's, by the event's clock. Compiled for BPF
 * too.
 */
#ifndef COLLECTOR_BPF_WAIT_HEAD_H
#define COLLECTOR_BPF_WAIT_HEAD_H

#include <linux/bpf.h>

enum wait_head_kind {
	WAIT_HEAD_WAIT = 0,  /* a wait in a system call; registers and stack are the thread's */
	WAIT_HEAD_FAULT = 1, /* in a page fault; args[0]: address of the code; no stack */
	WAIT_HEAD_WAKE = 2   /* who ends a wait that goes on: registers and stack are the waker's.
				Of the waiting thread: pid, tid, wake_ns */
};

#define WAIT_HEAD_INTERRUPTED 1u  /* by a signal, at least once */
#define WAIT_HEAD_STOPPED     2u  /* stopped meanwhile (stopped_ns) */
#define WAIT_HEAD_UNENDED     4u  /* the thread ends in its wait, or the collection does */
#define WAIT_HEAD_COMPAT      8u  /* a system call of 32-bit code: number and arguments are its */
#define WAIT_HEAD_AWAY        16u /* registers are not those of the wait; there is no stack */
#define WAIT_HEAD_BUDGET      32u /* the stack was left out by the share, or the ring was crowded */
#define WAIT_HEAD_BEFORE      64u /* it went on when the thread was added: age_ns is from then */

struct wait_head {
	__u32 raw_size; /* the kernel's */
	__u32 magic;
	__u32 kind;  /* enum wait_head_kind */
	__u32 flags; /* WAIT_HEAD_... */
	__u32 pid;   /* of the waiting thread */
	__u32 tid;
	__u64 age_ns;     /* from the first blocking to this record */
	__u64 woken_ns;   /* from the last wake to this record; valid with wake_ns */
	__u64 blocked_ns; /* until woken; where no wake was seen, until it ran */
	__u64 ready_ns;   /* woken, and not yet on a CPU */
	__u64 stopped_ns;
	__u64 wake_ns;   /* time of the last wake, the same in its WAIT_HEAD_WAKE; 0: none seen */
	__u32 waker_pid; /* of the last wake; 0: no thread */
	__u32 waker_tid;
	__s32 syscall; /* -1: none */
	__u32 blocks;  /* times it blocked */
	__s64 result;  /* of the call, as the kernel returns it: -errno; UNENDED: 0 */
	__u64 args[6]; /* of the call */
	/* Of the file of descriptor args[0] at the end of the call, if there is one; else 0. */
	__u64 file_inode;
	__u32 file_mode; /* st_mode of stat(2) */
	__u32 reserved;
};

_Static_assert(sizeof(struct wait_head) == 160, "no holes, and the chunk behind it is aligned");

enum {
	WAIT_HEAD_MAGIC = 0x6b636177,
	WAIT_THREADS = 16384 /* followed at once, at most */
};

#endif
