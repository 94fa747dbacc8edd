/*
 * The description of Go's module in its variables (moduledata, Go, src/runtime/symtab.go), as far
 * as the table of functions refers to it.
 */
#ifndef UNWIND_GO_DATA_H
#define UNWIND_GO_DATA_H

#include <stdbool.h>
#include <stdint.h>

struct uw_elf;

/* What tells one module's description: where its table is, and the numbers in the table's header
 * that the description repeats as addresses. */
struct uw_go_clue {
	uint64_t table;                              /* rva */
	uint64_t names, units, files, values, index; /* offsets in the table */
	uint64_t first,
		end; /* offsets of the index: of the first function, and of the code's end */
};

struct uw_go_data {
	uint64_t text;      /* rva from which functions count */
	uint64_t functions; /* rva from which functions name their data; 0: not known */
};

/* Finds the description of a table of form UW_GO_1_18 or later. Reads the file's variables; false:
 * none of them fits. is_1_20: of form UW_GO_1_20. */
bool uw_go_data_find(const struct uw_elf *elf, const struct uw_go_clue *clue, bool is_1_20,
		     struct uw_go_data *data);

#endif
