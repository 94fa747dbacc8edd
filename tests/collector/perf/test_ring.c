/* The ring: what the kernel publishes comes out whole, in order, and its space goes back. */
#include "collector/perf/record.h"
#include "tests/collector/ring_fixture.h"
#include "tests/support/suite.h"
#include <check.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <string.h>
#include <unistd.h>

enum { SIZE = 4096 };

static struct ring ring;

static void setup(void)
{
	ring_fixture_init(&ring, SIZE, 0);
}

static void teardown(void)
{
	ring_finish(&ring);
}

static void assert_next(size_t expected_size, uint8_t first)
{
	const void *bytes;
	size_t size;
	ck_assert(ring_peek(&ring, &bytes, &size));
	ck_assert_uint_eq(size, expected_size);
	for (size_t i = sizeof(struct perf_event_header); i < size; i++)
		if (((const uint8_t *)bytes)[i] != (uint8_t)(first + i - 8))
			ck_abort_msg("byte %zu of %zu is wrong", i, size);
	ring_consume(&ring, size);
}

static void assert_empty(void)
{
	const void *bytes;
	size_t size;
	ck_assert(!ring_peek(&ring, &bytes, &size));
	ck_assert_uint_eq(ring_fill(&ring), 0);
	ck_assert_uint_eq(ring_fixture_tail(&ring), ring_fixture_head(&ring));
}

START_TEST(empty)
{
	assert_empty();
	ring_refresh(&ring);
	assert_empty();
	ck_assert_uint_eq(ring.broken, 0);
}
END_TEST

START_TEST(one)
{
	ring_fixture_put_record(&ring, 40, 1);
	ck_assert_uint_eq(ring_fill(&ring), 0); /* not before a refresh */
	ring_refresh(&ring);
	ck_assert_uint_eq(ring_fill(&ring), 40);
	assert_next(40, 1);
	assert_empty();
}
END_TEST

START_TEST(header_only)
{
	ring_fixture_put_record(&ring, 8, 0);
	ring_refresh(&ring);
	assert_next(8, 0);
	assert_empty();
}
END_TEST

START_TEST(peek_consumes_nothing)
{
	const void *bytes;
	size_t size;
	ring_fixture_put_record(&ring, 40, 9);
	ring_refresh(&ring);
	ck_assert(ring_peek(&ring, &bytes, &size));
	ck_assert_uint_eq(ring_fixture_tail(&ring), 0);
	assert_next(40, 9);
	ck_assert_uint_eq(ring_fixture_tail(&ring), 40);
}
END_TEST

START_TEST(full)
{
	ring_fixture_put_record(&ring, SIZE, 3);
	ring_refresh(&ring);
	ck_assert_uint_eq(ring_fill(&ring), SIZE);
	assert_next(SIZE, 3);
	assert_empty();
	ck_assert_uint_eq(ring.broken, 0);
}
END_TEST

/* Each size goes over the end at each possible place sooner or later. */
START_TEST(wraps_everywhere)
{
	uint8_t first = 0;
	for (size_t size = 8; size <= 1024; size += 8) {
		for (size_t round = 0; round <= SIZE / size; round++) {
			ring_fixture_put_record(&ring, size, first);
			ring_fixture_put_record(&ring, 8, 0);
			ring_refresh(&ring);
			assert_next(size, first++);
			assert_next(8, 0);
		}
	}
	assert_empty();
	ck_assert_uint_eq(ring.broken, 0);
}
END_TEST

/* A record that goes over the end stays whole while the next ones are written. */
START_TEST(full_and_wrapped)
{
	const void *bytes;
	size_t size;
	ring_fixture_put_record(&ring, SIZE - 16, 0);
	ring_refresh(&ring);
	assert_next(SIZE - 16, 0);
	ring_fixture_put_record(&ring, SIZE - 8, 50);
	ring_fixture_put_record(&ring, 8, 0);
	ring_refresh(&ring);
	ck_assert(ring_peek(&ring, &bytes, &size));
	ck_assert_ptr_eq(bytes, ring.bounce);
	assert_next(SIZE - 8, 50);
	assert_next(8, 0);
	assert_empty();
}
END_TEST

/* A ring is larger than the largest record, which is as large as the bounce buffer. */
START_TEST(largest_record_wraps)
{
	enum { LARGE = 131072, LARGEST = 65528 };
	ring_finish(&ring);
	ring_fixture_init(&ring, LARGE, LARGE - 8);
	ring_fixture_put_record(&ring, LARGEST, 7);
	ring_refresh(&ring);
	assert_next(LARGEST, 7);
	assert_empty();
}
END_TEST

START_TEST(positions_go_over_64_bits)
{
	ring_finish(&ring);
	ring_fixture_init(&ring, SIZE, UINT64_MAX - 23);
	for (uint8_t i = 0; i < 10; i++) {
		ring_fixture_put_record(&ring, 40, i);
		ring_refresh(&ring);
		assert_next(40, i);
	}
	assert_empty();
	ck_assert_uint_eq(ring.broken, 0);
}
END_TEST

static void assert_dropped(uint64_t broken)
{
	const void *bytes;
	size_t size;
	ring_refresh(&ring);
	ck_assert(!ring_peek(&ring, &bytes, &size));
	ck_assert_uint_eq(ring.broken, broken);
	assert_empty();
	ck_assert_uint_eq(ring.broken, broken); /* once only */
}

START_TEST(broken_sizes)
{
	static const uint16_t sizes[] = {0, 1, 7, 48, 4096, 65528, 65535};
	uint64_t broken = 0;
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		struct perf_event_header header = {PERF_RECORD_SAMPLE, 0, sizes[i]};
		uint8_t bytes[40] = {0};
		memcpy(bytes, &header, sizeof(header));
		ring_fixture_put(&ring, bytes, sizeof(bytes));
		assert_dropped(++broken);
		ck_assert_uint_eq(ring.dropped_bytes, broken * sizeof(bytes));
	}
	ring_fixture_put_record(&ring, 40, 1); /* and goes on */
	ring_refresh(&ring);
	assert_next(40, 1);
}
END_TEST

/* A record whose size is no multiple of 8: it comes out, what follows cannot be trusted. */
START_TEST(odd_size)
{
	struct perf_event_header header = {PERF_RECORD_SAMPLE, 0, 12};
	uint8_t bytes[16] = {0};
	const void *at;
	size_t size;
	memcpy(bytes, &header, sizeof(header));
	ring_fixture_put(&ring, bytes, sizeof(bytes));
	ring_refresh(&ring);
	if (ring_peek(&ring, &at, &size)) {
		ck_assert_uint_eq(size, 12);
		ring_consume(&ring, size);
	}
	assert_dropped(1);
}
END_TEST

START_TEST(odd_size_at_the_end)
{
	struct perf_event_header header = {PERF_RECORD_SAMPLE, 0, 12};
	uint8_t bytes[16] = {0};
	const void *at;
	size_t size;
	memcpy(bytes, &header, sizeof(header));
	ring_fixture_put_record(&ring, SIZE - 8, 0);
	ring_refresh(&ring);
	assert_next(SIZE - 8, 0);
	ring_fixture_put(&ring, bytes, sizeof(bytes));
	ring_refresh(&ring);
	if (ring_peek(&ring, &at, &size)) {
		ck_assert_ptr_eq(at, ring.bounce); /* not past the end */
		ring_consume(&ring, size);
	}
	assert_dropped(1);
}
END_TEST

START_TEST(head_beyond_the_ring)
{
	ring_fixture_set_head(&ring, SIZE + 8);
	assert_dropped(1);
	ck_assert_uint_eq(ring.dropped_bytes, SIZE); /* there was no more */
	ring_fixture_set_head(&ring, UINT64_MAX);
	assert_dropped(2);
	ck_assert_uint_eq(ring.dropped_bytes, 2 * SIZE);
}
END_TEST

START_TEST(head_behind_the_tail)
{
	ring_fixture_put_record(&ring, 80, 0);
	ring_refresh(&ring);
	assert_next(80, 0);
	ring_fixture_set_head(&ring, 40);
	assert_dropped(1);
}
END_TEST

START_TEST(less_than_a_header)
{
	ring_fixture_set_head(&ring, 4);
	assert_dropped(1);
}
END_TEST

START_TEST(no_ring_file)
{
	struct ring other;
	ck_assert_int_eq(ring_init(&other, -1, SIZE), -1);
	ck_assert_int_eq(errno, EBADF);
}
END_TEST

/* A record of a mapping, as far as it is looked at. */
static void put_mapping(uint32_t type, const char *path)
{
	uint8_t bytes[96] = {0};
	struct perf_event_header header = {type, 0, sizeof(bytes)};
	memcpy(bytes, &header, sizeof(header));
	memcpy(bytes + 72, path, strlen(path));
	ring_fixture_put(&ring, bytes, sizeof(bytes));
}

static const struct {
	uint32_t type;
	const char *path;
	bool is_file;
} mappings[] = {{PERF_RECORD_MMAP2, "/lib/a.so", true}, {PERF_RECORD_MMAP2, "/", true},
		{PERF_RECORD_MMAP2, "//anon", false},   {PERF_RECORD_MMAP2, "[vdso]", false},
		{PERF_RECORD_MMAP2, "", false},         {PERF_RECORD_SAMPLE, "/lib/a.so", false}};

/* Loop: what is mapped, wherever it lies in the ring. Each record counts once. */
START_TEST(mapped_files)
{
	for (uint64_t start = 0; start < SIZE; start += 8) {
		uint64_t seen = start / 2;
		ring_finish(&ring);
		ring_fixture_init(&ring, SIZE, start);
		uint64_t file = 1;
		uint64_t again = 1;
		ck_assert(!ring_next_file(&ring, &seen, &file));
		ring_fixture_put_record(&ring, 40, 1);
		put_mapping(mappings[_i].type, mappings[_i].path);
		ring_fixture_put_record(&ring, 40, 1);
		put_mapping(mappings[_i].type, mappings[_i].path);
		ck_assert(ring_next_file(&ring, &seen, &file) == mappings[_i].is_file);
		ck_assert(ring_next_file(&ring, &seen, &again) == mappings[_i].is_file);
		ck_assert_uint_eq(file, again);
		ck_assert(!ring_next_file(&ring, &seen, &file));
		put_mapping(PERF_RECORD_MMAP2, "/other");
		ck_assert(ring_next_file(&ring, &seen, &again));
		ck_assert_uint_ne(file, again);
		/* Nothing is taken by it. */
		ring_refresh(&ring);
		ck_assert_uint_eq(ring_fill(&ring), 2 * 40 + 3 * 96);
	}
}
END_TEST

/* Loop: bytes that are no records. */
START_TEST(mapped_files_in_a_broken_ring)
{
	static const uint64_t heads[] = {4, 8, SIZE, SIZE + 8, (uint64_t)-8};
	static const uint16_t sizes[] = {0, 7, 9, 73, 80, UINT16_MAX};
	uint64_t seen = 0;
	uint64_t file;
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		struct perf_event_header header = {PERF_RECORD_MMAP2, 0, sizes[i]};
		for (size_t at = 0; at < SIZE; at += sizeof(header))
			memcpy(ring.data + at, &header, sizeof(header));
		ring_fixture_set_head(&ring, heads[_i]);
		ck_assert(!ring_next_file(&ring, &seen, &file));
		ck_assert_uint_eq(seen, heads[_i]);
		seen = 0;
	}
}
END_TEST

static void put_switch(uint32_t type, uint16_t misc, uint32_t body, uint64_t time_ns)
{
	uint64_t words[16] = {0};
	struct perf_event_header header = {type, misc,
					   (uint16_t)(sizeof(header) + body + RECORD_TRAILER_SIZE)};
	memcpy(words, &header, sizeof(header));
	uint64_t *trailer = words + 1 + body / 8;
	trailer[0] = (uint64_t)31 << 32 | 30;
	trailer[1] = time_ns;
	trailer[2] = 5;
	ring_fixture_put(&ring, words, header.size);
}

/* Loop: where the records wrap. A reader finds each of them once, and takes nothing. */
START_TEST(switches)
{
	static const struct {
		uint32_t type;
		uint16_t misc;
		uint32_t body;
		enum record_switch_kind kind;
	} cases[] = {
		{PERF_RECORD_SWITCH, PERF_RECORD_MISC_SWITCH_OUT, 0, RECORD_BLOCKED},
		{PERF_RECORD_SWITCH, 0, 0, RECORD_SWITCHED_IN},
		{PERF_RECORD_SWITCH,
		 PERF_RECORD_MISC_SWITCH_OUT | PERF_RECORD_MISC_SWITCH_OUT_PREEMPT, 0,
		 RECORD_PREEMPTED},
		{PERF_RECORD_EXIT, 0, 24, RECORD_ENDED},
	};
	struct record_switch found;
	uint64_t start = SIZE - 8 * (uint64_t)_i;
	uint64_t seen = 0;
	ring_finish(&ring);
	ring_fixture_init(&ring, SIZE, start);
	ck_assert(!ring_next_switch(&ring, &seen, &found));
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		ring_fixture_put_record(&ring, 40, 1);
		put_switch(cases[i].type, cases[i].misc, cases[i].body, 700 + i);
		ck_assert(ring_next_switch(&ring, &seen, &found));
		ck_assert_int_eq(found.kind, cases[i].kind);
		ck_assert_uint_eq(found.pid, 30);
		ck_assert_uint_eq(found.tid, 31);
		ck_assert_uint_eq(found.time_ns, 700 + i);
		ck_assert_uint_eq(found.cpu, 5);
		ck_assert(!ring_next_switch(&ring, &seen, &found));
	}
	ck_assert_uint_eq(ring_fixture_tail(&ring), start);
}
END_TEST

START_TEST(switches_too_short)
{
	struct record_switch found;
	uint64_t seen = 0;
	for (uint16_t size = sizeof(struct perf_event_header);
	     size < sizeof(struct perf_event_header) + RECORD_TRAILER_SIZE; size += 8) {
		uint64_t words[4] = {0};
		struct perf_event_header header = {PERF_RECORD_SWITCH, 0, size};
		memcpy(words, &header, sizeof(header));
		ring_fixture_put(&ring, words, size);
	}
	ck_assert(!ring_next_switch(&ring, &seen, &found));
	ck_assert_uint_eq(seen, ring_fixture_head(&ring));
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("ring");
	TCase *tcase = tcase_create("ring");

	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_add_test(tcase, empty);
	tcase_add_test(tcase, one);
	tcase_add_test(tcase, header_only);
	tcase_add_test(tcase, peek_consumes_nothing);
	tcase_add_test(tcase, full);
	tcase_add_test(tcase, wraps_everywhere);
	tcase_add_test(tcase, full_and_wrapped);
	tcase_add_test(tcase, largest_record_wraps);
	tcase_add_test(tcase, positions_go_over_64_bits);
	tcase_add_test(tcase, broken_sizes);
	tcase_add_test(tcase, odd_size);
	tcase_add_test(tcase, odd_size_at_the_end);
	tcase_add_test(tcase, head_beyond_the_ring);
	tcase_add_test(tcase, head_behind_the_tail);
	tcase_add_test(tcase, less_than_a_header);
	tcase_add_loop_test(tcase, mapped_files, 0, sizeof(mappings) / sizeof(mappings[0]));
	tcase_add_loop_test(tcase, mapped_files_in_a_broken_ring, 0, 5);
	tcase_add_loop_test(tcase, switches, 0, 20);
	tcase_add_test(tcase, switches_too_short);
	tcase_add_test(tcase, no_ring_file);
	suite_add_tcase(suite, tcase);
	return run_suite(suite);
}
