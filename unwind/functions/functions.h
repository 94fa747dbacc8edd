/*
 * The functions of a file's code without call frame information, as far as they are known: where
 * they start, by evidence, and their rows, by analysis of their code. Both are found when first
 * asked for, and kept: a file's code is analysed once for all address spaces.
 *
 * Evidence of a start: a symbol; a call that a walk found to be this function's
 * (uw_functions_learn); or code that looks like a start, and from which all ways that come to a
 * return find the frame that they were given. All addresses are the file's.
 */
#ifndef UNWIND_FUNCTIONS_FUNCTIONS_H
#define UNWIND_FUNCTIONS_FUNCTIONS_H

#include "unwind/analysis/analysis.h"
#include "unwind/cfi/find.h"
#include "unwind/elf/elf.h"

struct uw_functions;

enum {
	/* Of one file's analyses: some 30,000 functions. */
	UW_FUNCTIONS_MEMORY_MAX = 32 * 1024 * 1024,
	UW_FUNCTION_SIZE_MAX = 256 * 1024 /* a larger one has no rows: half a second */
};

/* For the x86-64 file elf, with sections and call frame information taken, whose code is read
 * through lines; all four must outlive the functions. Reads nothing yet. NULL: out of memory. */
struct uw_functions *uw_functions_create(struct uw_elf *elf, struct uw_lines *lines,
					 const struct uw_cfi *cfi, const struct uw_cfi *debug);
void uw_functions_destroy(struct uw_functions *functions); /* accepts NULL */

#define UW_START_UNKNOWN UINT64_MAX

/* The row of code without call frame information at rva, and the start of its function, which is
 * not before rva if the code is a cold part; UW_START_UNKNOWN: the row is by the way ahead, and has
 * the conditions of uw_analysis_ahead. exact: control is at rva, not behind the call there. NULL:
 * none is known. The row is valid until the next call. */
const struct uw_analysis_row *uw_functions_row(struct uw_functions *functions, uint64_t rva,
					       bool exact, uint64_t *start);

/* Takes it for known that a row by the way ahead does not hold. */
void uw_functions_refuse(struct uw_functions *functions, uint64_t rva, bool exact);

/* The row there, if the function starts at start. */
const struct uw_analysis_row *uw_functions_row_from(struct uw_functions *functions, uint64_t start,
						    uint64_t rva);

/* Whether a symbol tells the function at rva, and its returns follow other rules than the psABI's,
 * as far as analysis could tell: it has no rows then. */
bool uw_functions_deviates(struct uw_functions *functions, uint64_t rva);

/* Takes it for known that a function starts at start. */
void uw_functions_learn(struct uw_functions *functions, uint64_t start);

/* The number of starts learnt: rows that were not known may be when it has grown. */
uint32_t uw_functions_learnt(const struct uw_functions *functions);

/* What was done so far. */
struct uw_functions_counts {
	uint64_t analyses, bytes; /* of functions, and of their code; some more than once */
	uint64_t steps;           /* instructions of ways ahead */
};

void uw_functions_count(const struct uw_functions *functions, struct uw_functions_counts *counts);

/* What is known of the function at start, which may have call frame information: of its tail calls.
 * NULL: nothing. Valid until the next call. */
const struct uw_analysis *uw_functions_analysis(struct uw_functions *functions, uint64_t start);

#endif
