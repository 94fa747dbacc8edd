/* Tables of external data: the rules of the format one by one. */
#include "tests/support/suite.h"
#include "tests/tools/external/csv_file.h"
#include "tools/external/external_table.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Headers and what is wrong with them; NULL: nothing. */
static const struct {
	const char *header;
	const char *problem; /* "COLUMN text" */
	bool is_intervals;
	enum external_clock clock;
} headers[] = {
	{"name,start_tsc.QPC,end_tsc,pid,tid", NULL, true, EXTERNAL_CLOCK_QPC},
	{"name,start_tsc.CLOCK_MONOTONIC_RAW,end_tsc,pid,tid", NULL, true, EXTERNAL_CLOCK_RAW},
	{"name,start_tsc.RDTSC,end_tsc,pid,tid", NULL, true, EXTERNAL_CLOCK_COUNTER},
	{"name,start_tsc.TSC,end_tsc,pid,tid", NULL, true, EXTERNAL_CLOCK_COUNTER},
	{"name,start_tsc.UTC,end_tsc,pid,tid", NULL, true, EXTERNAL_CLOCK_UTC},
	{"name,start_tsc.UTC,end_tsc", NULL, true, EXTERNAL_CLOCK_UTC},
	{"name,start_tsc.UTC,end_tsc,tid", NULL, true, EXTERNAL_CLOCK_UTC},
	{"name,start_tsc.UTC,end_tsc,pid", NULL, true, EXTERNAL_CLOCK_UTC},
	{"name,start_tsc.UTC,end_tsc.UTC", NULL, true, EXTERNAL_CLOCK_UTC},
	{"\"name\",\"start_tsc.UTC\",\"end_tsc\"", NULL, true, EXTERNAL_CLOCK_UTC},
	{" Name , START_TSC.utc , end_tsc ", NULL, true, EXTERNAL_CLOCK_UTC},
	{"tsc.QPC,Power.INST", NULL, false, EXTERNAL_CLOCK_QPC},
	{" tsc.UTC , Power.INST ", NULL, false, EXTERNAL_CLOCK_UTC},
	{"tsc.RDTSC,Way.COUNT,Power.INST,pid,tid", NULL, false, EXTERNAL_CLOCK_COUNTER},
	{"tsc.CLOCK_MONOTONIC_RAW,a.b.COUNT,pid", NULL, false, EXTERNAL_CLOCK_RAW},
	{"", "1 an empty file; its first line must be a table's header", false, 0},
	{"frame1,2,30,,", "1 no table begins here; its first column is name, or tsc.CLOCK", false,
	 0},
	{"name,start_tsc.UTC", "1 a table of intervals has at least name, start_tsc.CLOCK, end_tsc",
	 false, 0},
	{"name,start_tsc,end_tsc", "6 the column must be start_tsc.CLOCK", false, 0},
	{"name,start_tsc.CLOCK_REALTIME,end_tsc",
	 "6 CLOCK_REALTIME is no clock; use CLOCK_MONOTONIC_RAW, QPC, RDTSC, TSC or UTC", false, 0},
	{"name,end_tsc,start_tsc.UTC", "6 the column must be start_tsc.CLOCK", false, 0},
	{"name,start_tsc.UTC,finish", "20 the column must be end_tsc", false, 0},
	{"name,start_tsc.UTC,end_tscfoo", "20 the column must be end_tsc", false, 0},
	{"name,start_tsc.UTC,end_tsc.QPC", "20 the column must be end_tsc", false, 0},
	{"name,start_tsc.UTC,end_tsc,pid,pid", "32 a second column pid", false, 0},
	{"name,start_tsc.UTC,end_tsc,uid",
	 "28 uid: no such column; behind end_tsc only pid and tid may be", false, 0},
	{"tsc.UTC", "1 no column of a counter", false, 0},
	{"tsc.UTC,pid,tid", "1 no column of a counter", false, 0},
	{"tsc.NONE,a.COUNT", "1 NONE is no clock; use CLOCK_MONOTONIC_RAW, QPC, RDTSC, TSC or UTC",
	 false, 0},
	{"tsc.UTC,power", "9 power: a counter's column ends in .COUNT or .INST", false, 0},
	{"tsc.UTC,.COUNT", "9 .COUNT: a counter's column ends in .COUNT or .INST", false, 0},
	{"\"name", "1 a quote that opens here does not close", false, 0},
};

START_TEST(header)
{
	struct external_table table;
	struct external_problem problem;
	char text[200] = "";
	int fd = csv_file_of(headers[_i].header, strlen(headers[_i].header));
	bool is_table = external_table_open(&table, fd, &problem);
	ck_assert_int_eq(is_table, !headers[_i].problem);
	if (is_table) {
		ck_assert_int_eq(table.is_intervals, headers[_i].is_intervals);
		ck_assert_int_eq(table.clock, headers[_i].clock);
	} else {
		ck_assert_uint_eq(problem.line, 1);
		snprintf(text, sizeof(text), "%u %s", problem.column, problem.text);
		ck_assert_str_eq(text, headers[_i].problem);
	}
	external_table_finish(&table);
	close(fd);
}
END_TEST

/* Intervals print as "NAME START END PID TID\n", values as "TIME PID TID COLUMN=VALUE\n". */
static const struct {
	const char *file;
	const char *read;
} tables[] = {
	/* The examples of VTune's help. */
	{"name,start_tsc.QPC,end_tsc,pid,tid\nframe1,2,30,,\nframe1,33,59,,\ntaskType1,3,43,1,1\n"
	 "taskType2,5,33,1,1\n",
	 "frame1 2 30 0 0\nframe1 33 59 0 0\ntaskType1 3 43 1 1\ntaskType2 5 33 1 1\n"},
	{"name,start_tsc.UTC,end_tsc,pid,tid\nFrame1,2013-08-28 01:02:03.0004,2013-08-28 "
	 "01:02:03.0005,,\nTask,2013-08-28 01:02:03.0004,2013-08-28 01:02:03.0005,1234,1235\n",
	 "Frame1 1377651723000400000 1377651723000500000 0 0\n"
	 "Task 1377651723000400000 1377651723000500000 1234 1235\n"},
	{"name,start_tsc.TSC,end_tsc,pid,tid\nfunction1_task_type,419280823342846,419280876920231,"
	 "12832,11644\n",
	 "function1_task_type 419280823342846 419280876920231 12832 11644\n"},
	/* Columns left out, fields left out, empty fields. */
	{"name,start_tsc.QPC,end_tsc\na,1,1\n", "a 1 1 0 0\n"},
	{"name,start_tsc.QPC,end_tsc,tid\na,1,2,7\nb,1,2,\nc,1,2\n",
	 "a 1 2 0 7\nb 1 2 0 0\nc 1 2 0 0\n"},
	{"name,start_tsc.QPC,end_tsc,tid,pid\na,1,2,7,8\n", "a 1 2 8 7\n"},
	{"name,start_tsc.QPC,end_tsc,pid,tid\n\"a, b\"\"c\",1,2,,\n a , 1 , 2 , 3 , 4 \n",
	 "a, b\"c 1 2 0 0\n a  1 2 3 4\n"},
	{"name,start_tsc.QPC,end_tsc\n", ""},
	{"name,start_tsc.QPC,end_tsc\na\n", "!2:1 1 field; the header has 3\n"},
	{"name,start_tsc.QPC,end_tsc\r\na,0,18446744073709551615\r\n",
	 "a 0 18446744073709551615 0 0\n"},
	/* Bad rows. */
	{"name,start_tsc.QPC,end_tsc,pid,tid\na,2,1,,\n,1,2,,\na,x,2,,\na,1,-2,,\na,1,,,\na,1\n"
	 "a,1,2,x,\na,1,2,,1.5\na,1,2,,4294967296\na,1,2,,,\na,1,18446744073709551616,,\nb,1,2,,\n",
	 "!2:5 the end is before the start\n!3:1 a row without a name\n"
	 "!4:3 x: no time in whole numbers\n!5:5 -2: no time in whole numbers\n"
	 "!6:5 : no time in whole numbers\n!7:3 2 fields; the header has 5\n"
	 "!8:7 x: no process id\n!9:8 1.5: no thread id\n!10:8 4294967296: no thread id\n"
	 "!11:9 more fields than the header has (5)\n"
	 "!12:5 18446744073709551616: no time in whole numbers\nb 1 2 0 0\n"},
	{"name,start_tsc.UTC,end_tsc\na,2013-02-29 00:00:00,2013-03-01 00:00:00\n",
	 "!2:3 2013-02-29 00:00:00: no date; use YYYY-MM-DD hh:mm:ss.sss\n"},
	/* Values. */
	{"tsc.QPC,Way.COUNT,Power.INST,pid,tid\n1,100,1.5,10,11\n2,,-2,,\n3,1e3,,10,\n",
	 "1 10 11 1=100 2=1.5\n2 0 0 2=-2\n3 10 0 1=1000\n"},
	{"tsc.QPC,a.COUNT\n1,9223372036854775807\n2,-9223372036854775807\n3,1e999\n4,nan\n5,0x10\n"
	 "6,1.\n7,+5\n8,-\n9,18446744073709551615\n10,1 2\n",
	 "1 0 0 1=9223372036854775807\n2 0 0 1=-9223372036854775807\n!4:3 1e999: no number\n"
	 "!5:3 nan: no number\n!6:3 0x10: no number\n6 0 0 1=1\n7 0 0 1=5\n!9:3 -: no number\n"
	 "9 0 0 1=1.8446744073709552e+19\n!11:4 1 2: no number\n"},
	{"tsc.UTC,a.INST\n1970-01-01 00:00:01.000000001,5\n", "1000000001 0 0 1=5\n"},
};

static void print_row(FILE *stream, const struct external_row *row)
{
	if (row->name) {
		fprintf(stream, "%s %" PRIu64 " %" PRIu64 " %u %u\n", row->name, row->start,
			row->end, row->pid, row->tid);
		return;
	}
	fprintf(stream, "%" PRIu64 " %u %u", row->start, row->pid, row->tid);
	for (size_t i = 0; i < row->value_count; i++) {
		const struct external_value *value = &row->values[i];
		if (value->is_real)
			fprintf(stream, " %u=%.17g", value->column, value->real);
		else
			fprintf(stream, " %u=%" PRId64, value->column, value->whole);
	}
	fputc('\n', stream);
}

static char *read_table(const char *file, size_t size)
{
	struct external_table table;
	struct external_problem problem;
	struct external_row row;
	char *text = NULL;
	size_t length;
	enum csv_status status;
	int fd = csv_file_of(file, size);
	FILE *stream = open_memstream(&text, &length);
	ck_assert(external_table_open(&table, fd, &problem));
	while ((status = external_table_next(&table, &row, &problem)) != CSV_END) {
		ck_assert_int_ne(status, CSV_FAILED);
		if (status == CSV_ROW)
			print_row(stream, &row);
		else
			fprintf(stream, "!%" PRIu64 ":%u %s\n", problem.line, problem.column,
				problem.text);
	}
	fclose(stream);
	external_table_finish(&table);
	close(fd);
	return text;
}

START_TEST(rows)
{
	char *text = read_table(tables[_i].file, strlen(tables[_i].file));
	ck_assert_str_eq(text, tables[_i].read);
	free(text);
}
END_TEST

START_TEST(nul_in_a_name)
{
	static const char file[] = "name,start_tsc.QPC,end_tsc\na\0b,1,2\nc,1,2\n";
	char *text = read_table(file, sizeof(file) - 1);
	ck_assert_str_eq(text, "!2:1 a NUL byte in the name\nc 1 2 0 0\n");
	free(text);
}
END_TEST

static const struct {
	const char *text;
	uint64_t ns; /* 0: no date */
} dates[] = {
	{"1970-01-01 00:00:01", UINT64_C(1000000000)},
	{"2000-02-29 12:34:56", UINT64_C(951827696000000000)},
	{"2013-08-28 01:02:03.0004", UINT64_C(1377651723000400000)},
	{"2013-08-28T01:02:03.0004", UINT64_C(1377651723000400000)},
	{"2013-08-28 01:02:03.", UINT64_C(1377651723000000000)},
	{"2013-08-28 01:02:03.1", UINT64_C(1377651723100000000)},
	{"2013-08-28 01:02:03.123456789", UINT64_C(1377651723123456789)},
	{"2013-08-28 01:02:03.1234567899999999999999", UINT64_C(1377651723123456789)},
	{"2016-12-31 23:59:60", UINT64_C(1483228800000000000)},
	{"2100-02-28 00:00:00", UINT64_C(4107456000000000000)},
	{"2553-12-31 23:59:59.999999999", UINT64_C(18429292799999999999)},
	{"2100-02-29 00:00:00", 0},
	{"1969-12-31 23:59:59", 0},
	{"2554-01-01 00:00:00", 0},
	{"2013-13-01 00:00:00", 0},
	{"2013-00-01 00:00:00", 0},
	{"2013-01-32 00:00:00", 0},
	{"2013-01-00 00:00:00", 0},
	{"2013-01-01 24:00:00", 0},
	{"2013-01-01 00:60:00", 0},
	{"2013-01-01 00:00:61", 0},
	{"2013-1-1 0:0:0", 0},
	{"2013-01-01", 0},
	{"2013-01-01 00:00", 0},
	{"2013-01-01 00:00:00,5", 0},
	{"2013-01-01 00:00:00.5x", 0},
	{"28.08.2013 01:02:03", 0},
	{"", 0},
	{"20", 0},
};

START_TEST(date)
{
	uint64_t ns = 7;
	bool is_date = external_parse_utc(dates[_i].text, &ns);
	ck_assert_int_eq(is_date, dates[_i].ns != 0);
	if (is_date)
		ck_assert_uint_eq(ns, dates[_i].ns);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("external table");
	TCase *cases = tcase_create("all");
	tcase_set_timeout(cases, 60);
	tcase_add_loop_test(cases, header, 0, (int)(sizeof(headers) / sizeof(headers[0])));
	tcase_add_loop_test(cases, rows, 0, (int)(sizeof(tables) / sizeof(tables[0])));
	tcase_add_test(cases, nul_in_a_name);
	tcase_add_loop_test(cases, date, 0, (int)(sizeof(dates) / sizeof(dates[0])));
	suite_add_tcase(suite, cases);
	return run_suite(suite);
}
