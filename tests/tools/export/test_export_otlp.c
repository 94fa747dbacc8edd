/* OpenTelemetry profiles of results with known content, read back by protobuf-c. */
#include "tests/support/suite.h"
#include "tests/tools/export/hostile_result.h"
#include "tests/tools/known_result.h"
#include "tests/tools/waited_result.h"
#include <check.h>
#include <inttypes.h>
#include <otlp.pb-c.h> /* generated from tools/otlp/otlp.proto */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

/* Whether two messages of a dictionary are equal. */
static bool is_equal(const ProtobufCMessage *left, const ProtobufCMessage *right)
{
	size_t size = protobuf_c_message_get_packed_size(left);
	if (size != protobuf_c_message_get_packed_size(right))
		return false;
	uint8_t *bytes = malloc(2 * size + 1);
	protobuf_c_message_pack(left, bytes);
	protobuf_c_message_pack(right, bytes + size);
	bool equal = memcmp(bytes, bytes + size, size) == 0;
	free(bytes);
	return equal;
}

/* The first item stands for none, and no two are equal. */
#define CHECK_TABLE(table, count, is_first_empty)                                                \
	do {                                                                                     \
		ck_assert_uint_ge(count, 1);                                                     \
		if (is_first_empty)                                                              \
			ck_assert_uint_eq(protobuf_c_message_get_packed_size(&(table)[0]->base), \
					  0);                                                    \
		for (size_t i_ = 0; i_ < (count); i_++)                                          \
			for (size_t j_ = 0; j_ < i_; j_++)                                       \
				ck_assert(!is_equal(&(table)[i_]->base, &(table)[j_]->base));    \
	} while (0)

static void check_dictionary(const Otlp__ProfilesDictionary *dictionary)
{
	CHECK_TABLE(dictionary->mapping_table, dictionary->n_mapping_table, true);
	CHECK_TABLE(dictionary->location_table, dictionary->n_location_table, true);
	CHECK_TABLE(dictionary->function_table, dictionary->n_function_table, true);
	CHECK_TABLE(dictionary->link_table, dictionary->n_link_table, false);
	CHECK_TABLE(dictionary->attribute_table, dictionary->n_attribute_table, true);
	CHECK_TABLE(dictionary->stack_table, dictionary->n_stack_table, true);
	ck_assert_str_eq(dictionary->string_table[0], "");
	for (size_t i = 0; i < dictionary->n_string_table; i++) {
		for (size_t j = 0; j < i; j++)
			ck_assert(strcmp(dictionary->string_table[i],
					 dictionary->string_table[j]) != 0);
	}
	const Otlp__Link *link = dictionary->link_table[0];
	ck_assert(link->trace_id.len == 16 && link->span_id.len == 8);
}

/* The data of the result at path, for the caller to free. */
static Otlp__ProfilesData *export(void)
{
	size_t size;
	char *file = known_export(path, "otlp", false, &size);
	Otlp__ProfilesData *data = otlp__profiles_data__unpack(NULL, size, (uint8_t *)file);
	free(file);
	ck_assert_ptr_nonnull(data);
	check_dictionary(data->dictionary);
	return data;
}

static Otlp__ProfilesData *export_of(const struct build_result *result)
{
	build_result_write(path, result);
	return export();
}

static const char *text_of(const Otlp__ProfilesData *data, int32_t index)
{
	ck_assert(index >= 0 && (size_t)index < data->dictionary->n_string_table);
	return data->dictionary->string_table[index];
}

static void print_value(const Otlp__AnyValue *value, FILE *stream)
{
	switch (value->value_case) {
	case OTLP__ANY_VALUE__VALUE_STRING_VALUE:
		fputs(value->string_value, stream);
		break;
	case OTLP__ANY_VALUE__VALUE_INT_VALUE:
		fprintf(stream, "%" PRId64, value->int_value);
		break;
	case OTLP__ANY_VALUE__VALUE_BOOL_VALUE:
		fputs(value->bool_value ? "true" : "false", stream);
		break;
	case OTLP__ANY_VALUE__VALUE_ARRAY_VALUE:
		for (size_t i = 0; i < value->array_value->n_values; i++) {
			fputs(i == 0 ? "[" : ", ", stream);
			print_value(value->array_value->values[i], stream);
		}
		fputc(']', stream);
		break;
	default:
		ck_abort_msg("a value of no kind");
	}
}

static void print_attributes(const Otlp__ProfilesData *data, const int32_t *indices, size_t count,
			     FILE *stream)
{
	for (size_t i = 0; i < count; i++) {
		ck_assert(indices[i] > 0 &&
			  (size_t)indices[i] < data->dictionary->n_attribute_table);
		const Otlp__KeyValueAndUnit *attribute =
			data->dictionary->attribute_table[indices[i]];
		fprintf(stream, "%s=", text_of(data, attribute->key_strindex));
		print_value(attribute->value, stream);
		fputc(' ', stream);
	}
}

static void print_stack(const Otlp__ProfilesData *data, int32_t index, FILE *stream)
{
	const Otlp__ProfilesDictionary *dictionary = data->dictionary;
	ck_assert(index > 0 && (size_t)index < dictionary->n_stack_table);
	const Otlp__Stack *stack = dictionary->stack_table[index];
	for (size_t i = stack->n_location_indices; i-- > 0;) {
		int32_t at = stack->location_indices[i];
		ck_assert(at > 0 && (size_t)at < dictionary->n_location_table);
		const Otlp__Location *location = dictionary->location_table[at];
		for (size_t j = location->n_lines; j-- > 0;) {
			int32_t function = location->lines[j]->function_index;
			ck_assert(function > 0 && (size_t)function < dictionary->n_function_table);
			fprintf(stream, "%c%s", j + 1 == location->n_lines ? ' ' : '>',
				text_of(data, dictionary->function_table[function]->name_strindex));
		}
	}
}

static void print_profile(const Otlp__ProfilesData *data, const Otlp__Profile *profile,
			  FILE *stream)
{
	fprintf(stream, "%s %s\n", text_of(data, profile->sample_type->type_strindex),
		text_of(data, profile->sample_type->unit_strindex));
	for (size_t i = 0; i < profile->n_samples; i++) {
		const Otlp__Sample *sample = profile->samples[i];
		print_attributes(data, sample->attribute_indices, sample->n_attribute_indices,
				 stream);
		fputc(':', stream);
		print_stack(data, sample->stack_index, stream);
		ck_assert_uint_eq(sample->n_values, 1);
		fprintf(stream, " %" PRId64 "\n", sample->values[0]);
	}
}

/* The samples of each resource, with the attributes behind the given one. */
static char *print_samples(const Otlp__ProfilesData *data, const char *from)
{
	char *text = NULL;
	size_t size;
	FILE *stream = open_memstream(&text, &size);
	for (size_t i = 0; i < data->n_resource_profiles; i++) {
		const Otlp__ResourceProfiles *resource = data->resource_profiles[i];
		bool is_from = false;
		for (size_t j = 0; j < resource->resource->n_attributes; j++) {
			const Otlp__KeyValue *attribute = resource->resource->attributes[j];
			is_from |= strcmp(attribute->key, from) == 0;
			if (!is_from)
				continue;
			fprintf(stream, "%s=", attribute->key);
			print_value(attribute->value, stream);
			fputc(' ', stream);
		}
		fputc('\n', stream);
		ck_assert_uint_eq(resource->n_scope_profiles, 1);
		ck_assert_str_eq(resource->scope_profiles[0]->scope->name, "tbcollect");
		for (size_t j = 0; j < resource->scope_profiles[0]->n_profiles; j++)
			print_profile(data, resource->scope_profiles[0]->profiles[j], stream);
	}
	fclose(stream);
	return text;
}

static void check_samples(const Otlp__ProfilesData *data, const char *expected)
{
	char *text = print_samples(data, "process.pid");
	ck_assert_str_eq(text, expected);
	free(text);
}

static const struct build_result known = {.samples = known_samples,
					  .count = KNOWN_SAMPLES,
					  .is_finalized = true,
					  .is_lossless = true};

#define APP     "thread.id=100 thread.name=app tbcollect.stack="
#define WORKER  "thread.id=101 thread.name=worker tbcollect.stack="
#define GUESS   "guessed tbcollect.stack_reason=other : "
#define SKIPPED "skipped tbcollect.stack_reason=truncated : "
#define PROCESS(pid, name)                                   \
	"process.pid=" #pid " process.executable.name=" name \
	" process.executable.path=/opt/app/" name " process.title=" name " "
#define HELPER "thread.id=102 thread.name=helper tbcollect.stack="

START_TEST(test_samples)
{
	Otlp__ProfilesData *data = export_of(&known);
	check_samples(data,
		      PROCESS(100,
			      "app") "process.command_line=app --fast \"a b\" \ncpu "
				     "nanoseconds\n" APP
				     "complete : _start start main work 40000000\n" WORKER
				     "complete : _start start main outer>inner 20000000\n" APP GUESS
				     "[Guessed frame(s)] main 1000000\n" APP
				     "complete : main [Unknown frame(s)] func@0x1054 1000000\n"
				     "samples count\n" APP
				     "complete : _start start main work 4\n" WORKER
				     "complete : _start start main outer>inner 2\n" APP GUESS
				     "[Guessed frame(s)] main 1\n" APP
				     "complete : main [Unknown frame(s)] func@0x1054 1\n" PROCESS(
					     101, "helper") "\ncpu nanoseconds\n" HELPER SKIPPED
							    "[Skipped frame(s)] a;b odd 15000000\n"
							    "samples count\n" HELPER SKIPPED
							    "[Skipped frame(s)] a;b odd 3\n");
	otlp__profiles_data__free_unpacked(data, NULL);
}
END_TEST

START_TEST(test_waits)
{
	Otlp__ProfilesData *data = export_of(&waited_result);
	check_samples(
		data,
		PROCESS(100,
			"app") "process.command_line=app --fast \"a b\" \n"
			       "cpu nanoseconds\n" APP "complete : main work 30000000\n" APP
			       "complete : main rest 10000000\n" WORKER
			       "complete : worker spin 20000000\n"
			       "samples count\n" APP "complete : main work 3\n" APP
			       "complete : main rest 1\n" WORKER "complete : worker spin 2\n"
			       "wait nanoseconds\n" APP
			       "complete : main take pthread_mutex_lock __lll_lock_wait [Mutex "
			       "queue_lock+0x4] 500000000\n" WORKER
			       "complete : worker await pthread_cond_wait [Condition Variable "
			       "0x7f00000012a0] 600000000\n" WORKER
			       "complete : worker take pthread_mutex_lock [Mutex queue_lock+0x4] "
			       "200000000\n" APP
			       "complete : main usleep clock_nanosleep [Sleep] 1000000000\n" APP
			       "none : [Short waits] 50000000\n"
			       "waits count\n" APP
			       "complete : main take pthread_mutex_lock __lll_lock_wait [Mutex "
			       "queue_lock+0x4] 1\n" WORKER
			       "complete : worker await pthread_cond_wait [Condition Variable "
			       "0x7f00000012a0] 1\n" WORKER
			       "complete : worker take pthread_mutex_lock [Mutex queue_lock+0x4] "
			       "1\n" APP "complete : main usleep clock_nanosleep [Sleep] 1\n" APP
			       "none : [Short waits] 1\n"
			       "wall nanoseconds\n" APP "complete : main work 300000000\n" APP
			       "complete : main rest 100000000\n" WORKER
			       "complete : worker spin 150000000\n" APP
			       "complete : main take pthread_mutex_lock __lll_lock_wait [Mutex "
			       "queue_lock+0x4] 500000000\n" WORKER
			       "complete : worker await pthread_cond_wait [Condition Variable "
			       "0x7f00000012a0] 600000000\n" WORKER
			       "complete : worker take pthread_mutex_lock [Mutex queue_lock+0x4] "
			       "200000000\n" APP
			       "complete : main usleep clock_nanosleep [Sleep] 1000000000\n" APP
			       "none : [Short waits] 50000000\n" APP
			       "none : [Ready] 50000000\n" WORKER
			       "none : [Ready] 170000000\n" WORKER "none : [Stopped] 40000000\n");
	otlp__profiles_data__free_unpacked(data, NULL);
}
END_TEST

static const Otlp__Profile *first_profile(const Otlp__ProfilesData *data)
{
	return data->resource_profiles[0]->scope_profiles[0]->profiles[0];
}

START_TEST(test_run)
{
	Otlp__ProfilesData *data = export_of(&known);
	const Otlp__Profile *profile = first_profile(data);
	ck_assert_str_eq(text_of(data, profile->period_type->type_strindex), "cpu");
	ck_assert_str_eq(text_of(data, profile->period_type->unit_strindex), "nanoseconds");
	ck_assert_int_eq(profile->period, 10000000);
	ck_assert_uint_eq(profile->time_unix_nano, 1700000000000000000);
	ck_assert_uint_eq(profile->duration_nano, 2000000000);
	char *text = NULL;
	size_t size;
	FILE *stream = open_memstream(&text, &size);
	print_attributes(data, profile->attribute_indices, profile->n_attribute_indices, stream);
	fclose(stream);
	ck_assert_str_eq(text, "pprof.profile.comment=[Command Line: app --fast \"a b\"] ");
	free(text);
	otlp__profiles_data__free_unpacked(data, NULL);
}
END_TEST

/* Files, build-ids, addresses of the file's own, inlined functions with their lines. */
START_TEST(test_locations)
{
	Otlp__ProfilesData *data = export_of(&known);
	const Otlp__ProfilesDictionary *dictionary = data->dictionary;
	ck_assert_uint_eq(dictionary->n_mapping_table, 4);
	const Otlp__Mapping *mapping = dictionary->mapping_table[1];
	ck_assert_str_eq(text_of(data, mapping->filename_strindex), "/opt/app/app");
	ck_assert(mapping->memory_start == 0 && mapping->memory_limit == UINT64_MAX);
	const Otlp__Location *found = NULL;
	for (size_t i = 1; i < dictionary->n_location_table; i++) {
		if (dictionary->location_table[i]->n_lines == 2)
			found = dictionary->location_table[i];
	}
	ck_assert_ptr_nonnull(found);
	ck_assert_int_eq(found->mapping_index, 1);
	ck_assert_uint_eq(found->address, 0x1004 + 4 * BUILD_STEP);
	for (size_t i = 0; i < 2; i++) {
		const Otlp__Function *function =
			dictionary->function_table[found->lines[i]->function_index];
		ck_assert_int_eq(found->lines[i]->line, 50 + (int)i);
		ck_assert_str_eq(text_of(data, function->name_strindex), i ? "outer" : "inner");
		ck_assert_str_eq(text_of(data, function->system_name_strindex),
				 i ? "outer(int)" : "inner(int)");
		ck_assert_str_eq(text_of(data, function->filename_strindex), "/src/app.c");
	}
	otlp__profiles_data__free_unpacked(data, NULL);
}
END_TEST

/* Time in the kernel, in no sample, and of no known thread, which is of no process. */
START_TEST(test_time_without_samples)
{
	static const struct build_sample samples[] = {
		{.stack = "app:main", .count = 2, .cpu_ms = 40, .kernel_ms = 30},
	};
	Otlp__ProfilesData *data = export_of(&(struct build_result){.samples = samples,
								    .count = 1,
								    .rest_ms = 7,
								    .unattributed_ms = 5,
								    .is_lossless = true,
								    .is_finalized = true});
	check_samples(data,
		      PROCESS(100, "app") "process.command_line=app --fast \"a b\" \ncpu "
					  "nanoseconds\n" APP "complete : main 20000000\n" APP
					  "none : [System calls and faults] 60000000\n"
					  "thread.id=100 thread.name=app : [No sample] 7000000\n"
					  "samples count\n" APP "complete : main 2\n"
					  "\ncpu nanoseconds\n"
					  ": [No known thread] 5000000\n"
					  "samples count\n");
	otlp__profiles_data__free_unpacked(data, NULL);
}
END_TEST

START_TEST(test_hostile_names)
{
	hostile_result_write(path);
	Otlp__ProfilesData *data = export();
	ck_assert_uint_eq(data->n_resource_profiles, HOSTILE_NAMES);
	for (unsigned i = 0; i < HOSTILE_NAMES; i++) {
		bool is_found = false;
		for (size_t j = 1; j < data->dictionary->n_function_table; j++) {
			const Otlp__Function *function = data->dictionary->function_table[j];
			is_found |= strcmp(text_of(data, function->name_strindex),
					   hostile_name_read(i)) == 0;
		}
		ck_assert_msg(is_found, "name %u", i);
	}
	otlp__profiles_data__free_unpacked(data, NULL);
}
END_TEST

/* A result without samples tells of its run. */
START_TEST(test_empty)
{
	Otlp__ProfilesData *data = export_of(&(struct build_result){0});
	ck_assert_uint_eq(data->n_resource_profiles, 1);
	ck_assert_uint_eq(first_profile(data)->n_samples, 0);
	ck_assert_int_eq(first_profile(data)->period, 10000000);
	otlp__profiles_data__free_unpacked(data, NULL);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("export otlp");
	TCase *cases = tcase_create("all");
	tcase_set_timeout(cases, 60);
	tcase_add_checked_fixture(cases, set_up, tear_down);
	tcase_add_test(cases, test_samples);
	tcase_add_test(cases, test_waits);
	tcase_add_test(cases, test_run);
	tcase_add_test(cases, test_locations);
	tcase_add_test(cases, test_time_without_samples);
	tcase_add_test(cases, test_hostile_names);
	tcase_add_test(cases, test_empty);
	suite_add_tcase(suite, cases);
	return run_suite(suite);
}
