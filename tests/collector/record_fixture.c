#include "tests/collector/record_fixture.h"

#include "collector/machine/registers.h"
#include <check.h>
#include <stdlib.h>
#include <string.h>

const struct record_format record_fixture_none;
const struct record_format record_fixture_all = {.count = true,
						 .lost = true,
						 .callchain = true,
						 .registers = true,
						 .stack = true};

const enum record_kind record_fixture_kinds[RECORD_FIXTURE_KINDS] =
	{RECORD_SAMPLE, RECORD_MMAP, RECORD_COMM,     RECORD_FORK,       RECORD_EXIT,
	 RECORD_COUNT,  RECORD_LOST, RECORD_THROTTLE, RECORD_UNTHROTTLE, RECORD_SWITCH};

static const uint64_t chain[] = {0xffffffff81000010, 0xffffffff81000020};
static const uint8_t stack_bytes[24] = "stack of the target";

bool record_fixture_decode(const struct record_format *format, const void *bytes, size_t size,
			   struct record *record, void **copy)
{
	*copy = malloc(size > 0 ? size : 1);
	ck_assert_ptr_nonnull(*copy);
	memcpy(*copy, bytes, size);
	return record_decode(format, *copy, size, record);
}

struct record record_fixture_sample(enum record_registers abi)
{
	struct record record = {
		.kind = RECORD_SAMPLE,
		.time_ns = 123456789012345,
		.pid = 10,
		.tid = 11,
		.cpu = 3,
		.sample =
			{
				.ip = 0x401234,
				.count = 77000000,
				.period = 10000000,
				.callchain = (const uint8_t *)chain,
				.callchain_length = sizeof(chain) / sizeof(chain[0]),
				.abi = abi,
			},
	};
	if (abi == RECORD_REGISTERS_NONE)
		return record;
	struct record_sample *sample = &record.sample;
	uint64_t values[REGISTERS_COUNT_MAX];
	for (size_t i = 0; i < registers_count(); i++)
		values[i] = 0x1000 + i;
	bool is_32bit = abi == RECORD_REGISTERS_32;
	registers_unpack(values, is_32bit, &sample->regs, &sample->processor_flags,
			 &sample->code_segment);
	uint64_t sp = sample->regs.value[registers_machine(is_32bit)->sp];
	sample->stack = (struct uw_stack){.base = sp,
					  .bytes = stack_bytes,
					  .size = 16,
					  .requested = sizeof(stack_bytes)};
	return record;
}

void record_fixture_fill(struct record *record, enum record_kind kind)
{
	*record = (struct record){.kind = kind, .time_ns = 99, .pid = 5, .tid = 6, .cpu = 1};
	switch (kind) {
	case RECORD_SAMPLE:
		*record = record_fixture_sample(RECORD_REGISTERS_64);
		break;
	case RECORD_MMAP:
		record->mmap = (struct record_mmap){.start = 0x400000,
						    .length = 0x3000,
						    .pgoff = 0x1000,
						    .inode = 1234567890123,
						    .device_major = 254,
						    .device_minor = 2,
						    .path = "/usr/lib/libm.so.6"};
		break;
	case RECORD_COMM:
		record->comm.name = "worker";
		break;
	case RECORD_FORK:
	case RECORD_EXIT:
		record->fork.parent_pid = 3;
		record->fork.parent_tid = 4;
		break;
	case RECORD_COUNT:
		record->count = 123456789;
		break;
	case RECORD_LOST:
		record->lost = 17;
		break;
	case RECORD_SWITCH:
		record->switched.out = record->switched.preempted = true;
		break;
	default:
		break;
	}
}

static void assert_same_registers(const struct record_sample *a, const struct record_sample *b)
{
	ck_assert_int_eq(a->abi, b->abi);
	ck_assert_uint_eq(a->processor_flags, b->processor_flags);
	ck_assert_uint_eq(a->code_segment, b->code_segment);
	ck_assert_mem_eq(&a->regs, &b->regs, sizeof(a->regs));
}

void record_fixture_assert_same(const struct record_format *format, const struct record *a,
				const struct record *b)
{
	const struct record_sample *in = &a->sample;
	const struct record_sample *out = &b->sample;
	ck_assert_int_eq(b->kind, RECORD_SAMPLE);
	ck_assert_uint_eq(b->time_ns, a->time_ns);
	ck_assert_uint_eq(b->pid, a->pid);
	ck_assert_uint_eq(b->tid, a->tid);
	ck_assert_uint_eq(b->cpu, a->cpu);
	ck_assert_uint_eq(out->ip, in->ip);
	ck_assert_uint_eq(out->period, in->period);
	ck_assert_int_eq(out->in_kernel, in->in_kernel);
	ck_assert_uint_eq(out->count, format->count ? in->count : 0);
	ck_assert_uint_eq(out->callchain_length, format->callchain ? in->callchain_length : 0);
	if (format->callchain)
		ck_assert_mem_eq(out->callchain, in->callchain, in->callchain_length * 8);
	if (format->registers)
		assert_same_registers(in, out);
	else
		ck_assert_int_eq(out->abi, RECORD_REGISTERS_NONE);
	ck_assert_uint_eq(out->stack.requested, format->stack ? in->stack.requested : 0);
	ck_assert_uint_eq(out->stack.size, format->stack ? in->stack.size : 0);
	ck_assert_uint_eq(out->stack.base, format->stack ? in->stack.base : 0);
	if (out->stack.size > 0)
		ck_assert_mem_eq(out->stack.bytes, in->stack.bytes, in->stack.size);
}
