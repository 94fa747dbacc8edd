/*
 * Generated code by time: which function, of those that jitdumps tell of, lay at a frame's address
 * when samples were taken. A process maps its dump for perf to see (the file's first page, as
 * code), and so the result has it among the process's modules. Dumps are opened at the first need,
 * and read by address: of all that compilers wrote, only what was sampled is kept.
 *
 * The file must be the mapped one, a regular file of the process's user, and no link.
 */
#ifndef TOOLS_GENERATED_CODE_LIVES_H
#define TOOLS_GENERATED_CODE_LIVES_H

#include "profile/read/reader.h"
#include "tools/symbols/address.h"
#include "tools/symbols/resolve.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct code_lives;

/* A jitdump's file, and what became of reading it. */
struct code_dump_file {
	const char *path; /* the reader's */
	uint32_t image;   /* PROFILE_IMAGE_JIT, of the process that mapped it */
	enum perf_map_status status;
};

/* Reads the dumps of a result, and its samples and waits if several functions lay at one frame's
 * address. reader must outlive the lives. */
struct code_lives *code_lives_read(struct profile_reader *reader);
void code_lives_destroy(struct code_lives *lives); /* accepts NULL */

/* How many frames stand for several functions at several times: their symbols are those of the
 * first one seen. */
size_t code_lives_mixed_count(const struct code_lives *lives);

/* Whether a node, or one on its way to the root, is of such a frame. */
bool code_lives_is_mixed_node(const struct code_lives *lives, uint32_t node);

/* The life at a frame's address at a time (TSC), a number below code_lives_count, or PROFILE_NONE
 * if it is the one that the frame stands for, or none is known. */
uint32_t code_lives_other(const struct code_lives *lives, uint32_t frame, uint64_t tsc);
uint32_t code_lives_count(const struct code_lives *lives);

/* Sets the function of the address's frame; false: no dump tells of it. */
bool code_lives_resolve(struct code_lives *lives, struct symbol_address *address);

const struct code_dump_file *code_lives_files(const struct code_lives *lives, size_t *count);

#endif
