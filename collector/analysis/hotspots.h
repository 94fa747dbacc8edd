/*
 * Where the CPU time goes: turns each sample into a node of the calling-context tree and a weight
 * of CPU time. Asks the tracker for a sample's thread and process.
 */
#ifndef COLLECTOR_ANALYSIS_HOTSPOTS_H
#define COLLECTOR_ANALYSIS_HOTSPOTS_H

#include "collector/analysis/analysis.h"

struct emit;
struct hotspots;
struct record;
struct stacks;
struct tracker;

/* All are borrowed. NULL: out of memory. */
struct hotspots *hotspots_create(const struct analysis_config *config, struct tracker *tracker,
				 struct stacks *stacks, struct emit *emit);
void hotspots_destroy(struct hotspots *hotspots); /* accepts NULL; writes nothing */

/* Applies a record that the tracker has got before. */
void hotspots_apply(struct hotspots *hotspots, const struct record *record);

#endif
