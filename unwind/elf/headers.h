/*
 * The headers of ELF files of both classes, read as the 64-bit ones (System V gABI, chapters 4 and
 * 5): a 32-bit file has the same fields, narrower and in another order. Pure reads, as uw_elf_read,
 * of tables through a window.
 */
#ifndef UNWIND_ELF_HEADERS_H
#define UNWIND_ELF_HEADERS_H

#include <elf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct uw_elf;
struct uw_window;

/* Reads the file's header; e_ident tells the class. Returns 0, or -1 with ENOEXEC: no ELF file of
 * either class, or not a little-endian one. */
int uw_ehdr_read(const struct uw_elf *elf, struct uw_window *window, Elf64_Ehdr *ehdr);

/* Read program or section header number i; false: not in the file. e_phentsize and e_shentsize are
 * checked to be those of the class. */
bool uw_phdr_read(const struct uw_elf *elf, struct uw_window *window, const Elf64_Ehdr *ehdr,
		  unsigned i, Elf64_Phdr *phdr);
bool uw_shdr_read(const struct uw_elf *elf, struct uw_window *window, const Elf64_Ehdr *ehdr,
		  unsigned i, Elf64_Shdr *shdr);

#endif
