/*
 * The separate debug file of a module, for libdwfl.
 */
#ifndef TOOLS_SYMBOLS_DEBUG_FILE_H
#define TOOLS_SYMBOLS_DEBUG_FILE_H

#include <elfutils/libdwfl.h>
#include <stdbool.h>

/* The module's user data. */
struct debug_file_search {
	const char *directories; /* as libdwfl takes them */
	bool found;              /* what is asked for next is another file: of shared DWARF */
};

/*
 * libdwfl's find_debuginfo callback. A file found by build-id is handed over with its sections
 * inflated (inflated.h): libdwfl's own search opens it to its end before anybody could do that.
 * What is not found so is looked for by dwfl_standard_find_debuginfo.
 */
int debug_file_find(Dwfl_Module *module, void **user, const char *name, Dwarf_Addr base,
		    const char *file, const char *link, GElf_Word crc, char **found);

#endif
