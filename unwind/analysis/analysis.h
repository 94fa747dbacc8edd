/*
 * Rows of unwind rules for a function without call frame information, by analysis of its code: as
 * objtool does when the kernel is built (linux/tools/objtool/Documentation/objtool.txt), here at
 * run time and for x86-64 code of any origin.
 *
 * The analysis follows the flow of control from the function's entry and tracks which registers
 * hold an address at a known distance from the CFA, and where the values that rbx, rbp and r12 to
 * r15 had at the entry are kept. Each address that is reached gets a row, if the CFA is known
 * there; where it is not, the reason is kept.
 *
 * What is taken for granted: the System V psABI, which is that the entry finds the return address
 * on top of the stack, that calls preserve the six registers and the stack pointer, and that stores
 * through pointers from elsewhere do not reach the words where registers are saved.
 */
#ifndef UNWIND_ANALYSIS_ANALYSIS_H
#define UNWIND_ANALYSIS_ANALYSIS_H

#include "unwind/frame/machine.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct uw_analysis;

enum {
	/* Of a part of a function, in bytes; a larger one has no rows. The largest of Debian 12's
	 * libraries with call frame information have 0.5 MB. */
	UW_ANALYSIS_SIZE_MAX = 1024 * 1024,
	/* A function's hot part, and what it jumps to with a frame of its own. */
	UW_ANALYSIS_PARTS_MAX = 12,
	UW_ANALYSIS_EXITS_MAX = 8, /* tail calls that are told */
	UW_ANALYSIS_EXTENT_MAX = 64 * 1024
};

/* Where code comes from. Each call may be made for any address. Tables of jumps are found at
 * addresses of less than 2 GB only, as files have them. */
struct uw_analysis_source {
	void *context; /* first argument of the calls */
	/* Copies exactly size bytes at address, which do not change while the program runs: code,
	 * or a table of jumps; false: they are not known. The copy is all that is looked at, so
	 * that code may change meanwhile. */
	bool (*read)(void *context, uint64_t address, void *bytes, size_t size);
	/* The code around address that belongs to one function, or to one part of it: [*start,
	 * *end), with address in it; false: there is none. */
	bool (*bounds)(void *context, uint64_t address, uint64_t *start, uint64_t *end);
	/* Bounds are found by a look at the code, so that one part may be taken for several. */
	bool bounds_are_narrow;
};

/* Why an address has no row. */
enum uw_analysis_reason {
	UW_ANALYSIS_KNOWN,    /* it has */
	UW_ANALYSIS_OUTSIDE,  /* not in the function, or none of its bytes is known */
	UW_ANALYSIS_APART,    /* no way leads there: data, padding, or reached by exceptions only */
	UW_ANALYSIS_JUMP,     /* as before, but jumps lead from the function to unknown places */
	UW_ANALYSIS_CONFLICT, /* ways that lead there, or to its predecessors, differ */
	UW_ANALYSIS_COMPUTED, /* the stack pointer is computed or loaded, no register gives the CFA
			       */
	UW_ANALYSIS_RETURN,   /* nowhere in the function: a return does not find the entry's frame,
				 because a call before it does not return, or by other rules than
				 the psABI's */
	UW_ANALYSIS_LIMIT,    /* the function takes too many steps */
	UW_ANALYSIS_REASON_COUNT
};

/* The rules of some addresses. Registers are DWARF numbers; bits and slots stand in the order of
 * uw_machine.saved. */
struct uw_analysis_row {
	uint8_t reason; /* enum uw_analysis_reason; the rest counts for UW_ANALYSIS_KNOWN only */
	/* CFA = cfa_reg + cfa_offset or, if cfa_is_stored, *(cfa_reg + cfa_offset). The return
	 * address lies in the word below. */
	uint8_t cfa_is_stored;
	uint8_t cfa_reg;
	uint8_t saved;   /* bit: slot has the caller's value */
	uint8_t by_fp;   /* bit: slot counts from rbp, not from the CFA */
	uint8_t same;    /* bit: the register has it, too */
	uint8_t zero[2]; /* rows are compared as bytes */
	int32_t cfa_offset;
	int32_t sp_offset, fp_offset; /* CFA - rsp, CFA - rbp; INT32_MIN: not known */
	int32_t slot[UW_SAVED_COUNT]; /* bytes; 0 where not saved */
};

/*
 * Analyses the x86-64 function at start. Steps and memory are bounded by the size of its code: at
 * most 8 steps and some 10 bytes a byte of code, and 600 bytes for each distinct state. Returns
 * NULL with errno: ENOMEM, or ENOENT if the source has no code there. Thread-safe as far as the
 * source is.
 */
struct uw_analysis *uw_analysis_run(const struct uw_analysis_source *source, uint64_t start);
void uw_analysis_destroy(struct uw_analysis *analysis); /* accepts NULL */

/* The row of the instruction with a byte at address. Never NULL: a row with a reason else. Valid as
 * long as the analysis. */
const struct uw_analysis_row *uw_analysis_find(const struct uw_analysis *analysis,
					       uint64_t address);

/*
 * Whether the entry is proven: a way from it, with no call that may not return, leads to a return
 * that finds the return address where the entry had it and all preserved registers as they were,
 * and no other return contradicts. The rows of the addresses that are reached then hold wherever in
 * a function the analysis began; but for a call that does not return although the code behind it
 * looks as if.
 */
bool uw_analysis_is_closed(const struct uw_analysis *analysis);

/* As uw_analysis_is_closed, but the way may have calls behind which padding lies, or code that is
 * jumped to: if they do not return, and the function has no frame there, the return may be
 * another's. */
bool uw_analysis_returns(const struct uw_analysis *analysis);

/* Whether a return contradicts, or there were too many steps. */
bool uw_analysis_is_contradicted(const struct uw_analysis *analysis);

/* Whether there were too many steps: nothing is known then. */
bool uw_analysis_is_spent(const struct uw_analysis *analysis);

/* Whether the stack pointer is a multiple of 16 at all calls (psABI, section 3.2.2). Compilers give
 * that up for calls of the file's own functions at most. */
bool uw_analysis_keeps_alignment(const struct uw_analysis *analysis);

/* Whether the function ends with a tail call of target, or of a place that is not known. */
bool uw_analysis_exits_to(const struct uw_analysis *analysis, uint64_t target);

/* Whether some jump leads to a place that is not known, in whatever state. */
bool uw_analysis_jumps_anywhere(const struct uw_analysis *analysis);

/* The tail calls of known places. Returns their number, at most UW_ANALYSIS_EXITS_MAX; *targets is
 * valid as long as the analysis. */
size_t uw_analysis_exits(const struct uw_analysis *analysis, const uint64_t **targets);

/* The bytes of memory that the analysis takes. */
size_t uw_analysis_memory(const struct uw_analysis *analysis);

/*
 * The row of the instruction at address, wherever its function starts, by the way from there to a
 * return: what that restores lies where the row says. is_behind_call: a call before the address
 * comes back there. The way ends at calls that do not return, as what follows tells, and one that
 * leads on into another function, behind a call that looked as if it returned, is known by the
 * stack pointer: at calls it is a multiple of 16 (psABI, section 3.2.2), at entries not. Besides
 * what is taken for granted above: words where registers are saved are not written before they are
 * restored.
 *
 * The row of a way without calls holds. One of a way with calls counts from the frame pointer, or
 * holds if the frame pointer is CFA - 16, where its caller's is saved: a call that does not return
 * may lead on to code with another frame, and so the row tells rbp alone. A return by the record
 * that rbp points to tells as much of a function that follows rules of its own, and may take
 * arguments off the stack. false: no way was found in some thousand instructions. *steps grows by
 * their number.
 */
bool uw_analysis_ahead(const struct uw_analysis_source *source, uint64_t address,
		       bool is_behind_call, struct uw_analysis_row *row, uint32_t *steps);

/*
 * Where the function at start ends, before limit, if nothing tells: behind the instruction after
 * which control does not go on, as far as no earlier one jumps over that; or behind a call that
 * padding follows, if none jumps back over this padding. Such an end may lie too far out, or, where
 * a table of jumps leads further, too near. is_strict: too near rather than too far; an aligned
 * address behind a call is taken for padding. At most UW_ANALYSIS_EXTENT_MAX bytes are looked at.
 * Returns start if there is no instruction.
 */
uint64_t uw_analysis_extent(const struct uw_analysis_source *source, uint64_t start, uint64_t limit,
			    bool is_strict);

/* As above of a part that is entered by jumps, which may lie among those of other functions: no
 * further than its first call, which may not return. */
uint64_t uw_analysis_call_end(const struct uw_analysis_source *source, uint64_t start,
			      uint64_t limit);

/* The places outside that the code from from on, up to limit or where control does not go on, jumps
 * to: of a part that is entered by jumps, places in its function. At most max; returns their
 * number.
 */
size_t uw_analysis_jumps(const struct uw_analysis_source *source, uint64_t from, uint64_t limit,
			 uint64_t *targets, size_t max);

/* The parts of the function's code: the one with its entry is number 0. false: no such part. */
bool uw_analysis_part(const struct uw_analysis *analysis, size_t number, uint64_t *start,
		      uint64_t *end);

#endif
