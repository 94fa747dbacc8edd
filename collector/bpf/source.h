/*
 * The BPF programs that copy exactly the used part of a sampled thread's stack (stack.bpf.c), and
 * tell which threads are followed (follow.bpf.h): their loading, and what connects them with the
 * events. They live as long as the source and the events that they are attached to.
 *
 * Needs CAP_BPF and CAP_PERFMON (or CAP_SYS_ADMIN), Linux 5.17, and a kernel with BTF.
 */
#ifndef COLLECTOR_BPF_SOURCE_H
#define COLLECTOR_BPF_SOURCE_H

#include <stdbool.h>
#include <stdint.h>

struct stack_source;

/* Loads the program, for CPUs with numbers below cpus. 0, or -1 with errno: ENOSYS this build has
 * no BPF, EPERM not permitted, or what the kernel says. */
int stack_source_open(uint32_t cpus, struct stack_source **source);
void stack_source_close(struct stack_source *source); /* accepts NULL */

/*
 * Stacks of up to always_bytes are always copied whole; larger ones while their bytes fit in what
 * the CPU has gathered: refill_bytes each 1024 ns, up to gather_bytes. Otherwise always_bytes of
 * them are copied.
 */
void stack_source_limit(struct stack_source *source, uint64_t always_bytes, uint64_t refill_bytes,
			uint64_t gather_bytes);

/* How many stacks are copied from now on, drawn for each sample: UINT32_MAX is all. The other
 * samples come without. */
void stack_source_share(struct stack_source *source, uint32_t share);

/* Ticks are drawn from here on, so that samples are interval_ns apart in the mean; of threads' own
 * ticks the others come as RECORD_TICK. Before, each is a sample. */
void stack_source_draw(struct stack_source *source, uint64_t interval_ns);

/* Sends the copies made on cpu to event_fd, which the source keeps. 0, or -1 with errno. */
int stack_source_output(struct stack_source *source, uint32_t cpu, int event_fd);

/* For attaching to events; borrowed. */
int stack_source_program(const struct stack_source *source);

/* Chunks and accounts of cpu so far that its ring had no room for. Each is among the lost records
 * that the ring counts, although its sample came in another way or in part. */
uint64_t stack_source_refused(const struct stack_source *source, uint32_t cpu);

/*
 * Samples by the CPUs' clocks: drawn from the ticks (stack_source_draw) that hit threads of
 * followed processes, as long as they have events of ours, be they inherited. copies: with stacks
 * that are sent as above; else samples are the kernel's own. children: processes that a followed
 * one makes are followed.
 *
 * The CPU time of each followed thread that ends is sent, as RECORD_ACCOUNT, 10 to 100 ms after its
 * end. 0, or -1 with errno.
 */
struct stack_source_follow {
	bool copies;
	bool children;
};
int stack_source_follow(struct stack_source *source, const struct stack_source_follow *follow);

/* Follows a process. waits: from its next exec on. 0, or -1 with errno. */
int stack_source_add(struct stack_source *source, uint32_t pid, bool waits);

/* Nothing is sampled of the process until the next call, with another or 0: its threads may have
 * perf events (or had some) that are not ours. */
void stack_source_hold(struct stack_source *source, uint32_t pid);

/* For attaching to events of the CPUs' clocks; borrowed. */
int stack_source_tick_program(const struct stack_source *source);

/* What is missing, so far. */
struct stack_source_missing {
	uint64_t processes; /* that were not followed: too many at once */
	uint64_t accounts;  /* of threads, that a ring had no room for */
	uint64_t cpu_ns;    /* in these */
};
void stack_source_missing(const struct stack_source *source, struct stack_source_missing *missing);

#endif
