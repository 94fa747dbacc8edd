#include "tools/image/small_elf.h"

#include "tools/cli/xalloc.h"
#include <endian.h>
#include <gelf.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static const char names_of_sections[] = ".shstrtab";

static bool add_section(Elf *elf, GElf_Word name, const void *bytes, size_t size, bool is_names)
{
	GElf_Shdr header;
	Elf_Scn *section = elf_newscn(elf);
	Elf_Data *data = section ? elf_newdata(section) : NULL;
	if (!data || !gelf_getshdr(section, &header))
		return false;
	*data = (Elf_Data){.d_buf = (void *)(uintptr_t)bytes,
			   .d_type = ELF_T_BYTE,
			   .d_size = size,
			   .d_align = 1,
			   .d_version = EV_CURRENT};
	header.sh_name = name;
	header.sh_type = is_names ? SHT_STRTAB : SHT_PROGBITS;
	header.sh_addralign = 1;
	return gelf_update_shdr(section, &header) != 0;
}

static bool set_header(Elf *elf, bool is_32bit, size_t names)
{
	GElf_Ehdr header;
	if (!gelf_newehdr(elf, is_32bit ? ELFCLASS32 : ELFCLASS64) || !gelf_getehdr(elf, &header))
		return false;
	header.e_ident[EI_DATA] = __BYTE_ORDER == __LITTLE_ENDIAN ? ELFDATA2LSB : ELFDATA2MSB;
	header.e_type = ET_EXEC;
	header.e_machine = is_32bit ? EM_386 : EM_X86_64;
	header.e_version = EV_CURRENT;
	header.e_shstrndx = (GElf_Half)names;
	return gelf_update_ehdr(elf, &header) != 0;
}

static bool fill(Elf *elf, bool is_32bit, const struct small_elf_section *sections, size_t count,
		 char *names)
{
	size_t length = 1 + sizeof(names_of_sections); /* the first name is empty */
	memcpy(names + 1, names_of_sections, sizeof(names_of_sections));
	if (!set_header(elf, is_32bit, count + 1))
		return false;
	for (size_t i = 0; i < count; i++) {
		size_t at = length;
		length += strlen(sections[i].name) + 1;
		memcpy(names + at, sections[i].name, length - at);
		if (!add_section(elf, (GElf_Word)at, sections[i].bytes, sections[i].size, false))
			return false;
	}
	return add_section(elf, 1, names, length, true) && elf_update(elf, ELF_C_WRITE) > 0;
}

int small_elf(bool is_32bit, const struct small_elf_section *sections, size_t count)
{
	size_t length = 1 + sizeof(names_of_sections);
	for (size_t i = 0; i < count; i++)
		length += strlen(sections[i].name) + 1;
	int fd = memfd_create("small elf", MFD_CLOEXEC);
	if (fd < 0)
		return -1;
	char *names = xalloc_zeroed(length, 1);
	elf_version(EV_CURRENT);
	Elf *elf = elf_begin(fd, ELF_C_WRITE, NULL);
	bool is_done = elf && fill(elf, is_32bit, sections, count, names);
	elf_end(elf);
	free(names);
	if (is_done)
		return fd;
	close(fd);
	return -1;
}
