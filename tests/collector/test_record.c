/* Records: from bytes to views and back. The layouts are those of linux/perf_event.h. */
#include "collector/record.h"

#include "collector/registers.h"
#include <check.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>

static const struct record_format none;
static const struct record_format all = {true, true, true, true, true};

static const uint64_t chain[] = {(uint64_t)-128, 0xffffffff81000010, 0xffffffff81000020};
static const uint8_t stack_bytes[24] = "stack of the target";

/* Decodes a copy without a byte to spare, so that a sanitizer sees each read outside; the caller
 * frees it. */
static bool decode_copy(const struct record_format *format, const void *bytes, size_t size,
			struct record *record, void **copy)
{
	*copy = malloc(size > 0 ? size : 1);
	ck_assert_ptr_nonnull(*copy);
	memcpy(*copy, bytes, size);
	return record_decode(format, *copy, size, record);
}

static struct record make_sample(enum record_registers abi)
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
	registers_unpack(values, &sample->regs, &sample->processor_flags, &sample->code_segment);
	uint64_t sp = sample->regs.value[registers_arch() == UW_ARCH_X86_64 ? 7 : 31];
	sample->stack = (struct uw_stack){sp, stack_bytes, 16, sizeof(stack_bytes)};
	return record;
}

static void assert_same_registers(const struct record_sample *a, const struct record_sample *b)
{
	ck_assert_int_eq(a->abi, b->abi);
	ck_assert_uint_eq(a->processor_flags, b->processor_flags);
	ck_assert_uint_eq(a->code_segment, b->code_segment);
	ck_assert_mem_eq(&a->regs, &b->regs, sizeof(a->regs));
}

static void assert_same_sample(const struct record_format *format, const struct record *a,
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

static void round_trip_sample(const struct record_format *format, const struct record *in)
{
	uint8_t bytes[1024];
	struct record out;
	void *copy;
	uint64_t time_ns;
	size_t size = record_encode(format, in, bytes, sizeof(bytes));
	ck_assert_uint_gt(size, 0);
	ck_assert_uint_eq(size % 8, 0);
	ck_assert(decode_copy(format, bytes, size, &out, &copy));
	assert_same_sample(format, in, &out);
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
	};
	static const enum record_registers abis[] = {RECORD_REGISTERS_NONE, RECORD_REGISTERS_32,
						     RECORD_REGISTERS_64};
	for (size_t i = 0; i < 3; i++) {
		struct record sample = make_sample(abis[i]);
		for (int kernel = 0; kernel < 2; kernel++) {
			sample.sample.in_kernel = kernel != 0;
			round_trip_sample(&format, &sample);
		}
	}
}
END_TEST

START_TEST(sample_without_callchain_or_stack)
{
	struct record sample = make_sample(RECORD_REGISTERS_64);
	sample.sample.callchain_length = 0;
	sample.sample.stack = (struct uw_stack){0};
	round_trip_sample(&all, &sample);
}
END_TEST

START_TEST(stack_copied_in_part_or_not_at_all)
{
	struct record sample = make_sample(RECORD_REGISTERS_64);
	for (size_t size = 0; size <= sizeof(stack_bytes); size += 8) {
		sample.sample.stack.size = size;
		round_trip_sample(&all, &sample);
	}
}
END_TEST

/* What the kernel writes, word by word: perf_output_sample in kernel/events/core.c. */
START_TEST(sample_as_the_kernel_writes_it)
{
	enum { REGS = 20 };
	if (registers_arch() != UW_ARCH_X86_64)
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
	ck_assert(record_decode(&all, words, sizeof(words), &record));
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

/* A sample with a callchain and a stack only, to get at their lengths by word. */
enum { WORD_CHAIN = 6, WORD_STACK = 8 };

static void put_lengths(uint64_t *words, size_t size, uint64_t chain_length, uint64_t stack_size,
			uint64_t copied)
{
	struct perf_event_header header = {PERF_RECORD_SAMPLE, PERF_RECORD_MISC_KERNEL,
					   (uint16_t)size};
	memset(words, 0, size);
	memcpy(words, &header, sizeof(header));
	words[WORD_CHAIN] = chain_length;
	words[WORD_STACK] = stack_size;
	words[size / 8 - 1] = copied;
}

START_TEST(hostile_lengths)
{
	static const struct record_format format = {.callchain = true, .stack = true};
	/* Five words follow the length of the chain, one of which is the stack's size. */
	static const uint64_t lengths[] = {5,
					   6,
					   1000,
					   UINT64_MAX / 8,
					   UINT64_MAX / 8 + 1,
					   UINT64_MAX / 8 + 2,
					   1ull << 63,
					   UINT64_MAX};
	uint64_t words[12];
	struct record record;
	put_lengths(words, sizeof(words), 1, 16, 16);
	ck_assert(record_decode(&format, words, sizeof(words), &record));
	ck_assert_uint_eq(record.sample.stack.size, 16);
	for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
		put_lengths(words, sizeof(words), lengths[i], 0, 0);
		ck_assert(!record_decode(&format, words, sizeof(words), &record));
	}
	for (uint64_t size = 17; size < 40; size++) {
		put_lengths(words, sizeof(words), 1, size, 0);
		ck_assert(!record_decode(&format, words, sizeof(words), &record));
	}
	for (uint64_t size = UINT64_MAX; size > UINT64_MAX - 20; size--) {
		put_lengths(words, sizeof(words), 1, size, 0);
		ck_assert(!record_decode(&format, words, sizeof(words), &record));
	}
}
END_TEST

/* More copied than asked for: the copy is not used. */
START_TEST(hostile_copied_size)
{
	static const struct record_format format = {.callchain = true, .stack = true};
	uint64_t words[12];
	struct record record;
	static const uint64_t sizes[] = {17, 24, 1 << 20, UINT64_MAX};
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		put_lengths(words, sizeof(words), 1, 16, sizes[i]);
		if (record_decode(&format, words, sizeof(words), &record))
			ck_assert_uint_eq(record.sample.stack.size, 0);
	}
}
END_TEST

static void fill_task(struct record *record, enum record_kind kind)
{
	*record = (struct record){.kind = kind, .time_ns = 99, .pid = 5, .tid = 6, .cpu = 1};
	switch (kind) {
	case RECORD_SAMPLE:
		*record = make_sample(RECORD_REGISTERS_64);
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
	default:
		break;
	}
}

static const enum record_kind kinds[] = {RECORD_SAMPLE, RECORD_MMAP,     RECORD_COMM,
					 RECORD_FORK,   RECORD_EXIT,     RECORD_COUNT,
					 RECORD_LOST,   RECORD_THROTTLE, RECORD_UNTHROTTLE};

enum { KINDS = sizeof(kinds) / sizeof(kinds[0]) };

START_TEST(other_kinds)
{
	uint8_t bytes[256];
	struct record in;
	struct record out;
	uint64_t time_ns;
	fill_task(&in, kinds[_i]);
	size_t size = record_encode(&none, &in, bytes, sizeof(bytes));
	ck_assert_uint_gt(size, 0);
	ck_assert_uint_eq(size % 8, 0);
	ck_assert(record_decode(&none, bytes, size, &out));
	ck_assert(record_time(&none, bytes, size, &time_ns));
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
	fill_task(&in, RECORD_MMAP);
	in.mmap.inode = in.mmap.device_major = in.mmap.device_minor = 0;
	in.mmap.build_id_size = (uint32_t)_i;
	for (int i = 0; i < _i; i++)
		in.mmap.build_id[i] = (uint8_t)(0xa0 + i);
	size_t size = record_encode(&none, &in, bytes, sizeof(bytes));
	ck_assert(record_decode(&none, bytes, size, &out));
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
	size_t size = record_encode(&none, &in, bytes, sizeof(bytes));
	ck_assert(record_decode(&none, bytes, size, &out));
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
	ck_assert(record_decode(&all, words, sizeof(words), &record));
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
	ck_assert(record_decode(&all, words, sizeof(words), &record));
	ck_assert_uint_eq(record.mmap.build_id_size, 4);
	ck_assert_mem_eq(record.mmap.build_id, "\x11\x22\x33\x44", 4);
	ck_assert_uint_eq(record.mmap.inode, 0);

	words[5] = (uint64_t)0x44332211 << 32 | 21; /* longer than a build-id can be */
	ck_assert(record_decode(&all, words, sizeof(words), &record));
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
	ck_assert(record_decode(&none, words, sizeof(words), &record));
	ck_assert_int_eq(record.kind, RECORD_FORK);
	ck_assert_uint_eq(record.pid, 21);
	ck_assert_uint_eq(record.fork.parent_pid, 20);
	ck_assert_uint_eq(record.tid, 23);
	ck_assert_uint_eq(record.fork.parent_tid, 22);

	header.type = PERF_RECORD_READ;
	memcpy(words, &header, sizeof(header));
	ck_assert(record_decode(&none, words, sizeof(words), &record));
	ck_assert_int_eq(record.kind, RECORD_COUNT);
	ck_assert_uint_eq(record.pid, 21);
	ck_assert_uint_eq(record.tid, 20);
	ck_assert_uint_eq(record.count, words[2]);
	ck_assert_uint_eq(record.time_ns, 1000);
}
END_TEST

START_TEST(unknown_type)
{
	uint64_t words[] = {0, 1, (uint64_t)2 << 32 | 1, 700, 3};
	struct perf_event_header header = {PERF_RECORD_AUX, 0, sizeof(words)};
	struct record record;
	memcpy(words, &header, sizeof(header));
	ck_assert(record_decode(&all, words, sizeof(words), &record));
	ck_assert_int_eq(record.kind, RECORD_OTHER);
	ck_assert_uint_eq(record.time_ns, 700);
	ck_assert_uint_eq(record.tid, 2);
}
END_TEST

static void assert_text_inside(const char *text, const void *bytes, size_t size)
{
	const char *begin = bytes;
	ck_assert(text >= begin);
	ck_assert(text < begin + size);
	ck_assert_ptr_nonnull(memchr(text, '\0', (size_t)(begin + size - text)));
}

/* Loop: kinds. Cut off at every byte, both as the header says and not. */
START_TEST(truncated)
{
	uint8_t bytes[512];
	struct record in;
	struct record out;
	void *copy;
	uint64_t time_ns;
	fill_task(&in, kinds[_i]);
	size_t whole = record_encode(&all, &in, bytes, sizeof(bytes));
	bool fixed = in.kind != RECORD_MMAP && in.kind != RECORD_COMM &&
		     in.kind != RECORD_THROTTLE && in.kind != RECORD_UNTHROTTLE;
	for (size_t size = 0; size < whole; size++) {
		ck_assert(!decode_copy(&all, bytes, size, &out, &copy));
		struct perf_event_header header;
		memcpy(&header, bytes, sizeof(header));
		header.size = (uint16_t)size;
		if (size >= sizeof(header))
			memcpy(copy, &header, sizeof(header));
		record_time(&all, copy, size, &time_ns);
		bool decoded = record_decode(&all, copy, size, &out);
		if (fixed)
			ck_assert_msg(!decoded, "%zu of %zu bytes were a record", size, whole);
		if (decoded && in.kind == RECORD_MMAP)
			assert_text_inside(out.mmap.path, copy, size);
		if (decoded && in.kind == RECORD_COMM)
			assert_text_inside(out.comm.name, copy, size);
		free(copy);
	}
}
END_TEST

START_TEST(longer_than_its_header_says)
{
	uint8_t bytes[256] = {0};
	struct record in;
	struct record out;
	fill_task(&in, RECORD_FORK);
	size_t size = record_encode(&none, &in, bytes, sizeof(bytes));
	ck_assert(!record_decode(&none, bytes, size + 8, &out));
}
END_TEST

START_TEST(text_without_end)
{
	static const enum record_kind with_text[] = {RECORD_MMAP, RECORD_COMM};
	for (size_t i = 0; i < 2; i++) {
		uint8_t bytes[256];
		struct record in;
		struct record out;
		void *copy;
		fill_task(&in, with_text[i]);
		size_t size = record_encode(&none, &in, bytes, sizeof(bytes));
		size_t text = with_text[i] == RECORD_MMAP ? 72 : 16;
		memset(bytes + text, 'a', size - 24 - text);
		ck_assert(!decode_copy(&none, bytes, size, &out, &copy));
		free(copy);
		bytes[size - 25] = '\0';
		ck_assert(decode_copy(&none, bytes, size, &out, &copy));
		free(copy);
	}
}
END_TEST

/* Any bytes at all: nothing is read outside, and what is said to be inside is. */
START_TEST(noise)
{
	static const uint32_t types[] = {PERF_RECORD_SAMPLE, PERF_RECORD_MMAP2, PERF_RECORD_COMM,
					 PERF_RECORD_FORK,   PERF_RECORD_READ,  PERF_RECORD_LOST};
	unsigned seed = 1;
	for (int round = 0; round < 20000; round++) {
		uint8_t bytes[512];
		size_t size = 8 + (size_t)(rand_r(&seed) % 61) * 8;
		int spread = 1 + rand_r(&seed) % 255;
		for (size_t i = 0; i < size; i++)
			bytes[i] = (uint8_t)(rand_r(&seed) % spread & -(rand_r(&seed) % 3 == 0));
		struct perf_event_header header = {types[rand_r(&seed) % 6],
						   (uint16_t)rand_r(&seed), (uint16_t)size};
		memcpy(bytes, &header, sizeof(header));
		struct record_format format = {rand_r(&seed) & 1, rand_r(&seed) & 1,
					       rand_r(&seed) & 1, true, rand_r(&seed) & 1};
		struct record record;
		void *copy;
		if (decode_copy(&format, bytes, size, &record, &copy) &&
		    record.kind == RECORD_SAMPLE) {
			const uint8_t *end = (const uint8_t *)copy + size;
			if (record.sample.callchain != NULL)
				ck_assert(record.sample.callchain +
						  8 * record.sample.callchain_length <=
					  end);
			ck_assert_uint_le(record.sample.stack.size, record.sample.stack.requested);
			if (record.sample.stack.bytes != NULL)
				ck_assert(record.sample.stack.bytes + record.sample.stack.size <=
					  end);
		}
		free(copy);
	}
}
END_TEST

/* Loop: kinds. */
START_TEST(encode_does_not_fit)
{
	uint8_t bytes[512];
	struct record in;
	fill_task(&in, kinds[_i]);
	size_t whole = record_encode(&all, &in, bytes, sizeof(bytes));
	for (size_t capacity = 0; capacity < whole; capacity++) {
		uint8_t *tight = malloc(capacity > 0 ? capacity : 1);
		ck_assert_ptr_nonnull(tight);
		ck_assert_uint_eq(record_encode(&all, &in, tight, capacity), 0);
		free(tight);
	}
	ck_assert_uint_eq(record_encode(&all, &in, bytes, whole), whole);
}
END_TEST

/* A record's size has 16 bits. */
START_TEST(encode_largest)
{
	size_t capacity = 80000;
	uint8_t *bytes = malloc(capacity);
	uint8_t *stack = calloc(1, 70000);
	struct record in = make_sample(RECORD_REGISTERS_64);
	struct record out;
	in.sample.stack = (struct uw_stack){0x1007, stack, 65000, 65000};
	size_t size = record_encode(&all, &in, bytes, capacity);
	ck_assert_uint_gt(size, 65000);
	ck_assert(record_decode(&all, bytes, size, &out));
	ck_assert_uint_eq(out.sample.stack.size, 65000);
	in.sample.stack.size = in.sample.stack.requested = 65528;
	ck_assert_uint_eq(record_encode(&all, &in, bytes, capacity), 0);
	free(stack);
	free(bytes);
}
END_TEST

START_TEST(encode_of_no_kind)
{
	uint8_t bytes[128];
	struct record in = {.kind = RECORD_OTHER};
	ck_assert_uint_eq(record_encode(&none, &in, bytes, sizeof(bytes)), 0);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("record");
	TCase *tcase = tcase_create("record");
	SRunner *runner = srunner_create(suite);

	tcase_add_loop_test(tcase, sample_of_every_format, 0, 32);
	tcase_add_test(tcase, sample_without_callchain_or_stack);
	tcase_add_test(tcase, stack_copied_in_part_or_not_at_all);
	tcase_add_test(tcase, sample_as_the_kernel_writes_it);
	tcase_add_test(tcase, hostile_lengths);
	tcase_add_test(tcase, hostile_copied_size);
	tcase_add_loop_test(tcase, other_kinds, 1, KINDS);
	tcase_add_loop_test(tcase, mmap_with_build_id, 1, 21);
	tcase_add_test(tcase, comm_of_exec);
	tcase_add_test(tcase, mmap_as_the_kernel_writes_it);
	tcase_add_test(tcase, task_records_as_the_kernel_writes_them);
	tcase_add_test(tcase, unknown_type);
	tcase_add_loop_test(tcase, truncated, 0, KINDS);
	tcase_add_test(tcase, longer_than_its_header_says);
	tcase_add_test(tcase, text_without_end);
	tcase_add_test(tcase, noise);
	tcase_add_loop_test(tcase, encode_does_not_fit, 0, KINDS);
	tcase_add_test(tcase, encode_largest);
	tcase_add_test(tcase, encode_of_no_kind);
	suite_add_tcase(suite, tcase);
	srunner_run_all(runner, CK_ENV);
	int failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed != 0;
}
