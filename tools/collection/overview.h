/*
 * The facts of a result on the collection as a whole.
 */
#ifndef TOOLS_COLLECTION_OVERVIEW_H
#define TOOLS_COLLECTION_OVERVIEW_H

#include "profile/read/reader.h"
#include "tools/samples/tally.h"
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct overview_number {
	uint64_t value;
	uint64_t is_known; /* or 0 */
};

#define OVERVIEW_NOTES (PROFILE_NOTE_EVENT_LOST + 1)

struct overview {
	/* By enum profile_note_kind: the sum of notes to add up, 0 without any; of other kinds the
	 * last note; of programs not followed, and of processes with hidden waits, the number. */
	struct overview_number notes[OVERVIEW_NOTES];
	struct overview_number file_bytes;
	struct overview_number target_pid;
	struct profile_unwinding unwinding; /* of the run */
	bool has_unwinding;
	bool has_guesses; /* its counts of tests are known */
	struct overview_number deep_walks;
	struct overview_number deep_frames;
	uint64_t cpu_ns; /* of the samples, and the time in no sample */
	uint64_t unattributed_ns;
	uint32_t processes;    /* distinct; one calling exec goes on */
	uint32_t modules;      /* distinct files and other sources of mapped code */
	const char *command;   /* "" if unknown */
	const char *collector; /* program and version */
	const char *analysis;
	const char *custom_collector;
	const char *event; /* of the samples; "" where the result does not say */
	bool is_counted;   /* CPU times are numbers of the event */
	struct profile_host_info host;
	uint64_t start_real_ns; /* CLOCK_REALTIME when the collection began; 0: unknown */
	bool is_complete;
	bool is_finalized;
};

/* path: of the tb5 file, "": its size is not asked for. Texts live as long as the reader. */
void overview_collect(const struct profile_reader *reader, const struct tally *tally,
		      const char *path, struct overview *overview);

/* The kernel's count of an event that the result has samples of, from 1 on; not known if the
 * collection did not end. */
struct overview_number overview_event_count(const struct profile_reader *reader, uint32_t event);

/* Prints one line on the share of wrong frames among guesses with a known truth; nothing if there
 * are neither guessed stacks nor tries. guessed: number of stacks guessed from others. */
void overview_print_guesses(const struct overview *overview, uint64_t guessed, const char *label,
			    FILE *stream);

/* Likewise on late frames, with their share. late: number of stacks that have some, of samples. */
void overview_print_late(const struct overview *overview, uint64_t late, uint64_t samples,
			 const char *label, FILE *stream);

/* A sentence without an end; it lives for the call. */
typedef void overview_take_warning(const char *sentence, void *user);

/* Gives the summary's warnings, one after the other: what its figures leave out. */
void overview_warn(const struct overview *overview, const struct profile_reader *reader,
		   overview_take_warning *take, void *user);

/* The place of the time of system calls and faults, in JSON and in words; NULL: unknown. */
const char *overview_kernel_key(const struct overview *overview);
const char *overview_kernel_words(const struct overview *overview);

/* When samples were taken, in JSON; NULL: the result does not say. */
const char *overview_sampling_key(const struct overview *overview);
/* The same in words, for the caller to free; NULL likewise. */
char *overview_sampling_words(const struct overview *overview);

#endif
