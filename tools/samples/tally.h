/*
 * The samples of a result, added up: one entry per distinct stack, and per process or thread if
 * asked for. Everything in a report is a sum over these entries and over the threads' CPU time in
 * no sample. A sample counts with its calibrated time (tools/samples/calibration.h), so these sums
 * equal the sums of the threads' accounts.
 */
#ifndef TOOLS_SAMPLES_TALLY_H
#define TOOLS_SAMPLES_TALLY_H

#include "profile/base/gap.h"
#include "profile/read/reader.h"
#include "tools/samples/draws.h"
#include "tools/samples/task_filter.h"
#include <stdbool.h>
#include <stdint.h>

struct filter;

#define TALLY_BY_PROCESS 1u
#define TALLY_BY_THREAD  2u /* and by process */
#define TALLY_BY_REASON  4u /* why a stack is skipped */
/* And by how many threads of all ran at the sample's moment, if the result has states. */
#define TALLY_BY_RUNNING 32u
/* Sums by function are those of a tally by function alone, where short threads share their time;
 * sums of short threads are not their accounts. */
#define TALLY_POOLED 8u
/* By thread, but without entries and what is counted with them: the samples are needed one by one
 * only (tally_each_sample), which saves a pass over them. */
#define TALLY_ONE_BY_ONE 16u

/* Of guessed stacks with known grounds of their guess. */
struct tally_guesses {
	uint64_t stacks;   /* of level PROFILE_GUESS_AGREED */
	uint64_t verified; /* frames up to the splits */
	uint64_t hits;     /* agreeing whole stacks, as far as counted */
	uint64_t least_hits;
	uint64_t late; /* stacks of level PROFILE_GUESS_LATE; in none of the above */
};

/* In place of a node: time in the kernel without a stack. */
#define TALLY_KERNEL PROFILE_NONE
/* Likewise: time off the CPU without a stack; struct tally_entry.label stands for it. */
#define TALLY_STATE (PROFILE_NONE - 1)

#define TALLY_RUNNING_UNKNOWN UINT16_MAX

struct tally_entry {
	uint32_t process; /* index, PROFILE_NONE: not known, or not asked for */
	uint32_t thread;  /* likewise */
	uint32_t pid;     /* 0 where not asked for */
	uint32_t tid;
	uint32_t node;  /* or TALLY_KERNEL, TALLY_STATE */
	uint8_t state;  /* enum profile_stack_state */
	uint8_t reason; /* enum profile_skip_reason; 0 if not asked for */
	/* Number of running threads; TALLY_RUNNING_UNKNOWN: not known, or not asked for. */
	uint16_t running;
	/* Of TALLY_KERNEL: samples and draws are hits of the kernel only, 0 if none can be. */
	struct draws_part sum;
	struct tally_guesses guesses;
	/* A function (functions_add_label) below the leaf: what the thread waited for; 0: none.
	 * Only from wall_tally (tools/waits/wall.h). */
	uint32_t label;
};

/* Of an entry, besides its CPU time. */
struct tally_times {
	uint64_t wall_ns; /* time of threads, on a CPU or off it */
	uint64_t wait_ns; /* what of it they waited */
	uint64_t waits;   /* how often */
};

struct calibration;

struct tally {
	struct tally_entry *entries;
	size_t count;
	struct tally_times *times; /* by entry; NULL: only wall_tally adds them */
	uint64_t cpu_ns;           /* of the entries */
	uint64_t kernel_ns;        /* of cpu_ns, the part of TALLY_KERNEL */
	struct draws draws;        /* of the entries */
	uint64_t samples;
	uint64_t states[PROFILE_STACK_NONE + 1];     /* samples by enum profile_stack_state */
	uint64_t skipped[PROFILE_SKIP_REASON_COUNT]; /* skipped stacks by reason */
	uint64_t late;         /* guessed stacks of level PROFILE_GUESS_LATE */
	uint64_t collapsed;    /* samples whose stack lost frames to recursion collapsing */
	uint64_t rest_ns;      /* CPU time of the filter's threads in no sample; 0 for a filter on
				  functions */
	uint64_t estimated_ns; /* of the accounts of the filter's threads; likewise */
	uint64_t *thread_rest_ns; /* rest_ns by thread; exact in sums over the rows asked for */
	/* By thread: time in the kernel besides the samples', in entries of TALLY_KERNEL too. */
	uint64_t *thread_kernel_ns;
	struct calibration *calibration;
	struct task_filter tasks; /* the filter's conditions on tasks */
};

/* Returns the reader's code. Conditions on functions are left to the call paths
 * (tools/stacks/call_path.h). */
TBRW_U32 tally_collect(struct profile_reader *reader, const struct filter *filter, unsigned by,
		       struct tally *tally);
void tally_finish(struct tally *tally);

void tally_add_guesses(struct tally_guesses *sum, const struct tally_guesses *more);

/* CPU time of no known thread, of a whole run: a filter asks for a part, and such time is in none.
 */
uint64_t tally_threadless_ns(const struct profile_reader *reader, const struct filter *filter);

/* Whether the filter's conditions on process and thread hold for a thread of the reader. */
bool tally_takes_thread(const struct profile_reader *reader, const struct filter *filter,
			uint32_t thread);

/* A sample by itself. */
struct tally_sample {
	const struct profile_sample_info *info;
	uint64_t raw_ns;         /* CLOCK_MONOTONIC_RAW, as profile_reader_raw_ns has it */
	uint64_t since_start_ns; /* of the collection; 0 without a clock */
	/* CPU time that the sample stands for: calibrated, sums are those of the thread's row in
	 * reports. Of its stack; with PROFILE_KERNEL_ALL, of the kernel. */
	uint64_t cpu_ns;
	uint64_t kernel_ns; /* besides, in the kernel unseen */
	/* Its stack does not meet the filter's conditions on functions, [kernel] does: cpu_ns is 0.
	 * Only from weighted_stacks_each_sample. */
	bool is_kernel_only;
};
/* Returns false to stop early. */
typedef bool tally_sample_callback(const struct tally_sample *sample, void *user);

/* The samples that meet the filter's conditions on time, task, process and thread, in the order of
 * the file: of each thread by time. The tally is by thread, of the same reader and filter. Not from
 * within the callback. Returns the reader's code. */
TBRW_U32 tally_each_sample(const struct tally *tally, struct profile_reader *reader,
			   const struct filter *filter, tally_sample_callback *callback,
			   void *user);

/* Names for CPU time in no sample, and of no known thread. */
#define TALLY_NO_SAMPLE PROFILE_GAP_NO_SAMPLE_NAME
#define TALLY_NO_THREAD PROFILE_GAP_NO_THREAD_NAME

/* Names for reports; "" if unknown. */
const char *tally_process_name(const struct profile_reader *reader, uint32_t process);
const char *tally_thread_name(const struct profile_reader *reader, uint32_t thread);
/* The command line of each process. The texts are the reader's, the array is for the caller to
 * free. */
const char **tally_command_lines(const struct profile_reader *reader);

#endif
