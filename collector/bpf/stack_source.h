/*
 * Loads the BPF programs and connects them with events. The programs copy exactly the used part of
 * a sampled thread's stack (stack.bpf.c) and know the followed threads (follow.bpf.h). They live as
 * long as the source and the events they are attached to.
 *
 * Needs CAP_BPF and CAP_PERFMON (or CAP_SYS_ADMIN), Linux 5.17, and a kernel with BTF.
 */
#ifndef COLLECTOR_BPF_STACK_SOURCE_H
#define COLLECTOR_BPF_STACK_SOURCE_H

#include <stdbool.h>
#include <stdint.h>

struct stack_source;

/* Loads the programs, for CPUs with numbers below cpus. 0, or -1 with errno: ENOSYS this build has
 * no BPF, EPERM not permitted, or the kernel's error. */
int stack_source_open(uint32_t cpus, struct stack_source **source);
void stack_source_close(struct stack_source *source); /* accepts NULL */

/*
 * Stacks of up to always_bytes are always copied whole; larger ones of samples while the CPU's ring
 * is at most half full, and their bytes fit in its gathered budget: refill_bytes each 1024 ns, up
 * to gather_bytes. Otherwise always_bytes of them are copied.
 */
struct stack_source_limit {
	uint64_t always_bytes;
	uint64_t refill_bytes;
	uint64_t gather_bytes;
};
void stack_source_limit(struct stack_source *source, const struct stack_source_limit *limit);

/* The share of stacks to copy from now on, drawn for each sample: UINT32_MAX is all. The other
 * samples have no stack. */
void stack_source_share(struct stack_source *source, uint32_t share);

/* From now on samples are drawn from ticks, interval_ns apart in the mean; the other ticks of
 * threads' own events come as RECORD_TICK. Before this call each tick is a sample. */
void stack_source_draw(struct stack_source *source, uint64_t interval_ns);

/* Sends the copies made on cpu to event_fd; the source keeps it. 0, or -1 with errno. */
int stack_source_output(struct stack_source *source, uint32_t cpu, int event_fd);

/* For attaching to events; borrowed. */
int stack_source_program(const struct stack_source *source);

/* Chunks and accounts of cpu so far for which its ring had no room. The ring counts each among its
 * lost records, although the sample came in another way or in part. */
uint64_t stack_source_refused(const struct stack_source *source, uint32_t cpu);

/*
 * Samples by the CPUs' clocks: drawn from the ticks (stack_source_draw) on threads of followed
 * processes, as long as the threads have events of ours, opened or inherited. copies: samples come
 * with stacks sent as above; else they are the kernel's own. children: follow the children of
 * followed processes.
 *
 * Each followed thread's CPU time is sent as RECORD_ACCOUNT, 10 to 100 ms after the thread's end.
 * 0, or -1 with errno.
 */
struct stack_source_follow {
	bool copies;
	bool children;
};
int stack_source_follow(struct stack_source *source, const struct stack_source_follow *follow);

/* Follows a process. waits: from its next exec on. 0, or -1 with errno. */
int stack_source_add(struct stack_source *source, uint32_t pid, bool waits);

/* Samples nothing of the process until the next call, with another pid or 0: its threads may have
 * (or have had) perf events that are not ours. */
void stack_source_hold(struct stack_source *source, uint32_t pid);

/* For attaching to events of the CPUs' clocks; borrowed. */
int stack_source_tick_program(const struct stack_source *source);

/* Losses so far. */
struct stack_source_missing {
	uint64_t processes; /* not followed: too many at once */
	uint64_t accounts;  /* of threads, for which a ring had no room */
	uint64_t cpu_ns;    /* in these */
};
void stack_source_missing(const struct stack_source *source, struct stack_source_missing *missing);

#endif
