/* ELF files of a few sections, made in memory for libdw, which takes the width of addresses from
 * the DWARF inside. */
#ifndef TOOLS_DEBUGINFO_SMALL_ELF_H
#define TOOLS_DEBUGINFO_SMALL_ELF_H

#include <stdbool.h>
#include <stddef.h>

struct small_elf_section {
	const char *name;
	const void *bytes;
	size_t size;
};

/* Returns a descriptor of the file (a memfd, for the caller to close), or -1. */
int small_elf(const struct small_elf_section *sections, size_t count);

#endif
