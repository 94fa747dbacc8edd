/* Where functions start in programs without symbols, by their unwind tables. */
#include "tests/support/suite.h"
#include "tools/symbols/resolve.h"
#include <check.h>
#include <fcntl.h>
#include <gelf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *const programs[] = {
	SUBJECT_STRIPPED,
	SUBJECT_STATIC_STRIPPED,
#ifdef SUBJECT_STRIPPED_32
	SUBJECT_STRIPPED_32,
	SUBJECT_STATIC_STRIPPED_32,
#endif
};

#define PROGRAM_COUNT ((int)(sizeof(programs) / sizeof(programs[0])))

/* Whether the file is one that this is about. */
static void look_at(const char *path, bool *has_table, bool *has_symbols, GElf_Shdr *eh_frame)
{
	size_t names;
	size_t count;
	GElf_Shdr header;
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	*has_table = *has_symbols = false;
	elf_version(EV_CURRENT);
	Elf *elf = elf_begin(fd, ELF_C_READ, NULL);
	ck_assert_int_eq(elf_getphdrnum(elf, &count), 0);
	for (size_t i = 0; i < count; i++) {
		GElf_Phdr segment;
		ck_assert_ptr_nonnull(gelf_getphdr(elf, (int)i, &segment));
		*has_table |= segment.p_type == PT_GNU_EH_FRAME;
	}
	ck_assert_int_eq(elf_getshdrstrndx(elf, &names), 0);
	for (Elf_Scn *section = NULL; (section = elf_nextscn(elf, section));) {
		ck_assert_ptr_nonnull(gelf_getshdr(section, &header));
		*has_symbols |= header.sh_type == SHT_SYMTAB;
		if (strcmp(elf_strptr(elf, names, header.sh_name), ".eh_frame") == 0)
			*eh_frame = header;
	}
	elf_end(elf);
	close(fd);
}

static struct symbol_entry function_at(const char *path, uint64_t rva)
{
	struct mapped_file identity = {.path = path};
	struct symbol_address address = {.rva = rva};
	ck_assert_int_eq(resolve_file(&identity, NULL, &address, 1), SYMBOL_FILE_OPEN);
	ck_assert_ptr_null(address.function.name);
	ck_assert(address.function.is_pseudo);
	return address.function;
}

/* The program's compiled functions, as it prints them. */
static size_t ask(const char *path, uint64_t starts[3])
{
	char name[64];
	size_t count = 0;
	unsigned long rva;
	FILE *pipe = popen(path, "r");
	ck_assert_ptr_nonnull(pipe);
	while (fscanf(pipe, "%63s %lx", name, &rva) == 2) {
		bool is_compiled = strcmp(name, "subject_outer") == 0 ||
				   strcmp(name, "subject_local") == 0 ||
				   strcmp(name, "subject_alias") == 0;
		if (is_compiled && count < 3)
			starts[count++] = rva;
	}
	ck_assert_int_eq(pclose(pipe), 0);
	return count;
}

START_TEST(test_functions_of_stripped_programs)
{
	const char *path = programs[_i];
	bool has_table;
	bool has_symbols;
	GElf_Shdr eh_frame = {0};
	uint64_t starts[3];
	look_at(path, &has_table, &has_symbols, &eh_frame);
	ck_assert(!has_symbols && eh_frame.sh_size > 0);
	ck_assert_int_eq(has_table, _i % 2 == 0);
	ck_assert_uint_eq(ask(path, starts), 3);
	for (size_t i = 0; i < 3; i++) {
		struct symbol_entry function = function_at(path, starts[i]);
		ck_assert_uint_eq(function.start, starts[i]);
		ck_assert_uint_ge(function.size, 4);
		ck_assert_uint_le(function.size, 256);
		struct symbol_entry last = function_at(path, starts[i] + function.size - 1);
		ck_assert_uint_eq(last.start, starts[i]);
		struct symbol_entry behind = function_at(path, starts[i] + function.size);
		ck_assert_uint_eq(behind.start, starts[i] + function.size);
	}
}
END_TEST

static void copy_with(const char *from, const char *to, uint64_t at, const uint8_t *bytes,
		      size_t size)
{
	char command[2048];
	snprintf(command, sizeof(command), "[ '%s' = '%s' ] || cp '%s' '%s'", from, to, from, to);
	ck_assert_int_eq(system(command), 0);
	int fd = open(to, O_WRONLY | O_CLOEXEC);
	ck_assert_int_eq(pwrite(fd, bytes, size, (off_t)at), (ssize_t)size);
	close(fd);
}

/* Without section headers the program headers say where the tables are. */
START_TEST(test_file_without_sections)
{
	char path[] = "/tmp/test_eh_frame.XXXXXX";
	uint64_t starts[3];
	close(mkstemp(path));
	ck_assert_uint_eq(ask(SUBJECT_STRIPPED, starts), 3);
	copy_with(SUBJECT_STRIPPED, path, offsetof(Elf64_Ehdr, e_shoff), (const uint8_t[8]){0}, 8);
	copy_with(path, path, offsetof(Elf64_Ehdr, e_shnum), (const uint8_t[4]){0}, 4);
	for (size_t i = 0; i < 3; i++)
		ck_assert_uint_eq(function_at(path, starts[i] + 3).start, starts[i]);
	unlink(path);
}
END_TEST

/* What cannot be read ends the walk; nothing that is not there is made up. */
START_TEST(test_damaged_entries)
{
	static const uint8_t damages[][8] = {
		{0xff, 0xff, 0xff, 0xff},             /* the 64-bit form */
		{0xfe, 0xff, 0xff, 0xff},             /* longer than the section */
		{0x04, 0x00, 0x00, 0x00, 0xff, 0xff}, /* a CIE before the file; then out of step */
	};
	char path[] = "/tmp/test_eh_frame.XXXXXX";
	bool has_table;
	bool has_symbols;
	GElf_Shdr eh_frame = {0};
	uint64_t starts[3];
	close(mkstemp(path));
	look_at(SUBJECT_STATIC_STRIPPED, &has_table, &has_symbols, &eh_frame);
	ck_assert_uint_eq(ask(SUBJECT_STATIC_STRIPPED, starts), 3);
	for (size_t i = 0; i < sizeof(damages) / sizeof(damages[0]); i++) {
		copy_with(SUBJECT_STATIC_STRIPPED, path, eh_frame.sh_offset, damages[i],
			  sizeof(damages[i]));
		struct symbol_entry function = function_at(path, starts[0] + 3);
		if (i < 2)
			ck_assert_uint_eq(function.start, starts[0] + 3);
		ck_assert_uint_le(function.start, starts[0] + 3);
	}
	uint8_t *endless = malloc(eh_frame.sh_size);
	memset(endless, 0x80, eh_frame.sh_size); /* LEB128 values without an end */
	memset(endless, 0, eh_frame.sh_size / 2);
	copy_with(SUBJECT_STATIC_STRIPPED, path, eh_frame.sh_offset, endless, eh_frame.sh_size);
	ck_assert_uint_eq(function_at(path, starts[0] + 3).start, starts[0] + 3);
	free(endless);
	unlink(path);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("eh_frame");
	TCase *tcase = tcase_create("eh_frame");

	tcase_add_loop_test(tcase, test_functions_of_stripped_programs, 0, PROGRAM_COUNT);
	tcase_add_test(tcase, test_file_without_sections);
	tcase_add_test(tcase, test_damaged_entries);
	suite_add_tcase(suite, tcase);
	return run_suite(suite);
}
