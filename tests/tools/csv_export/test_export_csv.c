/* The files for VTune of results with known content, byte by byte. */
#include "profile/read/external.h"
#include "profile/write/writer.h"
#include "tests/support/suite.h"
#include "tests/tools/known_result.h"
#include "tests/tools/waited_result.h"
#include "tools/csv_export/csv_table.h"
#include "tools/csv_export/export_csv.h"
#include "tools/csv_export/output_folder.h"
#include "tools/formats/export_format.h"
#include "tools/functions/filter.h"
#include "tools/stacks/sampled_result.h"
#include <check.h>
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[64];

static void set_up(void)
{
	build_set_up();
	snprintf(folder, sizeof(folder), "%s/csv", build_folder);
}

static void remove_folder(void)
{
	DIR *entries = opendir(folder);
	if (!entries)
		return;
	for (struct dirent *entry; (entry = readdir(entries));)
		unlinkat(dirfd(entries), entry->d_name, 0);
	closedir(entries);
	ck_assert_int_eq(rmdir(folder), 0);
}

static void tear_down(void)
{
	remove_folder();
	build_tear_down();
}

static size_t count_files(void)
{
	size_t count = 0;
	DIR *entries = opendir(folder);
	ck_assert_ptr_nonnull(entries);
	for (struct dirent *entry; (entry = readdir(entries));)
		count += strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
	closedir(entries);
	return count;
}

static void export_filtered(struct filter *filter)
{
	const struct export_format *format = export_format_find("csv");
	const struct export_options options = {0};
	struct sampled_result result;
	struct output_folder output;
	ck_assert_ptr_nonnull(format);
	ck_assert_int_eq(sampled_result_open(&result, build_path, filter, format->by, true), 0);
	struct weighted_stacks stacks = {.reader = result.reader,
					 .functions = result.functions,
					 .tally = &result.tally,
					 .filter = filter,
					 .mode = CALL_PATH_ALL};
	ck_assert_int_eq(output_folder_open(&output, folder), 0);
	ck_assert_uint_eq(format->write_files(&stacks, &options, &output), VT_SUCCESS);
	ck_assert_int_eq(output_folder_finish(&output), 0);
	sampled_result_close(&result);
}

static void export_all(void)
{
	struct filter everything = {0};
	export_filtered(&everything);
}

static void expect_file(const char *name, const char *expected)
{
	static char text[8192];
	char path[128];
	struct stat status;
	snprintf(path, sizeof(path), "%s/%s", folder, name);
	FILE *file = fopen(path, "r");
	ck_assert_msg(file, "no %s", name);
	ck_assert_int_eq(fstat(fileno(file), &status), 0);
	ck_assert_uint_eq(status.st_mode & 0777, 0600);
	text[fread(text, 1, sizeof(text) - 1, file)] = '\0';
	fclose(file);
	ck_assert_str_eq(text, expected);
}

#define INTERVALS "name,start_tsc.CLOCK_MONOTONIC_RAW,end_tsc,pid,tid\n"
#define PERCENT   "tsc.CLOCK_MONOTONIC_RAW,CPU Utilization %.INST,pid,tid\n"

/* Samples are 10 ms apart, from 1.01 s on. */
START_TEST(test_known_result)
{
	struct build_result result = {.samples = known_samples, .count = KNOWN_SAMPLES};
	build_result_write(build_path, &result);
	export_all();
	ck_assert_uint_eq(count_files(), 3);
	expect_file("running-hostname-box.csv",
		    INTERVALS "Running,1000000000,1040000000,100,100\n"
			      "Running,1099000000,1100000000,100,100\n"
			      "Running,1109000000,1110000000,100,100\n"
			      "Running,1040000000,1060000000,100,101\n"
			      "Running,1065000000,1070000000,101,102\n"
			      "Running,1075000000,1080000000,101,102\n"
			      "Running,1085000000,1090000000,101,102\n");
	expect_file("utilization-hostname-box.csv", PERCENT "1000000000,39,,\n1200000000,0,,\n");
}
END_TEST

/* Of states: each stretch as one, also in several records; what lies between; every interval's part
 * of a CPU. */
START_TEST(test_states)
{
	build_result_write(build_path, &waited_result);
	export_all();
	ck_assert_uint_eq(count_files(), 4);
	expect_file("running-hostname-box.csv",
		    INTERVALS "Running,1000000000,1100000000,100,100\n"
			      "Running,1600000000,1650000000,100,100\n"
			      "Running,1210000000,1300000000,100,101\n"
			      "Running,2100000000,2150000000,100,101\n"
			      "Running,1700000000,1750000000,100,100\n"
			      "Running,2800000000,3000000000,100,100\n"
			      "Running,2190000000,2200000000,100,101\n");
	expect_file("waiting-hostname-box.csv", INTERVALS "Ready,1040000000,1210000000,100,101\n"
							  "Waiting,1100000000,1600000000,100,100\n"
							  "Waiting,1650000000,1700000000,100,100\n"
							  "Waiting,1300000000,2100000000,100,101\n"
							  "Stopped,2150000000,2190000000,100,101\n"
							  "Waiting,1750000000,2750000000,100,100\n"
							  "Ready,2750000000,2800000000,100,100\n");
}
END_TEST

/* A part of the time; conditions on functions are for samples. */
START_TEST(test_filtered_states)
{
	struct filter filter = {0};
	build_result_write(build_path, &waited_result);
	ck_assert_ptr_null(filter_add(&filter, "tid=100"));
	ck_assert_ptr_null(filter_set_from(&filter, "50ms"));
	ck_assert_ptr_null(filter_set_to(&filter, "620ms"));
	export_filtered(&filter);
	expect_file("running-hostname-box.csv",
		    INTERVALS "Running,1050000000,1100000000,100,100\n"
			      "Running,1600000000,1620000000,100,100\n");
	expect_file("waiting-hostname-box.csv",
		    INTERVALS "Waiting,1100000000,1600000000,100,100\n");
	filter_finish(&filter);
	remove_folder();
	filter = (struct filter){0};
	ck_assert_ptr_null(filter_add(&filter, "function=work"));
	export_filtered(&filter);
	ck_assert_uint_eq(count_files(), 3);
	filter_finish(&filter);
}
END_TEST

static const struct build_sample waiting = {.stack = "lib:wait", .count = 1, .thread = 2};

static void add_samples(struct build_sample *samples, size_t *count, unsigned cpu_ms)
{
	samples[*count] = (struct build_sample){.stack = "app:main", .count = 1, .cpu_ms = cpu_ms};
	if (cpu_ms == 0)
		samples[*count] = waiting;
	++*count;
}

/* Times that do not fit before their samples go to the gaps around; no interval is lost, none is
 * where another is. */
START_TEST(test_close_samples)
{
	static const struct {
		unsigned cpu_ms[6]; /* of thread 0; 0: a sample of another one */
		const char *expected;
	} cases[] = {
		/* What is left goes to the next sample... */
		{{2, 15, 0, 0, 9}, "1008-1020 1036-1050"},
		{{2, 15, 0, 0, 4}, "1008-1020 1041-1050"},
		/* ... and of the last one, into the gaps before, from the end. */
		{{2, 0, 2, 0, 0, 25}, "1008-1010 1028-1030 1035-1060"},
		{{2, 0, 2, 0, 0, 37}, "1008-1010 1021-1060"},
		{{2, 0, 2, 0, 0, 56}, "1000-1060"},
		/* All gaps are full: behind the last sample. */
		{{2, 0, 2, 0, 0, 66}, "1000-1070"},
	};
	struct build_sample samples[6];
	size_t count = 0;
	char text[4096] = INTERVALS;
	for (size_t i = 0; i < 6; i++)
		add_samples(samples, &count, cases[_i].cpu_ms[i]);
	struct build_result result = {.samples = samples, .count = count};
	build_result_write(build_path, &result);
	export_all();
	const char *at = cases[_i].expected;
	unsigned start;
	unsigned end;
	int used = 0;
	while (sscanf(at, "%u-%u%n", &start, &end, &used) == 2) {
		at += used;
		sprintf(text + strlen(text), "Running,%u000000,%u000000,100,100\n", start, end);
		at += *at == ' ';
	}
	expect_file("running-hostname-box.csv", text);
}
END_TEST

START_TEST(test_times)
{
	struct filter filter = {.from_ns = 25000000, .to_ns = 65000000};
	struct build_result result = {.samples = known_samples, .count = KNOWN_SAMPLES};
	build_result_write(build_path, &result);
	export_filtered(&filter);
	expect_file("running-hostname-box.csv",
		    INTERVALS "Running,1025000000,1045000000,100,100\n"
			      "Running,1040000000,1060000000,100,101\n");
}
END_TEST

START_TEST(test_threads)
{
	struct filter filter = {0};
	struct build_result result = {.samples = known_samples, .count = KNOWN_SAMPLES};
	ck_assert_ptr_null(filter_add(&filter, "process=helper"));
	build_result_write(build_path, &result);
	export_filtered(&filter);
	expect_file("running-hostname-box.csv",
		    INTERVALS "Running,1065000000,1070000000,101,102\n"
			      "Running,1075000000,1080000000,101,102\n"
			      "Running,1085000000,1090000000,101,102\n");
	filter_finish(&filter);
}
END_TEST

static void add_record(struct profile_writer *writer, enum profile_stream stream,
		       const void *record, const char *const *texts)
{
	ck_assert_uint_eq(profile_writer_add(writer, stream, record, texts, NULL), VT_SUCCESS);
}

static void add_series(struct profile_writer *writer, unsigned source, unsigned kind,
		       const char *name)
{
	add_record(writer, PROFILE_STREAM_SERIES,
		   &(struct profile_series){.kind = kind, .source = source}, &name);
}

/* TSC 5000 is at 1 s, and 2 of it a ns. */
static uint64_t tsc_of(uint64_t ns)
{
	return 5000 + 2 * ns;
}

static void add_interval(struct profile_writer *writer, unsigned series, uint64_t start_ns,
			 uint64_t end_ns, unsigned tid)
{
	add_record(writer, PROFILE_STREAM_INTERVALS,
		   &(struct profile_interval){.start_tsc = tsc_of(start_ns),
					      .end_tsc = tsc_of(end_ns),
					      .series = series,
					      .pid = tid ? BUILD_PID : 0,
					      .tid = tid},
		   NULL);
}

static void add_value(struct profile_writer *writer, unsigned series, uint64_t ns, double value,
		      unsigned tid)
{
	union {
		double real;
		uint64_t bits;
	} bits = {.real = value};
	bool is_real = value != (double)(int64_t)value;
	add_record(writer, PROFILE_STREAM_COUNTERS,
		   &(struct profile_counter){.tsc = tsc_of(ns),
					     .value =
						     is_real ? bits.bits : (uint64_t)(int64_t)value,
					     .series = series,
					     .tid = tid,
					     .flags = is_real ? PROFILE_COUNTER_REAL : 0},
		   NULL);
}

static void add_external(void)
{
	static const char *const sources[][2] = {{"phases-hostname-elsewhere.csv", "host"},
						 {"running-hostname-box.csv", "host"},
						 {"../a b,c.csv", ""}};
	struct profile_writer *writer;
	ck_assert_uint_eq(profile_external_writer_begin(build_path, &writer), VT_SUCCESS);
	for (size_t i = 0; i < 3; i++)
		add_record(writer, PROFILE_STREAM_SOURCES,
			   &(struct profile_source){.clock = PROFILE_CLOCK_RAW}, sources[i]);
	add_series(writer, 0, PROFILE_SERIES_FRAME, "load");
	add_series(writer, 1, PROFILE_SERIES_TASK, "a, \"b\"\nc");
	add_series(writer, 2, PROFILE_SERIES_INST, "MHz, CPU 0");
	add_series(writer, 0, PROFILE_SERIES_TASK, " step");
	add_series(writer, 2, PROFILE_SERIES_COUNT, "faults");
	add_interval(writer, 0, 1, 7, 0);
	add_interval(writer, 3, 2, 3, BUILD_TID);
	add_interval(writer, 1, 1000000000, 1000000001, BUILD_TID);
	add_value(writer, 2, 10, 0.1, 0);
	add_value(writer, 4, 10, 7, 0);
	add_value(writer, 4, 20, -8, 0);
	add_value(writer, 4, 20, 9, 0);
	add_value(writer, 2, 30, 2400, BUILD_TID);
	ck_assert_uint_eq(profile_external_writer_finish(writer), VT_SUCCESS);
}

START_TEST(test_external)
{
	struct build_result result = {.samples = known_samples, .count = KNOWN_SAMPLES};
	struct filter late = {.from_ns = 500000000};
	build_result_write(build_path, &result);
	add_external();
	export_all();
	ck_assert_uint_eq(count_files(), 6);
	expect_file("phases-hostname-elsewhere.csv",
		    INTERVALS "load,1000000001,1000000007,,\n"
			      "\" step\",1000000002,1000000003,100,100\n");
	expect_file("2-running-hostname-box.csv",
		    INTERVALS "\"a, \"\"b\"\"\nc\",2000000000,2000000001,100,100\n");
	expect_file("_._a_b_c.csv",
		    "tsc.CLOCK_MONOTONIC_RAW,\"MHz, CPU 0.INST\",faults.COUNT,pid,tid\n"
		    "1000000010,0.10000000000000001,7,,\n1000000020,,-8,,\n1000000020,,9,,\n"
		    "1000000030,2400,,,100\n");
	remove_folder();
	export_filtered(&late);
	ck_assert_uint_eq(count_files(), 4);
	expect_file("2-running-hostname-box.csv",
		    INTERVALS "\"a, \"\"b\"\"\nc\",2000000000,2000000001,100,100\n");
}
END_TEST

START_TEST(test_file_names)
{
	struct output_folder output;
	char longest[5001];
	memset(longest, 'n', 5000);
	longest[5000] = '\0';
	ck_assert_int_eq(output_folder_open(&output, folder), 0);
	csv_table_begin(&output, "a", "");
	csv_table_begin(&output, "a", "");
	csv_table_begin(&output, "a", "h/\n");
	csv_table_begin(&output, "", "h");
	csv_table_begin(&output, longest, longest);
	ck_assert_int_eq(output_folder_finish(&output), 0);
	ck_assert_uint_eq(count_files(), 5);
	expect_file("a.csv", "");
	expect_file("2-a.csv", "");
	expect_file("a-hostname-h__.csv", "");
	expect_file("-hostname-h.csv", "");
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("export csv");
	TCase *tcase = tcase_create("export csv");
	tcase_add_checked_fixture(tcase, set_up, tear_down);
	tcase_add_test(tcase, test_states);
	tcase_add_test(tcase, test_filtered_states);
	tcase_add_test(tcase, test_known_result);
	tcase_add_loop_test(tcase, test_close_samples, 0, 6);
	tcase_add_test(tcase, test_times);
	tcase_add_test(tcase, test_threads);
	tcase_add_test(tcase, test_external);
	tcase_add_test(tcase, test_file_names);
	suite_add_tcase(suite, tcase);
	return run_suite(suite);
}
