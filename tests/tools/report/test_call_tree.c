/* Chains of functions as call trees. */
#include "tests/support/suite.h"
#include "tools/report/call_tree.h"
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

int main(void)
{
	Suite *suite = suite_create("call tree");
	TCase *cases = tcase_create("all");
	tcase_set_timeout(cases, 60);
	tcase_add_test(cases, test_tree_top_down);
	tcase_add_test(cases, test_tree_bottom_up);
	tcase_add_test(cases, test_tree_recursion);
	tcase_add_test(cases, test_tree_ties);
	suite_add_tcase(suite, cases);
	return run_suite(suite);
}
