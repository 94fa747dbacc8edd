/* When a table of a whole module pays. Public calls: unwind.h. */
#ifndef UNWIND_RULES_MODULE_TABLE_H
#define UNWIND_RULES_MODULE_TABLE_H

#include <stdbool.h>

struct uw_module;

/* Notes that a function had to be decoded. Returns true once: when it has been so many times that a
 * table would have cost less. */
bool uw_module_note_decoded(struct uw_module *module);

#endif
