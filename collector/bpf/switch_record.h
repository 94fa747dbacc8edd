/*
 * Records of the BPF program about switches, read by the collector. Each CPU has a ring of them in
 * shared memory: the program writes at the head, the collector takes at the tail. Compiled for BPF
 * too.
 */
#ifndef COLLECTOR_BPF_SWITCH_RECORD_H
#define COLLECTOR_BPF_SWITCH_RECORD_H

#include <linux/bpf.h>

#define SWITCH_RECORD_RUNNABLE 1u /* the thread that left could have run on */
#define SWITCH_RECORD_STOPPED  2u /* it was stopped by a signal or a debugger */

/* A CPU's switch from a thread to another; id 0: not of ours. */
struct switch_record {
	__u64 time_ns; /* CLOCK_MONOTONIC */
	__u32 from_pid;
	__u32 from_tid;
	__u32 to_pid;
	__u32 to_tid;
	__u32 lost;  /* switch_ends.lost before this record, the lower 32 bits */
	__u32 flags; /* SWITCH_RECORD_... */
};

/* Both ends of a ring, counted in records. The two writers have a cache line each. */
struct switch_ends {
	__u64 head; /* the program's */
	__u64 lost; /* records for which there was no room; likewise */
	__u64 unused[6];
	__u64 tail; /* the collector's */
	__u64 unused_too[7];
};

_Static_assert(sizeof(struct switch_record) == 32 && sizeof(struct switch_ends) == 128,
	       "arrays of them have no holes");

#endif
