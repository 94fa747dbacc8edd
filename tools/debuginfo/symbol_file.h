/*
 * An ELF file opened for symbols: the file itself and, on demand, its separate debug file (build-id
 * directory, debug link, debuginfod where DEBUGINFOD_URLS is set) and the minimal symbol table in
 * .gnu_debugdata. libdwfl reads copies of them in memory (snapshot.h).
 */
#ifndef TOOLS_DEBUGINFO_SYMBOL_FILE_H
#define TOOLS_DEBUGINFO_SYMBOL_FILE_H

#include "program/mapped_file.h"
#include "tools/debuginfo/find_debuginfo.h"
#include <elfutils/libdwfl.h>
#include <gelf.h>
#include <stddef.h>
#include <stdint.h>

enum symbol_file_status {
	SYMBOL_FILE_OPEN,
	SYMBOL_FILE_MISSING,  /* no such file, not a regular one, or not readable */
	SYMBOL_FILE_REPLACED, /* another file by now: build-id or inode differ, or changed */
	SYMBOL_FILE_INVALID,  /* not an ELF file that libdwfl takes */
};

struct symbol_file {
	Dwfl *dwfl;
	Dwfl_Module *module; /* loaded at its own addresses: an address of the module is an rva */
	Elf *elf;            /* of the file itself; module's */
	char *debug_path;    /* libdwfl keeps a pointer to this pointer */
	char *directories;   /* the search's */
	Dwfl_Callbacks callbacks;
	struct debug_file_search search;
};

/* debug_path: directories of separate debug files in libdwfl's form, NULL for the system's, where
 * files must have a trusted owner (program/debug_file.h). The file must not move until it is
 * closed; closing is allowed after a failure too. */
enum symbol_file_status symbol_file_open(struct symbol_file *file, const struct mapped_file *mapped,
					 const char *debug_path);
/* The vdso of this process, if its build-id is the file's. */
enum symbol_file_status symbol_file_open_vdso(struct symbol_file *file,
					      const struct mapped_file *mapped);
void symbol_file_close(struct symbol_file *file);

/* Bytes of the file at an rva, *available of them up to the end of the segment's file contents;
 * NULL where the file holds none. They live until the file is closed. */
const uint8_t *symbol_file_bytes(const struct symbol_file *file, uint64_t rva, size_t *available);

/* A file's section by name; NULL if there is none. */
Elf_Scn *symbol_file_section(Elf *elf, const char *name, GElf_Shdr *header);

#endif
