/*
 * Where the CPU time goes: turns each sample into a node of the calling-context tree and a weight
 * of CPU time. Asks the tracker for a sample's thread and process.
 */
#ifndef COLLECTOR_ANALYSIS_HOTSPOTS_H
#define COLLECTOR_ANALYSIS_HOTSPOTS_H

#include "collector/analysis/analysis.h"

extern const struct analysis hotspots_analysis;

#endif
