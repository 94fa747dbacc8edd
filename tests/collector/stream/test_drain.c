/* Draining: the same records in the same order, whether the caller or the thread empties the rings.
 */
#include "collector/machine/clock.h"
#include "collector/perf/sampler.h"
#include "collector/stream/drain.h"
#include "collector/stream/queue.h"
#include "collector/stream/source.h"
#include "tests/collector/drain_fixture.h"
#include "tests/collector/record_encode.h"
#include "tests/collector/ring_fixture.h"
#include "tests/support/suite.h"
#include <check.h>
#include <stdio.h>
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

/* A source beside the rings: looks, in a list. */
static struct record_look looks[4];
static uint64_t look_times[4];
static size_t looks_put, looks_taken;

static void refresh_looks(const struct source *source)
{
	(void)source;
}

static bool peek_looks(const struct source *source, const void **bytes, size_t *size)
{
	(void)source;
	*bytes = &look_times[looks_taken];
	*size = sizeof(look_times[0]);
	return looks_taken < looks_put;
}

static void consume_looks(const struct source *source, size_t size)
{
	(void)source;
	ck_assert_uint_eq(size, sizeof(look_times[0]));
	looks_taken++;
}

static bool time_look(const struct source *source, const void *bytes, size_t size,
		      uint64_t *time_ns)
{
	(void)source;
	ck_assert_uint_eq(size, sizeof(*time_ns));
	memcpy(time_ns, bytes, sizeof(*time_ns));
	return true;
}

static bool decode_look(const struct source *source, const void *bytes, size_t size,
			struct record *record)
{
	(void)source;
	size_t index = (size_t)((const uint64_t *)bytes - look_times);
	*record = (struct record){.kind = RECORD_LOOK, .look = looks[index]};
	return time_look(source, bytes, size, &record->time_ns);
}

static const struct source_kind looks_kind = {refresh_looks, peek_looks,  consume_looks,
					      time_look,     decode_look, NULL};

static void put_look(uint64_t time_ns, const char *file)
{
	looks[looks_put] = (struct record_look){.file = file, .sample.stack = {.bytes = NULL}};
	look_times[looks_put++] = time_ns;
}

static void expect_look(const char *file, const uint8_t *bytes)
{
	const struct record *item = NULL;
	ck_assert(drain_next(drain, &item));
	ck_assert_int_eq(item->kind, RECORD_LOOK);
	ck_assert_uint_eq(item->source, RINGS);
	ck_assert(!file == !item->look.file);
	if (file)
		ck_assert_str_eq(item->look.file, file);
	ck_assert_uint_eq(item->sample.stack.size, bytes ? 5 : 0);
	if (bytes)
		ck_assert_mem_eq(item->sample.stack.bytes, bytes, 5);
}

/* Loop: with the thread, whose copies outlive the source's records. */
START_TEST(further_source)
{
	uint8_t bytes[] = {1, 2, 3, 4, 5};
	char file[] = "pipe:[7]";
	looks_put = looks_taken = 0;
	ck_assert(drain_add_source(drain, &(struct source){&looks_kind, NULL, NULL}));
	drain_fixture_put(0);
	put_look(1, NULL);
	put_look(2, file);
	looks[1].sample.stack =
		(struct uw_stack){.base = 64, .bytes = bytes, .size = sizeof(bytes)};
	put_count = 2;
	if (_i == 1) {
		drain_fixture_crowd(1);
		ck_assert_int_eq(drain_start(drain), 0);
		drain_fixture_wake(1);
		drain_fixture_wait_for_tail(1, ring_fixture_head(&rings[1]));
		ck_assert_uint_eq(looks_taken, 2);
	}
	drain_begin(drain, DRAIN_ALL);
	drain_fixture_next();
	expect_look(NULL, NULL);
	expect_look(file, bytes);
	looks[1].sample.stack.bytes = NULL;
}
END_TEST

static char seen[256];

static void note_switch(const struct record_switch *found, void *user)
{
	ck_assert_ptr_eq(user, seen);
	snprintf(seen + strlen(seen), sizeof(seen) - strlen(seen), "%u%c ", found->tid,
		 "ibpe"[found->kind]);
}

static void note_all_shown(void *user)
{
	ck_assert_ptr_eq(user, seen);
	strcat(seen, "| ");
}

static void put_exit(size_t ring)
{
	struct record record = {.kind = RECORD_EXIT};
	drain_fixture_put_record(&record, ring);
}

/* Each record is shown once, to each watcher, and before it is taken. */
START_TEST(watched)
{
	const struct record *item = NULL;
	seen[0] = '\0';
	drain_add_watcher(drain, &(struct drain_watcher){note_switch, note_all_shown, seen});
	drain_add_watcher(drain, &(struct drain_watcher){.show = note_switch, .user = seen});
	put_exit(0);
	drain_fixture_put(0);
	drain_watch(drain);
	ck_assert_str_eq(seen, "0e 0e | ");
	put_exit(1);
	drain_begin(drain, DRAIN_ALL);
	ck_assert(drain_next(drain, &item));
	ck_assert_str_eq(seen, "0e 0e | 2e 2e | ");
	while (drain_next(drain, &item))
		;
	drain_watch(drain);
	ck_assert_str_eq(seen, "0e 0e | 2e 2e | | ");
	put_exit(1);
	drain_watch(drain);
	ck_assert_str_eq(seen, "0e 0e | 2e 2e | | 3e 3e | ");
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
		drain_fixture_wait_for_room(0);
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
	tcase_add_loop_test(tcase, further_source, 0, 2);
	tcase_add_test(tcase, watched);
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
