/* Threads' states over their lives: every ns of a life is in one state. */
#include "profile/read/reader.h"
#include "tests/support/suite.h"
#include "tests/tools/build_result.h"
#include "tools/functions/filter.h"
#include "tools/states/thread_states.h"
#include <check.h>
#include <stdlib.h>
#include <string.h>

#define US      UINT64_C(1000)
#define START   UINT64_C(1000000000) /* of the made-up collection, which lasts 2 s */
#define ELAPSED UINT64_C(2000000000)

static struct profile_reader *reader;
static struct thread_states states;
static const struct filter everything;

struct piece {
	uint64_t start_us, end_us;
	enum profile_state state;
};

struct expected {
	uint32_t lane;
	const struct piece *pieces;
	size_t count;
	size_t seen;
	uint64_t at_ns;
};

static void see(const struct thread_state_piece *piece, void *user)
{
	struct expected *expected = user;
	ck_assert_uint_lt(piece->start_ns, piece->end_ns);
	if (piece->lane != expected->lane)
		return;
	if (expected->seen > 0)
		ck_assert_uint_eq(piece->start_ns, expected->at_ns);
	expected->at_ns = piece->end_ns;
	ck_assert_uint_lt(expected->seen, expected->count);
	const struct piece *wanted = &expected->pieces[expected->seen++];
	ck_assert_uint_eq(piece->start_ns - START, wanted->start_us * US);
	ck_assert_uint_eq(piece->end_ns - START, wanted->end_us * US);
	ck_assert_int_eq(piece->state, wanted->state);
}

static void check_sums(void)
{
	for (size_t i = 0; i < states.lane_count; i++) {
		const struct thread_state_lane *lane = &states.lanes[i];
		uint64_t sum = 0;
		for (unsigned state = 0; state < THREAD_STATE_COUNT; state++)
			sum += lane->ns[state];
		ck_assert_uint_eq(sum, lane->is_taken ? thread_states_life_ns(lane) : 0);
		ck_assert_uint_le(lane->guessed_ns, sum);
	}
}

static void read_all(const struct build_result *result, const struct filter *filter,
		     struct expected *expected)
{
	build_result_write(build_path, result);
	ck_assert_uint_eq(profile_reader_open(build_path, &reader), VT_SUCCESS);
	thread_states_init(&states, reader, filter);
	ck_assert_uint_eq(thread_states_read_all(&states, expected ? see : NULL, expected),
			  VT_SUCCESS);
	check_sums();
	if (expected)
		ck_assert_uint_eq(expected->seen, expected->count);
}

static void end_all(void)
{
	thread_states_finish(&states);
	profile_reader_close(reader);
}

static const struct build_slice known_slices[] = {
	{0, PROFILE_STATE_UNKNOWN, 1000, 500, .cpu = 1},
	{1, PROFILE_STATE_READY, 1600, 400, .cpu = 0},
	{0, PROFILE_STATE_READY, 1700, 1000, .cpu = 1},
	{0, PROFILE_STATE_BLOCKED, 1000000, 900000, .ready_us = 300},
	{0, PROFILE_STATE_RUNNING, 1900000, 50000, .cpu = 0},
	{0, PROFILE_STATE_STOPPED, 1980000, 10000, .ready_us = 1000},
	{0, PROFILE_STATE_BLOCKED, 2000000, 0, .cpu = 0},
};
static const struct build_life known_lives[] = {{0, 0, 0}, {1, 1500, 2000}};

#define KNOWN                                                                                \
	{                                                                                    \
		.states = PROFILE_STATES_SWITCHES, .slices = known_slices, .slice_count = 7, \
		.lives = known_lives, .life_count = 2                                        \
	}

START_TEST(pieces_of_a_life)
{
	static const struct piece pieces[] = {
		{0, 1000, PROFILE_STATE_UNKNOWN},
		{1000, 1500, PROFILE_STATE_RUNNING},
		{1500, 1700, PROFILE_STATE_READY},
		{1700, 2700, PROFILE_STATE_RUNNING},
		{2700, 999700, PROFILE_STATE_BLOCKED},
		{999700, 1000000, PROFILE_STATE_READY},
		{1000000, 1900000, PROFILE_STATE_RUNNING},
		{1900000, 1950000, PROFILE_STATE_RUNNING},
		{1950000, 1979000, PROFILE_STATE_STOPPED},
		{1979000, 1980000, PROFILE_STATE_READY},
		{1980000, 1990000, PROFILE_STATE_RUNNING},
		{1990000, 2000000, PROFILE_STATE_BLOCKED},
	};
	const struct build_result result = KNOWN;
	struct expected expected = {0, pieces, 12, 0, 0};
	read_all(&result, &everything, &expected);
	const struct thread_state_lane *lane = &states.lanes[0];
	ck_assert_uint_eq(thread_states_life_ns(lane), ELAPSED);
	ck_assert_uint_eq(lane->ns[PROFILE_STATE_RUNNING], 961500 * US);
	ck_assert_uint_eq(lane->ns[PROFILE_STATE_READY], 1500 * US);
	ck_assert_uint_eq(lane->ns[PROFILE_STATE_BLOCKED], 1007000 * US);
	ck_assert_uint_eq(lane->ns[PROFILE_STATE_STOPPED], 29000 * US);
	ck_assert_uint_eq(lane->ns[PROFILE_STATE_UNKNOWN], 1000 * US);
	ck_assert_uint_eq(lane->waits, 2);
	ck_assert_uint_eq(lane->slices, 6);
	ck_assert_uint_eq(lane->guessed_ns, 0);
	ck_assert_uint_eq(states.slices, 7);
	ck_assert_uint_eq(states.cut, 0);
	lane = &states.lanes[1];
	ck_assert_uint_eq(thread_states_life_ns(lane), 500 * US);
	ck_assert_uint_eq(lane->ns[PROFILE_STATE_READY], 100 * US);
	ck_assert_uint_eq(lane->ns[PROFILE_STATE_RUNNING], 400 * US);
	end_all();
}
END_TEST

/* Without the last slice the end of a life is unknown. */
START_TEST(unknown_end)
{
	struct build_result result = KNOWN;
	result.slice_count--;
	read_all(&result, &everything, NULL);
	ck_assert_uint_eq(states.lanes[0].ns[PROFILE_STATE_UNKNOWN], 11000 * US);
	ck_assert_uint_eq(states.lanes[0].waits, 1);
	end_all();
}
END_TEST

START_TEST(no_slices)
{
	struct build_result result = KNOWN;
	result.slice_count = 0;
	read_all(&result, &everything, NULL);
	ck_assert_uint_eq(states.lanes[0].ns[PROFILE_STATE_UNKNOWN], ELAPSED);
	ck_assert_uint_eq(states.lanes[1].ns[PROFILE_STATE_UNKNOWN], 500 * US);
	end_all();
}
END_TEST

START_TEST(filtered)
{
	const struct build_result result = KNOWN;
	struct filter filter = {0};
	ck_assert_ptr_null(filter_add(&filter, "tid=101"));
	read_all(&result, &filter, NULL);
	ck_assert(!states.lanes[0].is_taken);
	ck_assert_uint_eq(states.lanes[0].ns[PROFILE_STATE_RUNNING], 0);
	ck_assert_uint_eq(states.lanes[1].ns[PROFILE_STATE_RUNNING], 400 * US);
	ck_assert_uint_eq(states.slices, 7);
	end_all();
	filter_finish(&filter);
}
END_TEST

/* A part of the time: slices across its borders count in part. */
START_TEST(within_times)
{
	static const struct piece pieces[] = {
		{2000, 2700, PROFILE_STATE_RUNNING},
		{2700, 999700, PROFILE_STATE_BLOCKED},
		{999700, 999900, PROFILE_STATE_READY},
	};
	const struct build_result result = KNOWN;
	const struct filter filter = {.from_ns = 2000 * US, .to_ns = 999900 * US};
	struct expected expected = {0, pieces, 3, 0, 0};
	read_all(&result, &filter, &expected);
	ck_assert_uint_eq(thread_states_life_ns(&states.lanes[0]), 997900 * US);
	ck_assert_uint_eq(thread_states_life_ns(&states.lanes[1]), 0);
	ck_assert_uint_eq(states.cut, 0);
	end_all();
}
END_TEST

/* Switches were lost: what is said of the time is marked. */
START_TEST(losses)
{
	static const struct build_slice slices[] = {
		{0, PROFILE_STATE_READY, 0, 1000, .flags = PROFILE_SLICE_CUT},
		{0, PROFILE_STATE_BLOCKED, 5000, 1000, .flags = PROFILE_SLICE_AFTER_LOSS},
		{0, PROFILE_STATE_UNKNOWN, 7000, 1993000, .flags = 0},
	};
	const struct build_result result = {.states = PROFILE_STATES_SWITCHES,
					    .slices = slices,
					    .slice_count = 2,
					    .lives = known_lives,
					    .life_count = 1};
	read_all(&result, &everything, NULL);
	ck_assert_uint_eq(states.lanes[0].guessed_ns, 4000 * US);
	ck_assert_uint_eq(states.lanes[0].ns[PROFILE_STATE_BLOCKED], 4000 * US);
	end_all();
}
END_TEST

/* Nothing in a file makes times negative, or a thread be in two states. */
START_TEST(contradictions)
{
	static const struct build_slice slices[] = {
		{0, PROFILE_STATE_READY, 1000, 1000, .cpu = 0},
		{0, PROFILE_STATE_BLOCKED, 1500, 1000, .ready_us = 4000000},  /* overlaps */
		{0, PROFILE_STATE_BLOCKED, 100, 100, .cpu = 0},               /* too late */
		{0, PROFILE_STATE_BLOCKED, 10000, 1000, .ready_us = 4000000}, /* ready for longer */
		{0, PROFILE_STATE_RUNNING, 20000, 1000, .cpu = 0},            /* not for so long */
		{0, PROFILE_STATE_RUNNING, 100000, 1500000, .cpu = 0},        /* longer than any */
		{0, 77, 1700000, 1000, .cpu = 0},
		{0, PROFILE_STATE_READY, 1900000, 4000000, .cpu = 0}, /* behind the end */
		{0, PROFILE_STATE_READY, 5000000, 1, .cpu = 0},
	};
	static const struct piece pieces[] = {
		{0, 1000, PROFILE_STATE_READY},
		{1000, 2000, PROFILE_STATE_RUNNING},
		{2000, 2500, PROFILE_STATE_RUNNING},
		{2500, 10000, PROFILE_STATE_READY},
		{10000, 11000, PROFILE_STATE_RUNNING},
		{11000, 20000, PROFILE_STATE_UNKNOWN},
		{20000, 21000, PROFILE_STATE_RUNNING},
		{21000, 600000, PROFILE_STATE_UNKNOWN},
		{600000, 1600000, PROFILE_STATE_RUNNING},
		{1600000, 1700000, PROFILE_STATE_UNKNOWN},
		{1700000, 1701000, PROFILE_STATE_RUNNING},
		{1701000, 2000000, PROFILE_STATE_READY},
	};
	const struct build_result result = {.states = PROFILE_STATES_SWITCHES,
					    .slices = slices,
					    .slice_count = 9,
					    .lives = known_lives,
					    .life_count = 1};
	struct expected expected = {0, pieces, 12, 0, 0};
	read_all(&result, &everything, &expected);
	ck_assert_uint_eq(states.cut, 4);
	end_all();
}
END_TEST

/* A killed collection: the threads have no records, and the end is that of the last slice. */
START_TEST(killed)
{
	static const struct build_slice slices[] = {
		{2, PROFILE_STATE_READY, 300, 100, .cpu = 0},
		{0, PROFILE_STATE_BLOCKED, 400, 600, .cpu = 0},
		{2, PROFILE_STATE_BLOCKED, 2000, 1000, .cpu = 0},
	};
	static const struct build_sample samples[] = {{.stack = "app:main", .cpu_ms = 1}};
	const struct build_result result = {.states = PROFILE_STATES_SWITCHES,
					    .slices = slices,
					    .slice_count = 3,
					    .samples = samples,
					    .count = 1,
					    .is_abandoned = true};
	read_all(&result, &everything, NULL);
	ck_assert_uint_eq(states.lane_count, 2);
	const struct thread_state_lane *lane = &states.lanes[0]; /* known by its sample */
	ck_assert_uint_eq(lane->tid, BUILD_TID);
	ck_assert_uint_eq(lane->ns[PROFILE_STATE_BLOCKED], 400 * US);
	ck_assert_uint_eq(lane->ns[PROFILE_STATE_UNKNOWN], 2000 * US);
	ck_assert_uint_eq(thread_states_life_ns(lane), 3000 * US);
	lane = &states.lanes[1];
	ck_assert_uint_eq(lane->thread, PROFILE_NONE);
	ck_assert_uint_eq(lane->tid, BUILD_TID + 2);
	ck_assert_uint_eq(thread_states_life_ns(lane), 2700 * US);
	ck_assert_uint_eq(lane->ns[PROFILE_STATE_BLOCKED], 1600 * US);
	end_all();
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("thread states");
	TCase *tcase = tcase_create("thread states");

	tcase_set_timeout(tcase, 60);
	tcase_add_checked_fixture(tcase, build_set_up, build_tear_down);
	tcase_add_test(tcase, pieces_of_a_life);
	tcase_add_test(tcase, unknown_end);
	tcase_add_test(tcase, no_slices);
	tcase_add_test(tcase, filtered);
	tcase_add_test(tcase, within_times);
	tcase_add_test(tcase, losses);
	tcase_add_test(tcase, contradictions);
	tcase_add_test(tcase, killed);
	suite_add_tcase(suite, tcase);
	return run_suite(suite);
}
