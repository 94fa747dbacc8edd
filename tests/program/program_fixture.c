#include "tests/program/program_fixture.h"

#include <check.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

struct program_fixture program_fixture_make(uint8_t first, uint32_t id_size)
{
	struct program_fixture file = {.name = "GNU"};
	size_t note = offsetof(struct program_fixture, note);
	size_t size = sizeof(file.note) + sizeof(file.name) + id_size;
	memcpy(file.header.e_ident, ELFMAG, SELFMAG);
	file.header.e_ident[EI_CLASS] = ELFCLASS64;
	file.header.e_ident[EI_DATA] = ELFDATA2LSB;
	file.header.e_phoff = offsetof(struct program_fixture, segment);
	file.header.e_shoff = offsetof(struct program_fixture, section);
	file.header.e_phnum = file.header.e_shnum = 1;
	file.segment = (Elf64_Phdr){.p_type = PT_NOTE, .p_offset = note, .p_filesz = size};
	file.section = (Elf64_Shdr){.sh_type = SHT_NOTE, .sh_offset = note, .sh_size = size};
	file.note = (Elf64_Nhdr){sizeof(file.name), id_size, NT_GNU_BUILD_ID};
	for (uint32_t i = 0; i < id_size; i++)
		file.id[i] = (uint8_t)(first + i);
	return file;
}

const char *program_fixture_write(const char *path, const void *bytes, size_t size)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0755);
	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(write(fd, bytes, size), (ssize_t)size);
	close(fd);
	return path;
}
