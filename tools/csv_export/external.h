/*
 * A result's external data as it came: the intervals, or the counters, of each imported file.
 */
#ifndef TOOLS_CSV_EXPORT_EXTERNAL_H
#define TOOLS_CSV_EXPORT_EXTERNAL_H

#include "tbrw/tbrw.h"

struct output_folder;
struct running_bounds;
struct weighted_stacks;

/* Files named as the imported ones, each for the host in its name. Where the stacks' filter has
 * times, what lies within the bounds or touches them. Returns the reader's code. */
TBRW_U32 external_write(struct weighted_stacks *stacks, const struct running_bounds *bounds,
			struct output_folder *folder);

#endif
