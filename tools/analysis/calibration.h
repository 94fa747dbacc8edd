/*
 * What samples stand for. Those of a fixed period weigh what they stand for. Those at random times
 * (enum profile_sampling) say in what proportion code shares the time of threads, whose accounts
 * say how much there was of it.
 *
 * Threads share in pools: the user time of all threads of a pool is spread over all samples of the
 * pool, in proportion to their weights. The number of samples of a short thread is a matter of
 * chance, and so would be the share of its code if its own account alone were spread over them, if
 * there are any; over a pool the chances even out. Threads that a report shows are pools of their
 * own, so that each row is the sum of its accounts; and threads of a long account, whose own
 * samples tell enough.
 */
#ifndef TOOLS_ANALYSIS_CALIBRATION_H
#define TOOLS_ANALYSIS_CALIBRATION_H

#include "profile/read/reader.h"
#include <stdint.h>

/* What threads of a pool have in common. */
enum calibration_pools {
	CALIBRATION_BY_PROGRAM, /* names of the process and of the thread */
	CALIBRATION_BY_PROCESS, /* the process, and the thread's name */
	CALIBRATION_BY_THREAD,  /* a thread is a pool */
};

/* A thread with an account of so many intervals or more is a pool. It goes by the account, not by
 * the samples: a choice by what was drawn would be no chance any more. */
#define CALIBRATION_OWN_INTERVALS 16u

struct calibration { /* all zero: samples stand for their weights */
	struct calibration_thread *threads;
	struct calibration_pool *pools;
};

/* Reads the samples where they are at random times. Returns the reader's code. */
TBRW_U32 calibration_init(struct calibration *calibration, struct profile_reader *reader,
			  enum calibration_pools by);
void calibration_finish(struct calibration *calibration);

struct calibration_parts {
	uint64_t drawn_ns;  /* what the sample's stack stands for, or with PROFILE_KERNEL_ALL time
			       in the kernel */
	uint64_t kernel_ns; /* besides, in the kernel unseen: measured */
};

/* For each sample once. Sums over all samples of a thread or pool are exact. */
struct calibration_parts calibration_take(struct calibration *calibration,
					  const struct profile_sample_info *sample);

/* CPU time of a thread that no sample stands for. */
struct calibration_rest {
	uint64_t user_ns;   /* of a fixed period: all that is in no sample */
	uint64_t kernel_ns; /* of samples at random times: in the kernel, unseen */
};

struct calibration_rest calibration_rest(const struct calibration *calibration,
					 const struct profile_reader *reader, uint32_t thread);

#endif
