#include "unwind/elf/headers.h"

#include "unwind/elf/elf.h"
#include "unwind/elf/window.h"
#include <errno.h>
#include <string.h>

static void widen_ehdr(const Elf32_Ehdr *from, Elf64_Ehdr *ehdr)
{
	*ehdr = (Elf64_Ehdr){
		.e_type = from->e_type,
		.e_machine = from->e_machine,
		.e_version = from->e_version,
		.e_entry = from->e_entry,
		.e_phoff = from->e_phoff,
		.e_shoff = from->e_shoff,
		.e_flags = from->e_flags,
		.e_ehsize = from->e_ehsize,
		.e_phentsize = from->e_phentsize,
		.e_phnum = from->e_phnum,
		.e_shentsize = from->e_shentsize,
		.e_shnum = from->e_shnum,
		.e_shstrndx = from->e_shstrndx,
	};
	memcpy(ehdr->e_ident, from->e_ident, sizeof(ehdr->e_ident));
}

int uw_ehdr_read(const struct uw_elf *elf, struct uw_window *window, Elf64_Ehdr *ehdr)
{
	uint8_t ident[EI_NIDENT];
	Elf32_Ehdr narrow;
	bool read = false;

	if (uw_window_read(elf, window, 0, ident, sizeof(ident)) &&
	    memcmp(ident, ELFMAG, SELFMAG) == 0 && ident[EI_DATA] == ELFDATA2LSB) {
		if (ident[EI_CLASS] == ELFCLASS64) {
			read = uw_window_read(elf, window, 0, ehdr, sizeof(*ehdr));
		} else if (ident[EI_CLASS] == ELFCLASS32) {
			read = uw_window_read(elf, window, 0, &narrow, sizeof(narrow));
			if (read)
				widen_ehdr(&narrow, ehdr);
		}
	}
	if (!read)
		errno = ENOEXEC;
	return read ? 0 : -1;
}

/* Reads entry i of a table of entries of the given size. */
static bool read_entry(const struct uw_elf *elf, struct uw_window *window, uint64_t table,
		       unsigned i, void *entry, size_t size)
{
	uint64_t offset;

	return !__builtin_add_overflow(table, (uint64_t)i * size, &offset) &&
	       uw_window_read(elf, window, offset, entry, size);
}

bool uw_phdr_read(const struct uw_elf *elf, struct uw_window *window, const Elf64_Ehdr *ehdr,
		  unsigned i, Elf64_Phdr *phdr)
{
	Elf32_Phdr narrow;

	if (ehdr->e_ident[EI_CLASS] == ELFCLASS64)
		return ehdr->e_phentsize == sizeof(*phdr) &&
		       read_entry(elf, window, ehdr->e_phoff, i, phdr, sizeof(*phdr));
	if (ehdr->e_phentsize != sizeof(narrow) ||
	    !read_entry(elf, window, ehdr->e_phoff, i, &narrow, sizeof(narrow)))
		return false;
	*phdr = (Elf64_Phdr){
		.p_type = narrow.p_type,
		.p_flags = narrow.p_flags,
		.p_offset = narrow.p_offset,
		.p_vaddr = narrow.p_vaddr,
		.p_paddr = narrow.p_paddr,
		.p_filesz = narrow.p_filesz,
		.p_memsz = narrow.p_memsz,
		.p_align = narrow.p_align,
	};
	return true;
}

bool uw_shdr_read(const struct uw_elf *elf, struct uw_window *window, const Elf64_Ehdr *ehdr,
		  unsigned i, Elf64_Shdr *shdr)
{
	Elf32_Shdr narrow;

	if (ehdr->e_ident[EI_CLASS] == ELFCLASS64)
		return ehdr->e_shentsize == sizeof(*shdr) &&
		       read_entry(elf, window, ehdr->e_shoff, i, shdr, sizeof(*shdr));
	if (ehdr->e_shentsize != sizeof(narrow) ||
	    !read_entry(elf, window, ehdr->e_shoff, i, &narrow, sizeof(narrow)))
		return false;
	*shdr = (Elf64_Shdr){
		.sh_name = narrow.sh_name,
		.sh_type = narrow.sh_type,
		.sh_flags = narrow.sh_flags,
		.sh_addr = narrow.sh_addr,
		.sh_offset = narrow.sh_offset,
		.sh_size = narrow.sh_size,
		.sh_link = narrow.sh_link,
		.sh_info = narrow.sh_info,
		.sh_addralign = narrow.sh_addralign,
		.sh_entsize = narrow.sh_entsize,
	};
	return true;
}
