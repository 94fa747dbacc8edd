/*
 * How well stacks were unwound: what became of them by module and by thread, what unwinding took,
 * and what would help most.
 */
#ifndef TOOLS_COLLECTION_QUALITY_H
#define TOOLS_COLLECTION_QUALITY_H

#include "tools/collection/overview.h"
#include "tools/report/report.h"
#include <stdint.h>

/* Counts of samples, of one module, of one thread, or of all. */
struct quality_row {
	/* Of a module: samples whose own code lies in it, by what became of their stacks. */
	uint64_t samples;
	uint64_t states[PROFILE_STACK_NONE + 1];
	/* Skipped stacks by reason; of a module: those whose outermost known frame lies in it. */
	uint64_t skipped[PROFILE_SKIP_REASON_COUNT];
	uint64_t unreadable; /* of these in a module: its file could not be read */
	uint64_t nameless;   /* of samples: the function that was hit has no symbol */
	/* Steps from a user frame (of a module: of its own) to the caller, in the stacks of all
	 * samples, and those that only a frame pointer made. Guessed ones are none. */
	uint64_t steps;
	uint64_t pointer_steps;
	struct tally_guesses guesses;
	/* What unwinding took, whatever the filter: of a module, for stacks whose leaf lies in it.
	 * Of the run the notes tell. */
	struct profile_unwinding unwinding;
	bool has_unwinding;
};

/* Notes PROFILE_NOTE_UNWIND_... and PROFILE_NOTE_GUESSES_... in order. */
#define QUALITY_NOTES (PROFILE_NOTE_GUESSES_WRONG - PROFILE_NOTE_UNWIND_WALKS + 1)

struct quality {
	struct overview overview;
	struct quality_row run;
	struct quality_row *modules; /* by module of input->functions */
	size_t module_count;
	struct quality_row *threads; /* by thread of the reader, and one row for all others */
	size_t thread_count;
	struct overview_number stack_size;           /* bytes that a sample copies */
	struct overview_number stack_source;         /* enum profile_stack_source */
	struct overview_number notes[QUALITY_NOTES]; /* of the whole run, whatever the filter */
	struct overview_number deep_walks;           /* likewise */
	struct overview_number deep_frames;
	bool has_unwinding; /* of a module or a thread: older results have none */
};

/* input->tally is by thread and by reason. */
void quality_collect(const struct report_input *input, struct quality *quality);
void quality_finish(struct quality *quality);

uint64_t quality_skipped(const struct quality_row *row);

/* What a row's unwinding took, in the order of the notes. */
void quality_unwinding(const struct profile_unwinding *unwinding, uint64_t values[QUALITY_NOTES]);

/* A note's number. */
struct overview_number quality_note(const struct quality *quality, enum profile_note_kind kind);

/* What would help most, in one sentence, for the caller to free. */
char *quality_advise(const struct report_input *input, const struct quality *quality);

#endif
