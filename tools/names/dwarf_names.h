/*
 * Names of functions as DWARF gives them.
 */
#ifndef TOOLS_NAMES_DWARF_NAMES_H
#define TOOLS_NAMES_DWARF_NAMES_H

#include <elfutils/libdw.h>
#include <stddef.h>

#define DWARF_NAMES_CACHE 64u
/* Finding the scopes of an entry reads its whole unit; a file is not worth more of that. */
#define DWARF_NAMES_SCOPED_MAX 4096u

struct dwarf_names { /* all zero: empty; one per file */
	struct {
		const void *die; /* where the entry lies in memory */
		char *name;
	} cache[DWARF_NAMES_CACHE];
	size_t scoped;
};

/*
 * The linkage name where there is one. GCC leaves it out for lambdas and members of local classes:
 * in C++ those are put together from their scopes, main::{lambda}::operator(). NULL if the
 * entry has no name; valid until the next call.
 */
const char *dwarf_names_of(struct dwarf_names *names, Dwarf_Die *die);
void dwarf_names_finish(struct dwarf_names *names);

#endif
