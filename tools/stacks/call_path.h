/*
 * The functions of a stack for a report: frames expanded into inlined functions, unknown parts
 * marked, system functions left out by the call stack mode.
 */
#ifndef TOOLS_STACKS_CALL_PATH_H
#define TOOLS_STACKS_CALL_PATH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct filter;
struct functions;
struct profile_reader;

enum call_path_mode {
	/* Of each run of system functions only the outermost one, called by user code, is shown;
	 * time below in the run counts as its own. */
	CALL_PATH_USER_PLUS_ONE,
	/* System functions count as part of the user function (or pseudo frame) calling them. A
	 * stack of system functions alone shows the outermost one. */
	CALL_PATH_USER_ONLY,
	CALL_PATH_ALL,
};

/* Collectors write no deeper stacks; the outer frames of one show as skipped. */
#define CALL_PATH_DEPTH_MAX 8192u

struct call_path {           /* all zero: empty */
	uint32_t *functions; /* outermost first; at least one after call_path_of_stack */
	uint32_t *frames;    /* of each function; PROFILE_NONE: missing frames, or the kernel */
	size_t count;
	size_t capacity;
	size_t frame_capacity;
	uint32_t *lines; /* of each function in its file, once call_path_find_lines was called */
	size_t line_capacity;
	uint32_t *nodes; /* scratch */
	size_t node_capacity;
};

void call_path_finish(struct call_path *call_path);

/* Makes the path of leaf `node`, or of TALLY_KERNEL; state: enum profile_stack_state. Reuses the
 * path's memory. */
void call_path_of_stack(struct call_path *call_path, const struct profile_reader *reader,
			const struct functions *functions, uint32_t node, uint32_t state,
			enum call_path_mode mode);

/* Puts a function without a frame below the leaf; alone: in place of the path. */
void call_path_add_label(struct call_path *call_path, uint32_t function, bool alone);

/* Sets the lines of the functions: of a frame's address in the innermost one, of a call in the
 * others; 0: not known. */
void call_path_find_lines(struct call_path *call_path, const struct functions *functions);

/* "LEAF < CALLER < ..." of at most so many functions, for the caller to free. */
char *call_path_text(const struct call_path *call_path, const struct functions *functions,
		     size_t most);

/* The filter's conditions on functions, of the leaf and of the stack: of functions that the path
 * has.
 */
bool call_path_is_taken(const struct call_path *call_path, const struct functions *functions,
			const struct filter *filter);

/* The function owning the time of a sample with this path. */
uint32_t call_path_leaf(const struct call_path *call_path);

#endif
