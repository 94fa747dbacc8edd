/* Opening an ELF file: reading its headers. */
#ifndef UNWIND_ELF_OPEN_H
#define UNWIND_ELF_OPEN_H

#include <stddef.h>

struct uw_elf;

/*
 * Fill *elf from a file or an image, which is copied. fd is duplicated (close-on-exec): a deleted
 * file stays readable. All reads are pread(2): a shrunk file costs information and never a SIGBUS.
 * Return 0, or -1 with errno as uw_module_open.
 */
int uw_elf_open(struct uw_elf *elf, int fd);
int uw_elf_from_memory(struct uw_elf *elf, const void *bytes, size_t size);

/* Reads the section headers, once. Sections are optional at run time: a malformed table only means
 * less information. */
void uw_elf_take_sections(struct uw_elf *elf);

#endif
