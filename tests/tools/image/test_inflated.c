/* Copies of files with compressed sections, inflated. */
#include "tests/support/suite.h"
#include "tests/tools/image/scratch.h"
#include "tools/cli/xalloc.h"
#include "tools/image/inflated.h"
#include <check.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int open_copy(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ck_assert_int_ge(fd, 0);
	int copy = inflated_copy(fd);
	close(fd);
	return copy;
}

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
			ck_assert_uint_eq(got.sh_type, SHT_NOBITS);
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
	int copy_fd = open_copy(packed);
	ck_assert_int_ge(copy_fd, 0);
	ck_assert_uint_ge(compare_files(plain_fd, copy_fd), 6);
	ck_assert_int_eq(inflated_copy(plain_fd), -1);
	close(plain_fd);
	close(copy_fd);
	free(plain);
	free(packed);
}
END_TEST

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
		ck_assert_int_eq(open_copy(packed), -1);
	}
	scratch_write(packed, offset, &header, sizeof(header));
	fd = open_copy(packed);
	ck_assert_int_ge(fd, 0);
	close(fd);
	free(packed);
}
END_TEST

START_TEST(test_damaged_and_other_files)
{
	char *packed = scratch_debug_file(SUBJECT_PIE, "packed", "--compress-debug-sections=zlib");
	struct stat status;
	ck_assert_int_eq(stat(packed, &status), 0);
	size_t refused = 0;
	uint64_t random = 1;
	for (int i = 0; i < 400; i++) {
		random = random * 6364136223846793005u + 1442695040888963407u;
		off_t offset = (off_t)((random >> 33) % (uint64_t)status.st_size);
		unsigned char byte;
		int fd = open(packed, O_RDONLY | O_CLOEXEC);
		ck_assert_int_eq(pread(fd, &byte, 1, offset), 1);
		close(fd);
		unsigned char other = byte ^ 0xff;
		scratch_write(packed, offset, &other, 1);
		int copy = open_copy(packed);
		refused += copy < 0;
		if (copy >= 0)
			close(copy);
		scratch_write(packed, offset, &byte, 1);
	}
	ck_assert_uint_gt(refused, 0);
	for (off_t size = status.st_size - 1; size > 0; size /= 2) {
		ck_assert_int_eq(truncate(packed, size), 0);
		ck_assert_int_eq(open_copy(packed), -1);
	}
	ck_assert_int_eq(open_copy("/dev/null"), -1);
	ck_assert_int_eq(open_copy(SUBJECT_SOURCE), -1);
	free(packed);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("inflated");
	TCase *cases = tcase_create("all");
	tcase_set_timeout(cases, 60);
	tcase_add_checked_fixture(cases, scratch_begin, scratch_end);
	tcase_add_loop_test(cases, test_copy_is_the_plain_file, 0,
			    sizeof(subjects) / sizeof(subjects[0]));
	tcase_add_test(cases, test_sizes_that_are_not_so);
	tcase_add_test(cases, test_damaged_and_other_files);
	suite_add_tcase(suite, cases);
	elf_version(EV_CURRENT);
	return run_suite(suite);
}
