/*
 * What the files of this room say, in memory. For the room, its tests and the fuzz targets. Each
 * returns 0, or the exit status after a message. Bad parts are counted, and the result warns.
 */
#ifndef TOOLS_IMPORT_STACKS_LOAD_H
#define TOOLS_IMPORT_STACKS_LOAD_H

#include "tools/import/importer.h"
#include "tools/import_stacks/stack_result.h"

/* Texts of the run live as long as the result. */
int load_folded(const struct import_input *input, struct stack_result *result,
		struct stack_run *run);
int load_pprof(const struct import_input *input, struct stack_result *result,
	       struct stack_run *run);

#endif
