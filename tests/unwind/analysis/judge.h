/* Rows by analysis of code against rows by call frame information. */
#ifndef TESTS_UNWIND_ANALYSIS_JUDGE_H
#define TESTS_UNWIND_ANALYSIS_JUDGE_H

#include "unwind/analysis/analysis.h"
#include "unwind/cfi/row.h"

/* What became of a byte of code, the best last. */
enum verdict {
	NO_CODE,      /* not described by call frame information */
	LINKAGE,      /* stubs with a CFA by expression, written by linkers */
	PADDING,      /* nops that no way leads to */
	EXCEPTIONS,   /* of functions with landing pads; no way leads there */
	UNTOLD,       /* described; no analysis came there */
	FIRST_REASON, /* no row: FIRST_REASON + enum uw_analysis_reason */
	PARTLY = FIRST_REASON + UW_ANALYSIS_REASON_COUNT, /* a register is not known */
	RIGHT,
	EXCUSED,       /* differs, with a known cause */
	CONTRADICTORY, /* differs, and the function's table contradicts itself */
	WRONG,
	DISPUTED, /* two functions claim different rows: neither's are used */
	VERDICT_COUNT
};

/* RIGHT, PARTLY, WRONG, or why ours has no row. */
enum verdict judge(const struct uw_row *theirs, const struct uw_analysis_row *ours);

/* Prints the two. */
void judge_print(const struct uw_row *theirs, const struct uw_analysis_row *ours);

/* Words for a verdict. */
const char *judge_word(enum verdict verdict);

#endif
