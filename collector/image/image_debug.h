/* Separate debug files, for the unwind information of programs that were built without their own
 * (program/debug_file.h). */
#ifndef COLLECTOR_IMAGE_IMAGE_DEBUG_H
#define COLLECTOR_IMAGE_IMAGE_DEBUG_H

#include "unwind/unwind.h"
#include <stdint.h>

/* Adds the unwind information of the debug file to a module without its own, if root, this user or
 * `owner` (of the program) owns the file. path: of the program. Only before the module is used.
 * Modules with unwind information cost nothing. */
void image_debug_add(struct uw_module *module, const char *path, uint32_t owner);

#endif
