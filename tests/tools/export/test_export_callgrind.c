/* Callgrind's format of results with known content, read line by line as its grammar says. */
#include "tests/support/suite.h"
#include "tests/tools/export/hostile_result.h"
#include "tests/tools/known_result.h"
#include <check.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NAMES_MAX 64u

static const char *const path = build_path;

enum { MODULE, FILE_NAME, FUNCTION, SPACES };

static const char *const keys[2][SPACES] = {{"ob=", "fl=", "fn="}, {"cob=", "cfl=", "cfn="}};

/* What reading has seen. */
struct reading {
	char *names[SPACES][NAMES_MAX];
	const char *current[2][SPACES]; /* of the function, of the callee */
	bool is_call;                   /* the next line is the cost of a call */
	uint64_t cpu_ns;                /* own, of all functions */
	uint64_t samples;
	unsigned own_costs;
	char text[4096]; /* "function:line cpu samples", "function:line>callee cpu samples", ... */
};

/* "(1) name" or "(1)" */
static const char *read_name(struct reading *reading, unsigned space, const char *line)
{
	char *end;
	ck_assert_int_eq(line[0], '(');
	unsigned long number = strtoul(line + 1, &end, 10);
	ck_assert(number > 0 && number < NAMES_MAX && *end == ')');
	char **name = &reading->names[space][number];
	if (end[1] == '\0') {
		ck_assert_ptr_nonnull(*name);
		return *name;
	}
	ck_assert_msg(!*name, "%s has a second name", line);
	ck_assert(end[1] == ' ' && end[2] != '\0' && end[2] != ' ');
	*name = strdup(end + 2);
	return *name;
}

static bool read_place(struct reading *reading, const char *line)
{
	for (unsigned i = 0; i < 2; i++) {
		for (unsigned space = 0; space < SPACES; space++) {
			size_t length = strlen(keys[i][space]);
			if (strncmp(line, keys[i][space], length) != 0)
				continue;
			reading->current[i][space] = read_name(reading, space, line + length);
			return true;
		}
	}
	return false;
}

static void read_cost(struct reading *reading, const char *line)
{
	unsigned number;
	uint64_t cpu_ns;
	uint64_t samples;
	int length = 0;
	ck_assert_int_eq(sscanf(line, "%u %" SCNu64 " %" SCNu64 "%n", &number, &cpu_ns, &samples,
				&length),
			 3);
	ck_assert_msg(line[length] == '\0', "%s", line);
	size_t used = strlen(reading->text);
	snprintf(reading->text + used, sizeof(reading->text) - used,
		 "%.30s:%u%s%.30s %" PRIu64 " %" PRIu64 "\n", reading->current[0][FUNCTION], number,
		 reading->is_call ? ">" : "", reading->is_call ? reading->current[1][FUNCTION] : "",
		 cpu_ns / 1000000, samples);
	if (!reading->is_call) {
		reading->cpu_ns += cpu_ns;
		reading->samples += samples;
		reading->own_costs++;
	}
	reading->is_call = false;
}

/* A line behind the header. */
static void read_line(struct reading *reading, const char *line)
{
	uint64_t cpu_ns;
	uint64_t samples;
	unsigned calls;
	char end;
	if (sscanf(line, "totals: %" SCNu64 " %" SCNu64 "%c", &cpu_ns, &samples, &end) == 2) {
		ck_assert_uint_eq(cpu_ns, reading->cpu_ns);
		ck_assert_uint_eq(samples, reading->samples);
	} else if (sscanf(line, "calls=%u 0%c", &calls, &end) == 1) {
		ck_assert_uint_gt(calls, 0);
		reading->is_call = true;
	} else if (!read_place(reading, line)) {
		read_cost(reading, line);
	}
}

static void read_export(struct reading *reading, bool with_threads)
{
	size_t size;
	char *text = known_export(path, "callgrind", with_threads, &size);
	ck_assert_uint_eq(strlen(text), size);
	char *rest = NULL;
	bool is_header = true;
	for (char *line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
		if (!is_header)
			read_line(reading, line);
		else
			is_header = strcmp(line, "events: CPU_ns Samples") != 0;
	}
	ck_assert(!is_header);
	ck_assert(!reading->is_call);
	free(text);
}

static void finish_reading(struct reading *reading)
{
	for (unsigned space = 0; space < SPACES; space++) {
		for (unsigned i = 0; i < NAMES_MAX; i++)
			free(reading->names[space][i]);
	}
}

static void expect_costs(const struct build_result *result, bool with_threads, const char *expected)
{
	struct reading reading = {0};
	build_result_write(path, result);
	read_export(&reading, with_threads);
	ck_assert_str_eq(reading.text, expected);
	finish_reading(&reading);
}

/* Own costs and calls with their lines, inlined functions, seams and time in no sample. */
START_TEST(test_known_result)
{
	const struct build_result result = {.samples = known_samples,
					    .count = KNOWN_SAMPLES,
					    .rest_ms = 7,
					    .unattributed_ms = 2,
					    .is_finalized = true};
	expect_costs(&result, false,
		     "[Unknown frame(s)]:0>func@0x1054 1 1\n"
		     "[Skipped frame(s)]:0>a;b(int) 15 3\n"
		     "[Guessed frame(s)]:0>main(int) 1 1\n"
		     "_start(int):10>start(int) 60 6\n"
		     "start(int):20>main(int) 60 6\n"
		     "main(int):30 1 1\n"
		     "main(int):30>[Unknown frame(s)] 1 1\n"
		     "main(int):30>work(int) 40 4\n"
		     "main(int):30>outer(int) 20 2\n"
		     "work(int):40 40 4\n"
		     "outer(int):51>inner(int) 20 2\n"
		     "inner(int):50 20 2\n"
		     "a;b(int):60>odd(int) 15 3\n"
		     "odd(int):70 15 3\n"
		     "func@0x1054:0 1 1\n"
		     "[No sample]:0 7 0\n"
		     "[No known thread]:0 2 0\n"
		     "app:0>[Guessed frame(s)] 1 1\n"
		     "app:0>_start(int) 60 6\n"
		     "app:0>main(int) 1 1\n"
		     "app:0>[No sample] 7 0\n"
		     "helper:0>[Skipped frame(s)] 15 3\n");
}
END_TEST

START_TEST(test_threads)
{
	static const struct build_sample samples[] = {
		{.stack = "app:main", .cpu_ms = 10},
		{.stack = "app:main", .cpu_ms = 20, .kernel_ms = 5, .thread = 1},
		{.stack = "app:main", .cpu_ms = 40, .thread = 2},
	};
	const struct build_result result = {.samples = samples, .count = 3, .is_finalized = true};
	expect_costs(&result, true,
		     "[System calls and faults]:0 5 0\n"
		     "main(int):10 65 3\n"
		     "app:0>app-100 10 1\n"
		     "app:0>worker-101 20 1\n"
		     "app-100:0>main(int) 10 1\n"
		     "worker-101:0>[System calls and faults] 5 0\n"
		     "worker-101:0>main(int) 15 1\n"
		     "helper:0>helper-102 40 1\n"
		     "helper-102:0>main(int) 40 1\n");
}
END_TEST

/* Calls to a function add up to its time, also if the function calls itself. Each function has a
 * line. */
START_TEST(test_recursion)
{
	static const struct build_sample samples[] = {
		{.stack = "app:main app:f app:f app:g app:f", .cpu_ms = 10},
		{.stack = "app:main app:g app:f", .cpu_ms = 20},
		{.stack = "app:h app:i app:h", .cpu_ms = 5},
	};
	const struct build_result result = {.samples = samples, .count = 3, .is_finalized = true};
	expect_costs(&result, false,
		     "main(int):10>f(int) 10 1\n"
		     "main(int):10>g(int) 20 1\n"
		     "f(int):20 30 2\n"
		     "f(int):20>g(int) 10 1\n"
		     "g(int):30 0 0\n"
		     "g(int):30>f(int) 20 1\n"
		     "h(int):40 5 1\n"
		     "h(int):40>i(int) 5 1\n"
		     "i(int):50 0 0\n"
		     "app:0>main(int) 30 2\n"
		     "app:0>h(int) 5 1\n");
}
END_TEST

START_TEST(test_hostile_names)
{
	struct reading reading = {0};
	hostile_result_write(path);
	read_export(&reading, _i > 0);
	ck_assert_uint_eq(reading.own_costs, HOSTILE_NAMES);
	ck_assert_uint_eq(reading.cpu_ns, HOSTILE_NAMES * HOSTILE_CPU_MS * UINT64_C(1000000));
	ck_assert_uint_eq(reading.samples, HOSTILE_NAMES);
	finish_reading(&reading);
}
END_TEST

START_TEST(test_no_samples)
{
	expect_costs(&(struct build_result){0}, false, "");
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("export callgrind");
	TCase *cases = tcase_create("all");
	tcase_set_timeout(cases, 60);
	tcase_add_checked_fixture(cases, build_set_up, build_tear_down);
	tcase_add_test(cases, test_known_result);
	tcase_add_test(cases, test_threads);
	tcase_add_test(cases, test_recursion);
	tcase_add_loop_test(cases, test_hostile_names, 0, 2);
	tcase_add_test(cases, test_no_samples);
	suite_add_tcase(suite, cases);
	return run_suite(suite);
}
