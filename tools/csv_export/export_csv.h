/*
 * The run as the files that VTune imports: one table each, the host in its name.
 */
#ifndef TOOLS_CSV_EXPORT_EXPORT_CSV_H
#define TOOLS_CSV_EXPORT_EXPORT_CSV_H

#include "tools/export/export.h"

/* When threads lived, ran and, by their states, waited, as tasks; how many CPUs they used, as a
 * counter; external data as it came. Needs stacks of TALLY_ONE_BY_ONE and a result with sync
 * points. Returns the reader's code; errors of the files show in the folder's. */
TBRW_U32 export_csv_write(struct weighted_stacks *stacks, const struct export_options *options,
			  struct output_folder *folder);

#endif
