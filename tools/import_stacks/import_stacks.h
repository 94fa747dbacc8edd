/*
 * Readers of profiles in pprof's format and of folded stacks, as rows of importers
 * (tools/import/importer.h). Both have sums in place of samples: results of them have no times, and
 * their symbols are the file's.
 */
#ifndef TOOLS_IMPORT_STACKS_IMPORT_STACKS_H
#define TOOLS_IMPORT_STACKS_IMPORT_STACKS_H

#include "tools/import/importer.h"

/* In gzip or plain. */
bool import_pprof_recognizes(const uint8_t *head, size_t size);
int import_pprof_read(const struct import_input *input, const char *path, const char *name,
		      struct import_events *events);

/* Text: to be asked last. */
bool import_folded_recognizes(const uint8_t *head, size_t size);
int import_folded_read(const struct import_input *input, const char *path, const char *name,
		       struct import_events *events);

#endif
