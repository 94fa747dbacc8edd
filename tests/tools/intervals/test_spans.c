/* Which intervals a sample lies in: against a look at each of them. */
#include "profile/read/reader.h"
#include "tests/support/suite.h"
#include "tests/tools/build_result.h"
#include "tests/tools/intervals/intervals.h"
#include "tools/intervals/spans.h"
#include <check.h>

/* Items are the intervals' numbers. */
struct numbering {
	uint32_t next;
	uint32_t left_out; /* each so many-th; 0: none */
};

static uint32_t number_interval(const struct profile_interval *interval, void *user)
{
	struct numbering *numbering = user;
	uint32_t number = numbering->next++;
	(void)interval;
	return numbering->left_out && number % numbering->left_out == 0 ? SPANS_NOT : number;
}

enum { MOST = 3000 };

struct found {
	bool items[MOST];
	size_t count;
};

static bool note_item(uint32_t item, void *user)
{
	struct found *found = user;
	ck_assert(item < MOST && !found->items[item]);
	found->items[item] = true;
	found->count++;
	return true;
}

/* Nested, overlapping and empty ones, of threads, processes and all, in any order. */
START_TEST(same_as_a_look_at_each)
{
	static struct profile_interval intervals[MOST];
	unsigned seed = 1 + (unsigned)_i, range = 50u << 2 * _i;
	struct numbering numbering = {.left_out = (uint32_t)_i};
	struct spans spans;
	for (int i = 0; i < MOST; i++) {
		uint64_t start = 1 + intervals_draw(&seed, range);
		intervals[i] = (struct profile_interval){
			.start_tsc = start,
			.end_tsc = start +
				   intervals_draw(&seed, intervals_draw(&seed, 10) ? 20 : range),
			.pid = intervals_draw(&seed, 3),
			.tid = intervals_draw(&seed, 3),
		};
	}
	struct profile_reader *reader = intervals_write(intervals, MOST);
	ck_assert_uint_eq(spans_load(&spans, reader, number_interval, &numbering), 0);
	for (unsigned k = 0; k < 300; k++) {
		uint32_t pid = intervals_draw(&seed, 4), tid = intervals_draw(&seed, 4);
		uint64_t tsc = intervals_draw(&seed, range + 30);
		struct found found = {.count = 0};
		size_t expected = 0;
		ck_assert(spans_at(&spans, pid, tid, tsc, note_item, &found));
		for (unsigned i = 0; i < MOST; i++) {
			bool is_left_out = _i > 0 && i % (unsigned)_i == 0;
			if (!is_left_out && intervals_hold(&intervals[i], pid, tid, tsc)) {
				ck_assert(found.items[i]);
				expected++;
			}
		}
		ck_assert_uint_eq(found.count, expected);
	}
	spans_finish(&spans);
	profile_reader_close(reader);
}
END_TEST

static uint32_t share_item(const struct profile_interval *interval, void *user)
{
	uint32_t *next = user;
	(void)interval;
	return (*next)++ % 7;
}

static bool count_item(uint32_t item, void *user)
{
	unsigned *calls = user;
	ck_assert_uint_lt(item, 7);
	calls[item]++;
	return true;
}

/* Intervals of one item: however many overlap, a moment is found once. */
START_TEST(shared_items)
{
	static struct profile_interval intervals[MOST];
	unsigned seed = 9 + (unsigned)_i, length = _i ? 200 : 4000;
	uint32_t next = 0;
	struct spans spans;
	for (int i = 0; i < MOST; i++) {
		uint64_t start = 1 + intervals_draw(&seed, 30000);
		intervals[i] =
			(struct profile_interval){.start_tsc = start,
						  .end_tsc = start + intervals_draw(&seed, length),
						  .tid = intervals_draw(&seed, 2)};
	}
	struct profile_reader *reader = intervals_write(intervals, MOST);
	ck_assert_uint_eq(spans_load(&spans, reader, share_item, &next), 0);
	for (unsigned k = 0; k < 300; k++) {
		uint32_t tid = 1 + intervals_draw(&seed, 2);
		uint64_t tsc = intervals_draw(&seed, 31000);
		unsigned calls[7] = {0};
		bool own[7] = {false}, all[7] = {false};
		ck_assert(spans_at(&spans, 5, tid, tsc, count_item, calls));
		for (unsigned i = 0; i < MOST; i++)
			if (intervals_hold(&intervals[i], 5, tid, tsc))
				*(intervals[i].tid ? &own[i % 7] : &all[i % 7]) = true;
		for (int item = 0; item < 7; item++)
			ck_assert_uint_eq(calls[item], own[item] + all[item]);
	}
	spans_finish(&spans);
	profile_reader_close(reader);
}
END_TEST

static bool stop_at_once(uint32_t item, void *user)
{
	(void)item;
	++*(int *)user;
	return false;
}

START_TEST(stops)
{
	const struct profile_interval intervals[] = {{.start_tsc = 5, .end_tsc = 9, .tid = 1},
						     {.start_tsc = 5, .end_tsc = 9},
						     {.start_tsc = 1, .end_tsc = 9}};
	struct numbering numbering = {0};
	struct spans spans;
	int calls = 0;
	struct profile_reader *reader = intervals_write(intervals, 3);
	ck_assert_uint_eq(spans_load(&spans, reader, number_interval, &numbering), 0);
	ck_assert(!spans_at(&spans, 7, 1, 6, stop_at_once, &calls));
	ck_assert_int_eq(calls, 1);
	ck_assert(spans_at(&spans, 7, 1, 9, stop_at_once, &calls));
	ck_assert(!spans_at(&spans, 7, 2, 1, stop_at_once, &calls));
	ck_assert_int_eq(calls, 2);
	spans_finish(&spans);
	profile_reader_close(reader);
}
END_TEST

START_TEST(none)
{
	struct spans spans;
	struct profile_reader *reader;
	struct numbering numbering = {0};
	int calls = 0;
	ck_assert_uint_eq(profile_reader_open(build_path, &reader), 0);
	ck_assert_uint_eq(spans_load(&spans, reader, number_interval, &numbering), 0);
	ck_assert(spans_at(&spans, 1, 1, 5, stop_at_once, &calls));
	ck_assert_int_eq(calls, 0);
	spans_finish(&spans);
	profile_reader_close(reader);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("spans");
	TCase *cases = tcase_create("all");
	tcase_add_checked_fixture(cases, intervals_set_up, build_tear_down);
	tcase_set_timeout(cases, 60);
	tcase_add_loop_test(cases, same_as_a_look_at_each, 0, 5);
	tcase_add_loop_test(cases, shared_items, 0, 2);
	tcase_add_test(cases, stops);
	tcase_add_test(cases, none);
	suite_add_tcase(suite, cases);
	return run_suite(suite);
}
