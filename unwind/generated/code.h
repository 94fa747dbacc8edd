/*
 * Generated code: instructions in a target's memory that are in no file. Bytes are read from the
 * target in lines of 4 KB, kept for a moment, and then read again: code changes, often without a
 * word from the kernel. What was found out about code counts as long as its bytes are the same.
 */
#ifndef UNWIND_GENERATED_CODE_H
#define UNWIND_GENERATED_CODE_H

#include "unwind/analysis/way_out.h"
#include "unwind/unwind.h"

struct uw_generated;

enum {
	UW_GENERATED_LINE = 4096,
	UW_GENERATED_LINES = 1024, /* at most 4 MB for an address space */
	UW_GENERATED_WAYS = 4096,  /* ways out, of 176 bytes */
	/* How long a line counts as the target's memory. */
	UW_GENERATED_FRESH_NS = 10 * 1000 * 1000,
	/* How long after code was replaced samples may come that ran what was there before. */
	UW_GENERATED_SETTLE_NS = 300 * 1000 * 1000
};

/* reader is copied. NULL: out of memory. */
struct uw_generated *uw_generated_create(const struct uw_code_reader *reader);
void uw_generated_destroy(struct uw_generated *generated); /* accepts NULL */

/* A walk begins: lines read long ago are read again when they are next asked for. Accepts NULL. */
void uw_generated_begin(struct uw_generated *generated);

/* Mappings changed: all lines are read again when they are next asked for. Accepts NULL. */
void uw_generated_outdate(struct uw_generated *generated);

/* Reads size bytes of code; false: not all can be read. The caller knows that they are code. */
bool uw_generated_read(struct uw_generated *generated, uint64_t address, void *bytes, size_t size);

/* As below, of code of a file, which source reads, in mappings that are as they were. */
struct uw_way_out uw_generated_way_of_file(struct uw_generated *generated,
					   const struct uw_analysis_source *source,
					   uint64_t address);

/* Instructions that searches of ways looked at, so far. */
uint64_t uw_generated_steps(const struct uw_generated *generated);

/* The way out of the x86-64 code at address in the mapping [start, end). UW_WAY_UNKNOWN: none is
 * found. The same until the code's bytes change. Unknown for a while after other
 * code lay there. */
struct uw_way_out uw_generated_way(struct uw_generated *generated, uint64_t start, uint64_t end,
				   uint64_t address);

#endif
