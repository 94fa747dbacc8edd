/*
 * A perf.data file: its header, and all that is to know before its records are applied.
 */
#ifndef COLLECTOR_RECORDING_RECORDING_FILE_H
#define COLLECTOR_RECORDING_RECORDING_FILE_H

#include "collector/message/failure.h"
#include "collector/recording/recording_counts.h"
#include "collector/recording/recording_deferred.h"
#include "collector/recording/recording_events.h"
#include "collector/recording/recording_facts.h"
#include "collector/recording/recording_stream.h"
#include "collector/recording/recording_symbols.h"
#include "collector/tracing/sched_trace.h"
#include <stdint.h>

struct recording_file {
	int fd; /* borrowed */
	uint64_t size;
	uint32_t owner;
	uint64_t changed_ns; /* when the file was written, CLOCK_REALTIME */
	uint64_t data_from;
	uint64_t data_to;
	bool is_pipe;
	bool is_cut;       /* records are missing at its end */
	bool has_switches; /* it says when threads got and left CPUs */
	struct sched_trace sched;
	struct recording_symbols symbols;
	struct recording_deferred deferred;
	struct recording_events events;
	struct recording_facts facts;
};

/* name: for messages. 0, or -1; finish it in any case. */
int recording_file_open(struct recording_file *file, int fd, const char *name,
			const struct recording_watch *watch, struct failure *failure);
void recording_file_finish(struct recording_file *file);

#endif
