/* Separate debug files with compressed sections: their inflated copies, and symbols through them.
 */
#include "tests/support/suite.h"
#include "tools/cli/xalloc.h"
#include "tools/image/inflated.h"
#include "tools/symbols/resolve.h"
#include <check.h>
#include <fcntl.h>
#include <gelf.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

static char *folder;

/* Runs the command and frees it. */
static void run(char *command)
{
	ck_assert_int_eq(system(command), 0);
	free(command);
}

static void make_folder(void)
{
	char template[] = "/tmp/test_debug_file.XXXXXX";
	ck_assert_ptr_nonnull(mkdtemp(template));
	folder = xalloc_text(template);
}

static void remove_folder(void)
{
	run(xalloc_printf("rm -rf '%s'", folder));
	free(folder);
}

/* A file in the folder; for the caller to free. */
static char *in_folder(const char *name)
{
	return xalloc_printf("%s/%s", folder, name);
}

/* The subject's debug file, plain or compressed. */
static char *make_debug_file(const char *subject, const char *name, const char *compression)
{
	char *path = in_folder(name);
	run(xalloc_printf("objcopy --only-keep-debug %s '%s' '%s'", compression, subject, path));
	return path;
}

static int open_copy(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ck_assert_int_ge(fd, 0);
	int copy = inflated_copy(fd);
	close(fd);
	return copy;
}

static const char *name_of(Elf *elf, const GElf_Shdr *header)
{
	size_t names;
	ck_assert_int_eq(elf_getshdrstrndx(elf, &names), 0);
	return elf_strptr(elf, names, header->sh_name);
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
		const char *name = name_of(plain, &want);
		ck_assert_str_eq(name, name_of(copy, &got));
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
	char *plain = make_debug_file(subjects[_i], "plain", "--decompress-debug-sections");
	char *packed = make_debug_file(subjects[_i], "packed", "--compress-debug-sections=zlib");
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

/* Where the compressed section's own header lies in the file. */
static off_t find_compressed(const char *path, const char *name)
{
	off_t found = 0;
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	Elf *elf = elf_begin(fd, ELF_C_READ, NULL);
	for (Elf_Scn *section = NULL; (section = elf_nextscn(elf, section));) {
		GElf_Shdr header;
		gelf_getshdr(section, &header);
		if (strcmp(name_of(elf, &header), name) == 0) {
			ck_assert_uint_ne(header.sh_flags & SHF_COMPRESSED, 0);
			found = (off_t)header.sh_offset;
		}
	}
	elf_end(elf);
	close(fd);
	ck_assert_int_gt(found, 0);
	return found;
}

static void write_at(const char *path, off_t offset, const void *bytes, size_t size)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	ck_assert_int_eq(pwrite(fd, bytes, size, offset), (ssize_t)size);
	close(fd);
}

START_TEST(test_sizes_that_are_not_so)
{
	char *packed = make_debug_file(SUBJECT_PIE, "packed", "--compress-debug-sections=zlib");
	off_t offset = find_compressed(packed, ".debug_info");
	Elf64_Chdr header;
	int fd = open(packed, O_RDONLY | O_CLOEXEC);
	ck_assert_int_eq(pread(fd, &header, sizeof(header), offset), sizeof(header));
	close(fd);
	const uint64_t sizes[] = {0,        1,         header.ch_size - 1, header.ch_size + 1,
				  1u << 30, UINT64_MAX};
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		Elf64_Chdr changed = header;
		changed.ch_size = sizes[i];
		write_at(packed, offset, &changed, sizeof(changed));
		ck_assert_int_eq(open_copy(packed), -1);
	}
	write_at(packed, offset, &header, sizeof(header));
	fd = open_copy(packed);
	ck_assert_int_ge(fd, 0);
	close(fd);
	free(packed);
}
END_TEST

START_TEST(test_damaged_and_other_files)
{
	char *packed = make_debug_file(SUBJECT_PIE, "packed", "--compress-debug-sections=zlib");
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
		write_at(packed, offset, &other, 1);
		int copy = open_copy(packed);
		refused += copy < 0;
		if (copy >= 0)
			close(copy);
		write_at(packed, offset, &byte, 1);
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

/* SUBJECT_PIE's build-id, as two parts of a path. */
static void read_build_id(char first[3], char rest[128])
{
	FILE *pipe = popen("readelf -n '" SUBJECT_PIE "' | sed -n 's/.*Build ID: //p'", "r");
	ck_assert_ptr_nonnull(pipe);
	ck_assert_int_eq(fscanf(pipe, "%2s%127s", first, rest), 2);
	pclose(pipe);
}

/* The subject's own address of a function. */
static uint64_t ask_rva(const char *function)
{
	char name[64];
	unsigned long rva;
	uint64_t found = 0;
	FILE *pipe = popen("'" SUBJECT_PIE "'", "r");
	ck_assert_ptr_nonnull(pipe);
	while (fscanf(pipe, "%63s %lx", name, &rva) == 2)
		if (strcmp(name, function) == 0)
			found = rva;
	pclose(pipe);
	ck_assert_uint_ne(found, 0);
	return found;
}

/* Puts the file where the subject's debug file is looked for. */
static void install(const char *file)
{
	char first[3];
	char rest[128];
	read_build_id(first, rest);
	char *directory = xalloc_printf("%s/.build-id/%s", folder, first);
	run(xalloc_printf("mkdir -p '%s'", directory));
	char *path = xalloc_printf("%s/%s.debug", directory, rest);
	run(xalloc_printf("mv '%s' '%s'", file, path));
	free(path);
	free(directory);
}

static struct symbol_address resolve_stripped(uint64_t rva)
{
	struct symbol_image_identity identity = {.path = SUBJECT_STRIPPED};
	struct symbol_address address = {.rva = rva};
	ck_assert_int_eq(resolve_file(&identity, folder, &address, 1), SYMBOL_IMAGE_OPEN);
	return address;
}

START_TEST(test_symbols_of_a_compressed_file)
{
	uint64_t rva = ask_rva("subject_outer");
	char *packed = make_debug_file(SUBJECT_PIE, "packed", "--compress-debug-sections=zlib");
	install(packed);
	struct symbol_address address = resolve_stripped(rva);
	ck_assert_str_eq(address.function.name, "subject_outer");
	ck_assert_ptr_nonnull(address.function.file);
	ck_assert_ptr_nonnull(strstr(address.function.file, "subject.c"));
	symbol_address_finish(&address);
	free(packed);
}
END_TEST

/* Names without lines: the symbol table is not compressed. */
START_TEST(test_symbols_of_a_damaged_file)
{
	uint64_t rva = ask_rva("subject_outer");
	char *packed = make_debug_file(SUBJECT_PIE, "packed", "--compress-debug-sections=zlib");
	write_at(packed, find_compressed(packed, ".debug_info") + 24, "\0\0\0\0", 4);
	install(packed);
	struct symbol_address address = resolve_stripped(rva);
	ck_assert_str_eq(address.function.name, "subject_outer");
	ck_assert_ptr_null(address.function.file);
	symbol_address_finish(&address);
	free(packed);
}
END_TEST

/* By the link's name: beside the file, below .debug, and below a directory of debug files. */
START_TEST(test_symbols_by_link)
{
	const char *const below[] = {"", "/.debug", "/debug"};
	uint64_t rva = ask_rva("subject_outer");
	char *linked = in_folder("linked");
	char *debug = make_debug_file(SUBJECT_PIE, "linked.dbg", "--compress-debug-sections=zlib");
	char *directories = xalloc_printf("+:.debug:%s/debug", folder);
	struct symbol_image_identity identity = {.path = linked};
	struct symbol_address address;
	run(xalloc_printf("cd '%s' && strip -o linked '%s' && objcopy --add-gnu-debuglink="
			  "linked.dbg linked",
			  folder, SUBJECT_PIE));
	for (size_t i = 0; i < sizeof(below) / sizeof(below[0]); i++) {
		char *directory = xalloc_printf("%s%s%s", folder, below[i], i == 2 ? folder : "");
		address = (struct symbol_address){.rva = rva};
		run(xalloc_printf("mkdir -p '%s' && { [ '%s' = '%s' ] || mv '%s' '%s'; }",
				  directory, directory, folder, debug, directory));
		free(debug);
		debug = xalloc_printf("%s/linked.dbg", directory);
		ck_assert_int_eq(resolve_file(&identity, directories, &address, 1),
				 SYMBOL_IMAGE_OPEN);
		ck_assert_str_eq(address.function.name, "subject_outer");
		ck_assert_ptr_nonnull(address.function.file);
		symbol_address_finish(&address);
		free(directory);
	}
	/* Another build's under the name is none. */
	run(xalloc_printf("objcopy --only-keep-debug '%s' '%s'", SUBJECT_FIXED, debug));
	address = (struct symbol_address){.rva = rva};
	ck_assert_int_eq(resolve_file(&identity, directories, &address, 1), SYMBOL_IMAGE_OPEN);
	ck_assert(address.function.is_pseudo);
	symbol_address_finish(&address);
	free(directories);
	free(debug);
	free(linked);
}
END_TEST

/* The program of that name in the folder, and whether its debug file, which is looked for beside it
 * and in .debug, is found. */
static bool is_found(const char *program, uint64_t rva)
{
	char *path = in_folder(program);
	struct symbol_image_identity identity = {.path = path};
	struct symbol_address address = {.rva = rva};
	ck_assert_int_eq(resolve_file(&identity, ":.debug", &address, 1), SYMBOL_IMAGE_OPEN);
	bool found = !address.function.is_pseudo;
	if (found) {
		ck_assert_str_eq(address.function.name, "subject_outer");
		ck_assert_ptr_nonnull(address.function.file);
	}
	symbol_address_finish(&address);
	free(path);
	return found;
}

/* Of the form .debug/PROGRAM: the place before it, beside the program, is the program. */
START_TEST(test_link_named_as_the_program)
{
	uint64_t rva = ask_rva("subject_outer");
	free(make_debug_file(SUBJECT_PIE, "same", "--compress-debug-sections=zlib"));
	run(xalloc_printf("cd '%s' && mkdir .debug && mv same .debug && strip -o same '%s' && "
			  "objcopy --add-gnu-debuglink=.debug/same same && ln same other",
			  folder, SUBJECT_PIE));
	ck_assert(is_found("same", rva));
	ck_assert(is_found("other", rva));
	run(xalloc_printf("ln -f '%s/same' '%s/.debug/same'", folder, folder));
	ck_assert(!is_found("same", rva));
}
END_TEST

START_TEST(test_no_link)
{
	uint64_t rva = ask_rva("subject_outer");
	run(xalloc_printf("cd '%s' && strip -o program '%s' && mkdir .debug", folder, SUBJECT_PIE));
	ck_assert(!is_found("program", rva));
	free(make_debug_file(SUBJECT_PIE, "program.debug", "--compress-debug-sections=zlib"));
	ck_assert(is_found("program", rva));
	run(xalloc_printf("cd '%s' && mv program.debug .debug", folder));
	ck_assert(is_found("program", rva));
	/* No link, no checksum: a file without a build-id could be anything's. */
	run(xalloc_printf("cd '%s' && objcopy -R .note.gnu.build-id .debug/program.debug", folder));
	ck_assert(!is_found("program", rva));
	free(make_debug_file(SUBJECT_FIXED, ".debug/program.debug", ""));
	ck_assert(!is_found("program", rva));
}
END_TEST

/* What lies in the place of a debug file is not opened if it is no file. */
START_TEST(test_fifo_in_its_place)
{
	char events[256];
	char *place = in_folder("program.debug");
	int watch = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
	uint64_t rva = ask_rva("subject_outer");
	run(xalloc_printf("cd '%s' && strip -o program '%s' && mkfifo program.debug", folder,
			  SUBJECT_PIE));
	ck_assert_int_ge(inotify_add_watch(watch, place, IN_OPEN), 0);
	ck_assert(!is_found("program", rva));
	ck_assert_int_eq(read(watch, events, sizeof(events)), -1);
	close(watch);
	free(place);
}
END_TEST

/* A debug file without a build-id is known by the link's checksum. */
START_TEST(test_checksum_of_the_link)
{
	uint64_t rva = ask_rva("subject_outer");
	free(make_debug_file(SUBJECT_PIE, "linked.dbg", "-R .note.gnu.build-id"));
	run(xalloc_printf("cd '%s' && strip -o program '%s' && objcopy --add-gnu-debuglink="
			  "linked.dbg program",
			  folder, SUBJECT_PIE));
	ck_assert(is_found("program", rva));
	run(xalloc_printf("cd '%s' && printf x >>linked.dbg", folder));
	ck_assert(!is_found("program", rva));
	run(xalloc_printf("cd '%s' && : >linked.dbg", folder));
	ck_assert(!is_found("program", rva));
	/* A checksum that is right is not enough where another build-id is there. */
	free(make_debug_file(SUBJECT_FIXED, "linked.dbg", ""));
	run(xalloc_printf("cd '%s' && strip -R .gnu_debuglink program && objcopy "
			  "--add-gnu-debuglink=linked.dbg program",
			  folder));
	ck_assert(!is_found("program", rva));
}
END_TEST

START_TEST(test_file_of_another_build_id)
{
	uint64_t rva = ask_rva("subject_outer");
	char *packed = make_debug_file(SUBJECT_FIXED, "packed", "--compress-debug-sections=zlib");
	install(packed);
	struct symbol_address address = resolve_stripped(rva);
	ck_assert(address.function.is_pseudo);
	symbol_address_finish(&address);
	free(packed);
}
END_TEST

/* A result's names lead nowhere else. */
START_TEST(test_names_that_lead_upwards)
{
	struct symbol_address address = {0};
	struct symbol_image_identity identity = {.path = "/usr/../usr/bin/env"};
	ck_assert_int_eq(resolve_file(&identity, NULL, &address, 1), SYMBOL_IMAGE_MISSING);
	identity.path = "/usr/bin/env";
	ck_assert_int_eq(resolve_file(&identity, NULL, &address, 1), SYMBOL_IMAGE_OPEN);
	symbol_address_finish(&address);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("debug files");
	TCase *copies = tcase_create("copies");
	tcase_add_checked_fixture(copies, make_folder, remove_folder);
	tcase_set_timeout(copies, 60);
	tcase_add_loop_test(copies, test_copy_is_the_plain_file, 0,
			    sizeof(subjects) / sizeof(subjects[0]));
	tcase_add_test(copies, test_sizes_that_are_not_so);
	tcase_add_test(copies, test_damaged_and_other_files);
	suite_add_tcase(suite, copies);
	TCase *symbols = tcase_create("symbols");
	tcase_add_checked_fixture(symbols, make_folder, remove_folder);
	tcase_add_test(symbols, test_symbols_of_a_compressed_file);
	tcase_add_test(symbols, test_symbols_of_a_damaged_file);
	tcase_add_test(symbols, test_symbols_by_link);
	tcase_add_test(symbols, test_link_named_as_the_program);
	tcase_add_test(symbols, test_no_link);
	tcase_add_test(symbols, test_fifo_in_its_place);
	tcase_add_test(symbols, test_checksum_of_the_link);
	tcase_add_test(symbols, test_file_of_another_build_id);
	tcase_add_test(symbols, test_names_that_lead_upwards);
	suite_add_tcase(suite, symbols);
	elf_version(EV_CURRENT);
	return run_suite(suite);
}
