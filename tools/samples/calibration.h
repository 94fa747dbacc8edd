/*
 * The time that samples stand for. A sample of a fixed period stands for its weight. Samples at
 * random times (enum profile_sampling) give the proportions in which code shares the time of
 * threads; the threads' accounts give the amount.
 *
 * Threads share in pools: the user time of all threads of a pool is spread over all samples of the
 * pool, in proportion to their weights. A short thread's number of samples is chance, and may be 0:
 * with its account spread over these alone, the share of its code would be chance too. Over a pool
 * the chances even out. Threads shown in a report are pools of their own, so each row is the sum of
 * its accounts; so are threads with a long account, whose own samples tell enough.
 */
#ifndef TOOLS_SAMPLES_CALIBRATION_H
#define TOOLS_SAMPLES_CALIBRATION_H

#include "profile/read/reader.h"
#include <stdint.h>

/* The common properties of a pool's threads. */
enum calibration_pools {
	CALIBRATION_BY_PROGRAM, /* names of the process and of the thread */
	CALIBRATION_BY_PROCESS, /* the process, and the thread's name */
	CALIBRATION_BY_THREAD,  /* a thread is a pool */
};

/* A thread with an account of so many intervals or more is a pool. The choice goes by accounts: a
 * choice by the samples drawn would no longer leave these to chance. */
#define CALIBRATION_OWN_INTERVALS 16u

struct calibration { /* all zero: samples stand for their weights */
	struct calibration_thread *threads;
	struct calibration_pool *pools;
	uint32_t thread_count;
	uint32_t pool_count;
};

/* Reads the samples if drawn at random times. Returns the reader's code. */
TBRW_U32 calibration_init(struct calibration *calibration, struct profile_reader *reader,
			  enum calibration_pools by);
void calibration_finish(struct calibration *calibration);

struct calibration_parts {
	uint64_t drawn_ns;  /* of the sample's stack; with PROFILE_KERNEL_ALL, of the kernel */
	uint64_t kernel_ns; /* besides, in the kernel unseen: measured */
};

/* For each sample once; again after calibration_rewind. Sums over all samples of a thread or pool
 * are exact. */
struct calibration_parts calibration_take(struct calibration *calibration,
					  const struct profile_sample_info *sample);

void calibration_rewind(struct calibration *calibration);

/* CPU time of a thread in no sample's share. */
struct calibration_rest {
	uint64_t user_ns;   /* of a fixed period: all time in no sample */
	uint64_t kernel_ns; /* of samples at random times: in the kernel, unseen */
};

struct calibration_rest calibration_rest(const struct calibration *calibration,
					 const struct profile_reader *reader, uint32_t thread);

#endif
