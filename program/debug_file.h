/*
 * Separate debug files: where a program's is looked for, and whether a file is it.
 *
 * They are looked for in the file system as we see it: what another mount namespace has under the
 * same names belongs to other files. In the order of a list of directories, as libdwfl does,
 * 1. by the build-id, as DIRECTORY/.build-id/xx/yyyy.debug below the absolute ones,
 * 2. by name, that of the debug link (.gnu_debuglink) or without a link FILE.debug: beside the file
 *    for an empty entry, below directories beside it (.debug), and below each absolute directory in
 *    the file's own path. Shared DWARF (.gnu_debugaltlink, as dwz makes it) lies below .dwz of the
 *    absolute directories, and of the file's own.
 * A name is the name of a file; but for that of shared DWARF, one with a directory names nothing.
 *
 * A file is taken if it has the program's build-id, or if one of the two has none and the link's
 * CRC-32 is the file's. It is never the program itself, whose name a link may have. Beside a
 * program anybody may put files where others may write (/tmp): it has to belong to who may say what
 * the program's code does: root, this user, or the program's owner.
 */
#ifndef PROGRAM_DEBUG_FILE_H
#define PROGRAM_DEBUG_FILE_H

#include "program/regular_file.h"
#include <stddef.h>
#include <stdint.h>

/* As libdwfl has them: colons between the entries, each perhaps with + or - before it. */
#define DEBUG_FILE_DIRECTORIES ":.debug:/usr/lib/debug"
/* No owner is asked for, where the user named the directories. */
#define DEBUG_FILE_ANYBODY UINT32_MAX

struct debug_file_search {
	const char *directories;
	const char *file;  /* path of the program, whose directory is all up to the last '/' */
	uint32_t owner;    /* of the program */
	const uint8_t *id; /* the build-id that the debug file has as well */
	size_t id_size;    /* below 3 or above 64: none that a file is named by */
	const char *name;  /* the link's; NULL: no link */
	bool is_shared;    /* it is the link of shared DWARF */
	bool has_crc;      /* crc is the link's */
	uint32_t crc;      /* of the whole debug file */
	off_t checked_max; /* bytes of a file that are read for its CRC */
};

/* Hands over the first file that fits and that is taken; a file that is of no use (take does not
 * return 0) is no reason to stop: the next place may have the one. false: there is none. */
bool debug_file_open(const struct debug_file_search *search, regular_file_take *take, void *user);

#endif
