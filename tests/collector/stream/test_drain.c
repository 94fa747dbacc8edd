/* Draining: the same records in the same order, whether the caller or the thread empties the rings.
 */
#include "collector/machine/clock.h"
#include "collector/perf/sampler.h"
#include "collector/stream/drain.h"
#include "collector/stream/queue.h"
#include "tests/collector/drain_fixture.h"
#include "tests/collector/record_encode.h"
#include "tests/collector/ring_fixture.h"
#include "tests/support/suite.h"
#include <check.h>
#include <string.h>
#include <sys/eventfd.h>

static void sleep_again(size_t ring)
{
	eventfd_t value;
	ck_assert_int_eq(eventfd_read(rings[ring].fd, &value), 0);
}

static uint64_t copied(void)
{
	struct drain_counts counts;
	drain_counts(drain, &counts);
	ck_assert_uint_eq(counts.malformed, 0);
	return counts.copied;
}

/* From the rings: a record's space goes back as it is handed out, and no other's. */
static void take_in_place(void)
{
	uint64_t first = ring_fixture_tail(&rings[0]);
	uint64_t second = ring_fixture_tail(&rings[1]);
	drain_fixture_put(0);
	drain_fixture_put(1);
	drain_fixture_put(0);
	drain_begin(drain, DRAIN_SETTLED);
	ck_assert_uint_eq(drain_fixture_next()->source, 0);
	ck_assert_uint_gt(ring_fixture_tail(&rings[0]), first);
	ck_assert_uint_lt(ring_fixture_tail(&rings[0]), ring_fixture_head(&rings[0]));
	ck_assert_uint_eq(ring_fixture_tail(&rings[1]), second);
	ck_assert_uint_eq(drain_fixture_next()->source, 1);
	ck_assert_uint_lt(ring_fixture_tail(&rings[0]), ring_fixture_head(&rings[0]));
	drain_fixture_next();
	for (size_t i = 0; i < RINGS; i++)
		ck_assert_uint_eq(ring_fixture_tail(&rings[i]), ring_fixture_head(&rings[i]));
	drain_begin(drain, DRAIN_SETTLED);
	drain_fixture_assert_none();
}

START_TEST(alone_in_place)
{
	struct pollfd polls[RINGS];
	ck_assert_uint_eq(drain_polls(drain, polls), RINGS);
	for (size_t i = 0; i < RINGS; i++)
		ck_assert_int_eq(polls[i].fd, rings[i].fd);
	take_in_place();
	drain_begin(drain, DRAIN_REST);
	drain_fixture_assert_none();
	ck_assert_uint_eq(copied(), 0);
}
END_TEST

START_TEST(beside_thread_in_place)
{
	struct pollfd polls[RINGS];
	ck_assert_int_eq(drain_start(drain), 0);
	ck_assert_uint_eq(drain_polls(drain, polls), 1);
	take_in_place();
	/* The thread says that there is something, and leaves it where it is. */
	drain_fixture_put(1);
	ck_assert_int_eq(poll(polls, 1, WAIT_MS), 1);
	drain_begin(drain, DRAIN_SETTLED);
	drain_fixture_next();
	drain_fixture_assert_none();
	drain_begin(drain, DRAIN_REST);
	drain_fixture_assert_none();
	ck_assert_uint_eq(copied(), 0);
}
END_TEST

/* What is lost, and what came late, is told at the end. */
START_TEST(losses_are_counted)
{
	struct drain_counts counts;
	const struct record *item = NULL;
	uint8_t zeros[64] = {0};
	drain_fixture_put(0);
	drain_begin(drain, DRAIN_ALL);
	drain_fixture_next();
	put_count = 0; /* a record as old as the first one, and one that is younger */
	drain_fixture_put(1);
	put_count = 5;
	drain_fixture_put(1);
	ring_fixture_put(&rings[0], zeros, sizeof(zeros));
	drain_begin(drain, DRAIN_ALL);
	put_count = 0;
	for (int i = 0; i < 2; i++)
		ck_assert(drain_next(drain, &item));
	drain_fixture_put(0); /* older by now */
	drain_begin(drain, DRAIN_REST);
	ck_assert(drain_next(drain, &item));
	drain_fixture_assert_none();
	drain_counts(drain, &counts);
	ck_assert_uint_eq(counts.malformed, 0);
	ck_assert_uint_eq(counts.out_of_order, 1);
	ck_assert_uint_eq(counts.broken, 1);
	ck_assert_uint_eq(counts.dropped_bytes, sizeof(zeros));
}
END_TEST

/* What is too young may not be whole yet, unless everything is asked for. */
START_TEST(unsettled)
{
	const struct record *item = NULL;
	struct record record = {.kind = RECORD_COMM, .comm = {.name = name}};
	uint8_t bytes[4096];
	struct record_format format = event_format(&sampler.config);
	record.time_ns = UINT64_MAX - 1;
	ring_fixture_put(&rings[0], bytes, record_encode(&format, &record, bytes, sizeof(bytes)));
	drain_begin(drain, DRAIN_SETTLED);
	drain_fixture_assert_none();
	drain_begin(drain, DRAIN_ALL);
	ck_assert(drain_next(drain, &item));
}
END_TEST

/* Without the thread, stacks are left out from half of a ring until a quarter. */
START_TEST(alone_behind)
{
	struct record record = {.kind = RECORD_SAMPLE};
	const struct record *item = NULL;
	uint32_t left_out = 0;
	uint32_t count = 0;
	for (; ring_fixture_head(&rings[0]) < SIZE / 4 * 3; count++)
		drain_fixture_put_record(&record, 0);
	drain_begin(drain, DRAIN_SETTLED);
	for (uint32_t i = 0; i < count; i++) {
		ck_assert(drain_next(drain, &item));
		ck_assert_uint_eq(item->tid, i);
		bool is_left_out = item->sample.choice == RECORD_LEFT_OUT;
		left_out += is_left_out;
		ck_assert(i > 0 || is_left_out);
	}
	ck_assert_uint_ge(left_out, count * 6 / 10);
	ck_assert_uint_le(left_out, count * 7 / 10);
}
END_TEST

/* While the caller is busy with one record, the thread makes room in all rings, and the caller's
 * record stays. */
START_TEST(thread_makes_room)
{
	drain_fixture_put(0);
	uint32_t count = 1 + drain_fixture_crowd(0) + drain_fixture_crowd(1);
	drain_begin(drain, DRAIN_SETTLED);
	const struct record *item = drain_fixture_next();
	ck_assert_int_eq(drain_start(drain), 0);
	drain_fixture_wake(0);
	drain_fixture_wait_for_tail(1, ring_fixture_head(&rings[1]));
	sleep_again(0);
	ck_assert_uint_eq(ring_fixture_tail(&rings[0]), ring_fixture_head(&rings[0]));
	ck_assert_str_eq(item->comm.name, name);
	count += drain_fixture_crowd(1);
	while (taken < count)
		drain_fixture_next();
	drain_fixture_assert_none();
	for (size_t i = 0; i < RINGS; i++)
		ck_assert_uint_eq(ring_fixture_tail(&rings[i]), ring_fixture_head(&rings[i]));
	ck_assert_uint_gt(copied(), 0);
	take_in_place();
}
END_TEST

/* Whatever the thread is doing when the end comes, all records come, in order. */
START_TEST(rest)
{
	ck_assert_int_eq(drain_start(drain), 0);
	for (int i = 0; i < 10; i++) {
		drain_fixture_crowd(0);
		drain_fixture_wake(0);
		drain_fixture_wait_for_tail(0, ring_fixture_head(&rings[0]));
		sleep_again(0);
	}
	drain_fixture_crowd(1);
	drain_begin(drain, DRAIN_REST);
	while (taken < put_count)
		drain_fixture_next();
	drain_fixture_assert_none();
	ck_assert_uint_gt(copied(), put_count / 2);
}
END_TEST

/* How many records of drain_fixture_put() a queue holds that nobody takes from. */
static uint32_t queue_room(void)
{
	const struct record record = {.kind = RECORD_COMM, .comm = {.name = name}};
	struct queue *queue = queue_create();
	uint32_t count = 0;
	ck_assert_ptr_nonnull(queue);
	for (; queue_prepare(queue); count++)
		queue_put(queue, &record);
	queue_destroy(queue);
	return count;
}

/* How many records are no longer in the rings, all of which have one size. */
static uint32_t count_moved(uint64_t size)
{
	uint64_t waiting = 0;
	for (size_t i = 0; i < RINGS; i++)
		waiting += ring_fixture_head(&rings[i]) - ring_fixture_tail(&rings[i]);
	return put_count - (uint32_t)(waiting / size);
}

/* The caller gives up while the queue is full, and the thread waits for room. All but a chunk is
 * full then: what comes first is handed over in chunks that are not. */
START_TEST(given_up)
{
	uint32_t most = queue_room();
	uint32_t least = most - QUEUE_CHUNK_SIZE / NAME_SIZE;
	drain_fixture_put(0);
	uint64_t size = ring_fixture_head(&rings[0]);
	ck_assert_int_eq(drain_start(drain), 0);
	drain_fixture_wake(0);
	while (put_count <= most) {
		drain_fixture_crowd(0);
		drain_fixture_crowd(1);
		poll(NULL, 0, 1);
	}
	for (int i = 0; i < WAIT_MS && count_moved(size) < least; i++)
		poll(NULL, 0, 1);
	ck_assert_uint_ge(count_moved(size), least);
	ck_assert_uint_le(count_moved(size), most);
}
END_TEST

/* Puts a record of a mapped file and waits until the thread tells of it. */
static void map_file(struct pollfd *polls, uint32_t inode)
{
	struct record record = {.kind = RECORD_MMAP,
				.mmap = {.path = "/bin/app", .length = 4096, .inode = inode}};
	const struct record *item = NULL;
	drain_fixture_put_record(&record, 1);
	ck_assert_int_eq(poll(polls, 1, WAIT_MS), 1);
	drain_begin(drain, DRAIN_ALL);
	ck_assert(drain_next(drain, &item));
	ck_assert_uint_eq(item->mmap.inode, inode);
	ck_assert(!drain_next(drain, &item));
}

/* As many new files are told within the time in which one record of another kind is; without looks
 * for them each takes that time. Of several series, as other programs may keep the thread from
 * running. What is known is told like any other record, however fast the machine is. */
START_TEST(mapped_file_is_told_soon)
{
	enum { SERIES = 10, FILES = 8 };
	struct pollfd polls[RINGS + 1];
	uint64_t before = 0;
	uint64_t least = UINT64_MAX;
	uint32_t inode = 0;
	ck_assert_int_eq(drain_start(drain), 0);
	ck_assert_uint_eq(drain_polls(drain, polls), 1);
	for (int i = 0; i < SERIES && least >= DRAIN_POLL_MS * 1000000ull; i++) {
		uint64_t start_ns = clock_now();
		for (int file = 0; file < FILES; file++) {
			before = clock_now();
			map_file(polls, ++inode);
		}
		uint64_t series_ns = clock_now() - start_ns;
		least = series_ns < least ? series_ns : least;
	}
	ck_assert_uint_lt(least, DRAIN_POLL_MS * 1000000ull);
	map_file(polls, inode);
	ck_assert_uint_ge(clock_now() - before, DRAIN_POLL_MS * 1000000ull);
}
END_TEST

int main(void)
{
	TCase *tcase = tcase_create("drain");
	tcase_set_timeout(tcase, 60);
	tcase_add_checked_fixture(tcase, drain_fixture_set_up, drain_fixture_tear_down);
	tcase_add_test(tcase, alone_in_place);
	tcase_add_test(tcase, beside_thread_in_place);
	tcase_add_test(tcase, losses_are_counted);
	tcase_add_test(tcase, unsettled);
	tcase_add_test(tcase, alone_behind);
	tcase_add_test(tcase, thread_makes_room);
	tcase_add_test(tcase, rest);
	tcase_add_test(tcase, given_up);
	tcase_add_test(tcase, mapped_file_is_told_soon);
	Suite *suite = suite_create("drain");
	suite_add_tcase(suite, tcase);
	return run_suite(suite);
}
