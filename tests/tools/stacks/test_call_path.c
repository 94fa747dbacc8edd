/* Stacks as chains of functions: by state, where a guess begins, with inlined functions, by mode.
 */
#include "tests/support/suite.h"
#include "tests/tools/opened.h"
#include "tools/stacks/call_path.h"
#include <check.h>
#include <string.h>

/* The chain of the only stack of a result as "a;b;c". */
static void expect_chain(const char *stack, enum profile_stack_state state,
			 enum call_path_mode mode, bool inlines, const char *expected)
{
	struct build_sample sample = {.stack = stack, .state = state, .cpu_ms = 10};
	struct build_result result = {.samples = &sample, .count = 1, .is_finalized = true};
	struct opened opened;
	struct call_path call_path = {0};
	char text[512] = "";
	opened_begin(&opened, &result, inlines, 0);
	ck_assert_uint_eq(opened.result.tally.count, 1);
	call_path_of_stack(&call_path, opened.result.reader, opened.result.functions,
			   opened.result.tally.entries[0].node,
			   opened.result.tally.entries[0].state, mode);
	for (size_t i = 0; i < call_path.count; i++) {
		strcat(text, i ? ";" : "");
		strcat(text, functions_at(opened.result.functions, call_path.functions[i])->name);
	}
	ck_assert_str_eq(text, expected);
	call_path_finish(&call_path);
	opened_end(&opened);
}

START_TEST(test_chain_states)
{
	const char *stack = "app:main app:work";
	expect_chain(stack, PROFILE_STACK_COMPLETE, CALL_PATH_ALL, true, "main;work");
	expect_chain(stack, PROFILE_STACK_NONE, CALL_PATH_ALL, true, "main;work");
	expect_chain(stack, PROFILE_STACK_SKIPPED, CALL_PATH_ALL, true,
		     "[Skipped frame(s)];main;work");
	expect_chain(stack, PROFILE_STACK_GUESSED, CALL_PATH_ALL, true,
		     "[Guessed frame(s)];main;work");
	expect_chain("", PROFILE_STACK_COMPLETE, CALL_PATH_ALL, true, "[Unknown frame(s)]");
	expect_chain("", PROFILE_STACK_SKIPPED, CALL_PATH_ALL, true,
		     "[Skipped frame(s)];[Unknown frame(s)]");
}
END_TEST

START_TEST(test_chain_seam)
{
	const enum profile_stack_state guessed = PROFILE_STACK_GUESSED;
	expect_chain("app:start~ app:main~ app:work app:leaf", guessed, CALL_PATH_ALL, true,
		     "start~;main~;[Guessed frame(s)];work;leaf");
	expect_chain("libc:start~ app:main~ libc:sort libc:swap", guessed, CALL_PATH_USER_PLUS_ONE,
		     true, "start~;main~;[Guessed frame(s)];sort");
	expect_chain("libc:start~ app:main~ libc:sort", guessed, CALL_PATH_USER_ONLY, true,
		     "main~;[Guessed frame(s)]");
	/* Whatever the state says, and where no frame was verified. */
	expect_chain("app:main~ app:work", PROFILE_STACK_COMPLETE, CALL_PATH_ALL, true,
		     "main~;[Guessed frame(s)];work");
	expect_chain("app:main~", guessed, CALL_PATH_ALL, true, "[Guessed frame(s)];main~");
	expect_chain("", guessed, CALL_PATH_ALL, true, "[Guessed frame(s)];[Unknown frame(s)]");
}
END_TEST

START_TEST(test_chain_unknown_frames)
{
	expect_chain("app:main ? ? app:work", PROFILE_STACK_COMPLETE, CALL_PATH_ALL, true,
		     "main;[Unknown frame(s)];work");
	/* no symbol, known file: where it is; no file: only which module */
	expect_chain("app:main app: jit:", PROFILE_STACK_COMPLETE, CALL_PATH_ALL, true,
		     "main;func@0x1024;[jit]");
}
END_TEST

START_TEST(test_chain_inlines)
{
	const char *stack = "app:main app:outer>inner";
	expect_chain(stack, PROFILE_STACK_COMPLETE, CALL_PATH_ALL, true, "main;outer;inner");
	expect_chain(stack, PROFILE_STACK_COMPLETE, CALL_PATH_ALL, false, "main;outer");
}
END_TEST

START_TEST(test_chain_modes)
{
	const char *stack = "app:_start libc:start libc:call_main app:main libc:qsort libc:merge "
			    "app:compare libc:strcmp";
	expect_chain(stack, PROFILE_STACK_COMPLETE, CALL_PATH_ALL, true,
		     "_start;start;call_main;main;qsort;merge;compare;strcmp");
	expect_chain(stack, PROFILE_STACK_COMPLETE, CALL_PATH_USER_PLUS_ONE, true,
		     "_start;start;main;qsort;compare;strcmp");
	expect_chain(stack, PROFILE_STACK_COMPLETE, CALL_PATH_USER_ONLY, true,
		     "_start;main;compare");
	/* nothing but system code: its outermost function stands for it */
	expect_chain("libc:clone libc:start_thread", PROFILE_STACK_COMPLETE, CALL_PATH_USER_ONLY,
		     true, "clone");
	expect_chain("libc:memcpy", PROFILE_STACK_SKIPPED, CALL_PATH_USER_ONLY, true,
		     "[Skipped frame(s)]");
	expect_chain("libc:memcpy", PROFILE_STACK_SKIPPED, CALL_PATH_USER_PLUS_ONE, true,
		     "[Skipped frame(s)];memcpy");
}
END_TEST

/* Each function has its frame, in every mode; marks have none. */
START_TEST(test_chain_frames)
{
	static const struct build_sample sample = {
		.stack = "libc:start app:main app:outer>inner",
		.cpu_ms = 10,
		.state = PROFILE_STACK_SKIPPED,
	};
	static const uint32_t all[] = {PROFILE_NONE, 0, 1, 2, 2};
	static const uint32_t user_only[] = {PROFILE_NONE, 1, 2, 2};
	struct build_result built = {.samples = &sample, .count = 1, .is_finalized = true};
	struct opened opened;
	struct call_path call_path = {0};
	opened_begin(&opened, &built, true, 0);
	const struct sampled_result *result = &opened.result;
	uint32_t node = result->tally.entries[0].node;
	call_path_of_stack(&call_path, result->reader, result->functions, node,
			   PROFILE_STACK_SKIPPED, CALL_PATH_ALL);
	ck_assert_uint_eq(call_path.count, 5);
	ck_assert_mem_eq(call_path.frames, all, sizeof(all));
	call_path_of_stack(&call_path, result->reader, result->functions, node,
			   PROFILE_STACK_SKIPPED, CALL_PATH_USER_ONLY);
	ck_assert_uint_eq(call_path.count, 4);
	ck_assert_mem_eq(call_path.frames, user_only, sizeof(user_only));
	call_path_finish(&call_path);
	opened_end(&opened);
}
END_TEST

#define LINES_MAX 8u

struct lines_case {
	const char *stack;
	enum profile_stack_state state;
	enum call_path_mode mode;
	bool has_inlines;
	uint32_t lines[LINES_MAX]; /* of as many functions as the path has */
	size_t count;
};

/* Of a result's frames, the n-th is at line 10 n; calls of what is inlined there stand behind. */
static const struct lines_case lines_cases[] = {
	{"app:main app:outer>inner", PROFILE_STACK_COMPLETE, CALL_PATH_ALL, true, {10, 21, 20}, 3},
	/* The code of an inlined function counts where it was inlined. */
	{"app:main app:outer>inner", PROFILE_STACK_COMPLETE, CALL_PATH_ALL, false, {10, 21}, 2},
	/* One frame twice in a row: each time it begins with its outermost function. */
	{"app:a>b app:a>b", PROFILE_STACK_COMPLETE, CALL_PATH_ALL, true, {11, 10, 11, 10}, 4},
	{"app:a app:a", PROFILE_STACK_COMPLETE, CALL_PATH_ALL, true, {10, 10}, 2},
	/* Marks have no line, and functions keep theirs beside one that is left out. */
	{"app:main app:work", PROFILE_STACK_SKIPPED, CALL_PATH_ALL, true, {0, 10, 20}, 3},
	{"app:a~ app:b>c", PROFILE_STACK_GUESSED, CALL_PATH_ALL, true, {10, 0, 21, 20}, 4},
	{"app:main libc:qsort libc:merge app:compare",
	 PROFILE_STACK_COMPLETE,
	 CALL_PATH_USER_PLUS_ONE,
	 true,
	 {10, 20, 40},
	 3},
	{"", PROFILE_STACK_COMPLETE, CALL_PATH_ALL, true, {0}, 1},
};

START_TEST(test_lines)
{
	const struct lines_case *of = &lines_cases[_i];
	struct build_sample sample = {.stack = of->stack, .state = of->state, .cpu_ms = 10};
	struct build_result built = {.samples = &sample, .count = 1, .is_finalized = true};
	struct opened opened;
	struct call_path call_path = {0};
	opened_begin(&opened, &built, of->has_inlines, 0);
	const struct sampled_result *result = &opened.result;
	call_path_of_stack(&call_path, result->reader, result->functions,
			   result->tally.entries[0].node, of->state, of->mode);
	call_path_find_lines(&call_path, result->functions);
	ck_assert_uint_eq(call_path.count, of->count);
	for (size_t i = 0; i < of->count; i++)
		ck_assert_msg(call_path.lines[i] == of->lines[i], "%s: %zu. at line %u, not %u",
			      of->stack, i, call_path.lines[i], of->lines[i]);
	/* What a thread waited for has no line. */
	call_path_add_label(&call_path, FUNCTION_KERNEL, false);
	call_path_find_lines(&call_path, result->functions);
	ck_assert_uint_eq(call_path.lines[of->count], 0);
	ck_assert_uint_eq(call_path.lines[0], of->lines[0]);
	call_path_finish(&call_path);
	opened_end(&opened);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("chain");
	TCase *cases = tcase_create("all");
	tcase_set_timeout(cases, 60);
	tcase_add_test(cases, test_chain_states);
	tcase_add_test(cases, test_chain_seam);
	tcase_add_test(cases, test_chain_unknown_frames);
	tcase_add_test(cases, test_chain_inlines);
	tcase_add_test(cases, test_chain_modes);
	tcase_add_test(cases, test_chain_frames);
	tcase_add_loop_test(cases, test_lines, 0,
			    (int)(sizeof(lines_cases) / sizeof(lines_cases[0])));
	suite_add_tcase(suite, cases);
	return run_suite(suite);
}
