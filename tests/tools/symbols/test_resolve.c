/* Symbol lookup in the forms a program comes in; the program itself says what must be found. */
#include "tests/support/suite.h"
#include "tools/memory/xalloc.h"
#include "tools/names/demangle.h"
#include "tools/symbols/perf_map_symbols.h"
#include "tools/symbols/resolve.h"
#include <check.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#define NAMES_MAX 16

struct truth {
	char names[NAMES_MAX][64];
	uint64_t rvas[NAMES_MAX];
	size_t count;
};

static void ask_subject(const char *path, struct truth *truth)
{
	char command[4096];
	snprintf(command, sizeof(command), "'%s'", path);
	FILE *pipe = popen(command, "r");
	ck_assert_ptr_nonnull(pipe);
	truth->count = 0;
	while (truth->count < NAMES_MAX && fscanf(pipe, "%63s %lx", truth->names[truth->count],
						  &truth->rvas[truth->count]) == 2)
		truth->count++;
	ck_assert_int_eq(pclose(pipe), 0);
	ck_assert_uint_ge(truth->count, 2);
}

static uint64_t rva_of(const struct truth *truth, const char *name)
{
	for (size_t i = 0; i < truth->count; i++) {
		if (strcmp(truth->names[i], name) == 0)
			return truth->rvas[i];
	}
	ck_abort_msg("the subject does not know %s", name);
}

static enum symbol_file_status resolve(const char *path, const char *debug_path,
				       struct symbol_address *address, uint64_t rva)
{
	struct mapped_file identity = {.path = path};
	*address = (struct symbol_address){.rva = rva};
	return resolve_file(&identity, debug_path, address, 1);
}

static void expect_name(const char *path, const char *debug_path, uint64_t rva, const char *name,
			uint64_t start)
{
	struct symbol_address address;
	ck_assert_int_eq(resolve(path, debug_path, &address, rva), SYMBOL_FILE_OPEN);
	ck_assert_str_eq(address.function.name, name);
	ck_assert_uint_eq(address.function.start, start);
	symbol_address_finish(&address);
}

/* Every name at its first byte and one byte on. */
static void expect_all(const char *path, const char *debug_path, const struct truth *truth)
{
	static const char *const names[] = {"subject_outer", "subject_local", "subject_alias"};
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		uint64_t rva = rva_of(truth, names[i]);
		expect_name(path, debug_path, rva, names[i], rva);
		expect_name(path, debug_path, rva + 1, names[i], rva);
	}
	uint64_t assembly = rva_of(truth, "subject_assembly");
	expect_name(path, debug_path, assembly + 20, "subject_assembly", assembly);
}

static void expect_import(const char *path, const struct truth *truth)
{
	struct symbol_address address;
	uint64_t stub = rva_of(truth, "getppid");
	ck_assert_int_eq(resolve(path, NULL, &address, stub + 4), SYMBOL_FILE_OPEN);
	ck_assert(address.function.is_plt);
	ck_assert_str_eq(address.function.name, "getppid");
	ck_assert_uint_eq(address.function.start, stub);
	symbol_address_finish(&address);
}

START_TEST(test_pie)
{
	struct truth truth;
	ask_subject(SUBJECT_PIE, &truth);
	expect_all(SUBJECT_PIE, NULL, &truth);
	expect_import(SUBJECT_PIE, &truth);
}
END_TEST

START_TEST(test_fixed_address)
{
	struct truth truth;
	ask_subject(SUBJECT_FIXED, &truth);
	expect_all(SUBJECT_FIXED, NULL, &truth);
	expect_import(SUBJECT_FIXED, &truth);
}
END_TEST

START_TEST(test_branch_tracking_stubs)
{
	struct truth truth;
	ask_subject(SUBJECT_IBT, &truth);
	expect_import(SUBJECT_IBT, &truth);
}
END_TEST

#ifdef SUBJECT_PIE_32
START_TEST(test_32_bits)
{
	static const char *const paths[] = {SUBJECT_PIE_32, SUBJECT_FIXED_32};
	struct truth truth;
	ask_subject(paths[_i], &truth);
	expect_all(paths[_i], NULL, &truth);
	expect_import(paths[_i], &truth);
}
END_TEST

/* The start of the function from the unwind table, whose addresses have 4 bytes. */
START_TEST(test_32_bits_stripped)
{
	struct truth truth;
	struct symbol_address address;
	ask_subject(SUBJECT_STRIPPED_32, &truth);
	uint64_t rva = rva_of(&truth, "subject_outer");
	ck_assert_int_eq(resolve(SUBJECT_STRIPPED_32, NULL, &address, rva + 3), SYMBOL_FILE_OPEN);
	ck_assert(address.function.is_pseudo);
	ck_assert_uint_eq(address.function.start, rva);
	symbol_address_finish(&address);
}
END_TEST
#endif

START_TEST(test_static)
{
	struct truth truth;
	ask_subject(SUBJECT_STATIC, &truth);
	expect_all(SUBJECT_STATIC, NULL, &truth);
}
END_TEST

/* Stripped: the start of the function from the unwind table, no name. */
START_TEST(test_stripped)
{
	struct truth truth;
	struct symbol_address address;
	ask_subject(SUBJECT_STRIPPED, &truth);
	uint64_t rva = rva_of(&truth, "subject_outer");
	ck_assert_int_eq(resolve(SUBJECT_STRIPPED, NULL, &address, rva + 3), SYMBOL_FILE_OPEN);
	ck_assert_ptr_null(address.function.name);
	ck_assert(address.function.is_pseudo);
	ck_assert_uint_eq(address.function.start, rva);
	ck_assert_uint_gt(address.function.size, 3);
	symbol_address_finish(&address);
	expect_import(SUBJECT_STRIPPED, &truth);
	/* Assembly without an FDE: nothing but the address is known. */
	rva = rva_of(&truth, "subject_assembly") + 5;
	ck_assert_int_eq(resolve(SUBJECT_STRIPPED, NULL, &address, rva), SYMBOL_FILE_OPEN);
	ck_assert(address.function.is_pseudo);
	ck_assert_uint_eq(address.function.start, rva);
	symbol_address_finish(&address);
}
END_TEST

START_TEST(test_separate_debug_file_by_link)
{
	struct truth truth;
	ask_subject(SUBJECT_LINKED, &truth);
	expect_all(SUBJECT_LINKED, NULL, &truth);
}
END_TEST

START_TEST(test_separate_debug_file_by_build_id)
{
	struct truth truth;
	ask_subject(SUBJECT_STRIPPED, &truth);
	expect_all(SUBJECT_STRIPPED, SUBJECT_DEBUG_DIR, &truth);
}
END_TEST

START_TEST(test_minimal_debug_info)
{
	struct truth truth;
	ask_subject(SUBJECT_MINI, &truth);
	expect_all(SUBJECT_MINI, NULL, &truth);
}
END_TEST

static uint32_t line_of(const char *mark)
{
	char text[512];
	uint32_t line = 0;
	FILE *source = fopen(SUBJECT_SOURCE, "r");
	ck_assert_ptr_nonnull(source);
	while (fgets(text, sizeof(text), source)) {
		line++;
		if (strstr(text, mark)) {
			fclose(source);
			return line;
		}
	}
	ck_abort_msg("no mark %s", mark);
}

START_TEST(test_inlined_functions_and_lines)
{
	struct truth truth;
	struct symbol_address address;
	ask_subject(SUBJECT_PIE, &truth);
	uint64_t rva = rva_of(&truth, "subject_inlined_place") + 1;
	ck_assert_int_eq(resolve(SUBJECT_PIE, NULL, &address, rva), SYMBOL_FILE_OPEN);
	ck_assert_str_eq(address.function.name, "subject_outer");
	ck_assert_uint_eq(address.inlined_count, 2);
	ck_assert_str_eq(address.inlined[0].name, "subject_middle");
	ck_assert_str_eq(address.inlined[1].name, "subject_inner");
	ck_assert_uint_eq(address.function.line, line_of("/* OUTER */"));
	ck_assert_uint_eq(address.inlined[0].line, line_of("/* MIDDLE */"));
	ck_assert_ptr_nonnull(strstr(address.inlined[0].file, "subject.c"));
	ck_assert_ptr_nonnull(strstr(address.inlined[1].file, "subject.c"));
	symbol_address_finish(&address);
}
END_TEST

#ifdef SUBJECT_LAMBDA
START_TEST(test_inlined_functions_without_linkage_name)
{
	struct truth truth;
	struct symbol_address address;
	ask_subject(SUBJECT_LAMBDA, &truth);
	ck_assert_int_eq(resolve(SUBJECT_LAMBDA, NULL, &address, rva_of(&truth, "local") + 1),
			 SYMBOL_FILE_OPEN);
	ck_assert_uint_eq(address.inlined_count, 2);
	char *lambda = demangle_name(address.inlined[0].name, DEMANGLE_SHORT);
	char *local = demangle_name(address.inlined[1].name, DEMANGLE_SHORT);
	/* clang gives linkage names: subject::run(int)::$_0::operator()(int) */
	ck_assert_msg(strcmp(lambda, "subject::run::{lambda}::operator()") == 0 ||
			      strncmp(lambda, "subject::run(int)::", 19) == 0,
		      "%s", lambda);
	ck_assert_msg(strcmp(local, "subject::run::Local::get") == 0 ||
			      strcmp(local, "subject::run(int)::Local::get") == 0,
		      "%s", local);
	free(lambda);
	free(local);
	symbol_address_finish(&address);
}
END_TEST
#endif

/* All at once, in whatever order the caller had them. */
START_TEST(test_many_addresses)
{
	struct truth truth;
	struct symbol_address addresses[4] = {0};
	struct mapped_file identity = {.path = SUBJECT_PIE};
	ask_subject(SUBJECT_PIE, &truth);
	addresses[0].rva = rva_of(&truth, "subject_outer");
	addresses[1].rva = rva_of(&truth, "subject_local");
	addresses[2].rva = 1; /* no code there */
	addresses[3].rva = UINT64_MAX;
	symbol_addresses_sort(addresses, 4);
	ck_assert_int_eq(resolve_file(&identity, NULL, addresses, 4), SYMBOL_FILE_OPEN);
	for (size_t i = 0; i < 4; i++) {
		ck_assert(addresses[i].function.name || addresses[i].function.is_pseudo);
		if (addresses[i].rva == rva_of(&truth, "subject_outer"))
			ck_assert_str_eq(addresses[i].function.name, "subject_outer");
		if (addresses[i].rva == 1 || addresses[i].rva == UINT64_MAX)
			ck_assert_ptr_null(addresses[i].function.name);
		symbol_address_finish(&addresses[i]);
	}
}
END_TEST

START_TEST(test_another_file_is_refused)
{
	uint8_t build_id[20] = {1, 2, 3};
	struct mapped_file identity = {SUBJECT_PIE, build_id, sizeof(build_id), 0, 0, 0, 0, 0};
	struct symbol_address address = {.rva = 0x1000};
	ck_assert_int_eq(resolve_file(&identity, NULL, &address, 1), SYMBOL_FILE_REPLACED);
	/* no build-id was known: the inode tells */
	struct stat status;
	ck_assert_int_eq(stat(SUBJECT_PIE, &status), 0);
	identity = (struct mapped_file){SUBJECT_PIE, NULL, 0, status.st_ino + 1, 0, 0, 0, 0};
	ck_assert_int_eq(resolve_file(&identity, NULL, &address, 1), SYMBOL_FILE_REPLACED);
	identity.inode = status.st_ino;
	/* and the time of its last change, about as well as clocks are known */
	int64_t changed_ns = status.st_ctim.tv_sec * 1000000000ll + status.st_ctim.tv_nsec;
	identity.mapped_ns = changed_ns - 10000000;
	ck_assert_int_eq(resolve_file(&identity, NULL, &address, 1), SYMBOL_FILE_REPLACED);
	identity.mapped_ns = changed_ns - 1000000;
	ck_assert_int_eq(resolve_file(&identity, NULL, &address, 1), SYMBOL_FILE_OPEN);
	symbol_address_finish(&address);
	address = (struct symbol_address){.rva = 0x1000};
	identity.mapped_ns = changed_ns + 5000000000;
	ck_assert_int_eq(resolve_file(&identity, NULL, &address, 1), SYMBOL_FILE_OPEN);
	symbol_address_finish(&address);
}
END_TEST

START_TEST(test_no_file_and_no_elf)
{
	struct symbol_address address = {0};
	ck_assert_int_eq(resolve("/nonexistent/file", NULL, &address, 1), SYMBOL_FILE_MISSING);
	ck_assert_int_eq(resolve("/", NULL, &address, 1), SYMBOL_FILE_MISSING);
	ck_assert_int_eq(resolve("/dev/zero", NULL, &address, 1), SYMBOL_FILE_MISSING);
	ck_assert_int_eq(resolve(SUBJECT_SOURCE, NULL, &address, 1), SYMBOL_FILE_INVALID);
}
END_TEST

/* To open some things is to do something: a result must not make us start a watchdog. */
START_TEST(test_other_things_are_not_opened)
{
	char path[] = "/tmp/test-symbols-XXXXXX";
	char events[256];
	struct symbol_address address = {0};
	int watch = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
	ck_assert_int_ge(watch, 0);
	ck_assert_int_ge(close(mkstemp(path)), 0);
	unlink(path);
	ck_assert_int_eq(mkfifo(path, 0600), 0);
	ck_assert_int_ge(inotify_add_watch(watch, path, IN_OPEN), 0);
	ck_assert_int_eq(resolve(path, NULL, &address, 1), SYMBOL_FILE_MISSING);
	struct perf_map_process process = {.owner_uid = getuid()};
	ck_assert_int_eq(resolve_generated(path, &process, &address, 1), PERF_MAP_NO_NAMES);
	ck_assert_int_eq(read(watch, events, sizeof(events)), -1);
	close(watch);
	unlink(path);
}
END_TEST

/* Cut and changed files must end in some answer, not in a crash. */
START_TEST(test_damaged_files)
{
	struct truth truth;
	char path[] = "/tmp/test-symbols-XXXXXX";
	static char bytes[1 << 20];
	ask_subject(SUBJECT_PIE, &truth);
	FILE *whole = fopen(SUBJECT_PIE, "r");
	ck_assert_ptr_nonnull(whole);
	size_t size = fread(bytes, 1, sizeof(bytes), whole);
	fclose(whole);
	int fd = mkstemp(path);
	ck_assert_int_ge(fd, 0);
	unsigned opened = 0;
	for (size_t round = 0; round < 300; round++) {
		size_t cut = round % 3 == 0 ? size * (round + 1) / 301 : size;
		char *byte = &bytes[(round * 7919) % size];
		char kept = *byte;
		*byte = (char)(*byte ^ (1 << round % 8));
		ck_assert_int_eq(ftruncate(fd, 0), 0);
		ck_assert_int_eq(pwrite(fd, bytes, cut, 0), (ssize_t)cut);
		*byte = kept;
		struct symbol_address address;
		uint64_t rva = rva_of(&truth, round % 2 ? "subject_inlined_place" : "getppid");
		if (resolve(path, NULL, &address, rva) == SYMBOL_FILE_OPEN) {
			opened++;
			ck_assert(address.function.name || address.function.is_pseudo);
		}
		symbol_address_finish(&address);
	}
	close(fd);
	unlink(path);
	ck_assert_uint_gt(opened, 100);
}
END_TEST

/* The vdso has no path; its build-id is asked from the image itself first. */
START_TEST(test_vdso)
{
	uint8_t none[20] = {0};
	struct mapped_file identity = {"[vdso]", none, sizeof(none), 0, 0, 0, 0, 0};
	struct symbol_address address = {.rva = 0x800};
	struct symbol_file image;
	const unsigned char *bits = NULL;
	GElf_Addr where;
	if (!getauxval(AT_SYSINFO_EHDR)) {
		puts("skipped - symbols of the vdso: hidden by the tool that runs this");
		return;
	}
	ck_assert_int_eq(resolve_file(&identity, NULL, &address, 1), SYMBOL_FILE_REPLACED);
	identity.build_id_size = 0;
	ck_assert_int_eq(symbol_file_open_vdso(&image, &identity), SYMBOL_FILE_OPEN);
	identity.build_id_size = (size_t)dwfl_module_build_id(image.module, &bits, &where);
	memcpy(none, bits, identity.build_id_size);
	/* any function of the vdso's own symbol table must be found again */
	int count = dwfl_module_getsymtab(image.module);
	char *expected = NULL;
	for (int i = 1; i < count && !expected; i++) {
		GElf_Sym symbol;
		const char *name = dwfl_module_getsym(image.module, i, &symbol, NULL);
		if (name && strstr(name, "clock_gettime") && symbol.st_size > 4) {
			expected = strdup("clock_gettime");
			address.rva = symbol.st_value + 2;
		}
	}
	symbol_file_close(&image);
	ck_assert_ptr_nonnull(expected);
	ck_assert_int_eq(resolve_file(&identity, NULL, &address, 1), SYMBOL_FILE_OPEN);
	ck_assert_ptr_nonnull(strstr(address.function.name, expected));
	free(expected);
	symbol_address_finish(&address);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("resolve");
	TCase *files = tcase_create("files");
	tcase_set_timeout(files, 60);
	tcase_add_test(files, test_pie);
	tcase_add_test(files, test_fixed_address);
	tcase_add_test(files, test_branch_tracking_stubs);
#ifdef SUBJECT_PIE_32
	tcase_add_loop_test(files, test_32_bits, 0, 2);
	tcase_add_test(files, test_32_bits_stripped);
#endif
	tcase_add_test(files, test_static);
	tcase_add_test(files, test_stripped);
	tcase_add_test(files, test_separate_debug_file_by_link);
	tcase_add_test(files, test_separate_debug_file_by_build_id);
	tcase_add_test(files, test_minimal_debug_info);
	tcase_add_test(files, test_inlined_functions_and_lines);
#ifdef SUBJECT_LAMBDA
	tcase_add_test(files, test_inlined_functions_without_linkage_name);
#endif
	tcase_add_test(files, test_many_addresses);
	tcase_add_test(files, test_another_file_is_refused);
	tcase_add_test(files, test_no_file_and_no_elf);
	tcase_add_test(files, test_other_things_are_not_opened);
	tcase_add_test(files, test_damaged_files);
	tcase_add_test(files, test_vdso);
	suite_add_tcase(suite, files);
	return run_suite(suite);
}
