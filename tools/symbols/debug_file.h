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
 * libdwfl's find_debuginfo callback. The debug file of a module with a build-id is looked for
 * 1. by the build-id, as DIRECTORY/.build-id/xx/yyyy.debug below the absolute directories,
 * 2. by the debug link's name, or where there is no link by FILE.debug: beside the file, below
 *    directories beside it (.debug), and below each absolute directory in the file's own path.
 * It is taken if it has the same build-id, or if it has none and the link's checksum is its own,
 * and never if it is the module's file itself, whose name a link may have. It is handed over with
 * its sections inflated (inflated.h): libdwfl's own search opens it to its end before anybody could
 * do that. For what is not found so, servers are asked where DEBUGINFOD_URLS names some. Modules
 * without a build-id, and files of shared DWARF, are left to dwfl_standard_find_debuginfo.
 */
int debug_file_find(Dwfl_Module *module, void **user, const char *name, Dwarf_Addr base,
		    const char *file, const char *link, GElf_Word crc, char **found);

#endif
