/* Probabilities, against tables. */
#include "tests/support/suite.h"
#include "tools/diff/chance.h"
#include <check.h>
#include <math.h>

static void expect(double seen, double expected)
{
	ck_assert_msg(fabs(seen - expected) < 1e-6 + 1e-4 * expected, "%.8g, %.8g expected", seen,
		      expected);
}

START_TEST(test_normal)
{
	expect(chance_normal(0), 0.5);
	expect(chance_normal(1.959964), 0.025);
	expect(chance_normal(-1.959964), 0.975);
	expect(chance_normal(4), 3.16712e-5);
}
END_TEST

/* Abramowitz and Stegun, table 26.10. */
START_TEST(test_student)
{
	expect(chance_student(0, 3), 0.5);
	expect(chance_student(1, 1), 0.25);
	expect(chance_student(12.7062, 1), 0.025);
	expect(chance_student(4.302653, 2), 0.025);
	expect(chance_student(-4.302653, 2), 0.975);
	expect(chance_student(3.169273, 10), 0.005);
	expect(chance_student(2.326348, 1e6), 0.01);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("chance");
	TCase *chance = tcase_create("chance");
	tcase_add_test(chance, test_normal);
	tcase_add_test(chance, test_student);
	suite_add_tcase(suite, chance);
	return run_suite(suite);
}
