/* Names as users know them, of all languages. */
#include "tests/support/suite.h"
#include "tools/memory/xalloc.h"
#include "tools/names/demangle.h"
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
	Suite *suite = suite_create("demangle");
	TCase *cases = tcase_create("all");
	tcase_set_timeout(cases, 60);
	tcase_add_test(cases, test_demangle_cpp);
	tcase_add_test(cases, test_demangle_rust);
	tcase_add_test(cases, test_demangle_leaves_others_alone);
	tcase_add_test(cases, test_demangle_bomb);
	tcase_add_test(cases, test_ada);
	tcase_add_test(cases, test_d_bomb);
	tcase_add_test(cases, test_d_too_long);
	tcase_add_loop_test(cases, test_spellings, 0,
			    (int)(sizeof(spellings) / sizeof(spellings[0])));
	suite_add_tcase(suite, cases);
	return run_suite(suite);
}
