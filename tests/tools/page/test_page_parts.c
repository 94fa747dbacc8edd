/* The parts of a page's data: numbers, base64, cells of time and the sums in them. */
#include "tests/support/suite.h"
#include "tools/page/page_base64.h"
#include "tools/page/page_cells.h"
#include "tools/page/page_columns.h"
#include "tools/page/page_time.h"
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The vectors of RFC 4648, section 10. */
static const char *const base64[][2] = {
	{"", ""},
	{"f", "Zg=="},
	{"fo", "Zm8="},
	{"foo", "Zm9v"},
	{"foob", "Zm9vYg=="},
	{"fooba", "Zm9vYmE="},
	{"foobar", "Zm9vYmFy"},
};

START_TEST(test_base64)
{
	char *text = NULL;
	size_t size = 0;
	FILE *stream = open_memstream(&text, &size);
	page_base64_write((const uint8_t *)base64[_i][0], strlen(base64[_i][0]), stream);
	fclose(stream);
	ck_assert_str_eq(text, base64[_i][1]);
	free(text);
}
END_TEST

/* More than the writer keeps at once. */
START_TEST(test_long_base64)
{
	uint8_t zeros[9002] = {0};
	char *text = NULL;
	size_t size = 0;
	FILE *stream = open_memstream(&text, &size);
	page_base64_write(zeros, sizeof(zeros), stream);
	fclose(stream);
	ck_assert_uint_eq(size, (sizeof(zeros) + 2) / 3 * 4);
	ck_assert_uint_eq(strspn(text, "A"), size - 1);
	ck_assert_str_eq(text + size - 2, "A=");
	free(text);
}
END_TEST

START_TEST(test_columns)
{
	static const uint8_t numbers[] = {0,    0x7f, 0x80, 1,    0xff, 0xff, 0xff,
					  0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1};
	/* 5, 3, 3: +5, -2, 0 */
	static const uint8_t differences[] = {10, 3, 0};
	struct page_columns columns = {0};
	const struct page_column *column = &columns.columns[PAGE_SAMPLE_NS];
	page_columns_add(&columns, PAGE_SAMPLE_NS, 0);
	page_columns_add(&columns, PAGE_SAMPLE_NS, 127);
	page_columns_add(&columns, PAGE_SAMPLE_NS, 128);
	page_columns_add(&columns, PAGE_SAMPLE_NS, UINT64_MAX);
	ck_assert_uint_eq(column->count, 4);
	ck_assert_uint_eq(column->size, sizeof(numbers));
	ck_assert_mem_eq(column->bytes, numbers, sizeof(numbers));
	column = &columns.columns[PAGE_SAMPLE_CELL];
	page_columns_add_difference(&columns, PAGE_SAMPLE_CELL, 5);
	page_columns_add_difference(&columns, PAGE_SAMPLE_CELL, 3);
	page_columns_add_difference(&columns, PAGE_SAMPLE_CELL, 3);
	ck_assert_uint_eq(column->size, sizeof(differences));
	ck_assert_mem_eq(column->bytes, differences, sizeof(differences));
	page_columns_finish(&columns);
}
END_TEST

START_TEST(test_time)
{
	struct page_time time = page_time_of(UINT64_C(36504862123));
	ck_assert_uint_le(time.cells, PAGE_CELLS_MAX);
	ck_assert_uint_eq(page_time_cell(&time, 0), 0);
	ck_assert_uint_eq(page_time_cell(&time, time.cell_ns), 1);
	ck_assert_uint_eq(page_time_cell(&time, UINT64_C(36504862123)), time.cells - 1);
	ck_assert_uint_eq(page_time_cell(&time, UINT64_MAX), time.cells - 1);
	time = page_time_of(1);
	ck_assert_uint_eq(page_time_cell(&time, 1), time.cells - 1);
	time = page_time_of(0);
	ck_assert_uint_eq(time.cells, 1);
	ck_assert_uint_eq(page_time_cell(&time, 12345), 0);
}
END_TEST

static void append(uint32_t cell, const struct page_sum *sum, void *user)
{
	char *text = user;
	sprintf(text + strlen(text), "%u/%u:%ux%u ", cell, sum->kind, (unsigned)sum->count,
		(unsigned)sum->ns);
}

START_TEST(test_cells)
{
	char text[256] = "";
	struct page_cells cells = {.take = append, .user = text};
	page_cells_add(&cells, 3, 9, 10);
	page_cells_add(&cells, 3, 2, 1);
	page_cells_add(&cells, 3, 9, 20);
	page_cells_add(&cells, 4, 9, 5);
	page_cells_flush(&cells);
	/* The next thread begins anywhere. */
	page_cells_add(&cells, 0, 1, 7);
	page_cells_flush(&cells);
	page_cells_flush(&cells);
	page_cells_finish(&cells);
	ck_assert_str_eq(text, "3/2:1x1 3/9:2x30 4/9:1x5 0/1:1x7 ");
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("page_parts");
	TCase *cases = tcase_create("page_parts");
	tcase_add_loop_test(cases, test_base64, 0, (int)(sizeof(base64) / sizeof(base64[0])));
	tcase_add_test(cases, test_long_base64);
	tcase_add_test(cases, test_columns);
	tcase_add_test(cases, test_time);
	tcase_add_test(cases, test_cells);
	suite_add_tcase(suite, cases);
	return run_suite(suite);
}
