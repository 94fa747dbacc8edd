/*
 * Tables of unwind rules for the modules that walks ask one for (uw_space_wanted_table), built in a
 * thread of their own beside the walks. Most collections need none, and then there is no thread.
 */
#ifndef COLLECTOR_CONTEXT_TABLE_BUILDER_H
#define COLLECTOR_CONTEXT_TABLE_BUILDER_H

#include "unwind/unwind.h"

struct tables;

struct tables *tables_create(void); /* NULL: out of memory */

/* Waits for the table that is being built; those that wait for their turn are not. Accepts NULL. */
void tables_destroy(struct tables *tables);

/*
 * Has the module's table built soon, and takes over the reference. It is not built where too many
 * are wanted at once, or no thread can be started: walks give the same without it.
 */
void tables_build(struct tables *tables, struct uw_module *module);

#endif
