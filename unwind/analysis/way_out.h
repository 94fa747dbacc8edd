/*
 * The way from an instruction to its function's return, for code whose function is not known where
 * it starts: what the instructions from there on do to the stack pointer shows where the return
 * address lies. As for rows by analysis, calls are taken to preserve the stack pointer and rbp; of
 * a function that returns only through jumps to unknown places nothing is known.
 */
#ifndef UNWIND_ANALYSIS_WAY_OUT_H
#define UNWIND_ANALYSIS_WAY_OUT_H

#include "unwind/analysis/analysis.h"

enum uw_way_base {
	UW_WAY_UNKNOWN,
	UW_WAY_SP, /* the return address counts from the stack pointer, */
	UW_WAY_FP  /* or from rbp */
};

/* What becomes of rbp on the way. */
enum uw_way_fp {
	UW_WAY_FP_LOST,  /* not known */
	UW_WAY_FP_SAME,  /* the caller has the same value */
	UW_WAY_FP_BELOW, /* the caller's lies right below the return address */
};

struct uw_way_out {
	uint8_t base;    /* enum uw_way_base */
	uint8_t fp;      /* enum uw_way_fp */
	bool is_tail;    /* told by a jump to an unknown place alone */
	uint16_t popped; /* bytes above the return address that a return takes off the stack, at
			    least */
	int32_t slot;    /* bytes from the base to the return address */
	uint32_t steps;  /* instructions looked at */
	uint64_t from; /* the code that was looked at, also where nothing was found: [from, end) */
	uint64_t end;
};

/*
 * Finds the way out from the instruction at address. Of source only the reading is used: code that
 * it does not know is another function's. All returns that are found in a bounded number of steps
 * agree; where there is none, a jump to another function that leaves the frame as a return would
 * tells the same. false: out of memory; *way says then that nothing is known. Thread-safe as far as
 * the source is.
 */
bool uw_way_out_find(const struct uw_analysis_source *source, uint64_t address,
		     struct uw_way_out *way);

#endif
