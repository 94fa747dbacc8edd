/* What the formats make of tables. */
#include "tests/support/suite.h"
#include "tools/table/table.h"
#include "tools/table/table_format.h"
#include <check.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void expect_csv(const char *text, const char *expected)
{
	char *written = NULL;
	size_t size;
	FILE *stream = open_memstream(&written, &size);
	table_format_csv_field(text, stream);
	fclose(stream);
	ck_assert_str_eq(written, expected);
	free(written);
}

START_TEST(test_csv_quoting)
{
	expect_csv("", "");
	expect_csv("plain name", "plain name");
	expect_csv("a,b", "\"a,b\"");
	expect_csv("say \"hi\"", "\"say \"\"hi\"\"\"");
	expect_csv("two\nlines", "\"two\nlines\"");
	expect_csv("cr\r", "\"cr\r\"");
	expect_csv("\"", "\"\"\"\"");
}
END_TEST

/* A text that a spreadsheet would take for a formula is none behind an apostrophe, which can be
 * taken away again. */
START_TEST(test_csv_formulas)
{
	expect_csv("=1+1", "\"'=1+1\"");
	expect_csv("@SUM(1)", "\"'@SUM(1)\"");
	expect_csv("+1|cmd", "\"'+1|cmd\"");
	expect_csv("-1", "\"'-1\"");
	expect_csv("\t=1", "\"'\t=1\"");
	expect_csv("\r=1", "\"'\r=1\"");
	expect_csv("  =a,\"b\"", "\"  '=a,\"\"b\"\"\"");
	expect_csv("'=1", "\"''=1\"");
	expect_csv("'quoted'", "'quoted'");
	expect_csv("operator-", "operator-");
	expect_csv("-[Class method:with:]", "-[Class method:with:]");
	expect_csv("-[Class|cmd]", "\"'-[Class|cmd]\"");
	expect_csv("-[a]+[b]", "\"'-[a]+[b]\"");
	expect_csv("-[]", "\"'-[]\"");
	expect_csv("-", "\"'-\"");
}
END_TEST

static void expect_fit(const char *text, size_t width, const char *expected)
{
	char *fitted = table_format_fit(text, width);
	ck_assert_str_eq(fitted, expected);
	free(fitted);
}

START_TEST(test_text_fit)
{
	expect_fit("", 5, "");
	expect_fit("exact", 5, "exact");
	expect_fit("function_name", 0, "function_name");
	expect_fit("function_name", 9, "fun...ame");
	expect_fit("function_name", 10, "func...ame");
	expect_fit("function_name", 4, "f...");
	expect_fit("function_name", 3, "fun");
	expect_fit("\xc3\xa4\xc3\xb6\xc3\xbc\xc3\x9f\xc3\xa4\xc3\xb6", 5, "\xc3\xa4...\xc3\xb6");
	/* nothing that a terminal obeys */
	expect_fit("a\033[31mb\x7f\n\xc2\x9b", 0, "a\\x1b[31mb\\x7f\\x0a\\u009b");
	expect_fit("a\xe2\x80\xae"
		   "b",
		   0, "a\\u202eb");
	expect_fit("\033\033\033\033", 9, "\\x1...x1b");
}
END_TEST

/* Wide characters take two columns, combining ones none; what is not shown is escaped all the same.
 */
START_TEST(test_text_columns)
{
	ck_assert_ptr_nonnull(setlocale(LC_CTYPE, "C.UTF-8"));
	ck_assert_uint_eq(table_format_columns("\u51fd\u6570"), 4);
	ck_assert_uint_eq(table_format_columns("e\u0301\u00e9"), 2);
	ck_assert_uint_eq(table_format_columns("\u51fd\u202e\u200b"), 14);
	expect_fit("\u51fd\u6570\u540d\u79f0", 8, "\u51fd\u6570\u540d\u79f0");
	expect_fit("\u51fd\u6570\u540d\u79f0", 7, "\u51fd...\u79f0");
	expect_fit("\u51fd\u6570\u540d\u79f0", 6, "\u51fd...");
	expect_fit("\u51fd\u6570\u540d\u79f0", 3, "\u51fd");
	expect_fit("\u51fd\u202e", 8, "\u51fd\\u202e");
	ck_assert_ptr_nonnull(setlocale(LC_CTYPE, "C"));
	ck_assert_uint_eq(table_format_columns("\u51fd\u6570"), 2);
}
END_TEST

static const struct table_column two_columns[] = {
	{"Function", "function", TABLE_TREE, TABLE_ALL},
	{"Hidden", "hidden", TABLE_COUNT, TABLE_KEYED},
	{"CPU Time", "cpu_time_s", TABLE_SECONDS, TABLE_ALL},
};

static void expect_text(struct table *table, unsigned width, const char *expected)
{
	char *text = NULL;
	size_t size;
	FILE *stream = open_memstream(&text, &size);
	table_format_text(table, stream, width);
	fclose(stream);
	ck_assert_str_eq(text, expected);
	free(text);
}

START_TEST(test_text_width)
{
	struct table table;
	table_init(&table, two_columns, 3);
	struct table_cell *row = table_add_row(&table);
	row[0].text = "a_function_of_no_small_length";
	row[2].number = 1234567890;
	row = table_add_row(&table);
	row[0].text = "child";
	row[0].depth = 2;
	row[2].is_unknown = true;
	expect_text(&table, 0,
		    "CPU Time  Function\n"
		    " 1.235 s  a_function_of_no_small_length\n"
		    "           `-child\n");
	expect_text(&table, 30,
		    "CPU Time  Function\n"
		    " 1.235 s  a_functio...l_length\n"
		    "           `-child\n");
	/* no narrower than a name can bear */
	expect_text(&table, 1,
		    "CPU Time  Function\n"
		    " 1.235 s  a_fun...ngth\n"
		    "           `-child\n");
	row = table_add_row(&table);
	row[0].text = "deep_function";
	row[0].depth = 1000;
	expect_text(&table, 30,
		    "CPU Time  Function\n"
		    " 1.235 s  a_functio...l_length\n"
		    "           `-child\n"
		    " 0.000 s  1000> deep_function\n");
	table_finish(&table);
}
END_TEST

/* A line goes down to each next sibling. */
START_TEST(test_tree_lines)
{
	static const struct table_column columns[] = {
		{"Stack", "stack", TABLE_TREE, TABLE_ALL},
	};
	static const struct {
		const char *name;
		uint32_t depth;
	} nodes[] = {{"a", 0}, {"b", 1}, {"c", 2}, {"d", 3}, {"e", 2},
		     {"f", 1}, {"g", 2}, {"h", 0}, {"i", 1}, {"j", 2}};
	struct table table;
	table_init(&table, columns, 1);
	for (size_t i = 0; i < sizeof(nodes) / sizeof(nodes[0]); i++) {
		struct table_cell *row = table_add_row(&table);
		row[0].text = nodes[i].name;
		row[0].depth = nodes[i].depth;
	}
	expect_text(&table, 0, "Stack\na\n|-b\n||-c\n||`-d\n|`-e\n`-f\n `-g\nh\n`-i\n `-j\n");
	ck_assert_ptr_nonnull(setlocale(LC_CTYPE, "C.UTF-8"));
	expect_text(&table, 0,
		    "Stack\na\n\u251c b\n\u2502\u251c c\n\u2502\u2502\u2514 d\n"
		    "\u2502\u2514 e\n\u2514 f\n \u2514 g\nh\n\u2514 i\n \u2514 j\n");
	table_finish(&table);
}
END_TEST

START_TEST(test_drop_below)
{
	struct table table;
	static const struct table_column columns[] = {
		{"Name", "name", TABLE_NAME, TABLE_ALL},
		{"Share", "share", TABLE_SHARE, TABLE_ALL},
	};
	static const uint64_t shares[] = {1000, 999, 5000, 0};
	table_init(&table, columns, 2);
	for (size_t i = 0; i < sizeof(shares) / sizeof(shares[0]); i++)
		table_add_row(&table)[1].number = shares[i];
	ck_assert_uint_eq(table_drop_below(&table, 0), 0);
	ck_assert_uint_eq(table_drop_below(&table, 1000), 2);
	ck_assert_uint_eq(table.row_count, 2);
	ck_assert_uint_eq(table_row(&table, 1)[1].number, 5000);
	table_finish(&table);
	table_init(&table, columns, 1);
	table_add_row(&table);
	ck_assert_uint_eq(table_drop_below(&table, 1000), 0);
	table_finish(&table);
}
END_TEST

START_TEST(test_text_optional_columns)
{
	static const struct table_column columns[] = {
		{"Function", "function", TABLE_NAME, TABLE_ALL},
		{"Module", "module", TABLE_TEXT, TABLE_ALL | TABLE_OPTIONAL},
		{"Samples", "samples", TABLE_COUNT, TABLE_ALL},
		{"File", "file", TABLE_TEXT, TABLE_ALL | TABLE_OPTIONAL},
	};
	struct table table;
	table_init(&table, columns, 4);
	struct table_cell *row = table_add_row(&table);
	row[0].text = "a_long_function_name";
	row[1].text = "mod";
	row[2].number = 12;
	row[3].text = "f.c";
	expect_text(&table, 43,
		    "Samples  Module  File  Function\n"
		    "     12  mod     f.c   a_long_function_name\n");
	expect_text(&table, 42,
		    "Samples  Module  Function\n"
		    "     12  mod     a_long_function_name\n");
	expect_text(&table, 29,
		    "Samples  Function\n"
		    "     12  a_long_function_name\n");
	expect_text(&table, 25,
		    "Samples  Function\n"
		    "     12  a_long_...n_name\n");
	table_finish(&table);
}
END_TEST

/* Names are shortened before a figure is left out. */
START_TEST(test_text_optional_figures)
{
	static const struct table_column columns[] = {
		{"Function", "function", TABLE_NAME, TABLE_ALL},
		{"Samples", "samples", TABLE_COUNT, TABLE_ALL},
		{"Wrong", "wrong", TABLE_COUNT, TABLE_ALL | TABLE_OPTIONAL},
	};
	struct table table;
	table_init(&table, columns, 3);
	struct table_cell *row = table_add_row(&table);
	row[0].text = "a_long_function_name";
	row[1].number = 12;
	row[2].number = 3;
	expect_text(&table, 32,
		    "Samples  Wrong  Function\n"
		    "     12      3  a_long_...n_name\n");
	expect_text(&table, 31,
		    "Samples  Function\n"
		    "     12  a_long_function_name\n");
	table_finish(&table);
}
END_TEST

/* A path is cut, not left out, where it has room enough. */
START_TEST(test_text_optional_path)
{
	static const struct table_column columns[] = {
		{"Module", "module", TABLE_TEXT, TABLE_ALL},
		{"Path", "path", TABLE_NAME, TABLE_ALL | TABLE_OPTIONAL},
		{"Samples", "samples", TABLE_COUNT, TABLE_ALL},
	};
	struct table table;
	table_init(&table, columns, 3);
	struct table_cell *row = table_add_row(&table);
	row[0].text = "libc.so.6";
	row[1].text = "/usr/lib/x86_64-linux-gnu/libc.so.6";
	row[2].number = 12;
	expect_text(&table, 44,
		    "Samples  Module     Path\n"
		    "     12  libc.so.6  /usr/lib/x8.../libc.so.6\n");
	expect_text(&table, 43,
		    "Samples  Module\n"
		    "     12  libc.so.6\n");
	table_finish(&table);
}
END_TEST

START_TEST(test_shares)
{
	ck_assert_uint_eq(table_share(0, 0), 0);
	ck_assert_uint_eq(table_share(1, 3), 333333);
	ck_assert_uint_eq(table_share(UINT64_MAX, UINT64_MAX), 1000000);
}
END_TEST

static char *print_with(const struct table *table, const char *format)
{
	char *written = NULL;
	size_t size;
	FILE *stream = open_memstream(&written, &size);
	table_format_find(format)->print(table, stream, 0);
	fclose(stream);
	return written;
}

/* Errors are points of percent; text marks them, and leaves a column out that has none. */
START_TEST(test_errors)
{
	static const struct table_column columns[] = {{"CPU %", "share", TABLE_SHARE, TABLE_ALL},
						      {"+-", "error", TABLE_ERROR, TABLE_ALL},
						      {"None", "none", TABLE_ERROR, TABLE_ALL}};
	static const struct {
		const char *format;
		const char *text;
	} cases[] = {{"text", " CPU %     +-\n50.0 %   12.3\n 0.2 %  < 0.2\n 1.0 %       \n"},
		     {"csv",
		      "CPU %,\"'+-\",None\n0.500000,12.3456,\n0.002000,0.2000,\n0.010000,,\n"},
		     {"json", "[\n {\"share\":0.500000,\"error\":12.3456,\"none\":null},\n"
			      " {\"share\":0.002000,\"error\":0.2000,\"none\":null},\n"
			      " {\"share\":0.010000,\"error\":null,\"none\":null}\n]\n"}};
	struct table table;
	table_init(&table, columns, 3);
	for (size_t i = 0; i < 3; i++) {
		struct table_cell *row = table_add_row(&table);
		row[0].number = i == 0 ? 500000 : (i == 1 ? 2000 : 10000);
		row[1].number = i == 0 ? 123456 : 2000;
		row[1].text = i == 1 ? "< " : NULL;
		row[1].is_unknown = i == 2;
		row[2].is_unknown = true;
	}
	for (size_t i = 0; i < 3; i++) {
		char *text = print_with(&table, cases[i].format);
		ck_assert_str_eq(text, cases[i].text);
		free(text);
	}
	table_finish(&table);
}
END_TEST

/* VTune's own columns; each row a line whose spaces in front are its depth. */
START_TEST(test_vtune)
{
	static const struct table_column columns[] = {
		{"Function Stack", "function", TABLE_TREE, TABLE_ALL},
		{"CPU %", "share", TABLE_SHARE, TABLE_SHOWN | TABLE_KEYED},
		{"Share Std Error", "error", TABLE_ERROR, TABLE_ALL | TABLE_LATER},
		{"CPU Time:Self", "self", TABLE_SECONDS, TABLE_ALL},
		{"Module", "module", TABLE_TEXT, TABLE_ALL},
		{"CPU Time:Total", "", TABLE_SECONDS, TABLE_PLACED | TABLE_OURS},
	};
	static const char *const names[] = {"Total", "f(int, char)", "say \"hi\"", "  =two\nlines",
					    ""};
	struct table table;
	table_init(&table, columns, sizeof(columns) / sizeof(columns[0]));
	for (uint32_t i = 0; i < 5; i++) {
		struct table_cell *row = table_add_row(&table);
		row[0] = (struct table_cell){.text = names[i], .depth = i};
		row[3].number = i * UINT64_C(1500000000);
		row[4] = (struct table_cell){.text = "a.so", .is_unknown = i == 0};
	}
	char *text = print_with(&table, "vtune");
	ck_assert_str_eq(text, "Function Stack,CPU Time:Self,Module\n"
			       "Total,0.000000,[Unknown]\n"
			       " \"f(int, char)\",1.500000,a.so\n"
			       "  \"say \"\"hi\"\"\",3.000000,a.so\n"
			       "   =two?lines,4.500000,a.so\n"
			       "    [Unknown],6.000000,a.so\n");
	free(text);
	table_finish(&table);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("formats");
	TCase *formats = tcase_create("formats");
	tcase_set_timeout(formats, 60);
	tcase_add_test(formats, test_csv_quoting);
	tcase_add_test(formats, test_csv_formulas);
	tcase_add_test(formats, test_text_fit);
	tcase_add_test(formats, test_text_columns);
	tcase_add_test(formats, test_text_width);
	tcase_add_test(formats, test_tree_lines);
	tcase_add_test(formats, test_drop_below);
	tcase_add_test(formats, test_text_optional_columns);
	tcase_add_test(formats, test_text_optional_figures);
	tcase_add_test(formats, test_text_optional_path);
	tcase_add_test(formats, test_shares);
	tcase_add_test(formats, test_errors);
	tcase_add_test(formats, test_vtune);
	suite_add_tcase(suite, formats);
	return run_suite(suite);
}
