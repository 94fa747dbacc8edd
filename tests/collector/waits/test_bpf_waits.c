/* Records of BPF become waits, with the wakers' stacks that came before. */
#include "collector/context/stacks.h"
#include "collector/machine/registers.h"
#include "collector/waits/waits.h"
#include "tests/collector/tracker_fixture.h"
#include "tests/support/suite.h"
#include <check.h>
#include <errno.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/syscall.h>

enum { PID = 5000000, TID = 5000001, WAKER = 5000002, MS = 1000000, SP = 0x7000 };

static struct stacks *stacks;
static struct waits *waits;

static void begin(const struct waits_config *config)
{
	fixture_setup();
	feed_launch(1, PID, "target");
	stacks = stacks_create(emit, true);
	ck_assert_ptr_nonnull(stacks);
	waits = waits_create(config, tracker, stacks, emit);
	ck_assert_ptr_nonnull(waits);
}

static void setup(void)
{
	static const struct waits_config config = {.source = PROFILE_WAIT_BY_BPF,
						   .threshold_ns = 10000};
	begin(&config);
}

static void teardown(void)
{
	waits_destroy(waits);
	stacks_destroy(stacks);
	fixture_teardown();
}

static void apply(struct record *record, uint64_t time_ns)
{
	static const struct waits_state running = {PROFILE_STATE_RUNNING, 0};
	record->pid = PID;
	record->tid = TID;
	record->time_ns = time_ns;
	waits_apply(waits, record, &running);
}

static struct record make(enum record_kind kind, uint64_t wake)
{
	struct record record = {.kind = kind};
	registers_from_pointers(SP, 0x400010, false, true, &record.sample.regs);
	record.sample.abi = RECORD_REGISTERS_64;
	record.sample.choice = RECORD_KEPT;
	record.sample.stack = (struct uw_stack){.base = SP, .ends = true};
	record.wait.wake = wake;
	record.wait.waker_pid = PID;
	record.wait.waker_tid = WAKER;
	return record;
}

/* Blocked at 10 ms for 20 ms, and ready for 1 ms. */
static struct record make_wait(uint16_t number, uint64_t argument)
{
	struct record record = make(RECORD_WAIT, 77);
	record.wait.call = (struct record_call){10 * MS, {argument}, number};
	record.wait.blocked_ns = 20 * MS;
	record.wait.ready_ns = 1 * MS;
	record.wait.blocks = 2;
	return record;
}

static const struct {
	uint16_t number;
	uint32_t mode; /* of the file */
	bool is_io;
} calls[] = {
	{SYS_futex, 0, false},          {SYS_read, S_IFREG, true},     {SYS_read, S_IFIFO, false},
	{SYS_recvfrom, S_IFSOCK, true}, {SYS_fsync, S_IFREG, true},    {SYS_flock, S_IFREG, false},
	{SYS_nanosleep, 0, false},      {PROFILE_NO_SYSCALL, 0, true},
};

/* Without waits for data, and with the leaves of stacks alone. */
START_TEST(unwanted)
{
	static const struct waits_config config = {.source = PROFILE_WAIT_BY_BPF,
						   .threshold_ns = 10000,
						   .without_io_waits = true,
						   .without_stacks = true};
	struct record record = make_wait(calls[_i].number, 3);
	teardown();
	begin(&config);
	record.wait.file_mode = calls[_i].mode;
	record.wait.file_inode = 7;
	apply(&record, 32 * MS);
	ck_assert_uint_eq(fake_emit_count(emit, "wait "), calls[_i].is_io ? 0 : 1);
	if (!calls[_i].is_io) {
		struct profile_wait wait = fake_emit_last_wait(emit);
		ck_assert_uint_eq(wait.state, PROFILE_STACK_NONE);
		ck_assert_uint_ne(wait.node, 0);
	}
	waits_end(waits, 40 * MS);
	ck_assert_uint_eq(fake_emit_count(emit, "note"), calls[_i].is_io ? 1 : 0);
}
END_TEST

static void wake(uint64_t id)
{
	struct record record = make(RECORD_WAKE, id);
	apply(&record, 30 * MS);
}

START_TEST(with_waker)
{
	struct record record = make_wait(SYS_futex, 0x600010);
	wake(76);
	wake(77);
	apply(&record, 32 * MS);
	fake_emit_assert(emit,
			 "wait 5000001 start 10000000 wait 20000000 ready 1000000 object 1 syscall "
			 "202 blocks 2 flags 0 source 2",
			 1);
	struct profile_wait wait = fake_emit_last_wait(emit);
	ck_assert_uint_eq(wait.waker_tid, WAKER);
	ck_assert_uint_ne(wait.waker_node, 0);
	ck_assert_uint_ne(wait.node, 0);
	waits_end(waits, 40 * MS);
	ck_assert_uint_eq(fake_emit_count(emit, "note"), 0);
}
END_TEST

/* Loop: the last wake sent was another one; none was; the thread ended, and another has the id. */
START_TEST(without_wakers_stack)
{
	struct record record = make_wait(SYS_futex, 0x600010);
	struct record end = {.kind = RECORD_EXIT};
	if (_i == 0)
		wake(76);
	if (_i == 2) {
		wake(77);
		apply(&end, 31 * MS);
	}
	apply(&record, 32 * MS);
	struct profile_wait wait = fake_emit_last_wait(emit);
	ck_assert_uint_eq(wait.waker_tid, WAKER);
	ck_assert_uint_eq(wait.waker_node, 0);
	ck_assert_uint_eq(wait.waker_state, PROFILE_STACK_NONE);
}
END_TEST

static const struct {
	uint16_t number;
	int64_t result;
	bool is_timed_out;
	bool has_waker;
} results[] = {
	{SYS_futex, 0, false, true},       {SYS_futex, -ETIMEDOUT, true, false},
	{SYS_futex, -EINTR, false, true},  {SYS_clock_nanosleep, 0, false, false},
	{SYS_nanosleep, 0, false, false},  {SYS_ppoll, 1, false, true},
	{SYS_ppoll, 0, true, false},       {SYS_pselect6, 0, true, false},
	{SYS_epoll_pwait, 0, true, false}, {SYS_read, 0, false, true},
};

/* A timer wakes whomever it interrupts. */
START_TEST(timers)
{
	struct record record = make_wait(results[_i].number, 0x600010);
	record.wait.result = results[_i].result;
	wake(77);
	apply(&record, 32 * MS);
	struct profile_wait wait = fake_emit_last_wait(emit);
	ck_assert_int_eq((wait.flags & PROFILE_WAIT_TIMED_OUT) != 0, results[_i].is_timed_out);
	ck_assert_int_eq((wait.flags & PROFILE_WAIT_INTERRUPTED) != 0,
			 results[_i].result == -EINTR);
	ck_assert_uint_eq(wait.waker_tid, results[_i].has_waker ? WAKER : 0);
	ck_assert_int_eq(wait.waker_node != 0, results[_i].has_waker);
}
END_TEST

/* Who kills a thread ends no wait. */
START_TEST(unended)
{
	struct record record = make_wait(SYS_futex, 0x600010);
	record.wait.is_unended = true;
	record.wait.is_interrupted = true;
	record.wait.stopped_ns = 5;
	apply(&record, 32 * MS);
	struct profile_wait wait = fake_emit_last_wait(emit);
	ck_assert_uint_eq(wait.flags,
			  PROFILE_WAIT_UNENDED | PROFILE_WAIT_INTERRUPTED | PROFILE_WAIT_STOPPED);
	ck_assert_uint_eq(wait.waker_tid, 0);
}
END_TEST

/* Of a wait in a page fault the code is known, and no more, with registers or without; of another
 * one that was sent too late, nothing. */
START_TEST(away)
{
	struct record fault = make_wait(PROFILE_NO_SYSCALL, 0x400020);
	struct record call = make_wait(SYS_futex, 0x600010);
	if (_i == 1)
		fault.sample.abi = RECORD_REGISTERS_NONE;
	fault.wait.is_away = call.wait.is_away = true;
	apply(&fault, 32 * MS);
	struct profile_wait wait = fake_emit_last_wait(emit);
	ck_assert_uint_ne(wait.node, 0);
	ck_assert_uint_eq(wait.state, PROFILE_STACK_NONE);
	ck_assert_uint_eq(wait.syscall, PROFILE_NO_SYSCALL);
	fake_emit_assert(emit,
			 "object 1 kind 4 pid 5000000 address 0 number 0 variable 0 created 0 type "
			 "0",
			 1);
	apply(&call, 33 * MS);
	wait = fake_emit_last_wait(emit);
	ck_assert_uint_eq(wait.node, 0);
	ck_assert_uint_eq(wait.state, PROFILE_STACK_SKIPPED);
	ck_assert_uint_eq(wait.reason, PROFILE_SKIP_NO_REGS);
}
END_TEST

/* The leaf stays. */
START_TEST(left_out)
{
	struct record record = make_wait(SYS_futex, 0x600010);
	record.sample.choice = RECORD_LEFT_OUT;
	apply(&record, 32 * MS);
	struct profile_wait wait = fake_emit_last_wait(emit);
	ck_assert_uint_ne(wait.node, 0);
	ck_assert_uint_eq(wait.state, PROFILE_STACK_SKIPPED);
	ck_assert_uint_eq(wait.reason, PROFILE_SKIP_BUDGET);
}
END_TEST

/* Two pipes are two objects, though their process is gone and its descriptor the same. */
START_TEST(pipes)
{
	for (uint64_t i = 0; i < 4; i++) {
		struct record record = make_wait(SYS_read, 3);
		record.wait.file_mode = S_IFIFO | 0600;
		record.wait.file_inode = 1000 + i % 2;
		apply(&record, (32 + i) * MS);
		ck_assert_uint_eq(fake_emit_last_wait(emit).object, 1 + i % 2);
	}
	ck_assert_uint_eq(fake_emit_count(emit, "object "), 2);
}
END_TEST

/* In a call from 20 ms on, at the latest: 3 ms blocked and 1 ms ready before. */
static const struct {
	struct waits_state state;
	uint64_t begin_ms, block_ms;
	uint32_t blocks;
	uint64_t start_ms, wait_ms; /* 0: no wait */
} unended_waits[] = {
	/* The source's clock ran ahead: the state knows better. */
	{{PROFILE_STATE_BLOCKED, 12 * MS}, 5, 5, 0, 12, 28},
	{{PROFILE_STATE_BLOCKED, 12 * MS}, 14, 14, 0, 14, 26},
	/* What the thread did between two blocks is no wait. */
	{{PROFILE_STATE_BLOCKED, 20 * MS}, 5, 19, 2, 5, 23},
	/* Neither is what lies before its life. */
	{{PROFILE_STATE_UNKNOWN, 0}, 1, 1, 0, 2, 38},
	{{PROFILE_STATE_BLOCKED, 20 * MS}, 1, 20, 2, 2, 23},
	/* It runs, and its source stopped before. */
	{{PROFILE_STATE_RUNNING, 30 * MS}, 12, 12, 0, 12, 18},
	/* It runs in the call, or is stopped. */
	{{PROFILE_STATE_RUNNING, 30 * MS}, 5, 0, 2, 5, 3},
	/* Began at the end. */
	{{PROFILE_STATE_BLOCKED, 40 * MS - 9000}, 40, 40, 0, 0, 0},
	{{PROFILE_STATE_BLOCKED, 50 * MS}, 50, 50, 0, 0, 0},
};

/* Nobody can look at the thread: what its source knows stays. */
START_TEST(unended_by_state)
{
	struct waits_unended goes_on = {.pid = PID,
					.tid = TID,
					.begin_ns = unended_waits[_i].begin_ms * MS,
					.block_ns = unended_waits[_i].block_ms * MS,
					.blocks = unended_waits[_i].blocks,
					.call = {0, {0x600010}, SYS_futex}};
	char text[160];
	if (goes_on.blocks > 0) {
		goes_on.blocked_ns = 3 * MS;
		goes_on.ready_ns = 1 * MS;
	}
	feed_fork(2 * MS, PID, TID, PID, PID);
	waits_put_unended(waits, &goes_on, &unended_waits[_i].state, 40 * MS);
	if (unended_waits[_i].wait_ms == 0) {
		ck_assert_uint_eq(fake_emit_count(emit, "wait "), 0);
		return;
	}
	snprintf(text, sizeof(text),
		 "wait %u start %u wait %u ready %u object 1 syscall 202 blocks %u flags %u source "
		 "2",
		 TID, (unsigned)unended_waits[_i].start_ms * MS,
		 (unsigned)unended_waits[_i].wait_ms * MS, (unsigned)goes_on.ready_ns,
		 goes_on.blocks + (goes_on.block_ns > 0), PROFILE_WAIT_UNENDED);
	fake_emit_assert(emit, text, 1);
	ck_assert_uint_eq(fake_emit_last_wait(emit).state, PROFILE_STACK_SKIPPED);
}
END_TEST

/* A wait that went on when its thread was attached to begins with the collection or the thread,
 * looked at before or after BPF added it; one of several blocks where BPF says. Loop: which. */
START_TEST(begun_before)
{
	static const struct {
		unsigned attached_ms;
		uint32_t blocks;
		unsigned start_ms, wait_ms;
	} cases[] = {{1, 1, 5, 25}, {8, 1, 8, 22}, {12, 1, 12, 18}, {50, 1, 30, 0}, {8, 2, 10, 20}};
	struct record record = make_wait(SYS_futex, 0x600010);
	char text[160];
	waits_begin(waits, 5 * MS);
	record.wait.is_before = true;
	record.wait.blocks = cases[_i].blocks;
	feed_fork(cases[_i].attached_ms * MS, PID, TID, PID, PID);
	apply(&record, 32 * MS);
	snprintf(text, sizeof(text),
		 "wait %u start %u wait %u ready 1000000 object 1 syscall 202 blocks %u flags 16 "
		 "source 2",
		 TID, cases[_i].start_ms * MS, cases[_i].wait_ms * MS, cases[_i].blocks);
	fake_emit_assert(emit, text, 1);
}
END_TEST

/* A thread that is attached to has blocked since before. */
START_TEST(unended_attached)
{
	struct waits_unended goes_on = {.pid = PID,
					.tid = TID,
					.first_ns = 15 * MS,
					.begin_ns = 10 * MS,
					.block_ns = 10 * MS,
					.call = {0, {0x600010}, SYS_futex}};
	waits_begin(waits, 15 * MS);
	waits_put_unended(waits, &goes_on, &(struct waits_state){PROFILE_STATE_BLOCKED, 5 * MS},
			  40 * MS);
	fake_emit_assert(emit,
			 "wait 5000001 start 15000000 wait 25000000 ready 0 object 1 syscall 202 "
			 "blocks 1 flags 24 source 2",
			 1);
}
END_TEST

/* Of a thread that never blocked since it is followed only the state tells, and of its call only a
 * look. */
START_TEST(unended_unseen)
{
	const struct waits_unended goes_on = {.pid = PID, .tid = TID};
	waits_put_unended(waits, &goes_on, &(struct waits_state){PROFILE_STATE_RUNNING, 5},
			  40 * MS);
	waits_end(waits, 40 * MS);
	ck_assert_uint_eq(fake_emit_count(emit, "note"), 0);
	waits_put_unended(waits, &goes_on, &(struct waits_state){PROFILE_STATE_BLOCKED, 5},
			  40 * MS);
	waits_end(waits, 40 * MS);
	ck_assert_uint_eq(fake_emit_count(emit, "note"), 1);
	ck_assert_uint_eq(fake_emit_count(emit, "wait "), 0);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("waits by BPF");
	TCase *tcase = tcase_create("waits by BPF");
	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_add_loop_test(tcase, unwanted, 0, (int)(sizeof(calls) / sizeof(calls[0])));
	tcase_add_test(tcase, with_waker);
	tcase_add_loop_test(tcase, without_wakers_stack, 0, 3);
	tcase_add_loop_test(tcase, timers, 0, sizeof(results) / sizeof(results[0]));
	tcase_add_test(tcase, unended);
	tcase_add_loop_test(tcase, unended_by_state, 0,
			    sizeof(unended_waits) / sizeof(unended_waits[0]));
	tcase_add_loop_test(tcase, begun_before, 0, 5);
	tcase_add_test(tcase, unended_attached);
	tcase_add_test(tcase, unended_unseen);
	tcase_add_loop_test(tcase, away, 0, 2);
	tcase_add_test(tcase, left_out);
	tcase_add_test(tcase, pipes);
	suite_add_tcase(suite, tcase);
	return run_suite(suite);
}
