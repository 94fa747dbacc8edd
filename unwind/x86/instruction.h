/*
 * x86-64 instructions, as far as walks look at code: how long the usual ones are, and what they do
 * to the stack pointer and to the flow of control (AMD64 manual, volume 3, chapters 1 and 3).
 */
#ifndef UNWIND_X86_INSTRUCTION_H
#define UNWIND_X86_INSTRUCTION_H

#include <stddef.h>
#include <stdint.h>

enum uw_instruction_kind {
	UW_INSTRUCTION_UNKNOWN, /* not known here, or not all there */
	UW_INSTRUCTION_PLAIN,   /* goes on; pushes, and constants added to the stack pointer, too */
	UW_INSTRUCTION_BRANCH,  /* goes on, or to its target */
	UW_INSTRUCTION_LOAD,    /* the stack pointer is loaded from another register or memory, or
				   aligned */
	UW_INSTRUCTION_STACK,   /* takes words off the stack, or moves its pointer in another way */
	UW_INSTRUCTION_CALL,
	UW_INSTRUCTION_GOTO, /* to its target */
	UW_INSTRUCTION_JUMP, /* to the address in a register or memory */
	UW_INSTRUCTION_END   /* returns, or goes nowhere */
};

struct uw_instruction {
	enum uw_instruction_kind kind;
	unsigned size;
	int32_t distance; /* BRANCH and GOTO: of the target from the instruction's end */
};

/* The instruction that bytes start with. */
struct uw_instruction uw_instruction_read(const uint8_t *bytes, size_t size);

/* Bytes of an operand from its ModRM byte on. sib is the byte after that, which counts only where
 * the ModRM byte says that there is one. */
unsigned uw_modrm_size(uint8_t modrm, uint8_t sib);

#endif
