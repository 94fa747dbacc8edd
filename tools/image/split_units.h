/*
 * The parts of compilation units that lie in files of their own (split DWARF, .dwo). libdw would
 * open what the program's file names, whatever that is, so it is not asked: the file is opened here
 * (regular_file.h), copied (snapshot.h), and a copy of the unit's skeleton that names this copy is
 * what libdw gets to see.
 */
#ifndef TOOLS_IMAGE_SPLIT_UNITS_H
#define TOOLS_IMAGE_SPLIT_UNITS_H

#include <elfutils/libdw.h>
#include <elfutils/libdwfl.h>
#include <stdbool.h>
#include <stddef.h>

struct split_units {       /* all zero: empty; one per file */
	Dwarf **skeletons; /* each with its split unit */
	size_t count;
};

/* The module's file that has its DWARF, and so its skeletons; NULL: it has no name. The module's.
 */
const char *split_units_path(Dwfl_Module *module);

/*
 * Finds the rest of a skeleton unit, by its DW_AT_dwo_name or DW_AT_GNU_dwo_name: beside the file
 * that the skeleton is in, whose path may be NULL, or below DW_AT_comp_dir. Names and directories
 * that lead upwards (..) are not followed. False: there is none, or it is of another build (DWARF
 * 5, 3.1.2: their ids differ). The body's memory lives until split_units_finish.
 */
bool split_units_find(struct split_units *units, Dwarf_Die *skeleton, const char *file,
		      Dwarf_Die *body);
void split_units_finish(struct split_units *units);

#endif
