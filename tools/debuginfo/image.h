/*
 * An ELF file opened for symbols: the file itself and, on demand, its separate debug file (build-id
 * directory, debug link, debuginfod where DEBUGINFOD_URLS is set) and the minimal symbol table in
 * .gnu_debugdata. libdwfl reads copies of them in memory (snapshot.h).
 */
#ifndef TOOLS_DEBUGINFO_IMAGE_H
#define TOOLS_DEBUGINFO_IMAGE_H

#include "program/mapped_file.h"
#include "tools/debuginfo/debug_file.h"
#include <elfutils/libdwfl.h>
#include <gelf.h>
#include <stddef.h>
#include <stdint.h>

enum symbol_image_status {
	SYMBOL_IMAGE_OPEN,
	SYMBOL_IMAGE_MISSING,  /* no such file, not a regular one, or not readable */
	SYMBOL_IMAGE_REPLACED, /* another file by now: build-id or inode differ, or changed */
	SYMBOL_IMAGE_INVALID,  /* not an ELF file that libdwfl takes */
};

struct symbol_image {
	Dwfl *dwfl;
	Dwfl_Module *module; /* loaded at its own addresses: an address of the module is an rva */
	Elf *elf;            /* of the file itself; module's */
	char *debug_path;    /* libdwfl keeps a pointer to this pointer */
	char *directories;   /* the search's */
	Dwfl_Callbacks callbacks;
	struct debug_file_search search;
};

/* debug_path: directories of separate debug files in libdwfl's form, NULL for the system's, where
 * files must have a trusted owner (program/debug_file.h). The image must not move until it is
 * closed; closing is allowed after a failure too. */
enum symbol_image_status symbol_image_open(struct symbol_image *image,
					   const struct mapped_file *file, const char *debug_path);
/* The vdso of this process, if its build-id is the file's. */
enum symbol_image_status symbol_image_open_vdso(struct symbol_image *image,
						const struct mapped_file *file);
void symbol_image_close(struct symbol_image *image);

/* Bytes of the file at an rva, *available of them up to the end of the segment's file contents;
 * NULL where the file holds none. They live until the image is closed. */
const uint8_t *symbol_image_bytes(const struct symbol_image *image, uint64_t rva,
				  size_t *available);

/* A file's section by name; NULL if there is none. */
Elf_Scn *symbol_image_section(Elf *elf, const char *name, GElf_Shdr *header);

#endif
