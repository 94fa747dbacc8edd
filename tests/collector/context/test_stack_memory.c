/* A thread's memory of its last stack, and the list of those that guesses were tried on. */
#include "collector/context/stack_memory.h"
#include "collector/context/tree.h"
#include "tests/collector/fake_emit.h"
#include "tests/support/suite.h"
#include <check.h>

START_TEST(all_or_none)
{
	struct emit *emit = fake_emit_create();
	struct tree *tree = tree_create(emit);
	struct stack_memory memory = {.counts = {.walks = 3}};
	ck_assert(stack_memory_remember(&memory, tree, true));
	struct uw_history *history = memory.history;
	ck_assert(history != NULL && memory.chain != NULL && memory.guess != NULL);
	ck_assert(stack_memory_remember(&memory, tree, true));
	ck_assert_ptr_eq(memory.history, history);
	stack_memory_forget(&memory);
	ck_assert(memory.history == NULL && memory.chain == NULL && memory.guess == NULL);
	ck_assert_uint_eq(memory.counts.walks, 3);
	stack_memory_finish(&memory);
	tree_destroy(tree);
	fake_emit_destroy(emit);
}
END_TEST

/* The ends of threads come in any order. */
START_TEST(unlinked_anywhere)
{
	static const size_t orders[][3] = {{0, 1, 2}, {2, 1, 0}, {1, 0, 2}, {1, 2, 0}};
	struct stack_memory memories[3] = {{0}};
	struct stack_memory *head = NULL;
	for (size_t i = 0; i < 3; i++)
		stack_memory_link(&memories[i], &head);
	stack_memory_link(&memories[1], &head); /* it is there */
	for (size_t left = 3; left > 0; left--) {
		size_t count = 0;
		for (const struct stack_memory *m = head; m; m = m->next)
			count++;
		ck_assert_uint_eq(count, left);
		stack_memory_finish(&memories[orders[_i][3 - left]]);
	}
	ck_assert_ptr_null(head);
	stack_memory_unlink(&memories[0]); /* in none */
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("stack_memory");
	TCase *tcase = tcase_create("stack_memory");

	tcase_add_test(tcase, all_or_none);
	tcase_add_loop_test(tcase, unlinked_anywhere, 0, 4);
	suite_add_tcase(suite, tcase);
	return run_suite(suite);
}
