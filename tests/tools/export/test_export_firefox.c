/* Firefox profiles of results with known content, as a reader of JSON reads them. */
#include "profile/read/external.h"
#include "profile/write/writer.h"
#include "tests/support/suite.h"
#include "tests/tools/export/hostile_result.h"
#include "tests/tools/known_result.h"
#include "tests/tools/waited_result.h"
#include <check.h>
#include <json-c/json.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

static const char *const path = build_path;

static struct json_object *member(struct json_object *object, const char *name)
{
	struct json_object *found;
	ck_assert_msg(json_object_object_get_ex(object, name, &found), "no %s", name);
	return found;
}

static struct json_object *at(struct json_object *array, size_t index)
{
	ck_assert_uint_lt(index, json_object_array_length(array));
	return json_object_array_get_idx(array, index);
}

/* A cell of a table; NULL is null. */
static struct json_object *cell(struct json_object *table, const char *column, size_t row)
{
	ck_assert_uint_eq(json_object_array_length(member(table, column)),
			  json_object_get_uint64(member(table, "length")));
	return at(member(table, column), row);
}

static int64_t number(struct json_object *table, const char *column, size_t row)
{
	struct json_object *value = cell(table, column, row);
	ck_assert_msg(json_object_is_type(value, json_type_int), "%s", column);
	return json_object_get_int64(value);
}

static const char *text_of(struct json_object *object, const char *name)
{
	return json_object_get_string(member(object, name));
}

static struct json_object *export_result(void)
{
	size_t size;
	size_t room = (size_t)16 << 20;
	char *file = known_export(path, "firefox", false, &size);
	char *text = malloc(room);
	z_stream inflated = {.next_in = (Bytef *)file, .avail_in = (uInt)size};
	inflated.next_out = (Bytef *)text;
	inflated.avail_out = (uInt)room - 1;
	ck_assert_int_eq(inflateInit2(&inflated, MAX_WBITS + 16), Z_OK);
	ck_assert_int_eq(inflate(&inflated, Z_FINISH), Z_STREAM_END);
	text[inflated.total_out] = '\0';
	ck_assert_uint_eq(strlen(text), inflated.total_out);
	inflateEnd(&inflated);
	free(file);
	enum json_tokener_error error;
	struct json_object *profile = json_tokener_parse_verbose(text, &error);
	ck_assert_msg(profile, "%s", json_tokener_error_desc(error));
	free(text);
	return profile;
}

static struct json_object *export_of(const struct build_result *result)
{
	build_result_write(path, result);
	return export_result();
}

static struct json_object *table(struct json_object *profile, const char *name)
{
	return member(member(profile, "shared"), name);
}

static const char *string(struct json_object *profile, size_t index)
{
	return json_object_get_string(at(table(profile, "stringArray"), index));
}

static const char *function_name(struct json_object *profile, size_t frame)
{
	size_t function = (size_t)number(table(profile, "frameTable"), "func", frame);
	return string(profile, (size_t)number(table(profile, "funcTable"), "name", function));
}

/* "root;...;leaf" goes behind the text. */
static void append_stack(char *text, struct json_object *profile, size_t stack)
{
	struct json_object *stacks = table(profile, "stackTable");
	size_t prefix = (size_t)number(stacks, "prefixOffset", stack);
	ck_assert_uint_le(prefix, stack);
	if (prefix > 0) {
		append_stack(text, profile, stack - prefix);
		strcat(text, ";");
	}
	strcat(text, function_name(profile, (size_t)number(stacks, "frame", stack)));
}

/* "a;b 10,c 5@TIME": stacks with their weights in ms, in order. CPU use is the weight in us. */
static void describe_samples(char *text, struct json_object *profile, struct json_object *samples)
{
	double time = 0;
	text[0] = '\0';
	for (size_t i = 0; i < json_object_get_uint64(member(samples, "length")); i++) {
		double weight = json_object_get_double(cell(samples, "weight", i));
		ck_assert_int_eq(llround(weight * 1e3), number(samples, "threadCPUDelta", i));
		time += json_object_get_double(cell(samples, "timeDeltas", i));
		struct json_object *stack = cell(samples, "stack", i);
		strcat(text, i > 0 ? "," : "");
		if (stack)
			append_stack(text, profile, json_object_get_uint64(stack));
		else
			strcat(text, "-");
		sprintf(text + strlen(text), " %g@%g", weight, time);
	}
}

static void expect_thread(struct json_object *profile, size_t index, const char *process,
			  const char *pid, const char *name, const char *expected)
{
	char text[2048];
	struct json_object *thread = at(member(profile, "threads"), index);
	describe_samples(text, profile, member(thread, "samples"));
	ck_assert_str_eq(text, expected);
	ck_assert_str_eq(text_of(thread, "processName"), process);
	ck_assert_str_eq(text_of(thread, "pid"), pid);
	ck_assert_str_eq(text_of(thread, "name"), name);
	ck_assert_str_eq(text_of(member(thread, "samples"), "weightType"), "tracing-ms");
}

static const struct build_result known = {.samples = known_samples,
					  .count = KNOWN_SAMPLES,
					  .rest_ms = 7,
					  .unattributed_ms = 2,
					  .is_finalized = true};

/* Threads by CPU time, samples in the order of time with their seams; the first one has none, so
 * that the first sample's CPU time counts. */
START_TEST(test_known_result)
{
	struct json_object *profile = export_of(&known);
	ck_assert_uint_eq(json_object_array_length(member(profile, "threads")), 4);
	expect_thread(profile, 0, "app", "100", "app",
		      "- 0@0,_start;start;main;work 10@10,_start;start;main;work 10@20,"
		      "_start;start;main;work 10@30,_start;start;main;work 10@40,"
		      "main;[Unknown frame(s)];func@0x1054 1@100,[Guessed frame(s)];main 1@110,"
		      "[No sample] 7@110");
	expect_thread(profile, 1, "app", "100", "worker",
		      "- 0@40,_start;start;main;outer;inner 10@50,"
		      "_start;start;main;outer;inner 10@60");
	expect_thread(profile, 2, "helper", "101", "helper",
		      "- 0@65,[Skipped frame(s)];a;b;odd 5@70,[Skipped frame(s)];a;b;odd 5@80,"
		      "[Skipped frame(s)];a;b;odd 5@90");
	expect_thread(profile, 3, "[No known thread]", "0", "[No known thread]",
		      "- 0@0,[No known thread] 2@0");
	json_object_put(profile);
}
END_TEST

static size_t find_frame(struct json_object *profile, const char *function)
{
	struct json_object *frames = table(profile, "frameTable");
	for (size_t i = 0; i < json_object_get_uint64(member(frames, "length")); i++) {
		if (strcmp(function_name(profile, i), function) == 0)
			return i;
	}
	ck_abort_msg("no frame of %.100s", function);
	return 0;
}

static const char *category_of(struct json_object *profile, const char *function)
{
	struct json_object *categories = member(member(profile, "meta"), "categories");
	struct json_object *frames = table(profile, "frameTable");
	size_t frame = find_frame(profile, function);
	struct json_object *category = at(categories, (size_t)number(frames, "category", frame));
	static char text[128];
	snprintf(text, sizeof(text), "%s: %s", text_of(category, "name"),
		 json_object_get_string(at(member(category, "subcategories"),
					   (size_t)number(frames, "subcategory", frame))));
	return text;
}

START_TEST(test_categories)
{
	static const struct build_sample samples[] = {
		{.stack = "app:main libc:start jit:made ? app:work", .count = 1, .cpu_ms = 1},
		{.stack = "app:main",
		 .count = 1,
		 .cpu_ms = 1,
		 .state = PROFILE_STACK_SKIPPED,
		 .reason = PROFILE_SKIP_BUDGET},
		{.stack = "app:main", .count = 1, .cpu_ms = 1, .state = PROFILE_STACK_GUESSED},
		{.stack = "", .count = 1, .cpu_ms = 1, .is_kernel_only = true},
	};
	struct json_object *profile = export_of(&(struct build_result){.samples = samples,
								       .count = 4,
								       .rest_ms = 1,
								       .is_finalized = true});
	ck_assert_str_eq(category_of(profile, "main"), "User: Other");
	ck_assert_str_eq(category_of(profile, "start"), "System Libraries: Other");
	ck_assert_str_eq(category_of(profile, "made"), "Generated Code: Other");
	ck_assert_str_eq(category_of(profile, "[Unknown frame(s)]"), "Unknown Code: Other");
	ck_assert_str_eq(category_of(profile, "[Skipped frame(s)]"), "Missing Frames: Skipped");
	ck_assert_str_eq(category_of(profile, "[Guessed frame(s)]"), "Missing Frames: Guessed");
	ck_assert_str_eq(category_of(profile, "[System calls and faults]"), "Kernel: Other");
	ck_assert_str_eq(category_of(profile, "[No sample]"), "No Sample: Other");
	json_object_put(profile);
}
END_TEST

/* Inlined functions share the address of the one around them, and its symbol. */
START_TEST(test_frames)
{
	struct json_object *profile = export_of(&known);
	struct json_object *frames = table(profile, "frameTable");
	struct json_object *functions = table(profile, "funcTable");
	struct json_object *symbols = table(profile, "nativeSymbols");
	size_t outer = find_frame(profile, "outer");
	size_t inner = find_frame(profile, "inner");
	ck_assert_int_eq(number(frames, "inlineDepth", outer), 0);
	ck_assert_int_eq(number(frames, "inlineDepth", inner), 1);
	ck_assert_int_eq(number(frames, "address", inner), number(frames, "address", outer));
	ck_assert_int_eq(number(frames, "line", inner), 50);
	ck_assert_int_eq(number(frames, "line", outer), 51);
	size_t symbol = (size_t)number(frames, "nativeSymbol", inner);
	ck_assert_uint_eq(number(frames, "nativeSymbol", outer), symbol);
	ck_assert_str_eq(string(profile, (size_t)number(symbols, "name", symbol)), "outer(int)");
	ck_assert_int_eq(number(symbols, "address", symbol), number(frames, "address", outer) - 4);
	ck_assert_int_eq(number(symbols, "libIndex", symbol), number(frames, "lib", outer));
	size_t function = (size_t)number(frames, "func", inner);
	ck_assert_str_eq(string(profile,
				(size_t)number(table(profile, "sources"), "filename",
					       (size_t)number(functions, "source", function))),
			 "/src/app.c");
	ck_assert_str_eq(string(profile,
				(size_t)number(table(profile, "resourceTable"), "name",
					       (size_t)number(functions, "resource", function))),
			 "app");
	size_t unknown = find_frame(profile, "[Unknown frame(s)]");
	ck_assert_int_eq(number(frames, "address", unknown), -1);
	ck_assert_int_eq(number(frames, "lib", unknown), -1);
	ck_assert_ptr_null(cell(frames, "line", unknown));
	ck_assert_int_eq(number(functions, "resource", (size_t)number(frames, "func", unknown)),
			 -1);
	json_object_put(profile);
}
END_TEST

START_TEST(test_facts)
{
	struct json_object *profile = export_of(&known);
	struct json_object *meta = member(profile, "meta");
	struct json_object *frames = table(profile, "frameTable");
	struct json_object *lib = at(member(profile, "libs"),
				     (size_t)number(frames, "lib", find_frame(profile, "main")));
	ck_assert_int_eq(json_object_get_int(member(meta, "preprocessedProfileVersion")), 70);
	ck_assert_double_eq(json_object_get_double(member(meta, "interval")), 10);
	ck_assert_str_eq(text_of(meta, "arguments"), "app --fast \"a b\"");
	ck_assert_str_eq(text_of(member(meta, "sampleUnits"), "threadCPUDelta"), "\302\265s");
	ck_assert_str_eq(text_of(lib, "name"), "app");
	ck_assert_str_eq(text_of(lib, "path"), "/opt/app/app");
	ck_assert_str_eq(text_of(lib, "breakpadId"), "");
	ck_assert_ptr_null(member(lib, "codeId"));
	json_object_put(profile);
}
END_TEST

static void expect_marker(struct json_object *profile, size_t thread, size_t index,
			  const char *name, const char *text, int value)
{
	struct json_object *markers = member(at(member(profile, "threads"), thread), "markers");
	struct json_object *data = cell(markers, "data", index);
	ck_assert_str_eq(string(profile, (size_t)number(markers, "name", index)), name);
	ck_assert_int_eq(number(markers, "phase", index), 1);
	ck_assert_str_eq(text_of(data, "name"), text);
	ck_assert_int_eq(json_object_get_int(member(data, "number")), value);
	ck_assert_double_le(json_object_get_double(cell(markers, "startTime", index)),
			    json_object_get_double(cell(markers, "endTime", index)));
}

START_TEST(test_lives)
{
	struct json_object *profile = export_of(&known);
	struct json_object *threads = member(profile, "threads");
	expect_marker(profile, 0, 0, "Thread", "app", 100);
	expect_marker(profile, 0, 1, "Process", "/opt/app/app", 100);
	expect_marker(profile, 1, 0, "Thread", "worker", 101);
	ck_assert_int_eq(json_object_get_int(member(member(at(threads, 1), "markers"), "length")),
			 1);
	ck_assert(json_object_get_boolean(member(at(threads, 0), "isMainThread")));
	ck_assert(!json_object_get_boolean(member(at(threads, 1), "isMainThread")));
	json_object_put(profile);
}
END_TEST

static void add_record(struct profile_writer *writer, enum profile_stream stream,
		       const void *record, const char *const *texts)
{
	ck_assert_uint_eq(profile_writer_add(writer, stream, record, texts, NULL), VT_SUCCESS);
}

/* TSC 5000 is the start, and 2 of it a ns. */
static void add_external(void)
{
	static const char *const source[] = {"a.csv", "host"};
	static const char *const names[] = {"load", "a \"task\"", "MHz", "faults"};
	static const unsigned kinds[] = {PROFILE_SERIES_FRAME, PROFILE_SERIES_TASK,
					 PROFILE_SERIES_INST, PROFILE_SERIES_COUNT};
	static const struct profile_interval intervals[] = {
		{.start_tsc = 5000, .end_tsc = 9000},
		{.start_tsc = 7000, .end_tsc = 11000, .series = 1, .pid = 100, .tid = 101},
		{.start_tsc = 7000, .end_tsc = 9000, .series = 1, .pid = 101, .tid = 9999},
	};
	struct profile_counter values[] = {
		{.tsc = 7000, .series = 2, .flags = PROFILE_COUNTER_REAL},
		{.tsc = 9000, .series = 3, .pid = 100, .tid = 101, .value = UINT64_MAX},
		{.tsc = 9000, .series = 2, .flags = PROFILE_COUNTER_REAL},
	};
	const double reals[] = {0.5, (double)INFINITY};
	struct profile_writer *writer;
	memcpy(&values[0].value, &reals[0], sizeof(reals[0]));
	memcpy(&values[2].value, &reals[1], sizeof(reals[1]));
	ck_assert_uint_eq(profile_external_writer_begin(path, &writer), VT_SUCCESS);
	add_record(writer, PROFILE_STREAM_SOURCES,
		   &(struct profile_source){.clock = PROFILE_CLOCK_RAW}, source);
	for (size_t i = 0; i < 4; i++)
		add_record(writer, PROFILE_STREAM_SERIES,
			   &(struct profile_series){.kind = kinds[i]}, &names[i]);
	for (size_t i = 0; i < 3; i++)
		add_record(writer, PROFILE_STREAM_INTERVALS, &intervals[i], NULL);
	for (size_t i = 0; i < 3; i++)
		add_record(writer, PROFILE_STREAM_COUNTERS, &values[i], NULL);
	ck_assert_uint_eq(profile_external_writer_finish(writer), VT_SUCCESS);
}

/* "TYPE NAME START-END" in us, or of a value "TYPE NAME START=VALUE", behind the lives. */
static void expect_external(struct json_object *profile, size_t thread, size_t lives,
			    const char *expected)
{
	struct json_object *markers = member(at(member(profile, "threads"), thread), "markers");
	char text[512] = "";
	for (size_t i = lives; i < json_object_get_uint64(member(markers, "length")); i++) {
		struct json_object *data = cell(markers, "data", i);
		const char *name = string(profile, (size_t)number(markers, "name", i));
		struct json_object *end = cell(markers, "endTime", i);
		bool is_interval = number(markers, "phase", i) == 1;
		ck_assert_str_eq(text_of(data, "name"), name);
		ck_assert(is_interval == (end != NULL));
		sprintf(text + strlen(text), "%s%s %s %g", i > lives ? "," : "",
			text_of(data, "type"), name,
			json_object_get_double(cell(markers, "startTime", i)) * 1e3);
		if (is_interval)
			sprintf(text + strlen(text), "-%g", json_object_get_double(end) * 1e3);
		else if (member(data, "value") != NULL)
			sprintf(text + strlen(text), "=%g",
				json_object_get_double(member(data, "value")));
	}
	ck_assert_str_eq(text, expected);
}

/* What is of no thread is with its process, what is of nobody with the first thread. */
START_TEST(test_external)
{
	build_result_write(path, &known);
	add_external();
	struct json_object *profile = export_result();
	expect_external(profile, 0, 2, "Frame load 0-2,Counter MHz 1=0.5,Counter MHz 2");
	expect_external(profile, 1, 1, "Task a \"task\" 1-3,Counter faults 2=-1");
	expect_external(profile, 2, 1, "Task a \"task\" 1-2");
	json_object_put(profile);
}
END_TEST

/* Kernel time was before the sample that it comes with. */
/* "TYPE NAME TIME+LENGTH [CATEGORY]: STACK,..." in ms, of markers behind the lives. */
static void expect_states(struct json_object *profile, size_t thread, size_t lives,
			  const char *expected)
{
	char text[2048] = "";
	struct json_object *markers = member(at(member(profile, "threads"), thread), "markers");
	struct json_object *categories = member(member(profile, "meta"), "categories");
	size_t count = (size_t)json_object_get_int(member(markers, "length"));
	for (size_t i = lives; i < count; i++) {
		struct json_object *data = cell(markers, "data", i);
		struct json_object *cause;
		double start = json_object_get_double(cell(markers, "startTime", i));
		double end = json_object_get_double(cell(markers, "endTime", i));
		size_t category = (size_t)number(markers, "category", i);
		sprintf(text + strlen(text), "%s%s %s %g+%g [%s]", text[0] ? "," : "",
			text_of(data, "type"), text_of(data, "name"), start, end - start,
			text_of(at(categories, category), "name"));
		if (!json_object_object_get_ex(data, "cause", &cause))
			continue;
		strcat(text, ": ");
		append_stack(text, profile, (size_t)json_object_get_int(member(cause, "stack")));
	}
	ck_assert_str_eq(text, expected);
}

/* CPU use between the samples is what the thread ran: samples of no stack stand at its ends. */
static void expect_cpu_use(struct json_object *profile, size_t thread, int64_t running_us)
{
	struct json_object *samples = member(at(member(profile, "threads"), thread), "samples");
	size_t count = (size_t)json_object_get_int(member(samples, "length"));
	int64_t us = 0;
	for (size_t i = 0; i < count; i++)
		us += number(samples, "threadCPUDelta", i);
	ck_assert_int_eq(us, running_us);
	ck_assert_ptr_null(cell(samples, "stack", 0));
	ck_assert_ptr_null(cell(samples, "stack", count - 1));
}

START_TEST(test_waits)
{
	struct json_object *profile = export_of(&waited_result);
	expect_states(profile, 0, 2,
		      "Wait Mutex queue_lock+0x4 100+500 [Waiting]: "
		      "main;take;pthread_mutex_lock;__lll_lock_wait,"
		      "State Blocked 650+50 [Waiting],"
		      "Wait Sleep 750+1000 [Waiting]: main;usleep;clock_nanosleep,"
		      "State Ready 1750+50 [Ready]");
	expect_states(profile, 1, 1,
		      "State Ready 40+170 [Ready],"
		      "Wait Condition Variable 0x7f00000012a0 300+600 [Waiting]: "
		      "worker;await;pthread_cond_wait,"
		      "Wait Mutex queue_lock+0x4 900+200 [Waiting]: "
		      "worker;take;pthread_mutex_lock,"
		      "State Stopped 1150+40 [Other]");
	expect_cpu_use(profile, 0, 400000);
	expect_cpu_use(profile, 1, 150000);
	json_object_put(profile);
}
END_TEST

START_TEST(test_kernel_time)
{
	static const struct build_sample samples[] = {
		{.stack = "app:main", .count = 3, .cpu_ms = 10, .kernel_ms = 4},
		{.stack = "", .count = 1, .cpu_ms = 9, .is_kernel_only = true},
	};
	struct json_object *profile = export_of(
		&(struct build_result){.samples = samples, .count = 2, .is_finalized = true});
	expect_thread(profile, 0, "app", "100", "app",
		      "- 0@4,main 6@10,main 6@20,[System calls and faults] 12@24,main 6@30,"
		      "[System calls and faults] 9@40");
	json_object_put(profile);
}
END_TEST

START_TEST(test_hostile_names)
{
	hostile_result_write(path);
	struct json_object *profile = export_result();
	struct json_object *threads = member(profile, "threads");
	ck_assert_uint_eq(json_object_array_length(threads), HOSTILE_NAMES);
	ck_assert_str_eq(text_of(member(profile, "meta"), "arguments"), hostile_name(6));
	for (unsigned i = 0; i < HOSTILE_NAMES; i++) {
		struct json_object *thread = at(threads, i);
		unsigned index = (unsigned)json_object_get_int(member(thread, "tid")) - HOSTILE_TID;
		struct json_object *weights = member(member(thread, "samples"), "weight");
		ck_assert_uint_lt(index, HOSTILE_NAMES);
		ck_assert(strcmp(text_of(thread, "name"), hostile_name_read(index)) == 0);
		ck_assert_uint_eq(json_object_array_length(weights), 2);
		ck_assert_double_eq(json_object_get_double(at(weights, 1)), HOSTILE_CPU_MS);
		find_frame(profile, hostile_name_read(i));
		ck_assert_str_eq(text_of(at(member(profile, "libs"), i), "codeId"), "00");
		ck_assert_str_eq(text_of(at(member(profile, "libs"), i), "breakpadId"),
				 "000000000000000000000000000000000");
	}
	json_object_put(profile);
}
END_TEST

/* A profile has a thread. */
START_TEST(test_no_samples)
{
	struct json_object *profile = export_of(&(struct build_result){0});
	ck_assert_uint_ge(json_object_array_length(member(profile, "threads")), 1);
	expect_thread(profile, 0, "[No known thread]", "0", "[No known thread]", "");
	json_object_put(profile);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("export firefox");
	TCase *cases = tcase_create("all");
	tcase_set_timeout(cases, 60);
	tcase_add_checked_fixture(cases, build_set_up, build_tear_down);
	tcase_add_test(cases, test_known_result);
	tcase_add_test(cases, test_categories);
	tcase_add_test(cases, test_frames);
	tcase_add_test(cases, test_facts);
	tcase_add_test(cases, test_lives);
	tcase_add_test(cases, test_waits);
	tcase_add_test(cases, test_external);
	tcase_add_test(cases, test_kernel_time);
	tcase_add_test(cases, test_hostile_names);
	tcase_add_test(cases, test_no_samples);
	suite_add_tcase(suite, cases);
	return run_suite(suite);
}
