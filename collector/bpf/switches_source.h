/*
 * Loads the BPF program that records switches, and gives access to its rings: one for each CPU, in
 * memory shared with the program, which never waits for us. A full ring drops records and counts
 * them.
 *
 * Needs CAP_BPF and CAP_PERFMON (or CAP_SYS_ADMIN), Linux 5.19, and a kernel with BTF. Calls about
 * different CPUs may come from different threads.
 */
#ifndef COLLECTOR_BPF_SWITCHES_SOURCE_H
#define COLLECTOR_BPF_SWITCHES_SOURCE_H

#include "collector/bpf/switch_record.h"
#include <stdint.h>

struct switches_source;

/* Loads the program, for CPUs with numbers below cpus. 0, or -1 with errno: ENOSYS this build has
 * no BPF, EPERM not permitted, or the kernel's error. */
int switches_source_open(uint32_t cpus, struct switches_source **source);
void switches_source_close(struct switches_source *source); /* accepts NULL */

/* Switches are recorded from here on, of threads with perf events. 0, or -1 with errno. */
int switches_source_start(struct switches_source *source);

/* None from here on. */
void switches_source_stop(struct switches_source *source);

/* The ring's records lie between positions tail and head; capacity is a power of two. */
uint64_t switches_source_head(const struct switches_source *source, uint32_t cpu);
uint64_t switches_source_tail(const struct switches_source *source, uint32_t cpu);
uint32_t switches_source_capacity(const struct switches_source *source);

/* The record at a position, which the program does not write over until it is released. */
const struct switch_record *switches_source_at(const struct switches_source *source, uint32_t cpu,
					       uint64_t position);

/* Gives the records before a position back. */
void switches_source_release(struct switches_source *source, uint32_t cpu, uint64_t position);

/* Records dropped so far. */
uint64_t switches_source_lost(const struct switches_source *source, uint32_t cpu);

#endif
