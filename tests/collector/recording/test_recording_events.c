/* Recordings of several events, of groups, and with callchains that come later. */
#include "tests/collector/recording_fixture.h"
#include "tests/support/suite.h"
#include <check.h>
#include <linux/perf_event.h>
#include <string.h>

/* Events by their samples, or the wanted one; the others are named. */
START_TEST(several_events)
{
	const struct perf_event_attr attr = recorded_attributes(PERF_COUNT_SW_CPU_CLOCK);
	recorded_begin_pipe(&attr);
	recorded.size = 16;
	recorded_add_event(recorded_attributes(PERF_COUNT_SW_PAGE_FAULTS), 21, 2);
	recorded_add_event(recorded_attributes(PERF_COUNT_SW_TASK_CLOCK), 22, 3);
	ck_assert_int_eq(recorded_import(NULL), 0);
	ck_assert_str_eq(recorded.summary.event, "task-clock");
	ck_assert_uint_eq(profile_reader_sample_count(recorded.reader), 3);
	ck_assert_ptr_null(profile_reader_counted_event(recorded.reader));
	ck_assert(recorded_has_note(PROFILE_NOTE_EVENT, 0, "task-clock"));
	ck_assert(recorded_has_note(PROFILE_NOTE_WARNING, 0,
				    "2 samples of other events: page-faults (2);"));
	ck_assert_uint_eq(recorded.summary.event_count, 2);
	ck_assert_str_eq(recorded.summary.events[0], "task-clock");
	ck_assert_str_eq(recorded.summary.events[1], "page-faults");
	recorded_forget();
	ck_assert_int_eq(recorded_import_ranked(NULL, 1), 0);
	ck_assert_str_eq(recorded.summary.event, "page-faults");
	ck_assert_uint_eq(profile_reader_sample_count(recorded.reader), 2);
	recorded_forget();
	ck_assert_int_eq(recorded_import("page-faults"), 0);
	ck_assert_uint_eq(profile_reader_sample_count(recorded.reader), 2);
	recording_summary_finish(&recorded.summary);
	ck_assert_int_eq(recorded_import("cycles"), -1);
	ck_assert_str_eq(recorded.failure.text,
			 "--event cycles: the recording has no such event; it has "
			 "task-clock and others, see perf evlist");
}
END_TEST

/* A sample of a group's leader: totals with their ids, if they have any. */
static void put_group(uint64_t time_ns, uint32_t tid, const uint64_t totals[3], bool has_ids)
{
	size_t start = recorded_begin(PERF_RECORD_SAMPLE, PERF_RECORD_MISC_USER);
	recorded_put_u64(21);
	recorded_put_u64(recorded_chain[0]);
	recorded_put_task(7, tid);
	recorded_put_u64(time_ns);
	recorded_put_u64(1000);
	recorded_put_u64(3);
	for (uint64_t i = 0; i < 3; i++) {
		recorded_put_u64(totals[i]);
		if (has_ids)
			recorded_put_u64(21 + i);
	}
	recorded_put_u64(0);
	recorded_end(start);
}

/* The leader, with id 21, and one member, with id 22; 23 is of no event. */
static void begin_group(bool has_ids, bool is_inherited)
{
	struct perf_event_attr attr = recorded_attributes(PERF_COUNT_SW_CPU_CLOCK);
	attr.sample_type |= PERF_SAMPLE_READ;
	attr.read_format = PERF_FORMAT_GROUP | (has_ids ? PERF_FORMAT_ID : 0);
	attr.inherit = is_inherited;
	recorded_begin_pipe(&attr);
	recorded.size = 16;
	recorded_add_event(attr, 21, 0);
	attr.config = PERF_COUNT_SW_PAGE_FAULTS;
	attr.sample_period = 0;
	recorded_add_event(attr, 22, 0);
}

static bool add_weight(const struct profile_sample_info *sample, void *user)
{
	*(uint64_t *)user += sample->stack.cpu_ns;
	return true;
}

static void expect_weight(uint64_t expected)
{
	uint64_t sum = 0;
	ck_assert_uint_eq(profile_reader_each_sample(recorded.reader, add_weight, &sum),
			  VT_SUCCESS);
	ck_assert_uint_eq(sum, expected);
}

/* Each member has samples where it counted something: differences of its totals. A total may fall,
 * as no kernel does it: it counts nothing. */
START_TEST(group)
{
	static const uint64_t totals[][3] = {{1000, 0, 5},
					     {1900, 30, 6},
					     {2900, 30, 7},
					     {3000, 20, 8},
					     {3100, 50, 9}};
	begin_group(true, false);
	for (size_t i = 0; i < 5; i++)
		put_group(100 * (i + 1), 7, totals[i], true);
	ck_assert_int_eq(recorded_import(NULL), 0);
	ck_assert_str_eq(recorded.summary.event, "cpu-clock");
	ck_assert_uint_eq(recorded.summary.samples, 5);
	expect_weight(3100);
	ck_assert_ptr_nonnull(strstr(recorded.summary.told, "5 counts in samples were left out"));
	recorded_forget();
	ck_assert_int_eq(recorded_import_ranked(NULL, 1), 0);
	ck_assert_str_eq(recorded.summary.event, "page-faults");
	ck_assert_uint_eq(recorded.summary.samples, 2);
	expect_weight(60);
}
END_TEST

/* Inherited events count each thread by itself under one id. */
START_TEST(inherited_group)
{
	begin_group(true, true);
	put_group(100, 7, (const uint64_t[]){10, 1, 0}, true);
	put_group(200, 8, (const uint64_t[]){5, 3, 0}, true);
	put_group(300, 7, (const uint64_t[]){12, 2, 0}, true);
	ck_assert_int_eq(recorded_import("page-faults"), 0);
	ck_assert_uint_eq(recorded.summary.samples, 3);
	expect_weight(5);
}
END_TEST

/* Nobody knows of which events they are: the leader's samples have their periods. */
START_TEST(nameless_group)
{
	begin_group(false, false);
	put_group(100, 7, (const uint64_t[]){1, 2, 3}, false);
	put_group(200, 7, (const uint64_t[]){2, 3, 4}, false);
	ck_assert_int_eq(recorded_import(NULL), 0);
	ck_assert_uint_eq(recorded.summary.samples, 2);
	ck_assert_uint_eq(recorded.summary.event_count, 1);
	expect_weight(2000);
	ck_assert_ptr_nonnull(strstr(recorded.summary.told, "4 counts in samples were left out"));
}
END_TEST

static void put_deferred(uint32_t pid, uint64_t cookie, uint64_t time_ns)
{
	size_t start = recorded_begin(RECORDED_DEFERRED, PERF_RECORD_MISC_USER);
	recorded_put_u64(cookie);
	recorded_put_u64(4);
	recorded_put_u64((uint64_t)PERF_CONTEXT_USER);
	recorded_put(recorded_chain, sizeof(recorded_chain));
	recorded_end_with(start, pid, time_ns);
}

static uint32_t depth_of(uint32_t node)
{
	uint32_t depth = 0;
	for (; node != 0; depth++)
		node = profile_reader_node(recorded.reader, node)->parent;
	return depth;
}

static bool expect_depth(const struct profile_sample_info *sample, void *user)
{
	/* Two frames of the kernel, and the user's behind them; the last sample has none. */
	static const uint32_t depths[] = {5, 5, 2};
	size_t *i = user;
	ck_assert_uint_lt(*i, 3);
	ck_assert_uint_eq(depth_of(sample->stack.node), depths[(*i)++]);
	return true;
}

/* Frames of user code come later, for several samples at once; those of another cookie, or of
 * another thread, are not theirs. */
START_TEST(deferred)
{
	struct perf_event_attr attr = recorded_attributes(PERF_COUNT_SW_CPU_CLOCK);
	size_t seen = 0;
	attr.exclude_kernel = 0;
	recorded_begin_file(&attr);
	recorded_put_comm(7, "first", 0);
	recorded_put_map(7, 0x400000, "/nonexistent/first", 0);
	for (uint64_t i = 0; i < 3; i++) {
		size_t start = recorded_begin(PERF_RECORD_SAMPLE, PERF_RECORD_MISC_KERNEL);
		recorded_put_u64(UINT64_C(0xffffffff81000010));
		recorded_put_task(7, 7);
		recorded_put_u64(100 + i);
		recorded_put_u64(5);
		recorded_put_u64(5);
		recorded_put_u64((uint64_t)PERF_CONTEXT_KERNEL);
		recorded_put_u64(UINT64_C(0xffffffff81000010));
		recorded_put_u64(UINT64_C(0xffffffff81000201));
		recorded_put_u64((uint64_t)-640);
		recorded_put_u64(i < 2 ? 77 : 78);
		recorded_end(start);
	}
	put_deferred(7, 77, 110);
	put_deferred(8, 78, 110);
	recorded_end(recorded_begin(RECORDED_DEFERRED, 0)); /* not whole */
	recorded_end_file();
	ck_assert_int_eq(recorded_import(NULL), 0);
	ck_assert_uint_eq(profile_reader_each_sample(recorded.reader, expect_depth, &seen),
			  VT_SUCCESS);
	ck_assert_uint_eq(seen, 3);
	ck_assert_ptr_nonnull(
		strstr(recorded.summary.told, "1 of 3 samples lack the frames of user code"));
	ck_assert_ptr_nonnull(strstr(recorded.summary.told, "could not be read (1)"));
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("recorded events");
	TCase *tcase = tcase_create("events");

	tcase_add_checked_fixture(tcase, recorded_set_up, recorded_tear_down);
	tcase_add_test(tcase, several_events);
	tcase_add_test(tcase, group);
	tcase_add_test(tcase, inherited_group);
	tcase_add_test(tcase, nameless_group);
	tcase_add_test(tcase, deferred);
	suite_add_tcase(suite, tcase);
	return run_suite(suite);
}
