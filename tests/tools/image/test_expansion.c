/* Compressed sections that would inflate to too much. */
#include "tests/support/suite.h"
#include "tests/tools/image/scratch.h"
#include "tools/cli/xalloc.h"
#include "tools/image/expansion.h"
#include "tools/image/small_elf.h"
#include "tools/image/snapshot.h"
#include "tools/symbols/resolve.h"
#include <check.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char *path;

static void set_up(void)
{
	scratch_begin();
	path = scratch_path("subject");
}

static void tear_down(void)
{
	free(path);
	scratch_end();
}

static int copy_of(const char *file)
{
	struct stat status;
	int fd = open(file, O_RDONLY | O_CLOEXEC);
	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(fstat(fd, &status), 0);
	int copy = snapshot_of(fd, &status);
	close(fd);
	return copy;
}

/* Whether the copy still has bytes of the section, by name. */
static bool has_bytes(int copy, const char *wanted)
{
	size_t names;
	GElf_Shdr header = {0};
	Elf *elf = elf_begin(copy, ELF_C_READ, NULL);
	Elf_Scn *section = NULL;
	ck_assert_ptr_nonnull(elf);
	ck_assert_int_eq(elf_getshdrstrndx(elf, &names), 0);
	do {
		section = elf_nextscn(elf, section);
		ck_assert_ptr_nonnull(section);
		ck_assert_ptr_nonnull(gelf_getshdr(section, &header));
	} while (strcmp(elf_strptr(elf, names, header.sh_name), wanted) != 0);
	const Elf_Data *data = elf_rawdata(section, NULL);
	ck_assert_uint_ge(data->d_size, 1);
	bool is_zero = true;
	for (size_t i = 0; i < data->d_size && is_zero; i++)
		is_zero = ((const char *)data->d_buf)[i] == 0;
	elf_end(elf);
	return !is_zero;
}

/* The subject without symbols of its own, with the minimal symbol table that the command makes. */
static int copy_with_symbols(const char *command)
{
	scratch_run(xalloc_printf("cd '%s' && cp '%s' subject && (%s) | xz -1 >symbols && "
				  "strip subject && objcopy --add-section .gnu_debugdata=symbols "
				  "subject",
				  scratch_folder(), SUBJECT_PIE, command));
	int copy = copy_of(path);
	ck_assert_int_ge(copy, 0);
	return copy;
}

START_TEST(test_minimal_symbols_inflate_to_little)
{
	struct symbol_image_identity identity = {.path = path};
	struct symbol_address address = {.rva = scratch_rva("subject_outer")};
	int copy = copy_with_symbols("objcopy --only-keep-debug subject small && cat small");
	ck_assert(has_bytes(copy, ".gnu_debugdata"));
	close(copy);
	ck_assert_int_eq(resolve_file(&identity, ":", &address, 1), SYMBOL_IMAGE_OPEN);
	ck_assert_str_eq(address.function.name, "subject_outer");
	symbol_address_finish(&address);
	copy = copy_with_symbols("head -c 67108864 /dev/zero");
	ck_assert(has_bytes(copy, ".gnu_debugdata"));
	close(copy);
	copy = copy_with_symbols("head -c 67174400 /dev/zero");
	ck_assert(!has_bytes(copy, ".gnu_debugdata"));
	close(copy);
}
END_TEST

/* As objcopy does it, but for the bytes. */
static void set_compressed(int fd, size_t index)
{
	GElf_Shdr header;
	Elf *elf = elf_begin(fd, ELF_C_RDWR, NULL);
	Elf_Scn *section = elf_getscn(elf, index);
	ck_assert_ptr_nonnull(gelf_getshdr(section, &header));
	header.sh_flags |= SHF_COMPRESSED;
	ck_assert_int_ne(gelf_update_shdr(section, &header), 0);
	elf_flagelf(elf, ELF_C_SET, ELF_F_LAYOUT);
	ck_assert_int_gt(elf_update(elf, ELF_C_WRITE), 0);
	elf_end(elf);
}

/* What the headers say counts for all sections together; how much was there, for large files. */
START_TEST(test_debug_sections_inflate_to_little)
{
	struct {
		char magic[4];
		uint8_t size[8];
	} gnu = {"ZLIB", {[4] = 0x10}};
	const Elf64_Chdr chdr = {.ch_type = ELFCOMPRESS_ZLIB, .ch_size = 0x10000001};
	const struct small_elf_section sections[] = {
		{".zdebug_info", &gnu, sizeof(gnu)},
		{".debug_line", &chdr, sizeof(chdr)},
		{".zdebug_str", &gnu, sizeof(gnu)},
		{".debug_ranges", &gnu, sizeof(gnu)},
	};
	int fd = small_elf(false, sections, 4);
	ck_assert_int_ge(fd, 0);
	set_compressed(fd, 2);
	expansion_limit(fd, EXPANSION_DEBUG_MAX);
	ck_assert(has_bytes(fd, ".debug_line"));
	expansion_limit(fd, 1000);
	ck_assert(has_bytes(fd, ".zdebug_info"));
	ck_assert(!has_bytes(fd, ".debug_line"));
	ck_assert(has_bytes(fd, ".zdebug_str"));
	ck_assert(has_bytes(fd, ".debug_ranges"));
	close(fd);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("expansion");
	TCase *cases = tcase_create("all");
	tcase_set_timeout(cases, 60);
	tcase_add_checked_fixture(cases, set_up, tear_down);
	tcase_add_test(cases, test_minimal_symbols_inflate_to_little);
	tcase_add_test(cases, test_debug_sections_inflate_to_little);
	suite_add_tcase(suite, cases);
	elf_version(EV_CURRENT);
	return run_suite(suite);
}
