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
	uint64_t is_known; /* or 0 */
};

#define OVERVIEW_NOTES (PROFILE_NOTE_UNATTRIBUTED_KERNEL + 1)

struct overview {
	/* By enum profile_note_kind: the sum of those that add up, 0 where there is none, of
	 * others the last; of programs that were not followed, their number. */
	struct overview_number notes[OVERVIEW_NOTES];
	struct overview_number file_bytes;
	struct overview_number target_pid;
	struct profile_unwinding unwinding; /* of the run */
	bool has_unwinding;
	bool has_guesses; /* the last three of its counts are known */
	struct overview_number deep_walks;
	struct overview_number deep_frames;
	uint64_t cpu_ns; /* of the samples, and what no sample carries */
	uint64_t unattributed_ns;
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
 * shown and none were tried. guessed: stacks that are. */
void overview_print_guesses(const struct overview *overview, uint64_t guessed, const char *label,
			    FILE *stream);

/* Where the time of system calls and faults stands, in JSON and in words; NULL: it is not known. */
const char *overview_kernel_key(const struct overview *overview);
const char *overview_kernel_words(const struct overview *overview);

/* When samples were taken, in JSON; NULL: the result does not say. */
const char *overview_sampling_key(const struct overview *overview);
/* The same in words, for the caller to free; NULL likewise. */
char *overview_sampling_words(const struct overview *overview);

#endif
