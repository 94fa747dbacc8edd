/*
 * What a format of exports is. To add one: a file with its write function, a row in
 * tools/formats/export_format.c. A format sees the result as weighted stacks; one in the order of
 * time reads the samples itself, by the stacks' reader and filter. Larger formats have rooms and
 * headers of their own.
 */
#ifndef TOOLS_EXPORT_EXPORT_H
#define TOOLS_EXPORT_EXPORT_H

#include "tbrw/tbrw.h"
#include "tools/stacks/weighted_stacks.h"
#include <stdbool.h>
#include <stdio.h>

struct output_folder; /* tools/csv_export/output_folder.h */

enum export_weight {
	EXPORT_WEIGHT_OWN, /* the format's */
	EXPORT_WEIGHT_SAMPLES,
	EXPORT_WEIGHT_CPU,  /* CPU time; numbers of an event that is no clock */
	EXPORT_WEIGHT_WALL, /* elapsed time of the threads: CPU time, and off the CPU */
	EXPORT_WEIGHT_WAIT, /* time in waits */
};

/* Whether a format has weights. */
enum export_weights {
	EXPORT_WEIGHTS_NONE, /* it has no choice: times stand in their order */
	EXPORT_WEIGHTS_ONE,  /* it has the one that the options ask for */
	EXPORT_WEIGHTS_ALL,  /* all that the result has; the options' is shown first */
};

struct export_options {
	bool with_threads; /* keep threads apart */
	enum export_weight weight;
	const char *event; /* name of the samples' event, where a format has one; NULL: its own */
};

struct export_format {
	const char *name;
	const char *what; /* for --help */
	/* What it needs of the stacks: TALLY_BY_..., whatever the options are; TALLY_ONE_BY_ONE in
	 * the order of time, without sums of stacks. */
	unsigned by;
	enum export_weights weights;
	bool is_binary;  /* not for terminals */
	bool is_of_time; /* shows times: not for samples of an event that is no clock */
	/* Its readers look for functions in the files of the result's modules, which may go with
	 * it. */
	bool wants_modules;
	bool names_event; /* export_options.event is the name of the only event, too */
	/* Returns the reader's code; errors of the stream show in ferror. */
	TBRW_U32(*write)
	(struct weighted_stacks *stacks, const struct export_options *options, FILE *stream);
	/* In its place, of a format of several files. Needs a result with sync points. Errors of
	 * the files show in the folder's. */
	TBRW_U32(*write_files)
	(struct weighted_stacks *stacks, const struct export_options *options,
	 struct output_folder *folder);
};

/* Folded stacks: "process;root;...;leaf COUNT", one line per distinct stack, COUNT by the options'
 * weight; with threads "process;name-tid;root;...". Lines are sorted. */
TBRW_U32 export_folded_write(struct weighted_stacks *stacks, const struct export_options *options,
			     FILE *stream);

/* A profile in the pprof format (profile.proto, in gzip): a sample for each distinct stack of a
 * thread, with its samples and CPU time. Threads are always kept apart, by labels. */
TBRW_U32 export_pprof_write(struct weighted_stacks *stacks, const struct export_options *options,
			    FILE *stream);

/* speedscope's JSON: a profile for each thread, with its CPU time by stack in the order of time.
 * Sums are those of the report threads. */
TBRW_U32 export_speedscope_write(struct weighted_stacks *stacks,
				 const struct export_options *options, FILE *stream);

/* Callgrind's format: CPU time and samples of functions, lines and calls. Processes call the
 * outermost functions; with threads, their threads do. */
TBRW_U32 export_callgrind_write(struct weighted_stacks *stacks,
				const struct export_options *options, FILE *stream);

/* OpenTelemetry profiles, one ProfilesData message: a resource for each process, with a profile of
 * CPU time and one of samples. Threads are always kept apart, by attributes. */
TBRW_U32 export_otlp_write(struct weighted_stacks *stacks, const struct export_options *options,
			   FILE *stream);

#endif
