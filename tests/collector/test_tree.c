/* The calling-context tree: dense ids, and collapsed recursion. */
#include "collector/tree.h"

#include "tests/collector/fake_emit.h"
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct emit *emit;
static struct tree *tree;

static void setup(void)
{
	emit = fake_emit_create();
	tree = tree_create(emit);
	ck_assert_ptr_nonnull(tree);
}

static void teardown(void)
{
	tree_destroy(tree);
	fake_emit_destroy(emit);
}

static uint32_t frame(uint32_t image, uint64_t rva)
{
	struct profile_frame out = {image, 0, rva};
	return tree_frame(tree, &out, 0);
}

START_TEST(empty)
{
	ck_assert_uint_eq(tree_node(tree, NULL, 0), 0);
	ck_assert_str_eq(fake_emit_lines(emit), "");
	tree_destroy(NULL);
}
END_TEST

START_TEST(frames_are_dense_and_written_once)
{
	struct profile_frame by_pointer = {1, PROFILE_FRAME_POINTER, 0x10};
	ck_assert_uint_eq(frame(1, 0x10), 0);
	ck_assert_uint_eq(frame(1, 0x20), 1);
	ck_assert_uint_eq(frame(2, 0x10), 2);
	ck_assert_uint_eq(tree_frame(tree, &by_pointer, 0), 3);
	ck_assert_uint_eq(frame(1, 0x10), 0);
	ck_assert_uint_eq(tree_frame(tree, &by_pointer, 0), 3);
	ck_assert_str_eq(fake_emit_lines(emit), "frame 0 1+10 flags 0\n"
						"frame 1 1+20 flags 0\n"
						"frame 2 2+10 flags 0\n"
						"frame 3 1+10 flags 1\n");
}
END_TEST

START_TEST(nodes_share_their_callers)
{
	uint32_t outer = frame(1, 0x100);
	uint32_t middle = frame(1, 0x200);
	uint32_t leaf = frame(1, 0x300);
	const uint32_t deep[] = {leaf, middle, outer};
	const uint32_t other[] = {leaf, outer};
	fake_emit_clear(emit);
	ck_assert_uint_eq(tree_node(tree, deep, 3), 3);
	ck_assert_uint_eq(tree_node(tree, deep, 3), 3);
	ck_assert_uint_eq(tree_node(tree, other, 2), 4); /* same leaf, other caller */
	ck_assert_uint_eq(tree_node(tree, deep + 1, 2), 2);
	ck_assert_str_eq(fake_emit_lines(emit), "node 1 parent 0 frame 0\n"
						"node 2 parent 1 frame 1\n"
						"node 3 parent 2 frame 2\n"
						"node 4 parent 1 frame 2\n");
}
END_TEST

/* Enough of them that they meet in the table. */
START_TEST(frames_that_differ_in_flags_only)
{
	for (uint32_t i = 0; i < 4000; i++) {
		struct profile_frame by_pointer = {1, PROFILE_FRAME_POINTER, i};
		ck_assert_uint_eq(frame(1, i), 2 * i);
		ck_assert_uint_eq(tree_frame(tree, &by_pointer, 0), 2 * i + 1);
	}
}
END_TEST

/* Past the tables' first size: ids stay, and none is written twice. */
START_TEST(grows)
{
	enum { COUNT = 20000 };
	uint32_t *nodes = calloc(COUNT, sizeof(*nodes));
	ck_assert_ptr_nonnull(nodes);
	for (uint32_t i = 0; i < COUNT; i++) {
		ck_assert_uint_eq(frame(i % 7, 0x1000ull * i), i);
		const uint32_t stack[] = {i, i / 2};
		nodes[i] = tree_node(tree, stack, 2);
	}
	size_t written = fake_emit_count(emit, "node ");
	for (uint32_t i = 0; i < COUNT; i++) {
		const uint32_t stack[] = {i, i / 2};
		ck_assert_uint_eq(frame(i % 7, 0x1000ull * i), i);
		ck_assert_uint_eq(tree_node(tree, stack, 2), nodes[i]);
	}
	ck_assert_uint_eq(fake_emit_count(emit, "node "), written);
	ck_assert_uint_eq(written, COUNT + COUNT / 2);
	ck_assert_uint_eq(fake_emit_count(emit, "frame "), COUNT);
	free(nodes);
}
END_TEST

/* Collapses a chain written root first: a letter is a function, a digit after it tells apart calls
 * in it. */
static const char *collapse(const char *chain)
{
	static char text[512];
	static char known[64][2]; /* by frame id */
	uint32_t frames[256];
	size_t count = 0;
	size_t length = 0;
	char calls[256][2];
	for (size_t i = 0; chain[i] != '\0'; i++, count++) {
		bool has_digit = chain[i + 1] >= '0' && chain[i + 1] <= '9';
		calls[count][0] = chain[i];
		calls[count][1] = has_digit ? chain[++i] : '\0';
	}
	for (size_t i = 0; i < count; i++) {
		const char *call = calls[count - 1 - i];
		struct profile_frame out = {1, 0, (uint64_t)call[0] << 8 | (uint8_t)call[1]};
		frames[i] = tree_frame(tree, &out, (uint64_t)call[0] << 8);
		ck_assert_uint_lt(frames[i], sizeof(known) / sizeof(known[0]));
		memcpy(known[frames[i]], call, sizeof(calls[0]));
	}
	count = tree_collapse(tree, frames, count);
	for (size_t i = count; i > 0; i--) {
		const char *call = known[frames[i - 1]];
		text[length++] = call[0];
		if (call[1] != '\0')
			text[length++] = call[1];
	}
	text[length] = '\0';
	return text;
}

static const struct {
	const char *chain;
	const char *expected;
} chains[] = {
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
	ck_assert_str_eq(collapse(chains[_i].chain), chains[_i].expected);
}
END_TEST

/* Loop: period. However often a cycle repeats, its first and one repetition stay. */
START_TEST(collapsed_by_period)
{
	char chain[256] = "m";
	char expected[64] = "m";
	char cycle[16] = "";
	for (int i = 0; i < _i; i++)
		cycle[i] = (char)('a' + i);
	for (int repeated = 1; repeated <= 20; repeated++) {
		strcat(chain, cycle);
		if (repeated <= 2)
			strcat(expected, cycle);
		ck_assert_str_eq(collapse(chain), expected);
	}
}
END_TEST

static bool has_three_cycles(const char *chain)
{
	size_t count = strlen(chain);
	for (size_t period = 1; period <= 8; period++)
		for (size_t at = 0; at + 3 * period <= count; at++)
			if (memcmp(chain + at, chain + at + period, 2 * period) == 0)
				return true;
	return false;
}

static void note_calls(const char *chain, bool calls[8][8])
{
	memset(calls, 0, sizeof(bool[8][8]));
	for (size_t i = 1; i < strlen(chain); i++)
		calls[chain[i - 1] - 'a'][chain[i] - 'a'] = true;
}

/* Random chains: no cycle stays three times, nothing else goes: the same functions call the same
 * functions, from the same root to the same leaf. */
START_TEST(collapsed_keeps_who_calls_whom)
{
	unsigned seed = (unsigned)_i + 1;
	for (int round = 0; round < 5000; round++) {
		char chain[101];
		char once[101];
		bool before[8][8];
		bool after[8][8];
		size_t length = 1 + (size_t)rand_r(&seed) % 100;
		for (size_t i = 0; i < length; i++)
			chain[i] = (char)('a' + rand_r(&seed) % (2 + _i));
		chain[length] = '\0';
		strcpy(once, collapse(chain));
		ck_assert_msg(!has_three_cycles(once), "%s -> %s", chain, once);
		ck_assert_str_eq(collapse(once), once);
		ck_assert_int_eq(once[0], chain[0]);
		ck_assert_int_eq(once[strlen(once) - 1], chain[length - 1]);
		note_calls(chain, before);
		note_calls(once, after);
		ck_assert_mem_eq(before, after, sizeof(before));
		if (!has_three_cycles(chain))
			ck_assert_str_eq(once, chain);
	}
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("tree");
	TCase *tcase = tcase_create("tree");
	SRunner *runner = srunner_create(suite);

	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_add_test(tcase, empty);
	tcase_add_test(tcase, frames_are_dense_and_written_once);
	tcase_add_test(tcase, nodes_share_their_callers);
	tcase_add_test(tcase, frames_that_differ_in_flags_only);
	tcase_add_test(tcase, grows);
	tcase_add_loop_test(tcase, collapsed, 0, (int)(sizeof(chains) / sizeof(chains[0])));
	tcase_add_loop_test(tcase, collapsed_by_period, 1, 9);
	tcase_add_loop_test(tcase, collapsed_keeps_who_calls_whom, 0, 3);
	suite_add_tcase(suite, tcase);
	srunner_run_all(runner, CK_ENV);
	int failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed != 0;
}
