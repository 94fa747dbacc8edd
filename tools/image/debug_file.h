/*
 * The separate debug file of a module, for libdwfl.
 */
#ifndef TOOLS_IMAGE_DEBUG_FILE_H
#define TOOLS_IMAGE_DEBUG_FILE_H

#include <elfutils/libdwfl.h>
#include <stdbool.h>

/* The module's user data. */
struct debug_file_search {
	const char *directories; /* as libdwfl takes them */
};

/*
 * libdwfl's find_debuginfo callback. Nothing is opened but by regular_file_open, under names
 * that lead nowhere else: digits, and the last part of what the file says. The debug file of a
 * module is looked for
 * 1. by the build-id, as DIRECTORY/.build-id/xx/yyyy.debug below the absolute directories,
 * 2. by the debug link's name, or where there is no link by FILE.debug: beside the file, below
 *    directories beside it (.debug), and below each absolute directory in the file's own path.
 * It is taken if it has the same build-id, or if the link's checksum is its own and one of the two
 * has no build-id, and never if it is the module's file itself, whose name a link may have.
 * A file of shared DWARF (.gnu_debugaltlink, as dwz makes it) is looked for likewise, by the
 * build-id that goes with its name, and below .dwz of the directories and of the file's own. For
 * what is not found so, servers are asked where DEBUGINFOD_URLS names some. Where there is no file
 * of shared DWARF an empty one is handed over, as libdw would open whatever the name says.
 * What is handed over is a copy in memory (snapshot.h): libdwfl's own search opens it to its end
 * before anybody could make one.
 */
int debug_file_find(Dwfl_Module *module, void **user, const char *name, Dwarf_Addr base,
		    const char *file, const char *link, GElf_Word crc, char **found);

#endif
