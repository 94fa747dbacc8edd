/* Profiles in pprof's format as results: our own exports come back, others as far as they go. */
#include "tests/support/suite.h"
#include "tests/tools/export/hostile_result.h"
#include "tests/tools/import_stacks/imported.h"
#include "tests/tools/known_result.h"
#include "tools/import_stacks/pprof_tables.h"
#include "tools/pprof/gzip.h"
#include <check.h>
#include <pprof.pb-c.h> /* generated from tools/pprof/pprof.proto */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct build_result known = {.samples = known_samples,
					  .count = KNOWN_SAMPLES,
					  .is_finalized = true,
					  .is_lossless = true};

/* Folded by threads, and callgrind: functions, files, lines and calls with their CPU time. */
static void check_equal(const char *format)
{
	size_t size;
	char *ours = known_export(build_path, format, true, &size);
	char *theirs = known_export(imported_path, format, true, &size);
	ck_assert_uint_gt(size, 10);
	ck_assert(strcmp(ours, theirs) == 0);
	free(ours);
	free(theirs);
}

static void check_round_trip(void)
{
	size_t size;
	char *profile = known_export(build_path, "pprof", false, &size);
	imported_check(import_pprof_read, profile, size);
	free(profile);
	check_equal("folded");
	check_equal("callgrind");
}

START_TEST(test_round_trip)
{
	build_result_write(build_path, &known);
	check_round_trip();
	struct profile_reader *reader = known_reader(imported_path);
	ck_assert_uint_eq(profile_reader_sample_count(reader), 11);
	ck_assert_uint_eq(profile_reader_clock_count(reader), 0);
	ck_assert_uint_eq(profile_reader_interval_ns(reader), 10000000);
	ck_assert_uint_eq(profile_reader_process_count(reader), 2);
	ck_assert_uint_eq(profile_reader_thread_count(reader), 3);
	profile_reader_close(reader);
}
END_TEST

START_TEST(test_round_trip_of_hostile_names)
{
	hostile_result_write(build_path);
	check_round_trip();
}
END_TEST

/* Guessed frames, time in the kernel, in no sample, and of no known thread. */
START_TEST(test_round_trip_of_marks)
{
	static const struct build_sample samples[] = {
		{.stack = "app:main~ app:outer~ app:work",
		 .count = 3,
		 .cpu_ms = 1,
		 .state = PROFILE_STACK_GUESSED},
		{.stack = "app:main ?:x app:work", .count = 2, .cpu_ms = 40, .kernel_ms = 30},
		{.stack = "", .count = 4, .cpu_ms = 2, .is_kernel_only = true},
		{.stack = "lib:leaf",
		 .count = 1,
		 .cpu_ms = 1,
		 .state = PROFILE_STACK_SKIPPED,
		 .reason = PROFILE_SKIP_BUDGET,
		 .thread = 2},
	};
	build_result_write(build_path, &(struct build_result){.samples = samples,
							      .count = 4,
							      .rest_ms = 7,
							      .unattributed_ms = 5,
							      .kernel_time = 1,
							      .is_finalized = true,
							      .is_lossless = true});
	check_round_trip();
	struct profile_reader *reader = known_reader(imported_path);
	ck_assert_uint_eq(profile_reader_unattributed_ns(reader), 5000000);
	profile_reader_close(reader);
}
END_TEST

/* A profile with one sample of each kind, to be changed by the tests. */
struct made {
	Pprof__Profile profile;
	Pprof__ValueType types[2];
	Pprof__ValueType *type_places[2];
	Pprof__Mapping mapping;
	Pprof__Mapping *mapping_place;
	Pprof__Location locations[2];
	Pprof__Location *location_places[2];
	Pprof__Line line;
	Pprof__Line *line_place;
	Pprof__Function function;
	Pprof__Function *function_place;
	Pprof__Sample sample;
	Pprof__Sample *sample_place;
	Pprof__Label label;
	Pprof__Label *label_place;
	uint64_t stack[2];
	int64_t values[2];
	char *texts[16];
};

enum {
	TEXT_NONE,
	SAMPLES,
	COUNT,
	CPU,
	NANOSECONDS,
	FILE_NAME,
	BUILD_ID,
	LEAF,
	BYTES,
	INUSE,
	THREAD,
	WORKER,
	TEXTS
};

static void make(struct made *made)
{
	static const char *const texts[TEXTS] =
		{"",         "samples", "count", "cpu",         "nanoseconds", "/opt/prog",
		 "00ff10aB", "leaf",    "bytes", "inuse_space", "thread_name", "worker 1"};
	memset(made, 0, sizeof(*made));
	for (size_t i = 0; i < TEXTS; i++)
		made->texts[i] = (char *)(uintptr_t)texts[i];
	pprof__profile__init(&made->profile);
	for (size_t i = 0; i < 2; i++) {
		pprof__value_type__init(&made->types[i]);
		pprof__location__init(&made->locations[i]);
		made->type_places[i] = &made->types[i];
		made->location_places[i] = &made->locations[i];
		made->locations[i].id = 70 + i;
		made->locations[i].mapping_id = 9;
		made->locations[i].address = 0x7f0000001010 + i;
		made->stack[i] = 70 + i;
	}
	made->types[0].type = SAMPLES;
	made->types[0].unit = COUNT;
	made->types[1].type = CPU;
	made->types[1].unit = NANOSECONDS;
	pprof__mapping__init(&made->mapping);
	made->mapping_place = &made->mapping;
	made->mapping.id = 9;
	made->mapping.memory_start = 0x7f0000001000;
	made->mapping.memory_limit = 0x7f0000002000;
	made->mapping.file_offset = 0x3000;
	made->mapping.filename = FILE_NAME;
	made->mapping.build_id = BUILD_ID;
	pprof__line__init(&made->line);
	made->line_place = &made->line;
	made->line.function_id = 4;
	made->line.line = 12;
	made->locations[0].n_line = 1;
	made->locations[0].line = &made->line_place;
	pprof__function__init(&made->function);
	made->function_place = &made->function;
	made->function.id = 4;
	made->function.name = LEAF;
	pprof__label__init(&made->label);
	made->label_place = &made->label;
	made->label.key = THREAD;
	made->label.str = WORKER;
	pprof__sample__init(&made->sample);
	made->sample_place = &made->sample;
	made->values[0] = 3;
	made->values[1] = 30000001;
	made->sample.n_value = 2;
	made->sample.value = made->values;
	made->sample.n_location_id = 2;
	made->sample.location_id = made->stack;
	made->sample.n_label = 1;
	made->sample.label = &made->label_place;
	made->profile.n_sample_type = 2;
	made->profile.sample_type = made->type_places;
	made->profile.n_mapping = 1;
	made->profile.mapping = &made->mapping_place;
	made->profile.n_location = 2;
	made->profile.location = made->location_places;
	made->profile.n_function = 1;
	made->profile.function = &made->function_place;
	made->profile.n_sample = 1;
	made->profile.sample = &made->sample_place;
	made->profile.n_string_table = TEXTS;
	made->profile.string_table = made->texts;
}

static uint8_t *pack(const struct made *made, size_t *size)
{
	*size = pprof__profile__get_packed_size(&made->profile);
	uint8_t *bytes = malloc(*size);
	pprof__profile__pack(&made->profile, bytes);
	return bytes;
}

static int read_made(const struct made *made)
{
	size_t size;
	uint8_t *bytes = pack(made, &size);
	ck_assert(
		import_pprof_recognizes(bytes, size < IMPORT_HEAD_SIZE ? size : IMPORT_HEAD_SIZE));
	int status = imported_read(import_pprof_read, bytes, size);
	free(bytes);
	return status;
}

static void check_folded(const char *expected)
{
	char *folded = known_fold(imported_path, true);
	ck_assert_str_eq(folded, expected);
	free(folded);
}

static void check_warning(const char *words)
{
	char *warnings = imported_warnings();
	ck_assert_msg(strstr(warnings, words) != NULL, "%s: %s", words, warnings);
	free(warnings);
}

/* Of another writer: addresses of a process, no owner but the file, a label with the thread. */
START_TEST(test_other_tools)
{
	struct made made;
	make(&made);
	ck_assert_int_eq(read_made(&made), 0);
	check_folded("prog;worker 1-0;func@0x3011;leaf 3\n");
	struct profile_reader *reader = known_reader(imported_path);
	const struct profile_image *image = profile_reader_image(reader, 1);
	ck_assert_str_eq(profile_reader_text(reader, image->path), "/opt/prog");
	ck_assert_uint_eq(image->build_id_size, 4);
	ck_assert_mem_eq(image->build_id, "\x00\xff\x10\xab", 4);
	ck_assert_uint_eq(profile_reader_module_count(reader), 1);
	const struct profile_module_info *module = profile_reader_module(reader, 0);
	ck_assert_uint_eq(module->start, 0x7f0000001000);
	ck_assert_uint_eq(module->length, 0x1000);
	ck_assert_uint_eq(module->rva, 0x3000);
	ck_assert_uint_eq(profile_reader_thread(reader, 0)->cpu_ns, 30000001);
	profile_reader_close(reader);
}
END_TEST

START_TEST(test_fixed_addresses)
{
	struct made made;
	make(&made);
	made.mapping.memory_start = 0x400000;
	made.mapping.memory_limit = 0x500000;
	made.mapping.file_offset = 0;
	made.locations[1].address = 0x401234;
	ck_assert_int_eq(read_made(&made), 0);
	check_folded("prog;worker 1-0;func@0x401234;leaf 3\n");
}
END_TEST

/* Values that are no times are shown, and said to be none. */
START_TEST(test_other_values)
{
	struct made made;
	make(&made);
	made.types[1].type = INUSE;
	made.types[1].unit = BYTES;
	ck_assert_int_eq(read_made(&made), 0);
	check_warning("the profile is of inuse_space in bytes, and has no times");
	made.profile.n_sample_type = 1;
	ck_assert_int_eq(read_made(&made), 0);
	check_warning("the profile counts samples, and has no times: each count is shown as 10 ms");
	made.profile.n_sample_type = 0;
	ck_assert_int_ne(read_made(&made), 0);
}
END_TEST

START_TEST(test_negative_values)
{
	struct made made;
	make(&made);
	made.values[1] = -1;
	ck_assert_int_eq(read_made(&made), 0);
	check_folded("");
	check_warning("1 sample has a negative value");
	made.values[1] = INT64_MAX;
	ck_assert_int_eq(read_made(&made), 0);
	check_warning("1 sample has a value too large to count");
}
END_TEST

/* References that lead nowhere are unknown code, and are counted. */
START_TEST(test_bad_references)
{
	struct made made;
	make(&made);
	made.line.function_id = 5;
	made.stack[1] = 1;
	made.locations[0].mapping_id = UINT64_MAX;
	made.label.key = INT64_MAX;
	ck_assert_int_eq(read_made(&made), 0);
	check_folded("prog;[Unknown]-0;[Unknown frame(s)] 3\n");
	check_warning("3 references of the file lead nowhere");
}
END_TEST

/* Whatever is cut off, what is left is read, or refused. */
START_TEST(test_truncated)
{
	struct made made;
	size_t size;
	make(&made);
	uint8_t *bytes = pack(&made, &size);
	for (size_t i = 1; i < size; i++)
		imported_read(import_pprof_read, bytes, i);
	imported_check(import_pprof_read, bytes, size - 1);
	check_warning("the file is damaged: its end could not be read");
	free(bytes);
}
END_TEST

/* Many lines of one location name a function with a long message: it is read once. */
START_TEST(test_large_function)
{
	enum { LINES = 200000, REPEATS = 400000 };
	struct made made;
	size_t size;
	make(&made);
	Pprof__Line **lines = calloc(LINES, sizeof(Pprof__Line *));
	for (size_t i = 0; i < LINES; i++)
		lines[i] = &made.line;
	made.locations[0].n_line = LINES;
	made.locations[0].line = lines;
	made.profile.n_function = 0;
	uint8_t *bytes = pack(&made, &size);
	free(lines);
	/* The id, and a field that no reader knows. */
	uint8_t head[] = {0x2a, 0x84, 0xea, 0x30, 0x08, 4, 0x10, LEAF};
	bytes = realloc(bytes, size + sizeof(head) + 2 * REPEATS);
	memcpy(bytes + size, head, sizeof(head));
	for (size_t i = 0; i < 2 * REPEATS; i += 2)
		memcpy(bytes + size + sizeof(head) + i, "\x78\x01", 2);
	imported_check(import_pprof_read, bytes, size + sizeof(head) + 2 * REPEATS);
	free(bytes);
}
END_TEST

/* Empty texts, two bytes each: 60 kB in gzip. What does not fit is counted. */
START_TEST(test_many_messages)
{
	struct made made;
	size_t size;
	make(&made);
	uint8_t *bytes = pack(&made, &size);
	bytes = realloc(bytes, size + 2 * PPROF_MESSAGES_MAX);
	for (size_t i = 0; i < PPROF_MESSAGES_MAX; i++)
		memcpy(bytes + size + 2 * i, "\x32\x00", 2);
	imported_check(import_pprof_read, bytes, size + 2 * PPROF_MESSAGES_MAX);
	check_warning("parts of the file are damaged and left out");
	free(bytes);
}
END_TEST

static char *compress(size_t zeros, size_t *size)
{
	static const uint8_t block[1 << 16];
	char *bytes = NULL;
	FILE *stream = open_memstream(&bytes, size);
	struct gzip *gzip = gzip_create(stream);
	for (; zeros >= sizeof(block); zeros -= sizeof(block))
		gzip_write(gzip, block, sizeof(block));
	gzip_finish(gzip);
	fclose(stream);
	return bytes;
}

START_TEST(test_gzip)
{
	size_t size;
	char *bomb = compress((size_t)80 << 20, &size);
	ck_assert(import_pprof_recognizes((uint8_t *)bomb, size));
	ck_assert_int_ne(imported_read(import_pprof_read, bomb, size), 0);
	free(bomb);
	build_result_write(build_path, &known);
	char *profile = known_export(build_path, "pprof", false, &size);
	for (size_t i = 3; i < size; i += 7)
		ck_assert_int_ne(imported_read(import_pprof_read, profile, i), 0);
	free(profile);
}
END_TEST

START_TEST(test_recognizes)
{
	static const char *const others[] = {"",          "a;b 1\n", "PERFILE2",
					     "{\"a\":1}", "\177ELF", "name,start_tsc.TSC\n"};
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		ck_assert_msg(!import_pprof_recognizes((const uint8_t *)others[i],
						       strlen(others[i])),
			      "%s", others[i]);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("import pprof");
	TCase *cases = tcase_create("all");
	tcase_set_timeout(cases, 120);
	tcase_add_checked_fixture(cases, build_set_up, build_tear_down);
	tcase_add_test(cases, test_round_trip);
	tcase_add_test(cases, test_round_trip_of_hostile_names);
	tcase_add_test(cases, test_round_trip_of_marks);
	tcase_add_test(cases, test_other_tools);
	tcase_add_test(cases, test_fixed_addresses);
	tcase_add_test(cases, test_other_values);
	tcase_add_test(cases, test_negative_values);
	tcase_add_test(cases, test_bad_references);
	tcase_add_test(cases, test_truncated);
	tcase_add_test(cases, test_large_function);
	tcase_add_test(cases, test_many_messages);
	tcase_add_test(cases, test_gzip);
	tcase_add_test(cases, test_recognizes);
	suite_add_tcase(suite, cases);
	return run_suite(suite);
}
