/*
 * perf.data files as results: the collector's chain reads them (collector/recording/recording.h).
 */
#ifndef TOOLS_PERF_IMPORT_IMPORT_PERF_H
#define TOOLS_PERF_IMPORT_IMPORT_PERF_H

#include "tools/import/importer.h"

bool import_perf_recognizes(const uint8_t *head, size_t size);
int import_perf_read(const struct import_input *input, const char *path, const char *name,
		     struct import_events *events);

#endif
