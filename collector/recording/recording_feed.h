/*
 * The chain behind a recording: its records in the order of time, as the collector's records, to an
 * analyzer.
 */
#ifndef COLLECTOR_RECORDING_RECORDING_FEED_H
#define COLLECTOR_RECORDING_RECORDING_FEED_H

#include "collector/analysis/analyzer.h"
#include "collector/context/stacks.h"
#include "collector/recording/recording_cpus.h"
#include "collector/recording/recording_file.h"
#include "collector/recording/recording_order.h"

enum { RECORDING_CHAIN_MAX = 8192 /* a record's size has 16 bits */ };

struct recording_feed {                      /* zeros at the start, but for what is said */
	struct recording_file *file;         /* the caller's */
	const struct recording_event *event; /* the caller's: its samples are applied; or NULL */
	const struct recording_event *waits; /* likewise, as waits; NULL: there is none */
	struct analyzer *analyzer;           /* the caller's */
	/* The caller's: their samples become switches and wakes of threads; NULL: there are none.
	 */
	const struct recording_event *switches;
	const struct recording_event *wakes;
	const struct tracker *tracker; /* the caller's, the analyzer's */
	bool has_states;               /* the caller's: switches become the threads' states */
	bool has_unwindable;           /* the caller's: registers are those of this machine */

	struct recording_order order;
	uint64_t now_ns;                     /* of the last record with a time */
	uint64_t start_ns;                   /* of the first one */
	uint64_t types[RECORDING_TYPES_MAX]; /* records by type; larger types are the last one */
	uint64_t samples;                    /* applied */
	uint64_t damaged;                    /* records that are not whole, or of no known event */
	uint64_t lost;                       /* by the records of losses */
	uint64_t lost_in_all;                /* by the counts at the recording's end */
	uint64_t unordered;                  /* records without a time */
	uint64_t weight;                     /* of all samples */
	uint64_t too_large;                  /* samples left out: their sum has no room */
	struct recording_cpus cpus;          /* where the recording tells no processors */
	struct recording_counts counts;      /* of groups, so far */
	uint64_t cut_traces;                 /* records of processor traces that say so */
	uint64_t nameless;                   /* counts of events that nobody knows, in samples */
	uint64_t deferred;                   /* samples with frames in a record of its own */
	uint64_t undeferred;                 /* samples that lack that record */
	bool is_out_of_memory;

	struct recording_record record; /* at hand */
	uint64_t kernel[STACK_INNER_MAX];
	size_t kernel_count;
	uint64_t user[RECORDING_CHAIN_MAX];
	size_t user_count;
};

/* Takes the next record of the file. */
void recording_feed_put(struct recording_feed *feed, const struct recording_record *record);
/* After the last one. */
void recording_feed_end(struct recording_feed *feed);
void recording_feed_finish(struct recording_feed *feed);

#endif
