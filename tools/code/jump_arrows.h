/*
 * Arrows beside a listing, from jumps to their targets, as objdump --visualize-jumps draws them.
 */
#ifndef TOOLS_CODE_JUMP_ARROWS_H
#define TOOLS_CODE_JUMP_ARROWS_H

#include "tools/code/disassembly.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct jump_arrows {
	uint8_t *cells; /* JUMP_ARROWS_LANES of each instruction */
	unsigned lanes; /* in use */
	bool is_ascii;
};

/* Short jumps lie inside, next to the text. One that finds no lane has no arrow. */
#define JUMP_ARROWS_LANES 6u
/* Nor has one over more instructions: nobody sees both ends. */
#define JUMP_ARROWS_REACH 400u

/* The arrows among the instructions, which lie at rising addresses. is_ascii: the output has no
 * other characters. */
void jump_arrows_make(struct jump_arrows *arrows, const struct disassembly *code, bool is_ascii);
void jump_arrows_finish(struct jump_arrows *arrows);

/* The part of an instruction's row, or of a row in front of it, for the caller to free. */
char *jump_arrows_draw(const struct jump_arrows *arrows, size_t instruction);
char *jump_arrows_draw_before(const struct jump_arrows *arrows, size_t instruction);

#endif
