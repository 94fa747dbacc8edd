/* The external data that imports append to a result. */
#include "profile/copy.h"
#include "tests/profile/fixture.h"
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* An import of one source: a task, a frame and a counter, `rows` of each. */
struct import {
	const char *source;
	const char *name; /* of all series */
	uint32_t rows;
};

static void add(struct profile_writer *writer, enum profile_stream stream, const void *record,
		const char *const *texts)
{
	assert_success(profile_writer_add(writer, stream, record, texts, NULL));
}

static struct profile_writer *begin_import(const struct import *import)
{
	const char *texts[] = {import->source, "host"};
	struct profile_writer *writer;

	assert_success(profile_external_writer_begin(fixture_path(), &writer));
	for (uint32_t kind = PROFILE_SERIES_FRAME; kind <= PROFILE_SERIES_INST; kind++) {
		struct profile_series series = {.kind = kind};
		add(writer, PROFILE_STREAM_SERIES, &series, &import->name);
	}
	for (uint32_t i = 0; i < import->rows; i++) {
		struct profile_interval interval =
			{fixture_tsc(i), fixture_tsc(i + 2), 0, 100, 0, 0};
		struct profile_counter counter = {fixture_tsc(i), (uint64_t)-7, 2, 100, 101, 0};
		add(writer, PROFILE_STREAM_INTERVALS, &interval, NULL);
		interval.series = 1;
		interval.tid = 101;
		add(writer, PROFILE_STREAM_INTERVALS, &interval, NULL);
		add(writer, PROFILE_STREAM_COUNTERS, &counter, NULL);
	}
	struct profile_source source = {.size = 77,
					.checksum = 78,
					.rows = 3 * import->rows,
					.bad_rows = 5,
					.clock = PROFILE_CLOCK_DATE};
	add(writer, PROFILE_STREAM_SOURCES, &source, texts);
	return writer;
}

static void make_result(void)
{
	struct profile_writer *writer = fixture_create();

	fixture_fill(writer, 3);
	fixture_finish(writer);
}

static void import(const char *source, const char *name, uint32_t rows)
{
	const struct import made = {source, name, rows};
	assert_success(profile_external_writer_finish(begin_import(&made)));
}

struct seen {
	struct profile_reader *reader;
	uint32_t tasks, frames, counters;
	uint64_t stop_at; /* 0: never */
	const char *name; /* of a series; others are not counted */
};

static bool see_interval(const struct profile_interval *interval, void *user)
{
	struct seen *seen = user;
	const struct profile_series *series = profile_reader_series(seen->reader, interval->series);

	if (strcmp(profile_reader_series_name(seen->reader, interval->series), seen->name) != 0)
		return true;
	uint32_t index = seen->tasks;
	ck_assert_uint_eq(interval->pid, 100);
	if (series->kind == PROFILE_SERIES_TASK) {
		ck_assert_uint_eq(interval->tid, 101);
		seen->tasks++;
	} else {
		ck_assert_uint_eq(interval->tid, 0);
		seen->frames++;
	}
	ck_assert_uint_eq(profile_reader_raw_ns(seen->reader, interval->start_tsc),
			  fixture_ms(index));
	ck_assert_uint_eq(profile_reader_raw_ns(seen->reader, interval->end_tsc),
			  fixture_ms(index + 2));
	return seen->stop_at == 0 || seen->tasks + seen->frames < seen->stop_at;
}

static bool see_counter(const struct profile_counter *counter, void *user)
{
	struct seen *seen = user;

	if (strcmp(profile_reader_series_name(seen->reader, counter->series), seen->name) != 0)
		return true;
	ck_assert_uint_eq(profile_reader_raw_ns(seen->reader, counter->tsc),
			  fixture_ms(seen->counters));
	ck_assert_double_eq(profile_counter_value(counter), -7);
	seen->counters++;
	return true;
}

static struct seen see(struct profile_reader *reader, const char *name, uint64_t stop_at)
{
	struct seen seen = {.reader = reader, .name = name, .stop_at = stop_at};

	assert_success(profile_reader_each_interval(reader, see_interval, &seen));
	assert_success(profile_reader_each_counter(reader, see_counter, &seen));
	fixture_check_promises(reader);
	return seen;
}

START_TEST(none)
{
	make_result();
	struct profile_reader *reader = fixture_open();
	struct seen seen = see(reader, "x", 0);

	ck_assert_uint_eq(profile_reader_source_count(reader), 0);
	ck_assert_uint_eq(profile_reader_series_count(reader), 0);
	ck_assert_uint_eq(seen.tasks + seen.frames + seen.counters, 0);
	profile_reader_close(reader);
}
END_TEST

START_TEST(imports_add_up_and_replace)
{
	make_result();
	import("a.csv", "first", 5);
	import("b.csv", "other", 3000);
	import("a.csv", "second", 7);
	struct profile_reader *reader = fixture_open();
	ck_assert_uint_eq(profile_reader_source_count(reader), 2);
	ck_assert_str_eq(profile_reader_source_name(reader, 0), "b.csv");
	ck_assert_str_eq(profile_reader_source_name(reader, 1), "a.csv");
	ck_assert_str_eq(profile_reader_source_host(reader, 1), "host");
	ck_assert_uint_eq(profile_reader_source(reader, 1)->rows, 21);
	ck_assert_uint_eq(profile_reader_source(reader, 1)->bad_rows, 5);
	ck_assert_uint_eq(profile_reader_series_count(reader), 8);
	ck_assert_uint_eq(profile_reader_series(reader, 7)->source, 1);
	ck_assert_uint_eq(see(reader, "first", 0).tasks, 0);
	ck_assert_uint_eq(see(reader, "other", 0).tasks, 3000);
	ck_assert_uint_eq(see(reader, "other", 0).counters, 3000);
	ck_assert_uint_eq(see(reader, "second", 0).tasks, 7);
	ck_assert_uint_eq(see(reader, "second", 0).frames, 7);
	ck_assert_uint_eq(see(reader, "second", 0).counters, 7);
	struct seen stopped = see(reader, "second", 3);
	ck_assert_uint_eq(stopped.tasks + stopped.frames, 3);
	ck_assert_uint_eq(profile_reader_sample_count(reader), 3);
	profile_reader_close(reader);
}
END_TEST

START_TEST(abandoned_import_changes_nothing)
{
	const struct import made = {"a.csv", "second", 100000};
	make_result();
	import("a.csv", "first", 5);
	profile_writer_abandon(begin_import(&made));
	struct profile_reader *reader = fixture_open();
	ck_assert(profile_reader_complete(reader));
	ck_assert_uint_eq(see(reader, "first", 0).tasks, 5);
	ck_assert_uint_eq(see(reader, "second", 0).tasks, 0);
	profile_reader_close(reader);
}
END_TEST

/* Symbols written between imports leave them alone, and the other way round. */
START_TEST(symbols_between_imports)
{
	struct profile_symbol symbol = {.frame = 0};
	struct profile_symbol_text text = {.name = "leaf"};
	struct profile_writer *symbols;

	make_result();
	import("a.csv", "first", 5);
	assert_success(profile_symbol_writer_begin(fixture_path(), &symbols));
	assert_success(profile_symbol_writer_add(symbols, &symbol, &text));
	assert_success(profile_symbol_writer_finish(symbols));
	import("b.csv", "second", 6);
	struct profile_reader *reader = fixture_open();
	ck_assert_uint_eq(profile_reader_symbol_count(reader), 1);
	ck_assert_uint_eq(see(reader, "first", 0).tasks, 5);
	ck_assert_uint_eq(see(reader, "second", 0).tasks, 6);
	profile_reader_close(reader);
}
END_TEST

/* What a damaged or foreign file may hold: series of unknown kind, without name or source;
 * intervals of counters, backwards; sources without name, twice in an import. */
START_TEST(bad_records_are_left_out)
{
	const char *name = "x";
	const char *const source[] = {"s.csv", NULL};
	const struct profile_series series[] = {
		{.kind = 0}, {.kind = 5}, {.kind = 2, .source = 9}, {.kind = 2},
		{.kind = 3}, {.kind = 2}, {.kind = 2, .source = 2}, {.kind = 2, .source = 1},
	};
	struct profile_source empty = {0};
	struct profile_writer *writer;

	make_result();
	assert_success(profile_external_writer_begin(fixture_path(), &writer));
	for (uint32_t i = 0; i < 8; i++) {
		struct profile_interval good = {5, 6, i, 1, 1, 0}, bad = {6, 5, i, 1, 1, 0};
		struct profile_counter counter = {5, 1, i, 1, 1, 0};
		const char *text = i == 5 ? NULL : name;
		add(writer, PROFILE_STREAM_SERIES, &series[i], &text);
		add(writer, PROFILE_STREAM_INTERVALS, &good, NULL);
		add(writer, PROFILE_STREAM_INTERVALS, &bad, NULL);
		add(writer, PROFILE_STREAM_COUNTERS, &counter, NULL);
	}
	struct profile_interval beyond = {5, 6, 8, 1, 1, 0};
	ck_assert_uint_eq(profile_writer_add(writer, PROFILE_STREAM_INTERVALS, &beyond, NULL, NULL),
			  VT_BAD_PARAMETER);
	add(writer, PROFILE_STREAM_SOURCES, &empty, source);
	add(writer, PROFILE_STREAM_SOURCES, &empty, source);
	add(writer, PROFILE_STREAM_SOURCES, &empty, NULL);
	assert_success(profile_external_writer_finish(writer));
	struct profile_reader *reader = fixture_open();
	ck_assert_uint_eq(profile_reader_source_count(reader), 1);
	/* Of the sources of one name the last is left, with its one series. */
	ck_assert_uint_eq(profile_reader_series_count(reader), 1);
	fixture_check_promises(reader);
	profile_reader_close(reader);
}
END_TEST

START_TEST(copied_with_the_times_of_the_copy)
{
	struct profile_run run = {
		.clock = {1000, FIXTURE_RAW_NS, FIXTURE_REAL_NS, UINT64_C(1) << 32},
		.interval_ns = 10000000,
		.event_name = "CPU Time",
	};
	struct profile_run_end end = {.clock = run.clock};
	struct profile_copy copy = {0};
	struct profile_reader *reader;
	char path[128];

	make_result();
	import("a.csv", "first", 5);
	import("b.csv", "second", 6);
	import("a.csv", "third", 7);
	copy.reader = fixture_open();
	snprintf(path, sizeof(path), "%s.copy", fixture_path());
	assert_success(profile_writer_create(path, &run, &copy.writer));
	assert_success(profile_copy_all(&copy));
	assert_success(profile_writer_finish(copy.writer, &end));
	copy.writer = NULL;
	assert_success(profile_copy_external(&copy, path));
	profile_copy_finish(&copy);
	profile_reader_close(copy.reader);
	assert_success(profile_reader_open(path, &reader));
	ck_assert_uint_eq(profile_reader_source_count(reader), 2);
	ck_assert_uint_eq(see(reader, "first", 0).tasks, 0);
	ck_assert_uint_eq(see(reader, "second", 0).tasks, 6);
	ck_assert_uint_eq(see(reader, "third", 0).frames, 7);
	profile_reader_close(reader);
	unlink(path);
}
END_TEST

START_TEST(times_of_other_clocks)
{
	make_result();
	struct profile_reader *reader = fixture_open();
	for (uint64_t ms = 0; ms < 12000; ms += 777) {
		uint64_t tsc = fixture_tsc(ms);
		ck_assert_uint_eq(profile_reader_tsc_of_raw(reader, fixture_ms(ms)), tsc);
		ck_assert_uint_eq(profile_reader_tsc_of_counter(reader, tsc), tsc);
		ck_assert_uint_eq(profile_reader_tsc_of_date(reader,
							     FIXTURE_REAL_NS + ms * 1000000),
				  tsc);
		ck_assert_uint_eq(profile_reader_date_ns(reader, tsc),
				  FIXTURE_REAL_NS + ms * 1000000);
	}
	profile_reader_close(reader);
}
END_TEST

START_TEST(values_are_whole_or_real)
{
	union {
		double real;
		uint64_t bits;
	} half = {.real = 0.5};
	const struct profile_counter counters[] = {{.value = UINT64_MAX},
						   {.value = half.bits,
						    .flags = PROFILE_COUNTER_REAL}};

	ck_assert_double_eq(profile_counter_value(&counters[0]), -1);
	ck_assert_double_eq(profile_counter_value(&counters[1]), 0.5);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("profile external");
	TCase *tcase = fixture_case(suite);

	tcase_add_test(tcase, none);
	tcase_add_test(tcase, imports_add_up_and_replace);
	tcase_add_test(tcase, abandoned_import_changes_nothing);
	tcase_add_test(tcase, symbols_between_imports);
	tcase_add_test(tcase, bad_records_are_left_out);
	tcase_add_test(tcase, copied_with_the_times_of_the_copy);
	tcase_add_test(tcase, times_of_other_clocks);
	tcase_add_test(tcase, values_are_whole_or_real);
	return run_suite(suite);
}
