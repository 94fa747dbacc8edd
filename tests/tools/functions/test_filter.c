/* Conditions on samples. */
#include "tests/support/suite.h"
#include "tests/tools/opened.h"
#include "tools/functions/filter.h"
#include <check.h>
#include <stdlib.h>
#include <string.h>

static uint64_t samples_with(const struct opened *opened, const char *condition)
{
	struct filter filter = {0};
	struct tally tally;
	ck_assert_ptr_null(filter_add(&filter, condition));
	ck_assert_uint_eq(tally_collect(opened->result.reader, &filter, 0, &tally), VT_SUCCESS);
	uint64_t samples = tally.samples;
	tally_finish(&tally);
	filter_finish(&filter);
	return samples;
}

START_TEST(test_filter_by_thread)
{
	static const struct build_sample samples[] = {
		{.stack = "app:main", .count = 1, .cpu_ms = 10},
		{.stack = "app:main", .count = 2, .cpu_ms = 10, .thread = 1},
		{.stack = "app:main", .count = 4, .cpu_ms = 10, .thread = 2},
	};
	struct build_result result = {.samples = samples, .count = 3};
	struct opened opened;
	opened_begin(&opened, &result, true, 0);
	ck_assert_uint_eq(samples_with(&opened, "process=app"), 3);
	ck_assert_uint_eq(samples_with(&opened, "process=helper"), 4);
	ck_assert_uint_eq(samples_with(&opened, "process=none"), 0);
	ck_assert_uint_eq(samples_with(&opened, "pid=100"), 3);
	ck_assert_uint_eq(samples_with(&opened, "thread=worker"), 2);
	ck_assert_uint_eq(samples_with(&opened, "tid=102"), 4);
	ck_assert_uint_eq(samples_with(&opened, "tid=0"), 0);
	opened_end(&opened);
}
END_TEST

static void expect_refused(struct filter *filter, const char *condition, const char *words)
{
	char *problem = filter_add(filter, condition);
	ck_assert_msg(problem && strncmp(problem, words, strlen(words)) == 0, "%s: %s", condition,
		      problem ? problem : "taken");
	free(problem);
}

START_TEST(test_filter_conditions)
{
	struct filter filter = {0};
	struct function function = {.name = "f", .full = "f(int)"};
	struct dso dso = {.name = "lib.so", .path = "/opt/lib.so"};
	expect_refused(&filter, "function", "no '=' in it; use KEY=VALUE");
	expect_refused(&filter, "=f", "no such key; use");
	expect_refused(&filter, "func=f", "no such key; use");
	expect_refused(&filter, "pid=12x", "pid must be a number");
	expect_refused(&filter, "pid=", "pid must be a number");
	expect_refused(&filter, "pid=-1", "pid must be a number");
	expect_refused(&filter, "tid=4294967296", "tid must be a number");
	ck_assert_uint_eq(filter.count, 0);
	ck_assert(!filter_needs_function(&filter));
	ck_assert(filter_takes_function(&filter, &function, &dso));
	ck_assert_ptr_null(filter_add(&filter, "function=f(int)"));
	ck_assert_ptr_null(filter_add(&filter, "module=/opt/lib.so"));
	ck_assert(filter_needs_function(&filter));
	ck_assert(filter_takes_function(&filter, &function, &dso));
	dso.path = "/other/lib.so";
	ck_assert(!filter_takes_function(&filter, &function, &dso));
	filter_finish(&filter);
	/* a value may have '=' in it */
	ck_assert_ptr_null(filter_add(&filter, "function=operator=="));
	ck_assert_str_eq(filter.conditions[0].value, "operator==");
	filter_finish(&filter);
}
END_TEST

static const struct {
	const char *condition;
	const char *name;
	const char *other;
	bool takes;
} filter_names[] = {
	{"module=libc", "libc.so.6", "/lib/libc.so.6", true},
	{"module=libc.so", "libc.so.6", "/lib/libc.so.6", true},
	{"module=libc.so.6", "libc.so.6", "/lib/libc.so.6", true},
	{"module=libc", "libc-2.36.so", "/lib/libc-2.36.so", true},
	{"module=libc", "libcrypto.so.3", "/lib/libcrypto.so.3", false},
	{"module=libc", "libc-client.so.2", "/lib/libc-client.so.2", false},
	{"module=libstdc++", "libstdc++.so.6", "/lib/libstdc++.so.6", true},
	{"module=lib", "libc.so.6", "/lib/libc.so.6", false},
	{"module=", "libc.so.6", "/lib/libc.so.6", false},
	{"module=app", "app-2", "/opt/app-2", false},
	{"module=~^libc", "libcrypto.so.3", "/lib/libcrypto.so.3", true},
	{"module=~/opt/", "lib.so", "/opt/lib.so", true},
	{"module=~^opt", "lib.so", "/opt/lib.so", false},
	{"function=~^hash_(bytes|words)$", "hash_words", "hash_words(int)", true},
	{"function=~^hash_(bytes|words)$", "hash_wordsy", "hash_wordsy(int)", false},
	{"function=~int\\)$", "hash", "hash(int)", true},
	{"function=libc", "libc.so.6", NULL, false},
	{"process=~^post", "postgres", NULL, true},
	{"process=post", "postgres", NULL, false},
	{"thread=~[0-9]+", "worker-12", NULL, true},
};

START_TEST(test_filter_names)
{
	struct filter filter = {0};
	ck_assert_ptr_null(filter_add(&filter, filter_names[_i].condition));
	ck_assert_msg(filter_takes_name(filter.conditions, filter_names[_i].name,
					filter_names[_i].other) == filter_names[_i].takes,
		      "%s: %s", filter_names[_i].condition, filter_names[_i].name);
	expect_refused(&filter, "module=~(",
		       "no POSIX extended regular expression behind ~: Unmatched");
	expect_refused(&filter, "pid=~1", "pid must be a number");
	ck_assert_uint_eq(filter.count, 1);
	filter_finish(&filter);
}
END_TEST

static const struct {
	const char *text;
	uint64_t ns; /* 0: refused */
} filter_times[] = {
	{"1.5s", 1500000000},
	{"2", 2000000000},
	{"200ms", 200000000},
	{"10us", 10000},
	{"7ns", 7},
	{".5s", 500000000},
	{"1e3", 0},
	{"0x10", 0},
	{"-1s", 0},
	{"", 0},
	{"s", 0},
	{"1.2.3", 0},
	{"1 s", 0},
	{"5min", 0},
	{"99999999999s", 0},
	{"inf", 0},
};

START_TEST(test_filter_parses_times)
{
	struct filter filter = {0};
	ck_assert(!filter_has_times(&filter));
	char *problem = filter_set_from(&filter, filter_times[_i].text);
	if (filter_times[_i].ns == 0) {
		ck_assert_ptr_nonnull(strstr(problem, "not a time since the start"));
	} else {
		ck_assert_ptr_null(problem);
		ck_assert_uint_eq(filter.from_ns, filter_times[_i].ns);
		ck_assert(filter_has_times(&filter));
	}
	free(problem);
}
END_TEST

START_TEST(test_filter_takes_times)
{
	struct filter filter = {0};
	ck_assert(filter_takes_time(&filter, 0));
	ck_assert_ptr_null(filter_set_to(&filter, "20ms"));
	ck_assert_ptr_null(filter_set_from(&filter, "10ms"));
	ck_assert(!filter_takes_time(&filter, 9999999));
	ck_assert(filter_takes_time(&filter, 10000000));
	ck_assert(filter_takes_time(&filter, 19999999));
	ck_assert(!filter_takes_time(&filter, 20000000));
	char *problem = filter_set_from(&filter, "20ms");
	ck_assert_ptr_nonnull(strstr(problem, "no time is left"));
	free(problem);
	problem = filter_set_to(&filter, "0");
	ck_assert_ptr_nonnull(strstr(problem, "no time is left"));
	free(problem);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("filter");
	TCase *cases = tcase_create("all");
	tcase_set_timeout(cases, 60);
	tcase_add_test(cases, test_filter_by_thread);
	tcase_add_test(cases, test_filter_conditions);
	tcase_add_loop_test(cases, test_filter_names, 0,
			    (int)(sizeof(filter_names) / sizeof(filter_names[0])));
	tcase_add_loop_test(cases, test_filter_parses_times, 0,
			    (int)(sizeof(filter_times) / sizeof(filter_times[0])));
	tcase_add_test(cases, test_filter_takes_times);
	suite_add_tcase(suite, cases);
	return run_suite(suite);
}
