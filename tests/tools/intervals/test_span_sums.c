/* Sums of samples inside of intervals: against a look at each sample for each interval. */
#include "profile/read/reader.h"
#include "tests/support/suite.h"
#include "tests/tools/build_result.h"
#include "tests/tools/intervals/intervals.h"
#include "tools/intervals/span_sums.h"
#include <check.h>

enum { INTERVALS = 700, SAMPLES = 2000, SHARES = 2, KEYS = 400 };

/* A kind of made-up data. */
static const struct shape {
	unsigned range;  /* of time */
	unsigned length; /* of the longest interval */
	unsigned ids;    /* pids and tids below, 0 among them */
	unsigned items;  /* 0: one for each interval */
	unsigned keys;
	bool is_skewed; /* a few keys have most of the samples */
} shapes[] = {
	{2000, 20, 3, 0, KEYS, false},      /* few overlap */
	{100000, 100000, 1, 0, KEYS, true}, /* nearly all do, for all threads */
	{100000, 100000, 1, 0, KEYS, false},
	{100000, 100000, 2, 0, 5, false},
	{2000, 2000, 3, 40, KEYS, true}, /* items of owners of all kinds */
	{2000, 20, 2, 7, KEYS, true},
	{100000, 60, 2, 1, 1, false},
	{50, 50, 3, 0, 2, false}, /* many at a border */
};

struct sample {
	uint32_t pid, tid;
	uint64_t tsc;
	struct span_share shares[SHARES];
};

struct data {
	const struct shape *shape;
	struct profile_interval intervals[INTERVALS];
	struct sample samples[SAMPLES];
};

static void draw_data(struct data *data, const struct shape *shape, unsigned seed)
{
	data->shape = shape;
	for (size_t i = 0; i < INTERVALS; i++) {
		uint64_t start = 1 + intervals_draw(&seed, shape->range);
		data->intervals[i] = (struct profile_interval){
			.start_tsc = start,
			.end_tsc = start + intervals_draw(&seed, shape->length),
			.pid = intervals_draw(&seed, shape->ids),
			.tid = intervals_draw(&seed, shape->ids),
		};
	}
	for (size_t i = 0; i < SAMPLES; i++) {
		struct sample *sample = &data->samples[i];
		sample->pid = intervals_draw(&seed, shape->ids);
		sample->tid = intervals_draw(&seed, shape->ids);
		sample->tsc = intervals_draw(&seed, shape->range + shape->length);
		for (size_t k = 0; k < SHARES; k++) {
			bool is_heavy = shape->is_skewed && intervals_draw(&seed, 4) > 0;
			sample->shares[k].key =
				UINT32_MAX - intervals_draw(&seed, is_heavy ? 3 : shape->keys);
			/* Some weigh nothing; many are equal. */
			sample->shares[k].weight = intervals_draw(&seed, 3) * 1000;
		}
	}
}

static uint32_t item_of(const struct shape *shape, size_t interval)
{
	return (uint32_t)(shape->items ? interval % shape->items : interval);
}

struct choosing {
	const struct shape *shape;
	size_t next;
	unsigned left_out; /* items divided by it; 0: none */
};

static uint32_t choose(const struct profile_interval *interval, void *user)
{
	struct choosing *choosing = user;
	uint32_t item = item_of(choosing->shape, choosing->next++);
	(void)interval;
	return choosing->left_out && item % choosing->left_out == 0 ? SPANS_NOT : item;
}

static bool holds_item(const struct data *data, uint32_t item, const struct sample *sample)
{
	for (size_t i = 0; i < INTERVALS; i++)
		if (item_of(data->shape, i) == item &&
		    intervals_hold(&data->intervals[i], sample->pid, sample->tid, sample->tsc))
			return true;
	return false;
}

static struct span_sum look_at_each(const struct data *data, uint32_t item)
{
	struct span_sum sum = {.samples = 0};
	uint64_t weights[KEYS] = {0};
	for (size_t i = 0; i < SAMPLES; i++) {
		if (!holds_item(data, item, &data->samples[i]))
			continue;
		sum.samples++;
		for (size_t k = 0; k < SHARES; k++) {
			const struct span_share *share = &data->samples[i].shares[k];
			sum.weight += share->weight;
			weights[UINT32_MAX - share->key] += share->weight;
		}
	}
	for (; sum.top.count < SPAN_TOP; sum.top.count++) {
		uint32_t best = 0;
		for (uint32_t i = 1; i < KEYS; i++)
			if (weights[i] >= weights[best])
				best = i;
		if (weights[best] == 0)
			break;
		sum.top.keys[sum.top.count] = UINT32_MAX - best;
		sum.top.weights[sum.top.count] = weights[best];
		weights[best] = 0;
	}
	return sum;
}

static void compare_sums(const struct span_sum *sum, const struct span_sum *expected)
{
	ck_assert_uint_eq(sum->samples, expected->samples);
	ck_assert_uint_eq(sum->weight, expected->weight);
	ck_assert_uint_eq(sum->top.count, expected->top.count);
	for (size_t i = 0; i < expected->top.count; i++) {
		ck_assert_uint_eq(sum->top.weights[i], expected->top.weights[i]);
		ck_assert_uint_eq(sum->top.keys[i], expected->top.keys[i]);
	}
}

START_TEST(same_as_a_look_at_each)
{
	static struct data data;
	const struct shape *shape = &shapes[(size_t)_i % (sizeof(shapes) / sizeof(shapes[0]))];
	struct choosing choosing = {.shape = shape, .left_out = _i % 3 ? 0 : 5};
	struct span_sums *sums;
	uint32_t items = shape->items ? shape->items : INTERVALS;
	draw_data(&data, shape, 1 + (unsigned)_i);
	struct profile_reader *reader = intervals_write(data.intervals, INTERVALS);
	ck_assert_uint_eq(span_sums_create(&sums, reader, choose, &choosing), 0);
	for (size_t i = 0; i < SAMPLES; i++)
		span_sums_add(sums, data.samples[i].pid, data.samples[i].tid, data.samples[i].tsc,
			      data.samples[i].shares, SHARES);
	/* Each look takes time: of single intervals every 7th. */
	for (uint32_t item = 0; item < items; item += shape->items ? 1 : 7) {
		bool is_left_out = choosing.left_out && item % choosing.left_out == 0;
		struct span_sum sum, expected = {.samples = 0};
		if (!is_left_out)
			expected = look_at_each(&data, item);
		span_sums_get(sums, item, &sum);
		compare_sums(&sum, &expected);
	}
	span_sums_destroy(sums);
	profile_reader_close(reader);
}
END_TEST

START_TEST(none)
{
	const struct shape shape = {.items = 1};
	struct choosing choosing = {.shape = &shape};
	struct profile_reader *reader;
	struct span_sums *sums;
	struct span_sum sum;
	ck_assert_uint_eq(profile_reader_open(build_path, &reader), 0);
	ck_assert_uint_eq(span_sums_create(&sums, reader, choose, &choosing), 0);
	ck_assert(span_sums_is_empty(sums));
	span_sums_add(sums, 1, 1, 5, &(struct span_share){1, 1}, 1);
	span_sums_get(sums, 0, &sum);
	ck_assert_uint_eq(sum.samples, 0);
	span_sums_destroy(sums);
	profile_reader_close(reader);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("span sums");
	TCase *cases = tcase_create("all");
	tcase_add_checked_fixture(cases, intervals_set_up, build_tear_down);
	tcase_set_timeout(cases, 60);
	tcase_add_loop_test(cases, same_as_a_look_at_each, 0,
			    2 * (int)(sizeof(shapes) / sizeof(shapes[0])));
	tcase_add_test(cases, none);
	suite_add_tcase(suite, cases);
	return run_suite(suite);
}
