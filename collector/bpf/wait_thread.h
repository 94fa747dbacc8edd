/* What the BPF programs know of a followed thread's waits; the collector adds threads, and reads
 * what is left at the end. Times are ns of CLOCK_MONOTONIC. Compiled for BPF too. */
#ifndef COLLECTOR_BPF_WAIT_THREAD_H
#define COLLECTOR_BPF_WAIT_THREAD_H

#include <linux/bpf.h>

/* Added up over the times that the thread blocked; struct wait_head says more. */
struct wait {
	__u64 begin_ns;
	__u64 blocked_ns;
	__u64 ready_ns;
	__u64 stopped_ns;
	__u64 wake_ns;
	__u32 waker_pid;
	__u32 waker_tid;
	__s32 syscall;
	__u32 flags;  /* WAIT_HEAD_... */
	__u32 blocks; /* 0: there is no wait, and only syscall and args of one that begins are valid
		       */
	__u32 reserved;
	__u64 args[6];
};

enum thread_state { THREAD_RUNS = 0, THREAD_IN_CALL = 1, THREAD_IN_FAULT = 2, THREAD_STOPPED = 3 };

/* The mapping around a thread's stack, as last seen. */
struct range {
	__u64 low;
	__u64 high;
	__u64 start; /* mm_struct.start_stack of the program at that time */
	__u64 whole; /* the mapping holds this stack alone */
};

struct thread_waits {
	__u32 pid;
	__u32 tid;
	__u32 follows; /* 0: from its exec on */
	__u32 state; /* enum thread_state; but for THREAD_RUNS it is off the CPUs, or about to be */
	__u64 added_ns;  /* by the collector, while it lived; 0: it was not */
	__u64 out_ns;    /* since then; 0: never seen */
	__u64 wake_ns;   /* the last wake-up */
	__u32 waker_pid; /* its thread; 0: none */
	__u32 waker_tid;
	struct wait call;    /* in the call at hand */
	struct wait pending; /* in a call that a signal interrupted, and that may go on */
	struct wait fault;   /* in a page fault */
	struct range range;
};

#endif
