/*
 * A result made of stacks with weights: what files say that have sums in place of samples. All is
 * kept in memory until it is written. Times are not known (struct profile_run, is_timeless), but
 * for the sums. Without memory the program ends (tools/memory/xalloc.h).
 */
#ifndef TOOLS_IMPORT_STACKS_STACK_RESULT_H
#define TOOLS_IMPORT_STACKS_STACK_RESULT_H

#include "profile/profile.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct stack_result;

struct stack_result *stack_result_create(void);
void stack_result_destroy(struct stack_result *result); /* accepts NULL */

/* Where an image was mapped, all zero: not known. */
struct stack_mapping {
	uint64_t start;
	uint64_t length;
	uint64_t pgoff;
	uint64_t rva; /* of start, in the terms of frames */
};

/* Image 0 is that of unknown code. A mapping goes with a result of one process. image->path is not
 * looked at. All texts are copied. */
uint32_t stack_result_add_image(struct stack_result *result, const struct profile_image *image,
				const char *path, const struct stack_mapping *mapping);
uint32_t stack_result_add_frame(struct stack_result *result, const struct profile_frame *frame);

struct stack_symbol {
	const char *name;
	const char *full; /* NULL: the name */
	const char *file; /* NULL: not known */
	uint32_t line;
};

/* The functions at the frame added last, innermost first: all but the last one are inlined. */
void stack_result_add_symbols(struct stack_result *result, const struct stack_symbol *symbols,
			      size_t count);

/* The node of a frame below a parent; 0: the root. */
uint32_t stack_result_enter_node(struct stack_result *result, uint32_t parent, uint32_t frame);

/* Names "" and numbers 0: not known. */
struct stack_owner_name {
	const char *process;
	const char *thread;
	uint32_t pid;
	uint32_t tid;
};

uint32_t stack_result_enter_owner(struct stack_result *result, const struct stack_owner_name *name);

struct stack_weight {
	uint32_t owner;
	uint32_t node;
	uint8_t state;  /* enum profile_stack_state */
	uint8_t reason; /* enum profile_skip_reason */
	bool is_kernel; /* the kernel was hit: node 0 */
	uint64_t samples;
	uint64_t cpu_ns;
};

/* False: sums would overflow; nothing was added. With cpu_ns and without samples, the time of
 * is_kernel is spread over the owner's samples, other time becomes one sample. */
bool stack_result_add(struct stack_result *result, const struct stack_weight *weight);
/* CPU time of an owner in no sample, and of no known owner. */
bool stack_result_add_rest(struct stack_result *result, uint32_t owner, uint64_t cpu_ns);
bool stack_result_add_unattributed(struct stack_result *result, uint64_t cpu_ns);

/* A copy of the text, which lives as long as the result. */
const char *stack_result_keep(struct stack_result *result, const char *text);

/* A sentence for the summary, without an end. Frees it. */
void stack_result_warn(struct stack_result *result, char *sentence);

struct stack_run {
	const char *collector;  /* program and version */
	const char *command;    /* command line; NULL: not known */
	uint32_t command_pid;   /* 0: not known */
	uint64_t start_ns;      /* since 1970, 0: not known */
	uint64_t elapsed_ns;    /* 0: not known */
	uint64_t interval_ns;   /* CPU time a sample stands for; 0: not known */
	bool has_kernel_time;   /* in no sample: kernel mode was not sampled */
	uint64_t samples_limit; /* records to write at most, about; others are scaled down */
};

#define STACK_SAMPLES_MAX UINT64_C(4000000)

/* Writes the file at path. Returns a TBRW code. */
uint32_t stack_result_write(struct stack_result *result, const char *path,
			    const struct stack_run *run);

#endif
