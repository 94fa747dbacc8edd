/* Chrome's trace events of results with known content, as a reader of JSON reads them. */
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

#define PID_LIMIT (1 << 22) /* of Linux; the exporter's number of no known thread */

static const char *const path = build_path;

static struct json_object *member(struct json_object *object, const char *name)
{
	struct json_object *found;
	ck_assert_msg(json_object_object_get_ex(object, name, &found), "no %s", name);
	return found;
}

static const char *text_of(struct json_object *object, const char *name)
{
	return json_object_get_string(member(object, name));
}

static double number_of(struct json_object *object, const char *name)
{
	return json_object_get_double(member(object, name));
}

static struct json_object *export_result(void)
{
	size_t size;
	char *text = known_export(path, "chrome", false, &size);
	ck_assert_uint_eq(strlen(text), size);
	enum json_tokener_error error;
	struct json_object *file = json_tokener_parse_verbose(text, &error);
	ck_assert_msg(file, "%s", json_tokener_error_desc(error));
	free(text);
	return file;
}

static struct json_object *export_of(const struct build_result *result)
{
	build_result_write(path, result);
	return export_result();
}

/* The next event of the thread in this phase, NULL behind the last one. *at: 0 at first. */
static struct json_object *next_event(struct json_object *file, const char *phase, int tid,
				      size_t *at)
{
	struct json_object *events = member(file, "traceEvents");
	while (*at < json_object_array_length(events)) {
		struct json_object *event = json_object_array_get_idx(events, (*at)++);
		if (strcmp(text_of(event, "ph"), phase) == 0 &&
		    json_object_get_int(member(event, "tid")) == tid)
			return event;
	}
	return NULL;
}

/* "NAME TIME+LENGTH/CPU,..." in ms. */
static void expect_states(struct json_object *file, int tid, const char *expected)
{
	char text[1024] = "";
	double cpu_ms = 0;
	struct json_object *event;
	for (size_t at = 0; (event = next_event(file, "X", tid, &at));) {
		ck_assert_double_eq_tol(number_of(event, "tts") / 1e3, cpu_ms, 1e-9);
		cpu_ms += number_of(event, "tdur") / 1e3;
		sprintf(text + strlen(text), "%s%s %g+%g/%g", text[0] ? "," : "",
			text_of(event, "name"), number_of(event, "ts") / 1e3,
			number_of(event, "dur") / 1e3, number_of(event, "tdur") / 1e3);
	}
	ck_assert_str_eq(text, expected);
}

/* The node of the profile so far; its id is never 1, and its parents were there before. */
static struct json_object *find_node(struct json_object *nodes, int id)
{
	for (size_t i = 0; i < json_object_array_length(nodes); i++) {
		struct json_object *node = json_object_array_get_idx(nodes, i);
		if (json_object_get_int(member(node, "id")) == id)
			return node;
	}
	ck_abort_msg("no node %d", id);
	return NULL;
}

static void append_stack(char *text, struct json_object *nodes, int id)
{
	struct json_object *node = find_node(nodes, id);
	struct json_object *parent;
	ck_assert_int_gt(id, 1);
	if (json_object_object_get_ex(node, "parent", &parent)) {
		append_stack(text, nodes, json_object_get_int(parent));
		strcat(text, ";");
	}
	strcat(text, text_of(member(node, "callFrame"), "functionName"));
}

static void append_nodes(struct json_object *nodes, struct json_object *more)
{
	for (size_t i = 0; i < json_object_array_length(more); i++)
		json_object_array_add(nodes, json_object_get(json_object_array_get_idx(more, i)));
}

/* "a;b 10@TIME,...": stacks with their CPU time, in ms, in order. */
static void describe_chunk(char *text, struct json_object *chunk, struct json_object *nodes,
			   double *time_us)
{
	struct json_object *data = member(member(chunk, "args"), "data");
	struct json_object *profile = member(data, "cpuProfile");
	struct json_object *samples = member(profile, "samples");
	struct json_object *deltas = member(data, "timeDeltas");
	size_t count = json_object_array_length(samples);
	ck_assert_uint_eq(json_object_array_length(deltas), count);
	ck_assert_uint_eq(json_object_array_length(member(profile, "cpuTimes")), count);
	append_nodes(nodes, member(profile, "nodes"));
	for (size_t i = 0; i < count; i++) {
		struct json_object *delta = json_object_array_get_idx(deltas, i);
		ck_assert(json_object_is_type(delta, json_type_int)); /* as Perfetto wants them */
		*time_us += json_object_get_double(delta);
		strcat(text, text[0] ? "," : "");
		append_stack(text, nodes,
			     json_object_get_int(json_object_array_get_idx(samples, i)));
		sprintf(text + strlen(text), " %g@%g",
			json_object_get_double(
				json_object_array_get_idx(member(profile, "cpuTimes"), i)) /
				1e3,
			*time_us / 1e3);
	}
}

static void expect_samples(struct json_object *file, int tid, const char *expected)
{
	char text[2048] = "";
	size_t at = 0;
	struct json_object *nodes = json_object_new_array();
	struct json_object *profile = next_event(file, "P", tid, &at);
	ck_assert_str_eq(text_of(profile, "name"), "Profile");
	struct json_object *start = member(member(member(profile, "args"), "data"), "startTime");
	double time_us = json_object_get_double(start);
	struct json_object *chunk;
	while ((chunk = next_event(file, "P", tid, &at))) {
		ck_assert_str_eq(text_of(chunk, "name"), "ProfileChunk");
		ck_assert_str_eq(text_of(chunk, "id"), text_of(profile, "id"));
		describe_chunk(text, chunk, nodes, &time_us);
	}
	ck_assert_str_eq(text, expected);
	json_object_put(nodes);
}

static void expect_names(struct json_object *file, int pid, int tid, const char *process,
			 const char *thread)
{
	size_t at = 0;
	struct json_object *first = next_event(file, "M", tid, &at);
	struct json_object *second = next_event(file, "M", tid, &at);
	ck_assert_int_eq(json_object_get_int(member(first, "pid")), pid);
	ck_assert_str_eq(text_of(first, "name"), "process_name");
	ck_assert(strcmp(text_of(member(first, "args"), "name"), process) == 0);
	ck_assert_str_eq(text_of(second, "name"), "thread_name");
	ck_assert(strcmp(text_of(member(second, "args"), "name"), thread) == 0);
}

static const struct build_result known = {.samples = known_samples,
					  .count = KNOWN_SAMPLES,
					  .rest_ms = 7,
					  .unattributed_ms = 2,
					  .is_finalized = true};

START_TEST(test_known_result)
{
	struct json_object *file = export_of(&known);
	expect_names(file, 100, 100, "app", "app");
	expect_names(file, 100, 101, "app", "worker");
	expect_names(file, 101, 102, "helper", "helper");
	expect_names(file, PID_LIMIT, PID_LIMIT, "[No known thread]", "[No known thread]");
	expect_samples(file, 100,
		       "_start;start;main;work 10@10,_start;start;main;work 10@20,"
		       "_start;start;main;work 10@30,_start;start;main;work 10@40,"
		       "main;[Unknown frame(s)];func@0x1054 1@100,[Guessed frame(s)];main 1@110,"
		       "[No sample] 7@110");
	expect_samples(file, 101,
		       "_start;start;main;outer;inner 10@50,_start;start;main;outer;inner 10@60");
	expect_samples(file, 102,
		       "[Skipped frame(s)];a;b;odd 5@70,[Skipped frame(s)];a;b;odd 5@80,"
		       "[Skipped frame(s)];a;b;odd 5@90");
	expect_samples(file, PID_LIMIT, "[No known thread] 2@0");
	ck_assert_str_eq(text_of(member(file, "metadata"), "command_line"), "app --fast \"a b\"");
	json_object_put(file);
}
END_TEST

/* A gap of less than an interval is none. */
START_TEST(test_states)
{
	struct json_object *file = export_of(&known);
	expect_states(file, 100, "Running 0+40/40,Running 99+11/2,[No sample] 110+0/7");
	expect_states(file, 101, "Running 40+20/20");
	expect_states(file, 102, "Running 65+25/15");
	expect_states(file, PID_LIMIT, "[No known thread] 0+0/2");
	json_object_put(file);
}
END_TEST

/* "NAME TIME+LENGTH,..." in ms. */
static void expect_pieces(struct json_object *file, int tid, const char *expected)
{
	char text[2048] = "";
	struct json_object *event;
	for (size_t at = 0; (event = next_event(file, "X", tid, &at));)
		sprintf(text + strlen(text), "%s%s %g+%g", text[0] ? "," : "",
			text_of(event, "name"), number_of(event, "ts") / 1e3,
			number_of(event, "dur") / 1e3);
	ck_assert_str_eq(text, expected);
}

/* A flow's end; at: of the one before. */
static void expect_flow(struct json_object *file, const char *phase, int tid, double ms, int id)
{
	size_t at = 0;
	struct json_object *event = next_event(file, phase, tid, &at);
	ck_assert_ptr_nonnull(event);
	ck_assert_double_eq_tol(number_of(event, "ts") / 1e3, ms, 1e-3);
	ck_assert_int_eq((int)number_of(event, "id"), id);
	ck_assert_str_eq(text_of(event, "bp"), "e");
}

/* What a wait is for stands in its slice; a blocked piece may have two waits. Who ended it has the
 * start of a flow, in the slice in which it ran. */
START_TEST(test_waits)
{
	size_t at = 0;
	struct json_object *file = export_of(&waited_result);
	expect_pieces(file, 100,
		      "Running 0+100,Mutex queue_lock+0x4 100+500,Running 600+50,Blocked 650+50,"
		      "Running 700+50,Sleep 750+1000,Ready 1750+50,Running 1800+200");
	expect_pieces(file, 101,
		      "Ready 40+170,Running 210+90,Condition Variable 0x7f00000012a0 300+600,"
		      "Mutex queue_lock+0x4 900+200,Running 1100+50,Stopped 1150+40,"
		      "Running 1190+10");
	next_event(file, "X", 100, &at);
	struct json_object *args = member(next_event(file, "X", 100, &at), "args");
	ck_assert_str_eq(text_of(args, "type"), "Mutex");
	ck_assert_str_eq(text_of(args, "stack"),
			 "__lll_lock_wait < pthread_mutex_lock < take < main");
	ck_assert_str_eq(text_of(args, "woken by"), "worker (TID 101)");
	ck_assert_str_eq(text_of(args, "waker's stack"), "pthread_mutex_unlock < give < worker");
	expect_flow(file, "s", 101, 600, 1);
	expect_flow(file, "f", 100, 600, 1);
	expect_flow(file, "s", 100, 1100, 2);
	expect_flow(file, "f", 101, 1100, 2);
	json_object_put(file);
}
END_TEST

/* "MEAN@TIME,..." in ms, where it changes. */
START_TEST(test_utilization)
{
	char text[256] = "";
	struct json_object *event;
	struct json_object *file = export_of(&waited_result);
	for (size_t at = 0; (event = next_event(file, "C", 3 * PID_LIMIT, &at));)
		sprintf(text + strlen(text), "%s%g@%g", text[0] ? "," : "",
			number_of(member(event, "args"), "mean"), number_of(event, "ts") / 1e3);
	ck_assert_str_eq(text, "1@0,0@100,1@210,0@300,1@600,0@650,1@700,0@750,1@1100,0@1150,"
			       "1@1190,0@1200,1@1800,0@2000");
	json_object_put(file);
}
END_TEST

START_TEST(test_kernel_time)
{
	static const struct build_sample samples[] = {
		{.stack = "app:main", .count = 3, .cpu_ms = 10, .kernel_ms = 4},
		{.stack = "", .count = 1, .cpu_ms = 9, .is_kernel_only = true},
	};
	struct json_object *file = export_of(
		&(struct build_result){.samples = samples, .count = 2, .is_finalized = true});
	expect_samples(file, 100,
		       "main 6@10,main 6@20,[System calls and faults] 12@24,main 6@30,"
		       "[System calls and faults] 9@40");
	json_object_put(file);
}
END_TEST

/* More samples than an event takes: stacks that come again have their nodes already. */
START_TEST(test_chunks)
{
	static const struct build_sample samples[] = {
		{.stack = "app:main app:work", .count = 1500, .cpu_ms = 10},
		{.stack = "app:main app:other", .count = 600, .cpu_ms = 10},
	};
	struct json_object *file = export_of(
		&(struct build_result){.samples = samples, .count = 2, .is_finalized = true});
	static const size_t counts[] = {1000, 1000, 100};
	static const size_t nodes[] = {2, 1, 0};
	size_t at = 0;
	next_event(file, "P", 100, &at);
	for (size_t i = 0; i < 3; i++) {
		struct json_object *chunk = next_event(file, "P", 100, &at);
		struct json_object *profile =
			member(member(member(chunk, "args"), "data"), "cpuProfile");
		ck_assert_uint_eq(json_object_array_length(member(profile, "samples")), counts[i]);
		ck_assert_uint_eq(json_object_array_length(member(profile, "nodes")), nodes[i]);
	}
	ck_assert_ptr_null(next_event(file, "P", 100, &at));
	json_object_put(file);
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
	for (size_t i = 0; i < 2; i++)
		add_record(writer, PROFILE_STREAM_INTERVALS, &intervals[i], NULL);
	for (size_t i = 0; i < 3; i++)
		add_record(writer, PROFILE_STREAM_COUNTERS, &values[i], NULL);
	ck_assert_uint_eq(profile_external_writer_finish(writer), VT_SUCCESS);
}

static void expect_end(struct json_object *file, const char *phase, int tid, const char *name,
		       const char *category, double us)
{
	size_t at = 0;
	struct json_object *event = next_event(file, phase, tid, &at);
	ck_assert_ptr_nonnull(event);
	ck_assert_str_eq(text_of(event, "name"), name);
	ck_assert_str_eq(text_of(event, "cat"), category);
	ck_assert_double_eq(number_of(event, "ts"), us);
	ck_assert_ptr_null(next_event(file, phase, tid, &at));
}

static void expect_value(struct json_object *file, int tid, const char *name, double us,
			 double value)
{
	size_t at = 0;
	struct json_object *event = next_event(file, "C", tid, &at);
	ck_assert_ptr_nonnull(event);
	ck_assert_str_eq(text_of(event, "name"), name);
	ck_assert_double_eq(number_of(event, "ts"), us);
	ck_assert_double_eq(number_of(member(event, "args"), "value"), value);
	ck_assert_ptr_null(next_event(file, "C", tid, &at));
}

/* What is said of no process has a place of its own; values that JSON does not have are left out.
 */
START_TEST(test_external)
{
	build_result_write(path, &known);
	add_external();
	struct json_object *file = export_result();
	expect_end(file, "b", 2 * PID_LIMIT, "load", "frame", 0);
	expect_end(file, "e", 2 * PID_LIMIT, "load", "frame", 2);
	expect_end(file, "b", 101, "a \"task\"", "task", 1);
	expect_end(file, "e", 101, "a \"task\"", "task", 3);
	expect_value(file, 2 * PID_LIMIT, "MHz", 1, 0.5);
	expect_value(file, 101, "faults", 2, -1);
	json_object_put(file);
}
END_TEST

START_TEST(test_hostile_names)
{
	hostile_result_write(path);
	struct json_object *file = export_result();
	for (unsigned i = 0; i < HOSTILE_NAMES; i++) {
		size_t at = 0;
		int tid = (int)(HOSTILE_TID + i);
		struct json_object *state = next_event(file, "X", tid, &at);
		ck_assert_double_eq(number_of(state, "tdur"), HOSTILE_CPU_MS * 1e3);
		at = 0;
		next_event(file, "M", tid, &at);
		struct json_object *name = next_event(file, "M", tid, &at);
		ck_assert(strcmp(text_of(member(name, "args"), "name"), hostile_name_read(i)) == 0);
		at = 0;
		next_event(file, "P", tid, &at);
		struct json_object *chunk = next_event(file, "P", tid, &at);
		struct json_object *nodes =
			member(member(member(member(chunk, "args"), "data"), "cpuProfile"),
			       "nodes");
		struct json_object *node = json_object_array_get_idx(nodes, 0);
		ck_assert(strcmp(text_of(member(node, "callFrame"), "functionName"),
				 hostile_name_read(i)) == 0);
	}
	json_object_put(file);
}
END_TEST

START_TEST(test_no_samples)
{
	struct json_object *file = export_of(&(struct build_result){0});
	ck_assert_uint_eq(json_object_array_length(member(file, "traceEvents")), 0);
	json_object_put(file);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("export chrome");
	TCase *cases = tcase_create("all");
	tcase_set_timeout(cases, 60);
	tcase_add_checked_fixture(cases, build_set_up, build_tear_down);
	tcase_add_test(cases, test_known_result);
	tcase_add_test(cases, test_states);
	tcase_add_test(cases, test_waits);
	tcase_add_test(cases, test_utilization);
	tcase_add_test(cases, test_kernel_time);
	tcase_add_test(cases, test_chunks);
	tcase_add_test(cases, test_external);
	tcase_add_test(cases, test_hostile_names);
	tcase_add_test(cases, test_no_samples);
	suite_add_tcase(suite, cases);
	return run_suite(suite);
}
