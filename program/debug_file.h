/*
 * Separate debug files: where a program's debug file is looked for, and how it is recognized.
 *
 * The search stays in our own mount namespace: in another one the same names belong to other files.
 * It follows a list of directories in order, as libdwfl does,
 * 1. by the build-id, as DIRECTORY/.build-id/xx/yyyy.debug below the absolute ones,
 * 2. by name: the debug link's (.gnu_debuglink), or FILE.debug without a link. An empty entry is
 *    the program's own directory, a relative one (.debug) a directory below, and an absolute one is
 *    followed by the program's own path. Shared DWARF (.gnu_debugaltlink, as dwz makes it) lies
 *    below .dwz of the absolute directories, and of the program's own.
 * A link with a directory names nothing, except one to shared DWARF.
 *
 * A file is accepted if its build-id is the program's or, where one of the two has none, if its
 * CRC-32 is the link's. The program itself is never accepted, though a link may have its name. In
 * directories like /tmp anybody may put a file beside a program: the file's owner must be root,
 * this user or the program's owner, who decide about the program's code anyway.
 */
#ifndef PROGRAM_DEBUG_FILE_H
#define PROGRAM_DEBUG_FILE_H

#include "program/regular_file.h"
#include <stddef.h>
#include <stdint.h>

/* In libdwfl's form: colons between the entries, each perhaps with + or - before it. */
#define DEBUG_FILE_DIRECTORIES ":.debug:/usr/lib/debug"
/* Any owner will do: the user named the directories. */
#define DEBUG_FILE_ANYBODY UINT32_MAX

struct debug_file_search {
	const char *directories;
	const char *file;  /* path of the program, whose directory is all up to the last '/' */
	uint32_t owner;    /* of the program */
	const uint8_t *id; /* the build-id of program and debug file */
	size_t id_size;    /* below 3 or above 64: no file is named by the id */
	const char *name;  /* the link's; NULL: no link */
	bool is_shared;    /* the link is one to shared DWARF */
	bool has_crc;      /* crc is the link's */
	uint32_t crc;      /* of the whole debug file */
	off_t checked_max; /* bytes; a larger file is not read for its CRC */
};

/* Hands each fitting file to `take` until one is taken. A file of no use (take does not return 0)
 * does not end the search: the next place may have the right one. false: no file was taken. */
bool debug_file_open(const struct debug_file_search *search, regular_file_take *take, void *user);

#endif
