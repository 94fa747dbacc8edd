/*
 * Exports to perf.data files.
 */
#ifndef TOOLS_PERF_EXPORT_EXPORT_PERF_H
#define TOOLS_PERF_EXPORT_EXPORT_PERF_H

#include "tools/export/export.h"

/* A perf.data file, by time and by thread: a sample's period is its CPU time in ns. Needs stacks by
 * thread, whatever the options say. */
TBRW_U32 export_perf_write(struct weighted_stacks *stacks, const struct export_options *options,
			   FILE *stream);

#endif
