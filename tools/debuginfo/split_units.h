/*
 * Split DWARF: parts of compilation units in files of their own (.dwo). libdw would open any file
 * that the program names. Instead the file is opened here (regular_file.h) and copied (snapshot.h),
 * and libdw sees a copy of the unit's skeleton with the copied file's name.
 */
#ifndef TOOLS_DEBUGINFO_SPLIT_UNITS_H
#define TOOLS_DEBUGINFO_SPLIT_UNITS_H

#include <elfutils/libdw.h>
#include <elfutils/libdwfl.h>
#include <stdbool.h>
#include <stddef.h>

struct split_units {       /* all zero: empty; one per file */
	Dwarf **skeletons; /* each with its split unit */
	size_t count;
};

/* Path of the file with the module's DWARF and skeletons; NULL: no name. Owned by the module. */
const char *split_units_path(Dwfl_Module *module);

/*
 * Finds the rest of a skeleton unit, by its DW_AT_dwo_name or DW_AT_GNU_dwo_name: beside the
 * skeleton's file (its path may be NULL), or below DW_AT_comp_dir. Names and directories that lead
 * upwards (..) are not followed. False: none, or one of another build (DWARF 5, 3.1.2: their ids
 * differ). The body's memory lives until split_units_finish.
 */
bool split_units_find(struct split_units *units, Dwarf_Die *skeleton, const char *file,
		      Dwarf_Die *body);
void split_units_finish(struct split_units *units);

#endif
