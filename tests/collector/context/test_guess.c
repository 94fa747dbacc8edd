/* Guessed callers: only where whole stacks of the past leave no doubt. */
#include "collector/context/guess.h"
#include "tests/support/suite.h"
#include <check.h>
#include <string.h>

enum { STEP = 0x100, TOP = 0x100000, HITS = 4 /* that a guess needs */, AGE = 16 };

static struct guess *guess;
static struct uw_frame stack[UW_DEPTH_MAX];
static size_t depth;
static struct uw_frame callers[GUESS_DEPTH_MAX];
static uint8_t hits;

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

/* Often enough for guesses, but for one time. */
static void note_almost(const char *letters)
{
	for (int i = 1; i < HITS; i++)
		note(letters);
}

static void note_enough(const char *letters)
{
	note_almost(letters);
	note(letters);
}

/* The callers of the last one of the letters, if the copy ends at its stack pointer. */
static size_t callers_of(const char *letters)
{
	set_stack(letters);
	stack[0].exact = false;
	return guess_callers(guess, 1, &stack[0], stack[0].sp, callers, &hits);
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

START_TEST(stacks_agree)
{
	note_almost("abcdx");
	ck_assert_uint_eq(callers_of("abcd"), 0);
	note("abcey"); /* one that goes another way further in */
	ck_assert_uint_eq(callers_of("abcd"), 0);
	expect("abc");
	note("abcdz");
	ck_assert_uint_eq(callers_of("abcd"), 0); /* e was in d's place meanwhile */
	note_almost("abcdz");
	expect("abcd");
	ck_assert_uint_eq(callers_of("a"), 0); /* nothing is missing */
}
END_TEST

/* The same code elsewhere on the stack, other code at the same place. */
START_TEST(place_differs)
{
	note_enough("abcx");
	expect("abc");
	ck_assert_uint_eq(callers_of("aabc"), 0);
	ck_assert_uint_eq(callers_of("abd"), 0);
	set_stack("abcx");
	/* As the leaf, not as a caller: it was not seen so. */
	struct uw_frame leaf = stack[1];
	leaf.exact = true;
	ck_assert_uint_eq(guess_callers(guess, 1, &leaf, 0, callers, &hits), 0);
}
END_TEST

START_TEST(callers_disagree)
{
	note_enough("abcx");
	expect("abc");
	note("adcx");
	ck_assert_uint_eq(callers_of("abc"), 0);
	ck_assert_uint_eq(callers_of("adc"), 0);
	for (int i = 0; i < 10; i++)
		note("abcx");
	ck_assert_uint_eq(callers_of("abc"), 0); /* it stays open */
	expect("ab");                            /* which is not concerned */
}
END_TEST

/* Doubt about a caller is doubt about all that it calls. */
START_TEST(outer_callers_disagree)
{
	note_enough("abcdx");
	expect("abcd");
	note("aecy");
	ck_assert_uint_eq(callers_of("abcd"), 0);
}
END_TEST

/* c comes to be called by d, of which one stack was whole: with c at another place in its code. */
START_TEST(function_has_two_callers)
{
	note_enough("abcx");
	set_stack("adcy");
	stack[1].ip += 8;
	guess_note(guess, 1, stack, depth, 0);
	for (int i = 0; i < 10; i++)
		note("abcx");
	ck_assert_uint_eq(callers_of("abc"), 0);
	set_stack("adcy");
	stack[1].ip += 8;
	ck_assert_uint_eq(guess_callers(guess, 1, &stack[1], stack[1].sp, callers, &hits), 0);
	expect("ab");
}
END_TEST

/* Another function had its return address where one of the guess would lie. */
START_TEST(place_is_taken)
{
	note_enough("abcx");
	note("adey");
	ck_assert_uint_eq(callers_of("abc"), 0);
	note_almost("abcx");
	ck_assert_uint_eq(callers_of("abc"), 0);
	note("abcx");
	expect("abc");
	/* The same function, which called another one: it is still there. */
	set_stack("aby");
	stack[1].ip += 8;
	guess_note(guess, 1, stack, depth, 0);
	expect("abc");
}
END_TEST

/* So says a stack that was cut further out. Loop: how often the whole ones came. */
START_TEST(cut_stack_contradicts)
{
	for (int i = 0; i < (_i == 0 ? HITS : 300); i++)
		note("abcx");
	set_stack("abcx");
	stack[2].ip += 8; /* b called something else */
	guess_note_part(guess, 1, stack, depth);
	expect("abc");
	set_stack("adey");
	guess_note_part(guess, 2, stack, depth - 1); /* of other mappings */
	guess_note_part(guess, 1, stack, 0);
	guess_note_part(guess, 1, stack, 1);
	expect("abc");
	set_stack("adey");
	guess_note_part(guess, 1, stack, depth - 1);
	ck_assert_uint_eq(callers_of("abc"), 0);
	for (int i = 1; i < HITS; i++) {
		set_stack("abcx");
		guess_note(guess, 1, stack, depth, 3);
	}
	ck_assert_uint_eq(callers_of("abc"), 0);
	note("abcx");
	expect("abc");
}
END_TEST

static void grow_old(int stacks)
{
	for (int i = 0; i < stacks; i++)
		guess_grow_old(guess);
}

/* What was not seen any more is not guessed, in the last whole stack or in one before it. */
START_TEST(old_stacks)
{
	note_enough("abcx");
	grow_old(AGE);
	expect("abc");
	grow_old(1);
	ck_assert_uint_eq(callers_of("abc"), 0);
	note("aby");
	expect("ab");
	ck_assert_uint_eq(callers_of("abc"), 0);
	note("abcx");
	note("aby");
	grow_old(AGE);
	expect("abc");
	grow_old(1);
	ck_assert_uint_eq(callers_of("abc"), 0);
}
END_TEST

/* One stack ends where another goes on. */
START_TEST(roots_disagree)
{
	note_enough("abcx");
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
	note_enough(recursions[_i]);
	strcpy(letters, recursions[_i]);
	letters[strlen(letters) - 1] = '\0';
	ck_assert_uint_eq(callers_of(letters), 0);
}
END_TEST

/* The same function from two places in it is recursion too. */
START_TEST(recursion_by_function)
{
	for (int i = 0; i < HITS; i++) {
		set_stack("abcx");
		stack[2].function = stack[1].function;
		guess_note(guess, 1, stack, depth, 0);
	}
	ck_assert_uint_eq(guess_callers(guess, 1, &stack[1], stack[1].sp, callers, &hits), 0);
	ck_assert_uint_eq(guess_callers(guess, 1, &stack[2], stack[2].sp, callers, &hits), 1);
	/* In another module the same address is another function. */
	for (int i = 0; i < HITS; i++) {
		set_stack("defx");
		stack[2].function = stack[1].function;
		stack[2].tag = 2;
		guess_note(guess, 1, stack, depth, 0);
	}
	ck_assert_uint_eq(guess_callers(guess, 1, &stack[1], stack[1].sp, callers, &hits), 2);
}
END_TEST

START_TEST(mappings_changed)
{
	note_enough("abcx");
	set_stack("abcx");
	ck_assert_uint_eq(guess_callers(guess, 2, &stack[1], stack[1].sp, callers, &hits), 0);
	guess_note(guess, 2, stack, depth, 3); /* what is reused was forgotten too */
	ck_assert_uint_eq(guess_callers(guess, 2, &stack[1], stack[1].sp, callers, &hits), 0);
	for (int i = 1; i < HITS; i++)
		guess_note(guess, 2, stack, depth, 3);
	ck_assert_uint_eq(guess_callers(guess, 2, &stack[1], stack[1].sp, callers, &hits), 2);
}
END_TEST

/* The copy holds the return address, and it was another one. */
START_TEST(copy_contradicts)
{
	note_enough("abcx");
	set_stack("abcx");
	ck_assert_uint_eq(guess_callers(guess, 1, &stack[1], stack[2].sp - 1, callers, &hits), 2);
	ck_assert_uint_eq(guess_callers(guess, 1, &stack[1], stack[2].sp, callers, &hits), 0);
}
END_TEST

/* Reused frames are those of the stack before, and count as often as their stacks came. */
START_TEST(reused_frames)
{
	note("abcdx");
	note("abcdx");
	note("abcdx");
	set_stack("????y");
	stack[0] = make_frame('y', TOP - 4 * STEP);
	guess_note(guess, 1, stack, depth, 4); /* a, b, c, d are not looked at */
	expect("abcd");
	guess_note(guess, 1, stack, depth, 1000);
	expect("abcd");
	set_stack("abez");
	guess_note(guess, 1, stack, depth, 2);
	ck_assert_uint_eq(callers_of("abe"), 0);
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
	for (int i = 0; i < HITS; i++) {
		set_deep_stack(UW_DEPTH_MAX, 0);
		guess_note(guess, 1, stack, depth, 0);
	}
	for (size_t i = 0; i < depth; i++) {
		size_t above = depth - 1 - i;
		size_t count = guess_callers(guess, 1, &stack[i], stack[i].sp, callers, &hits);
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
		for (int i = 1; i < HITS; i++)
			guess_note(guess, 1, stack, depth, 150);
		ck_assert_uint_eq(guess_callers(guess, 1, &stack[9], stack[9].sp, callers, &hits),
				  190);
		ck_assert_mem_eq(callers, stack + 10, 190 * sizeof(*callers));
	}
	set_deep_stack(200, 1);
	ck_assert_uint_eq(guess_callers(guess, 1, &stack[9], stack[9].sp, callers, &hits), 0);
}
END_TEST

/* Stack pointers of no order, and the same place twice. */
START_TEST(hostile_stack)
{
	uint64_t random = 1;
	for (int round = 0; round < 2000; round++) {
		depth = 1 + (size_t)(random >> 33) % 600;
		for (size_t i = 0; i < depth; i++) {
			random = random * 6364136223846793005u + 1442695040888963407u;
			stack[i] = (struct uw_frame){.ip = random >> 62, .sp = random >> 60 & 3};
			if (round % 3 == 0)
				stack[i].sp = random;
		}
		guess_note_cut(guess, random);
		guess_note_part(guess, 1, stack, depth);
		if (round % 5 == 0)
			guess_grow_old(guess);
		uint64_t cut = guess_choose_cut(guess, stack, depth, random >> 60 & 3);
		guess_test(guess, 1, stack, depth, cut);
		guess_test(guess, 1, stack, depth, random);
		guess_note(guess, 1, stack, depth, (size_t)(random >> 40) % 700);
		ck_assert_uint_le(guess_callers(guess, 1, &stack[depth / 2], 0, callers, &hits),
				  GUESS_DEPTH_MAX);
	}
}
END_TEST

/* The stack's copy ends right at the stack pointer of the letter. */
static enum guess_result test_cut_at(const char *letters, char letter)
{
	set_stack(letters);
	return guess_test(guess, 1, stack, depth,
			  TOP - (uint64_t)(strchr(letters, letter) - letters) * STEP);
}

START_TEST(self_test)
{
	ck_assert_int_eq(test_cut_at("abcdefg", 'd'), GUESS_NONE);
	note_almost("abcdefg");
	ck_assert_int_eq(test_cut_at("abcdefg", 'd'), GUESS_NONE);
	note("abcdefg");
	ck_assert_int_eq(test_cut_at("abcdefg", 'd'), GUESS_RIGHT);
	ck_assert_int_eq(test_cut_at("abcdefg", 'f'), GUESS_RIGHT);
	/* What is hidden has another frame. */
	ck_assert_int_eq(test_cut_at("axcdefg", 'd'), GUESS_WRONG);
	/* It is in sight. */
	ck_assert_int_eq(test_cut_at("axcdefg", 'b' - 1), GUESS_NOT_TESTED);
	/* One frame too many is guessed. */
	set_stack("abcdefg");
	ck_assert_int_eq(guess_test(guess, 1, stack, depth - 1, stack[2].sp), GUESS_WRONG);
	ck_assert_int_eq(guess_test(guess, 1, stack, 1, stack[0].sp), GUESS_NOT_TESTED);
	ck_assert_int_eq(guess_test(guess, 1, stack, 0, 0), GUESS_NOT_TESTED);
	ck_assert_int_eq(guess_test(guess, 2, stack, depth, stack[2].sp), GUESS_NONE);
}
END_TEST

/* Half way at first, then at the places where copies ended, as far as they lie inside the stack. */
START_TEST(places_to_cut)
{
	set_stack("abcde");
	uint64_t base = stack[0].sp;
	ck_assert(!guess_has_cut(guess));
	ck_assert_uint_eq(guess_choose_cut(guess, stack, depth, base), base + 2 * STEP);
	guess_note_cut(guess, TOP); /* nothing would be hidden */
	ck_assert(guess_has_cut(guess));
	ck_assert_uint_eq(guess_choose_cut(guess, stack, depth, base), 0);
	guess_note_cut(guess, base); /* nothing would be left */
	ck_assert_uint_eq(guess_choose_cut(guess, stack, depth, base), 0);
	guess_note_cut(guess, base + 8);
	guess_note_cut(guess, TOP - 8);
	for (int i = 0; i < 4; i++) /* each in its turn */
		ck_assert_uint_eq(guess_choose_cut(guess, stack, depth, base) +
					  guess_choose_cut(guess, stack, depth, base),
				  base + TOP);
	ck_assert_uint_eq(guess_choose_cut(guess, stack, depth, TOP), 0);
	ck_assert_uint_eq(guess_choose_cut(guess, stack, 0, base), 0);
	/* Old places make room for new ones. */
	for (int i = 0; i < 16; i++)
		guess_note_cut(guess, base + 16);
	for (int i = 0; i < 20; i++)
		ck_assert_uint_eq(guess_choose_cut(guess, stack, depth, base), base + 16);
}
END_TEST

/* A guess is as strong as the frame that the fewest whole stacks had. */
START_TEST(hits_are_counted)
{
	for (int i = 0; i < 7; i++)
		note("abcx");
	note_enough("aby");
	expect("abc");
	ck_assert_uint_eq(hits, 7);
	expect("ab");
	ck_assert_uint_eq(hits, 11);
	/* Reused frames are hit too. */
	set_stack("abcx");
	guess_note(guess, 1, stack, depth, 2);
	expect("abc");
	ck_assert_uint_eq(hits, 8);
	for (int i = 0; i < 300; i++)
		note("aby");
	expect("ab");
	ck_assert_uint_eq(hits, UINT8_MAX);
	expect("abc");
	ck_assert_uint_eq(hits, 8);
	note("abcx");
	expect("abc");
	ck_assert_uint_eq(hits, 9);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("guess");
	TCase *tcase = tcase_create("guess");

	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_add_test(tcase, nothing_is_known);
	tcase_add_test(tcase, stacks_agree);
	tcase_add_test(tcase, place_differs);
	tcase_add_test(tcase, callers_disagree);
	tcase_add_test(tcase, outer_callers_disagree);
	tcase_add_test(tcase, function_has_two_callers);
	tcase_add_test(tcase, place_is_taken);
	tcase_add_loop_test(tcase, cut_stack_contradicts, 0, 2);
	tcase_add_test(tcase, old_stacks);
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
	tcase_add_test(tcase, places_to_cut);
	tcase_add_test(tcase, hits_are_counted);
	suite_add_tcase(suite, tcase);
	return run_suite(suite);
}
