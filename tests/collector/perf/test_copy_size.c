#include "collector/perf/copy_size.h"
#include "tests/support/suite.h"
#include <check.h>

enum { KB = 1024, MB = 1024 * 1024 };

#define US 1000ull
#define MS 1000000ull

static const struct {
	size_t ring_size;
	uint64_t interval_ns;
	struct copies copies;
} choices[] = {
	{8 * MB, 10 * MS, {COPIES_SIZE_MAX, false}},
	{512 * KB, 10 * MS, {COPIES_SIZE_MAX, false}},
	{256 * KB, 10 * MS, {49152, false}},
	{4 * MB, 1 * MS, {COPIES_SIZE_MAX, false}},
	{2 * MB, 1 * MS, {49152, false}},
	{8 * MB, 100 * US, {16384, true}},
	{4 * MB, 100 * US, {8192, true}},
	{1 * MB, 100 * US, {4096, true}},
	{512 * KB, 1 * MS, {4096, true}},
	{256 * KB, 1 * MS, {4096, false}},
	{512 * KB, 100 * US, {4096, true}},
	{64 * KB, 100 * US, {4096, false}},
	{8 * MB, 1000 * MS, {COPIES_SIZE_MAX, false}},
};

START_TEST(choose)
{
	uint64_t interval = choices[_i].interval_ns;
	struct sampling sampling = sampling_choose(PROFILE_SAMPLING_FIXED, interval, 1);
	struct copies copies =
		copies_choose(choices[_i].ring_size, &sampling, copies_deep_interval_ns(interval));
	ck_assert_uint_eq(sampling.tick_ns, interval);
	ck_assert_uint_eq(copies.size, choices[_i].copies.size);
	ck_assert_int_eq(copies.deep, choices[_i].copies.deep);
	ck_assert_uint_eq(copies.size % 8, 0); /* what perf_event_open asks for */
}
END_TEST

/* Where each tick has a copy: rather fewer ticks than small copies, but no fewer than two. */
static const struct {
	size_t ring_size;
	uint64_t interval_ns;
	uint64_t ticks;
	struct copies copies;
} drawn[] = {
	{8 * MB, 10 * MS, 3, {COPIES_SIZE_MAX, false}},
	{1 * MB, 10 * MS, 3, {COPIES_SIZE_MAX, false}},
	{512 * KB, 10 * MS, 3, {COPIES_SIZE_MAX, false}},
	{256 * KB, 10 * MS, 2, {32768, false}},
	{8 * MB, 1 * MS, 2, {COPIES_SIZE_MAX, false}},
	{4 * MB, 1 * MS, 2, {COPIES_SIZE_MAX, false}},
	{2 * MB, 1 * MS, 2, {32768, true}},
	{1 * MB, 1 * MS, 2, {8192, true}},
	{512 * KB, 1 * MS, 2, {4096, true}},
	{4 * MB, 100 * US, 1, {8192, true}},
};

START_TEST(choose_with_ticks)
{
	uint64_t interval = drawn[_i].interval_ns;
	struct sampling sampling = sampling_choose(PROFILE_SAMPLING_THREADS, interval, 1);
	struct copies copies =
		copies_choose(drawn[_i].ring_size, &sampling, copies_deep_interval_ns(interval));
	ck_assert_uint_eq(copies.size, drawn[_i].copies.size);
	ck_assert_int_eq(copies.deep, drawn[_i].copies.deep);
	ck_assert_uint_eq(interval / sampling.tick_ns, drawn[_i].ticks);
	/* Of the size that was found, as many. */
	sampling = sampling_choose(PROFILE_SAMPLING_THREADS, interval, 1);
	copies_fit(drawn[_i].ring_size, copies.size, &sampling);
	ck_assert_uint_ge(interval / sampling.tick_ns, drawn[_i].ticks);
	copies_fit(1, copies.size, &sampling);
	ck_assert_uint_eq(interval / sampling.tick_ns, drawn[_i].ticks > 1 ? 2 : 1);
}
END_TEST

/* A multiple of any interval, and never the interval itself. */
START_TEST(deep_interval)
{
	static const uint64_t intervals[] = {100 * US, 130 * US, 200 * US,
					     1 * MS,   5 * MS,   1000 * MS};
	for (size_t i = 0; i < sizeof(intervals) / sizeof(intervals[0]); i++) {
		uint64_t deep = copies_deep_interval_ns(intervals[i]);
		ck_assert_uint_eq(deep % intervals[i], 0);
		ck_assert_uint_ge(deep, 2 * intervals[i]);
		ck_assert_uint_ge(deep, 6400 * US);
	}
	ck_assert_uint_eq(copies_deep_interval_ns(100 * US), 6400 * US);
	ck_assert_uint_eq(copies_deep_interval_ns(1 * MS), 7 * MS);
}
END_TEST

/* A ring fills in no less than 40 ms by what the source may add. */
START_TEST(refill)
{
	uint64_t bytes = copies_refill_bytes(8 * MB);
	ck_assert_uint_le((bytes - 1) * (40 * MS / 1024), 8 * MB);
	ck_assert_uint_gt(bytes * (40 * MS / 1024), 8 * MB - 64 * KB);
	ck_assert_uint_ge(copies_refill_bytes(0), 1);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("copies");
	TCase *tcase = tcase_create("copies");

	tcase_add_loop_test(tcase, choose, 0, (int)(sizeof(choices) / sizeof(choices[0])));
	tcase_add_loop_test(tcase, choose_with_ticks, 0, (int)(sizeof(drawn) / sizeof(drawn[0])));
	tcase_add_test(tcase, deep_interval);
	tcase_add_test(tcase, refill);
	suite_add_tcase(suite, tcase);
	return run_suite(suite);
}
