/* A thread's memory of its last stack, and its counts of guesses that were tried. */
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
	tree_destroy(tree);
	fake_emit_destroy(emit);
}
END_TEST

/* Those of another way do not count any more, whenever that is looked at. */
START_TEST(tests_of_a_trial)
{
	unsigned trial = 0;
	struct stack_memory memory = {.counts = {.walks = 3}};
	struct stack_memory untested = {.counts = {.guesses_tested = 1}};
	stack_memory_begin_test(&memory, &trial);
	memory.counts.guesses_tested = memory.counts.guesses_covered = 2;
	memory.counts.guesses_wrong = 1;
	stack_memory_begin_test(&memory, &trial);
	stack_memory_settle(&memory);
	ck_assert_uint_eq(memory.counts.guesses_tested, 2);
	trial = 2;
	stack_memory_settle(&memory);
	ck_assert_uint_eq(memory.counts.guesses_tested, 0);
	ck_assert_uint_eq(memory.counts.guesses_covered, 0);
	ck_assert_uint_eq(memory.counts.guesses_wrong, 0);
	ck_assert_uint_eq(memory.counts.walks, 3);
	memory.counts.guesses_tested = 5;
	stack_memory_settle(&memory);
	ck_assert_uint_eq(memory.counts.guesses_tested, 5);
	stack_memory_settle(&untested);
	ck_assert_uint_eq(untested.counts.guesses_tested, 1);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("stack_memory");
	TCase *tcase = tcase_create("stack_memory");

	tcase_add_test(tcase, all_or_none);
	tcase_add_test(tcase, tests_of_a_trial);
	suite_add_tcase(suite, tcase);
	return run_suite(suite);
}
