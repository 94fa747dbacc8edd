/* Records that BPF sends: parts of stacks, samples without them, accounts and ends of threads. */
#include "collector/bpf/stack_chunk.h"
#include "collector/stream/record_copy.h"
#include "tests/collector/record_encode.h"
#include "tests/collector/record_fixture.h"
#include "tests/support/suite.h"
#include <check.h>
#include <stdlib.h>

/* Loop: sizes that need padding or none. Count and period come with the part, whatever the format.
 */
START_TEST(part_of_a_stack)
{
	struct record_format format = record_fixture_all;
	struct record sample = record_fixture_sample(RECORD_REGISTERS_64);
	uint8_t bytes[1024];
	struct record out;
	void *copy;
	format.raw = true;
	format.count = _i % 2 == 0;
	sample.sample.stack.size = sample.sample.stack.requested = (size_t)_i;
	sample.sample.stack.ends = _i % 3 == 0;
	sample.sample.part = (struct record_part){.offset = 4096, .total = 5000, .absent = 5};
	sample.sample.part.below = _i % 4 == 0 ? STACK_CHUNK_RED_ZONE : 0;
	sample.sample.stack.base -= sample.sample.part.below;
	sample.sample.part.outer_base = _i % 5 == 0 ? 0x7ffc00001230 : 0;
	sample.sample.part.outer_offset = _i % 5 == 0 ? 4096 : 0;
	size_t size = record_encode(&format, &sample, bytes, sizeof(bytes));
	ck_assert_uint_gt(size, 0);
	ck_assert_uint_eq(size % 8, 0);
	ck_assert(record_fixture_decode(&format, bytes, size, &out, &copy));
	format.count = true;
	record_fixture_assert_same(&format, &sample, &out);
	ck_assert_uint_eq(out.sample.part.offset, 4096);
	ck_assert_uint_eq(out.sample.part.total, 5000);
	ck_assert_uint_eq(out.sample.part.absent, 5);
	ck_assert_uint_eq(out.sample.part.below, sample.sample.part.below);
	ck_assert_uint_eq(out.sample.part.outer_base, sample.sample.part.outer_base);
	ck_assert_uint_eq(out.sample.part.outer_offset, sample.sample.part.outer_offset);
	ck_assert_int_eq(out.sample.stack.ends, _i % 3 == 0);
	ck_assert_int_eq(out.sample.choice, RECORD_KEPT);
	free(copy);
}
END_TEST

/* Loop: of a sample, of a tick that is none. Count and period come all the same. */
START_TEST(stack_left_out)
{
	struct record_format format = record_fixture_all;
	struct record sample = record_fixture_sample(RECORD_REGISTERS_64);
	uint8_t bytes[1024];
	struct record out;
	void *copy;
	format.raw = true;
	format.count = false;
	sample.sample.choice = _i == 0 ? RECORD_LEFT_OUT : RECORD_TICK;
	sample.sample.stack = (struct uw_stack){0};
	size_t size = record_encode(&format, &sample, bytes, sizeof(bytes));
	ck_assert(record_fixture_decode(&format, bytes, size, &out, &copy));
	format.count = true;
	format.stack = false;
	record_fixture_assert_same(&format, &sample, &out);
	ck_assert_int_eq(out.sample.choice, sample.sample.choice);
	ck_assert_uint_eq(out.sample.period, sample.sample.period);
	ck_assert_uint_eq(out.sample.part.total, 0);
	ck_assert_uint_eq(out.sample.stack.size, 0);
	free(copy);
}
END_TEST

/* Loop: everything that varies, or a raw field alone. Of a sample it keeps the time and the CPU. */
START_TEST(account)
{
	struct record_format format = _i == 0 ? record_fixture_all : record_fixture_none;
	struct record in = {.kind = RECORD_ACCOUNT,
			    .time_ns = 99,
			    .pid = 5,
			    .tid = 6,
			    .cpu = 1,
			    .account = {.cpu_ns = 123456789012345, .is_renamed = _i == 0}};
	uint8_t bytes[512];
	struct record out;
	void *copy;
	ck_assert_uint_eq(record_encode(&format, &in, bytes, sizeof(bytes)), 0);
	format.raw = true;
	size_t size = record_encode(&format, &in, bytes, sizeof(bytes));
	ck_assert(record_fixture_decode(&format, bytes, size, &out, &copy));
	ck_assert_int_eq(out.kind, RECORD_ACCOUNT);
	ck_assert_uint_eq(out.time_ns, in.time_ns);
	ck_assert_uint_eq(out.pid, in.pid);
	ck_assert_uint_eq(out.tid, in.tid);
	ck_assert_uint_eq(out.cpu, in.cpu);
	ck_assert_uint_eq(out.account.cpu_ns, in.account.cpu_ns);
	ck_assert_int_eq(out.account.is_renamed, in.account.is_renamed);
	free(copy);
}
END_TEST

/* A sample of a thread that has no ids any more. Loop: with the kernel's callchain, or without. */
START_TEST(ending)
{
	const uint64_t callchain[] = {0xffffffff81000000, 0xffffffff81000010};
	struct record_format format = {.raw = true, .callchain = _i == 0, .registers = true};
	struct record in = {.kind = RECORD_ENDING,
			    .time_ns = 99,
			    .pid = 5,
			    .tid = 6,
			    .cpu = 1,
			    .sample = {.ip = 0xffffffff81000000,
				       .in_kernel = true,
				       .period = 1000,
				       .callchain = (const uint8_t *)callchain,
				       .callchain_length = _i == 0 ? 2 : 0}};
	uint8_t bytes[512];
	struct record out;
	void *copy;
	size_t size = record_encode(&format, &in, bytes, sizeof(bytes));
	ck_assert(record_fixture_decode(&format, bytes, size, &out, &copy));
	ck_assert_int_eq(out.kind, RECORD_ENDING);
	ck_assert_uint_eq(out.time_ns, in.time_ns);
	ck_assert_uint_eq(out.pid, in.pid);
	ck_assert_uint_eq(out.tid, in.tid);
	ck_assert_uint_eq(out.cpu, in.cpu);
	ck_assert_uint_eq(out.sample.ip, in.sample.ip);
	ck_assert_uint_eq(out.sample.period, in.sample.period);
	ck_assert(out.sample.in_kernel);
	ck_assert_int_eq(out.sample.abi, RECORD_REGISTERS_NONE);
	ck_assert_uint_eq(out.sample.callchain_length, in.sample.callchain_length);
	if (_i == 0)
		ck_assert_mem_eq(out.sample.callchain, callchain, sizeof(callchain));
	ck_assert_uint_eq(record_copy_size(&out), _i == 0 ? sizeof(callchain) : 0);
	free(copy);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("record of BPF");
	TCase *tcase = tcase_create("record of BPF");
	tcase_add_loop_test(tcase, part_of_a_stack, 1, 25);
	tcase_add_loop_test(tcase, stack_left_out, 0, 2);
	tcase_add_loop_test(tcase, account, 0, 2);
	tcase_add_loop_test(tcase, ending, 0, 2);
	suite_add_tcase(suite, tcase);
	return run_suite(suite);
}
