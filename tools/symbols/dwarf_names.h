/*
 * Names of functions from DWARF.
 */
#ifndef TOOLS_SYMBOLS_DWARF_NAMES_H
#define TOOLS_SYMBOLS_DWARF_NAMES_H

#include <elfutils/libdw.h>
#include <stddef.h>

#define DWARF_NAMES_CACHE 64u
/* Limit for a file: finding the scopes of an entry reads its whole unit. */
#define DWARF_NAMES_SCOPED_MAX 4096u

struct dwarf_names { /* all zero: empty; one per file */
	struct {
		const void *die; /* address of the entry in memory */
		char *name;
	} cache[DWARF_NAMES_CACHE];
	size_t scoped;
};

/*
 * The linkage name if there is one. GCC leaves linkage names out for lambdas and members of local
 * classes: in C++ their names are put together from their scopes, main::{lambda}::operator(). NULL
 * if the entry has no name; valid until the next call.
 */
const char *dwarf_names_of(struct dwarf_names *names, Dwarf_Die *die);
void dwarf_names_finish(struct dwarf_names *names);

#endif
