/* Functions of the kernel by its own list. */
#include "tests/support/suite.h"
#include "tools/symbols/kallsyms.h"
#include <check.h>
#include <stdio.h>

START_TEST(test_kallsyms)
{
	struct symbol_address addresses[] = {{.rva = 0x0fff},
					     {.rva = 0x1004},
					     {.rva = 0x2010},
					     {.rva = 0x2020},
					     {.rva = 0x900000}};
	char text[] = "0000000000002018 t second\t[module]\n"
		      "0000000000001000 T first\n"
		      "0000000000002000 D data\n"
		      "0000000000000000 T hidden\n"
		      "0000000000001008 t after\n"
		      "nonsense\n"
		      "00000000000010\n"
		      "0000000000001001 T \n";
	FILE *stream = fmemopen(text, sizeof(text) - 1, "r");
	ck_assert_ptr_nonnull(stream);
	kallsyms_read(stream, addresses, 5);
	fclose(stream);
	ck_assert_ptr_null(addresses[0].function.name);
	ck_assert_str_eq(addresses[1].function.name, "first");
	ck_assert_uint_eq(addresses[1].function.start, 0x1000);
	ck_assert_str_eq(addresses[2].function.name, "after");
	ck_assert_str_eq(addresses[3].function.name, "second");
	/* too far from any symbol */
	ck_assert_ptr_null(addresses[4].function.name);
	for (size_t i = 0; i < 5; i++)
		symbol_address_finish(&addresses[i]);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("kallsyms");
	TCase *cases = tcase_create("all");
	tcase_set_timeout(cases, 60);
	tcase_add_test(cases, test_kallsyms);
	suite_add_tcase(suite, cases);
	return run_suite(suite);
}
