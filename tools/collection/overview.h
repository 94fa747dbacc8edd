/*
 * What a result says about the collection as a whole.
 */
#ifndef TOOLS_COLLECTION_OVERVIEW_H
#define TOOLS_COLLECTION_OVERVIEW_H

#include "profile/read/reader.h"
#include "tools/analysis/tally.h"
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct overview_number {
	uint64_t value;
	bool is_known;
};

struct overview {
	struct overview_number elapsed_ns;
	struct overview_number interval_ns;
	struct overview_number collector_cpu_ns;
	struct overview_number collector_rss;
	struct overview_number stack_copy_bytes;
	struct overview_number file_bytes;
	struct overview_number target_pid;
	struct overview_number exit_status;
	struct overview_number rusage_cpu_ns;
	struct overview_number guesses_tested; /* whole stacks that guessing was tried on */
	struct overview_number guesses_covered;
	struct overview_number guesses_wrong;
	struct overview_number kernel_time; /* enum profile_kernel_time */
	struct overview_number sampling;    /* enum profile_sampling */
	struct overview_number tick_ns;
	struct overview_number seed;
	uint64_t cpu_ns; /* of the samples, and what no sample carries */
	uint64_t paused_ns;
	uint64_t samples_lost;
	uint64_t records_lost;
	uint64_t bytes_lost; /* of records that could not be told apart */
	uint64_t out_of_order;
	uint64_t throttled; /* times */
	uint64_t unattributed_ns;
	uint64_t not_followed; /* programs */
	uint32_t processes;    /* distinct ones; one that calls exec goes on */
	uint32_t modules;      /* distinct files and other sources of code that were mapped */
	const char *command;   /* "" where not known */
	const char *collector; /* program and version */
	const char *analysis;
	struct profile_host_info host;
	struct profile_clock first_clock;
	bool has_clock;
	bool is_complete;
	bool is_finalized;
};

/* path: of the tb5 file. Texts live as long as the reader. */
void overview_collect(const struct profile_reader *reader, const struct tally *tally,
		      const char *path, struct overview *overview);

/* One line on how often guessed frames were wrong where the truth was known; nothing if none are
 * shown and none were tried. guessed: stacks that are. The label takes label_width columns. */
void overview_print_guesses(const struct overview *overview, uint64_t guessed, const char *label,
			    int label_width, FILE *stream);

/* Where the time of system calls and faults stands, in JSON and in words; NULL: it is not known. */
const char *overview_kernel_key(const struct overview *overview);
const char *overview_kernel_words(const struct overview *overview);

/* When samples were taken, in JSON; NULL: the result does not say. */
const char *overview_sampling_key(const struct overview *overview);
/* The same in words, for the caller to free; NULL likewise. */
char *overview_sampling_words(const struct overview *overview);

#endif
