/*
 * The sections of a tb5 file, read through the public TBRW API: one walk for print_tb5 and
 * tbrw_reader.
 */
#ifndef TOOLS_TB5_TB5_WALK_H
#define TOOLS_TB5_TB5_WALK_H

#include "tbrw/tbrw.h"
#include "tools/tb5/tbrw_dat.h"

#define TB5_WALK_SECTION_KINDS 3

struct tb5_walk_section {
	const char *name; /* NULL: none is shown */
	TBRW_U32 id;
	enum dat_kind kinds[TB5_WALK_SECTION_KINDS];
};

/* A walk and its callbacks; the first member of the struct with the callbacks' own state. */
struct tb5_walk {
	TBRW_PTR file;
	uint32_t stream; /* being read; DAT_NO_STREAM: the global sections */
	/* code: of beginning to read the section, VT_SECTION_NOT_EXIST too. */
	void (*begin)(struct tb5_walk *walk, const struct tb5_walk_section *section, TBRW_U32 code);
	/* A structure, with the array of dat_array_of. Returns TRUE, FALSE to leave out the rest of
	 * its run, or a code to end the section. */
	TBRW_U32 (*record)(struct tb5_walk *walk, enum dat_kind kind, const void *record);
	/* DAT_SYSTEM, DAT_USER_GLOBAL, DAT_USER_STREAM; may be changed. */
	void (*bytes)(struct tb5_walk *walk, enum dat_kind kind, unsigned char *bytes,
		      TBRW_U32 size);
	TBRW_U32 (*data)(struct tb5_walk *walk); /* reads a stream's data section */
	/* code: of the section as a whole. The walk ends with any code returned but VT_SUCCESS. */
	TBRW_U32(*end)
	(struct tb5_walk *walk, const struct tb5_walk_section *section, TBRW_U32 code);
};

/* Walks all sections of walk->stream. Returns the last code of end(). */
TBRW_U32 tb5_walk_sections(struct tb5_walk *walk);

#endif
