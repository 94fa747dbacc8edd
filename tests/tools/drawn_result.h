/*
 * Results of threads with given accounts and samples with given weights, as samples at random times
 * have them, written through the profile writer.
 */
#ifndef TESTS_TOOLS_DRAWN_RESULT_H
#define TESTS_TOOLS_DRAWN_RESULT_H

#include "profile/profile.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define DRAWN_PID       1000u /* of process 0; the others follow */
#define DRAWN_TID       5000u /* of thread 0; likewise */
#define DRAWN_FUNCTIONS 6u    /* "f0" to "f2" of app, the others of lib.so, all called by "main" */
#define DRAWN_MS        UINT64_C(1000000)

struct drawn_thread {
	uint32_t process; /* index */
	const char *name;
	uint64_t cpu_ns; /* its account */
	uint64_t rest_ns;
	uint64_t unseen_ns;
	bool is_unrecorded; /* as in the file of a collector that was killed */
};

struct drawn_sample {
	uint32_t thread;   /* index */
	uint32_t function; /* 0 to DRAWN_FUNCTIONS - 1 */
	uint64_t cpu_ns;
	uint32_t kernel_us; /* or PROFILE_KERNEL_ALL */
};

struct drawn_result {
	uint32_t sampling; /* enum profile_sampling; 0: not noted */
	uint64_t interval_ns;
	uint64_t tick_ns; /* 0: not noted */
	uint64_t seed;    /* likewise */
	uint64_t unattributed_ns;
	uint64_t unattributed_kernel_ns; /* of it; 0: not noted */
	uint32_t kernel_time;            /* enum profile_kernel_time; 0: not noted */
	const char *const *names;        /* of the processes */
	uint32_t process_count;
	const struct drawn_thread *threads;
	uint32_t thread_count;
	const struct drawn_sample *samples;
	size_t sample_count;
};

/* Fails the test on any error. */
void drawn_result_write(const char *path, const struct drawn_result *result);

#endif
