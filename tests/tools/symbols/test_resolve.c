/* Symbol lookup in the forms a program comes in; the program itself says what must be found. */
#include "tests/support/suite.h"
#include "tools/cli/xalloc.h"
#include "tools/names/demangle.h"
#include "tools/symbols/kallsyms.h"
#include "tools/symbols/perf_map.h"
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

static enum symbol_image_status resolve(const char *path, const char *debug_path,
					struct symbol_address *address, uint64_t rva)
{
	struct symbol_image_identity identity = {.path = path};
	*address = (struct symbol_address){.rva = rva};
	return resolve_file(&identity, debug_path, address, 1);
}

static void expect_name(const char *path, const char *debug_path, uint64_t rva, const char *name,
			uint64_t start)
{
	struct symbol_address address;
	ck_assert_int_eq(resolve(path, debug_path, &address, rva), SYMBOL_IMAGE_OPEN);
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
	ck_assert_int_eq(resolve(path, NULL, &address, stub + 4), SYMBOL_IMAGE_OPEN);
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
	ck_assert_int_eq(resolve(SUBJECT_STRIPPED_32, NULL, &address, rva + 3), SYMBOL_IMAGE_OPEN);
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
	ck_assert_int_eq(resolve(SUBJECT_STRIPPED, NULL, &address, rva + 3), SYMBOL_IMAGE_OPEN);
	ck_assert_ptr_null(address.function.name);
	ck_assert(address.function.is_pseudo);
	ck_assert_uint_eq(address.function.start, rva);
	ck_assert_uint_gt(address.function.size, 3);
	symbol_address_finish(&address);
	expect_import(SUBJECT_STRIPPED, &truth);
	/* Assembly without an FDE: nothing but the address is known. */
	rva = rva_of(&truth, "subject_assembly") + 5;
	ck_assert_int_eq(resolve(SUBJECT_STRIPPED, NULL, &address, rva), SYMBOL_IMAGE_OPEN);
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
	ck_assert_int_eq(resolve(SUBJECT_PIE, NULL, &address, rva), SYMBOL_IMAGE_OPEN);
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
			 SYMBOL_IMAGE_OPEN);
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
	struct symbol_image_identity identity = {.path = SUBJECT_PIE};
	ask_subject(SUBJECT_PIE, &truth);
	addresses[0].rva = rva_of(&truth, "subject_outer");
	addresses[1].rva = rva_of(&truth, "subject_local");
	addresses[2].rva = 1; /* no code there */
	addresses[3].rva = UINT64_MAX;
	symbol_addresses_sort(addresses, 4);
	ck_assert_int_eq(resolve_file(&identity, NULL, addresses, 4), SYMBOL_IMAGE_OPEN);
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
	struct symbol_image_identity identity = {SUBJECT_PIE, build_id, sizeof(build_id), 0, 0, 0};
	struct symbol_address address = {.rva = 0x1000};
	ck_assert_int_eq(resolve_file(&identity, NULL, &address, 1), SYMBOL_IMAGE_REPLACED);
	/* no build-id was known: the inode tells */
	struct stat status;
	ck_assert_int_eq(stat(SUBJECT_PIE, &status), 0);
	identity = (struct symbol_image_identity){SUBJECT_PIE, NULL, 0, status.st_ino + 1, 0, 0};
	ck_assert_int_eq(resolve_file(&identity, NULL, &address, 1), SYMBOL_IMAGE_REPLACED);
	identity.inode = status.st_ino;
	/* and the time of its last change, about as well as clocks are known */
	int64_t changed_ns = status.st_ctim.tv_sec * 1000000000ll + status.st_ctim.tv_nsec;
	identity.mapped_ns = changed_ns - 10000000;
	ck_assert_int_eq(resolve_file(&identity, NULL, &address, 1), SYMBOL_IMAGE_REPLACED);
	identity.mapped_ns = changed_ns - 1000000;
	ck_assert_int_eq(resolve_file(&identity, NULL, &address, 1), SYMBOL_IMAGE_OPEN);
	symbol_address_finish(&address);
	address = (struct symbol_address){.rva = 0x1000};
	identity.mapped_ns = changed_ns + 5000000000;
	ck_assert_int_eq(resolve_file(&identity, NULL, &address, 1), SYMBOL_IMAGE_OPEN);
	symbol_address_finish(&address);
}
END_TEST

START_TEST(test_no_file_and_no_elf)
{
	struct symbol_address address = {0};
	ck_assert_int_eq(resolve("/nonexistent/file", NULL, &address, 1), SYMBOL_IMAGE_MISSING);
	ck_assert_int_eq(resolve("/", NULL, &address, 1), SYMBOL_IMAGE_MISSING);
	ck_assert_int_eq(resolve("/dev/zero", NULL, &address, 1), SYMBOL_IMAGE_MISSING);
	ck_assert_int_eq(resolve(SUBJECT_SOURCE, NULL, &address, 1), SYMBOL_IMAGE_INVALID);
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
	ck_assert_int_eq(resolve(path, NULL, &address, 1), SYMBOL_IMAGE_MISSING);
	struct perf_map_process process = {.owner_uid = getuid()};
	ck_assert_int_eq(perf_map_resolve(path, &process, &address, 1), PERF_MAP_NO_NAMES);
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
		if (resolve(path, NULL, &address, rva) == SYMBOL_IMAGE_OPEN) {
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
	struct symbol_image_identity identity = {"[vdso]", none, sizeof(none), 0, 0, 0};
	struct symbol_address address = {.rva = 0x800};
	struct symbol_image image;
	const unsigned char *bits = NULL;
	GElf_Addr where;
	if (!getauxval(AT_SYSINFO_EHDR)) {
		puts("skipped - symbols of the vdso: hidden by the tool that runs this");
		return;
	}
	ck_assert_int_eq(resolve_vdso(&identity, &address, 1), SYMBOL_IMAGE_REPLACED);
	identity.build_id_size = 0;
	ck_assert_int_eq(symbol_image_open_vdso(&image, &identity), SYMBOL_IMAGE_OPEN);
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
	symbol_image_close(&image);
	ck_assert_ptr_nonnull(expected);
	ck_assert_int_eq(resolve_vdso(&identity, &address, 1), SYMBOL_IMAGE_OPEN);
	ck_assert_ptr_nonnull(strstr(address.function.name, expected));
	free(expected);
	symbol_address_finish(&address);
}
END_TEST

static void expect_demangled(const char *linkage_name, const char *name, const char *full)
{
	char *text = demangle_name(linkage_name, DEMANGLE_SHORT);
	ck_assert_str_eq(text, name);
	free(text);
	text = demangle_name(linkage_name, DEMANGLE_FULL);
	ck_assert_str_eq(text, full);
	free(text);
}

START_TEST(test_demangle_cpp)
{
	expect_demangled("_ZNSt6vectorIiSaIiEE9push_backEOi",
			 "std::vector<int, std::allocator<int> >::push_back",
			 "std::vector<int, std::allocator<int> >::push_back(int&&)");
	expect_demangled("_Z5twiceIiET_S0_", "twice<int>", "int twice<int>(int)");
	expect_demangled("_ZN12_GLOBAL__N_13fooEv", "(anonymous namespace)::foo",
			 "(anonymous namespace)::foo()");
	expect_demangled("_Z3foov.isra.0", "foo", "foo() [clone .isra.0]");
}
END_TEST

START_TEST(test_demangle_rust)
{
	/* legacy, its hash left out, and v0 */
	expect_demangled("_ZN4core3fmt9Formatter3pad17h0123456789abcdefE",
			 "core::fmt::Formatter::pad", "core::fmt::Formatter::pad");
	expect_demangled("_RNvCs1234_7mycrate3foo", "mycrate::foo", "mycrate::foo");
	expect_demangled("_RNvXCs15kBYyAo9fc_7mycrateNtB2_3FooNtB2_5Trait6method",
			 "<mycrate::Foo as mycrate::Trait>::method",
			 "<mycrate::Foo as mycrate::Trait>::method");
}
END_TEST

START_TEST(test_demangle_leaves_others_alone)
{
	expect_demangled("main", "main", "main");
	expect_demangled("", "", "");
	expect_demangled("_Z", "_Z", "_Z");
	expect_demangled("_ZN3foo", "_ZN3foo", "_ZN3foo");
	expect_demangled("_R", "_R", "_R");
	char *text = xalloc_zeroed(DEMANGLE_INPUT_MAX + 2, 1);
	memset(text, 'a', DEMANGLE_INPUT_MAX + 1);
	memcpy(text, "_Z9", 3);
	expect_demangled(text, text, text);
	free(text);
}
END_TEST

/* Each level doubles the text: 2^40 would never end. */
START_TEST(test_demangle_bomb)
{
	char name[1024] = "_Z1fI1aE";
	size_t length = 0;
	length += (size_t)snprintf(name, sizeof(name), "_Z1fISt4pairIiiE");
	for (int i = 0; i < 36; i++) {
		char substitution[8];
		char digit = (char)(i < 10 ? '0' + i : 'A' + i - 10);
		snprintf(substitution, sizeof(substitution), "S%c_", digit);
		length += (size_t)snprintf(name + length, sizeof(name) - length, "St4pairI%s%sE",
					   substitution, substitution);
	}
	snprintf(name + length, sizeof(name) - length, "EvT_");
	char *text = demangle_name(name, DEMANGLE_FULL);
	ck_assert_uint_le(strlen(text), DEMANGLE_OUTPUT_MAX);
	free(text);
}
END_TEST

static void feed(const char *text, struct symbol_address *addresses, size_t count)
{
	struct perf_map_parser parser;
	perf_map_begin(&parser, addresses, count);
	perf_map_feed(&parser, text, strlen(text));
	perf_map_end(&parser);
}

START_TEST(test_perf_map_lines)
{
	struct symbol_address addresses[] = {{.rva = 0x1000}, {.rva = 0x1010}, {.rva = 0x2000}};
	feed("1000 10 first function\n"
	     "0x2000 0x1 second\r\n"
	     "1010 8 old\n"
	     "1010 8 compiled again",
	     addresses, 3);
	ck_assert_str_eq(addresses[0].function.name, "first function");
	ck_assert_uint_eq(addresses[0].function.start, 0x1000);
	ck_assert_uint_eq(addresses[0].function.size, 0x10);
	ck_assert_str_eq(addresses[1].function.name, "compiled again");
	ck_assert_str_eq(addresses[2].function.name, "second");
	for (size_t i = 0; i < 3; i++)
		symbol_address_finish(&addresses[i]);
}
END_TEST

START_TEST(test_perf_map_hostile_lines)
{
	struct symbol_address addresses[] = {{.rva = 0}, {.rva = 0x1000}, {.rva = UINT64_MAX}};
	feed("\n \n1000\n1000 \n1000 10\n1000 10 \n -1000 10 sign\n+1000 10 sign\n1000 -1 sign\n"
	     "1000 0 empty\n11111111111111111 10 long\n1000 11111111111111111 long\n"
	     "0x 10 none\nffffffffffffffff 2 wraps\nff0 ffffffffffffffff wraps\nzz 10 no\n"
	     " 1000 10 space\n1000\t10\ttab\n",
	     addresses, 3);
	for (size_t i = 0; i < 3; i++)
		ck_assert_ptr_null(addresses[i].function.name);
	feed("ffffffffffffffff 1 last\n0 1 zero\n", addresses, 3);
	ck_assert_str_eq(addresses[2].function.name, "last");
	ck_assert_str_eq(addresses[0].function.name, "zero");
	for (size_t i = 0; i < 3; i++)
		symbol_address_finish(&addresses[i]);
}
END_TEST

START_TEST(test_perf_map_long_line)
{
	struct symbol_address address = {.rva = 0x10};
	static char text[3 * PERF_MAP_LINE_MAX];
	memset(text, 'x', sizeof(text) - 1);
	memcpy(text, "10 1 ", 5);
	/* in two pieces, and followed by a line that must be seen */
	struct perf_map_parser parser;
	perf_map_begin(&parser, &address, 1);
	perf_map_feed(&parser, text, sizeof(text) / 2);
	perf_map_feed(&parser, text + sizeof(text) / 2, sizeof(text) / 2 - 1);
	perf_map_feed(&parser, "\n", 1);
	ck_assert_uint_eq(strlen(address.function.name), PERF_MAP_LINE_MAX - 1 - 5);
	perf_map_feed(&parser, "10 1 short\n", 11);
	perf_map_end(&parser);
	ck_assert_str_eq(address.function.name, "short");
	symbol_address_finish(&address);
}
END_TEST

/* Lines that cover everything again and again: the work has a limit. */
START_TEST(test_perf_map_work_limit)
{
	enum { COUNT = 4000 };
	struct symbol_address *addresses = xalloc_zeroed(COUNT, sizeof(*addresses));
	struct perf_map_parser *parser = xalloc_zeroed(1, sizeof(*parser));
	for (size_t i = 0; i < COUNT; i++)
		addresses[i].rva = i;
	perf_map_begin(parser, addresses, COUNT);
	for (size_t i = 0; i < 2 * PERF_MAP_WORK_MAX / COUNT; i++)
		perf_map_feed(parser, "0 100000 a\n", 11);
	ck_assert_uint_le(parser->work, PERF_MAP_WORK_MAX + 1);
	for (size_t i = 0; i < COUNT; i++)
		symbol_address_finish(&addresses[i]);
	free(addresses);
	free(parser);
}
END_TEST

START_TEST(test_perf_map_file)
{
	char directory[] = "/tmp/test-perf-map-XXXXXX";
	char path[64];
	char link[64];
	struct symbol_address address = {.rva = 0x10};
	ck_assert_ptr_nonnull(mkdtemp(directory));
	snprintf(path, sizeof(path), "%s/map", directory);
	snprintf(link, sizeof(link), "%s/link", directory);
	struct stat status;
	struct perf_map_process process = {.owner_uid = getuid()};
	ck_assert_int_eq(perf_map_resolve(path, &process, &address, 1), PERF_MAP_MISSING);
	FILE *map = fopen(path, "w");
	fputs("10 10\n", map);
	fflush(map);
	ck_assert_int_eq(perf_map_resolve(path, &process, &address, 1), PERF_MAP_NO_NAMES);
	fputs("10 10 jitted\n", map);
	fclose(map);
	ck_assert_int_eq(symlink(path, link), 0);
	ck_assert_int_eq(stat(path, &status), 0);
	ck_assert_int_eq(perf_map_resolve(link, &process, &address, 1), PERF_MAP_NO_NAMES);
	ck_assert_int_eq(perf_map_resolve(directory, &process, &address, 1), PERF_MAP_NO_NAMES);
	process.owner_uid = getuid() + 1;
	ck_assert_int_eq(perf_map_resolve(path, &process, &address, 1), PERF_MAP_OTHER_OWNER);
	process.owner_uid = PERF_MAP_NO_OWNER;
	ck_assert_int_eq(perf_map_resolve(path, &process, &address, 1), PERF_MAP_UNKNOWN_OWNER);
	/* Left there by a process before. */
	process = (struct perf_map_process){getuid(), ((int64_t)status.st_mtim.tv_sec + 1) *
								      INT64_C(1000000000) +
							      20000000};
	ck_assert_int_eq(perf_map_resolve(path, &process, &address, 1), PERF_MAP_OLDER);
	ck_assert_ptr_null(address.function.name);
	process.started_ns =
		(int64_t)status.st_mtim.tv_sec * INT64_C(1000000000) + status.st_mtim.tv_nsec;
	ck_assert_int_eq(perf_map_resolve(path, &process, &address, 1), PERF_MAP_READ);
	ck_assert_str_eq(address.function.name, "jitted");
	symbol_address_finish(&address);
	unlink(path);
	unlink(link);
	ck_assert_int_eq(mkfifo(path, 0600), 0);
	ck_assert_int_eq(perf_map_resolve(path, &process, &address, 1), PERF_MAP_NO_NAMES);
	unlink(path);
	rmdir(directory);
}
END_TEST

START_TEST(test_kallsyms)
{
	struct symbol_address addresses[] = {{.rva = 0x0fff},
					     {.rva = 0x1004},
					     {.rva = 0x2010},
					     {.rva = 0x2020},
					     {.rva = 0x900000}};
	char text[] = "0000000000002018 t second\t[module]\n"
		      "0000000000001000 T first\n"
		      "0000000000002000 D data\n"
		      "0000000000000000 T hidden\n"
		      "0000000000001008 t after\n"
		      "nonsense\n"
		      "00000000000010\n"
		      "0000000000001001 T \n";
	FILE *stream = fmemopen(text, sizeof(text) - 1, "r");
	ck_assert_ptr_nonnull(stream);
	kallsyms_read(stream, addresses, 5);
	fclose(stream);
	ck_assert_ptr_null(addresses[0].function.name);
	ck_assert_str_eq(addresses[1].function.name, "first");
	ck_assert_uint_eq(addresses[1].function.start, 0x1000);
	ck_assert_str_eq(addresses[2].function.name, "after");
	ck_assert_str_eq(addresses[3].function.name, "second");
	/* too far from any symbol */
	ck_assert_ptr_null(addresses[4].function.name);
	for (size_t i = 0; i < 5; i++)
		symbol_address_finish(&addresses[i]);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("symbols");
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
	TCase *names = tcase_create("names");
	tcase_set_timeout(names, 60);
	tcase_add_test(names, test_demangle_cpp);
	tcase_add_test(names, test_demangle_rust);
	tcase_add_test(names, test_demangle_leaves_others_alone);
	tcase_add_test(names, test_demangle_bomb);
	suite_add_tcase(suite, names);
	TCase *maps = tcase_create("perf maps");
	tcase_set_timeout(maps, 60);
	tcase_add_test(maps, test_perf_map_lines);
	tcase_add_test(maps, test_perf_map_hostile_lines);
	tcase_add_test(maps, test_perf_map_long_line);
	tcase_add_test(maps, test_perf_map_work_limit);
	tcase_add_test(maps, test_perf_map_file);
	tcase_add_test(maps, test_kallsyms);
	suite_add_tcase(suite, maps);
	return run_suite(suite);
}
