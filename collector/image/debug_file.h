/*
 * Separate debug files, for the unwind information of programs that were built without their own.
 * They are looked for in the file system as the collector sees it: what another mount namespace has
 * under the same names belongs to other files.
 */
#ifndef COLLECTOR_IMAGE_DEBUG_FILE_H
#define COLLECTOR_IMAGE_DEBUG_FILE_H

#include "unwind/unwind.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { DEBUG_FILE_PLACES = 4, DEBUG_FILE_LINK_MAX = 256 };

/* What names a program's debug file. */
struct debug_file_names {
	const char *path; /* the program's; a folder is all up to its last '/' */
	const uint8_t *build_id;
	size_t build_id_size; /* 0: none */
	const char *link;     /* a file name; "": none */
};

/* The place number `place`, below DEBUG_FILE_PLACES, in the order of gdb and libdwfl. false: these
 * names have no such place, or it does not fit. */
bool debug_file_place(const struct debug_file_names *names, unsigned place, char *path,
		      size_t size);

/* Gives a module that lacks unwind information that of its debug file, if there is one that root,
 * this user or `owner` (of the program) owns. Only before the module is used. Others cost nothing.
 */
void debug_file_add(struct uw_module *module, const char *path, uint32_t owner);

#endif
