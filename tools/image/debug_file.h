/*
 * The separate debug file of a module, for libdwfl.
 */
#ifndef TOOLS_IMAGE_DEBUG_FILE_H
#define TOOLS_IMAGE_DEBUG_FILE_H

#include "program/debug_file.h"
#include <elfutils/libdwfl.h>

/*
 * libdwfl's find_debuginfo callback. The module's user data is a struct debug_file_search with the
 * directories and the owner. Debug files and files of shared DWARF are looked for as
 * program/debug_file.h says; for what is not found so, servers are asked where DEBUGINFOD_URLS
 * names some. Where there is no file of shared DWARF an empty one is handed over, as libdw would
 * open whatever the name says. What is handed over is a copy in memory (snapshot.h): libdwfl's own
 * search opens files to their ends before anybody could do that.
 */
int debug_file_find(Dwfl_Module *module, void **user, const char *name, Dwarf_Addr base,
		    const char *file, const char *link, GElf_Word crc, char **found);

#endif
