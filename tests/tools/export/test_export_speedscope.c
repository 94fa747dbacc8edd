/* speedscope's JSON of results with known content, as a reader of JSON reads it. */
#include "tests/support/suite.h"
#include "tests/tools/export/hostile_result.h"
#include "tests/tools/known_result.h"
#include <check.h>
#include <json-c/json.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MS UINT64_C(1000000)

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

static uint64_t number_of(struct json_object *object, const char *name)
{
	return json_object_get_uint64(member(object, name));
}

static struct json_object *export_result(void)
{
	size_t size;
	char *text = known_export(path, "speedscope", false, &size);
	ck_assert_uint_eq(strlen(text), size);
	enum json_tokener_error error;
	struct json_object *file = json_tokener_parse_verbose(text, &error);
	ck_assert_msg(file, "%s", json_tokener_error_desc(error));
	free(text);
	return file;
}

static struct json_object *frame_at(struct json_object *file, size_t index)
{
	struct json_object *frames = member(member(file, "shared"), "frames");
	ck_assert_uint_lt(index, json_object_array_length(frames));
	return json_object_array_get_idx(frames, index);
}

/* "a;b 10,c 5": stacks with their weights, in ms, in order. */
static void expect_profile(struct json_object *file, size_t index, const char *name,
			   const char *expected)
{
	char text[1024] = "";
	uint64_t total_ns = 0;
	struct json_object *profile = json_object_array_get_idx(member(file, "profiles"), index);
	struct json_object *samples = member(profile, "samples");
	struct json_object *weights = member(profile, "weights");
	ck_assert_str_eq(text_of(profile, "type"), "sampled");
	ck_assert_str_eq(text_of(profile, "name"), name);
	ck_assert_str_eq(text_of(profile, "unit"), "nanoseconds");
	ck_assert_uint_eq(json_object_array_length(samples), json_object_array_length(weights));
	for (size_t i = 0; i < json_object_array_length(samples); i++) {
		struct json_object *stack = json_object_array_get_idx(samples, i);
		uint64_t weight = json_object_get_uint64(json_object_array_get_idx(weights, i));
		for (size_t j = 0; j < json_object_array_length(stack); j++) {
			size_t frame = json_object_get_uint64(json_object_array_get_idx(stack, j));
			strcat(text, j > 0 ? ";" : i > 0 ? "," : "");
			strcat(text, text_of(frame_at(file, frame), "name"));
		}
		sprintf(text + strlen(text), " %u", (unsigned)(weight / MS));
		total_ns += weight;
	}
	ck_assert_str_eq(text, expected);
	ck_assert_uint_eq(number_of(profile, "startValue"), 0);
	ck_assert_uint_eq(number_of(profile, "endValue"), total_ns);
}

/* "O main 5,C main 9": functions that open and close, with the time in ms. */
static void expect_events(struct json_object *file, size_t index, const char *name,
			  const char *expected)
{
	char text[1024] = "";
	uint64_t last_ns = 0;
	struct json_object *profile = json_object_array_get_idx(member(file, "profiles"), index);
	struct json_object *events = member(profile, "events");
	ck_assert_str_eq(text_of(profile, "type"), "evented");
	ck_assert_str_eq(text_of(profile, "name"), name);
	ck_assert_str_eq(text_of(profile, "unit"), "nanoseconds");
	for (size_t i = 0; i < json_object_array_length(events); i++) {
		struct json_object *event = json_object_array_get_idx(events, i);
		uint64_t at = number_of(event, "at");
		sprintf(text + strlen(text), "%s%s %s %u", i > 0 ? "," : "", text_of(event, "type"),
			text_of(frame_at(file, number_of(event, "frame")), "name"),
			(unsigned)(at / MS));
		ck_assert_uint_ge(at, last_ns);
		last_ns = at;
	}
	ck_assert_str_eq(text, expected);
	ck_assert_uint_eq(number_of(profile, "endValue"), last_ns);
}

/* Threads by CPU time, stacks in the order of time with their seams, equal ones in a row as one. */
START_TEST(test_known_result)
{
	struct build_result result = {.samples = known_samples,
				      .count = KNOWN_SAMPLES,
				      .rest_ms = 7,
				      .unattributed_ms = 2,
				      .is_finalized = true};
	build_result_write(path, &result);
	struct json_object *file = export_result();
	ck_assert_str_eq(text_of(file, "$schema"),
			 "https://www.speedscope.app/file-format-schema.json");
	ck_assert_str_eq(text_of(file, "name"), "app --fast \"a b\"");
	ck_assert_uint_eq(number_of(file, "activeProfileIndex"), 0);
	ck_assert_uint_eq(json_object_array_length(member(file, "profiles")), 7);
	expect_profile(file, 0, "app-100 (app-100)",
		       "_start;start;main;work 40,main;[Unknown frame(s)];func@0x1054 1,"
		       "[Guessed frame(s)];main 1,[No sample] 7");
	expect_profile(file, 1, "worker-101 (app-100)", "_start;start;main;outer;inner 20");
	expect_profile(file, 2, "helper-102 (helper-101)", "[Skipped frame(s)];a;b;odd 15");
	expect_profile(file, 3, "[No known thread]", "[No known thread] 2");
	expect_events(file, 4, "app-100 (app-100), over time",
		      "O _start 0,O start 0,O main 0,O work 0,C work 40,C main 40,C start 40,"
		      "C _start 40,O main 99,O [Unknown frame(s)] 99,O func@0x1054 99,"
		      "C func@0x1054 100,C [Unknown frame(s)] 100,C main 100,"
		      "O [Guessed frame(s)] 109,O main 109,C main 110,C [Guessed frame(s)] 110,"
		      "O [No sample] 110,C [No sample] 117");
	expect_events(file, 5, "worker-101 (app-100), over time",
		      "O _start 40,O start 40,O main 40,O outer 40,O inner 40,"
		      "C inner 60,C outer 60,C main 60,C start 60,C _start 60");
	expect_events(file, 6, "helper-102 (helper-101), over time",
		      "O [Skipped frame(s)] 75,O a;b 75,O odd 75,C odd 90,C a;b 90,"
		      "C [Skipped frame(s)] 90");
	json_object_put(file);
}
END_TEST

static struct json_object *find_frame(struct json_object *file, const char *name)
{
	struct json_object *frames = member(member(file, "shared"), "frames");
	for (size_t i = 0; i < json_object_array_length(frames); i++) {
		struct json_object *frame = json_object_array_get_idx(frames, i);
		if (strcmp(text_of(frame, "name"), name) == 0)
			return frame;
	}
	ck_abort_msg("no frame %.100s", name);
	return NULL;
}

/* Source files and first lines of functions; a module in place of an unknown file. */
START_TEST(test_frames)
{
	struct build_result result = {.samples = known_samples,
				      .count = KNOWN_SAMPLES,
				      .is_finalized = true};
	build_result_write(path, &result);
	struct json_object *file = export_result();
	struct json_object *line;
	struct json_object *inner = find_frame(file, "inner");
	ck_assert_str_eq(text_of(inner, "file"), "/src/app.c");
	ck_assert_str_eq(text_of(inner, "module"), "/opt/app/app");
	ck_assert_uint_eq(number_of(inner, "line"), 50);
	ck_assert_uint_eq(number_of(find_frame(file, "outer"), "line"), 51);
	struct json_object *unnamed = find_frame(file, "func@0x1054");
	ck_assert_str_eq(text_of(unnamed, "file"), "/opt/app/app");
	ck_assert(!json_object_object_get_ex(unnamed, "line", &line));
	json_object_put(file);
}
END_TEST

/* Kernel time of single samples is placed when it makes an interval. */
START_TEST(test_kernel_time)
{
	static const struct build_sample samples[] = {
		{.stack = "app:main", .count = 3, .cpu_ms = 10, .kernel_ms = 4},
		{.stack = "app:main app:work", .cpu_ms = 10, .kernel_ms = 1},
		{.stack = "", .count = 2, .cpu_ms = 9, .is_kernel_only = true},
	};
	struct build_result result = {.samples = samples, .count = 3, .is_finalized = true};
	build_result_write(path, &result);
	struct json_object *file = export_result();
	expect_profile(file, 0, "app-100 (app-100)",
		       "main 18,[System calls and faults] 12,main;work 9,"
		       "[System calls and faults] 19");
	json_object_put(file);
}
END_TEST

START_TEST(test_hostile_names)
{
	hostile_result_write(path);
	struct json_object *file = export_result();
	struct json_object *profiles = member(file, "profiles");
	ck_assert_str_eq(text_of(file, "name"), hostile_name(6));
	ck_assert_uint_eq(json_object_array_length(profiles), 2 * HOSTILE_NAMES);
	for (unsigned i = 0; i < HOSTILE_NAMES; i++) {
		struct json_object *profile = json_object_array_get_idx(profiles, i);
		ck_assert_uint_eq(number_of(profile, "endValue"), HOSTILE_CPU_MS * MS);
		find_frame(file, hostile_name_read(i));
	}
	json_object_put(file);
}
END_TEST

/* speedscope needs a profile. */
START_TEST(test_no_samples)
{
	struct build_result result = {0};
	build_result_write(path, &result);
	struct json_object *file = export_result();
	ck_assert_uint_eq(json_object_array_length(member(file, "profiles")), 1);
	expect_profile(file, 0, "[No known thread]", "");
	json_object_put(file);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("export speedscope");
	TCase *cases = tcase_create("all");
	tcase_set_timeout(cases, 60);
	tcase_add_checked_fixture(cases, build_set_up, build_tear_down);
	tcase_add_test(cases, test_known_result);
	tcase_add_test(cases, test_frames);
	tcase_add_test(cases, test_kernel_time);
	tcase_add_test(cases, test_hostile_names);
	tcase_add_test(cases, test_no_samples);
	suite_add_tcase(suite, cases);
	return run_suite(suite);
}
