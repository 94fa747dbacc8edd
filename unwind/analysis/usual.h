/* The usual instructions, decoded without Zydis, which takes some 100 ns for each: three quarters
 * of compilers' code. The same is told of them as by Zydis; the rest is left to it. */
#ifndef UNWIND_ANALYSIS_USUAL_H
#define UNWIND_ANALYSIS_USUAL_H

#include "unwind/analysis/effect.h"
#include <Zydis/Mnemonic.h>

enum uw_usual_kind {
	UW_USUAL_COMPUTE, /* with the operands below */
	UW_USUAL_PUSH,    /* of register to */
	UW_USUAL_POP,
	UW_USUAL_BRANCH,
	UW_USUAL_JUMP,
	UW_USUAL_CALL, /* of another place than the next instruction */
	UW_USUAL_NOP
};

struct uw_usual {
	enum uw_usual_kind kind;
	enum uw_condition condition; /* of BRANCH */
	uint8_t size;                /* of the instruction */
	uint8_t to_size, from_size;
	bool writes;        /* the first operand */
	bool changes_flags; /* that comparisons set */
	bool has_constant;  /* as second operand */
	ZydisMnemonic mnemonic;
	uint64_t target;          /* of BRANCH and JUMP */
	struct uw_place to, from; /* not set: none */
	int64_t constant;
};

/* Decodes the instruction at address, of which at most size bytes are there. false: it is no usual
 * one, or not whole. */
bool uw_usual_read(uint64_t address, const uint8_t *bytes, size_t size, struct uw_usual *usual);

#endif
