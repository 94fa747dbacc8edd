/* Source places of Go code: files, lines, and the calls that the compiler inlined. */
#ifndef UNWIND_GO_SOURCE_H
#define UNWIND_GO_SOURCE_H

#include "unwind/go/table.h"

enum { UW_GO_CALLS_MAX = 64 /* functions inlined into one another */ };

/* A function at an address: one that was inlined there, or the one around it. */
struct uw_go_call {
	const char *name; /* as uw_go_name */
	const char *file; /* of the code at the address, or of the call in it; NULL: not known */
	uint32_t line;    /* 0: not known */
};

/* Where the functions' data count from (moduledata.gofunc); 0: not known. Reads the file's
 * variables, so ask once. */
uint64_t uw_go_data_start(const struct uw_go *go, const struct uw_elf *elf);

/*
 * The functions at rva, an address in the function, innermost first; the last one is the function
 * itself. Inlined ones are known since UW_GO_1_18, with data_start of uw_go_data_start. Returns
 * their number, at least 1; the texts live as long as go.
 */
size_t uw_go_calls(const struct uw_go *go, const struct uw_elf *elf, uint64_t data_start,
		   const struct uw_go_function *function, uint64_t rva,
		   struct uw_go_call calls[static UW_GO_CALLS_MAX]);

#endif
