/* Looks and switches become waits. */
#include "collector/context/stacks.h"
#include "collector/machine/registers.h"
#include "collector/waits/waits_private.h"
#include "tests/collector/tracker_fixture.h"
#include "tests/support/suite.h"
#include <check.h>
#include <errno.h>
#include <sys/syscall.h>

enum { PID = 5000000, TID = 5000001, OTHER = 5000002, MS = 1000000, SP = 0x7000 };

static struct stacks *stacks;
static struct waits *waits;

static void setup(void)
{
	static const struct waits_config config = {.source = PROFILE_WAIT_BY_OBSERVER,
						   .threshold_ns = 3 * MS};
	fixture_setup();
	feed_launch(1, PID, "target");
	stacks = stacks_create(emit, true);
	ck_assert_ptr_nonnull(stacks);
	waits = waits_create(&config, tracker, stacks, emit);
	ck_assert_ptr_nonnull(waits);
}

static void teardown(void)
{
	waits_destroy(waits);
	stacks_destroy(stacks);
	fixture_teardown();
}

static void apply(struct record *record, uint32_t tid, uint64_t time_ns, enum profile_state state,
		  uint64_t since_ns)
{
	struct waits_state before = {state, since_ns};
	record->pid = PID;
	record->tid = tid;
	record->time_ns = time_ns;
	waits_apply(waits, record, &before);
}

static void block(uint32_t tid, uint64_t time_ns)
{
	struct record record = {.kind = RECORD_SWITCH, .switched.out = true};
	apply(&record, tid, time_ns, PROFILE_STATE_RUNNING, 0);
}

static void run(uint32_t tid, uint64_t time_ns, uint64_t since_ns)
{
	struct record record = {.kind = RECORD_SWITCH};
	apply(&record, tid, time_ns, PROFILE_STATE_BLOCKED, since_ns);
}

static struct record make_look(uint64_t begin_ns, uint16_t number, uint64_t argument)
{
	struct record record = {.kind = RECORD_LOOK};
	record.look.call = (struct record_call){begin_ns, {argument, 1}, number};
	registers_from_pointers(SP, 0x400010, false, true, &record.look.sample.regs);
	record.look.sample.abi = RECORD_REGISTERS_64;
	record.look.sample.stack = (struct uw_stack){.base = SP, .ends = true};
	return record;
}

static void look(uint32_t tid, uint64_t begin_ns, uint64_t since_ns, uint16_t number,
		 uint64_t argument)
{
	struct record record = make_look(begin_ns, number, argument);
	apply(&record, tid, begin_ns + 1000, PROFILE_STATE_BLOCKED, since_ns);
}

static void look_stopped(uint32_t tid, uint64_t begin_ns, uint64_t since_ns, uint16_t number,
			 uint64_t argument)
{
	struct record record = make_look(begin_ns, number, argument);
	record.look.is_stopped = true;
	apply(&record, tid, begin_ns + 1000, PROFILE_STATE_BLOCKED, since_ns);
}

static void lose(uint64_t time_ns, bool has_lost_switches)
{
	struct record record = {.kind = RECORD_LOST};
	record.lost = 3;
	record.has_lost_switches = has_lost_switches;
	apply(&record, 0, time_ns, PROFILE_STATE_UNKNOWN, 0);
}

static void expect_waits(size_t count)
{
	ck_assert_uint_eq(fake_emit_count(emit, "wait "), count);
}

static void finish(uint64_t end_ns)
{
	waits_end(waits, end_ns);
}

START_TEST(one)
{
	block(TID, 10 * MS);
	look(TID, 13 * MS, 10 * MS, SYS_futex, 0x600010);
	expect_waits(0);
	run(TID, 35 * MS, 10 * MS);
	finish(40 * MS);
	fake_emit_assert(emit,
			 "object 1 kind 1 pid 5000000 address 0x600010 number 0 variable 0 created "
			 "0 type 0",
			 1);
	fake_emit_assert(emit,
			 "wait 5000001 start 10000000 wait 25000000 ready 0 object 1 syscall 202 "
			 "blocks 1 flags 0 source 1",
			 1);
	expect_waits(1);
	ck_assert_uint_ne(fake_emit_last_wait(emit).node, 0);
	ck_assert_uint_eq(fake_emit_last_wait(emit).waker_state, PROFILE_STACK_NONE);
	ck_assert_uint_eq(fake_emit_count(emit, "note"), 0);
}
END_TEST

/* A loop of equal calls: as many waits, at one object. */
START_TEST(one_after_the_other)
{
	for (uint64_t i = 0; i < 40; i++) {
		uint64_t since_ns = (10 + 25 * i) * MS;
		block(TID, since_ns);
		look(TID, since_ns + 4 * MS, since_ns, SYS_futex, 0x600010);
		run(TID, since_ns + 25 * MS - 1000, since_ns);
	}
	finish(2000 * MS);
	expect_waits(40);
	ck_assert_uint_eq(fake_emit_count(emit, "object "), 1);
	ck_assert_uint_eq(fake_emit_last_wait(emit).wait_ns, 25 * MS - 1000);
	ck_assert_uint_eq(fake_emit_last_wait(emit).blocks, 1);
}
END_TEST

/* It ran before the look's end, or since before its begin. */
START_TEST(stale)
{
	struct record record = make_look(13 * MS, SYS_futex, 0x600010);
	block(TID, 10 * MS);
	look(TID, 9 * MS, 10 * MS, SYS_futex, 0x600010);
	run(TID, 12 * MS, 10 * MS);
	apply(&record, TID, 14 * MS, PROFILE_STATE_RUNNING, 12 * MS);
	apply(&record, TID, 14 * MS, PROFILE_STATE_READY, 12 * MS);
	apply(&record, TID, 14 * MS, PROFILE_STATE_UNKNOWN, 0);
	finish(20 * MS);
	expect_waits(0);
	ck_assert_uint_eq(fake_emit_count(emit, "object "), 0);
	ck_assert_uint_eq(waits_stale_looks(waits), 4);
}
END_TEST

/* Blocks of the threshold are waits of an object that is not known, their times exact. */
START_TEST(unseen)
{
	block(TID, 10 * MS);
	run(TID, 13 * MS - 1, 10 * MS);
	block(TID, 20 * MS);
	run(TID, 23 * MS, 20 * MS);
	block(TID, 30 * MS);
	run(TID, 50 * MS, 30 * MS);
	finish(60 * MS);
	fake_emit_assert(emit,
			 "object 1 kind 7 pid 0 address 0 number 0 variable 0 created 0 type 0", 1);
	fake_emit_assert(emit,
			 "wait 5000001 start 20000000 wait 3000000 ready 0 object 1 syscall 65535 "
			 "blocks 1 flags 0 source 1",
			 1);
	expect_waits(2);
	struct profile_wait last = fake_emit_last_wait(emit);
	ck_assert_uint_eq(last.wait_ns, 20 * MS);
	ck_assert_uint_eq(last.state, PROFILE_STACK_SKIPPED);
	ck_assert_uint_eq(last.reason, PROFILE_SKIP_BUDGET);
	ck_assert_uint_eq(fake_emit_count(emit, "note"), 0);
}
END_TEST

/* At the end a thread waits since the threshold, another shortly, one was looked at, one runs. */
START_TEST(unseen_and_unended)
{
	struct waits_state blocked = {PROFILE_STATE_BLOCKED, 10 * MS};
	struct waits_state shortly = {PROFILE_STATE_BLOCKED, 58 * MS};
	struct waits_state running = {PROFILE_STATE_RUNNING, 10 * MS};
	look(OTHER, 14 * MS, 10 * MS, SYS_futex, 0x600010);
	waits_leave(waits, PID, TID, &blocked, 60 * MS);
	waits_leave(waits, PID, OTHER, &blocked, 60 * MS);
	waits_leave(waits, PID, TID + 10, &shortly, 60 * MS);
	waits_leave(waits, PID, TID + 11, &running, 60 * MS);
	finish(60 * MS);
	fake_emit_assert(emit,
			 "wait 5000001 start 10000000 wait 50000000 ready 0 object 2 syscall 65535 "
			 "blocks 1 flags 8 source 1",
			 1);
	expect_waits(2);
}
END_TEST

/* What began before switches were lost may have ended meanwhile. */
START_TEST(unseen_and_lost)
{
	block(TID, 10 * MS);
	lose(20 * MS, true);
	run(TID, 30 * MS, 10 * MS);
	block(TID, 31 * MS);
	run(TID, 40 * MS, 31 * MS);
	finish(60 * MS);
	expect_waits(1);
	ck_assert_uint_eq(fake_emit_last_wait(emit).wait_ns, 9 * MS);
	fake_emit_assert(emit, "note 55 at 60000000 value 1 0/1", 1);
}
END_TEST

START_TEST(unended)
{
	block(TID, 10 * MS);
	look(TID, 13 * MS, 10 * MS, SYS_futex, 0x600010);
	block(OTHER, 11 * MS);
	look(OTHER, 14 * MS, 11 * MS, SYS_futex, 0x600010);
	struct record end = {.kind = RECORD_EXIT};
	apply(&end, OTHER, 15 * MS, PROFILE_STATE_BLOCKED, 11 * MS);
	expect_waits(1);
	finish(40 * MS);
	fake_emit_assert(emit,
			 "wait 5000001 start 10000000 wait 30000000 ready 0 object 1 syscall 202 "
			 "blocks 1 flags 8 source 1",
			 1);
	fake_emit_assert(emit,
			 "wait 5000002 start 11000000 wait 4000000 ready 0 object 1 syscall 202 "
			 "blocks 1 flags 8 source 1",
			 1);
}
END_TEST

/* A thread that waits at the collection's start began before; one that waits later did not. */
START_TEST(begun_before)
{
	waits_begin(waits, 10 * MS);
	block(TID, 10 * MS);
	look(TID, 13 * MS, 10 * MS, SYS_futex, 0x600010);
	run(TID, 35 * MS, 10 * MS);
	block(OTHER, 11 * MS);
	look(OTHER, 14 * MS, 11 * MS, SYS_futex, 0x600010);
	run(OTHER, 36 * MS, 11 * MS);
	finish(40 * MS);
	fake_emit_assert(emit,
			 "wait 5000001 start 10000000 wait 25000000 ready 0 object 1 syscall 202 "
			 "blocks 1 flags 16 source 1",
			 1);
	fake_emit_assert(emit,
			 "wait 5000002 start 11000000 wait 25000000 ready 0 object 1 syscall 202 "
			 "blocks 1 flags 0 source 1",
			 1);
}
END_TEST

/* A signal interrupts a call with a timeout; the kernel goes on with it. */
START_TEST(restarted)
{
	block(TID, 10 * MS);
	look(TID, 13 * MS, 10 * MS, SYS_clock_nanosleep, 1);
	run(TID, 20 * MS, 10 * MS);
	block(TID, 20 * MS + 50000);
	look(TID, 24 * MS, 20 * MS + 50000, SYS_restart_syscall, 0);
	run(TID, 30 * MS, 20 * MS + 50000);
	finish(40 * MS);
	fake_emit_assert(emit,
			 "wait 5000001 start 10000000 wait 19950000 ready 0 object 1 syscall 230 "
			 "blocks 2 flags 2 source 1",
			 1);
	expect_waits(1);
}
END_TEST

/* SIGSTOP, then SIGCONT: two blocks more, and one wait. */
START_TEST(stopped)
{
	block(TID, 10 * MS);
	look(TID, 13 * MS, 10 * MS, SYS_futex, 0x600010);
	run(TID, 20 * MS, 10 * MS);
	block(TID, 20 * MS + 50000);
	look_stopped(TID, 24 * MS, 20 * MS + 50000, SYS_futex, 0x600010);
	run(TID, 30 * MS, 20 * MS + 50000);
	block(TID, 30 * MS + 50000);
	look(TID, 34 * MS, 30 * MS + 50000, SYS_futex, 0x600010);
	run(TID, 40 * MS, 30 * MS + 50000);
	finish(50 * MS);
	fake_emit_assert(emit,
			 "wait 5000001 start 10000000 wait 19950000 ready 0 object 1 syscall 202 "
			 "blocks 3 flags 6 source 1",
			 1);
	expect_waits(1);
}
END_TEST

START_TEST(stopped_while_running)
{
	block(TID, 10 * MS);
	look_stopped(TID, 13 * MS, 10 * MS, PROFILE_NO_SYSCALL, 0);
	run(TID, 20 * MS, 10 * MS);
	finish(50 * MS);
	expect_waits(0);
}
END_TEST

START_TEST(fault)
{
	block(TID, 10 * MS);
	look(TID, 13 * MS, 10 * MS, PROFILE_NO_SYSCALL, 0);
	run(TID, 20 * MS, 10 * MS);
	finish(50 * MS);
	fake_emit_assert(emit,
			 "object 1 kind 4 pid 5000000 address 0 number 0 variable 0 created 0 type "
			 "0",
			 1);
	fake_emit_assert(emit,
			 "wait 5000001 start 10000000 wait 10000000 ready 0 object 1 syscall 65535 "
			 "blocks 1 flags 0 source 1",
			 1);
}
END_TEST

/* A descriptor that leads elsewhere is another object. */
START_TEST(files)
{
	static const char *const names[] = {"pipe:[1]", "socket:[2]", "pipe:[1]"};
	for (uint64_t i = 0; i < 3; i++) {
		struct record record = make_look(13 * MS + i * 20 * MS, SYS_read, 5);
		uint64_t since_ns = (10 + 20 * i) * MS;
		record.look.file = names[i];
		block(TID, since_ns);
		apply(&record, TID, since_ns + 4 * MS, PROFILE_STATE_BLOCKED, since_ns);
		run(TID, since_ns + 10 * MS, since_ns);
	}
	finish(100 * MS);
	fake_emit_assert(emit,
			 "object 1 kind 2 pid 5000000 address 0 number 5 variable 0 created 0 type "
			 "0 "
			 "pipe:[1]",
			 1);
	fake_emit_assert(emit,
			 "object 2 kind 2 pid 5000000 address 0 number 5 variable 0 created 0 type "
			 "0 "
			 "socket:[2]",
			 1);
	expect_waits(3);
	ck_assert_uint_eq(fake_emit_count(emit, "object "), 2);
	ck_assert_uint_eq(fake_emit_last_wait(emit).object, 1);
}
END_TEST

START_TEST(hidden)
{
	struct record record = {.kind = RECORD_LOOK, .look.error = EACCES};
	block(TID, 10 * MS);
	apply(&record, TID, 14 * MS, PROFILE_STATE_BLOCKED, 10 * MS);
	apply(&record, OTHER, 15 * MS, PROFILE_STATE_BLOCKED, 10 * MS);
	run(TID, 20 * MS, 10 * MS);
	finish(50 * MS);
	expect_waits(0);
	ck_assert_uint_eq(fake_emit_count(emit, "note 56 "), 1);
	ck_assert_uint_eq(fake_emit_count(emit, "note 55 "), 0);
}
END_TEST

/* Of another program, and of another process with this id, nothing is known. */
START_TEST(hidden_no_longer)
{
	struct record denied = {.kind = RECORD_LOOK, .look.error = EACCES};
	struct record changes[] = {{.kind = RECORD_COMM, .comm = {"other", true}},
				   {.kind = RECORD_EXIT},
				   {.kind = RECORD_FORK}};
	for (uint64_t i = 0; i < 3; i++) {
		uint64_t at_ns = (10 + i * 100) * MS;
		block(PID, at_ns);
		apply(&denied, PID, at_ns + 4 * MS, PROFILE_STATE_BLOCKED, at_ns);
		run(PID, at_ns + 10 * MS, at_ns);
		apply(&changes[i], PID, at_ns + 11 * MS, PROFILE_STATE_RUNNING, at_ns);
		block(PID, at_ns + 20 * MS);
		run(PID, at_ns + 30 * MS, at_ns + 20 * MS);
	}
	finish(500 * MS);
	ck_assert_uint_eq(fake_emit_count(emit, "note 56 "), 3);
	expect_waits(3);
}
END_TEST

/* Its end may be among the lost records. */
START_TEST(lost)
{
	block(TID, 10 * MS);
	look(TID, 13 * MS, 10 * MS, SYS_futex, 0x600010);
	lose(14 * MS, true);
	lose(15 * MS, true);
	run(TID, 20 * MS, 10 * MS);
	block(OTHER, 30 * MS);
	look(OTHER, 34 * MS, 30 * MS, SYS_futex, 0x600010);
	lose(40 * MS, true);
	block(OTHER, 42 * MS);
	run(OTHER, 43 * MS, 42 * MS);
	finish(60 * MS);
	expect_waits(2);
	fake_emit_assert(emit,
			 "wait 5000001 start 10000000 wait 4000000 ready 0 object 1 syscall 202 "
			 "blocks 1 flags 8 source 1",
			 1);
	fake_emit_assert(emit,
			 "wait 5000002 start 30000000 wait 10000000 ready 0 object 1 syscall 202 "
			 "blocks 1 flags 8 source 1",
			 1);
	fake_emit_assert(emit, "note 55 at 60000000 value 1 0/1", 1);
}
END_TEST

/* Records behind the last one were lost: the wait is known up to there. */
START_TEST(lost_at_the_end)
{
	block(TID, 10 * MS);
	look(TID, 13 * MS, 10 * MS, SYS_futex, 0x600010);
	block(OTHER, 20 * MS);
	waits_lose_rest(waits);
	const struct waits_state state = {PROFILE_STATE_BLOCKED, 20 * MS};
	waits_leave(waits, PID, OTHER, &state, 60 * MS);
	finish(60 * MS);
	expect_waits(1);
	fake_emit_assert(emit,
			 "wait 5000001 start 10000000 wait 10000000 ready 0 object 1 syscall 202 "
			 "blocks 1 flags 8 source 1",
			 1);
	/* What is left of the one, and the other. */
	fake_emit_assert(emit, "note 55 at 60000000 value 2 0/1", 1);
}
END_TEST

START_TEST(lost_ticks)
{
	block(TID, 10 * MS);
	look(TID, 13 * MS, 10 * MS, SYS_futex, 0x600010);
	lose(14 * MS, false);
	run(TID, 20 * MS, 10 * MS);
	finish(50 * MS);
	expect_waits(1);
	ck_assert_uint_eq(fake_emit_last_wait(emit).wait_ns, 10 * MS);
	ck_assert_uint_eq(fake_emit_last_wait(emit).flags, 0);
}
END_TEST

/* It blocks again, and no record tells that it ran, nor of a loss. */
START_TEST(no_end)
{
	block(TID, 10 * MS);
	look(TID, 13 * MS, 10 * MS, SYS_futex, 0x600010);
	block(TID, 20 * MS);
	run(TID, 21 * MS, 20 * MS);
	finish(50 * MS);
	expect_waits(0);
	fake_emit_assert(emit, "note 55 at 50000000 value 1 0/1", 1);
}
END_TEST

/* Without another block a wait does not stay in memory. */
START_TEST(written_soon)
{
	block(TID, 10 * MS);
	look(TID, 13 * MS, 10 * MS, SYS_futex, 0x600010);
	run(TID, 20 * MS, 10 * MS);
	for (uint64_t at = 20 * MS; at < 200 * MS; at += MS)
		block(OTHER, at);
	expect_waits(1);
	finish(300 * MS);
	expect_waits(1);
}
END_TEST

START_TEST(many)
{
	for (uint32_t i = 0; i < 10000; i++) {
		block(TID + i, 10 * MS + i);
		look(TID + i, 13 * MS + i, 10 * MS + i, SYS_futex, 0x600010 + 8 * i);
	}
	for (uint32_t i = 0; i < 5000; i++)
		run(TID + i, 100 * MS + i, 10 * MS + i);
	finish(200 * MS);
	expect_waits(10000);
	ck_assert_uint_eq(fake_emit_count(emit, "object "), 10000);
}
END_TEST

/* Known ones are found in a full table too. */
START_TEST(too_many_objects)
{
	waits->objects.most = 2;
	for (uint32_t i = 0; i < 6; i++) {
		block(TID + i, 10 * MS + i);
		look(TID + i, 13 * MS + i, 10 * MS + i, SYS_futex, 0x600010 + 8 * (i % 3));
		run(TID + i, 20 * MS + i, 10 * MS + i);
	}
	finish(200 * MS);
	expect_waits(6);
	ck_assert_uint_eq(fake_emit_count(emit, "object "), 2);
	ck_assert_uint_eq(fake_emit_count(emit, "note 20 "), 1);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("looked_waits");
	TCase *tcase = tcase_create("looked_waits");
	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_add_test(tcase, one);
	tcase_add_test(tcase, one_after_the_other);
	tcase_add_test(tcase, stale);
	tcase_add_test(tcase, unseen);
	tcase_add_test(tcase, unseen_and_unended);
	tcase_add_test(tcase, unseen_and_lost);
	tcase_add_test(tcase, unended);
	tcase_add_test(tcase, begun_before);
	tcase_add_test(tcase, restarted);
	tcase_add_test(tcase, stopped);
	tcase_add_test(tcase, stopped_while_running);
	tcase_add_test(tcase, fault);
	tcase_add_test(tcase, files);
	tcase_add_test(tcase, hidden);
	tcase_add_test(tcase, hidden_no_longer);
	tcase_add_test(tcase, lost);
	tcase_add_test(tcase, lost_at_the_end);
	tcase_add_test(tcase, lost_ticks);
	tcase_add_test(tcase, no_end);
	tcase_add_test(tcase, written_soon);
	tcase_add_test(tcase, many);
	tcase_add_test(tcase, too_many_objects);
	suite_add_tcase(suite, tcase);
	return run_suite(suite);
}
