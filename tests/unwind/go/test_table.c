/*
 * Go's table of functions. Of programs that Go's compiler made: at every address of every function
 * the frame is that of the program's .debug_frame, which the linker made of the same sizes; and
 * tables made by hand, of all forms, sound and damaged.
 * Arguments of the build, both or none: paths of Go programs, GO_WHOLE with .debug_frame, GO_BARE
 * without.
 */
#include "tests/support/suite.h"
#include "tests/unwind/elf_builder.h"
#include "unwind/cfi/row.h"
#include "unwind/go/frame.h"
#include "unwind/go/source.h"
#include "unwind/module/module.h"
#include <check.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { REG_RSP = 7, REG_RIP = 16, FUNCTIONS_MIN = 1000 };

#ifdef GO_WHOLE
static const char *const whole[] = {GO_WHOLE};
static const char *const bare[] = {GO_BARE};
static struct uw_module *open_program(const char *path)
{
	struct uw_module *module = NULL;
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	ck_assert_msg(fd >= 0, "%s", path);
	ck_assert_int_eq(uw_module_open(fd, &module), 0);
	close(fd);
	uw_module_load_now(module);
	return module;
}

static uint8_t *read_file(const char *path, size_t *size)
{
	FILE *file = fopen(path, "rb");

	ck_assert_msg(file && fseek(file, 0, SEEK_END) == 0, "%s", path);
	*size = (size_t)ftell(file);
	rewind(file);
	uint8_t *bytes = malloc(*size);
	ck_assert_uint_eq(fread(bytes, 1, *size, file), *size);
	fclose(file);
	return bytes;
}

/* What one program's comparison saw. */
struct tally {
	size_t functions, same, untold, differences, tops, saved;
};

static const struct uw_cfi *debug_of(const struct uw_module *module)
{
	return module->cfi.is_debug ? &module->cfi : &module->debug;
}

static void compare_address(const struct uw_module *module, const struct uw_go_function *function,
			    uint64_t rva, struct tally *tally)
{
	struct uw_go_frame frame;
	struct uw_cfi_gap gap;
	struct uw_fde fde;
	struct uw_row row;
	uint32_t effort = 0;
	bool is_told = uw_go_frame_find(&module->go, &module->elf, function, rva, &effort, &frame);
	bool has_row = uw_cfi_find(debug_of(module), rva, &fde, &gap) == UW_CFI_OK &&
		       uw_cfi_row(&fde, rva, &row, &(uint32_t){0}) == UW_CFI_OK;

	if (!is_told && !has_row) {
		tally->untold++;
		return;
	}
	if (is_told && has_row && row.cfa.kind == UW_RULE_REGISTER && row.cfa.reg == REG_RSP &&
	    row.cfa.offset == (int64_t)frame.size + 8 && fde.start == function->start &&
	    row.reg[REG_RIP].kind == UW_RULE_AT_CFA && row.reg[REG_RIP].offset == -8) {
		tally->same++;
		tally->saved += frame.saves_fp;
		return;
	}
	if (tally->differences++ < 10)
		fprintf(stderr, "%s %#" PRIx64 ": table %d %u, .debug_frame %d %" PRId64 "\n",
			uw_go_name(&module->go, function), rva, is_told, frame.size, has_row,
			row.cfa.offset);
}

/* step: of the addresses compared in a function. */
static void compare_program(const char *path, uint64_t step)
{
	struct uw_module *module = open_program(path);
	struct tally tally = {0};
	struct uw_go_function function;

	/* Other linkers than Go's own put the table of a position-independent program into a
	 * section with other things. */
	ck_assert_msg(module->go.span.size > 0, "%s", path);
	ck_assert_uint_gt(debug_of(module)->frame.size, 0);
	for (uint64_t rva = module->go.start; uw_go_find(&module->go, rva, &function);
	     rva = function.end) {
		if (function.start != rva || !uw_go_name(&module->go, &function))
			ck_abort_msg("%s: a function at %#" PRIx64, path, rva);
		tally.functions++;
		tally.tops += uw_go_is_top(&module->go, &function, false);
		for (; rva < function.end; rva += step)
			compare_address(module, &function, rva, &tally);
	}
	fprintf(stderr,
		"%s: %zu functions, %zu addresses, %zu with a saved frame pointer, %zu of padding, "
		"%zu tops, %zu differences\n",
		path, tally.functions, tally.same, tally.saved, tally.untold, tally.tops,
		tally.differences);
	ck_assert_uint_eq(tally.functions, module->go.count);
	ck_assert_uint_gt(tally.functions, FUNCTIONS_MIN);
	ck_assert_uint_eq(tally.differences, 0);
	uw_module_unref(module);
}

START_TEST(frames_are_those_of_debug_frame)
{
	/* Every address of the plainest program and of the most different one. */
	bool is_all = _i == 0 || _i == (int)(sizeof(whole) / sizeof(whole[0])) - 1;
	compare_program(whole[_i], is_all ? 1 : 7);
}
END_TEST

/* Whether two tables describe the same addresses. */
static void expect_same(const struct uw_module *one, const struct uw_module *other)
{
	struct uw_go_function left, right;

	ck_assert_uint_gt(one->go.count, FUNCTIONS_MIN);
	ck_assert_uint_eq(one->go.count, other->go.count);
	ck_assert_uint_eq(one->go.start, other->go.start);
	ck_assert_uint_eq(one->go.end, other->go.end);
	for (uint64_t rva = one->go.start; uw_go_find(&one->go, rva, &left); rva = left.end) {
		if (!uw_go_find(&other->go, rva, &right) || left.start != right.start ||
		    strcmp(uw_go_name(&one->go, &left), uw_go_name(&other->go, &right)) != 0)
			ck_abort_msg("a function at %#" PRIx64, rva);
	}
}

/* The program without section headers, or with other names for all sections. */
static void expect_found(const char *path, bool renames)
{
	struct uw_module *module = open_program(path), *changed;
	size_t size;
	uint8_t *bytes = read_file(path, &size);
	Elf64_Ehdr *header = (Elf64_Ehdr *)bytes;

	if (renames) {
		const Elf64_Shdr *names =
			(Elf64_Shdr *)(bytes + header->e_shoff) + header->e_shstrndx;
		for (size_t i = 0; i < names->sh_size; i++)
			if (bytes[names->sh_offset + i] != '\0')
				bytes[names->sh_offset + i] = 'x';
	} else {
		header->e_shnum = header->e_shstrndx = 0;
		header->e_shoff = 0;
	}
	ck_assert_int_eq(uw_module_from_memory(bytes, size, &changed), 0);
	uw_module_load_now(changed);
	ck_assert_uint_eq(changed->elf.go_table.size, 0);
	expect_same(module, changed);
	free(bytes);
	uw_module_unref(changed);
	uw_module_unref(module);
}

START_TEST(tables_are_found_without_names)
{
	expect_found(whole[_i], false);
	expect_found(whole[_i], true);
}
END_TEST

START_TEST(stripped_programs_have_tables)
{
	struct uw_module *module = open_program(bare[_i]);

	ck_assert_uint_gt(module->go.count, FUNCTIONS_MIN);
	ck_assert_uint_eq(debug_of(module)->frame.size, 0);
	ck_assert(!uw_module_lacks_info(module));
	uw_module_unref(module);
	expect_found(bare[_i], false);
	expect_found(bare[_i], true);
}
END_TEST

/* A searched file is read up to its table, and the table as far as it is asked. */
START_TEST(little_is_read)
{
	struct uw_module *module = open_program(bare[_i]);
	struct uw_go_function function;
	size_t blocks = 0, all = (module->go.span.size >> UW_LAZY_SECTION_LOG_BLOCK) + 1;

	ck_assert(uw_go_find(&module->go, module->go.start + 1000, &function));
	for (size_t i = 0; i < all; i++)
		blocks += module->go.section.is_read[i];
	ck_assert_uint_ge(blocks, 1);
	ck_assert_uint_le(blocks, all / 2);
	uw_module_unref(module);
}
END_TEST
#endif

/* A table made by hand, for code at ELF_BUILDER_CODE: main.main of 32 bytes, whose frame has 24
 * bytes from 4 to 24, and runtime.goexit of 32 bytes. */
enum {
	CODE_SIZE = 256,
	TABLE_SIZE = 1024,
	DATA_SIZE = 41 * 8,
	NAMES = 0x80,
	UNITS = 0xc0,
	FILES = 0xd0,
	VALUES = 0xe0,
	INDEX = 0x100,
	RECORDS = 0x140,
	MAIN = ELF_BUILDER_CODE,
	GOEXIT = ELF_BUILDER_CODE + 32,
	END = ELF_BUILDER_CODE + 64
};

static void put(uint8_t *bytes, size_t *at, uint64_t number, unsigned size)
{
	memcpy(bytes + *at, &number, size);
	*at += size;
}

/* A function's record; returns its offset from where the index counts. */
static uint64_t make_record(uint8_t *table, size_t at, enum uw_go_version version, uint8_t word,
			    uint64_t start, uint64_t name, uint64_t sizes, uint8_t id,
			    uint8_t flags)
{
	uint64_t record = version == UW_GO_1_2 ? at : at - INDEX;
	uint64_t names = version == UW_GO_1_2 ? NAMES : 0;
	uint64_t values = version == UW_GO_1_2 ? VALUES : 0;

	if (version >= UW_GO_1_18)
		put(table, &at, start - MAIN, 4);
	else
		put(table, &at, start, word);
	put(table, &at, names + name, 4);
	at += 8;
	put(table, &at, values + sizes, 4);
	at += 12; /* files, lines, number of lists */
	at += version >= UW_GO_1_16 ? 4 : 0;
	at += version >= UW_GO_1_20 ? 4 : 0;
	put(table, &at, id, 1);
	put(table, &at, flags, 1);
	return record;
}

static void make_table(uint8_t table[static TABLE_SIZE], enum uw_go_version version, uint8_t word,
		       uint64_t text)
{
	static const uint8_t magics[] = {0xfb, 0xfa, 0xf0, 0xf1};
	static const char names[] = "main.main\0runtime.goexit";
	static const uint8_t values[] = {0, 2, 4, 48, 20, 47, 8, 0, 2, 32, 0};
	size_t at = 0;

	memset(table, 0, TABLE_SIZE);
	put(table, &at, UINT64_C(0x00010000ffffff00) | magics[version] | (uint64_t)word << 56, 8);
	memcpy(table + NAMES, names, sizeof(names));
	memcpy(table + VALUES, values, sizeof(values));
	put(table, &at, 2, word);
	uint64_t first = make_record(table, RECORDS, version, word, MAIN, 0, 1, 0, 0);
	uint64_t second = make_record(table, RECORDS + 0x40, version, word, GOEXIT, 10, 8, 7, 1);
	if (version != UW_GO_1_2) {
		put(table, &at, 1, word);
		if (version >= UW_GO_1_18)
			put(table, &at, text, word);
		put(table, &at, NAMES, word);
		put(table, &at, UNITS, word);
		put(table, &at, FILES, word);
		put(table, &at, VALUES, word);
		put(table, &at, INDEX, word);
		at = INDEX;
	}
	uint8_t size = version >= UW_GO_1_18 ? 4 : word;
	uint64_t base = version >= UW_GO_1_18 ? MAIN : 0;
	put(table, &at, MAIN - base, size);
	put(table, &at, first, size);
	put(table, &at, GOEXIT - base, size);
	put(table, &at, second, size);
	put(table, &at, END - base, size);
}

static struct uw_module *module_of(const uint8_t table[static TABLE_SIZE], uint8_t word)
{
	struct elf_builder builder;

	elf_builder_init(&builder, word == 8 ? UW_ARCH_X86_64 : UW_ARCH_I386, CODE_SIZE,
			 TABLE_SIZE);
	elf_builder_put(&builder, table, TABLE_SIZE);
	/* sub $24, %rsp; mov %rbp, 16(%rsp); lea 16(%rsp), %rbp */
	memcpy(builder.bytes + ELF_BUILDER_CODE,
	       "\x48\x83\xec\x18\x48\x89\x6c\x24\x10\x48\x8d\x6c\x24\x10", 14);
	struct uw_module *module = elf_builder_module(&builder);
	elf_builder_finish(&builder);
	uw_module_load_now(module);
	return module;
}

static void expect_frame(const struct uw_module *module, uint64_t rva, uint32_t size, bool saves)
{
	struct uw_go_function function;
	struct uw_go_frame frame;
	uint32_t effort = 0;

	ck_assert(uw_go_find(&module->go, rva, &function));
	ck_assert(uw_go_frame_find(&module->go, &module->elf, &function, rva, &effort, &frame));
	ck_assert_uint_eq(frame.size, size);
	ck_assert_int_eq(frame.saves_fp, saves);
	ck_assert_uint_gt(effort, 0);
}

START_TEST(all_forms_are_read)
{
	enum uw_go_version version = (enum uw_go_version)(_i / 2);
	uint8_t table[TABLE_SIZE], word = _i % 2 ? 4 : 8;
	struct uw_go_function function;

	make_table(table, version, word, MAIN);
	struct uw_module *module = module_of(table, word);
	ck_assert_uint_eq(module->go.span.size, 0);
	ck_assert(uw_module_search_go(module));
	ck_assert(!uw_module_search_go(module));
	ck_assert_int_eq(module->go.version, version);
	ck_assert_uint_eq(module->go.start, MAIN);
	ck_assert_uint_eq(module->go.end, END);
	ck_assert(uw_go_find(&module->go, GOEXIT - 1, &function));
	ck_assert_str_eq(uw_go_name(&module->go, &function), "main.main");
	ck_assert_uint_eq(function.start, MAIN);
	ck_assert_uint_eq(function.end, GOEXIT);
	ck_assert(!uw_go_is_top(&module->go, &function, false));
	ck_assert(!uw_go_find(&module->go, MAIN - 1, &function));
	ck_assert(!uw_go_find(&module->go, END, &function));
	ck_assert(uw_go_find(&module->go, GOEXIT, &function));
	ck_assert_str_eq(uw_go_name(&module->go, &function), "runtime.goexit");
	ck_assert(uw_go_is_top(&module->go, &function, false));
	ck_assert_int_eq(function.has_flags, version >= UW_GO_1_18);
	expect_frame(module, MAIN, 0, false);
	expect_frame(module, MAIN + 3, 0, false);
	expect_frame(module, MAIN + 4, 24, false);
	expect_frame(module, MAIN + 8, 24, false);
	expect_frame(module, MAIN + 9, 24, word == 8);
	expect_frame(module, MAIN + 23, 24, word == 8);
	expect_frame(module, MAIN + 24, 0, false);
	uw_module_unref(module);
}
END_TEST

/* A walk from main.main, which the goroutine's first word on the stack returns from. */
START_TEST(walks_end_at_the_top)
{
	enum { REG_RBP = 6, WORDS = 16 };
	const uint64_t base = 0x7f0000000000, start = 0x400000;
	uint64_t words[WORDS] = {[2] = 0x1234, [3] = start + GOEXIT + 1};
	struct uw_stack stack = {.base = base,
				 .bytes = (const uint8_t *)words,
				 .size = sizeof(words),
				 .requested = sizeof(words)};
	struct uw_regs regs = {.value = {[REG_RSP] = base, [REG_RIP] = start + MAIN + 12}};
	uint8_t table[TABLE_SIZE];
	struct uw_frame frames[4];
	enum uw_stop stop;

	make_table(table, (enum uw_go_version)_i, 8, MAIN);
	struct uw_module *module = module_of(table, 8);
	struct uw_space *space = uw_space_create(UW_ARCH_X86_64);
	ck_assert_int_eq(uw_space_map(space, start, start + 4096, 0, module, 1), 0);
	ck_assert_uint_eq(uw_walk(space, &regs, &stack, frames, 4, &stop), 2);
	ck_assert_int_eq(stop, UW_STOP_ROOT);
	ck_assert_uint_eq(frames[0].function, MAIN);
	ck_assert_uint_eq(frames[1].ip, start + GOEXIT + 1);
	ck_assert_uint_eq(frames[1].function, GOEXIT);
	ck_assert_int_eq(frames[1].source, UW_SOURCE_CFI);
	uw_space_destroy(space);
	uw_module_unref(module);
}
END_TEST

/* A file whose table is followed by variables with the module's description. change: the word of it
 * that is wrong; -1: none. */
static struct uw_module *module_with_data(const uint8_t table[static TABLE_SIZE], int change)
{
	enum { WORDS = DATA_SIZE / 8, BEFORE = 3 * 8 };
	struct elf_builder builder;
	uint8_t data[BEFORE + DATA_SIZE] = {0};

	elf_builder_init(&builder, UW_ARCH_X86_64, CODE_SIZE, TABLE_SIZE + sizeof(data));
	const uint64_t at = builder.frame;
	const uint64_t words[WORDS] =
		{[0] = at,           [1] = at + NAMES,  [4] = at + UNITS,  [7] = at + FILES,
		 [10] = at + VALUES, [13] = at + INDEX, [16] = at + INDEX, [20] = MAIN,
		 [21] = END,         [22] = MAIN,       [39] = MAIN,       [40] = MAIN + 8};
	memcpy(data + BEFORE, words, sizeof(words));
	if (change >= 0)
		data[BEFORE + change * 8] ^= 1;
	elf_builder_put(&builder, table, TABLE_SIZE);
	elf_builder_put(&builder, data, sizeof(data));
	Elf64_Phdr *headers = (Elf64_Phdr *)(builder.bytes + sizeof(Elf64_Ehdr));
	headers[1] = (Elf64_Phdr){.p_type = PT_LOAD,
				  .p_flags = PF_R | PF_W,
				  .p_offset = at + TABLE_SIZE,
				  .p_vaddr = at + TABLE_SIZE,
				  .p_filesz = sizeof(data)};
	headers[0].p_filesz = at + TABLE_SIZE;
	struct uw_module *module = elf_builder_module(&builder);
	elf_builder_finish(&builder);
	uw_module_load_now(module);
	return module;
}

/* Linkers since Go 1.26 write no start of the code into the table: the module's description has
 * it, and without a sound one there is nothing to count from. */
START_TEST(tables_without_text)
{
	static const int wrong[] = {0, 1, 4, 7, 10, 13, 16, 20, 21, 22};
	uint8_t table[TABLE_SIZE];

	make_table(table, UW_GO_1_20, 8, 0);
	struct uw_module *module = module_with_data(table, -1);
	ck_assert(uw_module_search_go(module));
	ck_assert_uint_eq(module->go.start, MAIN);
	ck_assert_uint_eq(module->go.end, END);
	ck_assert_uint_eq(uw_go_data_start(&module->go, &module->elf), MAIN + 8);
	uw_module_unref(module);
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		module = module_with_data(table, wrong[i]);
		ck_assert(!uw_module_search_go(module));
		uw_module_unref(module);
	}
	module = module_of(table, 8);
	ck_assert(!uw_module_search_go(module));
	uw_module_unref(module);
}
END_TEST

/* Reads all that a module's table says of an address; false: a promise is broken. */
static bool read_address(const struct uw_module *module, uint64_t rva)
{
	const struct uw_go *go = &module->go;
	struct uw_go_call calls[UW_GO_CALLS_MAX];
	struct uw_go_function function;
	struct uw_go_frame frame;
	uint32_t effort = 0;
	uint64_t end;

	if (!uw_go_find(go, rva, &function))
		return true;
	(void)uw_go_is_top(go, &function, false);
	size_t count = uw_go_calls(go, &module->elf, MAIN, &function, rva, calls);
	return function.start <= rva && function.end > rva && count >= 1 &&
	       count <= UW_GO_CALLS_MAX &&
	       (!uw_go_frame_find(go, &module->elf, &function, rva, &effort, &frame) ||
		frame.size <= INT32_MAX) &&
	       (!uw_go_value_end(go, &function, function.lines, rva, &effort, &end) || end > rva) &&
	       effort <= 5 * UW_GO_STEPS_MAX;
}

/* Check writes at each assertion: one is enough. */
static void read_everything(const struct uw_module *module)
{
	for (uint64_t rva = MAIN - 1; rva <= END; rva++)
		if (!read_address(module, rva))
			ck_abort_msg("%#" PRIx64, rva);
}

/* Every byte of a table with other values. */
START_TEST(damaged_tables)
{
	static const uint8_t values[] = {0, 0x7f, 0xff};
	enum uw_go_version version = (enum uw_go_version)(_i / 2);
	uint8_t table[TABLE_SIZE], word = _i % 2 ? 4 : 8;
	size_t opened = 0;

	for (size_t i = 0; i < RECORDS + 0x80; i++) {
		for (size_t j = 0; j < sizeof(values); j++) {
			make_table(table, version, word, MAIN);
			table[i] = values[j];
			struct uw_module *module = module_of(table, word);
			opened += uw_module_search_go(module);
			read_everything(module);
			uw_module_unref(module);
		}
	}
	ck_assert_uint_gt(opened, RECORDS);
}
END_TEST

/* Tables cut short, at every length. */
START_TEST(short_tables)
{
	uint8_t table[TABLE_SIZE];
	struct elf_builder builder;

	for (size_t size = 0; size < RECORDS + 0x80; size++) {
		make_table(table, (enum uw_go_version)_i, 8, MAIN);
		elf_builder_init(&builder, UW_ARCH_X86_64, CODE_SIZE, size);
		elf_builder_put(&builder, table, size);
		struct uw_module *module = elf_builder_module(&builder);
		uw_module_load_now(module);
		(void)uw_module_search_go(module);
		read_everything(module);
		uw_module_unref(module);
		elf_builder_finish(&builder);
	}
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("go table");
	TCase *tests = tcase_create("table");

	tcase_set_timeout(tests, 60);
#ifdef GO_WHOLE
	const int whole_count = sizeof(whole) / sizeof(whole[0]);
	const int bare_count = sizeof(bare) / sizeof(bare[0]);
	tcase_add_loop_test(tests, frames_are_those_of_debug_frame, 0, whole_count);
	tcase_add_loop_test(tests, tables_are_found_without_names, 0, whole_count);
	tcase_add_loop_test(tests, stripped_programs_have_tables, 0, bare_count);
	tcase_add_loop_test(tests, little_is_read, 0, bare_count);
#else
	puts("skipped - tables of Go's linker: golang-go is not installed");
#endif
	tcase_add_loop_test(tests, all_forms_are_read, 0, 8);
	tcase_add_loop_test(tests, walks_end_at_the_top, 0, 4);
	tcase_add_test(tests, tables_without_text);
	tcase_add_loop_test(tests, damaged_tables, 0, 8);
	tcase_add_loop_test(tests, short_tables, 0, 4);
	suite_add_tcase(suite, tests);
	return run_suite(suite);
}
