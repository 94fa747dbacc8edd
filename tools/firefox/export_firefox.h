/*
 * Exports to Firefox Profiler's processed profile format, version 70:
 * docs-developer/CHANGELOG-formats.md and src/types/profile.ts of
 * github.com/firefox-devtools/profiler.
 */
#ifndef TOOLS_FIREFOX_EXPORT_FIREFOX_H
#define TOOLS_FIREFOX_EXPORT_FIREFOX_H

#include "tools/export/export.h"

/* A profile in gzip: each thread's samples in the order of time, weighed by their CPU time, and the
 * lives of processes and threads as markers. Needs a tally of samples one by one, whatever the
 * options say. */
TBRW_U32 export_firefox_write(struct weighted_stacks *stacks, const struct export_options *options,
			      FILE *stream);

#endif
