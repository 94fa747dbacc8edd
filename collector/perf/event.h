/*
 * The sampling event: PERF_COUNT_SW_TASK_CLOCK of one thread on one CPU, inherited by its new
 * threads and processes. With samples by the CPUs' clocks (PROFILE_SAMPLING_CPUS) the event only
 * counts, and reports mappings, execs and new tasks. Source: perf_event_open(2) and
 * linux/perf_event.h.
 *
 * Inherited events can be mapped only per CPU (kernel/events/core.c, perf_mmap): a thread has one
 * event on each CPU, and all events of a CPU share the CPU's ring.
 */
#ifndef COLLECTOR_PERF_EVENT_H
#define COLLECTOR_PERF_EVENT_H

#include "collector/events/event_choice.h"
#include "collector/message/failure.h"
#include "collector/perf/record.h"
#include "collector/perf/sampling.h"
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct event_config {
	struct sampling sampling;
	uint32_t stack_size;       /* bytes; 0: no stacks and no registers */
	uint32_t deep_size;        /* bytes of a deep event's copies */
	uint64_t deep_interval_ns; /* CPU time between them */
	uint32_t wakeup_bytes;     /* of ring data that wake a poll */
	bool raw;                  /* samples have a raw field, for parts of stack copies */
	bool inherit;              /* follow new threads; children too unless same_process */
	bool same_process;         /* threads only (PERF_ATTR inherit_thread, kernel 5.13) */
	bool switches;             /* records of the threads' switches */
	bool no_samples;           /* events only count; sampling.kind is FIXED */
	bool kernel;               /* samples have the kernel's callchain; needs has_kernel */
	/* Others with samples of their own, which are told apart by ids (record_format.ids). */
	struct event_choice added[PROFILE_EVENTS_MAX];
	uint32_t added_count;
	struct event_ids *ids; /* of theirs; borrowed */
	bool on_exec;          /* counts from the next exec on, else from the opening on */
	/*
	 * Ask for a count at the end of each thread. Only sound with one CPU: the kernel writes the
	 * record to the rings of all CPUs from the CPU of the thread's end, but a ring's
	 * bookkeeping allows one writer (kernel/events/ring_buffer.c, perf_output_get_handle):
	 * rings stop for good, within seconds where many threads end.
	 */
	bool final_counts;
	/* Features and permissions of the running kernel; event_probe fills them in. */
	/*
	 * Samples hit kernel mode too, with the registers and the stack of user code at its entry
	 * into the kernel. perf_event_paranoid 1, or CAP_PERFMON.
	 */
	bool has_kernel;
	bool has_count;    /* counts in samples of inherited events, kernel 6.12 */
	bool has_lost;     /* PERF_FORMAT_LOST, kernel 6.0 */
	bool has_build_id; /* build-ids in MMAP2, kernel 5.12 */
};

/* Tries the attributes on this process and turns off features the kernel refuses. Failure: not
 * permitted at all, no perf_event, or an added event is refused. */
int event_probe(struct event_config *config, struct failure *failure);

/* How time in the kernel is recorded. */
enum profile_kernel_time event_kernel_time(const struct event_config *config);

/* The format of the records in the event's ring. */
struct record_format event_format(const struct event_config *config);

/* Opens the event of tid on cpu. Returns the fd (close-on-exec), or -1 with errno. */
int event_open(const struct event_config *config, pid_t tid, int cpu);

/* Opens the clock of cpu, not ticking yet, each tick_ns: it samples whatever runs there but the
 * idle task, in the sampling events' format. Needs CAP_PERFMON. Returns as event_open does. */
int event_open_clock(const struct event_config *config, int cpu, uint64_t tick_ns);

/* Another distance of fd's samples from now on. 0, or -1 with errno. */
int event_set_period(int fd, uint64_t period_ns);

/* Opens the thread's deep event on cpu: its samples have larger copies, and are told apart by their
 * period. They are in the sampling events' format. Returns as event_open does. */
int event_open_deep(const struct event_config *config, pid_t tid, int cpu);

/* Opens the thread's event `index` of config->added on cpu, in the sampling events' format. Returns
 * as event_open does. */
int event_open_added(const struct event_config *config, uint32_t index, pid_t tid, int cpu);

/* The period of an added event whose samples do not tell it; 0: they do. */
uint64_t event_hides_period(const struct event_config *config, uint32_t index);

/* The id that samples of fd, and of events that inherit it, have. 0, or -1 with errno. */
int event_read_id(int fd, uint64_t *id);

/* Opens an idle event of our own on cpu: a ring mapped on it outlives every target. */
int event_open_idle(const struct event_config *config, int cpu);

/* Opens the event that carries a BPF program's records on cpu, in the sampling events' format;
 * needs raw and CAP_PERFMON. Returns as event_open does. */
int event_open_output(const struct event_config *config, int cpu);

/* Runs a BPF program at each sample of fd and of events that inherit fd from now on; a return of 0
 * drops the sample. 0, or -1 with errno. */
int event_attach_program(int fd, int program_fd);

/* Sends fd's records to the ring mapped on ring_fd. 0, or -1 with errno. */
int event_redirect(int fd, int ring_fd);

int event_enable(int fd);
int event_disable(int fd);

struct event_reading {
	uint64_t count_ns; /* CPU time of the thread and of its descendants, ended or not */
	uint64_t lost;     /* records lost; 0 without has_lost */
};
int event_read(const struct event_config *config, int fd, struct event_reading *reading);

/* Describes in failure why opening for pid (0: a program of our own) failed with error: names the
 * limit and the remedy. Always returns -1. */
int event_explain(struct failure *failure, int error, pid_t pid);

/* The same of an added event. */
int event_explain_added(struct failure *failure, int error, const struct event_choice *choice);

#endif
