/*
 * The sections of a tb5 file, read through the public TBRW API: print_tb5 and tbrw_reader make
 * different things of one walk.
 */
#ifndef TOOLS_TB5_TB5_WALK_H
#define TOOLS_TB5_TB5_WALK_H

#include "tbrw/tbrw.h"
#include "tools/tb5/tbrw_dat.h"

#define TB5_SECTION_KINDS 3

struct tb5_section {
	const char *name; /* NULL: none is shown */
	TBRW_U32 id;
	enum dat_kind kinds[TB5_SECTION_KINDS];
};

/* Who walks; the first member of what its functions need. */
struct tb5_walk {
	TBRW_PTR file;
	uint32_t stream; /* that is being read; DAT_NO_STREAM: the global sections */
	/* code: what reading the section began with, VT_SECTION_NOT_EXIST too. */
	void (*begin)(struct tb5_walk *walk, const struct tb5_section *section, TBRW_U32 code);
	/* A structure, with the array that dat_array_of finds. Returns TRUE, or FALSE to leave out
	 * the others of its run, or a code that ends the section. */
	TBRW_U32 (*record)(struct tb5_walk *walk, enum dat_kind kind, const void *record);
	/* DAT_SYSTEM, DAT_USER_GLOBAL, DAT_USER_STREAM; may be changed. */
	void (*bytes)(struct tb5_walk *walk, enum dat_kind kind, unsigned char *bytes,
		      TBRW_U32 size);
	TBRW_U32 (*data)(struct tb5_walk *walk); /* reads a stream's data section */
	/* code: what reading the section ended with. The walk ends with what this returns, if that
	 * is not VT_SUCCESS. */
	TBRW_U32 (*end)(struct tb5_walk *walk, const struct tb5_section *section, TBRW_U32 code);
};

/* All sections of walk->stream. Returns what end() returned. */
TBRW_U32 tb5_walk_sections(struct tb5_walk *walk);

#endif
