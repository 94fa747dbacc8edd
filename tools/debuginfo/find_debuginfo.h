/*
 * The separate debug file of a module, for libdwfl.
 */
#ifndef TOOLS_DEBUGINFO_FIND_DEBUGINFO_H
#define TOOLS_DEBUGINFO_FIND_DEBUGINFO_H

#include "program/debug_file.h"
#include <elfutils/libdwfl.h>

/*
 * libdwfl's find_debuginfo callback. The module's user data is a struct debug_file_search with the
 * directories and the owner. Debug files and shared DWARF are searched as in program/debug_file.h,
 * then asked of the servers in DEBUGINFOD_URLS, if set. For missing shared DWARF the result is an
 * empty file, as libdw would open any file that the link names. All results are copies in memory
 * (snapshot.h): libdwfl's own search opens files completely, before anybody could copy them.
 */
int find_debuginfo(Dwfl_Module *module, void **user, const char *name, Dwarf_Addr base,
		   const char *file, const char *link, GElf_Word crc, char **found);

#endif
