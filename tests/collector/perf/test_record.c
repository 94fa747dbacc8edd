/* Records: from bytes to views and back. The layouts are those of linux/perf_event.h. */
#include "collector/machine/registers.h"
#include "tests/collector/record_encode.h"
#include "tests/collector/record_fixture.h"
#include "tests/support/suite.h"
#include <check.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>

static void round_trip_sample(const struct record_format *format, const struct record *in)
{
	uint8_t bytes[1024];
	struct record out;
	void *copy;
	uint64_t time_ns;
	size_t size = record_encode(format, in, bytes, sizeof(bytes));
	ck_assert_uint_gt(size, 0);
	ck_assert_uint_eq(size % 8, 0);
	ck_assert(record_fixture_decode(format, bytes, size, &out, &copy));
	record_fixture_assert_same(format, in, &out);
	ck_assert(record_time(format, copy, size, &time_ns));
	ck_assert_uint_eq(time_ns, in->time_ns);
	free(copy);
}

/* Loop: the bits of the format. A stack without registers is no format. */
START_TEST(sample_of_every_format)
{
	struct record_format format = {
		.count = _i & 1,
		.lost = (_i & 2) != 0,
		.callchain = (_i & 4) != 0,
		.registers = (_i & 8) != 0,
		.stack = (_i & 24) == 24,
		.raw = (_i & 32) != 0,
	};
	static const enum record_registers abis[] = {RECORD_REGISTERS_NONE, RECORD_REGISTERS_32,
						     RECORD_REGISTERS_64};
	for (size_t i = 0; i < 3; i++) {
		struct record sample = record_fixture_sample(abis[i]);
		for (int kernel = 0; kernel < 2; kernel++) {
			sample.sample.in_kernel = kernel != 0;
			round_trip_sample(&format, &sample);
		}
	}
}
END_TEST

START_TEST(sample_without_callchain_or_stack)
{
	struct record sample = record_fixture_sample(RECORD_REGISTERS_64);
	sample.sample.callchain_length = 0;
	sample.sample.stack = (struct uw_stack){0};
	round_trip_sample(&record_fixture_all, &sample);
}
END_TEST

START_TEST(stack_copied_in_part_or_not_at_all)
{
	struct record sample = record_fixture_sample(RECORD_REGISTERS_64);
	for (size_t size = 0; size <= sample.sample.stack.requested; size += 8) {
		sample.sample.stack.size = size;
		round_trip_sample(&record_fixture_all, &sample);
	}
}
END_TEST

/* What the kernel writes, word by word: perf_output_sample in kernel/events/core.c. */
START_TEST(sample_as_the_kernel_writes_it)
{
	enum { REGS = 20 };
	if (registers_machine(false)->arch != UW_ARCH_X86_64)
		return;
	ck_assert_uint_eq(registers_count(), REGS);
	uint64_t words[] = {
		0,                         /* header */
		0x7f0000001234,            /* ip */
		(uint64_t)201 << 32 | 200, /* pid, tid */
		5000000,                   /* time */
		7,                         /* cpu */
		1000000,                   /* period */
		42000000,
		6, /* count, lost */
		1,
		0xffffffff80000000, /* callchain */
		2,                  /* 64-bit registers */
		0xa,
		0xb,
		0xc,
		0xd,
		0x51,
		0xd1,
		0xb9, /* ax bx cx dx si di bp */
		0x7ffd0000,
		0x1ff,
		0x246,
		0x33,
		0x2b, /* sp ip flags cs ss */
		8,
		9,
		10,
		11,
		12,
		13,
		14,
		15, /* r8 .. r15 */
		16,
		0x1111,
		0x2222,
		8, /* stack: 16 bytes, 8 of them copied */
	};
	struct perf_event_header header = {PERF_RECORD_SAMPLE, PERF_RECORD_MISC_USER,
					   sizeof(words)};
	struct record record;
	memcpy(words, &header, sizeof(header));
	ck_assert(record_decode(&record_fixture_all, words, sizeof(words), &record));
	const struct record_sample *sample = &record.sample;
	static const uint64_t dwarf[] = {0xa, 0xd, 0xc, 0xb, 0x51, 0xd1, 0xb9, 0x7ffd0000, 8,
					 9,   10,  11,  12,  13,   14,   15,   0x1ff};
	ck_assert_mem_eq(sample->regs.value, dwarf, sizeof(dwarf));
	ck_assert_uint_eq(sample->ip, 0x7f0000001234);
	ck_assert_uint_eq(record.pid, 200);
	ck_assert_uint_eq(record.tid, 201);
	ck_assert_uint_eq(record.time_ns, 5000000);
	ck_assert_uint_eq(record.cpu, 7);
	ck_assert_uint_eq(sample->period, 1000000);
	ck_assert_uint_eq(sample->count, 42000000);
	ck_assert_uint_eq(sample->processor_flags, 0x246);
	ck_assert_uint_eq(sample->code_segment, 0x33);
	ck_assert_uint_eq(sample->stack.base, 0x7ffd0000);
	ck_assert_uint_eq(sample->stack.requested, 16);
	ck_assert_uint_eq(sample->stack.size, 8);
	ck_assert_mem_eq(sample->stack.bytes, &words[32], 8);
	ck_assert(!sample->in_kernel);
}
END_TEST

/* Of 32-bit code the kernel gives the same registers, with what it finds in those that are not
 * there. */
START_TEST(registers_of_32_bit_code)
{
	if (registers_machine(false)->arch != UW_ARCH_X86_64)
		return;
	struct record_format format = {.registers = true};
	uint64_t words[] = {
		0,       0x8049000,  (uint64_t)201 << 32 | 200,
		5000000, 7,          1000000,
		1, /* 32-bit */
		0xa,     0xb,        0xc,
		0xd,     0x51,       0xd1,
		0xb9,    0xffffd000, 0x8049001,
		0x246,   0x23,       0x2b,
		0xdead8, 9,          10,
		11,      12,         13,
		14,      15,
	};
	struct perf_event_header header = {PERF_RECORD_SAMPLE, PERF_RECORD_MISC_USER,
					   sizeof(words)};
	static const uint64_t dwarf[] = {0xa,  0xc,  0xd,  0xb,      0xffffd000,
					 0xb9, 0x51, 0xd1, 0x8049001};
	struct record record;
	memcpy(words, &header, sizeof(header));
	ck_assert(record_decode(&format, words, sizeof(words), &record));
	const struct record_sample *sample = &record.sample;
	ck_assert_int_eq(sample->abi, RECORD_REGISTERS_32);
	ck_assert_mem_eq(sample->regs.value, dwarf, sizeof(dwarf));
	for (size_t i = sizeof(dwarf) / sizeof(dwarf[0]); i < UW_REGS_MAX; i++)
		ck_assert_uint_eq(sample->regs.value[i], 0);
	ck_assert_uint_eq(sample->processor_flags, 0x246);
	ck_assert_uint_eq(sample->code_segment, 0x23);
	ck_assert_uint_eq(registers_machine(true)->selector, 0x23);
	ck_assert_uint_eq(sample->regs.value[registers_machine(true)->sp], 0xffffd000);
	ck_assert_uint_eq(sample->regs.value[registers_machine(true)->ip], 0x8049001);
}
END_TEST

/* Chains as the kernel writes them; what there is of the kernel is handed out. */
static const struct {
	uint64_t chain[6]; /* up to 0 */
	uint64_t kernel[3];
} chains[] = {
	{{(uint64_t)PERF_CONTEXT_KERNEL, 1, 2}, {1, 2}},
	{{(uint64_t)PERF_CONTEXT_KERNEL, 1, 2, (uint64_t)PERF_CONTEXT_USER, 3}, {1, 2}},
	{{(uint64_t)PERF_CONTEXT_USER, 3, (uint64_t)PERF_CONTEXT_KERNEL, 1}, {1}},
	{{(uint64_t)PERF_CONTEXT_GUEST, 3, (uint64_t)PERF_CONTEXT_KERNEL, 1}, {1}},
	{{(uint64_t)PERF_CONTEXT_USER, 3}, {0}},
	{{(uint64_t)PERF_CONTEXT_KERNEL}, {0}},
	{{(uint64_t)PERF_CONTEXT_KERNEL, (uint64_t)PERF_CONTEXT_USER, 3}, {0}},
	{{(uint64_t)PERF_CONTEXT_MAX, (uint64_t)PERF_CONTEXT_MAX + 1}, {0}},
	{{1, 2}, {0}},
	{{0}, {0}},
};

START_TEST(kernel_part_of_callchain)
{
	enum { CHAIN = 7 }; /* words before the chain */
	static const struct record_format format = {.callchain = true};
	uint64_t words[CHAIN + 6] = {0};
	uint64_t length = 0;
	size_t kernel = 0;
	for (; chains[_i].chain[length] != 0; length++)
		words[CHAIN + length] = chains[_i].chain[length];
	while (chains[_i].kernel[kernel] != 0)
		kernel++;
	words[CHAIN - 1] = length;
	struct perf_event_header header = {PERF_RECORD_SAMPLE, PERF_RECORD_MISC_KERNEL,
					   (uint16_t)((CHAIN + length) * sizeof(words[0]))};
	struct record record;
	memcpy(words, &header, sizeof(header));
	ck_assert(record_decode(&format, words, header.size, &record));
	ck_assert_uint_eq(record.sample.callchain_length, kernel);
	if (kernel > 0)
		ck_assert_mem_eq(record.sample.callchain, chains[_i].kernel,
				 kernel * sizeof(uint64_t));
}
END_TEST

/* Told by its period, where there are deep copies. */
START_TEST(deep_copy)
{
	struct record_format format = {.deep_period_ns = _i == 2 ? 0 : 640};
	struct record in = record_fixture_sample(RECORD_REGISTERS_NONE);
	in.sample.period = _i == 1 ? 10 : 640;
	uint8_t bytes[512];
	struct record out;
	size_t size = record_encode(&format, &in, bytes, sizeof(bytes));
	ck_assert(record_decode(&format, bytes, size, &out));
	ck_assert_int_eq(out.sample.is_deep, _i == 0);
}
END_TEST

START_TEST(other_kinds)
{
	uint8_t bytes[256];
	struct record in;
	struct record out;
	uint64_t time_ns;
	record_fixture_fill(&in, record_fixture_kinds[_i]);
	size_t size = record_encode(&record_fixture_none, &in, bytes, sizeof(bytes));
	ck_assert_uint_gt(size, 0);
	ck_assert_uint_eq(size % 8, 0);
	ck_assert(record_decode(&record_fixture_none, bytes, size, &out));
	ck_assert(record_time(&record_fixture_none, bytes, size, &time_ns));
	ck_assert_uint_eq(time_ns, in.time_ns);
	ck_assert_int_eq(out.kind, in.kind);
	ck_assert_uint_eq(out.time_ns, in.time_ns);
	ck_assert_uint_eq(out.pid, in.pid);
	ck_assert_uint_eq(out.tid, in.tid);
	ck_assert_uint_eq(out.cpu, in.cpu);
	switch (in.kind) {
	case RECORD_MMAP:
		ck_assert_uint_eq(out.mmap.start, in.mmap.start);
		ck_assert_uint_eq(out.mmap.length, in.mmap.length);
		ck_assert_uint_eq(out.mmap.pgoff, in.mmap.pgoff);
		ck_assert_uint_eq(out.mmap.inode, in.mmap.inode);
		ck_assert_uint_eq(out.mmap.device_major, in.mmap.device_major);
		ck_assert_uint_eq(out.mmap.device_minor, in.mmap.device_minor);
		ck_assert_uint_eq(out.mmap.build_id_size, 0);
		ck_assert_str_eq(out.mmap.path, in.mmap.path);
		break;
	case RECORD_COMM:
		ck_assert_str_eq(out.comm.name, in.comm.name);
		ck_assert(!out.comm.exec);
		break;
	case RECORD_FORK:
	case RECORD_EXIT:
		ck_assert_uint_eq(out.fork.parent_pid, in.fork.parent_pid);
		ck_assert_uint_eq(out.fork.parent_tid, in.fork.parent_tid);
		break;
	case RECORD_COUNT:
		ck_assert_uint_eq(out.count, in.count);
		break;
	case RECORD_LOST:
		ck_assert_uint_eq(out.lost, in.lost);
		break;
	default:
		break;
	}
}
END_TEST

/* Loop: length of the build-id. */
START_TEST(mmap_with_build_id)
{
	uint8_t bytes[256];
	struct record in;
	struct record out;
	record_fixture_fill(&in, RECORD_MMAP);
	in.mmap.inode = in.mmap.device_major = in.mmap.device_minor = 0;
	in.mmap.build_id_size = (uint32_t)_i;
	for (int i = 0; i < _i; i++)
		in.mmap.build_id[i] = (uint8_t)(0xa0 + i);
	size_t size = record_encode(&record_fixture_none, &in, bytes, sizeof(bytes));
	ck_assert(record_decode(&record_fixture_none, bytes, size, &out));
	ck_assert_uint_eq(out.mmap.build_id_size, in.mmap.build_id_size);
	ck_assert_mem_eq(out.mmap.build_id, in.mmap.build_id, sizeof(in.mmap.build_id));
	ck_assert_uint_eq(out.mmap.inode, 0);
	ck_assert_str_eq(out.mmap.path, in.mmap.path);
}
END_TEST

START_TEST(comm_of_exec)
{
	uint8_t bytes[128];
	struct record in = {.kind = RECORD_COMM, .comm = {.name = "sh", .exec = true}};
	struct record out;
	size_t size = record_encode(&record_fixture_none, &in, bytes, sizeof(bytes));
	ck_assert(record_decode(&record_fixture_none, bytes, size, &out));
	ck_assert(out.comm.exec);
}
END_TEST

/* MMAP2 with and without a build-id, by word. */
START_TEST(mmap_as_the_kernel_writes_it)
{
	uint64_t words[] = {
		0,
		(uint64_t)31 << 32 | 30, /* pid, tid */
		0x7f0000000000,
		0x2000,
		0x1000,                /* address, length, page offset */
		(uint64_t)5 << 32 | 8, /* device 8:5 */
		77,
		1,                       /* inode, generation */
		(uint64_t)2 << 32 | 5,   /* protection, flags */
		0x2f6e69622f,            /* "/bin/" */
		(uint64_t)31 << 32 | 30, /* trailer: pid, tid */
		1000,                    /* time */
		4,                       /* cpu */
	};
	struct perf_event_header header = {PERF_RECORD_MMAP2, PERF_RECORD_MISC_USER, sizeof(words)};
	struct record record;
	memcpy(words, &header, sizeof(header));
	ck_assert(record_decode(&record_fixture_all, words, sizeof(words), &record));
	ck_assert_int_eq(record.kind, RECORD_MMAP);
	ck_assert_uint_eq(record.pid, 30);
	ck_assert_uint_eq(record.tid, 31);
	ck_assert_uint_eq(record.mmap.device_major, 8);
	ck_assert_uint_eq(record.mmap.device_minor, 5);
	ck_assert_uint_eq(record.mmap.inode, 77);
	ck_assert_str_eq(record.mmap.path, "/bin/");
	ck_assert_uint_eq(record.time_ns, 1000);
	ck_assert_uint_eq(record.cpu, 4);

	header.misc |= PERF_RECORD_MISC_MMAP_BUILD_ID;
	memcpy(words, &header, sizeof(header));
	words[5] = (uint64_t)0x44332211 << 32 | 4; /* size 4, then the id's first bytes */
	ck_assert(record_decode(&record_fixture_all, words, sizeof(words), &record));
	ck_assert_uint_eq(record.mmap.build_id_size, 4);
	ck_assert_mem_eq(record.mmap.build_id, "\x11\x22\x33\x44", 4);
	ck_assert_uint_eq(record.mmap.inode, 0);

	words[5] = (uint64_t)0x44332211 << 32 | 21; /* longer than a build-id can be */
	ck_assert(record_decode(&record_fixture_all, words, sizeof(words), &record));
	ck_assert_uint_eq(record.mmap.build_id_size, 0);
}
END_TEST

/* The kernel's other records of a task, by word; READ has more behind the count. */
START_TEST(task_records_as_the_kernel_writes_them)
{
	uint64_t words[] = {0, (uint64_t)20 << 32 | 21, (uint64_t)22 << 32 | 23, 500, 9, 1000, 2};
	struct perf_event_header header = {PERF_RECORD_FORK, 0, sizeof(words)};
	struct record record;
	words[4] = (uint64_t)22 << 32 | 20; /* trailer */
	memcpy(words, &header, sizeof(header));
	ck_assert(record_decode(&record_fixture_none, words, sizeof(words), &record));
	ck_assert_int_eq(record.kind, RECORD_FORK);
	ck_assert_uint_eq(record.pid, 21);
	ck_assert_uint_eq(record.fork.parent_pid, 20);
	ck_assert_uint_eq(record.tid, 23);
	ck_assert_uint_eq(record.fork.parent_tid, 22);

	header.type = PERF_RECORD_READ;
	memcpy(words, &header, sizeof(header));
	ck_assert(record_decode(&record_fixture_none, words, sizeof(words), &record));
	ck_assert_int_eq(record.kind, RECORD_COUNT);
	ck_assert_uint_eq(record.pid, 21);
	ck_assert_uint_eq(record.tid, 20);
	ck_assert_uint_eq(record.count, words[2]);
	ck_assert_uint_eq(record.time_ns, 1000);
}
END_TEST

/* As __perf_event_switch_output in kernel/events/core.c writes it: no body. */
START_TEST(switch_as_the_kernel_writes_it)
{
	static const struct {
		uint16_t misc;
		bool out, preempted;
	} cases[] = {
		{0, false, false},
		{PERF_RECORD_MISC_SWITCH_OUT_PREEMPT, false, false}, /* of OUT only */
		{PERF_RECORD_MISC_SWITCH_OUT, true, false},
		{PERF_RECORD_MISC_SWITCH_OUT | PERF_RECORD_MISC_SWITCH_OUT_PREEMPT, true, true},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		uint64_t words[] = {0, (uint64_t)31 << 32 | 30, 700, 3};
		struct perf_event_header header = {PERF_RECORD_SWITCH, cases[i].misc,
						   sizeof(words)};
		struct record record;
		memcpy(words, &header, sizeof(header));
		ck_assert(record_decode(&record_fixture_all, words, sizeof(words), &record));
		ck_assert_int_eq(record.kind, RECORD_SWITCH);
		ck_assert_int_eq(record.switched.out, cases[i].out);
		ck_assert_int_eq(record.switched.preempted, cases[i].preempted);
		ck_assert_uint_eq(record.pid, 30);
		ck_assert_uint_eq(record.tid, 31);
		ck_assert_uint_eq(record.time_ns, 700);
		ck_assert_uint_eq(record.cpu, 3);
	}
}
END_TEST

START_TEST(unknown_type)
{
	uint64_t words[] = {0, 1, (uint64_t)2 << 32 | 1, 700, 3};
	struct perf_event_header header = {PERF_RECORD_AUX, 0, sizeof(words)};
	struct record record;
	memcpy(words, &header, sizeof(header));
	ck_assert(record_decode(&record_fixture_all, words, sizeof(words), &record));
	ck_assert_int_eq(record.kind, RECORD_OTHER);
	ck_assert_uint_eq(record.time_ns, 700);
	ck_assert_uint_eq(record.tid, 2);
}
END_TEST

static struct record_sample decode_registers(bool in_kernel, uint64_t ip, uint64_t rcx)
{
	struct record sample = record_fixture_sample(RECORD_REGISTERS_64);
	uint8_t bytes[1024];
	struct record out;
	void *copy;
	sample.sample.in_kernel = in_kernel;
	sample.sample.regs.value[registers_machine(false)->ip] = ip;
	sample.sample.regs.value[2] = rcx;
	size_t size = record_encode(&record_fixture_all, &sample, bytes, sizeof(bytes));
	ck_assert(record_fixture_decode(&record_fixture_all, bytes, size, &out, &copy));
	free(copy);
	return out.sample;
}

/* The address in a system call is that of the instruction that made it; a fault has its own, which
 * may be a function's first, and so has user code. */
START_TEST(address_in_the_kernel)
{
	const struct registers_machine *machine = registers_machine(false);
	uint64_t back = machine->arch == UW_ARCH_X86_64 ? 2 : 0;
	struct record_sample call = decode_registers(true, 0x401002, 0x401002);
	struct record_sample fault = decode_registers(true, 0x401002, 0x401001);
	struct record_sample user = decode_registers(false, 0x401002, 0x401002);
	ck_assert_uint_eq(call.regs.value[machine->ip], 0x401002 - back);
	ck_assert_uint_eq(fault.regs.value[machine->ip], 0x401002);
	ck_assert_uint_eq(user.regs.value[machine->ip], 0x401002);
	ck_assert_uint_eq(decode_registers(true, 1, 1).regs.value[machine->ip], 1);
	ck_assert_uint_eq(decode_registers(true, 2, 2).regs.value[machine->ip], 2);
}
END_TEST

/* What never ran user code has no registers; a program may well jump to 0. */
START_TEST(worker_of_the_kernel)
{
	static const struct uw_regs none;
	struct record_sample worker = decode_registers(true, 0, 0);
	ck_assert_int_eq(worker.abi, RECORD_REGISTERS_NONE);
	ck_assert_mem_eq(&worker.regs, &none, sizeof(none));
	ck_assert_int_eq(decode_registers(false, 0, 0).abi, RECORD_REGISTERS_64);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("record");
	TCase *tcase = tcase_create("record");

	tcase_add_loop_test(tcase, sample_of_every_format, 0, 64);
	tcase_add_test(tcase, sample_without_callchain_or_stack);
	tcase_add_loop_test(tcase, kernel_part_of_callchain, 0, sizeof(chains) / sizeof(chains[0]));
	tcase_add_loop_test(tcase, deep_copy, 0, 3);
	tcase_add_test(tcase, stack_copied_in_part_or_not_at_all);
	tcase_add_test(tcase, sample_as_the_kernel_writes_it);
	tcase_add_test(tcase, registers_of_32_bit_code);
	tcase_add_test(tcase, address_in_the_kernel);
	tcase_add_test(tcase, worker_of_the_kernel);
	tcase_add_loop_test(tcase, other_kinds, 1, RECORD_FIXTURE_KINDS);
	tcase_add_loop_test(tcase, mmap_with_build_id, 1, 21);
	tcase_add_test(tcase, comm_of_exec);
	tcase_add_test(tcase, mmap_as_the_kernel_writes_it);
	tcase_add_test(tcase, task_records_as_the_kernel_writes_them);
	tcase_add_test(tcase, switch_as_the_kernel_writes_it);
	tcase_add_test(tcase, unknown_type);
	suite_add_tcase(suite, tcase);
	return run_suite(suite);
}
