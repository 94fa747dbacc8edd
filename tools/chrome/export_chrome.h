/*
 * Exports to Chrome's trace events in JSON ("Trace Event Format"), for Perfetto and
 * chrome://tracing. Both show samples as V8's CPU profiles, events Profile and ProfileChunk of
 * phase P. Samples by stackFrames, which the format also has, Perfetto leaves out
 * (src/trace_processor/importers/json/json_trace_tokenizer.cc of github.com/google/perfetto).
 */
#ifndef TOOLS_CHROME_EXPORT_CHROME_H
#define TOOLS_CHROME_EXPORT_CHROME_H

#include "tools/export/export.h"

/* Names of processes and threads, when each thread ran with its CPU time, and its samples. Needs a
 * tally of samples one by one, whatever the options say. */
TBRW_U32 export_chrome_write(struct weighted_stacks *stacks, const struct export_options *options,
			     FILE *stream);

#endif
