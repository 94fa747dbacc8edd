/* Samples of a result added up. */
#include "tests/support/suite.h"
#include "tests/tools/opened.h"
#include "tools/functions/filter.h"
#include <check.h>

START_TEST(test_tally_sums)
{
	static const struct build_sample samples[] = {
		{.stack = "app:main app:a", .count = 3, .cpu_ms = 10},
		{.stack = "app:main app:a", .count = 2, .cpu_ms = 11, .thread = 1, .collapsed = 4},
		{.stack = "app:main app:a",
		 .count = 1,
		 .cpu_ms = 5,
		 .state = PROFILE_STACK_SKIPPED,
		 .reason = PROFILE_SKIP_TRUNCATED},
		{.stack = "app:main app:b", .count = 1, .cpu_ms = 7, .thread = 2},
	};
	struct build_result result = {.samples = samples, .count = 4, .rest_ms = 9};
	struct opened opened;
	opened_begin(&opened, &result, true, 0);
	ck_assert_uint_eq(opened.result.tally.count, 3); /* a, a skipped, b */
	ck_assert_uint_eq(opened.result.tally.samples, 7);
	ck_assert_uint_eq(opened.result.tally.cpu_ns, 64000000);
	ck_assert_uint_eq(opened.result.tally.rest_ns, 9000000);
	ck_assert_uint_eq(opened.result.tally.states[PROFILE_STACK_COMPLETE], 6);
	ck_assert_uint_eq(opened.result.tally.skipped[PROFILE_SKIP_TRUNCATED], 1);
	ck_assert_uint_eq(opened.result.tally.collapsed, 2);
	opened_end(&opened);
	opened_begin(&opened, &result, true, TALLY_BY_THREAD);
	ck_assert_uint_eq(opened.result.tally.count, 4);
	opened_end(&opened);
	result.count = 0;
	opened_begin(&opened, &result, true, TALLY_BY_THREAD);
	ck_assert_uint_eq(opened.result.tally.count, 0);
	opened_end(&opened);
}
END_TEST

struct seen {
	unsigned count, most;
	uint64_t cpu_ns, last_ns;
};

static bool see(const struct tally_sample *sample, void *user)
{
	struct seen *seen = user;
	seen->cpu_ns += sample->cpu_ns;
	seen->last_ns = sample->since_start_ns;
	return ++seen->count != seen->most;
}

/* The n-th sample is 10 n ms behind the start. */
START_TEST(test_tally_times)
{
	static const struct build_sample samples[] = {
		{.stack = "app:main app:a", .count = 3, .cpu_ms = 10},
		{.stack = "app:main app:b", .count = 4, .cpu_ms = 20, .thread = 1},
	};
	struct build_result result = {.samples = samples, .count = 2, .rest_ms = 9};
	struct opened opened;
	struct filter filter = {0};
	struct tally tally;
	opened_begin(&opened, &result, true, 0);
	ck_assert_ptr_null(filter_set_from(&filter, "30ms"));
	ck_assert_ptr_null(filter_set_to(&filter, "60ms"));
	ck_assert_uint_eq(tally_collect(opened.result.reader, &filter, TALLY_BY_THREAD, &tally),
			  VT_SUCCESS);
	ck_assert_uint_eq(tally.samples, 3); /* 30, 40, 50 ms */
	ck_assert_uint_eq(tally.cpu_ns, 50000000);
	ck_assert_uint_eq(tally.rest_ns, 0);
	struct seen seen = {0};
	ck_assert_uint_eq(tally_each_sample(&tally, opened.result.reader, &filter, see, &seen),
			  VT_SUCCESS);
	ck_assert_uint_eq(seen.count, 3);
	ck_assert_uint_eq(seen.cpu_ns, 50000000);
	ck_assert_uint_eq(seen.last_ns, 50000000);
	ck_assert_ptr_null(filter_add(&filter, "tid=101"));
	seen = (struct seen){.most = 1};
	ck_assert_uint_eq(tally_each_sample(&tally, opened.result.reader, &filter, see, &seen),
			  VT_SUCCESS);
	ck_assert_uint_eq(seen.count, 1); /* stopped */
	ck_assert_uint_eq(seen.last_ns, 40000000);
	tally_finish(&tally);
	filter_finish(&filter);
	opened_end(&opened);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("tally");
	TCase *cases = tcase_create("all");
	tcase_set_timeout(cases, 60);
	tcase_add_test(cases, test_tally_sums);
	tcase_add_test(cases, test_tally_times);
	suite_add_tcase(suite, cases);
	return run_suite(suite);
}
