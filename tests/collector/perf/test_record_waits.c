/* Records of waits and of wake-ups, as BPF sends them. */
#include "collector/bpf/stack_chunk.h"
#include "collector/bpf/wait_head.h"
#include "collector/stream/record_copy.h"
#include "profile/profile.h"
#include "tests/collector/record_encode.h"
#include "tests/collector/record_fixture.h"
#include "tests/support/suite.h"
#include <check.h>
#include <stdlib.h>
#include <string.h>

static struct record_format wait_format(void)
{
	struct record_format format = record_fixture_all;
	format.raw = true;
	return format;
}

/* With the first part of its stack. */
static struct record make_wait(enum record_kind kind)
{
	struct record record = record_fixture_sample(RECORD_REGISTERS_64);
	record.kind = kind;
	record.sample.stack.requested = record.sample.stack.size;
	record.sample.part = (struct record_part){.total = 5000};
	record.sample.count = record.sample.period = 0;
	record.wait.call = (struct record_call){.begin_ns = record.time_ns - 77000,
						.arguments = {1, 2, 3, 4, 5, UINT64_MAX},
						.number = 202};
	record.wait.blocked_ns = 70000;
	record.wait.ready_ns = 6000;
	record.wait.stopped_ns = 1000;
	record.wait.woken_ns = record.time_ns - 6000;
	record.wait.wake = 0x123456789abcdef;
	record.wait.result = -110;
	record.wait.waker_pid = 20;
	record.wait.waker_tid = 21;
	record.wait.file_inode = 1234567890123;
	record.wait.file_mode = 0010600;
	record.wait.blocks = 3;
	return record;
}

static void assert_same_wait(const struct record_wait *a, const struct record_wait *b)
{
	ck_assert_uint_eq(a->call.begin_ns, b->call.begin_ns);
	ck_assert_mem_eq(a->call.arguments, b->call.arguments, sizeof(a->call.arguments));
	ck_assert_uint_eq(a->call.number, b->call.number);
	ck_assert_uint_eq(a->blocked_ns, b->blocked_ns);
	ck_assert_uint_eq(a->ready_ns, b->ready_ns);
	ck_assert_uint_eq(a->stopped_ns, b->stopped_ns);
	ck_assert_uint_eq(a->woken_ns, b->woken_ns);
	ck_assert_uint_eq(a->wake, b->wake);
	ck_assert_int_eq(a->result, b->result);
	ck_assert_uint_eq(a->waker_pid, b->waker_pid);
	ck_assert_uint_eq(a->waker_tid, b->waker_tid);
	ck_assert_uint_eq(a->file_inode, b->file_inode);
	ck_assert_uint_eq(a->file_mode, b->file_mode);
	ck_assert_uint_eq(a->blocks, b->blocks);
	ck_assert_int_eq(a->is_interrupted, b->is_interrupted);
	ck_assert_int_eq(a->is_unended, b->is_unended);
	ck_assert_int_eq(a->is_before, b->is_before);
	ck_assert_int_eq(a->is_32bit, b->is_32bit);
	ck_assert_int_eq(a->is_away, b->is_away);
}

/* Loop: each flag alone, with and without a call; of a wait, of a wake-up. */
START_TEST(wait)
{
	struct record_format format = wait_format();
	struct record in = make_wait(_i < 8 ? RECORD_WAIT : RECORD_WAKE);
	uint8_t bytes[1024];
	struct record out;
	void *copy;
	in.wait.is_interrupted = _i % 8 == 1;
	in.wait.is_unended = _i % 8 == 2;
	in.wait.is_32bit = _i % 8 == 3;
	in.wait.is_away = _i % 8 == 4;
	if (_i % 8 == 5)
		in.wait.call.number = PROFILE_NO_SYSCALL;
	in.wait.is_before = _i % 8 == 6;
	size_t size = record_encode(&format, &in, bytes, sizeof(bytes));
	ck_assert_uint_gt(size, 0);
	ck_assert_uint_eq(size % 8, 0);
	ck_assert(record_fixture_decode(&format, bytes, size, &out, &copy));
	ck_assert_int_eq(out.kind, in.kind);
	assert_same_wait(&in.wait, &out.wait);
	ck_assert_uint_eq(out.sample.part.total, 5000);
	out.kind = RECORD_SAMPLE;
	record_fixture_assert_same(&format, &in, &out);
	free(copy);
}
END_TEST

/* Without a stack, it keeps all else; also where it is put aside. */
START_TEST(without_stack)
{
	struct record_format format = wait_format();
	struct record in = make_wait(RECORD_WAIT);
	uint8_t bytes[1024];
	struct record out;
	struct record put;
	void *copy;
	in.sample.choice = RECORD_LEFT_OUT;
	in.sample.stack = (struct uw_stack){0};
	in.sample.part = (struct record_part){0};
	size_t size = record_encode(&format, &in, bytes, sizeof(bytes));
	ck_assert(record_fixture_decode(&format, bytes, size, &out, &copy));
	ck_assert_int_eq(out.sample.choice, RECORD_LEFT_OUT);
	ck_assert_uint_eq(out.sample.stack.size, 0);
	assert_same_wait(&in.wait, &out.wait);
	uint64_t at[64];
	ck_assert_uint_le(record_copy_size(&out), sizeof(at));
	record_copy(&put, &out, at);
	free(copy);
	assert_same_wait(&in.wait, &put.wait);
	ck_assert_uint_eq(put.sample.regs.value[7], in.sample.regs.value[7]);
}
END_TEST

/* A wait that began before the clock did begins with it. */
START_TEST(older_than_the_clock)
{
	struct record_format format = wait_format();
	struct record in = make_wait(RECORD_WAIT);
	uint8_t bytes[1024];
	struct record out;
	void *copy;
	in.wait.call.begin_ns = in.time_ns + 1;
	size_t size = record_encode(&format, &in, bytes, sizeof(bytes));
	ck_assert(record_fixture_decode(&format, bytes, size, &out, &copy));
	ck_assert_uint_eq(out.wait.call.begin_ns, 0);
	free(copy);
}
END_TEST

/* Where the head's raw field begins: IP, ids, time, CPU, period, count and lost, callchain. */
static size_t head_offset(const struct record *record)
{
	return 8 + 7 * 8 + (2 + record->sample.callchain_length) * 8;
}

/* Loop: lengths of the raw field that cut head or chunk, a kind that is none, another magic in
 * the chunk. */
START_TEST(damaged)
{
	struct record_format format = wait_format();
	struct record in = make_wait(RECORD_WAIT);
	uint8_t bytes[1024];
	struct record out;
	struct wait_head head;
	void *copy;
	size_t size = record_encode(&format, &in, bytes, sizeof(bytes));
	uint8_t *at = bytes + head_offset(&in);
	memcpy(&head, at, sizeof(head));
	ck_assert_uint_eq(head.magic, WAIT_HEAD_MAGIC);
	const int cuts = (int)(sizeof(head) + sizeof(struct stack_chunk)) - 4;
	if (_i < cuts)
		head.raw_size = (uint32_t)_i;
	else if (_i == cuts)
		head.kind = WAIT_HEAD_WAKE + 1;
	else
		at[sizeof(head) + 4] ^= 1;
	memcpy(at, &head, sizeof(head));
	ck_assert(!record_fixture_decode(&format, bytes, size, &out, &copy));
	free(copy);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("record of waits");
	TCase *tcase = tcase_create("record of waits");
	tcase_add_loop_test(tcase, wait, 0, 16);
	tcase_add_test(tcase, without_stack);
	tcase_add_test(tcase, older_than_the_clock);
	tcase_add_loop_test(tcase, damaged, 8,
			    (int)(sizeof(struct wait_head) + sizeof(struct stack_chunk)) - 4 + 2);
	suite_add_tcase(suite, tcase);
	return run_suite(suite);
}
