/* External data on its way into a result: what is there afterwards, and what is not. */
#include "profile/read/external.h"
#include "profile/read/reader.h"
#include "tests/support/suite.h"
#include "tests/tools/build_result.h"
#include "tests/tools/external/csv_file.h"
#include "tools/external/external_import.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static const struct build_sample samples[] = {
	{.stack = "app:main app:work", .count = 3, .cpu_ms = 10}};
static const struct build_result result = {.samples = samples, .count = 1};

static void set_up(void)
{
	build_set_up();
	build_result_write(build_path, &result);
}

static struct profile_reader *open_result(void)
{
	struct profile_reader *reader;
	ck_assert_uint_eq(profile_reader_open(build_path, &reader), VT_SUCCESS);
	return reader;
}

/* The result as it is now imports the text as a file of this name. */
static struct external_import import_as(const char *name, const char *text, int status)
{
	struct external_import import = {.reader = open_result(),
					 .result = build_path,
					 .name = name};
	import.fd = csv_file_of(text, strlen(text));
	ck_assert_int_eq(external_import(&import), status);
	close(import.fd);
	profile_reader_close(import.reader);
	return import;
}

struct printed {
	struct profile_reader *reader;
	FILE *stream;
	uint64_t start_ns;
};

static long long since_start(const struct printed *printed, uint64_t tsc)
{
	return (long long)(profile_reader_raw_ns(printed->reader, tsc) - printed->start_ns);
}

static bool print_interval(const struct profile_interval *interval, void *user)
{
	struct printed *printed = user;
	fprintf(printed->stream, "%u %s %lld %lld %u %u\n",
		profile_reader_series(printed->reader, interval->series)->kind,
		profile_reader_series_name(printed->reader, interval->series),
		since_start(printed, interval->start_tsc), since_start(printed, interval->end_tsc),
		interval->pid, interval->tid);
	return true;
}

static bool print_counter(const struct profile_counter *counter, void *user)
{
	struct printed *printed = user;
	fprintf(printed->stream, "%u %s %lld %g %u %u\n",
		profile_reader_series(printed->reader, counter->series)->kind,
		profile_reader_series_name(printed->reader, counter->series),
		since_start(printed, counter->tsc), profile_counter_value(counter), counter->pid,
		counter->tid);
	return true;
}

/* All external data of the result, times in ns from its start. */
static char *print_all(void)
{
	char *text = NULL;
	size_t size;
	struct printed printed = {.reader = open_result(), .stream = open_memstream(&text, &size)};
	printed.start_ns = profile_reader_clock(printed.reader, 0)->raw_ns;
	ck_assert_uint_eq(profile_reader_each_interval(printed.reader, print_interval, &printed),
			  0);
	ck_assert_uint_eq(profile_reader_each_counter(printed.reader, print_counter, &printed), 0);
	fclose(printed.stream);
	ck_assert_uint_eq(profile_reader_sample_count(printed.reader), 3);
	profile_reader_close(printed.reader);
	return text;
}

static void expect_all(const char *expected)
{
	char *text = print_all();
	ck_assert_str_eq(text, expected);
	free(text);
}

static struct profile_clock first_clock(void)
{
	struct profile_reader *reader = open_result();
	struct profile_clock clock = *profile_reader_clock(reader, 0);
	profile_reader_close(reader);
	return clock;
}

/* A table of one task of 1 to 2 ms by a clock of this name, start and end. */
static struct external_import import_times(const char *clock, uint64_t start, uint64_t end)
{
	char text[200];
	snprintf(text, sizeof(text),
		 "name,start_tsc.%s,end_tsc,pid,tid\nt,%" PRIu64 ",%" PRIu64 ",100,101\n", clock,
		 start, end);
	return import_as("a-hostname-box.csv", text, 0);
}

START_TEST(clocks_of_the_host)
{
	struct profile_clock first = first_clock();
	const struct {
		const char *name;
		uint64_t start;
		uint64_t ms;
	} clocks[] = {{"CLOCK_MONOTONIC_RAW", first.raw_ns, 1000000},
		      {"QPC", first.raw_ns, 1000000},
		      {"RDTSC", first.tsc, 2000000},
		      {"TSC", first.tsc, 2000000}};
	for (int i = 0; i < 4; i++) {
		struct external_import import =
			import_times(clocks[i].name, clocks[i].start + clocks[i].ms,
				     clocks[i].start + 2 * clocks[i].ms);
		ck_assert_uint_eq(import.rows, 1);
		ck_assert_uint_eq(import.rows_outside, 0);
		ck_assert_int_eq(import.is_replaced, i > 0);
		expect_all("2 t 1000000 2000000 100 101\n");
	}
	import_as("a-hostname-box.csv",
		  "name,start_tsc.UTC,end_tsc,pid,tid\nt,2023-11-14 22:13:20.001,"
		  "2023-11-14 22:13:20.002000001,100,101\n",
		  0);
	expect_all("2 t 1000000 2000001 100 101\n");
}
END_TEST

START_TEST(tasks_frames_and_values)
{
	struct external_import import =
		import_as("a-hostname-BOX.csv",
			  "name,start_tsc.UTC,end_tsc,pid,tid\n"
			  "x,2023-11-14 22:13:20,2023-11-14 22:13:21,100,101\n"
			  "x,2023-11-14 22:13:20,2023-11-14 22:13:21,100,\n"
			  "y,2023-11-14 22:13:20,2023-11-14 22:13:21,,7\n"
			  "x,2024-11-14 22:13:20,2024-11-14 22:13:21,100,101\n",
			  0);
	ck_assert(!import.is_foreign);
	ck_assert_uint_eq(import.tasks, 3);
	ck_assert_uint_eq(import.frames, 1);
	ck_assert_uint_eq(import.series, 3);
	ck_assert_uint_eq(import.rows_outside, 1);
	import = import_as("b-hostname-box.lab.net.csv",
			   "tsc.UTC,c.COUNT,i.INST,c.COUNT,tid\n2023-11-14 22:13:20,1,2.5,3,9\n"
			   "2023-11-14 22:13:20.5,,4,,\n",
			   0);
	ck_assert_uint_eq(import.values, 4);
	expect_all("2 x 0 1000000000 100 101\n1 x 0 1000000000 100 0\n2 y 0 1000000000 0 7\n"
		   "2 x 31622400000000000 31622401000000000 100 101\n"
		   "3 c 0 1 0 9\n4 i 0 2.5 0 9\n3 c 0 3 0 9\n4 i 500000000 4 0 0\n");
}
END_TEST

/* Without the host's name, or with another one: global data only. Rows of threads would mix. */
START_TEST(foreign)
{
	static const char *const names[] = {"a.csv", "a-hostname-.csv", "a-hostname-other.csv",
					    "a-hostname-boxer.csv", "box.csv"};
	static const char text[] = "name,start_tsc.UTC,end_tsc,pid,tid\n"
				   "x,2023-11-14 22:13:20,2023-11-14 22:13:21,,\n"
				   "x,2023-11-14 22:13:20,2023-11-14 22:13:21,100,101\n"
				   "x,2023-11-14 22:13:20,2023-11-14 22:13:21,100,\n"
				   "x,2023-11-14 22:13:20,2023-11-14 22:13:21,,101\n";
	struct external_import import = import_as(names[_i], text, 0);
	ck_assert(import.is_foreign);
	ck_assert_uint_eq(import.rows, 1);
	ck_assert_uint_eq(import.rows_bound, 3);
	import = import_as("v-hostname-other.csv",
			   "tsc.UTC,c.COUNT,pid,tid\n2023-11-14 22:13:20,1,100,101\n"
			   "2023-11-14 22:13:20,9000,100,102\n2023-11-14 22:13:20,7,,\n",
			   0);
	ck_assert_uint_eq(import.values, 1);
	ck_assert_uint_eq(import.rows_bound, 2);
	import = import_as("w-hostname-other.csv",
			   "tsc.UTC,c.COUNT,tid\n2023-11-14 22:13:20,1,101\n", EXIT_FAILURE);
	ck_assert_uint_eq(import.rows_bound, 1);
	expect_all("1 x 0 1000000000 0 0\n3 c 0 7 0 0\n");
	struct profile_reader *reader = open_result();
	ck_assert_uint_eq(profile_reader_source(reader, 0)->flags, PROFILE_SOURCE_FOREIGN);
	ck_assert_uint_eq(profile_reader_source(reader, 0)->clock, PROFILE_CLOCK_DATE);
	ck_assert_str_eq(profile_reader_source_name(reader, 0), names[_i]);
	profile_reader_close(reader);
}
END_TEST

/* The same file twice counts once; a changed one replaces the older. */
START_TEST(twice)
{
	static const char first[] = "name,start_tsc.QPC,end_tsc\nx,1,2\n";
	static const char second[] = "name,start_tsc.QPC,end_tsc\ny,1,2\nz,1,2\n";
	ck_assert(!import_as("dir/a-hostname-box.csv", first, 0).is_replaced);
	struct stat before, after;
	ck_assert_int_eq(stat(build_path, &before), 0);
	ck_assert(import_as("other/a-hostname-box.csv", first, 0).is_unchanged);
	ck_assert_int_eq(stat(build_path, &after), 0);
	ck_assert_int_eq(before.st_size, after.st_size);
	struct external_import import = import_as("a-hostname-box.csv", second, 0);
	ck_assert(import.is_replaced && !import.is_unchanged);
	ck_assert_uint_eq(import.rows, 2);
	struct profile_reader *reader = open_result();
	ck_assert_uint_eq(profile_reader_source_count(reader), 1);
	ck_assert_uint_eq(profile_reader_series_count(reader), 2);
	profile_reader_close(reader);
}
END_TEST

START_TEST(bad_rows_are_counted)
{
	char *text = NULL;
	size_t size;
	FILE *stream = open_memstream(&text, &size);
	fputs("name,start_tsc.QPC,end_tsc\n", stream);
	for (int i = 0; i < 100; i++)
		fputs("x,2,1\nx,1,2\n", stream);
	fclose(stream);
	struct external_import import = import_as("a-hostname-box.csv", text, 0);
	free(text);
	ck_assert_uint_eq(import.rows, 100);
	ck_assert_uint_eq(import.bad_rows, 100);
	struct profile_reader *reader = open_result();
	ck_assert_uint_eq(profile_reader_source(reader, 0)->rows, 100);
	ck_assert_uint_eq(profile_reader_source(reader, 0)->bad_rows, 100);
	profile_reader_close(reader);
}
END_TEST

/* A file that is no table, or has no good row, leaves what was imported before. */
START_TEST(failures_lose_nothing)
{
	import_as("a-hostname-box.csv", "name,start_tsc.QPC,end_tsc\nx,1,2\n", 0);
	char *before = print_all();
	import_as("a-hostname-box.csv", "", EXIT_FAILURE);
	import_as("a-hostname-box.csv",
		  "\x7f"
		  "ELF",
		  EXIT_FAILURE);
	import_as("a-hostname-box.csv", "name,start_tsc.QPC\n", EXIT_FAILURE);
	import_as("a-hostname-box.csv", "name,start_tsc.QPC,end_tsc\nx,2,1\n\"\n", EXIT_FAILURE);
	expect_all(before);
	/* A table without rows is one: nothing happened. */
	ck_assert_uint_eq(import_as("a-hostname-box.csv", "name,start_tsc.QPC,end_tsc\n", 0).rows,
			  0);
	expect_all("");
	free(before);
}
END_TEST

START_TEST(incomplete_result)
{
	const struct build_result abandoned = {.samples = samples,
					       .count = 1,
					       .is_abandoned = true};
	unlink(build_path);
	build_result_write(build_path, &abandoned);
	struct external_import import =
		import_as("a-hostname-box.csv", "name,start_tsc.QPC,end_tsc\nx,1,2\n",
			  EXIT_FAILURE);
	ck_assert_uint_eq(import.code, VT_INCOMPLETE_TB5_ENCOUNTERED);
}
END_TEST

/* Names that say their parameters: a bound on the memory that they take. */
START_TEST(too_many_names)
{
	char *text = NULL;
	size_t size;
	FILE *stream = open_memstream(&text, &size);
	fputs("name,start_tsc.QPC,end_tsc\n", stream);
	for (unsigned i = 0; i < EXTERNAL_SERIES_MAX + 5; i++)
		fprintf(stream, "%u,1,2\n", i);
	fputs("7,1,2\n", stream);
	fclose(stream);
	struct external_import import = import_as("a-hostname-box.csv", text, 0);
	free(text);
	ck_assert_uint_eq(import.series, EXTERNAL_SERIES_MAX);
	ck_assert_uint_eq(import.bad_rows, 5);
	ck_assert_uint_eq(import.rows, EXTERNAL_SERIES_MAX + 1);
}
END_TEST

START_TEST(hosts)
{
	static const struct {
		const char *file;
		const char *host; /* NULL: none */
	} names[] = {
		{"phases-hostname-octagon53.csv", "octagon53"},
		{"dir-hostname-x/a-hostname-b.c.csv", "b.c"},
		{"-hostname-a.CSV", "a"},
		{"a-hostname-b-hostname-c.csv", "c"},
		{"a-hostname-.csv", NULL},
		{"a-hostname-b", NULL},
		{"a-hostname-b/c.csv", NULL},
		{"hostname-b.csv", NULL},
	};
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		char *host = external_host_of(names[i].file);
		ck_assert_pstr_eq(host, names[i].host);
		free(host);
	}
	ck_assert(external_is_host("a", "A"));
	ck_assert(external_is_host("a.b", "a"));
	ck_assert(external_is_host("a", "a.b"));
	ck_assert(!external_is_host("a.c", "a.b"));
	ck_assert(!external_is_host("ab", "a"));
	ck_assert(!external_is_host("", ""));
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("external import");
	TCase *cases = tcase_create("all");
	tcase_add_checked_fixture(cases, set_up, build_tear_down);
	tcase_set_timeout(cases, 120);
	tcase_add_test(cases, clocks_of_the_host);
	tcase_add_test(cases, tasks_frames_and_values);
	tcase_add_loop_test(cases, foreign, 0, 5);
	tcase_add_test(cases, twice);
	tcase_add_test(cases, bad_rows_are_counted);
	tcase_add_test(cases, failures_lose_nothing);
	tcase_add_test(cases, incomplete_result);
	tcase_add_test(cases, too_many_names);
	tcase_add_test(cases, hosts);
	suite_add_tcase(suite, cases);
	return run_suite(suite);
}
