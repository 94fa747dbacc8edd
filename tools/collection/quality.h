/*
 * The quality of unwinding: the states of stacks by module and by thread, the effort of unwinding,
 * and the most helpful advice.
 */
#ifndef TOOLS_COLLECTION_QUALITY_H
#define TOOLS_COLLECTION_QUALITY_H

#include "tools/collection/overview.h"
#include <stdint.h>

struct report_input;

/* A row of the report: counts of samples, of one module, of one thread, or of all. */
struct quality_row {
	const char *scope;  /* "module", "thread" or "run" */
	const char *name;   /* "" of the run */
	const char *path;   /* "" but of modules */
	const char *advice; /* likewise, but of the run */
	uint64_t is_thread; /* a known one: with the two below */
	uint64_t pid;
	uint64_t tid;
	/* Of a module: samples whose own code lies in it, by what became of their stacks. */
	uint64_t samples;
	uint64_t states[PROFILE_STACK_NONE + 1];
	/* Skipped stacks by reason; of a module: those whose outermost known frame lies in it. */
	uint64_t skipped[PROFILE_SKIP_REASON_COUNT];
	uint64_t skipped_sum;
	uint64_t unreadable; /* of these: the module's file could not be read */
	uint64_t nameless;   /* of samples: the function hit has no symbol */
	/* Steps from a user frame (of a module: its own) to the caller, in the stacks of all
	 * samples; pointer_steps: made by a frame pointer alone. Guesses are no steps. */
	uint64_t steps;
	uint64_t pointer_steps;
	struct tally_guesses guesses;
	/* The effort of unwinding, whatever the filter; of a module: of stacks with leaves in
	 * it. */
	struct profile_unwinding unwinding;
	uint64_t has_unwinding; /* 0: not known, as in older results */
	uint64_t has_guesses;   /* likewise, of its counts of tests */
	/* Frames with a look-up of rules: all but the reused ones; cache_hits: rules found in the
	 * cache. */
	uint64_t asked;
	uint64_t cache_hits;
	uint64_t frame_ns; /* mean of the timed frames */
	/* Of the run alone. */
	struct overview_number collector_cpu_ns;
	struct overview_number deep_walks;
	struct overview_number deep_frames;
	struct overview_number cpu_ns;      /* by samples and accounts, beside the next one */
	struct overview_number switched_ns; /* the threads' time on CPUs by their switches */
	uint64_t has_parts;                 /* has_unwinding of a module or a thread */
};

struct quality {
	struct overview overview;
	struct quality_row run;
	struct quality_row *modules; /* by module of input->functions */
	size_t module_count;
	struct quality_row *threads; /* by thread of the reader, and one row for all others */
	size_t thread_count;
};

/* input->tally is by thread and by reason. */
void quality_collect(const struct report_input *input, struct quality *quality);
void quality_finish(struct quality *quality);

uint64_t quality_skipped(const struct quality_row *row);

/* The most helpful advice, for the caller to free. */
char *quality_advise(const struct report_input *input, const struct quality *quality);

#endif
