/* Copies of files that are changed while they are read: a step of reading is where it happens. */
#include "tests/support/suite.h"
#include "tools/cli/xalloc.h"
#include "tools/image/expansion.h"
#include "tools/image/small_elf.h"
#include "tools/image/snapshot.h"
#include "tools/symbols/resolve.h"
#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

ssize_t __real_pread64(int fd, void *bytes, size_t size, off_t at);
ssize_t __wrap_pread64(int fd, void *bytes, size_t size, off_t at);

/* What happens to the file before the read of that number, counted from 0; -1: nothing. */
static struct {
	int before;
	int reads;
	void (*happens)(void);
} fault;

static char *folder;
static char *path;

ssize_t __wrap_pread64(int fd, void *bytes, size_t size, off_t at)
{
	if (fault.reads++ == fault.before)
		fault.happens();
	return __real_pread64(fd, bytes, size, at);
}

static void run(char *command)
{
	ck_assert_int_eq(system(command), 0);
	free(command);
}

static void set_up(void)
{
	char template[] = "/tmp/test_snapshot.XXXXXX";
	ck_assert_ptr_nonnull(mkdtemp(template));
	folder = xalloc_text(template);
	path = xalloc_printf("%s/subject", folder);
	run(xalloc_printf("cp '%s' '%s'", SUBJECT_PIE, path));
	fault.before = -1;
}

static void tear_down(void)
{
	run(xalloc_printf("rm -rf '%s'", folder));
	free(folder);
	free(path);
}

/* The subject's own address of a function. */
static uint64_t ask_rva(void)
{
	unsigned long rva = 0;
	FILE *pipe = popen("'" SUBJECT_PIE "' | sed -n 's/^subject_outer //p'", "r");
	ck_assert_ptr_nonnull(pipe);
	ck_assert_int_eq(fscanf(pipe, "%lx", &rva), 1);
	pclose(pipe);
	return rva;
}

static void cut_short(void)
{
	ck_assert_int_eq(truncate(path, 100), 0);
}

/* As the linker does it that writes the program anew. */
static void write_anew(void)
{
	FILE *file = fopen(path, "r+");
	ck_assert_ptr_nonnull(file);
	ck_assert_int_eq(fseek(file, 5000, SEEK_SET), 0);
	ck_assert_uint_eq(fwrite("changed", 7, 1, file), 1);
	ck_assert_int_eq(fclose(file), 0);
}

static int copy_at(const char *file)
{
	struct stat status;
	int fd = open(file, O_RDONLY | O_CLOEXEC);
	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(fstat(fd, &status), 0);
	int copy = snapshot_of(fd, &status);
	int error = errno;
	close(fd);
	errno = error;
	return copy;
}

/* All but what nobody reads, which is 0. */
START_TEST(test_copy_is_the_file)
{
	int copy = copy_at(path);
	ck_assert_int_ge(copy, 0);
	char *same = xalloc_printf("%s/copy", folder);
	run(xalloc_printf("cat /proc/%d/fd/%d >'%s'", getpid(), copy, same));
	/* Differences lie in the sections' bytes only: without these both are one. */
	run(xalloc_printf("cd '%s' && for f in subject copy; do objcopy -R .debug_loclists -R "
			  ".debug_loc -R .debug_aranges $f; done && cmp subject copy",
			  folder));
	free(same);
	close(copy);
}
END_TEST

START_TEST(test_other_files_and_limits)
{
	ck_assert_int_eq(copy_at(SUBJECT_SOURCE), -1);
	ck_assert_int_eq(errno, ENOEXEC);
	ck_assert_int_eq(truncate(path, SNAPSHOT_SIZE_MAX + 1), 0);
	ck_assert_int_eq(copy_at(path), -1);
	ck_assert_int_eq(errno, EFBIG);
	/* A file of holes takes no time and no memory. */
	ck_assert_int_eq(truncate(path, SNAPSHOT_SIZE_MAX), 0);
	int copy = copy_at(path);
	struct stat status;
	ck_assert_int_ge(copy, 0);
	ck_assert_int_eq(fstat(copy, &status), 0);
	ck_assert_int_lt(status.st_blocks, 16384);
	close(copy);
}
END_TEST

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
	run(xalloc_printf("cd '%s' && cp '%s' subject && (%s) | xz -1 >symbols && "
			  "strip subject && objcopy --add-section .gnu_debugdata=symbols subject",
			  folder, SUBJECT_PIE, command));
	int copy = copy_at(path);
	ck_assert_int_ge(copy, 0);
	return copy;
}

START_TEST(test_minimal_symbols_inflate_to_little)
{
	struct symbol_image_identity identity = {.path = path};
	struct symbol_address address = {.rva = ask_rva()};
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

/* Wherever reading is when it happens: there are symbols or there are none, and the process lives
 * on. */
static size_t resolve_with_fault(void (*happens)(void))
{
	size_t refused = 0;
	bool is_over = false;
	uint64_t rva = ask_rva();
	for (int i = 0; !is_over; i++) {
		struct symbol_image_identity identity = {.path = path};
		struct symbol_address address = {.rva = rva};
		run(xalloc_printf("cp '%s' '%s'", SUBJECT_PIE, path));
		memset(&fault, 0, sizeof(fault));
		fault.before = i;
		fault.happens = happens;
		enum symbol_image_status status = resolve_file(&identity, folder, &address, 1);
		is_over = fault.reads <= i;
		ck_assert(!is_over || (status == SYMBOL_IMAGE_OPEN && address.function.file));
		refused += status != SYMBOL_IMAGE_OPEN;
		symbol_address_finish(&address);
		ck_assert_int_lt(i, 200);
	}
	return refused;
}

START_TEST(test_cut_short_while_read)
{
	ck_assert_uint_ge(resolve_with_fault(cut_short), 3);
}
END_TEST

START_TEST(test_changed_while_read)
{
	ck_assert_uint_ge(resolve_with_fault(write_anew), 1);
}
END_TEST

/* The debug file is another's as well. */
START_TEST(test_debug_file_cut_short)
{
	run(xalloc_printf("cd '%s' && mkdir bin && objcopy --only-keep-debug subject subject.debug "
			  "&& strip -o bin/subject subject && mv subject.debug bin",
			  folder));
	char *program = xalloc_printf("%s/bin/subject", folder);
	free(path);
	path = xalloc_printf("%s/bin/subject.debug", folder);
	size_t without = 0;
	bool is_over = false;
	uint64_t rva = ask_rva();
	for (int i = 0; !is_over; i++) {
		struct symbol_image_identity identity = {.path = program};
		struct symbol_address address = {.rva = rva};
		run(xalloc_printf("cd '%s' && objcopy --only-keep-debug subject bin/subject.debug",
				  folder));
		memset(&fault, 0, sizeof(fault));
		fault.before = i;
		fault.happens = cut_short;
		ck_assert_int_eq(resolve_file(&identity, ":", &address, 1), SYMBOL_IMAGE_OPEN);
		is_over = fault.reads <= i;
		ck_assert(address.function.file || !is_over);
		without += !address.function.file;
		symbol_address_finish(&address);
		ck_assert_int_lt(i, 200);
	}
	ck_assert_uint_ge(without, 3);
	free(program);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("snapshot");
	TCase *tcase = tcase_create("snapshot");
	tcase_add_checked_fixture(tcase, set_up, tear_down);
	tcase_set_timeout(tcase, 60);
	tcase_add_test(tcase, test_copy_is_the_file);
	tcase_add_test(tcase, test_other_files_and_limits);
	tcase_add_test(tcase, test_minimal_symbols_inflate_to_little);
	tcase_add_test(tcase, test_debug_sections_inflate_to_little);
	tcase_add_test(tcase, test_cut_short_while_read);
	tcase_add_test(tcase, test_changed_while_read);
	tcase_add_test(tcase, test_debug_file_cut_short);
	suite_add_tcase(suite, tcase);
	return run_suite(suite);
}
