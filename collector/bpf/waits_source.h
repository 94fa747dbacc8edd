/*
 * Loads the BPF programs that record waits (waits.bpf.c), and connects them with the kernel's
 * tracepoints. While they run, each system call of the whole machine is slower by the kernel's work
 * for a tracepoint at its end.
 *
 * Waits come as RECORD_WAIT when the call ends in which a followed thread blocked; wakers' stacks
 * as RECORD_WAKE before. Needs CAP_BPF and CAP_PERFMON (or CAP_SYS_ADMIN), Linux 5.19, and a kernel
 * with BTF.
 */
#ifndef COLLECTOR_BPF_WAITS_SOURCE_H
#define COLLECTOR_BPF_WAITS_SOURCE_H

#include "collector/bpf/stack_source.h"
#include <stdbool.h>
#include <stdint.h>

struct waits_source;

struct waits_source_config {
	uint32_t cpus;         /* their numbers are below */
	uint64_t threshold_ns; /* shorter waits are not sent: blocked and ready until the call's end
				*/
	bool children;         /* follow the children of followed processes */
	bool all_wakers;       /* send all wakers' stacks, not a sample of them */
};

/* Loads the programs. 0, or -1 with errno: ENOSYS this build has no BPF, EPERM not permitted, or
 * the kernel's error. */
int waits_source_open(const struct waits_source_config *config, struct waits_source **source);
void waits_source_close(struct waits_source *source); /* accepts NULL */

/* As stack_source.h has them. Stacks of waits of a millisecond and more are kept, of shorter ones,
 * and of wakers, the share. Wakers' stacks are left out while a quarter of the ring is full, all
 * while half of it is: so waits seldom find no room. */
void waits_source_limit(struct waits_source *source, const struct stack_source_limit *limit);
void waits_source_share(struct waits_source *source, uint32_t share);
int waits_source_output(struct waits_source *source, uint32_t cpu, int event_fd);
uint64_t waits_source_refused(const struct waits_source *source, uint32_t cpu);

/* Follows a thread; on_exec: from its next exec on; else a wait that goes on begins with the call.
 * 0, or -1 with errno: E2BIG too many. */
int waits_source_add(struct waits_source *source, uint32_t pid, uint32_t tid, bool on_exec);

/* Records waits from now on, until the stop. 0, or -1 with errno. */
int waits_source_start(struct waits_source *source);
void waits_source_stop(struct waits_source *source);

/* A thread that waits when the recording stops. Times are ns of CLOCK_MONOTONIC. */
struct waits_source_waiting {
	uint32_t pid;
	uint32_t tid;
	uint64_t begin_ns;   /* blocked for the first time; 0: it never blocked since it is
				followed, and the rest says nothing */
	uint64_t block_ns;   /* its present block; 0: it is in none, but in the call */
	uint64_t blocked_ns; /* of the same call before, as in struct wait_head */
	uint64_t ready_ns;
	uint64_t stopped_ns;
	uint32_t blocks;
	int32_t syscall;     /* -1: it waits in a page fault */
	uint64_t args[6];    /* in a page fault args[0]: address of the code */
	bool is_interrupted; /* by a signal, at least once */
	bool is_32bit;       /* a call of 32-bit code */
};

/* After the stop: the thread with the next id in no order, *tid 0 at first. It may not wait any
 * more: that is for the caller to find out. false: there are no more. */
bool waits_source_next_waiting(const struct waits_source *source, uint32_t *tid,
			       struct waits_source_waiting *waiting);

/* Losses so far. */
struct waits_source_missing {
	uint64_t waits;   /* for which a ring had no room */
	uint64_t threads; /* not followed: too many at once */
};
void waits_source_missing(const struct waits_source *source, struct waits_source_missing *missing);

#endif
