/* Writes hostile_result.h's result for tests of the tools as programs. Usage: write_hostile FILE */
#include "tests/support/suite.h"
#include "tests/tools/export/hostile_result.h"

static const char *path;

START_TEST(write)
{
	hostile_result_write(path);
}
END_TEST

int main(int argc, char **argv)
{
	Suite *suite = suite_create("write hostile");
	TCase *cases = tcase_create("all");
	if (argc != 2)
		return 2;
	path = argv[1];
	tcase_add_test(cases, write);
	suite_add_tcase(suite, cases);
	return run_suite(suite);
}
