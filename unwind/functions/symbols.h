/* The functions that a file's symbol tables name: System V gABI, chapter 4, "Symbol table". */
#ifndef UNWIND_FUNCTIONS_SYMBOLS_H
#define UNWIND_FUNCTIONS_SYMBOLS_H

#include "unwind/elf/elf.h"

/* Code that a symbol names. */
struct uw_symbol {
	uint64_t start;
	uint32_t size; /* 0: not told */
	bool is_part;  /* a cold part, entered by jumps only */
};

/* All zero: empty. Sorted by start, one of each start. */
struct uw_symbols {
	struct uw_symbol *items; /* owned */
	size_t count, capacity;
};

/* Reads the functions of .symtab, or else of .dynsym. elf has its sections. A malformed table gives
 * fewer symbols. false: out of memory; finish then too. */
bool uw_symbols_read(struct uw_symbols *symbols, const struct uw_elf *elf);
void uw_symbols_finish(struct uw_symbols *symbols);

/* The last symbol that starts at or before rva, and the start of the next one, or UINT64_MAX. NULL:
 * none does. */
const struct uw_symbol *uw_symbols_find(const struct uw_symbols *symbols, uint64_t rva,
					uint64_t *next);

#endif
