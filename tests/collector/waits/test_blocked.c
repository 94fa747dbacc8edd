/* Switches in, blocked threads out. */
#include "collector/perf/record.h"
#include "collector/waits/blocked.h"
#include "tests/support/suite.h"
#include <check.h>
#include <stdlib.h>

static struct blocked blocked;

static void setup(void)
{
	blocked_init(&blocked);
}

static void teardown(void)
{
	blocked_finish(&blocked);
}

static void note(uint64_t time_ns, uint32_t tid, enum record_switch_kind kind)
{
	struct record_switch found = {time_ns, 10, tid, kind, 0};
	blocked_note(&blocked, &found);
}

static void expect(uint64_t due_ns, uint32_t tid, uint64_t since_ns)
{
	struct blocked_thread taken;
	ck_assert(blocked_take(&blocked, due_ns, &taken));
	ck_assert_uint_eq(taken.tid, tid);
	ck_assert_uint_eq(taken.pid, 10);
	ck_assert_uint_eq(taken.since_ns, since_ns);
}

static void expect_none(uint64_t due_ns)
{
	struct blocked_thread taken;
	ck_assert(!blocked_take(&blocked, due_ns, &taken));
}

START_TEST(in_order_of_time)
{
	uint64_t since_ns;
	ck_assert(!blocked_first(&blocked, &since_ns));
	note(30, 3, RECORD_BLOCKED);
	note(10, 1, RECORD_BLOCKED);
	note(20, 2, RECORD_BLOCKED);
	expect_none(UINT64_MAX); /* not settled */
	blocked_settle(&blocked);
	ck_assert(blocked_first(&blocked, &since_ns));
	ck_assert_uint_eq(since_ns, 10);
	expect(25, 1, 10);
	expect(25, 2, 20);
	expect_none(25);
	note(40, 4, RECORD_BLOCKED);
	blocked_settle(&blocked);
	expect(40, 3, 30);
	expect(40, 4, 40);
	expect_none(UINT64_MAX);
}
END_TEST

/* Once per block; a thread that runs again is not taken. */
START_TEST(once_each)
{
	note(10, 1, RECORD_BLOCKED);
	note(10, 2, RECORD_BLOCKED);
	note(10, 3, RECORD_BLOCKED);
	blocked_settle(&blocked);
	note(11, 1, RECORD_SWITCHED_IN);
	note(12, 2, RECORD_SWITCHED_IN);
	note(13, 2, RECORD_BLOCKED);
	expect(100, 3, 10);
	blocked_settle(&blocked);
	expect(100, 2, 13);
	blocked_settle(&blocked);
	expect_none(100);
}
END_TEST

/* The rings of two CPUs are read one after the other. */
START_TEST(out_of_order)
{
	note(12, 1, RECORD_SWITCHED_IN);
	note(10, 1, RECORD_BLOCKED);
	note(10, 2, RECORD_SWITCHED_IN);
	note(12, 2, RECORD_BLOCKED);
	note(10, 3, RECORD_PREEMPTED);
	blocked_settle(&blocked);
	expect(100, 2, 12);
	expect_none(100);
}
END_TEST

START_TEST(ended)
{
	note(10, 1, RECORD_BLOCKED);
	note(11, 1, RECORD_ENDED);
	note(12, 2, RECORD_BLOCKED);
	blocked_settle(&blocked);
	note(13, 2, RECORD_ENDED);
	blocked_settle(&blocked);
	expect_none(100);
	ck_assert_uint_eq(blocked.threads.count, 0);
	note(20, 1, RECORD_BLOCKED); /* the id again */
	blocked_settle(&blocked);
	expect(100, 1, 20);
}
END_TEST

/* Many threads in turn, each of them as often as the others; memory does not grow. */
START_TEST(turns)
{
	enum { THREADS = 2000, ROUNDS = 10 };
	uint64_t time_ns = 1;
	for (int round = 0; round < ROUNDS; round++) {
		for (uint32_t tid = 1; tid <= THREADS; tid++, time_ns++) {
			note(time_ns, tid, RECORD_SWITCHED_IN);
			note(time_ns, tid, RECORD_BLOCKED);
		}
		blocked_settle(&blocked);
		for (uint32_t tid = 1; tid <= THREADS; tid++)
			expect(UINT64_MAX, tid, time_ns - THREADS + tid - 1);
		expect_none(UINT64_MAX);
	}
	ck_assert_uint_le(blocked.capacity, 4 * THREADS);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("blocked");
	TCase *tcase = tcase_create("blocked");
	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_add_test(tcase, in_order_of_time);
	tcase_add_test(tcase, once_each);
	tcase_add_test(tcase, out_of_order);
	tcase_add_test(tcase, ended);
	tcase_add_test(tcase, turns);
	suite_add_tcase(suite, tcase);
	return run_suite(suite);
}
