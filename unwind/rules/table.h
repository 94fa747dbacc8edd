/*
 * The unwind rules of a whole x86 module, decoded once: 4 bytes a row. It pays where a module is
 * met at more addresses than the caches hold; see uw_space_wanted_table. What cannot be said in the
 * common form is in the table as "ask the interpreter".
 *
 * Immutable once built. Pages are 512 bytes of the module's addresses.
 */
#ifndef UNWIND_RULES_TABLE_H
#define UNWIND_RULES_TABLE_H

#include "unwind/rules/form.h"

enum {
	UW_TABLE_ROWS_MAX = 16 * 1024 * 1024, /* 64 MB; the largest programs have some 5 million */
	UW_TABLE_PAGES_MAX = 4 * 1024 * 1024, /* 2 GB of code, the rest is not in it; 16 MB */
	UW_TABLE_RULES_MAX = 65535,           /* a distribution's libraries have some 4000 in all */
	UW_TABLE_EFFORT_MAX =
		8 /* bytes of instructions that are run for each byte of the section */
};

struct uw_cfi;
struct uw_elf;
struct uw_table;

/*
 * Returns 0 and *table, one block for free(3), or -1 with errno: EFBIG too many rows or too much
 * effort, ENOMEM. An FDE that is malformed, or at odds with the search table, is left to the
 * interpreter. So is one of code that may switch stacks (stack_switch.h), if the file is given that
 * cfi is of, not NULL.
 */
int uw_table_build(const struct uw_cfi *cfi, const struct uw_elf *elf, struct uw_table **table);

/* The rules at rva; false: ask the interpreter. What it gives equals what that says; row->ends
 * holds too where another FDE takes over before this one's end. */
bool uw_table_find(const struct uw_table *table, uint64_t rva, struct uw_found_row *row);

/* Bytes that the table holds. */
size_t uw_table_bytes(const struct uw_table *table);

#endif
