/* Profiles in the pprof format of results with known content, read back by protobuf-c. */
#include "profile/write/writer.h"
#include "tests/support/suite.h"
#include "tests/tools/drawn_result.h"
#include "tests/tools/known_result.h"
#include "tests/tools/waited_result.h"
#include <check.h>
#include <inttypes.h>
#include <pprof.pb-c.h> /* generated from tools/export/pprof.proto */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

static char directory[32];
static char path[64];

static void set_up(void)
{
	build_directory(directory);
	snprintf(path, sizeof(path), "%s/r.tb5", directory);
}

static void tear_down(void)
{
	build_directory_remove(directory);
}

/* The profile of the result at path, for the caller to free. */
static Pprof__Profile *export(void)
{
	size_t size;
	size_t room = (size_t)16 << 20;
	char *file = known_export(path, "pprof", false, &size);
	uint8_t *bytes = malloc(room);
	z_stream inflated = {.next_in = (uint8_t *)file, .avail_in = (uInt)size};
	inflated.next_out = bytes;
	inflated.avail_out = (uInt)room;
	ck_assert_int_eq(inflateInit2(&inflated, MAX_WBITS + 16), Z_OK);
	ck_assert_int_eq(inflate(&inflated, Z_FINISH), Z_STREAM_END);
	inflateEnd(&inflated);
	free(file);
	Pprof__Profile *profile = pprof__profile__unpack(NULL, inflated.total_out, bytes);
	ck_assert_ptr_nonnull(profile);
	ck_assert_str_eq(profile->string_table[0], "");
	free(bytes);
	return profile;
}

static Pprof__Profile *export_of(const struct build_result *result)
{
	build_result_write(path, result);
	return export();
}

static const char *text_of(const Pprof__Profile *profile, int64_t index)
{
	ck_assert(index >= 0 && (size_t)index < profile->n_string_table);
	return profile->string_table[index];
}

/* Ids run from 1 in the order of the file. */
static const Pprof__Location *location_of(const Pprof__Profile *profile, uint64_t id)
{
	ck_assert(id >= 1 && id <= profile->n_location);
	ck_assert_uint_eq(profile->location[id - 1]->id, id);
	return profile->location[id - 1];
}

static const Pprof__Function *function_of(const Pprof__Profile *profile, uint64_t id)
{
	ck_assert(id >= 1 && id <= profile->n_function);
	ck_assert_uint_eq(profile->function[id - 1]->id, id);
	return profile->function[id - 1];
}

static void print_sample(const Pprof__Profile *profile, const Pprof__Sample *sample, FILE *stream)
{
	for (size_t i = 0; i < sample->n_label; i++) {
		const Pprof__Label *label = sample->label[i];
		fprintf(stream, "%s=", text_of(profile, label->key));
		if (label->str)
			fprintf(stream, "%s ", text_of(profile, label->str));
		else
			fprintf(stream, "%" PRId64 " ", label->num);
	}
	fputc(':', stream);
	for (size_t i = sample->n_location_id; i-- > 0;) {
		const Pprof__Location *location = location_of(profile, sample->location_id[i]);
		for (size_t j = location->n_line; j-- > 0;)
			fprintf(stream, "%c%s", j + 1 == location->n_line ? ' ' : '>',
				text_of(profile,
					function_of(profile, location->line[j]->function_id)
						->name));
	}
	ck_assert_uint_eq(sample->n_value, profile->n_sample_type);
	for (size_t i = 0; i < sample->n_value; i++)
		fprintf(stream, " %" PRId64, sample->value[i]);
	fputc('\n', stream);
}

/* "LABELS: FRAMES SAMPLES NS" of each sample, outermost first, inlined functions behind ">". */
static char *print_samples(const Pprof__Profile *profile)
{
	char *text = NULL;
	size_t size;
	FILE *stream = open_memstream(&text, &size);
	for (size_t i = 0; i < profile->n_sample; i++)
		print_sample(profile, profile->sample[i], stream);
	fclose(stream);
	return text;
}

static void check_samples(const Pprof__Profile *profile, const char *expected)
{
	char *text = print_samples(profile);
	ck_assert_str_eq(text, expected);
	free(text);
}

static const struct build_result known = {.samples = known_samples,
					  .count = KNOWN_SAMPLES,
					  .is_finalized = true,
					  .is_lossless = true};

#define APP    "comm=app pid=100 thread=app tid=100 "
#define WORKER "comm=app pid=100 thread=worker tid=101 "
#define HELPER "comm=helper pid=101 thread=helper tid=102 "

START_TEST(test_samples)
{
	Pprof__Profile *profile = export_of(&known);
	check_samples(profile,
		      APP "stack=complete : _start start main work 4 40000000\n" WORKER
			  "stack=complete : _start start main outer>inner 2 20000000\n" HELPER
			  "stack=skipped stack_reason=truncated : [Skipped frame(s)] a;b odd "
			  "3 15000000\n" APP
			  "stack=guessed stack_reason=other : [Guessed frame(s)] main 1 "
			  "1000000\n" APP
			  "stack=complete : main [Unknown frame(s)] func@0x1054 1 1000000\n");
	pprof__profile__free_unpacked(profile, NULL);
}
END_TEST

/* What samples do not have is 0: each time is there once. */
START_TEST(test_waits)
{
	Pprof__Profile *profile = export_of(&waited_result);
	check_samples(profile, APP "stack=complete : main work 3 30000000 0 0 300000000\n" APP
				   "stack=complete : main rest 1 10000000 0 0 100000000\n" WORKER
				   "stack=complete : worker spin 2 20000000 0 0 150000000\n" APP
				   "stack=complete : main take pthread_mutex_lock __lll_lock_wait "
				   "[Mutex queue_lock+0x4] 0 0 1 500000000 500000000\n" WORKER
				   "stack=complete : worker await pthread_cond_wait [Condition "
				   "Variable 0x7f00000012a0] 0 0 1 600000000 600000000\n" WORKER
				   "stack=complete : worker take pthread_mutex_lock [Mutex "
				   "queue_lock+0x4] 0 0 1 200000000 200000000\n" APP
				   "stack=complete : main usleep clock_nanosleep [Sleep] 0 0 1 "
				   "1000000000 1000000000\n" APP
				   "stack=none : [Short waits] 0 0 1 50000000 50000000\n" APP
				   "stack=none : [Ready] 0 0 0 0 50000000\n" WORKER
				   "stack=none : [Ready] 0 0 0 0 170000000\n" WORKER
				   "stack=none : [Stopped] 0 0 0 0 40000000\n");
	pprof__profile__free_unpacked(profile, NULL);
}
END_TEST

static void check_type(const Pprof__Profile *profile, const Pprof__ValueType *type,
		       const char *name, const char *unit)
{
	ck_assert_str_eq(text_of(profile, type->type), name);
	ck_assert_str_eq(text_of(profile, type->unit), unit);
}

START_TEST(test_run)
{
	Pprof__Profile *profile = export_of(&known);
	ck_assert_uint_eq(profile->n_sample_type, 2);
	check_type(profile, profile->sample_type[0], "samples", "count");
	check_type(profile, profile->sample_type[1], "cpu", "nanoseconds");
	check_type(profile, profile->period_type, "cpu", "nanoseconds");
	ck_assert_str_eq(text_of(profile, profile->default_sample_type), "cpu");
	ck_assert_int_eq(profile->period, 10000000);
	ck_assert_int_eq(profile->time_nanos, 1700000000000000000);
	ck_assert_int_eq(profile->duration_nanos, 2000000000);
	pprof__profile__free_unpacked(profile, NULL);
}
END_TEST

/* Mappings of the images with frames, the program's first; addresses are the file's own. */
START_TEST(test_locations)
{
	static const char *const files[] = {"/opt/app/app", "/opt/app/lib.so",
					    "/usr/lib/x86_64-linux-gnu/libc.so.6"};
	Pprof__Profile *profile = export_of(&known);
	ck_assert_uint_eq(profile->n_mapping, 3);
	for (size_t i = 0; i < 3; i++) {
		const Pprof__Mapping *mapping = profile->mapping[i];
		ck_assert_uint_eq(mapping->id, i + 1);
		ck_assert_str_eq(text_of(profile, mapping->filename), files[i]);
		ck_assert(mapping->memory_start == 0 && mapping->memory_limit == UINT64_MAX);
		ck_assert(mapping->has_functions && mapping->has_filenames);
		ck_assert(mapping->has_line_numbers && mapping->has_inline_frames == (i == 0));
	}
	/* app:outer>inner is the app's fourth frame. */
	const Pprof__Location *location = location_of(profile, profile->sample[1]->location_id[0]);
	ck_assert_uint_eq(location->mapping_id, 1);
	ck_assert_uint_eq(location->address, 0x1004 + 4 * BUILD_STEP);
	ck_assert_uint_eq(location->n_line, 2);
	for (size_t i = 0; i < 2; i++) {
		const Pprof__Function *function =
			function_of(profile, location->line[i]->function_id);
		ck_assert_int_eq(location->line[i]->line, 50 + (int)i);
		ck_assert_str_eq(text_of(profile, function->name), i ? "outer" : "inner");
		ck_assert_str_eq(text_of(profile, function->system_name),
				 i ? "outer(int)" : "inner(int)");
		ck_assert_str_eq(text_of(profile, function->filename), "/src/app.c");
	}
	/* A mark has no address, and no system name: pprof would shorten equal names. */
	const Pprof__Sample *skipped = profile->sample[2];
	location = location_of(profile, skipped->location_id[skipped->n_location_id - 1]);
	ck_assert(location->mapping_id == 0 && location->address == 0 && location->n_line == 1);
	ck_assert_int_eq(function_of(profile, location->line[0]->function_id)->system_name, 0);
	pprof__profile__free_unpacked(profile, NULL);
}
END_TEST

/* Each stack, location, function and text is written once, however many samples have it. */
START_TEST(test_distinct)
{
	static const struct build_sample samples[] = {
		{.stack = "app:main app:work app:work", .count = 1000, .cpu_ms = 1},
		{.stack = "app:main lib:work", .count = 1000, .cpu_ms = 1},
	};
	Pprof__Profile *profile = export_of(&(struct build_result){.samples = samples,
								   .count = 2,
								   .is_finalized = true,
								   .is_lossless = true});
	check_samples(profile, APP "stack=complete : main work work 1000 1000000000\n" APP
				   "stack=complete : main work 1000 1000000000\n");
	ck_assert_uint_eq(profile->n_location, 3);
	/* The same name and file: what tells them apart is the location's mapping. */
	ck_assert_uint_eq(profile->n_function, 2);
	for (size_t i = 0; i < profile->n_string_table; i++) {
		for (size_t j = 0; j < i; j++)
			ck_assert_str_ne(profile->string_table[i], profile->string_table[j]);
	}
	pprof__profile__free_unpacked(profile, NULL);
}
END_TEST

/* Time in the kernel, in no sample, and of no known thread. */
START_TEST(test_time_without_samples)
{
	static const struct build_sample samples[] = {
		{.stack = "app:main", .count = 2, .cpu_ms = 40, .kernel_ms = 30},
	};
	Pprof__Profile *profile = export_of(&(struct build_result){.samples = samples,
								   .count = 1,
								   .rest_ms = 7,
								   .unattributed_ms = 5,
								   .is_lossless = true,
								   .is_finalized = true});
	check_samples(profile, APP "stack=complete : main 2 20000000\n" APP
				   "stack=none : [System calls and faults] 0 60000000\n" APP
				   ": [No sample] 0 7000000\n"
				   ": [No known thread] 0 5000000\n");
	pprof__profile__free_unpacked(profile, NULL);
}
END_TEST

static uint64_t cpu_of(const Pprof__Profile *profile, const char *function)
{
	uint64_t sum = 0;
	for (size_t i = 0; i < profile->n_sample; i++) {
		const Pprof__Location *leaf =
			location_of(profile, profile->sample[i]->location_id[0]);
		const Pprof__Function *own = function_of(profile, leaf->line[0]->function_id);
		if (strcmp(text_of(profile, own->name), function) == 0)
			sum += (uint64_t)profile->sample[i]->value[1];
	}
	return sum;
}

/* Threads shorter than an interval share the time of their program, as in the report hotspots: the
 * one without a sample gives its time to the function of the other's. */
START_TEST(test_short_threads)
{
	static const char *const names[] = {"crowd"};
	static const struct drawn_thread threads[] = {
		{.name = "crowd", .cpu_ns = 3 * DRAWN_MS},
		{.name = "crowd", .cpu_ns = 5 * DRAWN_MS},
	};
	static const struct drawn_sample samples[] = {{.thread = 1, .cpu_ns = 10 * DRAWN_MS}};
	drawn_result_write(path, &(struct drawn_result){.sampling = PROFILE_SAMPLING_THREADS,
							.interval_ns = 10 * DRAWN_MS,
							.names = names,
							.process_count = 1,
							.threads = threads,
							.thread_count = 2,
							.samples = samples,
							.sample_count = 1});
	Pprof__Profile *profile = export();
	ck_assert_uint_eq(profile->n_sample, 1);
	ck_assert_uint_eq(cpu_of(profile, "f0"), 8 * DRAWN_MS);
	pprof__profile__free_unpacked(profile, NULL);
}
END_TEST

static bool has_comment(const Pprof__Profile *profile, const char *start)
{
	for (size_t i = 0; i < profile->n_comment; i++) {
		if (strncmp(text_of(profile, profile->comment[i]), start, strlen(start)) == 0)
			return true;
	}
	return false;
}

START_TEST(test_comments)
{
	struct build_result result = known;
	Pprof__Profile *profile = export_of(&result);
	ck_assert_uint_eq(profile->n_comment, 1);
	ck_assert(has_comment(profile, "Command Line: app --fast \"a b\""));
	pprof__profile__free_unpacked(profile, NULL);
	result.is_lossless = false;
	result.has_losses = true;
	result.is_not_followed = true;
	result.throttled = 2;
	result.is_finalized = false;
	unlink(path);
	profile = export_of(&result);
	ck_assert(has_comment(profile, "Warning: 3 samples were lost, 11 are here"));
	ck_assert(has_comment(profile, "Warning: the kernel throttled sampling 2 times"));
	ck_assert(has_comment(profile, "Warning: 5 records other than samples lost"));
	ck_assert(has_comment(profile, "Warning: 7 records arrived out of order"));
	ck_assert(has_comment(profile, "Warning: process 0 () was not followed"));
	ck_assert(has_comment(profile, "Warning: the result has no symbols yet"));
	pprof__profile__free_unpacked(profile, NULL);
}
END_TEST

static void write_name(const char *name)
{
	struct profile_writer *writer;
	const struct profile_symbol symbol = {.frame = 0, .line = 1, .start = 0x1000};
	ck_assert_uint_eq(profile_symbol_writer_begin(path, &writer), VT_SUCCESS);
	ck_assert_uint_eq(profile_symbol_writer_add(writer, &symbol,
						    &(struct profile_symbol_text){name, name,
										  name}),
			  VT_SUCCESS);
	ck_assert_uint_eq(profile_symbol_writer_finish(writer), VT_SUCCESS);
}

/* Names come as they are: protobuf says their length. */
START_TEST(test_hostile_names)
{
	static const struct build_sample sample = {.stack = "app:main", .cpu_ms = 10};
	static char large[65537]; /* the longest text of a result */
	const char *const names[] = {"two\nlines;\r\t\"'\\<b>&amp;", "\x1b[31mred\x7f\x01",
				     "\xe2\x80\xaegnirts", "[Skipped frame(s)]", large};
	memset(large, 'x', sizeof(large) - 1);
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		unlink(path);
		build_result_write(path, &(struct build_result){.samples = &sample,
								.count = 1,
								.app_path = "/opt/\"a\nb\"/app"});
		write_name(names[i]);
		Pprof__Profile *profile = export();
		ck_assert_uint_eq(profile->n_function, 1);
		/* The large name is too long for a message of check. */
		const Pprof__Function *function = profile->function[0];
		ck_assert(strcmp(text_of(profile, function->name), names[i]) == 0);
		ck_assert(strcmp(text_of(profile, function->filename), names[i]) == 0);
		ck_assert_str_eq(text_of(profile, profile->mapping[0]->filename),
				 "/opt/\"a\nb\"/app");
		pprof__profile__free_unpacked(profile, NULL);
	}
	/* Bytes that are not UTF-8 are U+FFFD to the reader of the result: protobuf asks for UTF-8.
	 */
	unlink(path);
	build_result_write(path, &(struct build_result){.samples = &sample, .count = 1});
	write_name("a\xff\xc0z");
	Pprof__Profile *profile = export();
	ck_assert_str_eq(text_of(profile, profile->function[0]->name),
			 "a\xef\xbf\xbd\xef\xbf\xbdz");
	pprof__profile__free_unpacked(profile, NULL);
}
END_TEST

/* A damaged result: inlined functions in code of no known module, which is one mark with its
 * caller.
 */
START_TEST(test_symbols_of_unknown_code)
{
	static const struct build_sample sample = {.stack = "?:outer ?:leaf", .cpu_ms = 10};
	static const struct profile_symbol symbols[] = {
		{.frame = 1, .flags = PROFILE_SYMBOL_INLINED},
		{.frame = 1, .depth = 1},
	};
	static const char *const names[] = {"inlined", ""};
	struct profile_writer *writer;
	build_result_write(path, &(struct build_result){.samples = &sample, .count = 1});
	ck_assert_uint_eq(profile_symbol_writer_begin(path, &writer), VT_SUCCESS);
	for (size_t i = 0; i < 2; i++)
		ck_assert_uint_eq(profile_symbol_writer_add(writer, &symbols[i],
							    &(struct profile_symbol_text){names[i],
											  "", ""}),
				  VT_SUCCESS);
	ck_assert_uint_eq(profile_symbol_writer_finish(writer), VT_SUCCESS);
	Pprof__Profile *profile = export();
	check_samples(profile, APP "stack=complete : [Unknown frame(s)] inlined "
				   "1 10000000\n");
	pprof__profile__free_unpacked(profile, NULL);
}
END_TEST

START_TEST(test_empty)
{
	Pprof__Profile *profile = export_of(&(struct build_result){0});
	ck_assert_uint_eq(profile->n_sample + profile->n_location + profile->n_mapping, 0);
	ck_assert_uint_eq(profile->n_sample_type, 2);
	pprof__profile__free_unpacked(profile, NULL);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("export pprof");
	TCase *cases = tcase_create("all");
	tcase_set_timeout(cases, 60);
	tcase_add_checked_fixture(cases, set_up, tear_down);
	tcase_add_test(cases, test_samples);
	tcase_add_test(cases, test_waits);
	tcase_add_test(cases, test_run);
	tcase_add_test(cases, test_locations);
	tcase_add_test(cases, test_distinct);
	tcase_add_test(cases, test_time_without_samples);
	tcase_add_test(cases, test_short_threads);
	tcase_add_test(cases, test_comments);
	tcase_add_test(cases, test_hostile_names);
	tcase_add_test(cases, test_symbols_of_unknown_code);
	tcase_add_test(cases, test_empty);
	suite_add_tcase(suite, cases);
	return run_suite(suite);
}
