/* Opening an ELF file: what its headers say. */
#ifndef UNWIND_ELF_OPEN_H
#define UNWIND_ELF_OPEN_H

#include <stddef.h>

struct uw_elf;

/*
 * Fill *elf from a file or an image, which is copied. fd is duplicated (close-on-exec), so that a
 * deleted file stays readable; it is only read with pread(2), so that a file that shrinks costs
 * information and never a SIGBUS. Return 0, or -1 with errno as uw_module_open.
 */
int uw_elf_open(struct uw_elf *elf, int fd);
int uw_elf_from_memory(struct uw_elf *elf, const void *bytes, size_t size);

/* Reads the section headers, once. They are optional at run time, so a malformed table only means
 * less information. */
void uw_elf_take_sections(struct uw_elf *elf);

#endif
