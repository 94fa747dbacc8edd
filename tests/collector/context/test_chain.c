/* Stacks on their way into the tree: collapsed recursion, and what is kept of the last stack. */
#include "collector/context/chain.h"
#include "tests/collector/fake_emit.h"
#include "tests/support/suite.h"
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct emit *emit;
static struct tree *tree;
static struct chain *chain;
static char known[256][2]; /* letter and digit by frame id */

static void setup(void)
{
	emit = fake_emit_create();
	tree = tree_create(emit);
	ck_assert_ptr_nonnull(tree);
	chain = chain_create(tree, true);
	ck_assert_ptr_nonnull(chain);
}

static void teardown(void)
{
	chain_destroy(chain);
	tree_destroy(tree);
	fake_emit_destroy(emit);
}

/* Pushes a stack written root first: a letter is a function, a digit after it tells apart calls in
 * it. */
static void push(struct chain *to, const char *text)
{
	for (; *text != '\0'; text++) {
		bool has_digit = text[1] >= '0' && text[1] <= '9';
		struct profile_frame out = {1, 0,
					    (uint64_t)text[0] << 8 |
						    (has_digit ? (uint64_t)text[1] : 0)};
		struct tree_frame frame = tree_frame(tree, &out, (uint64_t)text[0] << 8);
		/* Checked without the library: each of its assertions is a message. */
		if (frame.id >= sizeof(known) / sizeof(known[0]))
			ck_abort_msg("frame %u", frame.id);
		known[frame.id][0] = text[0];
		known[frame.id][1] = has_digit ? *++text : '\0';
		if (!chain_push(to, frame))
			ck_abort_msg("out of memory");
	}
}

/* The stack of a node, written the same way; it is read from what was emitted. */
static const char *text_of(uint32_t node)
{
	static char text[1024];
	char *at = text + sizeof(text) - 1;
	*at = '\0';
	while (node != 0) {
		struct profile_node out = fake_emit_node(emit, node);
		if (known[out.frame][1] != '\0')
			*--at = known[out.frame][1];
		*--at = known[out.frame][0];
		node = out.parent;
	}
	return at;
}

/* What is left of a stack. */
static const char *collapse(const char *text)
{
	chain_keep(chain, 0);
	push(chain, text);
	const char *left = text_of(chain_node(chain));
	return left;
}

static const struct {
	const char *stack;
	const char *expected;
} stacks[] = {
	{"", ""},
	{"a", "a"},
	{"aa", "aa"},
	{"aaa", "aa"},
	{"aaaaaaa", "aa"},
	{"mabc", "mabc"},
	{"maaaab", "maab"},
	{"mabababab", "mabab"},
	{"mababababa", "mababa"}, /* what is left of a cycle stays */
	{"mabcabcabcabcx", "mabcabcx"},
	{"mabcdabcdabcdx", "mabcdabcdx"},
	{"abcdeabcdeabcde", "abcdeabcde"},
	{"abcdefabcdefabcdef", "abcdefabcdef"},
	{"abcdefgabcdefgabcdefg", "abcdefgabcdefg"},
	{"abcdefghabcdefghabcdefgh", "abcdefghabcdefgh"},
	{"abcdefghiabcdefghiabcdefghi", "abcdefghiabcdefghiabcdefghi"}, /* longer than 8 */
	{"maaaabbbbcaaaa", "maabbcaa"},
	{"aabaabaab", "aabaab"}, /* a cycle that holds a repetition */
	{"maaaxaaaxaaaxaaax", "maaxaax"},
	{"mabbbabbbabbb", "mabbabb"},
	{"abcabcabxabcabcabx", "abcabcabxabcabcabx"}, /* repeated once only */
	/* Several calls in one function: the first cycle and the last one stay. */
	{"ma1a2a3b", "ma1a3b"},
	{"ma1a2a1a2a4b", "ma1a4b"},
	{"ma1b1a2b2a3b3a4c", "ma1b1a3b3a4c"},
	{"ma1b1a2b2a3b3a4b4c", "ma1b1a4b4c"},
	{"ma1a2x1a3a4a5x2a1a2x3b", "ma1a2x1a1a2x3b"},
};

START_TEST(collapsed)
{
	ck_assert_str_eq(collapse(stacks[_i].stack), stacks[_i].expected);
}
END_TEST

/* Loop: period. However often a cycle repeats, its first and one repetition stay. */
START_TEST(collapsed_by_period)
{
	char stack[256] = "m";
	char expected[64] = "m";
	char cycle[16] = "";
	for (int i = 0; i < _i; i++)
		cycle[i] = (char)('a' + i);
	for (int repeated = 1; repeated <= 20; repeated++) {
		strcat(stack, cycle);
		if (repeated <= 2)
			strcat(expected, cycle);
		ck_assert_str_eq(collapse(stack), expected);
	}
}
END_TEST

static bool has_three_cycles(const char *stack)
{
	size_t count = strlen(stack);
	for (size_t period = 1; period <= 8; period++)
		for (size_t at = 0; at + 3 * period <= count; at++)
			if (memcmp(stack + at, stack + at + period, 2 * period) == 0)
				return true;
	return false;
}

static void note_calls(const char *stack, bool calls[8][8])
{
	memset(calls, 0, sizeof(bool[8][8]));
	for (size_t i = 1; i < strlen(stack); i++)
		calls[stack[i - 1] - 'a'][stack[i] - 'a'] = true;
}

/* Random chains: no cycle stays three times, nothing else goes: the same functions call the same
 * functions, from the same root to the same leaf. */
START_TEST(collapsed_keeps_who_calls_whom)
{
	unsigned seed = (unsigned)_i + 1;
	for (int round = 0; round < 1000; round++) {
		char stack[101];
		char once[101];
		bool before[8][8];
		bool after[8][8];
		size_t length = 1 + (size_t)rand_r(&seed) % 100;
		for (size_t i = 0; i < length; i++)
			stack[i] = (char)('a' + rand_r(&seed) % (2 + _i));
		stack[length] = '\0';
		strcpy(once, collapse(stack));
		ck_assert_msg(!has_three_cycles(once), "%s -> %s", stack, once);
		ck_assert_str_eq(collapse(once), once);
		ck_assert_int_eq(once[0], stack[0]);
		ck_assert_int_eq(once[strlen(once) - 1], stack[length - 1]);
		note_calls(stack, before);
		note_calls(once, after);
		ck_assert_mem_eq(before, after, sizeof(before));
		if (!has_three_cycles(stack))
			ck_assert_str_eq(once, stack);
	}
}
END_TEST

/* Loop: seeds. A stack on top of what is kept of another one is the same as the whole one. */
START_TEST(kept_frames)
{
	struct chain *whole = chain_create(tree, _i % 4 != 3);
	struct chain *reusing = chain_create(tree, _i % 4 != 3);
	unsigned seed = (unsigned)_i + 1;
	char stack[101] = "";
	for (int round = 0; round < 500; round++) {
		size_t kept = strlen(stack);
		kept = kept > 0 ? (size_t)rand_r(&seed) % (kept + 1) : 0;
		size_t length = kept + (size_t)rand_r(&seed) % (101 - kept);
		for (size_t i = kept; i < length; i++)
			stack[i] = (char)('a' + rand_r(&seed) % (1 + _i % 4));
		stack[length] = '\0';
		chain_keep(whole, 0);
		push(whole, stack);
		chain_keep(reusing, kept);
		push(reusing, stack + kept);
		ck_assert_uint_eq(chain_node(reusing), chain_node(whole));
		ck_assert_uint_eq(chain_collapsed(reusing), chain_collapsed(whole));
		if (round % 3 == 0) /* a frame more than what the node was asked for */
			push(reusing, "zzz");
	}
	chain_destroy(whole);
	chain_destroy(reusing);
}
END_TEST

START_TEST(empty)
{
	ck_assert_uint_eq(chain_node(chain), 0);
	ck_assert_uint_eq(chain_collapsed(chain), 0);
	chain_keep(chain, 10);
	ck_assert_uint_eq(chain_node(chain), 0);
	ck_assert_str_eq(fake_emit_lines(emit), "");
	chain_destroy(NULL);
}
END_TEST

START_TEST(not_collapsed)
{
	struct chain *all = chain_create(tree, false);
	push(all, "maaaaab");
	ck_assert_str_eq(text_of(chain_node(all)), "maaaaab");
	ck_assert_uint_eq(chain_collapsed(all), 0);
	chain_destroy(all);
	ck_assert_str_eq(collapse("maaaaab"), "maab");
	ck_assert_uint_eq(chain_collapsed(chain), 3);
}
END_TEST

/* A frame that there was no memory for has no node, nor has what it calls; what is kept does. */
START_TEST(missing_frame)
{
	push(chain, "ma");
	uint32_t node = chain_node(chain);
	ck_assert(chain_push(chain, (struct tree_frame){PROFILE_NONE, PROFILE_NONE}));
	push(chain, "b");
	ck_assert_uint_eq(chain_node(chain), PROFILE_NONE);
	chain_keep(chain, 2);
	ck_assert_uint_eq(chain_node(chain), node);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("chain");
	TCase *tcase = tcase_create("chain");

	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_add_test(tcase, empty);
	tcase_add_loop_test(tcase, collapsed, 0, (int)(sizeof(stacks) / sizeof(stacks[0])));
	tcase_add_loop_test(tcase, collapsed_by_period, 1, 9);
	tcase_add_loop_test(tcase, collapsed_keeps_who_calls_whom, 0, 3);
	tcase_add_loop_test(tcase, kept_frames, 0, 8);
	tcase_add_test(tcase, not_collapsed);
	tcase_add_test(tcase, missing_frame);
	suite_add_tcase(suite, tcase);
	return run_suite(suite);
}
