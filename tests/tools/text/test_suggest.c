/* What is said of names that there are not. */
#include "tests/support/suite.h"
#include "tools/text/suggest.h"
#include <check.h>
#include <stdlib.h>

static const struct {
	const char *name;
	const char *advice;
} nears[] = {
	{"import", "see --help"}, /* export is another thing, not a slip */
	{"exprot", "did you mean export?"},
	{"xeport", "did you mean export?"},
	{"Compare_Numbers", "did you mean compare_numbers or std::compare_numbers<int>?"},
	{"numbers", "did you mean compare_numbers, std::compare_numbers<int> or sort_numbers?"},
	{"", "see --help"},
};

START_TEST(test_near)
{
	static const char *const all[] = {"export",
					  "compare_numbers",
					  "compare_numbers",
					  "std::compare_numbers<int>",
					  "sort_numbers",
					  "more_numbers",
					  NULL};
	char *advice = suggest_advise(nears[_i].name, all, "--help");
	ck_assert_str_eq(advice, nears[_i].advice);
	free(advice);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("near");
	TCase *cases = tcase_create("all");
	tcase_set_timeout(cases, 60);
	tcase_add_loop_test(cases, test_near, 0, (int)(sizeof(nears) / sizeof(nears[0])));
	suite_add_tcase(suite, cases);
	return run_suite(suite);
}
