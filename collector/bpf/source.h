/*
 * The BPF program that copies exactly the used part of a sampled thread's stack (stack.bpf.c): its
 * loading, and what connects it with the events. Its objects live as long as the source and the
 * events that the program is attached to.
 *
 * Needs CAP_BPF and CAP_PERFMON (or CAP_SYS_ADMIN), Linux 5.17, and a kernel with BTF.
 */
#ifndef COLLECTOR_BPF_SOURCE_H
#define COLLECTOR_BPF_SOURCE_H

#include <stdint.h>

struct stack_source;

/* Loads the program, for CPUs with numbers below cpus. Returns 0, or a negative errno: -ENOSYS this
 * build has no BPF, -EPERM not permitted, or what the kernel says. */
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

/* Ticks are drawn from here on, so that samples are interval_ns apart in the mean; the others come
 * as RECORD_TICK. Before, each is a sample. */
void stack_source_draw(struct stack_source *source, uint64_t interval_ns);

/* Sends the copies made on cpu to event_fd, which the source keeps. 0 or a negative errno. */
int stack_source_output(struct stack_source *source, uint32_t cpu, int event_fd);

/* For attaching to events; borrowed. */
int stack_source_program(const struct stack_source *source);

/* Chunks of cpu so far that its ring had no room for. Each is among the lost records that the ring
 * counts, although its sample came in another way or in part. */
uint64_t stack_source_refused(const struct stack_source *source, uint32_t cpu);

#endif
