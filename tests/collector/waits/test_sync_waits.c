/* What the library in the target saw becomes waits, and each counts once. */
#include "collector/context/stacks.h"
#include "collector/perf/record.h"
#include "collector/waits/waits.h"
#include "collector/waits/waits_private.h"
#include "tests/collector/tracker_fixture.h"
#include "tests/support/suite.h"
#include <check.h>
#include <sys/syscall.h>

enum { PID = 5000000, TID = 5000001, OTHER = 5000002, MS = 1000000, OBJECT = 0x600010 };

static struct stacks *stacks;
static struct waits *waits;

static void setup(void)
{
	static const struct waits_config config = {.source = PROFILE_WAIT_BY_OBSERVER,
						   .threshold_ns = 3 * MS,
						   .has_library = true};
	fixture_setup();
	feed_launch(1, PID, "target");
	feed_fork(2, PID, TID, PID, PID);
	feed_fork(2, PID, OTHER, PID, PID);
	stacks = stacks_create(emit, true);
	waits = waits_create(&config, tracker, stacks, emit);
	ck_assert_ptr_nonnull(waits);
}

static void teardown(void)
{
	waits_destroy(waits);
	stacks_destroy(stacks);
	fixture_teardown();
}

static void apply(struct record *record, uint32_t tid, uint64_t time_ns)
{
	struct waits_state running = {PROFILE_STATE_RUNNING, 0};
	record->pid = PID;
	record->tid = tid;
	record->time_ns = time_ns;
	waits_apply(waits, record, &running);
}

static struct record make(enum record_kind kind, enum profile_sync_type type, uint64_t begin_ns,
			  uint64_t end_ns)
{
	return (struct record){.kind = kind,
			       .sync = {.sample.choice = RECORD_KEPT,
					.object = OBJECT,
					.begin_ns = begin_ns,
					.end_ns = end_ns,
					.site = 0x400011,
					.type = (uint8_t)type}};
}

static void wait_for(enum profile_sync_type type, uint64_t begin_ns, uint64_t end_ns)
{
	struct record record = make(RECORD_SYNC_WAIT, type, begin_ns, end_ns);
	apply(&record, TID, end_ns);
}

static void wake(enum profile_sync_type type, uint32_t tid, uint64_t begin_ns, uint64_t end_ns,
		 bool wakes_all)
{
	struct record record = make(RECORD_SYNC_WAKE, type, begin_ns, end_ns);
	record.sync.wakes_all = wakes_all;
	apply(&record, tid, end_ns);
}

/* The thread gets its CPU after a time in the state. */
static void run_after(enum profile_state state, uint64_t since_ns, uint64_t time_ns)
{
	struct record record = {.kind = RECORD_SWITCH, .pid = PID, .tid = TID, .time_ns = time_ns};
	struct waits_state before = {state, since_ns};
	waits_apply(waits, &record, &before);
}

static void introduce(void)
{
	struct record record = make(RECORD_SYNC_NEW, PROFILE_SYNC_BARRIER, 5, 5);
	record.sync.object = 0x1000;
	apply(&record, TID, 5);
	run_after(PROFILE_STATE_BLOCKED, 6, 7);
}

static void put_other(uint64_t start_ns, uint64_t wait_ns, uint16_t number, uint32_t waker)
{
	struct profile_wait wait = {.tid = TID,
				    .wait_ns = wait_ns,
				    .syscall = number,
				    .source = PROFILE_WAIT_BY_OBSERVER,
				    .waker_tid = waker};
	waits_put(waits, &wait, start_ns);
}

static struct profile_wait last(size_t count)
{
	waits_end(waits, 1000ull * MS);
	ck_assert_uint_eq(fake_emit_count(emit, "wait "), count);
	return fake_emit_last_wait(emit);
}

START_TEST(blocked_and_spinning)
{
	introduce();
	run_after(PROFILE_STATE_READY, 11 * MS, 12 * MS);
	run_after(PROFILE_STATE_BLOCKED, 13 * MS, 33 * MS);
	run_after(PROFILE_STATE_BLOCKED, 34 * MS, 39 * MS);
	wait_for(PROFILE_SYNC_MUTEX, 10 * MS, 40 * MS);
	struct profile_wait wait = last(1);
	ck_assert_uint_eq(wait.wait_ns, 25 * MS);
	ck_assert_uint_eq(wait.spin_ns, 2 * MS);
	ck_assert_uint_eq(wait.blocks, 2);
	ck_assert_uint_eq(wait.source, PROFILE_WAIT_BY_LIBRARY);
	ck_assert_uint_eq(wait.syscall, PROFILE_NO_SYSCALL);
	ck_assert_uint_eq(wait.state, PROFILE_STACK_SKIPPED);
	ck_assert_uint_eq(wait.reason, PROFILE_SKIP_BUDGET);
	ck_assert_uint_ne(wait.node, 0);
	ck_assert_uint_eq(wait.waker_tid, 0);
	/* The first one is that of blocks that nobody looked at. */
	fake_emit_assert(emit,
			 "object 2 kind 6 pid 5000000 address 0x600010 number 0 variable 0 created "
			 "0 type 1",
			 1);
}
END_TEST

START_TEST(never_blocked)
{
	introduce();
	wait_for(PROFILE_SYNC_SPIN, 10 * MS, 30 * MS);
	struct profile_wait wait = last(1);
	ck_assert_uint_eq(wait.wait_ns, 0);
	ck_assert_uint_eq(wait.spin_ns, 20 * MS);
	ck_assert_uint_eq(wait.blocks, 0);
}
END_TEST

/* Without the thread's switches, as after losses. */
START_TEST(switches_unknown)
{
	wait_for(PROFILE_SYNC_MUTEX, 10 * MS, 30 * MS);
	ck_assert_uint_eq(last(1).wait_ns, 20 * MS);
	ck_assert_uint_eq(fake_emit_last_wait(emit).spin_ns, 0);
	wait_for(PROFILE_SYNC_SPIN, 40 * MS, 50 * MS);
	ck_assert_uint_eq(last(2).wait_ns, 0);
	ck_assert_uint_eq(fake_emit_last_wait(emit).spin_ns, 10 * MS);
}
END_TEST

/* More switches in the wait than are remembered. */
START_TEST(many_switches)
{
	introduce();
	for (uint64_t i = 0; i < 900; i++)
		run_after(PROFILE_STATE_BLOCKED, (10 + i) * MS, (10 + i) * MS + 1000);
	wait_for(PROFILE_SYNC_MUTEX, 9 * MS, 920 * MS);
	struct profile_wait wait = last(1);
	/* The first stretches are one with an earlier one. */
	ck_assert_uint_ge(wait.wait_ns, 890 * 1000);
	ck_assert_uint_le(wait.wait_ns, 900 * 1000);
	ck_assert_uint_ge(wait.blocks, 800);
	ck_assert_uint_le(wait.blocks, 900);
}
END_TEST

/* A spinning thread that is preempted again and again. */
START_TEST(many_preemptions)
{
	introduce();
	for (uint64_t i = 0; i < 900; i++)
		run_after(PROFILE_STATE_READY, (10 + i) * MS, (10 + i) * MS + MS / 2);
	wait_for(PROFILE_SYNC_SPIN, 9 * MS, 911 * MS);
	struct profile_wait wait = last(1);
	ck_assert_uint_eq(wait.blocks, 0);
	ck_assert_uint_ge(wait.spin_ns, 452 * MS);
	ck_assert_uint_le(wait.spin_ns, 457 * MS);
}
END_TEST

/* The last release before the end, whoever did it; not one's own, and none of other times. */
START_TEST(waker_of_a_lock)
{
	wake(PROFILE_SYNC_MUTEX, OTHER, 5 * MS, 5 * MS + 10, false);
	wake(PROFILE_SYNC_MUTEX, PID, 20 * MS, 20 * MS + 10, false);
	wake(PROFILE_SYNC_MUTEX, OTHER, 29 * MS, 29 * MS + 10, false);
	wake(PROFILE_SYNC_MUTEX, TID, 29 * MS + 20, 29 * MS + 30, false);
	wait_for(PROFILE_SYNC_MUTEX, 10 * MS, 30 * MS);
	wake(PROFILE_SYNC_MUTEX, PID, 31 * MS, 31 * MS + 10, false);
	struct profile_wait wait = last(1);
	ck_assert_uint_eq(wait.waker_tid, OTHER);
	ck_assert_uint_ne(wait.waker_node, 0);
	ck_assert_uint_eq(wait.waker_state, PROFILE_STACK_SKIPPED);
}
END_TEST

/* The waker lost its CPU before it wrote its record. */
START_TEST(late_waker)
{
	struct record nothing = {.kind = RECORD_COMM};
	struct record record = make(RECORD_SYNC_WAKE, PROFILE_SYNC_MUTEX, 29 * MS, 29 * MS + 1000);
	wait_for(PROFILE_SYNC_MUTEX, 10 * MS, 30 * MS);
	apply(&nothing, PID, 33 * MS);
	ck_assert_uint_eq(fake_emit_count(emit, "wait "), 0);
	apply(&record, OTHER, 40 * MS);
	apply(&nothing, PID, 52 * MS);
	ck_assert_uint_eq(fake_emit_count(emit, "wait "), 1);
	ck_assert_uint_eq(fake_emit_last_wait(emit).waker_tid, OTHER);
}
END_TEST

/* A signal wakes who waited longest, once; a broadcast wakes all. */
START_TEST(waker_of_a_condition)
{
	wake(PROFILE_SYNC_CONDITION, OTHER, 20 * MS, 20 * MS + 10, false);
	wake(PROFILE_SYNC_CONDITION, PID, 25 * MS, 25 * MS + 10, false);
	wait_for(PROFILE_SYNC_CONDITION, 10 * MS, 30 * MS);
	ck_assert_uint_eq(last(1).waker_tid, OTHER);
	wait_for(PROFILE_SYNC_CONDITION, 11 * MS, 31 * MS);
	ck_assert_uint_eq(last(2).waker_tid, PID);
	wait_for(PROFILE_SYNC_CONDITION, 12 * MS, 32 * MS);
	ck_assert_uint_eq(last(3).waker_tid, 0);
	wake(PROFILE_SYNC_CONDITION, OTHER, 40 * MS, 40 * MS + 10, true);
	wait_for(PROFILE_SYNC_CONDITION, 35 * MS, 41 * MS);
	ck_assert_uint_eq(last(4).waker_tid, OTHER);
	wait_for(PROFILE_SYNC_CONDITION, 36 * MS, 41 * MS);
	ck_assert_uint_eq(last(5).waker_tid, OTHER);
}
END_TEST

START_TEST(nobody_woke)
{
	struct record record = make(RECORD_SYNC_WAIT, PROFILE_SYNC_SEMAPHORE, 10 * MS, 30 * MS);
	wake(PROFILE_SYNC_SEMAPHORE, OTHER, 20 * MS, 20 * MS + 10, false);
	record.sync.is_timed_out = true;
	apply(&record, TID, 30 * MS);
	struct profile_wait wait = last(1);
	ck_assert_uint_eq(wait.waker_tid, 0);
	ck_assert_uint_eq(wait.flags, PROFILE_WAIT_TIMED_OUT);
	record = make(RECORD_SYNC_WAIT, PROFILE_SYNC_JOIN, 40 * MS, 50 * MS);
	record.sync.joined = 77;
	apply(&record, TID, 50 * MS);
	ck_assert_uint_eq(last(2).waker_tid, 77);
	ck_assert_uint_eq(fake_emit_last_wait(emit).waker_state, PROFILE_STACK_NONE);
}
END_TEST

/* One wait, two sources: before the library's record, and after it. */
START_TEST(counted_once)
{
	introduce();
	put_other(10 * MS, 20 * MS, SYS_futex, OTHER);
	wait_for(PROFILE_SYNC_MUTEX, 10 * MS - 1000, 30 * MS + 1000);
	struct profile_wait wait = last(1);
	ck_assert_uint_eq(wait.source, PROFILE_WAIT_BY_LIBRARY);
	ck_assert_uint_eq(wait.waker_tid, OTHER);
	put_other(10 * MS, 20 * MS, SYS_futex, 0);
	last(1);
	/* Other calls, and other times, are none of the library's. */
	put_other(10 * MS, 20 * MS, SYS_read, 0);
	last(2);
	put_other(31 * MS, 5 * MS, SYS_futex, 0);
	ck_assert_uint_eq(last(3).source, PROFILE_WAIT_BY_OBSERVER);
}
END_TEST

/* The other source's record is there before the process is known to have the library. */
START_TEST(first_wait_counted_once)
{
	put_other(10 * MS, 20 * MS, SYS_futex, OTHER);
	put_other(32 * MS, 2 * MS, SYS_read, 0);
	ck_assert_uint_eq(fake_emit_count(emit, "wait "), 1);
	wait_for(PROFILE_SYNC_MUTEX, 10 * MS - 1000, 30 * MS + 1000);
	ck_assert_uint_eq(last(2).source, PROFILE_WAIT_BY_LIBRARY);
}
END_TEST

/* The other source knows since when the thread could run: its switches cannot. */
START_TEST(woken_before_it_ran)
{
	struct profile_wait other = {.tid = TID,
				     .wait_ns = 20 * MS,
				     .ready_ns = 3 * MS,
				     .syscall = SYS_futex,
				     .source = PROFILE_WAIT_BY_BPF};

	introduce();
	run_after(PROFILE_STATE_BLOCKED, 10 * MS, 33 * MS);
	waits_put(waits, &other, 10 * MS);
	wait_for(PROFILE_SYNC_MUTEX, 10 * MS, 34 * MS);
	struct profile_wait wait = last(1);
	ck_assert_uint_eq(wait.source, PROFILE_WAIT_BY_LIBRARY);
	ck_assert_uint_eq(wait.wait_ns, 20 * MS);
	ck_assert_uint_eq(wait.ready_ns, 3 * MS);
}
END_TEST

/* What the library did not see is written once its record would have come. */
START_TEST(held_back)
{
	introduce();
	put_other(10 * MS, 20 * MS, SYS_futex, 0);
	ck_assert_uint_eq(fake_emit_count(emit, "wait "), 0);
	run_after(PROFILE_STATE_READY, 190 * MS, 200 * MS);
	ck_assert_uint_eq(fake_emit_count(emit, "wait "), 1);
	put_other(210 * MS, 5 * MS, SYS_futex, 0);
	struct record end = {.kind = RECORD_EXIT};
	apply(&end, TID, 220 * MS);
	ck_assert_uint_eq(fake_emit_count(emit, "wait "), 2);
}
END_TEST

START_TEST(created)
{
	struct record record = make(RECORD_SYNC_NEW, PROFILE_SYNC_MUTEX, 5, 5);
	apply(&record, TID, 5);
	wait_for(PROFILE_SYNC_MUTEX, 10 * MS, 30 * MS);
	last(1);
	ck_assert_uint_eq(fake_emit_count(emit, "object 1 kind 6 pid 5000000 address 0x600010 "
						"number 0 variable 0 created 0"),
			  0);
	ck_assert_uint_eq(fake_emit_count(emit, "object "), 1);
}
END_TEST

/* The states may begin the run before its switch's record: then waits and runs are as long as the
 * thread's life, whether the call's record or the next switch comes first. */
START_TEST(blocks_end_where_runs_begin)
{
	struct waits_state running = {PROFILE_STATE_RUNNING, 20 * MS - 1000};
	struct record out = {.kind = RECORD_SWITCH, .switched.out = true};
	introduce();
	run_after(PROFILE_STATE_BLOCKED, 11 * MS, 20 * MS);
	out.pid = PID;
	out.tid = TID;
	out.time_ns = 21 * MS;
	waits_apply(waits, &out, &running);
	run_after(PROFILE_STATE_BLOCKED, 21 * MS, 30 * MS);
	struct record record = make(RECORD_SYNC_WAIT, PROFILE_SYNC_MUTEX, 10 * MS, 31 * MS);
	record.pid = PID;
	record.tid = TID;
	record.time_ns = 31 * MS;
	running.since_ns = 30 * MS - 2000;
	waits_apply(waits, &record, &running);
	struct profile_wait wait = last(1);
	ck_assert_uint_eq(wait.wait_ns, 18 * MS - 3000);
	ck_assert_uint_eq(wait.blocks, 2);
}
END_TEST

/* A call that began before a loss may have blocked unseen. */
START_TEST(switches_lost)
{
	struct record lost = {.kind = RECORD_LOST, .has_lost_switches = true};
	introduce();
	run_after(PROFILE_STATE_BLOCKED, 13 * MS, 33 * MS);
	apply(&lost, TID, 35 * MS);
	wait_for(PROFILE_SYNC_MUTEX, 10 * MS, 40 * MS);
	waits_end(waits, 1000ull * MS);
	ck_assert_uint_eq(fake_emit_last_wait(emit).wait_ns, 30 * MS);
	ck_assert_uint_eq(fake_emit_last_wait(emit).spin_ns, 0);
	run_after(PROFILE_STATE_BLOCKED, 53 * MS, 63 * MS);
	wait_for(PROFILE_SYNC_MUTEX, 50 * MS, 70 * MS);
	ck_assert_uint_eq(last(2).wait_ns, 10 * MS);
	ck_assert_uint_eq(fake_emit_last_wait(emit).spin_ns, 3 * MS);
}
END_TEST

static void tell_of_nobody(enum record_kind kind)
{
	struct record record = make(kind, PROFILE_SYNC_MUTEX, 10 * MS, 30 * MS);
	struct waits_state state = {PROFILE_STATE_RUNNING, 0};
	record.pid = 1;
	record.tid = 1;
	record.time_ns = 30 * MS;
	waits_apply(waits, &record, &state);
}

/* The target may claim to be anybody. */
START_TEST(unknown_threads)
{
	tell_of_nobody(RECORD_SYNC_WAIT);
	tell_of_nobody(RECORD_SYNC_WAKE);
	tell_of_nobody(RECORD_SYNC_NEW);
	ck_assert_uint_eq(waits->sync_waits.unknown, 1);
	last(0);
	ck_assert_uint_eq(fake_emit_count(emit, "note"), 1);
}
END_TEST

/* Children that are not collected have the library, and no waits are lost. */
START_TEST(unwanted_children)
{
	waits->config.without_children = true;
	tell_of_nobody(RECORD_SYNC_WAIT);
	last(0);
	ck_assert_uint_eq(fake_emit_count(emit, "note"), 0);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("sync_waits");
	TCase *tcase = tcase_create("sync_waits");

	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_add_test(tcase, blocked_and_spinning);
	tcase_add_test(tcase, never_blocked);
	tcase_add_test(tcase, switches_unknown);
	tcase_add_test(tcase, many_switches);
	tcase_add_test(tcase, many_preemptions);
	tcase_add_test(tcase, waker_of_a_lock);
	tcase_add_test(tcase, late_waker);
	tcase_add_test(tcase, waker_of_a_condition);
	tcase_add_test(tcase, nobody_woke);
	tcase_add_test(tcase, counted_once);
	tcase_add_test(tcase, first_wait_counted_once);
	tcase_add_test(tcase, woken_before_it_ran);
	tcase_add_test(tcase, held_back);
	tcase_add_test(tcase, created);
	tcase_add_test(tcase, blocks_end_where_runs_begin);
	tcase_add_test(tcase, switches_lost);
	tcase_add_test(tcase, unknown_threads);
	tcase_add_test(tcase, unwanted_children);
	suite_add_tcase(suite, tcase);
	return run_suite(suite);
}
