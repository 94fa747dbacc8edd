/*
 * Where the CPU time goes: turns each sample into what the result holds of it, a node of the
 * calling-context tree and a weight of CPU time. Asks the tracker whose a sample is.
 */
#ifndef COLLECTOR_ANALYSIS_HOTSPOTS_H
#define COLLECTOR_ANALYSIS_HOTSPOTS_H

#include "collector/analysis/analysis.h"

extern const struct analysis hotspots_analysis;

#endif
