/*
 * The functions and dsos shown for the frames of a result, each once.
 */
#ifndef TOOLS_FUNCTIONS_FUNCTIONS_H
#define TOOLS_FUNCTIONS_FUNCTIONS_H

#include "profile/base/gap.h"
#include <stdbool.h>
#include <stdint.h>

/* Indices of the functions for missing knowledge. */
enum {
	FUNCTION_UNKNOWN = PROFILE_GAP_UNKNOWN,
	FUNCTION_SKIPPED = PROFILE_GAP_SKIPPED,
	FUNCTION_GUESSED = PROFILE_GAP_GUESSED,
	FUNCTION_KERNEL = PROFILE_GAP_KERNEL, /* its own dso */
};

/* Where code comes from, as perf's dso: all loadings of one path, whatever its file was meanwhile,
 * or a kind of code without a file. Users read "Module". */
struct dso {
	const char *name; /* last component of path, or [vdso], [jit], [kernel], [Unknown] */
	const char *path; /* as the target's maps named it; "" for none */
	bool is_system;
};

struct function {
	const char *name; /* short */
	const char *full; /* with parameters, as far as known */
	const char *file; /* source file, "" if unknown */
	uint64_t start;   /* rva; 0: none */
	uint32_t dso;     /* index */
	bool is_inlined;
};

struct functions;
struct profile_reader;

/* Names every frame of the result. with_inlined false: inlined functions count as part of the
 * function they were compiled into. The reader must live longer. */
struct functions *functions_create(const struct profile_reader *reader, bool with_inlined);
void functions_destroy(struct functions *functions); /* accepts NULL */

/* Names the code that signal handlers return to after what it means, "[signal handler called]", as
 * debuggers do: for people, not programs. Its full name stays. */
void functions_name_trampolines(struct functions *functions);

/* A function in the place of code, of dso [Unknown]: what a thread waited for, or its state.
 * Returns the index; one for each name. Earlier pointers to functions are no longer valid. */
uint32_t functions_add_label(struct functions *functions, const char *name);

uint32_t functions_count(const struct functions *functions);
const struct function *functions_at(const struct functions *functions, uint32_t index);
uint32_t functions_dso_count(const struct functions *functions);
const struct dso *functions_dso(const struct functions *functions, uint32_t index);

/* Index of an image's dso. */
uint32_t functions_dso_of_image(const struct functions *functions, uint32_t image);

/* A function's dso. */
const struct dso *functions_dso_of(const struct functions *functions, uint32_t index);

/* Functions of a frame, outermost first; at least one. */
const uint32_t *functions_of_frame(const struct functions *functions, uint32_t frame,
				   uint32_t *count);

/* A line of each of these, in the function's file: of the frame's address in the innermost one, of
 * the inlined call in the others; 0: not known. */
const uint32_t *functions_lines_of_frame(const struct functions *functions, uint32_t frame);

#endif
