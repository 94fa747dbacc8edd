/* The parts of names of files with external data. */
#include "profile/base/external_name.h"
#include "tests/support/suite.h"
#include <check.h>
#include <string.h>

static const struct {
	const char *file;
	const char *stem;
	const char *host; /* NULL: no such parts */
} names[] = {
	{"phases-hostname-octagon53.csv", "phases", "octagon53"},
	{"a-hostname-b.c.csv", "a", "b.c"},
	{"-hostname-a.CSV", "", "a"},
	{"a-hostname-b-hostname-c.csv", "a-hostname-b", "c"},
	{"a-hostname-.csv", "a", ""},
	{"a-hostname-b", "a-hostname-b", NULL},
	{"a-hostname-b.tsv", "a-hostname-b.tsv", NULL},
	{"hostname-b.csv", "hostname-b", NULL},
	{"a.Csv", "a", NULL},
	{".csv", "", NULL},
	{"csv", "csv", NULL},
	{"", "", NULL},
};

START_TEST(split)
{
	struct profile_external_name parts;
	const char *host = names[_i].host;
	ck_assert_int_eq(profile_external_name_split(names[_i].file, &parts), host != NULL);
	ck_assert_uint_eq(parts.stem_length, strlen(names[_i].stem));
	ck_assert_int_eq(strncmp(names[_i].file, names[_i].stem, parts.stem_length), 0);
	ck_assert_uint_eq(parts.host_length, host ? strlen(host) : 0);
	ck_assert_int_eq(parts.host != NULL, host != NULL);
	if (host)
		ck_assert_int_eq(strncmp(parts.host, host, parts.host_length), 0);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("external name");
	TCase *cases = tcase_create("all");
	tcase_add_loop_test(cases, split, 0, (int)(sizeof(names) / sizeof(names[0])));
	suite_add_tcase(suite, cases);
	return run_suite(suite);
}
