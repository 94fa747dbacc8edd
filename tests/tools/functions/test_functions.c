/* Which frames are of one function. */
#include "tests/support/suite.h"
#include "tests/tools/opened.h"
#include <check.h>
#include <string.h>

START_TEST(test_functions_are_told_apart)
{
	static const struct build_sample samples[] = {
		{.stack = "app:main app:f>g", .cpu_ms = 1},
		{.stack = "app:main app:h>g", .cpu_ms = 1},
		{.stack = "app:main lib:g", .cpu_ms = 1},
		{.stack = "app:main app:g", .cpu_ms = 1},
	};
	struct build_result result = {.samples = samples, .count = 4, .is_finalized = true};
	struct opened opened;
	unsigned named_g = 0;
	opened_begin(&opened, &result, true, 0);
	for (uint32_t i = 0; i < functions_count(opened.result.functions); i++)
		named_g += strcmp(functions_at(opened.result.functions, i)->name, "g") == 0;
	/* inlined copies are one; the one with code of its own and that of another module are not
	 */
	ck_assert_uint_eq(named_g, 3);
	ck_assert_str_eq(functions_dso_of(opened.result.functions, FUNCTION_SKIPPED)->name,
			 "[Unknown]");
	opened_end(&opened);
}
END_TEST

/* A cold part is its function, which is named as if it were whole whichever was seen first. */
START_TEST(test_cold_parts_are_functions)
{
	static const struct build_sample samples[] = {
		{.stack = "app:main app:f.cold", .cpu_ms = 1},
		{.stack = "app:main app:f", .cpu_ms = 1},
		{.stack = "app:main app:g.cold", .cpu_ms = 1},
		{.stack = "app:main lib:f", .cpu_ms = 1},
	};
	struct build_result result = {.samples = samples, .count = 4, .is_finalized = true};
	struct opened opened;
	unsigned named_f = 0;
	opened_begin(&opened, &result, true, 0);
	for (uint32_t i = 0; i < functions_count(opened.result.functions); i++) {
		const struct function *function = functions_at(opened.result.functions, i);
		named_f += strcmp(function->name, "f") == 0;
		if (strcmp(function->name, "f") == 0)
			ck_assert_str_eq(function->full, "f(int)");
		if (strcmp(function->name, "g") == 0)
			ck_assert_str_eq(function->full, "g(int) [clone .cold]");
	}
	ck_assert_uint_eq(named_f, 2);
	opened_end(&opened);
}
END_TEST

START_TEST(test_trampolines_have_their_meaning)
{
	static const struct build_sample samples[] = {
		{.stack = "app:main libc:__restore_rt app:handler", .cpu_ms = 1},
		{.stack = "app:main app:restore", .cpu_ms = 1},
	};
	struct build_result result = {.samples = samples, .count = 2, .is_finalized = true};
	struct opened opened;
	unsigned named = 0, restores = 0;
	opened_begin(&opened, &result, true, 0);
	functions_name_trampolines(opened.result.functions);
	for (uint32_t i = 0; i < functions_count(opened.result.functions); i++) {
		const struct function *function = functions_at(opened.result.functions, i);
		restores += strcmp(function->name, "restore") == 0;
		if (strcmp(function->name, "[signal handler called]") != 0)
			continue;
		named++;
		ck_assert_int_eq(strncmp(function->full, "__restore_rt", 12), 0);
	}
	ck_assert_uint_eq(named, 1);
	ck_assert_uint_eq(restores, 1);
	opened_end(&opened);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("functions");
	TCase *cases = tcase_create("all");
	tcase_set_timeout(cases, 60);
	tcase_add_test(cases, test_functions_are_told_apart);
	tcase_add_test(cases, test_cold_parts_are_functions);
	tcase_add_test(cases, test_trampolines_have_their_meaning);
	suite_add_tcase(suite, cases);
	return run_suite(suite);
}
