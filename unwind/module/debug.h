/* A module's .debug_frame: its own, or that of its separate debug file. Public calls: unwind.h. */
#ifndef UNWIND_MODULE_DEBUG_H
#define UNWIND_MODULE_DEBUG_H

#include "unwind/module/module.h"

/*
 * Takes elf's .debug_frame into a module that has none yet, inflated where it is compressed. elf is
 * the module's own or its debug file's. Returns 0, also where it has none or one that cannot be
 * read, or -1: out of memory.
 */
int uw_module_take_debug(struct uw_module *module, const struct uw_elf *elf);

#endif
