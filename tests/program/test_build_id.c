/* Build-ids of sound and of hostile files. */
#include "program/build_id.h"
#include "tests/program/program_fixture.h"
#include "tests/support/suite.h"
#include <check.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static uint8_t id[BUILD_ID_MAX];

static ssize_t read_id(const void *bytes, size_t size)
{
	int fd = memfd_create("program", MFD_CLOEXEC);
	ck_assert_int_eq(write(fd, bytes, size), (ssize_t)size);
	ssize_t result = build_id_read(fd, id);
	close(fd);
	return result;
}

static ssize_t read_file(const struct program_fixture *file)
{
	return read_id(file, sizeof(*file));
}

/* Loop: the sizes. */
START_TEST(whole_ids)
{
	static const uint32_t sizes[][2] = {{0, 0}, {1, 1}, {20, 20}, {64, 64}, {65, 0}};
	struct program_fixture file = program_fixture_make(7, sizes[_i][0]);
	ck_assert_int_eq(read_file(&file), sizes[_i][1]);
	ck_assert_mem_eq(id, file.id, sizes[_i][1]);
}
END_TEST

START_TEST(places)
{
	const uint8_t bytes[BUILD_ID_MAX] = {0x0a, 0xbc, 0xff, 0x01};
	char place[BUILD_ID_PLACE_SIZE];
	build_id_place(bytes, 1, place);
	ck_assert_str_eq(place, "0a/");
	build_id_place(bytes, 4, place);
	ck_assert_str_eq(place, "0a/bcff01");
	build_id_place(bytes, BUILD_ID_MAX, place);
	ck_assert_uint_eq(strlen(place), BUILD_ID_PLACE_SIZE - 1);
}
END_TEST

/* Debug files have segments that say where notes were. */
START_TEST(segment_or_section)
{
	struct program_fixture file = program_fixture_make(7, 20);
	file.segment.p_type = PT_LOAD;
	ck_assert_int_eq(read_file(&file), 20);
	file.segment.p_type = PT_NOTE;
	file.segment.p_offset = 0; /* the file's header, which is no note */
	ck_assert_int_eq(read_file(&file), 20);
	file.section.sh_type = SHT_PROGBITS;
	ck_assert_int_eq(read_file(&file), 0);
	file = program_fixture_make(7, 20);
	file.section.sh_type = SHT_PROGBITS;
	ck_assert_int_eq(read_file(&file), 20);
}
END_TEST

START_TEST(other_notes)
{
	struct program_fixture file = program_fixture_make(7, 20);
	Elf64_Nhdr first = {4, 5, NT_GNU_ABI_TAG};
	Elf64_Nhdr second = {4, 8, NT_GNU_BUILD_ID};
	file.segment.p_filesz = file.section.sh_size = 16 + 8 + 16 + 8;
	file.note = first;
	memcpy(file.id + 8, &second, sizeof(second));
	memcpy(file.id + 20, "GNU", 4);
	ck_assert_int_eq(read_file(&file), 8);
	ck_assert_mem_eq(id, file.id + 24, 8);
	memcpy(file.id + 20, "GNX", 4);
	ck_assert_int_eq(read_file(&file), 0);
}
END_TEST

START_TEST(no_program_of_this_machine)
{
	struct program_fixture file = program_fixture_make(7, 20);
	ck_assert_int_eq(read_id("", 0), -1);
	ck_assert_int_eq(read_id(&file, sizeof(Elf32_Ehdr) - 1), -1);
	file.header.e_ident[EI_DATA] = ELFDATA2MSB;
	ck_assert_int_eq(read_file(&file), -1);
	file.header.e_ident[EI_DATA] = ELFDATA2LSB;
	file.header.e_ident[EI_CLASS] = 3;
	ck_assert_int_eq(read_file(&file), -1);
	file.header.e_ident[EI_CLASS] = ELFCLASS32; /* its numbers lie elsewhere */
	ck_assert_int_eq(read_file(&file), 0);
	file.header.e_ident[0] = 0;
	ck_assert_int_eq(read_file(&file), -1);
}
END_TEST

/* Sizes and places that lead out of the file, or round the end of numbers. */
START_TEST(hostile_numbers)
{
	static const uint64_t numbers[] = {UINT64_MAX, INT64_MAX, UINT32_MAX, 1u << 31, 4096, 1};
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
		struct program_fixture file = program_fixture_make(7, 20);
		file.header.e_phoff = numbers[i];
		ck_assert_int_eq(read_file(&file), 20); /* by the section */
		file.header.e_shoff = numbers[i];
		ck_assert_int_le(read_file(&file), 0);
		file = program_fixture_make(7, 20);
		file.segment.p_offset = file.section.sh_offset = numbers[i];
		ck_assert_int_eq(read_file(&file), 0);
		file = program_fixture_make(7, 20);
		file.note.n_namesz = (uint32_t)numbers[i];
		ck_assert_int_eq(read_file(&file), 0);
		file = program_fixture_make(7, 20);
		file.note.n_descsz = (uint32_t)numbers[i] | 1u << 30;
		ck_assert_int_eq(read_file(&file), 0);
	}
	struct program_fixture file = program_fixture_make(7, 20);
	file.segment.p_filesz = file.section.sh_size = UINT64_MAX;
	ck_assert_int_eq(read_file(&file), 20);
	file.header.e_phnum = file.header.e_shnum = UINT16_MAX;
	ck_assert_int_eq(read_file(&file), 20);
	file.note.n_type = 0;
	ck_assert_int_eq(read_file(&file), 0);
}
END_TEST

START_TEST(any_bytes)
{
	struct program_fixture sound = program_fixture_make(7, 20);
	srand(1);
	for (int round = 0; round < 20000; round++) {
		struct program_fixture file = sound;
		for (int i = 0; i <= round % 8; i++)
			((uint8_t *)&file)[4 + rand() % (int)(sizeof(file) - 4)] = (uint8_t)rand();
		ck_assert_int_le(read_file(&file), BUILD_ID_MAX);
	}
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("build_id");
	TCase *tcase = tcase_create("build_id");
	tcase_add_loop_test(tcase, whole_ids, 0, 5);
	tcase_add_test(tcase, places);
	tcase_add_test(tcase, segment_or_section);
	tcase_add_test(tcase, other_notes);
	tcase_add_test(tcase, no_program_of_this_machine);
	tcase_add_test(tcase, hostile_numbers);
	tcase_add_test(tcase, any_bytes);
	suite_add_tcase(suite, tcase);
	return run_suite(suite);
}
