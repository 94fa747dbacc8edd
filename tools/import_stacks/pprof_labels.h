/*
 * What the labels of a pprof sample say of its owner and stack.
 */
#ifndef TOOLS_IMPORT_STACKS_PPROF_LABELS_H
#define TOOLS_IMPORT_STACKS_PPROF_LABELS_H

#include "tools/import_stacks/pprof_tables.h"
#include "tools/import_stacks/stack_result.h"

struct Pprof__Sample; /* pprof.pb-c.h, generated from tools/pprof/pprof.proto */

/* Leaves alone what no label names. Texts are those of the tables. */
void pprof_labels_read(const struct pprof_tables *tables, const struct Pprof__Sample *sample,
		       struct stack_owner_name *owner, uint8_t *state, uint8_t *reason);

#endif
