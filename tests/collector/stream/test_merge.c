/* The merge: one stream in order of time out of several rings. */
#include "collector/stream/merge.h"
#include "tests/collector/record_encode.h"
#include "tests/collector/ring_fixture.h"
#include "tests/support/suite.h"
#include <check.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>

enum { RINGS = 3, SIZE = 4096, COMM_SIZE = 48 };

static const struct record_format format;
static struct ring rings[RINGS];
static struct merge *merge;

/* Of all rings; with records of one format at a time. */
static const struct source *sources_of(const struct record_format *of)
{
	static struct source sources[RINGS];
	for (size_t i = 0; i < RINGS; i++)
		sources[i] = (struct source){&source_ring, &rings[i], of};
	return sources;
}

static void setup(void)
{
	for (size_t i = 0; i < RINGS; i++)
		ring_fixture_init(&rings[i], SIZE, 0);
	merge = merge_create(sources_of(&format), RINGS);
	ck_assert_ptr_nonnull(merge);
}

static void teardown(void)
{
	merge_destroy(merge);
	for (size_t i = 0; i < RINGS; i++)
		ring_finish(&rings[i]);
}

static void put(size_t ring, uint64_t time_ns, uint32_t tid)
{
	uint8_t bytes[256];
	struct record record = {.kind = RECORD_COMM,
				.time_ns = time_ns,
				.pid = 1,
				.tid = tid,
				.comm = {.name = "name"}};
	size_t size = record_encode(&format, &record, bytes, sizeof(bytes));
	ck_assert_uint_eq(size, COMM_SIZE);
	ring_fixture_put(&rings[ring], bytes, size);
}

static void assert_next(uint64_t time_ns, uint32_t tid, size_t ring)
{
	struct record record;
	ck_assert(merge_next(merge, &record));
	ck_assert_int_eq(record.kind, RECORD_COMM);
	ck_assert_uint_eq(record.time_ns, time_ns);
	ck_assert_uint_eq(record.tid, tid);
	ck_assert_str_eq(record.comm.name, "name");
	ck_assert_uint_eq(record.source, ring);
}

static void assert_end(void)
{
	struct record record;
	ck_assert(!merge_next(merge, &record));
	merge_end(merge);
}

static void assert_counts(uint64_t records, uint64_t malformed, uint64_t out_of_order)
{
	struct merge_counts counts;
	merge_counts(merge, &counts);
	ck_assert_uint_eq(counts.records, records);
	ck_assert_uint_eq(counts.malformed, malformed);
	ck_assert_uint_eq(counts.out_of_order, out_of_order);
}

static void assert_broken(uint64_t broken, uint64_t dropped_bytes)
{
	uint64_t seen = 0;
	uint64_t seen_bytes = 0;
	for (size_t i = 0; i < RINGS; i++) {
		seen += rings[i].broken;
		seen_bytes += rings[i].dropped_bytes;
	}
	ck_assert_uint_eq(seen, broken);
	ck_assert_uint_eq(seen_bytes, dropped_bytes);
}

static void assert_all_given_back(void)
{
	for (size_t i = 0; i < RINGS; i++)
		ck_assert_uint_eq(ring_fixture_tail(&rings[i]), ring_fixture_head(&rings[i]));
}

START_TEST(empty)
{
	merge_begin(merge, UINT64_MAX);
	assert_end();
	assert_counts(0, 0, 0);
	merge_destroy(NULL);
}
END_TEST

START_TEST(in_order_of_time)
{
	put(0, 10, 1);
	put(0, 40, 2);
	put(1, 20, 3);
	put(1, 30, 4);
	put(2, 5, 5);
	put(2, 50, 6);
	merge_begin(merge, UINT64_MAX);
	assert_next(5, 5, 2);
	assert_next(10, 1, 0);
	assert_next(20, 3, 1);
	assert_next(30, 4, 1);
	assert_next(40, 2, 0);
	assert_next(50, 6, 2);
	assert_end();
	assert_counts(6, 0, 0);
	assert_all_given_back();
}
END_TEST

/* One ring's records of the same time stay in their order. */
START_TEST(equal_times)
{
	put(2, 10, 1);
	put(2, 10, 2);
	put(0, 10, 3);
	put(0, 10, 4);
	merge_begin(merge, UINT64_MAX);
	struct record record;
	uint32_t last[RINGS] = {2, 0, 0};
	for (int i = 0; i < 4; i++) {
		ck_assert(merge_next(merge, &record));
		ck_assert_uint_eq(record.tid, ++last[record.source]);
	}
	assert_end();
	assert_counts(4, 0, 0);
}
END_TEST

START_TEST(limited)
{
	put(0, 10, 1);
	put(0, 20, 2);
	put(1, 15, 3);
	put(1, 21, 4);
	merge_begin(merge, 20);
	assert_next(10, 1, 0);
	assert_next(15, 3, 1);
	assert_next(20, 2, 0);
	assert_end();
	ck_assert_uint_eq(ring_fixture_tail(&rings[1]), COMM_SIZE);
	put(2, 20, 5); /* became visible late, but not too late */
	merge_begin(merge, 30);
	assert_next(20, 5, 2);
	assert_next(21, 4, 1);
	assert_end();
	assert_counts(5, 0, 0);
	assert_all_given_back();
}
END_TEST

START_TEST(written_during_the_round)
{
	put(0, 10, 1);
	merge_begin(merge, UINT64_MAX);
	assert_next(10, 1, 0);
	put(0, 20, 2);
	assert_end();
	merge_begin(merge, UINT64_MAX);
	assert_next(20, 2, 0);
	assert_end();
	assert_counts(2, 0, 0);
}
END_TEST

START_TEST(space_is_given_back_by_the_next_call)
{
	put(0, 10, 1);
	put(0, 20, 2);
	merge_begin(merge, UINT64_MAX);
	assert_next(10, 1, 0);
	ck_assert_uint_eq(ring_fixture_tail(&rings[0]), 0);
	assert_next(20, 2, 0);
	ck_assert_uint_eq(ring_fixture_tail(&rings[0]), COMM_SIZE);
	merge_end(merge); /* the round is left early */
	ck_assert_uint_eq(ring_fixture_tail(&rings[0]), 2 * COMM_SIZE);
	merge_end(merge);
	ck_assert_uint_eq(ring_fixture_tail(&rings[0]), 2 * COMM_SIZE);
	assert_counts(2, 0, 0);
}
END_TEST

START_TEST(out_of_order)
{
	put(0, 100, 1);
	merge_begin(merge, UINT64_MAX);
	assert_next(100, 1, 0);
	assert_end();
	put(1, 90, 2);
	put(1, 95, 3);
	put(1, 100, 4);
	put(1, 101, 5);
	merge_begin(merge, UINT64_MAX);
	assert_next(90, 2, 1);
	assert_next(95, 3, 1);
	assert_next(100, 4, 1);
	assert_next(101, 5, 1);
	assert_end();
	assert_counts(5, 0, 2);
}
END_TEST

/* Times in one ring that go back: nothing is lost. */
START_TEST(out_of_order_within_a_ring)
{
	put(0, 100, 1);
	put(0, 50, 2);
	put(1, 60, 3);
	merge_begin(merge, UINT64_MAX);
	assert_next(60, 3, 1);
	assert_next(100, 1, 0);
	assert_next(50, 2, 0);
	assert_end();
	assert_counts(3, 0, 1);
}
END_TEST

/* An account that a sample interrupted, as it was sent, disturbs nothing. */
START_TEST(late_account)
{
	static const struct record_format raw = {.raw = true};
	const struct record records[] =
		{{.kind = RECORD_ENDING, .time_ns = 100, .tid = 1, .sample.in_kernel = true},
		 {.kind = RECORD_ACCOUNT, .time_ns = 99, .tid = 2, .account.cpu_ns = 7}};
	struct merge *of_accounts = merge_create(sources_of(&raw), RINGS);
	struct merge_counts counts;
	for (size_t i = 0; i < 2; i++) {
		uint8_t bytes[256];
		size_t size = record_encode(&raw, &records[i], bytes, sizeof(bytes));
		ck_assert_uint_gt(size, 0);
		ring_fixture_put(&rings[0], bytes, size);
	}
	merge_begin(of_accounts, UINT64_MAX);
	for (size_t i = 0; i < 2; i++) {
		struct record record;
		ck_assert(merge_next(of_accounts, &record));
		ck_assert_int_eq(record.kind, records[i].kind);
		ck_assert_uint_eq(record.tid, records[i].tid);
	}
	merge_end(of_accounts);
	merge_counts(of_accounts, &counts);
	ck_assert_uint_eq(counts.records, 2);
	ck_assert_uint_eq(counts.out_of_order, 0);
	merge_destroy(of_accounts);
}
END_TEST

START_TEST(records_that_do_not_decode)
{
	uint8_t text[48];
	struct perf_event_header header = {PERF_RECORD_COMM, 0, sizeof(text)};
	memset(text, 'x', sizeof(text));
	memcpy(text, &header, sizeof(header));
	put(0, 10, 1);
	ring_fixture_put(&rings[0], text, sizeof(text)); /* no end of the name */
	header.size = 16;
	memcpy(text, &header, sizeof(header));
	ring_fixture_put(&rings[0], text, 16); /* no time */
	put(0, 30, 2);
	put(1, 20, 3);
	merge_begin(merge, UINT64_MAX);
	assert_next(10, 1, 0);
	assert_next(20, 3, 1);
	assert_next(30, 2, 0);
	assert_end();
	assert_all_given_back();
	assert_counts(3, 2, 0);
}
END_TEST

START_TEST(broken_ring)
{
	uint8_t zeros[64] = {0};
	put(0, 10, 1);
	ring_fixture_put(&rings[0], zeros, sizeof(zeros));
	put(0, 20, 2);
	put(1, 30, 3);
	merge_begin(merge, UINT64_MAX);
	assert_next(10, 1, 0);
	assert_next(30, 3, 1); /* the rest of ring 0 cannot be found */
	assert_end();
	assert_counts(2, 0, 0);
	assert_broken(1, sizeof(zeros) + COMM_SIZE); /* what is lost, and not just that it is */
	assert_all_given_back();
	put(0, 40, 4);
	merge_begin(merge, UINT64_MAX);
	assert_next(40, 4, 0);
	assert_end();
	assert_counts(3, 0, 0);
	ring_fixture_put(&rings[1], zeros, sizeof(zeros));
	merge_begin(merge, UINT64_MAX);
	assert_end();
	assert_broken(2, 2 * sizeof(zeros) + COMM_SIZE);
}
END_TEST

/* Many rounds over rings that wrap, against a sorted list. */
START_TEST(many)
{
	unsigned seed = 7;
	uint64_t now = 0;
	uint64_t expected = 0;
	for (int round = 0; round < 500; round++) {
		int count = rand_r(&seed) % 60;
		for (int i = 0; i < count; i++, now++)
			put((size_t)rand_r(&seed) % RINGS, now + 1, (uint32_t)now + 1);
		struct record record;
		uint64_t limit = now - (uint64_t)(rand_r(&seed) % 5);
		limit = limit > now ? 0 : limit;
		merge_begin(merge, limit);
		while (merge_next(merge, &record)) {
			ck_assert_uint_eq(record.time_ns, ++expected);
			ck_assert_uint_eq(record.tid, (uint32_t)expected);
		}
		merge_end(merge);
		if (expected < limit)
			ck_assert_uint_eq(expected, limit);
	}
	merge_begin(merge, UINT64_MAX);
	struct record record;
	while (merge_next(merge, &record))
		ck_assert_uint_eq(record.time_ns, ++expected);
	ck_assert_uint_eq(expected, now);
	assert_counts(now, 0, 0);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("merge");
	TCase *tcase = tcase_create("merge");

	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_add_test(tcase, empty);
	tcase_add_test(tcase, in_order_of_time);
	tcase_add_test(tcase, equal_times);
	tcase_add_test(tcase, limited);
	tcase_add_test(tcase, written_during_the_round);
	tcase_add_test(tcase, space_is_given_back_by_the_next_call);
	tcase_add_test(tcase, out_of_order);
	tcase_add_test(tcase, out_of_order_within_a_ring);
	tcase_add_test(tcase, late_account);
	tcase_add_test(tcase, records_that_do_not_decode);
	tcase_add_test(tcase, broken_ring);
	tcase_add_test(tcase, many);
	suite_add_tcase(suite, tcase);
	return run_suite(suite);
}
