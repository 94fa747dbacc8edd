/*
 * What the result and the user are told of a recording: its facts, its losses, and what of it was
 * not understood.
 */
#ifndef COLLECTOR_RECORDING_RECORDING_NOTES_H
#define COLLECTOR_RECORDING_RECORDING_NOTES_H

#include "collector/recording/recording.h"
#include "collector/recording/recording_feed.h"
#include "profile/profile.h"

struct emit;

struct recording_notes {
	const struct recording_request *request;
	const struct recording_file *file;
	const struct recording_event *event;
	struct emit *emit;
	struct recording_summary *summary;
	uint64_t interval_ns;
	enum profile_kernel_time kernel_time;
	const struct recording_event *waits;    /* NULL: they are not known */
	const struct recording_event *switches; /* of the scheduler's tracepoints; likewise */
	const struct recording_event *wakes;    /* likewise */
	bool is_time;                           /* CPU times are times, no numbers of the event */
	bool is_traced;       /* there are no samples: the times are those of the switches */
	bool has_states;      /* the threads': times, beside samples of a clock only */
	bool has_kernel_time; /* else the recording does not tell it */
};

/* Mean CPU time between samples, as far as the event tells it; not 0. */
uint64_t recording_interval_ns(const struct recording_event *event);

/* At start_ns, the recording's first time. */
void recording_notes_begin(const struct recording_notes *notes, uint64_t start_ns);

/* Once all records are applied. */
void recording_notes_end(const struct recording_notes *notes, const struct recording_feed *feed,
			 const struct recording_lacks *lacks, uint64_t start_ns);

#endif
