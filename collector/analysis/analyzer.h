/*
 * Makes a result's contents of a collection's records: each goes to the tracker first, and then to
 * those that its analysis asks for.
 */
#ifndef COLLECTOR_ANALYSIS_ANALYZER_H
#define COLLECTOR_ANALYSIS_ANALYZER_H

#include "collector/analysis/analysis.h"

struct analyzer;
struct emit;
struct record;
struct tracker;

/* tracker and emit are borrowed; the tracker is destroyed first. NULL: out of memory. */
struct analyzer *analyzer_create(const struct analysis_config *config, struct tracker *tracker,
				 struct emit *emit);
void analyzer_destroy(struct analyzer *analyzer); /* accepts NULL; writes nothing */

/* Applies the next record. A RECORD_TICK only tells what its thread has used. */
void analyzer_apply(struct analyzer *analyzer, const struct record *record);

/* Ends the tracker (tracker_finish), and writes what is known at the end. Comes once, after the
 * last record. */
void analyzer_finish(struct analyzer *analyzer);

#endif
