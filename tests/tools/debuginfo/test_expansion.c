/* Compressed sections: inflated, and left out where they would inflate to too much. */
#include "tests/support/suite.h"
#include "tests/tools/debuginfo/scratch.h"
#include "tools/debuginfo/expansion.h"
#include "tools/debuginfo/small_elf.h"
#include "tools/debuginfo/snapshot.h"
#include "tools/memory/xalloc.h"
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
	ck_assert_int_ge(copy, 0);
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
	return copy_of(path);
}

START_TEST(test_minimal_symbols_inflate_to_little)
{
	struct mapped_file identity = {.path = path};
	struct symbol_address address = {.rva = scratch_rva("subject_outer")};
	int copy = copy_with_symbols("objcopy --only-keep-debug subject small && cat small");
	ck_assert(has_bytes(copy, ".gnu_debugdata"));
	close(copy);
	ck_assert_int_eq(resolve_file(&identity, ":", &address, 1), SYMBOL_FILE_OPEN);
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
	int fd = small_elf(sections, 4);
	ck_assert_int_ge(fd, 0);
	set_compressed(fd, 2);
	expansion_make(fd, EXPANSION_DEBUG_MAX);
	ck_assert(has_bytes(fd, ".debug_line"));
	expansion_make(fd, 1000);
	ck_assert(has_bytes(fd, ".zdebug_info"));
	ck_assert(!has_bytes(fd, ".debug_line"));
	ck_assert(has_bytes(fd, ".zdebug_str"));
	ck_assert(has_bytes(fd, ".debug_ranges"));
	close(fd);
}
END_TEST

static bool is_left_out(const char *name)
{
	return strcmp(name, ".debug_loclists") == 0 || strcmp(name, ".debug_aranges") == 0;
}

/* Names, addresses and bytes of all sections; returns how many had bytes. */
static size_t compare_files(int plain_fd, int copy_fd)
{
	size_t with_bytes = 0;
	Elf *plain = elf_begin(plain_fd, ELF_C_READ, NULL);
	Elf *copy = elf_begin(copy_fd, ELF_C_READ, NULL);
	Elf_Scn *left = NULL;
	Elf_Scn *right = NULL;
	while ((left = elf_nextscn(plain, left))) {
		GElf_Shdr want;
		GElf_Shdr got;
		right = elf_nextscn(copy, right);
		ck_assert_ptr_nonnull(right);
		gelf_getshdr(left, &want);
		gelf_getshdr(right, &got);
		const char *name = scratch_section_name(plain, &want);
		ck_assert_str_eq(name, scratch_section_name(copy, &got));
		ck_assert_uint_eq(want.sh_addr, got.sh_addr);
		ck_assert_uint_eq(want.sh_link, got.sh_link);
		if (is_left_out(name)) {
			ck_assert(!has_bytes(copy_fd, name));
			continue;
		}
		ck_assert_uint_eq(want.sh_type, got.sh_type);
		ck_assert_uint_eq(want.sh_flags, got.sh_flags);
		/* Compressing renames nothing, but objcopy lists the names in another order. */
		if (want.sh_type == SHT_NOBITS || strcmp(name, ".shstrtab") == 0)
			continue;
		Elf_Data *wanted = elf_rawdata(left, NULL);
		Elf_Data *have = elf_rawdata(right, NULL);
		ck_assert_uint_eq(wanted->d_size, have->d_size);
		ck_assert_mem_eq(wanted->d_buf, have->d_buf, wanted->d_size);
		with_bytes++;
	}
	ck_assert_ptr_null(elf_nextscn(copy, right));
	elf_end(plain);
	elf_end(copy);
	return with_bytes;
}

static const char *const subjects[] = {SUBJECT_PIE,
#ifdef SUBJECT_PIE_32
				       SUBJECT_PIE_32
#endif
};

START_TEST(test_copy_is_the_plain_file)
{
	char *plain = scratch_debug_file(subjects[_i], "plain", "--decompress-debug-sections");
	char *packed = scratch_debug_file(subjects[_i], "packed", "--compress-debug-sections=zlib");
	int plain_fd = open(plain, O_RDONLY | O_CLOEXEC);
	int copy_fd = copy_of(packed);
	ck_assert_uint_ge(compare_files(plain_fd, copy_fd), 6);
	close(plain_fd);
	close(copy_fd);
	free(plain);
	free(packed);
}
END_TEST

/* Whether the copy has the section, and no longer compressed. */
static bool is_inflated(int copy, const char *wanted)
{
	size_t names;
	bool found = false;
	GElf_Shdr header;
	Elf *elf = elf_begin(copy, ELF_C_READ, NULL);
	Elf_Scn *section = NULL;
	while (elf_getshdrstrndx(elf, &names) == 0 && (section = elf_nextscn(elf, section))) {
		const char *name = gelf_getshdr(section, &header)
					   ? elf_strptr(elf, names, header.sh_name)
					   : NULL;
		found |= name && strcmp(name, wanted) == 0 && !(header.sh_flags & SHF_COMPRESSED);
	}
	elf_end(elf);
	return found;
}

START_TEST(test_sizes_that_are_not_so)
{
	char *packed = scratch_debug_file(SUBJECT_PIE, "packed", "--compress-debug-sections=zlib");
	off_t offset = scratch_compressed(packed, ".debug_info");
	Elf64_Chdr header;
	int fd = open(packed, O_RDONLY | O_CLOEXEC);
	ck_assert_int_eq(pread(fd, &header, sizeof(header), offset), sizeof(header));
	close(fd);
	const uint64_t sizes[] = {0,        1,         header.ch_size - 1, header.ch_size + 1,
				  1u << 30, UINT64_MAX};
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		Elf64_Chdr changed = header;
		changed.ch_size = sizes[i];
		scratch_write(packed, offset, &changed, sizeof(changed));
		int copy = copy_of(packed);
		ck_assert(!is_inflated(copy, ".debug_info"));
		ck_assert(is_inflated(copy, ".debug_line"));
		close(copy);
	}
	scratch_write(packed, offset, &header, sizeof(header));
	fd = copy_of(packed);
	ck_assert(is_inflated(fd, ".debug_info"));
	close(fd);
	free(packed);
}
END_TEST

/* Whatever the bytes are, they are read within their bounds; symbols are found or not. */
START_TEST(test_damaged_files)
{
	char *packed = scratch_debug_file(SUBJECT_PIE, "packed", "--compress-debug-sections=zlib");
	struct stat status;
	ck_assert_int_eq(stat(packed, &status), 0);
	uint64_t random = 1;
	size_t inflated = 0;
	for (int i = 0; i < 400; i++) {
		random = random * 6364136223846793005u + 1442695040888963407u;
		off_t offset = 4 + (off_t)((random >> 33) % (uint64_t)(status.st_size - 4));
		unsigned char byte;
		int fd = open(packed, O_RDONLY | O_CLOEXEC);
		ck_assert_int_eq(pread(fd, &byte, 1, offset), 1);
		close(fd);
		unsigned char other = byte ^ 0xff;
		scratch_write(packed, offset, &other, 1);
		int copy = copy_of(packed);
		inflated += is_inflated(copy, ".debug_info");
		close(copy);
		scratch_write(packed, offset, &byte, 1);
	}
	ck_assert_uint_gt(inflated, 100);
	ck_assert_uint_lt(inflated, 400);
	for (off_t size = status.st_size - 1; size >= SELFMAG; size /= 2) {
		ck_assert_int_eq(truncate(packed, size), 0);
		close(copy_of(packed));
	}
	free(packed);
}
END_TEST

/* Sections that lie over one another are read no more often than they could lie side by side. */
START_TEST(test_overlapping_sections)
{
	static const struct small_elf_section empty = {".debug_str", "", 1};
	enum { SECTIONS = 64 };
	struct small_elf_section sections[SECTIONS];
	uint8_t bytes[4096];
	memset(bytes, 0xff, sizeof(bytes));
	*(Elf64_Chdr *)(void *)bytes = (Elf64_Chdr){ELFCOMPRESS_ZLIB, 0, 8192, 1};
	for (size_t i = 0; i < SECTIONS; i++)
		sections[i] = empty;
	sections[0].bytes = bytes;
	sections[0].size = sizeof(bytes);
	int fd = small_elf(sections, SECTIONS);
	Elf *elf = elf_begin(fd, ELF_C_RDWR, NULL);
	GElf_Shdr first;
	gelf_getshdr(elf_getscn(elf, 1), &first);
	first.sh_flags |= SHF_COMPRESSED;
	for (size_t i = 1; i <= SECTIONS; i++)
		ck_assert_int_ne(gelf_update_shdr(elf_getscn(elf, i), &first), 0);
	elf_flagelf(elf, ELF_C_SET, ELF_F_LAYOUT);
	ck_assert_int_gt(elf_update(elf, ELF_C_WRITE), 0);
	elf_end(elf);
	expansion_make(fd, 3 * sizeof(bytes));
	ck_assert(!has_bytes(fd, ".debug_str"));
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
	tcase_add_loop_test(cases, test_copy_is_the_plain_file, 0,
			    sizeof(subjects) / sizeof(subjects[0]));
	tcase_add_test(cases, test_sizes_that_are_not_so);
	tcase_add_test(cases, test_damaged_files);
	tcase_add_test(cases, test_overlapping_sections);
	suite_add_tcase(suite, cases);
	elf_version(EV_CURRENT);
	return run_suite(suite);
}
