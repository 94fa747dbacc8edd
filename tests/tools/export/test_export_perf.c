/* perf.data files of results with known content, read back record by record. */
#include "tests/support/suite.h"
#include "tests/tools/known_result.h"
#include "tests/tools/waited_result.h"
#include "tools/functions/filter.h"
#include "tools/perf_export/export_perf.h"
#include "tools/stacks/sampled_result.h"
#include <check.h>
#include <inttypes.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	DATA_FIELD = 40, /* in the header: place and size of the records */
	TYPE_FEATURE = 80,
	SYMBOLS_MAX = 16,
	MAPPINGS_MAX = 16,
};

struct symbol {
	uint64_t start;
	uint64_t end;
	const char *name;
};

struct reading {
	const char *bytes;
	size_t size;
	struct symbol symbols[SYMBOLS_MAX];
	size_t symbol_count;
	struct symbol mappings[MAPPINGS_MAX]; /* of all processes */
	size_t mapping_count;
	uint64_t periods[4]; /* by thread */
	uint64_t last_ns;
	uint64_t first_ns; /* of switches and waits */
	FILE *lines;       /* of samples, lives and mappings */
	FILE *moments;     /* of switches and waits */
};

static struct filter filter;
static char directory[32];
static char path[64];
static char *file;
static size_t file_size;
static char *moments; /* of the records read last, as lines */
static size_t moments_length;

static void set_up(void)
{
	build_directory(directory);
	snprintf(path, sizeof(path), "%s/r.tb5", directory);
}

static void tear_down(void)
{
	free(file);
	free(moments);
	file = moments = NULL;
	filter_finish(&filter);
	build_directory_remove(directory);
}

static void write_file(const char *event, FILE *stream)
{
	struct sampled_result result;
	struct export_options options = {.event = event};
	ck_assert_int_eq(sampled_result_open(&result, path, &filter, TALLY_BY_THREAD, true), 0);
	struct weighted_stacks stacks = {.reader = result.reader,
					 .functions = result.functions,
					 .tally = &result.tally,
					 .filter = &filter,
					 .mode = CALL_PATH_ALL,
					 .with_call_path = true};
	ck_assert_uint_eq(export_perf_write(&stacks, &options, stream), VT_SUCCESS);
	sampled_result_close(&result);
}

/* Writes the result as a file. */
static void export_file(const struct build_result *result, const char *event)
{
	build_result_write(path, result);
	FILE *stream = tmpfile();
	ck_assert_ptr_nonnull(stream);
	write_file(event, stream);
	ck_assert_int_eq(fseek(stream, 0, SEEK_END), 0);
	file_size = (size_t)ftell(stream);
	file = malloc(file_size);
	rewind(stream);
	ck_assert_uint_eq(fread(file, 1, file_size, stream), file_size);
	fclose(stream);
}

static uint64_t take_u64(const char *bytes, size_t place)
{
	uint64_t number;
	memcpy(&number, bytes + place, sizeof(number));
	return number;
}

static uint32_t take_u32(const char *bytes, size_t place)
{
	uint32_t number;
	memcpy(&number, bytes + place, sizeof(number));
	return number;
}

static const struct symbol *find_symbol(const struct symbol *symbols, size_t count,
					uint64_t address)
{
	for (size_t i = 0; i < count; i++)
		if (address >= symbols[i].start && address < symbols[i].end)
			return &symbols[i];
	return NULL;
}

static void print_address(struct reading *reading, uint64_t address)
{
	const struct symbol *found = find_symbol(reading->symbols, reading->symbol_count, address);
	if (found) {
		fprintf(reading->lines, " %s", found->name);
		return;
	}
	found = find_symbol(reading->mappings, reading->mapping_count, address);
	const char *slash = found ? strrchr(found->name, '/') : NULL;
	fprintf(reading->lines, " %s+%" PRIx64, slash ? slash + 1 : "?",
		address - (found ? found->start : 0));
}

static void see_time(struct reading *reading, uint64_t time_ns)
{
	ck_assert_uint_ge(time_ns, reading->last_ns);
	reading->last_ns = time_ns;
}

/* us since the first one. */
static uint64_t moment_us(struct reading *reading, uint64_t time_ns)
{
	see_time(reading, time_ns);
	if (reading->first_ns == 0)
		reading->first_ns = time_ns;
	return (time_ns - reading->first_ns + 500) / 1000;
}

/* pid, tid, time, CPU, id */
static void take_switch(struct reading *reading, const char *record, uint16_t flags)
{
	const char *way = !(flags & PERF_RECORD_MISC_SWITCH_OUT)        ? "in"
			  : flags & PERF_RECORD_MISC_SWITCH_OUT_PREEMPT ? "preempted"
									: "out";
	ck_assert_uint_eq(take_u64(record, 32), 1);
	fprintf(reading->moments, "%u/%u %" PRIu64 " %s %u\n", take_u32(record, 8),
		take_u32(record, 12), moment_us(reading, take_u64(record, 16)), way,
		take_u32(record, 24));
}

/* id, ip, pid, tid, time, cpu, period, count, addresses */
static void take_wait(struct reading *reading, const char *record, size_t size)
{
	ck_assert_uint_eq(size, 64 + 8 * take_u64(record, 56));
	fprintf(reading->moments, "%u/%u %" PRIu64 " waited %" PRIu64 "\n", take_u32(record, 24),
		take_u32(record, 28), moment_us(reading, take_u64(record, 32)),
		take_u64(record, 48) / 1000);
}

static void take_sample(struct reading *reading, const char *record, size_t size)
{
	if (take_u64(record, 8) == 2) {
		take_wait(reading, record, size);
		return;
	}
	uint32_t tid = take_u32(record, 28);
	uint64_t time_ns = take_u64(record, 32), count = take_u64(record, 56);
	ck_assert_uint_eq(take_u64(record, 8), 1);
	ck_assert_uint_eq(size, 64 + 8 * count);
	see_time(reading, time_ns);
	ck_assert_uint_ge(count, 2);
	ck_assert_uint_eq(take_u64(record, 16), take_u64(record, 72));
	reading->periods[tid - BUILD_TID] += take_u64(record, 48);
	fprintf(reading->lines, "%u/%u %" PRIu64 ":", take_u32(record, 24), tid,
		take_u64(record, 48) / 1000);
	for (uint64_t i = 0, context = 0; i < count; i++) {
		uint64_t address = take_u64(record, 64 + 8 * i);
		if (address >= PERF_CONTEXT_MAX) {
			ck_assert_uint_ne(address, context);
			context = address;
			continue;
		}
		ck_assert_uint_eq(context, address >> 63 ? PERF_CONTEXT_KERNEL : PERF_CONTEXT_USER);
		print_address(reading, address);
	}
	fputc('\n', reading->lines);
}

static void take_mapping(struct reading *reading, const char *record)
{
	uint64_t start = take_u64(record, 16);
	ck_assert_uint_lt(reading->mapping_count, MAPPINGS_MAX);
	reading->mappings[reading->mapping_count++] =
		(struct symbol){start, start + take_u64(record, 24), record + 72};
}

static void take_symbol(struct reading *reading, const char *record)
{
	uint64_t start = take_u64(record, 8);
	ck_assert_uint_lt(reading->symbol_count, SYMBOLS_MAX);
	reading->symbols[reading->symbol_count++] =
		(struct symbol){start, start + take_u32(record, 16), record + 24};
}

static void take_record(struct reading *reading, const char *record, size_t size, uint32_t type,
			uint16_t flags)
{
	static const char *const lives[] =
		{[PERF_RECORD_EXIT] = "exit", [PERF_RECORD_FORK] = "fork"};
	switch (type) {
	case PERF_RECORD_SAMPLE:
		take_sample(reading, record, size);
		break;
	case PERF_RECORD_MMAP2:
		take_mapping(reading, record);
		break;
	case PERF_RECORD_KSYMBOL:
		take_symbol(reading, record);
		break;
	case PERF_RECORD_SWITCH:
		take_switch(reading, record, flags);
		break;
	case PERF_RECORD_COMM:
		ck_assert_uint_lt(strlen(record + 16), 16);
		fprintf(reading->lines, "%u/%u is %s\n", take_u32(record, 8), take_u32(record, 12),
			record + 16);
		break;
	case PERF_RECORD_FORK:
	case PERF_RECORD_EXIT:
		fprintf(reading->lines, "%u/%u %s\n", take_u32(record, 8), take_u32(record, 16),
			lives[type]);
		break;
	default:
		ck_assert_uint_ge(type, 64); /* perf's own */
	}
}

/* The records' content as lines, for the caller to free. */
static char *read_records(struct reading *reading)
{
	char *text;
	size_t length;
	reading->lines = open_memstream(&text, &length);
	free(moments);
	reading->moments = open_memstream(&moments, &moments_length);
	for (size_t at = 0; at < reading->size;) {
		struct perf_event_header header;
		ck_assert_uint_le(sizeof(header), reading->size - at);
		memcpy(&header, reading->bytes + at, sizeof(header));
		ck_assert_uint_ge(header.size, sizeof(header));
		ck_assert_uint_le(header.size, reading->size - at);
		ck_assert(header.type >= 64 || header.size % 8 == 0);
		take_record(reading, reading->bytes + at, header.size, header.type, header.misc);
		at += header.size;
	}
	fclose(reading->lines);
	fclose(reading->moments);
	return text;
}

static char *read_file(struct reading *reading)
{
	ck_assert_mem_eq(file, "PERFILE2", 8);
	uint64_t place = take_u64(file, DATA_FIELD), size = take_u64(file, DATA_FIELD + 8);
	ck_assert_uint_le(place, file_size);
	ck_assert_uint_le(size, file_size - place);
	*reading = (struct reading){.bytes = file + place, .size = size};
	return read_records(reading);
}

START_TEST(test_stacks)
{
	static const struct build_sample samples[] = {
		{.stack = "app:main app:outer>inner", .cpu_ms = 10},
		{.stack = "app:main", .cpu_ms = 10, .thread = 1},
		{.stack = "app:main ? app:", .cpu_ms = 1},
		{.stack = "app:main ? ?", .cpu_ms = 2},
		{.stack = "", .cpu_ms = 3},
		{.stack = "lib:odd",
		 .cpu_ms = 5,
		 .state = PROFILE_STACK_SKIPPED,
		 .reason = PROFILE_SKIP_TRUNCATED},
		{.stack = "app:start~ app:main", .cpu_ms = 6, .state = PROFILE_STACK_GUESSED},
		{.stack = "app:start~", .cpu_ms = 7, .state = PROFILE_STACK_GUESSED},
		{.stack = "app:main", .cpu_ms = 8, .state = PROFILE_STACK_GUESSED},
	};
	struct build_result result = {.samples = samples, .count = 9, .is_finalized = true};
	struct reading reading;
	export_file(&result, NULL);
	char *text = read_file(&reading);
	const char *first = strstr(text, "100/100 10000:");
	ck_assert_ptr_nonnull(first);
	ck_assert_str_eq(first, "100/100 10000: app+24 app+14\n"
				"100/101 10000: app+14\n"
				"100/100 1000: app+34 [Unknown frame(s)] app+14\n"
				"100/100 2000: [Unknown frame(s)] app+14\n"
				"100/100 3000: [Unknown frame(s)]\n"
				"100/100 5000: lib.so+14 [Skipped frame(s)]\n"
				"100/100 6000: app+14 [Guessed frame(s)] app+44\n"
				"100/100 7000: app+44 [Guessed frame(s)]\n"
				"100/100 8000: app+14 [Guessed frame(s)]\n");
	free(text);
}
END_TEST

/* Reports' time of each thread, whether in samples, in the kernel or in no sample. */
START_TEST(test_times)
{
	static const struct build_sample samples[] = {
		{.stack = "app:main", .count = 3, .cpu_ms = 10},
		{.stack = "app:main", .count = 2, .cpu_ms = 40, .kernel_ms = 30},
		{.stack = "app:main", .cpu_ms = 14, .kernel_ms = 4, .thread = 1},
		{.stack = "", .count = 6, .cpu_ms = 9, .is_kernel_only = true, .thread = 1},
	};
	struct build_result result = {.samples = samples,
				      .count = 4,
				      .rest_ms = 6,
				      .is_finalized = true};
	struct reading reading;
	export_file(&result, NULL);
	char *text = read_file(&reading);
	ck_assert_uint_eq(reading.periods[0], 116000000);
	ck_assert_uint_eq(reading.periods[1], 68000000);
	ck_assert_ptr_nonnull(strstr(text, "100/100 30000: [System calls and faults]\n"));
	ck_assert_ptr_nonnull(strstr(text, "100/100 6000: [No sample]\n"));
	ck_assert_ptr_nonnull(strstr(text, "100/101 9000: [System calls and faults]\n"));
	ck_assert_ptr_nonnull(strstr(text, "100/101 4000: [System calls and faults]\n"));
	free(text);
}
END_TEST

/* Leaves of samples tell the place of a mapping that does not say it. */
START_TEST(test_older_result)
{
	static const struct build_sample samples[] = {
		{.stack = "app:outer app:main", .cpu_ms = 10},
	};
	struct build_result result = {.samples = samples,
				      .count = 1,
				      .is_finalized = true,
				      .lacks_rvas = true};
	struct reading reading;
	export_file(&result, NULL);
	char *text = read_file(&reading);
	ck_assert_ptr_nonnull(strstr(text, "100/100 10000: app+1004 app+ff4\n"));
	free(text);
}
END_TEST

START_TEST(test_empty)
{
	struct build_result result = {0};
	struct reading reading;
	export_file(&result, NULL);
	free(read_file(&reading));
	ck_assert_uint_eq(reading.last_ns, 0);
}
END_TEST

/* Names of any bytes and length leave the records whole; perf takes a path's first 4095 bytes. */
START_TEST(test_hostile_names)
{
	enum { LENGTH = 100000 };
	char *name = malloc(LENGTH + 1);
	for (size_t i = 0; i < LENGTH; i++)
		name[i] = "/\"'\n\t\\;\x1b,\xc3\xa9"[i % 11];
	name[LENGTH] = '\0';
	struct build_result result = {.samples = known_samples,
				      .count = KNOWN_SAMPLES,
				      .is_finalized = true,
				      .app_path = name};
	struct reading reading;
	export_file(&result, name);
	char *text = read_file(&reading);
	ck_assert_uint_gt(reading.mapping_count, 0);
	ck_assert_uint_gt(strlen(reading.mappings[0].name), 4000);
	ck_assert_uint_lt(strlen(reading.mappings[0].name), 4096);
	ck_assert_mem_eq(reading.mappings[0].name, name, strlen(reading.mappings[0].name));
	free(text);
	free(name);
}
END_TEST

static ssize_t append_bytes(void *cookie, const char *bytes, size_t size)
{
	(void)cookie;
	file = realloc(file, file_size + size);
	memcpy(file + file_size, bytes, size);
	file_size += size;
	return (ssize_t)size;
}

/* What cannot seek gets perf's pipe form: the same records, behind those of the header. */
START_TEST(test_pipe)
{
	struct build_result result = {.samples = known_samples,
				      .count = KNOWN_SAMPLES,
				      .is_finalized = true};
	struct reading reading;
	export_file(&result, NULL);
	char *expected = read_file(&reading);
	free(file);
	file = NULL;
	file_size = 0;
	FILE *stream = fopencookie(NULL, "w", (cookie_io_functions_t){.write = append_bytes});
	write_file(NULL, stream);
	fclose(stream);
	ck_assert_mem_eq(file, "PERFILE2", 8);
	ck_assert_uint_eq(take_u64(file, 8), 16);
	ck_assert_uint_eq(take_u32(file, 16), 64); /* the event comes first */
	reading = (struct reading){.bytes = file + 16, .size = file_size - 16};
	char *text = read_records(&reading);
	ck_assert_str_eq(text, expected);
	free(text);
	free(expected);
}
END_TEST

/* Switches and waits by time; a thread's end is none. */
START_TEST(test_moments)
{
	struct reading reading;
	export_file(&waited_result, NULL);
	free(read_file(&reading));
	ck_assert_str_eq(moments, "100/100 0 in 0\n"
				  "100/100 100000 out 0\n"
				  "100/101 210000 in 0\n"
				  "100/101 300000 out 0\n"
				  "100/100 600000 waited 500000\n"
				  "100/100 600000 in 0\n"
				  "100/100 650000 out 0\n"
				  "100/100 700000 in 0\n"
				  "100/100 750000 out 0\n"
				  "100/101 900000 waited 600000\n"
				  "100/101 1100000 waited 200000\n"
				  "100/101 1100000 in 0\n"
				  "100/101 1150000 out 0\n"
				  "100/101 1190000 in 0\n"
				  "100/100 1750000 waited 1000000\n"
				  "100/100 1800000 in 0\n"
				  "100/100 2000000 preempted 0\n");
	ck_assert_uint_eq(take_u64(file, 32), 2 * (112 + 16)); /* two events */
}
END_TEST

/* A part of the time, of a thread: it waits at its start, and at its end. */
START_TEST(test_part)
{
	struct reading reading;
	ck_assert_ptr_null(filter_add(&filter, "tid=100"));
	ck_assert_ptr_null(filter_set_from(&filter, "500ms"));
	ck_assert_ptr_null(filter_set_to(&filter, "1s"));
	export_file(&waited_result, NULL);
	free(read_file(&reading));
	ck_assert_str_eq(moments, "100/100 0 out 0\n"
				  "100/100 100000 waited 100000\n"
				  "100/100 100000 in 0\n"
				  "100/100 150000 out 0\n"
				  "100/100 200000 in 0\n"
				  "100/100 250000 out 0\n"
				  "100/100 500000 waited 250000\n");
}
END_TEST

/* Waits of a function; its threads' other time is none of it. */
START_TEST(test_function)
{
	struct reading reading;
	ck_assert_ptr_null(filter_add(&filter, "function=take"));
	export_file(&waited_result, NULL);
	free(read_file(&reading));
	ck_assert_str_eq(moments, "100/100 0 waited 500000\n"
				  "100/101 500000 waited 200000\n");
}
END_TEST

/* Stretches in several records are one; a preempted thread; another CPU; an unknown thread. */
START_TEST(test_stretches)
{
	static const struct build_sample samples[] = {
		{.stack = "app:main", .cpu_ms = 10},
		{.stack = "app:main", .cpu_ms = 10, .thread = 1},
	};
	static const struct build_slice slices[] = {
		{.thread = 1, .before = PROFILE_STATE_READY, .start_us = 100, .run_us = 400},
		{.before = PROFILE_STATE_BLOCKED, .start_us = 1000, .run_us = 1000000},
		{.before = PROFILE_STATE_RUNNING, .start_us = 1001000, .run_us = 500000},
		{.before = PROFILE_STATE_READY, .start_us = 1502000, .run_us = 500, .cpu = 3},
		{.before = PROFILE_STATE_BLOCKED, .start_us = 2000000},
	};
	static const struct build_result result = {.samples = samples,
						   .count = 2,
						   .states = PROFILE_STATES_SWITCHES,
						   .slices = slices,
						   .slice_count = 5};
	struct reading reading;
	export_file(&result, NULL);
	free(read_file(&reading));
	ck_assert_str_eq(moments, "100/100 0 out 0\n"
				  "100/101 100 in 0\n"
				  "100/101 500 out 0\n"
				  "100/100 1000 in 0\n"
				  "100/100 1501000 preempted 0\n"
				  "100/100 1502000 in 3\n"
				  "100/100 1502500 out 3\n");
	ck_assert_uint_eq(take_u64(file, 32), 112 + 16); /* one event */
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("export perf");
	TCase *cases = tcase_create("all");
	tcase_set_timeout(cases, 60);
	tcase_add_checked_fixture(cases, set_up, tear_down);
	tcase_add_test(cases, test_stacks);
	tcase_add_test(cases, test_times);
	tcase_add_test(cases, test_older_result);
	tcase_add_test(cases, test_empty);
	tcase_add_test(cases, test_hostile_names);
	tcase_add_test(cases, test_pipe);
	tcase_add_test(cases, test_moments);
	tcase_add_test(cases, test_part);
	tcase_add_test(cases, test_function);
	tcase_add_test(cases, test_stretches);
	suite_add_tcase(suite, cases);
	return run_suite(suite);
}
