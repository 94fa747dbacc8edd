/* Guessed callers: only where whole stacks of the past leave no doubt. */
#include "collector/guess.h"

#include <check.h>
#include <string.h>

enum { STEP = 0x100, TOP = 0x100000 };

static struct guess *guess;
static struct uw_frame stack[UW_DEPTH_MAX];
static size_t depth;
static struct uw_frame callers[GUESS_DEPTH_MAX];

static void setup(void)
{
	guess = guess_create();
	ck_assert_ptr_nonnull(guess);
}

static void teardown(void)
{
	guess_destroy(guess);
}

static struct uw_frame make_frame(char letter, uint64_t sp)
{
	return (struct uw_frame){
		.ip = (uint64_t)letter * 0x1000,
		.rva = (uint64_t)letter * 0x1000 - 1,
		.function = (uint64_t)letter * 0x1000 - 0x10,
		.sp = sp,
		.tag = 1,
	};
}

/* A stack written root first, a letter per frame, each with STEP bytes. */
static void set_stack(const char *letters)
{
	depth = strlen(letters);
	for (size_t i = 0; i < depth; i++)
		stack[depth - 1 - i] = make_frame(letters[i], TOP - i * STEP);
	stack[0].exact = true;
}

static void note(const char *letters)
{
	set_stack(letters);
	guess_note(guess, 1, stack, depth, 0);
}

/* The callers of the last one of the letters, if the copy ends at its stack pointer. */
static size_t callers_of(const char *letters)
{
	set_stack(letters);
	stack[0].exact = false;
	return guess_callers(guess, 1, &stack[0], stack[0].sp, callers);
}

static void expect(const char *letters)
{
	size_t count = callers_of(letters);
	ck_assert_uint_eq(count, depth - 1);
	ck_assert_mem_eq(callers, stack + 1, count * sizeof(*callers));
}

START_TEST(nothing_is_known)
{
	ck_assert_uint_eq(callers_of("abc"), 0);
}
END_TEST

START_TEST(two_stacks_agree)
{
	note("abcdx");
	ck_assert_uint_eq(callers_of("abcd"), 0);
	note("abcey"); /* one that goes another way further in */
	ck_assert_uint_eq(callers_of("abcd"), 0);
	expect("abc");
	note("abcdz");
	expect("abcd");
	ck_assert_uint_eq(callers_of("a"), 0); /* nothing is missing */
}
END_TEST

/* The same code elsewhere on the stack, other code at the same place. */
START_TEST(place_differs)
{
	note("abcx");
	note("abcx");
	expect("abc");
	ck_assert_uint_eq(callers_of("aabc"), 0);
	ck_assert_uint_eq(callers_of("abd"), 0);
	set_stack("abcx");
	/* As the leaf, not as a caller: it was not seen so. */
	struct uw_frame leaf = stack[1];
	leaf.exact = true;
	ck_assert_uint_eq(guess_callers(guess, 1, &leaf, 0, callers), 0);
}
END_TEST

START_TEST(callers_disagree)
{
	note("abcx");
	note("abcx");
	expect("abc");
	note("adcx");
	ck_assert_uint_eq(callers_of("abc"), 0);
	ck_assert_uint_eq(callers_of("adc"), 0);
	expect("ab"); /* which is not concerned */
	for (int i = 0; i < 10; i++)
		note("abcx");
	ck_assert_uint_eq(callers_of("abc"), 0); /* it stays open */
}
END_TEST

/* Doubt about a caller is doubt about all that it calls. */
START_TEST(outer_callers_disagree)
{
	note("abcdx");
	note("abcdx");
	expect("abcd");
	note("aecy");
	ck_assert_uint_eq(callers_of("abcd"), 0);
}
END_TEST

/* One stack ends where another goes on. */
START_TEST(roots_disagree)
{
	note("abcx");
	note("abcx");
	set_stack("abcx");
	guess_note(guess, 1, stack, depth - 1, 0);
	ck_assert_uint_eq(callers_of("abc"), 0);
}
END_TEST

/* The last letter is left out of the question. */
static const char *const recursions[] = {"abbx", "abcbx", "aabx", "abcabcx", "abbcx"};

START_TEST(recursion)
{
	char letters[16];
	for (int i = 0; i < 5; i++)
		note(recursions[_i]);
	strcpy(letters, recursions[_i]);
	letters[strlen(letters) - 1] = '\0';
	ck_assert_uint_eq(callers_of(letters), 0);
}
END_TEST

/* The same function from two places in it is recursion too. */
START_TEST(recursion_by_function)
{
	for (int i = 0; i < 3; i++) {
		set_stack("abcx");
		stack[2].function = stack[1].function;
		guess_note(guess, 1, stack, depth, 0);
	}
	ck_assert_uint_eq(guess_callers(guess, 1, &stack[1], stack[1].sp, callers), 0);
	ck_assert_uint_eq(guess_callers(guess, 1, &stack[2], stack[2].sp, callers), 1);
	/* In another module the same address is another function. */
	for (int i = 0; i < 3; i++) {
		set_stack("defx");
		stack[2].function = stack[1].function;
		stack[2].tag = 2;
		guess_note(guess, 1, stack, depth, 0);
	}
	ck_assert_uint_eq(guess_callers(guess, 1, &stack[1], stack[1].sp, callers), 2);
}
END_TEST

START_TEST(mappings_changed)
{
	note("abcx");
	note("abcx");
	set_stack("abcx");
	ck_assert_uint_eq(guess_callers(guess, 2, &stack[1], stack[1].sp, callers), 0);
	guess_note(guess, 2, stack, depth, 3); /* what is reused was forgotten too */
	ck_assert_uint_eq(guess_callers(guess, 2, &stack[1], stack[1].sp, callers), 0);
	guess_note(guess, 2, stack, depth, 3);
	ck_assert_uint_eq(guess_callers(guess, 2, &stack[1], stack[1].sp, callers), 2);
}
END_TEST

/* The copy holds the return address, and it was another one. */
START_TEST(copy_contradicts)
{
	note("abcx");
	note("abcx");
	set_stack("abcx");
	ck_assert_uint_eq(guess_callers(guess, 1, &stack[1], stack[2].sp - 1, callers), 2);
	ck_assert_uint_eq(guess_callers(guess, 1, &stack[1], stack[2].sp, callers), 0);
}
END_TEST

/* Reused frames are those of the stack before, and count as often as their stacks came. */
START_TEST(reused_frames)
{
	note("abcdx");
	set_stack("????y");
	stack[0] = make_frame('y', TOP - 4 * STEP);
	guess_note(guess, 1, stack, depth, 4); /* a, b, c, d are not looked at */
	expect("abcd");
	set_stack("abez");
	guess_note(guess, 1, stack, depth, 2);
	ck_assert_uint_eq(callers_of("abe"), 0);
	guess_note(guess, 1, stack, depth, 1000);
	expect("abcd");
	ck_assert_uint_eq(callers_of("abez"), 0);
}
END_TEST

static void set_deep_stack(size_t frames, uint64_t seed)
{
	depth = frames;
	for (size_t i = 0; i < depth; i++)
		stack[depth - 1 - i] = (struct uw_frame){.ip = 0x1000 * i + seed,
							 .function = 0x1000 * i + seed + 1,
							 .sp = TOP - i * 16};
}

/* Only the outer frames of a deep stack are remembered. */
START_TEST(deepest_stack)
{
	for (int i = 0; i < 3; i++) {
		set_deep_stack(UW_DEPTH_MAX, 0);
		guess_note(guess, 1, stack, depth, 0);
	}
	for (size_t i = 0; i < depth; i++) {
		size_t above = depth - 1 - i;
		size_t count = guess_callers(guess, 1, &stack[i], stack[i].sp, callers);
		ck_assert_uint_eq(count, above < GUESS_DEPTH_MAX ? above : 0);
	}
}
END_TEST

/* Full, it starts afresh: old stacks are forgotten, new ones are learnt. */
START_TEST(many_stacks)
{
	for (uint64_t seed = 0; seed < 500; seed++) {
		set_deep_stack(200, 1 + seed * 0x1000000);
		guess_note(guess, 1, stack, depth, 0);
		guess_note(guess, 1, stack, depth, 150);
		ck_assert_uint_eq(guess_callers(guess, 1, &stack[9], stack[9].sp, callers), 190);
		ck_assert_mem_eq(callers, stack + 10, 190 * sizeof(*callers));
	}
	set_deep_stack(200, 1);
	ck_assert_uint_eq(guess_callers(guess, 1, &stack[9], stack[9].sp, callers), 0);
}
END_TEST

/* Stack pointers of no order, and the same place twice. */
START_TEST(hostile_stack)
{
	struct guess_counts counts = {0};
	uint64_t random = 1;
	for (int round = 0; round < 2000; round++) {
		depth = 1 + (size_t)(random >> 33) % 600;
		for (size_t i = 0; i < depth; i++) {
			random = random * 6364136223846793005u + 1442695040888963407u;
			stack[i] = (struct uw_frame){.ip = random >> 62, .sp = random >> 60 & 3};
			if (round % 3 == 0)
				stack[i].sp = random;
		}
		guess_test(guess, 1, stack, depth, random, &counts);
		guess_note(guess, 1, stack, depth, (size_t)(random >> 40) % 700);
		ck_assert_uint_le(guess_callers(guess, 1, &stack[depth / 2], 0, callers),
				  GUESS_DEPTH_MAX);
	}
	ck_assert_uint_le(counts.covered, counts.tested);
	ck_assert_uint_le(counts.wrong, counts.covered);
}
END_TEST

static void expect_counts(const struct guess_counts *counts, uint64_t tested, uint64_t covered,
			  uint64_t wrong)
{
	ck_assert_uint_eq(counts->tested, tested);
	ck_assert_uint_eq(counts->covered, covered);
	ck_assert_uint_eq(counts->wrong, wrong);
}

START_TEST(self_test)
{
	struct guess_counts counts = {0};
	set_stack("abcdefg");
	uint64_t base = stack[0].sp;
	guess_test(guess, 1, stack, depth, base, &counts);
	expect_counts(&counts, 1, 0, 0);
	note("abcdefg");
	note("abcdefg");
	guess_test(guess, 1, stack, depth, base, &counts);
	expect_counts(&counts, 2, 1, 0);
	/* The half that is hidden begins with b. */
	set_stack("abcdefg");
	stack[5] = make_frame('x', stack[5].sp);
	guess_test(guess, 1, stack, depth, base, &counts);
	expect_counts(&counts, 3, 2, 1);
	set_stack("abcdefg");
	guess_test(guess, 1, stack, depth - 1, base, &counts); /* one frame too many is guessed */
	expect_counts(&counts, 4, 3, 2);
	guess_test(guess, 1, stack, 1, base, &counts); /* nothing to hide */
	expect_counts(&counts, 4, 3, 2);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("guess");
	TCase *tcase = tcase_create("guess");
	SRunner *runner = srunner_create(suite);

	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_add_test(tcase, nothing_is_known);
	tcase_add_test(tcase, two_stacks_agree);
	tcase_add_test(tcase, place_differs);
	tcase_add_test(tcase, callers_disagree);
	tcase_add_test(tcase, outer_callers_disagree);
	tcase_add_test(tcase, roots_disagree);
	tcase_add_loop_test(tcase, recursion, 0, (int)(sizeof(recursions) / sizeof(recursions[0])));
	tcase_add_test(tcase, recursion_by_function);
	tcase_add_test(tcase, mappings_changed);
	tcase_add_test(tcase, copy_contradicts);
	tcase_add_test(tcase, reused_frames);
	tcase_add_test(tcase, deepest_stack);
	tcase_add_test(tcase, many_stacks);
	tcase_add_test(tcase, hostile_stack);
	tcase_add_test(tcase, self_test);
	suite_add_tcase(suite, tcase);
	srunner_run_all(runner, CK_ENV);
	int failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed != 0;
}
