/* Names of cold parts. */
#include "tests/support/suite.h"
#include "tools/names/cold_name.h"
#include <check.h>
#include <string.h>

START_TEST(test_cold_part_endings)
{
	static const struct {
		const char *name;
		const char *owner;
	} names[] = {
		{"foo.cold", "foo"},
		{"foo.cold.0", "foo"},
		{"foo.cold.17", "foo"},
		{"foo.part.0.cold", "foo.part.0"},
		{"foo() [clone .cold]", "foo()"},
		{"foo() [clone .isra.0] [clone .cold.3]", "foo() [clone .isra.0]"},
		{"foo", "foo"},
		{"", ""},
		{".cold", ".cold"},
		{"foo.colder", "foo.colder"},
		{"foo.cold.x", "foo.cold.x"},
		{"foo.constprop.0", "foo.constprop.0"},
		{"foo() [clone .constprop.0]", "foo() [clone .constprop.0]"},
		{"17", "17"},
		{"]", "]"},
		{"foo.cold.", "foo.cold."},
	};
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		size_t length = cold_name_owner_length(names[i].name);
		ck_assert_msg(length == strlen(names[i].owner) &&
				      strncmp(names[i].name, names[i].owner, length) == 0,
			      "%s: %zu", names[i].name, length);
	}
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("cold name");
	TCase *cases = tcase_create("all");
	tcase_set_timeout(cases, 60);
	tcase_add_test(cases, test_cold_part_endings);
	suite_add_tcase(suite, cases);
	return run_suite(suite);
}
