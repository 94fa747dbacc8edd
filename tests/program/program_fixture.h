/* Files that are as little of a program as a build-id needs. */
#ifndef TESTS_PROGRAM_PROGRAM_FIXTURE_H
#define TESTS_PROGRAM_PROGRAM_FIXTURE_H

#include <elf.h>
#include <stddef.h>
#include <stdint.h>

enum { PROGRAM_ID_MAX = 80 };

/* A note of a segment and of a section, which tests change before they write the file. */
struct program_fixture {
	Elf64_Ehdr header;
	Elf64_Phdr segment;
	Elf64_Shdr section;
	Elf64_Nhdr note;
	char name[4];
	uint8_t id[PROGRAM_ID_MAX];
};

/* With a build-id of so many bytes: first, first + 1 and so on. */
struct program_fixture program_fixture_make(uint8_t first, uint32_t id_size);

/* Writes, or overwrites, the file; returns the path. */
const char *program_fixture_write(const char *path, const void *bytes, size_t size);

#endif
