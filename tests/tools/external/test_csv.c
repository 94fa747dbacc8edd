/* Rows and fields of CSV files. */
#include "tests/support/suite.h"
#include "tests/tools/external/csv_file.h"
#include "tools/external/csv.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Fields end in '|', rows in '\n'; a bad row is "!LINE:COLUMN text\n". */
static const struct {
	const char *file;
	const char *read;
} files[] = {
	{"", ""},
	{"a,b\n1,2\n", "a|b|\n1|2|\n"},
	{"a,b\r\n1,2\r\n", "a|b|\n1|2|\n"},
	{"a,b\n1,2", "a|b|\n1|2|\n"},
	{"a,b\r", "a|b|\n"},
	{"\xef\xbb\xbf"
	 "a,b\n",
	 "a|b|\n"},
	{"\xef\xbb\xbf", ""},
	{"\n\r\n\na\n\n", "a|\n"},
	{",,\n", "|||\n"},
	{"a,\n", "a||\n"},
	{"\"a\",\"b,c\"\n", "a|b,c|\n"},
	{"\"a\"\"b\",\"\"\n", "a\"b||\n"},
	{"\"\"\n", "|\n"},
	{"\"\"\"\"\n", "\"|\n"},
	{"\"a\"\r\nb\n", "a|\nb|\n"},
	{"\"two\nlines\",c\nd,e\n", "two\nlines|c|\nd|e|\n"},
	{"a\"b\",c\n", "a\"b\"|c|\n"},
	{" \"a\"\n", " \"a\"|\n"},
	{"\"a\"b,c\nd\n", "!1:1 text behind a closing quote\nd|\n"},
	{"x,\"a\"b\nd\n", "!1:3 text behind a closing quote\nd|\n"},
	{"a\nb,\"never\nc\n", "a|\n!2:3 a quote that opens here does not close\nc|\n"},
	{"\"", "!1:1 a quote that opens here does not close\n"},
	{"\"a\"", "a|\n"},
	/* Behind a bad row of several lines its second line is read. */
	{"\"a\n\nb\",\"c\"d\ne\n", "!3:4 text behind a closing quote\n"
				   "!3:4 text behind a closing quote\ne|\n"},
};

static void append(char **to, const char *text, size_t size)
{
	memcpy(*to, text, size);
	*to += size;
}

static char *read_all(struct csv *csv)
{
	char *text = calloc(1, 1 << 16), *at = text;
	enum csv_status status;
	while ((status = csv_next(csv)) != CSV_END) {
		ck_assert_int_ne(status, CSV_FAILED);
		if (status == CSV_BAD) {
			at += sprintf(at, "!%u:%u %s\n", (unsigned)(csv->line + csv->at.line),
				      csv->at.column, csv->problem);
			continue;
		}
		for (size_t i = 0; i < csv->count; i++) {
			ck_assert_uint_eq(csv->fields[i].text[csv->fields[i].size], 0);
			append(&at, csv->fields[i].text, csv->fields[i].size);
			append(&at, "|", 1);
		}
		append(&at, "\n", 1);
	}
	return text;
}

START_TEST(rows)
{
	size_t size = strlen(files[_i].file);
	struct csv csv = {.fd = csv_file_of(files[_i].file, size)};
	char *text = read_all(&csv);
	ck_assert_str_eq(text, files[_i].read);
	ck_assert_uint_eq(csv.size, size);
	free(text);
	close(csv.fd);
	csv_finish(&csv);
}
END_TEST

/* Made of the numbers from `seed` on: rows of 1 to 9 fields of 0 to 40 bytes, quoted where need be.
 */
static unsigned draw(unsigned *seed, unsigned below)
{
	*seed = *seed * 1103515245 + 12345;
	return (*seed >> 16) % below;
}

static size_t draw_field(unsigned *seed, char *field)
{
	static const char letters[] = "abcdefgh,\"\n\r xyz";
	size_t size = draw(seed, 41);
	for (size_t i = 0; i < size; i++)
		field[i] = letters[draw(seed, sizeof(letters) - 1)];
	return size;
}

static char *quote_field(char *to, const char *field, size_t size)
{
	*to++ = '"';
	for (size_t i = 0; i < size; i++) {
		if (field[i] == '"')
			*to++ = '"';
		*to++ = field[i];
	}
	*to++ = '"';
	return to;
}

/* Rows at all places of the blocks that the file is read in. */
START_TEST(quoted_rows_come_back)
{
	enum { ROWS = 60000 };
	char *text = malloc(ROWS * 9 * 90), *at = text;
	char field[64];
	unsigned seed = 7 + (unsigned)_i;
	for (unsigned row = 0; row < ROWS; row++) {
		unsigned count = 1 + draw(&seed, 9);
		for (unsigned i = 0; i < count; i++) {
			size_t size = draw_field(&seed, field);
			at = quote_field(at, field, size);
			*at++ = i + 1 < count ? ',' : '\n';
		}
	}
	ck_assert_int_gt(at - text, 4 << 20);
	struct csv csv = {.fd = csv_file_of(text, (size_t)(at - text))};
	uint64_t line = 1;
	seed = 7 + (unsigned)_i;
	for (unsigned row = 0; row < ROWS; row++) {
		unsigned count = 1 + draw(&seed, 9);
		ck_assert(csv_next(&csv) == CSV_ROW && csv.count == count && csv.line == line);
		for (unsigned i = 0; i < count; i++) {
			size_t size = draw_field(&seed, field);
			if (csv.fields[i].size != size ||
			    memcmp(csv.fields[i].text, field, size) != 0)
				ck_abort_msg("row %u, field %u differs", row, i);
			for (size_t c = 0; c < size; c++)
				line += field[c] == '\n';
		}
		line++;
	}
	ck_assert_int_eq(csv_next(&csv), CSV_END);
	ck_assert_uint_eq(csv.size, (size_t)(at - text));
	close(csv.fd);
	csv_finish(&csv);
	free(text);
}
END_TEST

/* A row of more than 1 MB is one bad row, those around it are read; memory does not grow. */
START_TEST(endless_row)
{
	size_t size = 20u << 20;
	char *text = malloc(size);
	memset(text, 'x', size);
	memcpy(text, "a,b\n", 4);
	memcpy(text + size - 5, "\nc,d\n", 5);
	struct csv csv = {.fd = csv_file_of(text, size)};
	ck_assert_int_eq(csv_next(&csv), CSV_ROW);
	ck_assert_int_eq(csv_next(&csv), CSV_BAD);
	ck_assert_uint_eq(csv.line, 2);
	ck_assert_str_eq(csv.problem, "a row of more than 1 MB");
	ck_assert_int_eq(csv_next(&csv), CSV_ROW);
	ck_assert_uint_eq(csv.line, 3);
	ck_assert_str_eq(csv.fields[1].text, "d");
	ck_assert_int_eq(csv_next(&csv), CSV_END);
	ck_assert_uint_lt(csv.buffer_capacity, 8u << 20);
	csv_finish(&csv);
	/* A quote that nobody closes takes its own line away, whatever is behind. */
	text[4] = '"';
	struct csv quoted = {.fd = csv.fd};
	ck_assert_int_eq(lseek(csv.fd, 0, SEEK_SET), 0);
	ck_assert_int_eq(csv_next(&quoted), CSV_ROW);
	csv_finish(&quoted);
	close(csv.fd);
	free(text);
}
END_TEST

/* Names as long as demangled ones can be. */
START_TEST(long_quoted_field)
{
	size_t size = CSV_ROW_MAX - 10;
	char *text = malloc(size + 8), *at = text;
	*at++ = '"';
	for (size_t i = 0; i < size; i++)
		*at++ = ",x\n"[i % 3];
	append(&at, "\",2\nc\n", 6);
	struct csv csv = {.fd = csv_file_of(text, (size_t)(at - text))};
	ck_assert_int_eq(csv_next(&csv), CSV_ROW);
	ck_assert_uint_eq(csv.count, 2);
	ck_assert_uint_eq(csv.fields[0].size, size);
	ck_assert_int_eq(memcmp(csv.fields[0].text, text + 1, size), 0);
	ck_assert_int_eq(csv_next(&csv), CSV_ROW);
	ck_assert_str_eq(csv.fields[0].text, "c");
	ck_assert_int_eq(csv_next(&csv), CSV_END);
	close(csv.fd);
	csv_finish(&csv);
	free(text);
}
END_TEST

START_TEST(checksum_is_of_the_content)
{
	const char *texts[] = {"a,b\n1,2\n", "a,b\n1,2\n", "a,b\n1,3\n"};
	uint64_t sums[3];
	for (int i = 0; i < 3; i++) {
		struct csv csv = {.fd = csv_file_of(texts[i], 8)};
		if (i == 0)
			free(read_all(&csv));
		else
			ck_assert_int_eq(csv_skip(&csv), 0);
		ck_assert_uint_eq(csv.size, 8);
		sums[i] = csv.checksum;
		close(csv.fd);
		csv_finish(&csv);
	}
	ck_assert_uint_eq(sums[0], sums[1]);
	ck_assert_uint_ne(sums[0], sums[2]);
}
END_TEST

START_TEST(failed_read)
{
	struct csv csv = {.fd = open("/", O_RDONLY)};
	ck_assert_int_eq(csv_next(&csv), CSV_FAILED);
	ck_assert_int_eq(csv.error, EISDIR);
	close(csv.fd);
	csv_finish(&csv);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("csv");
	TCase *cases = tcase_create("all");
	tcase_set_timeout(cases, 120);
	tcase_add_loop_test(cases, rows, 0, (int)(sizeof(files) / sizeof(files[0])));
	tcase_add_loop_test(cases, quoted_rows_come_back, 0, 2);
	tcase_add_test(cases, endless_row);
	tcase_add_test(cases, long_quoted_field);
	tcase_add_test(cases, checksum_is_of_the_content);
	tcase_add_test(cases, failed_read);
	suite_add_tcase(suite, cases);
	return run_suite(suite);
}
