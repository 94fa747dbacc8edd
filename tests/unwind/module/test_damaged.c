/* Modules of files that are cut, damaged, overwritten, or larger than can be read. */
#include "tests/support/suite.h"
#include "tests/unwind/module/self_image.h"
#include "unwind/cfi/row.h"
#include <check.h>
#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* Looks everything up that a module has, for its side effects under the sanitizers. */
static void exercise(struct uw_module *module)
{
	uint8_t id[8], word[8];

	uw_module_load(module);
	uw_module_build_id(module, id, sizeof(id));
	for (size_t i = 0; i < module->elf.segment_count; i++) {
		const struct uw_segment *segment = &module->elf.segments[i];
		uint64_t step = segment->file_size / 64 + 1;

		for (uint64_t at = 0; at < segment->file_size + step; at += step) {
			struct uw_cfi_gap gap;
			struct uw_fde fde;
			struct uw_row row;

			uw_elf_read_constant(&module->elf, segment->rva + at, word, sizeof(word));
			uw_module_rva(module, segment->offset + at);
			if (uw_cfi_find(&module->cfi, segment->rva + at, &fde, &gap) == UW_CFI_OK)
				uw_cfi_row(&fde, segment->rva + at, &row, &(uint32_t){0});
		}
	}
}

START_TEST(truncated_files)
{
	size_t opened = 0;

	for (size_t size = 0; size < self_image.size; size += 1 + size / 97) {
		struct uw_module *module;
		/* Exactly as long as the file, so that the sanitizers see a read beyond it. */
		uint8_t *copy = malloc(size + 1);

		memcpy(copy, self_image.bytes, size);
		if (uw_module_from_memory(copy, size, &module) == 0) {
			exercise(module);
			uw_module_unref(module);
			opened++;
		}
		free(copy);
	}
	ck_assert_uint_gt(opened, 50);
}
END_TEST

START_TEST(shrinking_file)
{
	int fd = self_image_file(self_image.bytes, self_image.size);
	struct uw_module *module;

	ck_assert_int_eq(uw_module_open(fd, &module), 0);
	ck_assert_int_eq(ftruncate(fd, 4096), 0);
	exercise(module);
	ck_assert_int_eq(ftruncate(fd, 0), 0);
	exercise(module);
	uw_module_unref(module);
	close(fd);
}
END_TEST

/* What was not read until then is another build's: nothing of it is taken. */
START_TEST(overwritten_file)
{
	int fd = self_image_file(self_image.bytes, self_image.size);
	struct uw_module *module;
	struct timespec tick = {.tv_nsec = 20000000};
	uint8_t byte;

	ck_assert_int_eq(uw_module_open(fd, &module), 0);
	ck_assert(uw_elf_read_constant(&module->elf, module->elf.segments[0].rva, &byte, 1));
	ck_assert(!uw_module_has_changed(module));
	nanosleep(&tick, NULL);
	ck_assert_int_eq(pwrite(fd, self_image.bytes, self_image.size, 0),
			 (ssize_t)self_image.size);
	ck_assert(uw_module_has_changed(module));
	ck_assert(!uw_elf_read_constant(&module->elf, module->elf.segments[0].rva, &byte, 1));
	uw_module_load(module);
	ck_assert_uint_eq(module->cfi.frame.size, 0);
	uw_module_unref(module);
	close(fd);
}
END_TEST

START_TEST(damaged_files)
{
	enum { ROUNDS = 300 };
	struct self_image damaged = {.bytes = malloc(self_image.size), .size = self_image.size};
	const Elf64_Phdr *hdr = self_image_phdr(&self_image, PT_GNU_EH_FRAME);

	srand(1);
	for (int round = 0; round < ROUNDS; round++) {
		struct uw_module *module;

		memcpy(damaged.bytes, self_image.bytes, self_image.size);
		/* Half of the damage in the headers, half in the unwind information. */
		for (int i = 0; i < 40; i++) {
			size_t at = (size_t)rand();

			at = i % 2 ? 16 + at % 1024 : hdr->p_offset + at % (hdr->p_filesz * 4);
			if (at < damaged.size)
				damaged.bytes[at] = (uint8_t)rand();
			if (round % 2 == 0)
				memcpy(damaged.bytes, self_image.bytes, 1100);
		}
		if (uw_module_from_memory(damaged.bytes, damaged.size, &module) < 0)
			continue;
		exercise(module);
		uw_module_unref(module);
	}
	free(damaged.bytes);
}
END_TEST

enum { NOTES_AT = 4096, NOTES_SIZE = 65536, TABLE_AT = NOTES_AT + NOTES_SIZE + 64 };

/* A file with as many sections, each of them the same NOTES_SIZE bytes of empty notes, but for the
 * one that holds the build-id. */
static int notes_file(unsigned sections, unsigned id_section)
{
	struct {
		Elf64_Nhdr header;
		char name[4];
		uint8_t id[4];
	} note = {{.n_namesz = 4, .n_descsz = 4, .n_type = NT_GNU_BUILD_ID}, "GNU", {1, 2, 3, 4}};
	Elf64_Ehdr ehdr = {.e_ident = {0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, 1},
			   .e_machine = EM_X86_64,
			   .e_phoff = sizeof(ehdr),
			   .e_phnum = 1,
			   .e_phentsize = sizeof(Elf64_Phdr),
			   .e_shoff = TABLE_AT,
			   .e_shnum = (uint16_t)sections,
			   .e_shentsize = sizeof(Elf64_Shdr)};
	Elf64_Phdr phdr = {.p_type = PT_LOAD, .p_flags = PF_R | PF_X, .p_filesz = 4096};
	Elf64_Shdr *table = calloc(sections, sizeof(*table));
	size_t size = sections * sizeof(*table);
	int fd = memfd_create("notes", MFD_CLOEXEC);

	for (unsigned i = 0; i < sections; i++)
		table[i] = (Elf64_Shdr){.sh_type = SHT_NOTE,
					.sh_offset = NOTES_AT,
					.sh_size = NOTES_SIZE};
	table[id_section].sh_offset = NOTES_AT + NOTES_SIZE;
	table[id_section].sh_size = sizeof(note);
	ck_assert_int_eq(pwrite(fd, &ehdr, sizeof(ehdr), 0), sizeof(ehdr));
	ck_assert_int_eq(pwrite(fd, &phdr, sizeof(phdr), sizeof(ehdr)), sizeof(phdr));
	ck_assert_int_eq(pwrite(fd, &note, sizeof(note), NOTES_AT + NOTES_SIZE), sizeof(note));
	ck_assert_int_eq(pwrite(fd, table, size, TABLE_AT), (ssize_t)size);
	free(table);
	return fd;
}

static size_t id_size_of(unsigned sections, unsigned id_section)
{
	struct uw_module *module;
	int fd = notes_file(sections, id_section);

	ck_assert_int_eq(uw_module_open(fd, &module), 0);
	exercise(module);
	size_t size = module->elf.build_id_size;
	uw_module_unref(module);
	close(fd);
	return size;
}

/* What a file may cost has a bound, whatever it says of itself: what stands behind 256 KB of notes
 * is not looked at. */
START_TEST(many_notes)
{
	ck_assert_uint_eq(id_size_of(2000, 1), 4);
	ck_assert_uint_eq(id_size_of(2000, 3), 4);
	ck_assert_uint_eq(id_size_of(2000, 6), 0);
	ck_assert_uint_eq(id_size_of(2000, 1999), 0);
}
END_TEST

/* What was not read before the file was cut off is no information, and stays that. */
START_TEST(shrinking_unread)
{
	struct uw_module *module;
	struct uw_cfi_gap gap;
	struct uw_fde fde;
	Dl_info library;

	/* Of a file with fewer FDEs, opening would read all to count the code they describe. */
	ck_assert_int_ne(dladdr(stdout, &library), 0);
	struct self_image whole = self_image_read(library.dli_fname);
	int fd = self_image_file(whole.bytes, whole.size);
	free(whole.bytes);

	ck_assert_int_eq(uw_module_open(fd, &module), 0);
	uw_module_load(module);
	ck_assert_int_eq(ftruncate(fd, 4096), 0);
	for (size_t i = 0; i < uw_cfi_count(&module->cfi); i++)
		ck_assert_int_eq(uw_module_find(module, uw_cfi_entry_start(&module->cfi, i), &fde,
						&gap),
				 UW_CFI_BAD);
	ck_assert_uint_eq(self_image_blocks_read(module), 0);
	uw_module_unref(module);
	close(fd);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("unwind damaged");
	TCase *tcase = tcase_create("damaged");

	tcase_set_timeout(tcase, 60);
	tcase_add_checked_fixture(tcase, self_image_setup, self_image_teardown);
	tcase_add_test(tcase, truncated_files);
	tcase_add_test(tcase, shrinking_file);
	tcase_add_test(tcase, overwritten_file);
	tcase_add_test(tcase, damaged_files);
	tcase_add_test(tcase, many_notes);
	tcase_add_test(tcase, shrinking_unread);
	suite_add_tcase(suite, tcase);
	return run_suite(suite);
}
