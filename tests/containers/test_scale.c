/* Numbers as parts of others, by both ways of division. */
#include "containers/scale.h"
#include "tests/support/suite.h"
#include <check.h>

static void expect_exact(uint64_t number, uint64_t part, uint64_t whole)
{
	unsigned __int128 product = (unsigned __int128)number * part;
	uint64_t rest;
	uint64_t quotient = scale_number(number, part, whole, &rest);
	ck_assert_uint_eq(quotient, (uint64_t)(product / whole));
	ck_assert_uint_eq(rest, (uint64_t)(product % whole));
}

/* Around multiples of the whole, where a guess is off by 1. */
START_TEST(test_multiples)
{
	static const uint64_t wholes[] =
		{1, 2, 3, 10000000, (UINT64_C(5) << 31) + 1, (UINT64_C(1) << 62) - 1};
	for (unsigned i = 0; i < sizeof(wholes) / sizeof(wholes[0]); i++) {
		for (unsigned bits = 0; bits < 63; bits++) {
			uint64_t number = UINT64_C(1) << bits;
			expect_exact(number - 1, wholes[i], wholes[i]);
			expect_exact(number, wholes[i], wholes[i]);
			expect_exact(number + 1, wholes[i] - 1, wholes[i]);
			expect_exact(number - 1, wholes[i] - 1, wholes[i]);
		}
	}
}
END_TEST

START_TEST(test_any)
{
	uint64_t state = 1;
	for (unsigned i = 0; i < 100000; i++) {
		uint64_t numbers[3];
		for (unsigned j = 0; j < 3; j++) {
			state = state * UINT64_C(6364136223846793005) + 1442695040888963407;
			numbers[j] = (state ^ state >> 29) >> (state >> 58);
		}
		/* part <= whole: the result fits */
		if (numbers[1] <= numbers[2] && numbers[2] > 0)
			expect_exact(numbers[0], numbers[1], numbers[2]);
	}
}
END_TEST

START_TEST(test_bounds)
{
	expect_exact(0, 0, 1);
	expect_exact(UINT64_MAX, 1, 1);
	expect_exact(UINT64_MAX, UINT64_MAX, UINT64_MAX);
	expect_exact(UINT64_MAX, UINT64_MAX - 1, UINT64_MAX);
	expect_exact(1, UINT64_MAX, UINT64_MAX);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("scale");
	TCase *cases = tcase_create("all");
	tcase_add_test(cases, test_multiples);
	tcase_add_test(cases, test_any);
	tcase_add_test(cases, test_bounds);
	suite_add_tcase(suite, cases);
	return run_suite(suite);
}
