/* Separate debug files: where they are found, and symbols through them. */
#include "tests/support/suite.h"
#include "tests/tools/debuginfo/scratch.h"
#include "tools/memory/xalloc.h"
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

/* SUBJECT_PIE's build-id, as two parts of a path. */
static void read_build_id(char first[3], char rest[128])
{
	FILE *pipe = popen("readelf -n '" SUBJECT_PIE "' | sed -n 's/.*Build ID: //p'", "r");
	ck_assert_ptr_nonnull(pipe);
	ck_assert_int_eq(fscanf(pipe, "%2s%127s", first, rest), 2);
	pclose(pipe);
}

/* Puts the file where the subject's debug file is looked for. */
static void install(const char *file)
{
	char first[3];
	char rest[128];
	read_build_id(first, rest);
	char *directory = xalloc_printf("%s/.build-id/%s", scratch_folder(), first);
	scratch_run(xalloc_printf("mkdir -p '%s'", directory));
	char *path = xalloc_printf("%s/%s.debug", directory, rest);
	scratch_run(xalloc_printf("mv '%s' '%s'", file, path));
	free(path);
	free(directory);
}

static struct symbol_address resolve_stripped(uint64_t rva)
{
	struct mapped_file identity = {.path = SUBJECT_STRIPPED};
	struct symbol_address address = {.rva = rva};
	ck_assert_int_eq(resolve_file(&identity, scratch_folder(), &address, 1), SYMBOL_FILE_OPEN);
	return address;
}

START_TEST(test_symbols_of_a_compressed_file)
{
	uint64_t rva = scratch_rva("subject_outer");
	char *packed = scratch_debug_file(SUBJECT_PIE, "packed", "--compress-debug-sections=zlib");
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
	uint64_t rva = scratch_rva("subject_outer");
	char *packed = scratch_debug_file(SUBJECT_PIE, "packed", "--compress-debug-sections=zlib");
	scratch_write(packed, scratch_compressed(packed, ".debug_info") + 24, "\0\0\0\0", 4);
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
	uint64_t rva = scratch_rva("subject_outer");
	char *linked = scratch_path("linked");
	char *debug =
		scratch_debug_file(SUBJECT_PIE, "linked.dbg", "--compress-debug-sections=zlib");
	char *directories = xalloc_printf("+:.debug:%s/debug", scratch_folder());
	struct mapped_file identity = {.path = linked};
	struct symbol_address address;
	scratch_run(xalloc_printf("cd '%s' && strip -o linked '%s' && objcopy --add-gnu-debuglink="
				  "linked.dbg linked",
				  scratch_folder(), SUBJECT_PIE));
	for (size_t i = 0; i < sizeof(below) / sizeof(below[0]); i++) {
		char *directory = xalloc_printf("%s%s%s", scratch_folder(), below[i],
						i == 2 ? scratch_folder() : "");
		address = (struct symbol_address){.rva = rva};
		scratch_run(xalloc_printf("mkdir -p '%s' && { [ '%s' = '%s' ] || mv '%s' '%s'; }",
					  directory, directory, scratch_folder(), debug,
					  directory));
		free(debug);
		debug = xalloc_printf("%s/linked.dbg", directory);
		ck_assert_int_eq(resolve_file(&identity, directories, &address, 1),
				 SYMBOL_FILE_OPEN);
		ck_assert_str_eq(address.function.name, "subject_outer");
		ck_assert_ptr_nonnull(address.function.file);
		symbol_address_finish(&address);
		free(directory);
	}
	/* Another build's under the name is none. */
	scratch_run(xalloc_printf("objcopy --only-keep-debug '%s' '%s'", SUBJECT_FIXED, debug));
	address = (struct symbol_address){.rva = rva};
	ck_assert_int_eq(resolve_file(&identity, directories, &address, 1), SYMBOL_FILE_OPEN);
	ck_assert(address.function.is_pseudo);
	symbol_address_finish(&address);
	free(directories);
	free(debug);
	free(linked);
}
END_TEST

/* The program of that name in the scratch_folder(), and whether its debug file, which is looked for
 * beside it and in .debug, is found. */
static bool is_found(const char *program, uint64_t rva)
{
	char *path = scratch_path(program);
	struct mapped_file identity = {.path = path};
	struct symbol_address address = {.rva = rva};
	ck_assert_int_eq(resolve_file(&identity, ":.debug", &address, 1), SYMBOL_FILE_OPEN);
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
	uint64_t rva = scratch_rva("subject_outer");
	free(scratch_debug_file(SUBJECT_PIE, "same", "--compress-debug-sections=zlib"));
	scratch_run(
		xalloc_printf("cd '%s' && mkdir .debug && mv same .debug && strip -o same '%s' && "
			      "objcopy --add-gnu-debuglink=.debug/same same && ln same other",
			      scratch_folder(), SUBJECT_PIE));
	ck_assert(is_found("same", rva));
	ck_assert(is_found("other", rva));
	scratch_run(xalloc_printf("ln -f '%s/same' '%s/.debug/same'", scratch_folder(),
				  scratch_folder()));
	ck_assert(!is_found("same", rva));
}
END_TEST

START_TEST(test_no_link)
{
	uint64_t rva = scratch_rva("subject_outer");
	scratch_run(xalloc_printf("cd '%s' && strip -o program '%s' && mkdir .debug",
				  scratch_folder(), SUBJECT_PIE));
	ck_assert(!is_found("program", rva));
	free(scratch_debug_file(SUBJECT_PIE, "program.debug", "--compress-debug-sections=zlib"));
	ck_assert(is_found("program", rva));
	scratch_run(xalloc_printf("cd '%s' && mv program.debug .debug", scratch_folder()));
	ck_assert(is_found("program", rva));
	/* No link, no checksum: a file without a build-id could be anything's. */
	scratch_run(xalloc_printf("cd '%s' && objcopy -R .note.gnu.build-id .debug/program.debug",
				  scratch_folder()));
	ck_assert(!is_found("program", rva));
	free(scratch_debug_file(SUBJECT_FIXED, ".debug/program.debug", ""));
	ck_assert(!is_found("program", rva));
}
END_TEST

/* Beside a program others may put files, but in a directory that the user names. */
START_TEST(test_file_of_another_user)
{
	if (getuid() != 0) {
		puts("skipped - debug files of another user: only root can give files away");
		return;
	}
	uint64_t rva = scratch_rva("subject_outer");
	char *path = scratch_path("program");
	struct mapped_file file = {.path = path};
	scratch_run(
		xalloc_printf("cd '%s' && strip -o program '%s'", scratch_folder(), SUBJECT_PIE));
	free(scratch_debug_file(SUBJECT_PIE, "program.debug", ""));
	for (unsigned i = 0; i < 3; i++) {
		/* of root; of a stranger; of the program's owner */
		scratch_run(xalloc_printf("cd '%s' && chown %u program.debug && chown %u program",
					  scratch_folder(), i > 0 ? 1234 : 0, i > 1 ? 1234 : 0));
		struct symbol_address address = {.rva = rva};
		ck_assert_int_eq(resolve_file(&file, NULL, &address, 1), SYMBOL_FILE_OPEN);
		ck_assert(address.function.is_pseudo == (i == 1));
		symbol_address_finish(&address);
		ck_assert(is_found("program", rva));
	}
	free(path);
}
END_TEST

/* What lies in the place of a debug file is not opened if it is no file. */
START_TEST(test_fifo_in_its_place)
{
	char events[256];
	char *place = scratch_path("program.debug");
	int watch = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
	uint64_t rva = scratch_rva("subject_outer");
	scratch_run(xalloc_printf("cd '%s' && strip -o program '%s' && mkfifo program.debug",
				  scratch_folder(), SUBJECT_PIE));
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
	uint64_t rva = scratch_rva("subject_outer");
	free(scratch_debug_file(SUBJECT_PIE, "linked.dbg", "-R .note.gnu.build-id"));
	scratch_run(xalloc_printf("cd '%s' && strip -o program '%s' && objcopy --add-gnu-debuglink="
				  "linked.dbg program",
				  scratch_folder(), SUBJECT_PIE));
	ck_assert(is_found("program", rva));
	scratch_run(xalloc_printf("cd '%s' && printf x >>linked.dbg", scratch_folder()));
	ck_assert(!is_found("program", rva));
	scratch_run(xalloc_printf("cd '%s' && : >linked.dbg", scratch_folder()));
	ck_assert(!is_found("program", rva));
	/* A checksum that is right is not enough where another build-id is there. */
	free(scratch_debug_file(SUBJECT_FIXED, "linked.dbg", ""));
	scratch_run(xalloc_printf("cd '%s' && strip -R .gnu_debuglink program && objcopy "
				  "--add-gnu-debuglink=linked.dbg program",
				  scratch_folder()));
	ck_assert(!is_found("program", rva));
}
END_TEST

START_TEST(test_file_of_another_build_id)
{
	uint64_t rva = scratch_rva("subject_outer");
	char *packed =
		scratch_debug_file(SUBJECT_FIXED, "packed", "--compress-debug-sections=zlib");
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
	struct mapped_file identity = {.path = "/usr/../usr/bin/env"};
	ck_assert_int_eq(resolve_file(&identity, NULL, &address, 1), SYMBOL_FILE_MISSING);
	identity.path = "/usr/bin/env";
	ck_assert_int_eq(resolve_file(&identity, NULL, &address, 1), SYMBOL_FILE_OPEN);
	symbol_address_finish(&address);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("debug files");
	TCase *symbols = tcase_create("symbols");
	tcase_add_checked_fixture(symbols, scratch_begin, scratch_end);
	tcase_add_test(symbols, test_symbols_of_a_compressed_file);
	tcase_add_test(symbols, test_symbols_of_a_damaged_file);
	tcase_add_test(symbols, test_symbols_by_link);
	tcase_add_test(symbols, test_link_named_as_the_program);
	tcase_add_test(symbols, test_no_link);
	tcase_add_test(symbols, test_file_of_another_user);
	tcase_add_test(symbols, test_fifo_in_its_place);
	tcase_add_test(symbols, test_checksum_of_the_link);
	tcase_add_test(symbols, test_file_of_another_build_id);
	tcase_add_test(symbols, test_names_that_lead_upwards);
	suite_add_tcase(suite, symbols);
	elf_version(EV_CURRENT);
	return run_suite(suite);
}
