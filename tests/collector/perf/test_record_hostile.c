/* Records that are cut off, lie, or do not fit: refused, or read without a step outside. */
#include "collector/bpf/stack_chunk.h"
#include "tests/collector/record_encode.h"
#include "tests/collector/record_fixture.h"
#include "tests/support/suite.h"
#include <check.h>
#include <linux/perf_event.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

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
	/* A sample that ends anywhere, in front of the chain too. */
	for (size_t size = sizeof(words[0]); size < sizeof(words); size++) {
		uint16_t cut = (uint16_t)size;
		put_lengths(words, sizeof(words), 1, 16, 16);
		memcpy((char *)words + offsetof(struct perf_event_header, size), &cut, sizeof(cut));
		ck_assert(!record_decode(&format, words, size, &record));
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
	record_fixture_fill(&in, record_fixture_kinds[_i]);
	size_t whole = record_encode(&record_fixture_all, &in, bytes, sizeof(bytes));
	bool fixed = in.kind != RECORD_MMAP && in.kind != RECORD_COMM &&
		     in.kind != RECORD_THROTTLE && in.kind != RECORD_UNTHROTTLE &&
		     in.kind != RECORD_SWITCH;
	for (size_t size = 0; size < whole; size++) {
		ck_assert(!record_fixture_decode(&record_fixture_all, bytes, size, &out, &copy));
		struct perf_event_header header;
		memcpy(&header, bytes, sizeof(header));
		header.size = (uint16_t)size;
		if (size >= sizeof(header))
			memcpy(copy, &header, sizeof(header));
		record_time(&record_fixture_all, copy, size, &time_ns);
		bool decoded = record_decode(&record_fixture_all, copy, size, &out);
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
	record_fixture_fill(&in, RECORD_FORK);
	size_t size = record_encode(&record_fixture_none, &in, bytes, sizeof(bytes));
	ck_assert(!record_decode(&record_fixture_none, bytes, size + 8, &out));
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
		record_fixture_fill(&in, with_text[i]);
		size_t size = record_encode(&record_fixture_none, &in, bytes, sizeof(bytes));
		size_t text = with_text[i] == RECORD_MMAP ? 72 : 16;
		memset(bytes + text, 'a', size - 24 - text);
		ck_assert(!record_fixture_decode(&record_fixture_none, bytes, size, &out, &copy));
		free(copy);
		bytes[size - 25] = '\0';
		ck_assert(record_fixture_decode(&record_fixture_none, bytes, size, &out, &copy));
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
		struct record_format format = {.count = rand_r(&seed) & 1,
					       .lost = rand_r(&seed) & 1,
					       .callchain = rand_r(&seed) & 1,
					       .registers = true,
					       .raw = rand_r(&seed) & 1,
					       .stack = rand_r(&seed) & 1};
		struct record record;
		void *copy;
		if (record_fixture_decode(&format, bytes, size, &record, &copy) &&
		    record.kind == RECORD_SAMPLE) {
			const uint8_t *end = (const uint8_t *)copy + size;
			if (record.sample.callchain)
				ck_assert(record.sample.callchain +
						  8 * record.sample.callchain_length <=
					  end);
			ck_assert_uint_le(record.sample.stack.size, record.sample.stack.requested);
			if (record.sample.stack.bytes)
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
	record_fixture_fill(&in, record_fixture_kinds[_i]);
	size_t whole = record_encode(&record_fixture_all, &in, bytes, sizeof(bytes));
	for (size_t capacity = 0; capacity < whole; capacity++) {
		uint8_t *tight = malloc(capacity > 0 ? capacity : 1);
		ck_assert_ptr_nonnull(tight);
		ck_assert_uint_eq(record_encode(&record_fixture_all, &in, tight, capacity), 0);
		free(tight);
	}
	ck_assert_uint_eq(record_encode(&record_fixture_all, &in, bytes, whole), whole);
}
END_TEST

/* A record's size has 16 bits. */
START_TEST(encode_largest)
{
	size_t capacity = 80000;
	uint8_t *bytes = malloc(capacity);
	uint8_t *stack = calloc(1, 70000);
	struct record in = record_fixture_sample(RECORD_REGISTERS_64);
	struct record out;
	in.sample.stack = (struct uw_stack){.base = 0x1007,
					    .bytes = stack,
					    .size = 65000,
					    .requested = 65000};
	size_t size = record_encode(&record_fixture_all, &in, bytes, capacity);
	ck_assert_uint_gt(size, 65000);
	ck_assert(record_decode(&record_fixture_all, bytes, size, &out));
	ck_assert_uint_eq(out.sample.stack.size, 65000);
	in.sample.stack.size = in.sample.stack.requested = 65528;
	ck_assert_uint_eq(record_encode(&record_fixture_all, &in, bytes, capacity), 0);
	free(stack);
	free(bytes);
}
END_TEST

START_TEST(encode_of_no_kind)
{
	uint8_t bytes[128];
	struct record in = {.kind = RECORD_OTHER};
	ck_assert_uint_eq(record_encode(&record_fixture_none, &in, bytes, sizeof(bytes)), 0);
}
END_TEST

/* What a part of a stack says of itself must agree with itself and with the record. */
START_TEST(hostile_part)
{
	static const struct {
		uint32_t magic, offset, size, total;
		bool good;
		uint16_t below, absent;
		uint64_t outer_base;
		uint32_t outer_offset;
	} cases[] = {
		{STACK_CHUNK_MAGIC, 0, 16, 16, true, 0, 0, 0, 0},
		{STACK_CHUNK_MAGIC, 0, 16, 32, true, 0, 0, 4096, 16},
		{STACK_CHUNK_MAGIC, 16, 16, 32, true, 0, 0, 4096, 16},
		{STACK_CHUNK_MAGIC, 24, 8, 32, true, 0, 0, 4096, 16},
		{STACK_CHUNK_MAGIC, 8, 16, 32, false, 0, 0, 4096, 16}, /* of both */
		{STACK_CHUNK_MAGIC, 0, 16, 32, false, 0, 0, 0, 16},
		{STACK_CHUNK_MAGIC, 0, 16, 32, false, 0, 0, 4096, 0},
		{STACK_CHUNK_MAGIC, 0, 16, 32, false, 0, 0, 4096, 32},
		{STACK_CHUNK_MAGIC, 0, 16, 32, false, 0, 0, 4096, UINT32_MAX},
		{STACK_CHUNK_MAGIC, 0, 16, 32, true, 0, 0, UINT64_MAX - 16, 16},
		{STACK_CHUNK_MAGIC, 0, 16, 32, false, 0, 0, UINT64_MAX - 15, 16},
		{STACK_CHUNK_MAGIC, 8, 16, 24, true, 0, 0, 0, 0},
		{STACK_CHUNK_MAGIC, STACK_CHUNK_TOTAL_MAX - 16, 16, STACK_CHUNK_TOTAL_MAX, true, 0,
		 0, 0, 0},
		{STACK_CHUNK_MAGIC + 1, 0, 16, 16, false, 0, 0, 0, 0},
		{STACK_CHUNK_MAGIC, 0, 0, 16, false, 0, 0, 0, 0},
		{STACK_CHUNK_MAGIC, 0, 0, 0, false, 0, 0, 0, 0},
		{STACK_CHUNK_MAGIC, 0, 17, 17, false, 0, 0, 0, 0},
		{STACK_CHUNK_MAGIC, 0, UINT32_MAX, UINT32_MAX, false, 0, 0, 0, 0},
		{STACK_CHUNK_MAGIC, 1, 16, 16, false, 0, 0, 0, 0},
		{STACK_CHUNK_MAGIC, UINT32_MAX, 16, 16, false, 0, 0, 0, 0},
		{STACK_CHUNK_MAGIC, UINT32_MAX - 15, 16, 32, false, 0, 0, 0, 0},
		{STACK_CHUNK_MAGIC, 0, 16, STACK_CHUNK_TOTAL_MAX + 1, false, 0, 0, 0, 0},
		{STACK_CHUNK_MAGIC, 0, 16, 16, true, STACK_CHUNK_RED_ZONE, 0, 0, 0},
		{STACK_CHUNK_MAGIC, 0, 16, 16, false, STACK_CHUNK_RED_ZONE + 1, 0, 0, 0},
		{STACK_CHUNK_MAGIC, 0, 0, 0, true, 0, STACK_CHUNK_LEFT_OUT, 0, 0},
		{STACK_CHUNK_MAGIC, 0, 0, 0, true, 0, STACK_CHUNK_LEFT_OUT | STACK_CHUNK_TICK, 0,
		 0},
		{STACK_CHUNK_MAGIC, 0, 16, 16, false, 0, STACK_CHUNK_LEFT_OUT, 0, 0},
		{STACK_CHUNK_MAGIC, 0, 0, 16, false, 0, STACK_CHUNK_LEFT_OUT, 0, 0},
		{STACK_CHUNK_MAGIC, 8, 0, 0, false, 0, STACK_CHUNK_LEFT_OUT, 0, 0},
	};
	static const struct record_format format = {.raw = true};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct {
			struct perf_event_header header;
			uint64_t fixed[5]; /* ip, thread, time, cpu, period */
			struct stack_chunk chunk;
			uint8_t bytes[16];
		} sample = {.header = {PERF_RECORD_SAMPLE, PERF_RECORD_MISC_USER, sizeof(sample)}};
		struct record record;
		void *copy;
		sample.chunk.raw_size = sizeof(sample.chunk) + sizeof(sample.bytes) - 4;
		sample.chunk.magic = cases[i].magic;
		sample.chunk.offset = cases[i].offset;
		sample.chunk.size = cases[i].size;
		sample.chunk.total = cases[i].total;
		sample.chunk.below = cases[i].below;
		sample.chunk.absent = cases[i].absent;
		sample.chunk.outer_base = cases[i].outer_base;
		sample.chunk.outer_offset = cases[i].outer_offset;
		ck_assert_int_eq(record_fixture_decode(&format, &sample, sizeof(sample), &record,
						       &copy),
				 cases[i].good);
		free(copy);
		sample.chunk.raw_size += 8;
		ck_assert(!record_fixture_decode(&format, &sample, sizeof(sample), &record, &copy));
		free(copy);
	}
}
END_TEST

/* An account has one size. */
START_TEST(hostile_account)
{
	static const struct record_format format = {.raw = true, .stack = true};
	for (uint32_t raw_size = 4; raw_size <= 64; raw_size += 4) {
		struct {
			struct perf_event_header header;
			uint64_t fixed[5]; /* ip, thread, time, cpu, period */
			struct thread_account account;
			uint64_t more[4];
		} sample = {.header = {PERF_RECORD_SAMPLE, PERF_RECORD_MISC_USER, sizeof(sample)},
			    .account = {.raw_size = raw_size, .magic = THREAD_ACCOUNT_MAGIC}};
		bool is_whole = raw_size == sizeof(sample.account) - sizeof(raw_size);
		struct record record;
		void *copy;
		bool is_read =
			record_fixture_decode(&format, &sample, sizeof(sample), &record, &copy);
		ck_assert_int_eq(is_read, is_whole);
		ck_assert_int_eq(record.kind == RECORD_ACCOUNT, is_whole);
		free(copy);
		sample.account.kind = THREAD_ACCOUNT_ENDING;
		is_read = record_fixture_decode(&format, &sample, sizeof(sample), &record, &copy);
		ck_assert_int_eq(is_read, is_whole);
		ck_assert_int_eq(record.kind == RECORD_ENDING, is_whole);
		free(copy);
	}
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("hostile records");
	TCase *tcase = tcase_create("record");

	tcase_add_test(tcase, hostile_lengths);
	tcase_add_test(tcase, hostile_copied_size);
	tcase_add_test(tcase, hostile_part);
	tcase_add_test(tcase, hostile_account);
	tcase_add_loop_test(tcase, truncated, 0, RECORD_FIXTURE_KINDS);
	tcase_add_test(tcase, longer_than_its_header_says);
	tcase_add_test(tcase, text_without_end);
	tcase_add_test(tcase, noise);
	tcase_add_loop_test(tcase, encode_does_not_fit, 0, RECORD_FIXTURE_KINDS);
	tcase_add_test(tcase, encode_largest);
	tcase_add_test(tcase, encode_of_no_kind);
	suite_add_tcase(suite, tcase);
	return run_suite(suite);
}
