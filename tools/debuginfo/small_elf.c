#include "tools/debuginfo/small_elf.h"

#include "tools/memory/xalloc.h"
#include <assert.h>
#include <elf.h>
#include <endian.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* Appends to the file and moves its end. */
static bool add_bytes(int fd, uint64_t *end, const void *bytes, size_t size)
{
	bool is_written = pwrite(fd, bytes, size, (off_t)*end) == (ssize_t)size;
	*end += size;
	return is_written;
}

/* The header, then the sections' bytes, their names, and the table of both. */
static bool write_file(int fd, const struct small_elf_section *sections, size_t count,
		       Elf64_Shdr *table)
{
	Elf64_Ehdr header = {.e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64,
					 __BYTE_ORDER == __LITTLE_ENDIAN ? ELFDATA2LSB
									 : ELFDATA2MSB,
					 EV_CURRENT},
			     .e_type = ET_EXEC,
			     .e_machine = EM_X86_64,
			     .e_version = EV_CURRENT,
			     .e_ehsize = sizeof(header),
			     .e_shentsize = sizeof(*table),
			     .e_shnum = (Elf64_Half)(count + 2),
			     .e_shstrndx = (Elf64_Half)(count + 1)};
	assert(count + 2 <= UINT16_MAX);
	Elf64_Shdr *names = &table[count + 1];
	uint64_t end = sizeof(header);
	bool is_written = true;
	*names = (Elf64_Shdr){.sh_type = SHT_STRTAB, .sh_size = 1, .sh_addralign = 1};
	for (size_t i = 0; i < count; i++) {
		table[i + 1] = (Elf64_Shdr){.sh_name = (Elf64_Word)names->sh_size,
					    .sh_type = SHT_PROGBITS,
					    .sh_offset = end,
					    .sh_size = sections[i].size,
					    .sh_addralign = 1};
		names->sh_size += strlen(sections[i].name) + 1;
		is_written &= add_bytes(fd, &end, sections[i].bytes, sections[i].size);
	}
	names->sh_offset = end;
	is_written &= add_bytes(fd, &end, "", 1);
	for (size_t i = 0; i < count; i++)
		is_written &= add_bytes(fd, &end, sections[i].name, strlen(sections[i].name) + 1);
	header.e_shoff = end = (end + 7) & ~UINT64_C(7);
	return is_written && add_bytes(fd, &end, table, (count + 2) * sizeof(*table)) &&
	       pwrite(fd, &header, sizeof(header), 0) == sizeof(header);
}

int small_elf(const struct small_elf_section *sections, size_t count)
{
	int fd = memfd_create("small elf", MFD_CLOEXEC);
	if (fd < 0)
		return -1;
	Elf64_Shdr *table = xalloc_zeroed(count + 2, sizeof(*table));
	bool is_written = write_file(fd, sections, count, table);
	free(table);
	if (is_written)
		return fd;
	close(fd);
	return -1;
}
