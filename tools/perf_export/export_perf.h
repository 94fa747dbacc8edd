/*
 * Exports to perf.data files.
 */
#ifndef TOOLS_PERF_EXPORT_EXPORT_PERF_H
#define TOOLS_PERF_EXPORT_EXPORT_PERF_H

#include "tools/export/export.h"

/* A perf.data file, by time and by thread: a sample's period is its CPU time in ns. A result with
 * states has the switches of threads as records, one with waits has those as samples of a second
 * event (perf_moments.h). Needs stacks by thread, whatever the options say. */
TBRW_U32 export_perf_write(struct weighted_stacks *stacks, const struct export_options *options,
			   FILE *stream);

#endif
