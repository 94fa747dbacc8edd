/* Rows in the order of a column. */
#include "tests/support/suite.h"
#include "tools/table/table.h"
#include <check.h>
#include <stdlib.h>
#include <string.h>

enum { NAME, COUNT, REAL, CHANGE, HIDDEN, ERROR, COLUMNS };

static const struct table_column columns[COLUMNS] = {
	[NAME] = {"Function (Full)", "function_full", TABLE_TREE, TABLE_ALL},
	[COUNT] = {"CPU Time", "cpu_time_s", TABLE_SECONDS, TABLE_ALL},
	[REAL] = {"p Value", "p_value", TABLE_REAL, TABLE_DATA},
	[CHANGE] = {"Change", "change", TABLE_CHANGE, TABLE_ALL},
	[ERROR] = {"Error", "error", TABLE_ERROR, TABLE_ALL},
	[HIDDEN] = {"None", "none", TABLE_COUNT, 0},
};

static struct table table;

static void set_up(void)
{
	table_init(&table, columns, COLUMNS);
}

static void tear_down(void)
{
	table_finish(&table);
}

static void add(const char *name, uint32_t depth, uint64_t count, double real, int64_t change)
{
	struct table_cell *row = table_add_row(&table);
	row[NAME].text = name;
	row[NAME].depth = depth;
	row[COUNT].number = count;
	table_set_real(&row[REAL], real);
	row[CHANGE].number = (uint64_t)change;
}

/* The names of all rows in their order are the words. */
static void expect_order(size_t fixed, size_t column, bool is_ascending, const char *words)
{
	char found[256] = "";
	table_sort(&table, fixed, column, is_ascending);
	for (size_t i = 0; i < table.row_count; i++) {
		strcat(found, i ? " " : "");
		strcat(found, table_row(&table, i)[NAME].text);
	}
	ck_assert_str_eq(found, words);
}

START_TEST(names_of_columns)
{
	ck_assert_uint_eq(table_find_column(&table, "CPU Time"), COUNT);
	ck_assert_uint_eq(table_find_column(&table, "cpu-time"), COUNT);
	ck_assert_uint_eq(table_find_column(&table, "cpu_time"), COUNT);
	ck_assert_uint_eq(table_find_column(&table, "CPU_TIME_S"), COUNT);
	ck_assert_uint_eq(table_find_column(&table, "p value"), REAL);
	ck_assert_uint_eq(table_find_column(&table, "function-full"), NAME);
	ck_assert_uint_eq(table_find_column(&table, "+-"), ERROR);
	const char *const none[] = {"", "CPU", "CPU Times", "none", "_s", "\xff"};
	for (size_t i = 0; i < sizeof(none) / sizeof(none[0]); i++)
		ck_assert_msg(table_find_column(&table, none[i]) == SIZE_MAX, "%s", none[i]);
	const char **titles = table_titles(&table);
	ck_assert_str_eq(titles[0], "Function (Full)");
	ck_assert_str_eq(titles[3], "Change");
	ck_assert_str_eq(titles[4], "Error");
	ck_assert_ptr_null(titles[5]);
	free(titles);
}
END_TEST

START_TEST(flat)
{
	expect_order(0, COUNT, false, "");
	add("one", 0, 2, 0.5, -3);
	expect_order(0, COUNT, false, "one");
	add("two", 0, UINT64_MAX, -1e-9, 4);
	add("three", 0, 2, 1e9, INT64_MIN);
	add("four", 0, 0, 0.0 / 0.0, 0);
	expect_order(0, COUNT, false, "two one three four");
	expect_order(0, COUNT, true, "four one three two");
	expect_order(0, REAL, true, "two one three four"); /* what is unknown comes last */
	expect_order(0, REAL, false, "three one two four");
	expect_order(0, CHANGE, true, "three one four two");
	expect_order(0, NAME, true, "four one three two");
	expect_order(1, NAME, false, "four two three one");
	expect_order(4, COUNT, true, "four two three one");
}
END_TEST

/* Siblings change places with all that is below them. */
START_TEST(tree)
{
	add("Total", 0, 9, 0, 0);
	add("b", 1, 1, 0, 0);
	add("b1", 2, 5, 0, 0);
	add("b2", 2, 7, 0, 0);
	add("b2x", 3, 8, 0, 0);
	add("a", 1, 2, 0, 0);
	add("a1", 2, 1, 0, 0);
	add("Last", 0, 10, 0, 0);
	expect_order(0, COUNT, false, "Last Total a a1 b b2 b2x b1");
	expect_order(0, COUNT, true, "Total b b1 b2 b2x a a1 Last");
	expect_order(0, NAME, true, "Last Total a a1 b b1 b2 b2x");
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("table_sort");
	TCase *cases = tcase_create("table_sort");
	tcase_add_checked_fixture(cases, set_up, tear_down);
	tcase_add_test(cases, names_of_columns);
	tcase_add_test(cases, flat);
	tcase_add_test(cases, tree);
	suite_add_tcase(suite, cases);
	return run_suite(suite);
}
