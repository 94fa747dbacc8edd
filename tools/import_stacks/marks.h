/*
 * The names that our exports give to missing knowledge.
 */
#ifndef TOOLS_IMPORT_STACKS_MARKS_H
#define TOOLS_IMPORT_STACKS_MARKS_H

#include "profile/base/gap.h"
#include <stdint.h>

/* Behind those of tools/functions/functions.h. */
enum {
	MARKS_NO_SAMPLE = PROFILE_GAP_NO_SAMPLE,
	MARKS_NO_THREAD = PROFILE_GAP_NO_THREAD,
	MARKS_NONE = PROFILE_GAP_COUNT
};

/* FUNCTION_... or MARKS_...; MARKS_NONE: a function's name. */
uint32_t marks_find(const char *name);

/* Deeper stacks are cut, as reports do (tools/stacks/call_path.h). */
#define MARKS_DEPTH_MAX 8192u

#endif
