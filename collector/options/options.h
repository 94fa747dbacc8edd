/* The command line of tbcollect, with the custom analysis that it names, as a struct. */
#ifndef COLLECTOR_OPTIONS_OPTIONS_H
#define COLLECTOR_OPTIONS_OPTIONS_H

#include "collector/analysis/analysis.h"
#include "collector/events/event_choice.h"
#include "collector/message/failure.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum options_action { OPTIONS_COLLECT, OPTIONS_HELP, OPTIONS_VERSION };

enum options_unwind {
	OPTIONS_UNWIND_AUTO, /* BPF where permitted, else copies */
	OPTIONS_UNWIND_COPY, /* registers and a copy of the stack, unwound outside the target */
	OPTIONS_UNWIND_BPF,  /* the same, of exactly the used part of the stack */
	OPTIONS_UNWIND_NONE  /* the leaf only */
};

enum options_sampling {
	OPTIONS_SAMPLING_AUTO,   /* at random times where possible */
	OPTIONS_SAMPLING_RANDOM, /* at random times */
	OPTIONS_SAMPLING_FIXED,  /* each time that a thread has used an interval */
	OPTIONS_SAMPLING_OFF     /* never; only in a custom analysis */
};

enum options_waits {
	OPTIONS_WAITS_AUTO, /* by BPF where permitted, else by the observer */
	OPTIONS_WAITS_BPF,
	OPTIONS_WAITS_OBSERVER
};

enum { OPTIONS_PIDS_MAX = 256, OPTIONS_NAME_MAX = 64 };

struct options {
	enum options_action action;
	const struct analysis *analysis; /* of the table, or `custom`: then *this may not move */
	struct analysis custom;
	char custom_name[OPTIONS_NAME_MAX];
	char **program; /* launch: argv of the program, NULL-terminated, borrowed from main's argv
			 */
	pid_t pids[OPTIONS_PIDS_MAX]; /* attach */
	size_t pid_count;
	const char *custom_collector; /* command line; NULL: none */
	const char *result_dir;       /* NULL: the next free one (result_create) */
	uint64_t interval_ns;
	uint64_t duration_ns; /* 0: until the program ends or the user stops it */
	uint32_t stack_size;  /* bytes; 0: chosen by interval and ring size */
	enum options_unwind unwind;
	enum options_sampling sampling;
	double overhead_limit;      /* collector's CPU time over the target's; 0: no limit */
	uint64_t wait_threshold_ns; /* 0: the source's own */
	enum options_waits wait_source;
	const char *wait_option; /* the last of those about waits on the command line, without
				    its dashes; NULL: none */
	struct event_choice events[PROFILE_EVENTS_MAX]; /* beside CPU time */
	uint32_t event_count;
	bool all_wakers;       /* their stacks are not sampled */
	bool without_io_waits; /* waits for files, sockets and pages have no record */
	bool switches;
	bool has_switches; /* given; else the analysis says */
	bool children;
	bool preload; /* libtbagent.so, into the program */
	bool kernel;
	bool collapse;
	bool finalize;
	bool quiet;
	bool verbose;
};

/* Returns 0, or -1 with a usage failure (exit status 2). */
int options_parse(struct options *options, int argc, char **argv, struct failure *failure);

/* The default of overhead_limit: 5 % for intervals from 1 ms on; for shorter ones it grows with the
 * number of samples, to 15 % at 0.1 ms. */
double options_overhead_limit(uint64_t interval_ns);

/* The text of --help. */
const char *options_help(void);

#endif
