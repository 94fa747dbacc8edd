/* Numbers of running and of ready threads over time, against counting them microsecond by
 * microsecond. */
#include "profile/read/reader.h"
#include "tests/support/suite.h"
#include "tests/tools/build_result.h"
#include "tools/functions/filter.h"
#include "tools/states/concurrency.h"
#include <check.h>
#include <stdlib.h>
#include <string.h>

#define US         UINT64_C(1000)
#define START      UINT64_C(1000000000) /* of the made-up collection, which lasts 2 s */
#define ELAPSED_US 2000000u

enum { THREADS = 4, SLICES_MAX = 40000 };

static struct profile_reader *reader;
static struct concurrency concurrency;
static const struct filter everything;
static const struct build_life lives[THREADS] = {{0, 0, 0}, {1, 0, 0}, {2, 0, 0}, {3, 0, 0}};

static void collect(const struct build_result *result, uint32_t target)
{
	build_result_write(build_path, result);
	ck_assert_uint_eq(profile_reader_open(build_path, &reader), VT_SUCCESS);
	ck_assert_uint_eq(concurrency_collect(&concurrency, reader, &everything, target),
			  VT_SUCCESS);
}

static void end_all(void)
{
	concurrency_finish(&concurrency);
	profile_reader_close(reader);
}

static uint64_t time_of(const struct concurrency_times *times, size_t threads)
{
	return threads < times->count ? times->ns[threads] : 0;
}

START_TEST(class_of_a_number)
{
	static const struct {
		unsigned threads, target;
		enum concurrency_class use;
	} known[] = {
		{0, 1000, CONCURRENCY_IDLE},       {1, 1000, CONCURRENCY_IDEAL},
		{2, 1000, CONCURRENCY_OVER},       {1, 2000, CONCURRENCY_POOR},
		{2, 2000, CONCURRENCY_IDEAL},      {3, 2000, CONCURRENCY_OVER},
		{4, 8000, CONCURRENCY_POOR},       {5, 8000, CONCURRENCY_OK},
		{6, 8000, CONCURRENCY_OK},         {7, 8000, CONCURRENCY_IDEAL},
		{9, 8000, CONCURRENCY_IDEAL},      {10, 8000, CONCURRENCY_OVER},
		{17, 20000, CONCURRENCY_OK},       {6, 7000, CONCURRENCY_IDEAL},
		{1, 1500, CONCURRENCY_OK},         {1, 250, CONCURRENCY_OVER},
		{UINT32_MAX, 1, CONCURRENCY_OVER},
	};
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		ck_assert_int_eq(concurrency_classify(known[i].threads, known[i].target),
				 known[i].use);
	ck_assert_str_eq(concurrency_class_name(CONCURRENCY_OK), "Ok");
	ck_assert_str_eq(concurrency_class_key(CONCURRENCY_OVER), "over");
}
END_TEST

/* Two threads on one CPU, by turns, then both on two; nothing in the second second. */
START_TEST(known_times)
{
	static const struct build_slice slices[] = {
		{0, PROFILE_STATE_READY, 0, 100000, .cpu = 0},
		{1, PROFILE_STATE_READY, 100000, 100000, .cpu = 0},
		{0, PROFILE_STATE_READY, 200000, 200000, .cpu = 0},
		{1, PROFILE_STATE_BLOCKED, 300000, 200000, .ready_us = 20000, .cpu = 1},
		{0, PROFILE_STATE_BLOCKED, 2000000, 0, .cpu = 0},
		{1, PROFILE_STATE_BLOCKED, 2000000, 0, .cpu = 0},
	};
	const struct build_result result = {.states = PROFILE_STATES_SWITCHES,
					    .slices = slices,
					    .slice_count = 6,
					    .lives = lives,
					    .life_count = 2};
	collect(&result, 1000);
	ck_assert_uint_eq(concurrency.running.count, 3);
	ck_assert_uint_eq(time_of(&concurrency.running, 0), 1500000 * US);
	ck_assert_uint_eq(time_of(&concurrency.running, 1), 400000 * US);
	ck_assert_uint_eq(time_of(&concurrency.running, 2), 100000 * US);
	ck_assert_uint_eq(time_of(&concurrency.active, 0), 1500000 * US);
	ck_assert_uint_eq(time_of(&concurrency.active, 1), 180000 * US);
	ck_assert_uint_eq(time_of(&concurrency.active, 2), 320000 * US);
	ck_assert_uint_eq(concurrency.elapsed_ns, 2000000 * US);
	ck_assert_uint_eq(concurrency.paused_ns, 0);
	ck_assert_uint_eq(concurrency.over_ns, (220000 + 2 * 100000) * US);
	ck_assert_uint_eq(concurrency.state_ns[PROFILE_STATE_RUNNING], 600000 * US);
	ck_assert_uint_eq(concurrency.state_ns[PROFILE_STATE_READY], 220000 * US);
	ck_assert_uint_eq(concurrency.waits, 3);
	ck_assert_double_eq_tol(concurrency_average(&concurrency.running), 0.3, 1e-12);
	ck_assert_double_eq_tol(concurrency_average(&concurrency.active), 0.41, 1e-12);
	ck_assert_uint_eq(concurrency_of_class(&concurrency.running, CONCURRENCY_IDLE, 1000),
			  1500000 * US);
	ck_assert_uint_eq(concurrency_of_class(&concurrency.running, CONCURRENCY_IDEAL, 1000),
			  400000 * US);
	ck_assert_uint_eq(concurrency_of_class(&concurrency.active, CONCURRENCY_OVER, 1000),
			  320000 * US);
	end_all();
}
END_TEST

struct seen_segments {
	uint64_t at_ns, elapsed_ns, cpu_ns;
};

static void see(uint64_t start_ns, uint64_t end_ns, uint32_t threads, void *user)
{
	struct seen_segments *seen = user;
	ck_assert_uint_ge(start_ns, seen->at_ns);
	ck_assert_uint_gt(end_ns, start_ns);
	seen->at_ns = end_ns;
	seen->elapsed_ns += end_ns - start_ns;
	seen->cpu_ns += (end_ns - start_ns) * threads;
}

/* The time of a pause is in no row, and in no segment. */
START_TEST(paused)
{
	static const struct build_slice slices[] = {
		{0, PROFILE_STATE_READY, 0, 100000, .cpu = 0},
		{0, PROFILE_STATE_UNKNOWN, 900000, 100000, .cpu = 0},
		{0, PROFILE_STATE_BLOCKED, 1500000, 500000, .cpu = 0},
	};
	const struct build_result result = {.states = PROFILE_STATES_SWITCHES,
					    .slices = slices,
					    .slice_count = 3,
					    .lives = lives,
					    .life_count = 1,
					    .paused_us = {50000, 950000}};
	struct seen_segments seen = {.at_ns = START};
	collect(&result, 1000);
	ck_assert_uint_eq(concurrency.paused_ns, 900000 * US);
	ck_assert_uint_eq(concurrency.elapsed_ns, 1100000 * US);
	ck_assert_uint_eq(time_of(&concurrency.running, 1), 600000 * US);
	ck_assert_uint_eq(time_of(&concurrency.running, 0), 500000 * US);
	ck_assert_uint_eq(concurrency_each(reader, see, &seen), VT_SUCCESS);
	ck_assert_uint_eq(seen.elapsed_ns, concurrency.elapsed_ns);
	ck_assert_uint_eq(seen.cpu_ns, 600000 * US);
	ck_assert_uint_eq(seen.at_ns, START + ELAPSED_US * US);
	end_all();
}
END_TEST

/* A thread that is ready for longer than slices last is known only when its time has passed. */
START_TEST(long_ready)
{
	static struct build_slice slices[400];
	size_t count = 0;
	for (unsigned ms = 0; ms < 1900; ms += 5)
		slices[count++] =
			(struct build_slice){0, PROFILE_STATE_RUNNING, ms * 1000, 5000, .cpu = 0};
	slices[count++] = (struct build_slice){1, PROFILE_STATE_READY, 1900000, 100000, .cpu = 0};
	slices[count++] = (struct build_slice){0, PROFILE_STATE_READY, 2000000, 0, .cpu = 0};
	const struct build_result result = {.states = PROFILE_STATES_SWITCHES,
					    .slices = slices,
					    .slice_count = count,
					    .lives = lives,
					    .life_count = 2};
	collect(&result, 2000);
	ck_assert_uint_eq(time_of(&concurrency.running, 1), 2000000 * US);
	ck_assert_uint_eq(time_of(&concurrency.active, 2), 2000000 * US);
	ck_assert_uint_eq(time_of(&concurrency.active, 1), 0);
	ck_assert_uint_eq(concurrency.elapsed_ns, 2000000 * US);
	end_all();
}
END_TEST

/* ---- Drawn ones ---- */

static struct build_slice drawn[SLICES_MAX];
static uint8_t running[ELAPSED_US], active[ELAPSED_US];

static int compare_ends(const void *a, const void *b)
{
	const struct build_slice *left = a;
	const struct build_slice *right = b;
	uint64_t left_end = left->start_us + left->run_us;
	uint64_t right_end = right->start_us + right->run_us;
	return (left_end > right_end) - (left_end < right_end);
}

static void count_in(uint8_t *numbers, uint64_t start_us, uint64_t end_us)
{
	for (uint64_t i = start_us; i < end_us && i < ELAPSED_US; i++)
		numbers[i]++;
}

/* One thread's slices over all of the time, `scale` us long and apart on average. */
static size_t draw_thread(unsigned thread, unsigned scale, struct build_slice *slices)
{
	static const enum profile_state before[] = {PROFILE_STATE_READY, PROFILE_STATE_BLOCKED,
						    PROFILE_STATE_STOPPED, PROFILE_STATE_UNKNOWN};
	uint64_t at = 0;
	size_t count = 0;
	while (at < ELAPSED_US) {
		unsigned gap = (unsigned)random() % (2 * scale);
		unsigned run = 1 + (unsigned)random() % (2 * scale);
		struct build_slice slice = {thread, before[random() % 4], at + gap, run,
					    .ready_us = (unsigned)random() % (gap + 1)};
		if (slice.start_us + run > ELAPSED_US)
			break;
		if (slice.before == PROFILE_STATE_READY)
			count_in(active, at, slice.start_us);
		else if (slice.before != PROFILE_STATE_UNKNOWN)
			count_in(active, slice.start_us - slice.ready_us, slice.start_us);
		at = slice.start_us + run;
		count_in(running, slice.start_us, at);
		count_in(active, slice.start_us, at);
		slices[count++] = slice;
	}
	return count;
}

static size_t draw_all(unsigned scale)
{
	size_t count = 0;
	memset(running, 0, sizeof(running));
	memset(active, 0, sizeof(active));
	for (unsigned thread = 0; thread < THREADS; thread++)
		count += draw_thread(thread, scale, drawn + count);
	ck_assert_uint_lt(count, SLICES_MAX);
	qsort(drawn, count, sizeof(*drawn), compare_ends);
	return count;
}

static void expect_drawn(void)
{
	uint64_t times[2][THREADS + 1] = {{0}};
	for (unsigned i = 0; i < ELAPSED_US; i++) {
		times[0][running[i]] += US;
		times[1][active[i]] += US;
	}
	for (unsigned i = 0; i <= THREADS; i++) {
		ck_assert_uint_eq(time_of(&concurrency.running, i), times[0][i]);
		ck_assert_uint_eq(time_of(&concurrency.active, i), times[1][i]);
	}
	ck_assert_uint_le(concurrency.running.count, THREADS + 1);
}

/* The number at each moment, with steps back in time. */
static void expect_moments(void)
{
	struct concurrency_moments *moments = concurrency_moments_create(reader);
	TBRW_U32 code;
	for (unsigned us = 0; us < ELAPSED_US; us += 37) {
		unsigned back = us % 10 == 0 && us > 500 ? (unsigned)random() % 500 : 0;
		ck_assert_uint_eq(concurrency_moments_running(moments, START + (us - back) * US,
							      &code),
				  running[us - back]);
		ck_assert_uint_eq(code, VT_SUCCESS);
	}
	ck_assert_uint_eq(concurrency_moments_running(moments, START + ELAPSED_US * US, &code),
			  UINT32_MAX);
	concurrency_moments_destroy(moments);
}

START_TEST(drawn_times)
{
	static const unsigned scales[] = {100, 3000, 100000, 400000};
	const unsigned scale = scales[_i];
	srandom(scale);
	const struct build_result result = {.states = PROFILE_STATES_WAKES,
					    .slices = drawn,
					    .slice_count = draw_all(scale),
					    .lives = lives,
					    .life_count = THREADS};
	collect(&result, 2000);
	expect_drawn();
	expect_moments();
	end_all();
}
END_TEST

/* Whatever stands in a file: lives add up, times of numbers add up to the collection. */
START_TEST(hostile)
{
	srandom((unsigned)_i);
	for (unsigned i = 0; i < SLICES_MAX; i++) {
		drawn[i] =
			(struct build_slice){.thread = (unsigned)random() % 8,
					     .before = (enum profile_state)(random() % 7),
					     .start_us = (uint64_t)random() % 2100000,
					     .run_us = (unsigned)random() % (1u << random() % 22),
					     .ready_us = (unsigned)random() % 4000000,
					     .flags = (unsigned)random() % 8};
		if (random() % 100 == 0)
			drawn[i].start_us = (uint64_t)random() << random() % 20;
	}
	/* Half in the order of the ends, but for some. */
	if (_i % 2 == 0)
		qsort(drawn, SLICES_MAX, sizeof(*drawn), compare_ends);
	const struct build_result result = {.states = PROFILE_STATES_WAKES,
					    .slices = drawn,
					    .slice_count = SLICES_MAX,
					    .lives = lives,
					    .life_count = THREADS,
					    .is_abandoned = _i == 3};
	collect(&result, 2000);
	const struct thread_states *states = &concurrency.states;
	uint64_t elapsed = states->collected.end_ns - states->collected.start_ns;
	uint64_t sums[2] = {0};
	for (size_t i = 0; i < states->lane_count; i++) {
		uint64_t sum = 0;
		for (unsigned state = 0; state < THREAD_STATE_COUNT; state++)
			sum += states->lanes[i].ns[state];
		ck_assert_uint_eq(sum, thread_states_life_ns(&states->lanes[i]));
		ck_assert_uint_le(sum, elapsed);
	}
	for (size_t i = 0; i < concurrency.running.count; i++)
		sums[0] += concurrency.running.ns[i];
	for (size_t i = 0; i < concurrency.active.count; i++)
		sums[1] += concurrency.active.ns[i];
	ck_assert_uint_eq(sums[0], elapsed);
	ck_assert_uint_eq(sums[1], elapsed);
	/* In disorder a thread may begin to be ready before it ends to run. */
	ck_assert_uint_le(concurrency.active.count, 2 * states->lane_count + 1);
	end_all();
}
END_TEST

START_TEST(target_of_a_result)
{
	struct build_result result = {.states = PROFILE_STATES_SWITCHES, .target_cpus = 1500};
	build_result_write(build_path, &result);
	ck_assert_uint_eq(profile_reader_open(build_path, &reader), VT_SUCCESS);
	ck_assert_uint_eq(concurrency_default_target(reader), 1500);
	profile_reader_close(reader);
	result.target_cpus = 0; /* all of the machine */
	build_result_write(build_path, &result);
	ck_assert_uint_eq(profile_reader_open(build_path, &reader), VT_SUCCESS);
	ck_assert_uint_eq(concurrency_default_target(reader), 4000);
	profile_reader_close(reader);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("concurrency");
	TCase *tcase = tcase_create("concurrency");

	tcase_set_timeout(tcase, 60);
	tcase_add_checked_fixture(tcase, build_set_up, build_tear_down);
	tcase_add_test(tcase, class_of_a_number);
	tcase_add_test(tcase, known_times);
	tcase_add_test(tcase, paused);
	tcase_add_test(tcase, long_ready);
	tcase_add_loop_test(tcase, drawn_times, 0, 4);
	tcase_add_loop_test(tcase, hostile, 0, 4);
	tcase_add_test(tcase, target_of_a_result);
	suite_add_tcase(suite, tcase);
	return run_suite(suite);
}
