/*
 * Machine code of x86 as text, by Zydis.
 */
#ifndef TOOLS_CODE_DISASSEMBLY_H
#define TOOLS_CODE_DISASSEMBLY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct instruction {
	uint64_t rva;
	uint8_t size;    /* bytes, at least 1 */
	bool is_jump;    /* to target, conditional or not */
	bool has_target; /* a direct jump or call */
	uint64_t target; /* rva */
	char *text;      /* "(bad)" of a byte that begins no instruction */
};

struct disassembly { /* all zero: empty */
	struct instruction *instructions;
	size_t count;
	size_t capacity;
};

/* Appends the instructions of the code at rva, the last one whole or bad. is_32bit: of 32-bit
 * code. with_intel: Intel's syntax, else AT&T's. */
void disassembly_add(struct disassembly *disassembly, const uint8_t *code, size_t size,
		     uint64_t rva, bool is_32bit, bool with_intel);
void disassembly_finish(struct disassembly *disassembly);

#endif
