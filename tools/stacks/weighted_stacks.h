/*
 * The stacks of a result, each with its samples, time and owner: all that an export needs to know,
 * and what reports sum up. Stacks with one leaf address, state and owner are one
 * (tools/samples/tally.h); others may still be of the same functions.
 */
#ifndef TOOLS_STACKS_WEIGHTED_STACKS_H
#define TOOLS_STACKS_WEIGHTED_STACKS_H

#include "tbrw/tbrw.h"
#include "tools/functions/functions.h"
#include "tools/stacks/call_path.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct filter;
struct tally;
struct tally_entry;
struct tally_sample;
struct tally_times;

/* Begins with the first members set; all of them must outlive it. */
struct weighted_stacks {
	struct profile_reader *reader;
	const struct functions *functions;
	const struct tally *tally;
	const struct filter *filter; /* the tally's too; its conditions on functions are met here */
	enum call_path_mode mode;
	bool with_call_path; /* false: only if the filter needs paths, to save time */
	/* The present stack. */
	const struct tally_entry *entry;
	struct call_path call_path;
	uint32_t leaf; /* of the path */
	size_t next;
	uint32_t *order; /* of the tally's entries; NULL before the first */
	/* The samples one by one. */
	struct weighted_stacks_thread *threads; /* NULL before */
};

/* Steps to the next stack, at first to the first; with call paths, those of one leaf node come one
 * behind the other. False: no more; the memory is freed. */
bool weighted_stacks_next(struct weighted_stacks *stacks);

/* Ends the steps before the last one, and the rests. */
void weighted_stacks_finish(struct weighted_stacks *stacks);

/* The present stack's samples. If kernel mode was not sampled, each interval of kernel time counts
 * as one sample: shares of counts stay shares of time. */
uint64_t weighted_stacks_samples(const struct weighted_stacks *stacks);

/* The present stack's times besides CPU time; all 0 of a tally without them. Never NULL. */
const struct tally_times *weighted_stacks_times(const struct weighted_stacks *stacks);

/* Of what the tally was not asked for, numbers are 0. */
struct stack_owner {
	const char *process; /* name; "[Unknown]" for none */
	const char *thread;
	uint32_t pid;
	uint32_t tid;
};

struct stack_owner weighted_stacks_owner(const struct weighted_stacks *stacks);
/* Of a thread of the reader. */
struct stack_owner weighted_stacks_owner_of_thread(const struct weighted_stacks *stacks,
						   uint32_t thread);
/* With the names of a process and a thread of the reader; PROFILE_NONE: not known. */
struct stack_owner weighted_stacks_name_owner(const struct weighted_stacks *stacks,
					      uint32_t process, uint32_t thread, uint32_t pid,
					      uint32_t tid);

/* CPU time of no known thread. 0 with a filter, which asks for a part: the time is in no part. */
uint64_t weighted_stacks_threadless_ns(const struct weighted_stacks *stacks);

/* All samples that meet the filter, as tally_each_sample (tools/samples/tally.h), of a tally with
 * TALLY_ONE_BY_ONE or by thread. Time in the kernel unseen comes with the sample that completes an
 * interval's worth of the thread, for each sample may have a sliver; what no sample completes is
 * left to the rests. weighted_stacks_finish goes with each call. Returns the reader's code. */
TBRW_U32 weighted_stacks_each_sample(struct weighted_stacks *stacks,
				     bool (*callback)(const struct tally_sample *, void *),
				     void *user);

/* CPU time of a thread that is in no sample. */
struct weighted_stacks_rest {
	uint64_t kernel_ns; /* in the kernel unseen */
	uint64_t unseen_ns; /* anywhere: TALLY_NO_SAMPLE */
};

/* The thread's rest so far, only once: with all rests after the last sample, sums are those of the
 * thread's row in reports. Within the callback above and after it. */
struct weighted_stacks_rest weighted_stacks_take_rest(struct weighted_stacks *stacks,
						      uint32_t thread);

#endif
