/*
 * The machine code of functions of one image: its instructions, and where they come from.
 */
#ifndef TOOLS_CODE_MACHINE_CODE_H
#define TOOLS_CODE_MACHINE_CODE_H

#include "program/mapped_file.h"
#include "tools/code/disassembly.h"
#include "tools/symbols/resolve.h"

/* Of all ranges; what comes behind is left out. */
#define MACHINE_CODE_MAX ((uint64_t)4 << 20)

struct machine_code {
	struct disassembly code; /* at rising addresses */
	/* Of the instructions, and of the targets of their calls and jumps: sorted. */
	struct symbol_address *addresses;
	size_t address_count;
	uint64_t size; /* bytes taken so far */
	bool is_32bit;
	bool is_cut;   /* by MACHINE_CODE_MAX, or the file does not tell all of it */
	bool is_other; /* not x86's: no instructions */
};

/* Reads the code of the ranges, in any order, which may overlap, from the image's file. Without
 * SYMBOL_FILE_OPEN the code is empty. with_intel as for disassembly_add. */
enum symbol_file_status machine_code_read(struct machine_code *code, const struct mapped_file *file,
					  struct code_range *ranges, size_t count, bool with_intel);
void machine_code_finish(struct machine_code *code);

/* The functions at an address of `addresses`; NULL: none. */
struct symbol_address *machine_code_at(const struct machine_code *code, uint64_t rva);

#endif
