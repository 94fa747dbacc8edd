/* Which name stands for an address: symbols that say little, parts of functions, other languages.
 */
#include "tbrw/profile/reader.h"
#include "tbrw/profile/writer.h"
#include "tests/support/suite.h"
#include "tools/analysis/functions.h"
#include "tools/cli/xalloc.h"
#include "tools/convert/finalize.h"
#include "tools/names/cold_name.h"
#include "tools/names/demangle.h"
#include "tools/symbols/cold_part.h"
#include "tools/symbols/resolve.h"
#include <check.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct expected {
	uint64_t rva;
	const char *name; /* NULL: none */
	uint64_t start;
	uint64_t size;
};

static void expect_all(const char *path, const struct expected *expected, size_t count)
{
	struct symbol_image_identity identity = {.path = path};
	struct symbol_address addresses[16] = {0};
	ck_assert_uint_le(count, 16);
	for (size_t i = 0; i < count; i++)
		addresses[i].rva = expected[i].rva;
	ck_assert_int_eq(resolve_file(&identity, NULL, addresses, count), SYMBOL_IMAGE_OPEN);
	for (size_t i = 0; i < count; i++) {
		const struct symbol_entry *function = &addresses[i].function;
		ck_assert_msg(function->start == expected[i].start, "%lx: start %lx",
			      expected[i].rva, function->start);
		ck_assert_msg(function->size == expected[i].size, "%lx: size %lx", expected[i].rva,
			      function->size);
		ck_assert(function->is_pseudo == !expected[i].name);
		if (expected[i].name)
			ck_assert_str_eq(function->name, expected[i].name);
		else
			ck_assert_ptr_null(function->name);
		symbol_address_finish(&addresses[i]);
	}
}

START_TEST(test_labels)
{
	static const struct expected expected[] = {
		{0x10005, "labels_copy", 0x10000, 0},
		{0x100c0, "labels_start", 0x10040, 0},
		{0x10190, "labels_start", 0x10040, 0},
		{0x10245, "labels_own", 0x10240, 0},
		{0x10344, "labels_empty", 0x10340, 0},
		{0x10354, "labels_next", 0x10350, 0x40},
		{0x10780, "labels_described", 0x10390, 0x400},
		{0x10795, "labels_host", 0x10790, 0x140},
		{0x10890, "labels_inside", 0x107a0, 0},
		{0x108d5, "labels_split", 0x108d0, 0x20},
		{0x108f5, "labels_split.cold", 0x108d0, 0x20},
		{0x10901, "__restore_rt", 0x10901, 9},
		{0x10908, "__restore_rt", 0x10901, 9},
	};
	expect_all(LABELS, expected, sizeof(expected) / sizeof(expected[0]));
}
END_TEST

START_TEST(test_labels_stripped)
{
	static const struct expected expected[] = {
		{0x10005, "labels_copy", 0x10000, 0},
		{0x100c0, "labels_start", 0x10040, 0},
		{0x10190, NULL, 0x10190, 0},
		{0x10245, NULL, 0x10245, 0},
		{0x10344, "labels_empty", 0x10340, 0},
		{0x10354, NULL, 0x10350, 0x40},
		{0x10780, "labels_described", 0x10390, 0x400},
		{0x10795, NULL, 0x10790, 0x140},
		{0x10890, "labels_inside", 0x107a0, 0},
		{0x108d5, NULL, 0x108d5, 0},
		{0x10901, "__restore_rt", 0x10901, 9},
	};
	expect_all(LABELS_STRIPPED, expected, sizeof(expected) / sizeof(expected[0]));
}
END_TEST

START_TEST(test_function_left_out_by_the_linker)
{
	struct symbol_image_identity identity = {.path = COLLECTED};
	struct symbol_address address = {.rva = 0x1010};
	ck_assert_int_eq(resolve_file(&identity, NULL, &address, 1), SYMBOL_IMAGE_OPEN);
	ck_assert_str_eq(address.function.name, "live_function");
	ck_assert_uint_eq(address.function.start, 0x1000);
	ck_assert_uint_gt(address.function.line, 0);
	ck_assert_uint_eq(address.inlined_count, 0);
	symbol_address_finish(&address);
}
END_TEST

START_TEST(test_cold_part_endings)
{
	static const struct {
		const char *name;
		const char *owner;
	} names[] = {
		{"foo.cold", "foo"},
		{"foo.cold.0", "foo"},
		{"foo.cold.17", "foo"},
		{"foo.part.0.cold", "foo.part.0"},
		{"foo() [clone .cold]", "foo()"},
		{"foo() [clone .isra.0] [clone .cold.3]", "foo() [clone .isra.0]"},
		{"foo", "foo"},
		{"", ""},
		{".cold", ".cold"},
		{"foo.colder", "foo.colder"},
		{"foo.cold.x", "foo.cold.x"},
		{"foo.constprop.0", "foo.constprop.0"},
		{"foo() [clone .constprop.0]", "foo() [clone .constprop.0]"},
		{"17", "17"},
		{"]", "]"},
		{"foo.cold.", "foo.cold."},
	};
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		size_t length = cold_name_owner_length(names[i].name);
		ck_assert_msg(length == strlen(names[i].owner) &&
				      strncmp(names[i].name, names[i].owner, length) == 0,
			      "%s: %zu", names[i].name, length);
	}
}
END_TEST

/* A result with frames in labels_split, in its cold part, and in nothing else. */
static void write_result(const char *path)
{
	static const uint64_t rvas[] = {0x108f5, 0x108d5};
	struct profile_writer *writer;
	struct profile_run run = {
		.clock = {.tsc = 1, .raw_ns = 1, .real_ns = 1, .tsc_per_ns_q32 = UINT64_C(1) << 32},
		.interval_ns = 10000000,
		.event_name = "CPU Time",
	};
	struct profile_run_end end = {.command_line = "", .comment = "", .clock = run.clock};
	struct profile_image image = {.kind = PROFILE_IMAGE_FILE};
	uint32_t index;
	ck_assert_uint_eq(profile_writer_create(path, &run, &writer), VT_SUCCESS);
	ck_assert_uint_eq(profile_writer_add_image(writer, &image, LABELS, &index), VT_SUCCESS);
	for (unsigned i = 0; i < 2; i++) {
		struct profile_frame frame = {.image = index, .rva = rvas[i]};
		ck_assert_uint_eq(profile_writer_add_frame(writer, &frame), VT_SUCCESS);
	}
	ck_assert_uint_eq(profile_writer_finish(writer, &end), VT_SUCCESS);
}

/* From the file to the reports: one function. The part's symbol keeps its name in full. */
START_TEST(test_cold_part_counts_as_its_function)
{
	char path[] = "/tmp/test-names-XXXXXX";
	struct profile_reader *reader;
	struct progress progress = {0};
	struct finalized finalized;
	uint32_t count;
	ck_assert_int_ge(close(mkstemp(path)), 0);
	unlink(path);
	write_result(path);
	ck_assert_uint_eq(profile_reader_open(path, &reader), VT_SUCCESS);
	finalize_collect(reader, NULL, &progress, &finalized);
	profile_reader_close(reader);
	ck_assert_uint_eq(finalize_write(path, &finalized), VT_SUCCESS);
	finalize_finish(&finalized);
	ck_assert_uint_eq(profile_reader_open(path, &reader), VT_SUCCESS);
	const struct profile_symbol *part = profile_reader_symbols(reader, 0, &count);
	ck_assert_uint_eq(count, 1);
	ck_assert_str_eq(profile_reader_symtext(reader, part->name), "labels_split");
	ck_assert_str_eq(profile_reader_symtext(reader, part->full), "labels_split.cold");
	ck_assert_uint_eq(part->start, 0x108d0);
	struct functions *functions = functions_create(reader, true);
	const struct function *function =
		functions_at(functions, *functions_of_frame(functions, 0, &count));
	ck_assert_ptr_eq(function,
			 functions_at(functions, *functions_of_frame(functions, 1, &count)));
	ck_assert_str_eq(function->full, "labels_split");
	functions_destroy(functions);
	profile_reader_close(reader);
	unlink(path);
}
END_TEST

/* From nm of what the compilers of Debian 12 make of tests/e2e/languages.py, and names of C like
 * them. */
static const struct {
	const char *linkage_name;
	const char *name;
	const char *full;
} spellings[] = {
	{"_Dmain", "D main", "D main"},
	{"_D1d4Item5taxedMFdZd", "d.Item.taxed", "d.Item.taxed(double)"},
	{"_D1d6Basket3addMFAyadZv", "d.Basket.add", "d.Basket.add(immutable(char)[], double)"},
	{"_D1d__T5twiceTiZQjFNaNbNiNfiZi", "d.twice!(int).twice", "d.twice!(int).twice(int)"},
	{"_DYNAMIC", "_DYNAMIC", "_DYNAMIC"},
	{"_D3foo", "_D3foo", "_D3foo"},
	{"_D", "_D", "_D"},
	{"__basket_MOD_total", "basket::total", "basket::total"},
	{"__m2_x_MOD_sum.constprop.0", "m2_x::sum.constprop.0", "m2_x::sum.constprop.0"},
	{"__MOD_total", "__MOD_total", "__MOD_total"},
	{"__Basket_MOD_total", "__Basket_MOD_total", "__Basket_MOD_total"},
	{"__basket_MOD_", "__basket_MOD_", "__basket_MOD_"},
	{"MAIN__", "MAIN__", "MAIN__"},
	{"camlShop__add_82", "Shop.add", "Shop.add_82"},
	{"camlShop.add_82", "Shop.add", "Shop.add_82"},
	{"camlShop__$2b$21_156", "Shop.+!", "Shop.+!_156"},
	{"camlStdlib__List.fold_left_12", "Stdlib.List.fold_left", "Stdlib.List.fold_left_12"},
	{"camlShop__entry", "Shop.entry", "Shop.entry"},
	{"camlShop", "camlShop", "camlShop"},
	{"caml_alloc__small_3", "caml_alloc__small_3", "caml_alloc__small_3"},
	{"camlShop__$", "Shop.$", "Shop.$"},
	{"camlShop__$0", "Shop.$0", "Shop.$0"},
	{"camlShop__", "Shop__", "Shop__"},
	{"_ada_shop", "shop", "shop"},
	{"ada__text_io__put__4", "ada.text_io.put", "ada.text_io.put"},
	{"system__", "system__", "system__"},
	/* GNAT names it like that, but so may C: only DWARF tells. */
	{"store__put", "store__put", "store__put"},
};

START_TEST(test_spellings)
{
	const char *linkage_name = spellings[_i].linkage_name;
	char *name = demangle_name(linkage_name, DEMANGLE_SHORT);
	char *full = demangle_name(linkage_name, DEMANGLE_FULL);
	ck_assert_str_eq(name, spellings[_i].name);
	ck_assert_str_eq(full, spellings[_i].full);
	free(name);
	free(full);
}
END_TEST

START_TEST(test_ada)
{
	char *name = demangle_ada_name("store__put");
	ck_assert_str_eq(name, "store.put");
	free(name);
	name = demangle_ada_name("shop__basket__add__2");
	ck_assert_str_eq(name, "shop.basket.add");
	free(name);
	ck_assert_ptr_null(demangle_ada_name("_Z3foov"));
	ck_assert_ptr_null(demangle_ada_name("Upper"));
}
END_TEST

/* Each level of back references to types doubles the text. */
START_TEST(test_d_bomb)
{
	char name[8192] = "_D1d1fFG4G4G4G4i";
	for (int i = 0; i < 400; i++)
		strcat(name, "S4PairQbQc");
	strcat(name, "Zv");
	char *text = demangle_name(name, DEMANGLE_FULL);
	ck_assert_str_eq(text, name);
	free(text);
}
END_TEST

/* So many maps, each of the one before to itself. */
static char *demangle_d_maps(char name[static 128], unsigned count)
{
	strcpy(name, "_D1d1fFG4G4i");
	for (unsigned i = 0; i < count; i++)
		strcat(name, "HQgQi");
	strcat(name, "Zv");
	return demangle_name(name, DEMANGLE_FULL);
}

START_TEST(test_d_too_long)
{
	char name[128];
	char *text = demangle_d_maps(name, 1);
	ck_assert_str_eq(text, "d.f(int[4][4], int[4][4][int[4][4]])");
	free(text);
	text = demangle_d_maps(name, 11);
	ck_assert_uint_gt(strlen(text), DEMANGLE_OUTPUT_MAX / 2);
	ck_assert_uint_le(strlen(text), DEMANGLE_OUTPUT_MAX);
	free(text);
	text = demangle_d_maps(name, 12);
	ck_assert_str_eq(text, name);
	free(text);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("names");
	TCase *all = tcase_create("all");
	tcase_set_timeout(all, 60);
	tcase_add_test(all, test_labels);
	tcase_add_test(all, test_labels_stripped);
	tcase_add_test(all, test_function_left_out_by_the_linker);
	tcase_add_test(all, test_cold_part_endings);
	tcase_add_test(all, test_cold_part_counts_as_its_function);
	tcase_add_loop_test(all, test_spellings, 0, sizeof(spellings) / sizeof(spellings[0]));
	tcase_add_test(all, test_ada);
	tcase_add_test(all, test_d_bomb);
	tcase_add_test(all, test_d_too_long);
	suite_add_tcase(suite, all);
	return run_suite(suite);
}
