/* Samples to functions, chains and trees. */
#include "tests/support/suite.h"
#include "tests/tools/build_result.h"
#include "tools/analysis/call_tree.h"
#include "tools/analysis/chain.h"
#include "tools/analysis/filter.h"
#include "tools/analysis/functions.h"
#include "tools/analysis/system_module.h"
#include "tools/analysis/tally.h"
#include "tools/names/utf8.h"
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A result open for analysis. */
struct opened {
	char directory[32];
	struct profile_reader *reader;
	struct functions *functions;
	struct tally tally;
};

static void open_result(struct opened *opened, const struct build_result *result, bool inlines,
			unsigned by)
{
	char path[64];
	struct filter everything = {0};
	build_directory(opened->directory);
	snprintf(path, sizeof(path), "%s/r.tb5", opened->directory);
	build_result_write(path, result);
	ck_assert_uint_eq(profile_reader_open(path, &opened->reader), VT_SUCCESS);
	opened->functions = functions_create(opened->reader, inlines);
	ck_assert_uint_eq(tally_collect(opened->reader, &everything, by, &opened->tally),
			  VT_SUCCESS);
}

static void close_result(struct opened *opened)
{
	tally_finish(&opened->tally);
	functions_destroy(opened->functions);
	profile_reader_close(opened->reader);
	build_directory_remove(opened->directory);
}

/* The chain of the only stack of a result as "a;b;c". */
static void expect_chain(const char *stack, enum profile_stack_state state, enum chain_mode mode,
			 bool inlines, const char *expected)
{
	struct build_sample sample = {.stack = stack, .state = state, .cpu_ms = 10};
	struct build_result result = {.samples = &sample, .count = 1, .is_finalized = true};
	struct opened opened;
	struct chain chain = {0};
	char text[512] = "";
	open_result(&opened, &result, inlines, 0);
	ck_assert_uint_eq(opened.tally.count, 1);
	chain_of_stack(&chain, opened.reader, opened.functions, opened.tally.entries[0].node,
		       opened.tally.entries[0].state, mode);
	for (size_t i = 0; i < chain.count; i++) {
		strcat(text, i ? ";" : "");
		strcat(text, functions_at(opened.functions, chain.functions[i])->name);
	}
	ck_assert_str_eq(text, expected);
	chain_finish(&chain);
	close_result(&opened);
}

START_TEST(test_chain_states)
{
	const char *stack = "app:main app:work";
	expect_chain(stack, PROFILE_STACK_COMPLETE, CHAIN_ALL, true, "main;work");
	expect_chain(stack, PROFILE_STACK_NONE, CHAIN_ALL, true, "main;work");
	expect_chain(stack, PROFILE_STACK_SKIPPED, CHAIN_ALL, true, "[Skipped frame(s)];main;work");
	expect_chain(stack, PROFILE_STACK_GUESSED, CHAIN_ALL, true, "[Guessed frame(s)];main;work");
	expect_chain("", PROFILE_STACK_COMPLETE, CHAIN_ALL, true, "[Unknown frame(s)]");
	expect_chain("", PROFILE_STACK_SKIPPED, CHAIN_ALL, true,
		     "[Skipped frame(s)];[Unknown frame(s)]");
}
END_TEST

START_TEST(test_chain_seam)
{
	const enum profile_stack_state guessed = PROFILE_STACK_GUESSED;
	expect_chain("app:start~ app:main~ app:work app:leaf", guessed, CHAIN_ALL, true,
		     "start~;main~;[Guessed frame(s)];work;leaf");
	expect_chain("libc:start~ app:main~ libc:sort libc:swap", guessed, CHAIN_USER_PLUS_ONE,
		     true, "start~;main~;[Guessed frame(s)];sort");
	expect_chain("libc:start~ app:main~ libc:sort", guessed, CHAIN_USER_ONLY, true,
		     "main~;[Guessed frame(s)]");
	/* Whatever the state says, and where no frame was verified. */
	expect_chain("app:main~ app:work", PROFILE_STACK_COMPLETE, CHAIN_ALL, true,
		     "main~;[Guessed frame(s)];work");
	expect_chain("app:main~", guessed, CHAIN_ALL, true, "[Guessed frame(s)];main~");
	expect_chain("", guessed, CHAIN_ALL, true, "[Guessed frame(s)];[Unknown frame(s)]");
}
END_TEST

START_TEST(test_chain_unknown_frames)
{
	expect_chain("app:main ? ? app:work", PROFILE_STACK_COMPLETE, CHAIN_ALL, true,
		     "main;[Unknown frame(s)];work");
	/* no symbol, known file: where it is; no file: only which module */
	expect_chain("app:main app: jit:", PROFILE_STACK_COMPLETE, CHAIN_ALL, true,
		     "main;func@0x1024;[jit]");
}
END_TEST

START_TEST(test_chain_inlines)
{
	const char *stack = "app:main app:outer>inner";
	expect_chain(stack, PROFILE_STACK_COMPLETE, CHAIN_ALL, true, "main;outer;inner");
	expect_chain(stack, PROFILE_STACK_COMPLETE, CHAIN_ALL, false, "main;outer");
}
END_TEST

START_TEST(test_chain_modes)
{
	const char *stack = "app:_start libc:start libc:call_main app:main libc:qsort libc:merge "
			    "app:compare libc:strcmp";
	expect_chain(stack, PROFILE_STACK_COMPLETE, CHAIN_ALL, true,
		     "_start;start;call_main;main;qsort;merge;compare;strcmp");
	expect_chain(stack, PROFILE_STACK_COMPLETE, CHAIN_USER_PLUS_ONE, true,
		     "_start;start;main;qsort;compare;strcmp");
	expect_chain(stack, PROFILE_STACK_COMPLETE, CHAIN_USER_ONLY, true, "_start;main;compare");
	/* nothing but system code: its outermost function stands for it */
	expect_chain("libc:clone libc:start_thread", PROFILE_STACK_COMPLETE, CHAIN_USER_ONLY, true,
		     "clone");
	expect_chain("libc:memcpy", PROFILE_STACK_SKIPPED, CHAIN_USER_ONLY, true,
		     "[Skipped frame(s)]");
	expect_chain("libc:memcpy", PROFILE_STACK_SKIPPED, CHAIN_USER_PLUS_ONE, true,
		     "[Skipped frame(s)];memcpy");
}
END_TEST

START_TEST(test_tally_sums)
{
	static const struct build_sample samples[] = {
		{.stack = "app:main app:a", .count = 3, .cpu_ms = 10},
		{.stack = "app:main app:a", .count = 2, .cpu_ms = 11, .thread = 1, .collapsed = 4},
		{.stack = "app:main app:a",
		 .count = 1,
		 .cpu_ms = 5,
		 .state = PROFILE_STACK_SKIPPED,
		 .reason = PROFILE_SKIP_TRUNCATED},
		{.stack = "app:main app:b", .count = 1, .cpu_ms = 7, .thread = 2},
	};
	struct build_result result = {.samples = samples, .count = 4, .rest_ms = 9};
	struct opened opened;
	open_result(&opened, &result, true, 0);
	ck_assert_uint_eq(opened.tally.count, 3); /* a, a skipped, b */
	ck_assert_uint_eq(opened.tally.samples, 7);
	ck_assert_uint_eq(opened.tally.cpu_ns, 64000000);
	ck_assert_uint_eq(opened.tally.rest_ns, 9000000);
	ck_assert_uint_eq(opened.tally.states[PROFILE_STACK_COMPLETE], 6);
	ck_assert_uint_eq(opened.tally.skipped[PROFILE_SKIP_TRUNCATED], 1);
	ck_assert_uint_eq(opened.tally.collapsed, 2);
	close_result(&opened);
	open_result(&opened, &result, true, TALLY_BY_THREAD);
	ck_assert_uint_eq(opened.tally.count, 4);
	close_result(&opened);
	result.count = 0;
	open_result(&opened, &result, true, TALLY_BY_THREAD);
	ck_assert_uint_eq(opened.tally.count, 0);
	close_result(&opened);
}
END_TEST

static uint64_t samples_with(const struct opened *opened, const char *condition)
{
	struct filter filter = {0};
	struct tally tally;
	ck_assert_ptr_null(filter_add(&filter, condition));
	ck_assert_uint_eq(tally_collect(opened->reader, &filter, 0, &tally), VT_SUCCESS);
	uint64_t samples = tally.samples;
	tally_finish(&tally);
	filter_finish(&filter);
	return samples;
}

START_TEST(test_filter_by_thread)
{
	static const struct build_sample samples[] = {
		{.stack = "app:main", .count = 1, .cpu_ms = 10},
		{.stack = "app:main", .count = 2, .cpu_ms = 10, .thread = 1},
		{.stack = "app:main", .count = 4, .cpu_ms = 10, .thread = 2},
	};
	struct build_result result = {.samples = samples, .count = 3};
	struct opened opened;
	open_result(&opened, &result, true, 0);
	ck_assert_uint_eq(samples_with(&opened, "process=app"), 3);
	ck_assert_uint_eq(samples_with(&opened, "process=helper"), 4);
	ck_assert_uint_eq(samples_with(&opened, "process=none"), 0);
	ck_assert_uint_eq(samples_with(&opened, "pid=100"), 3);
	ck_assert_uint_eq(samples_with(&opened, "thread=worker"), 2);
	ck_assert_uint_eq(samples_with(&opened, "tid=102"), 4);
	ck_assert_uint_eq(samples_with(&opened, "tid=0"), 0);
	close_result(&opened);
}
END_TEST

static void expect_refused(struct filter *filter, const char *condition, const char *words)
{
	char *problem = filter_add(filter, condition);
	ck_assert_msg(problem && strncmp(problem, words, strlen(words)) == 0, "%s: %s", condition,
		      problem ? problem : "taken");
	free(problem);
}

START_TEST(test_filter_conditions)
{
	struct filter filter = {0};
	struct function function = {.name = "f", .full = "f(int)"};
	struct module module = {.name = "lib.so", .path = "/opt/lib.so"};
	expect_refused(&filter, "function", "no '=' in it; use KEY=VALUE");
	expect_refused(&filter, "=f", "no such key; use");
	expect_refused(&filter, "func=f", "no such key; use");
	expect_refused(&filter, "pid=12x", "pid must be a number");
	expect_refused(&filter, "pid=", "pid must be a number");
	expect_refused(&filter, "pid=-1", "pid must be a number");
	expect_refused(&filter, "tid=4294967296", "tid must be a number");
	ck_assert_uint_eq(filter.count, 0);
	ck_assert(!filter_needs_function(&filter));
	ck_assert(filter_takes_function(&filter, &function, &module));
	ck_assert_ptr_null(filter_add(&filter, "function=f(int)"));
	ck_assert_ptr_null(filter_add(&filter, "module=/opt/lib.so"));
	ck_assert(filter_needs_function(&filter));
	ck_assert(filter_takes_function(&filter, &function, &module));
	module.path = "/other/lib.so";
	ck_assert(!filter_takes_function(&filter, &function, &module));
	filter_finish(&filter);
	/* a value may have '=' in it */
	ck_assert_ptr_null(filter_add(&filter, "function=operator=="));
	ck_assert_str_eq(filter.conditions[0].value, "operator==");
	filter_finish(&filter);
}
END_TEST

static const struct {
	const char *condition;
	const char *name;
	const char *other;
	bool takes;
} filter_names[] = {
	{"module=libc", "libc.so.6", "/lib/libc.so.6", true},
	{"module=libc.so", "libc.so.6", "/lib/libc.so.6", true},
	{"module=libc.so.6", "libc.so.6", "/lib/libc.so.6", true},
	{"module=libc", "libc-2.36.so", "/lib/libc-2.36.so", true},
	{"module=libc", "libcrypto.so.3", "/lib/libcrypto.so.3", false},
	{"module=libc", "libc-client.so.2", "/lib/libc-client.so.2", false},
	{"module=libstdc++", "libstdc++.so.6", "/lib/libstdc++.so.6", true},
	{"module=lib", "libc.so.6", "/lib/libc.so.6", false},
	{"module=", "libc.so.6", "/lib/libc.so.6", false},
	{"module=app", "app-2", "/opt/app-2", false},
	{"module=~^libc", "libcrypto.so.3", "/lib/libcrypto.so.3", true},
	{"module=~/opt/", "lib.so", "/opt/lib.so", true},
	{"module=~^opt", "lib.so", "/opt/lib.so", false},
	{"function=~^hash_(bytes|words)$", "hash_words", "hash_words(int)", true},
	{"function=~^hash_(bytes|words)$", "hash_wordsy", "hash_wordsy(int)", false},
	{"function=~int\\)$", "hash", "hash(int)", true},
	{"function=libc", "libc.so.6", NULL, false},
	{"process=~^post", "postgres", NULL, true},
	{"process=post", "postgres", NULL, false},
	{"thread=~[0-9]+", "worker-12", NULL, true},
};

START_TEST(test_filter_names)
{
	struct filter filter = {0};
	ck_assert_ptr_null(filter_add(&filter, filter_names[_i].condition));
	ck_assert_msg(filter_takes_name(filter.conditions, filter_names[_i].name,
					filter_names[_i].other) == filter_names[_i].takes,
		      "%s: %s", filter_names[_i].condition, filter_names[_i].name);
	expect_refused(&filter, "module=~(",
		       "no POSIX extended regular expression behind ~: Unmatched");
	expect_refused(&filter, "pid=~1", "pid must be a number");
	ck_assert_uint_eq(filter.count, 1);
	filter_finish(&filter);
}
END_TEST

static void add_path(struct call_tree *tree, const char *path, bool reversed, uint64_t cpu_ns)
{
	uint32_t functions[16];
	size_t count = strlen(path);
	for (size_t i = 0; i < count; i++)
		functions[i] = (uint32_t)(path[i] - 'a');
	call_tree_add(tree, functions, count, reversed,
		      &(struct draws_part){.cpu_ns = cpu_ns, .samples = 1});
}

/* Rows as "depth name total self", one behind the other. */
static void expect_rows(const struct call_tree *tree, size_t limit, const char *expected)
{
	uint32_t rank[26];
	char text[512] = "";
	size_t count;
	for (uint32_t i = 0; i < 26; i++)
		rank[i] = i;
	struct call_tree_row *rows = call_tree_rows(tree, rank, limit, &count);
	for (size_t i = 0; i < count; i++) {
		const struct call_tree_node *node = &tree->nodes[rows[i].node];
		char row[64];
		snprintf(row, sizeof(row), "%u%c %lu %lu ", rows[i].depth,
			 node->function == CALL_TREE_NONE ? '*' : (char)('a' + node->function),
			 node->total.cpu_ns, node->self.cpu_ns);
		strcat(text, row);
	}
	ck_assert_str_eq(text, expected);
	free(rows);
}

START_TEST(test_tree_top_down)
{
	struct call_tree tree;
	call_tree_init(&tree);
	expect_rows(&tree, 0, "0* 0 0 ");
	add_path(&tree, "abc", false, 5);
	add_path(&tree, "ab", false, 1);
	add_path(&tree, "abd", false, 9);
	add_path(&tree, "e", false, 2);
	add_path(&tree, "abc", false, 5);
	expect_rows(&tree, 0, "0* 22 0 1a 20 0 2b 20 1 3c 10 10 3d 9 9 1e 2 2 ");
	expect_rows(&tree, 1, "0* 22 0 ");
	expect_rows(&tree, 4, "0* 22 0 1a 20 0 2b 20 1 3c 10 10 ");
	call_tree_finish(&tree);
}
END_TEST

START_TEST(test_tree_bottom_up)
{
	struct call_tree tree;
	call_tree_init(&tree);
	add_path(&tree, "abc", true, 5);
	add_path(&tree, "dc", true, 7);
	add_path(&tree, "a", true, 1);
	expect_rows(&tree, 0, "0* 13 0 1c 12 0 2d 7 7 2b 5 0 3a 5 5 1a 1 1 ");
	call_tree_finish(&tree);
}
END_TEST

/* A function that calls itself is a chain of nodes, each with its own self time. */
START_TEST(test_tree_recursion)
{
	struct call_tree tree;
	call_tree_init(&tree);
	add_path(&tree, "aaa", false, 3);
	add_path(&tree, "aa", false, 2);
	expect_rows(&tree, 0, "0* 5 0 1a 5 0 2a 5 2 3a 3 3 ");
	call_tree_finish(&tree);
}
END_TEST

/* Equal weights: parents before children, then by rank, whatever the order they came in. */
START_TEST(test_tree_ties)
{
	struct call_tree tree;
	call_tree_init(&tree);
	add_path(&tree, "zy", false, 4);
	add_path(&tree, "xb", false, 4);
	add_path(&tree, "xa", false, 0);
	expect_rows(&tree, 0, "0* 8 0 1x 4 0 2b 4 4 2a 0 0 1z 4 0 2y 4 4 ");
	expect_rows(&tree, 3, "0* 8 0 1x 4 0 1z 4 0 ");
	expect_rows(&tree, 4, "0* 8 0 1x 4 0 2b 4 4 1z 4 0 ");
	call_tree_finish(&tree);
}
END_TEST

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
	open_result(&opened, &result, true, 0);
	for (uint32_t i = 0; i < functions_count(opened.functions); i++)
		named_g += strcmp(functions_at(opened.functions, i)->name, "g") == 0;
	/* inlined copies are one; the one with code of its own and that of another module are not
	 */
	ck_assert_uint_eq(named_g, 3);
	ck_assert_str_eq(functions_module_of(opened.functions, FUNCTION_SKIPPED)->name,
			 "[Unknown]");
	close_result(&opened);
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
	open_result(&opened, &result, true, 0);
	for (uint32_t i = 0; i < functions_count(opened.functions); i++) {
		const struct function *function = functions_at(opened.functions, i);
		named_f += strcmp(function->name, "f") == 0;
		if (strcmp(function->name, "f") == 0)
			ck_assert_str_eq(function->full, "f(int)");
		if (strcmp(function->name, "g") == 0)
			ck_assert_str_eq(function->full, "g(int) [clone .cold]");
	}
	ck_assert_uint_eq(named_f, 2);
	close_result(&opened);
}
END_TEST

START_TEST(test_system_modules)
{
	static const char *const system_paths[] = {
		"/lib/x86_64-linux-gnu/libc.so.6",     "/lib64/ld-linux-x86-64.so.2",
		"/usr/lib/x86_64-linux-gnu/libm.so.6", "/opt/conda/lib/libstdc++.so.6.0.30",
		"/nix/store/x/lib/libc-2.31.so",       "/snap/core/lib/ld-musl-x86_64.so.1",
	};
	static const char *const user_paths[] = {
		"/usr/lib/x86_64-linux-gnu/liblzma.so.5.4.1",
		"/usr/lib64/libcrypto.so.3",
		"/usr/lib/libcfoo.so",
		"/opt/app/app",
		"/opt/app/libcache.so",
		"/opt/app/libmath.so",
		"/usr/bin/python3.11",
		"/usr/lib/python3/dist-packages/numpy/core.so",
		"/usr/lib/postgresql/15/bin/postgres",
		"/usr/lib/x86_64-linux-gnu/openmpi/plugin.so",
		"/usr/local/lib/libfoo.so",
		"/home/u/lib/libfoo.so",
		"[heap]",
		"",
		"/",
		"/opt/libc-",
	};
	for (size_t i = 0; i < sizeof(system_paths) / sizeof(system_paths[0]); i++)
		ck_assert_msg(system_module_is(system_paths[i]), "%s", system_paths[i]);
	for (size_t i = 0; i < sizeof(user_paths) / sizeof(user_paths[0]); i++)
		ck_assert_msg(!system_module_is(user_paths[i]), "%s", user_paths[i]);
}
END_TEST

START_TEST(test_utf8)
{
	static const struct {
		const char *text;
		const char *expected;
	} cases[] = {
		{"", ""},
		{"plain", "plain"},
		{"gr\xc3\xbc\xc3\x9f", "gr\xc3\xbc\xc3\x9f"},
		{"\xe2\x82\xac\xf0\x9f\x98\x80", "\xe2\x82\xac\xf0\x9f\x98\x80"},
		{"a\xff\xfe", "a??"},
		{"\x80", "?"},
		{"cut\xe2\x82", "cut??"},
		{"\xc0\xaf", "??"},           /* overlong */
		{"\xed\xa0\x80", "???"},      /* surrogate */
		{"\xf4\x90\x80\x80", "????"}, /* above U+10FFFF */
		{"\xf0\x9f\x98z", "???z"},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char text[32];
		snprintf(text, sizeof(text), "%s", cases[i].text);
		utf8_replace_invalid(text);
		ck_assert_str_eq(text, cases[i].expected);
	}
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("analysis");
	TCase *chains = tcase_create("chains");
	tcase_set_timeout(chains, 60);
	tcase_add_test(chains, test_chain_states);
	tcase_add_test(chains, test_chain_seam);
	tcase_add_test(chains, test_chain_unknown_frames);
	tcase_add_test(chains, test_chain_inlines);
	tcase_add_test(chains, test_chain_modes);
	suite_add_tcase(suite, chains);
	TCase *sums = tcase_create("sums");
	tcase_set_timeout(sums, 60);
	tcase_add_test(sums, test_tally_sums);
	tcase_add_test(sums, test_filter_by_thread);
	tcase_add_test(sums, test_filter_conditions);
	tcase_add_loop_test(sums, test_filter_names, 0,
			    (int)(sizeof(filter_names) / sizeof(filter_names[0])));
	suite_add_tcase(suite, sums);
	TCase *trees = tcase_create("trees");
	tcase_set_timeout(trees, 60);
	tcase_add_test(trees, test_tree_top_down);
	tcase_add_test(trees, test_tree_bottom_up);
	tcase_add_test(trees, test_tree_recursion);
	tcase_add_test(trees, test_tree_ties);
	suite_add_tcase(suite, trees);
	TCase *names = tcase_create("names");
	tcase_set_timeout(names, 60);
	tcase_add_test(names, test_functions_are_told_apart);
	tcase_add_test(names, test_cold_parts_are_functions);
	tcase_add_test(names, test_system_modules);
	tcase_add_test(names, test_utf8);
	suite_add_tcase(suite, names);
	return run_suite(suite);
}
