/* Draining: the same records in the same order, whether the caller or the thread empties the rings.
 */
#include "collector/machine/clock.h"
#include "collector/perf/sampler.h"
#include "collector/stream/drain.h"
#include "collector/stream/queue.h"
#include "tests/collector/record_encode.h"
#include "tests/collector/ring_fixture.h"
#include "tests/support/suite.h"
#include <check.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

enum { RINGS = 2, SIZE = 1024 * 1024, NAME_SIZE = 2000, WAIT_MS = 20000, BASE = 0x7ffc0000 };

static struct ring rings[RINGS];
static struct sampler sampler;
static struct drain *drain;
static char name[NAME_SIZE];
static uint32_t put_count;
static uint32_t taken;

static void set_up(void)
{
	memset(name, 'n', sizeof(name) - 1);
	for (size_t i = 0; i < RINGS; i++) {
		ring_fixture_init(&rings[i], SIZE, 0);
		rings[i].fd = eventfd(0, EFD_CLOEXEC); /* what the thread polls */
		ck_assert_int_ge(rings[i].fd, 0);
	}
	sampler = (struct sampler){.cpus = {.count = RINGS}, .rings = rings, .ring_size = SIZE};
	sampler.config.raw = true;
	put_count = taken = 0;
	drain = drain_create(&sampler);
	ck_assert_ptr_nonnull(drain);
}

static void tear_down(void)
{
	drain_destroy(drain);
	for (size_t i = 0; i < RINGS; i++) {
		close(rings[i].fd);
		ring_finish(&rings[i]);
	}
}

static void put_record(struct record *record, size_t ring)
{
	uint8_t bytes[UINT16_MAX];
	struct record_format format = event_format(&sampler.config);
	record->tid = put_count;
	record->time_ns = ++put_count;
	size_t size = record_encode(&format, record, bytes, sizeof(bytes));
	ck_assert_uint_gt(size, 0);
	ring_fixture_put(&rings[ring], bytes, size);
}

static void put(size_t ring)
{
	struct record record = {.kind = RECORD_COMM, .comm = {.name = name}};
	put_record(&record, ring);
}

static void put_part(size_t ring, uint32_t tid, uint32_t offset, uint32_t size, uint32_t total)
{
	static uint8_t bytes[32768];
	struct record record = {.kind = RECORD_SAMPLE};
	memset(bytes, (int)(offset / 100), sizeof(bytes));
	record.sample.abi = RECORD_REGISTERS_64;
	record.sample.regs.value[7] = BASE;
	record.sample.regs.value[31] = BASE;
	record.sample.stack =
		(struct uw_stack){.base = BASE, .bytes = bytes, .size = size, .requested = size};
	record.sample.part = (struct record_part){.offset = offset, .total = total};
	uint32_t before = put_count;
	put_count = tid;
	put_record(&record, ring);
	put_count = before;
}

/* Fills a ring up to three quarters. Returns how many records that are. */
static uint32_t crowd(size_t ring)
{
	uint32_t before = put_count;
	while (ring_fixture_head(&rings[ring]) - ring_fixture_tail(&rings[ring]) < SIZE / 4 * 3)
		put(ring);
	return put_count - before;
}

/* As the kernel does when a quarter of a ring is full. */
static void wake(size_t ring)
{
	ck_assert_int_eq(eventfd_write(rings[ring].fd, 1), 0);
}

static void sleep_again(size_t ring)
{
	eventfd_t value;
	ck_assert_int_eq(eventfd_read(rings[ring].fd, &value), 0);
}

static void wait_for_tail(size_t ring, uint64_t tail)
{
	for (int i = 0; i < WAIT_MS && ring_fixture_tail(&rings[ring]) != tail; i++)
		poll(NULL, 0, 1);
	ck_assert_uint_eq(ring_fixture_tail(&rings[ring]), tail);
}

static const struct record *next(void)
{
	const struct record *item = NULL;
	ck_assert(drain_next(drain, &item));
	ck_assert_int_eq(item->kind, RECORD_COMM);
	ck_assert_uint_eq(item->tid, taken);
	ck_assert_str_eq(item->comm.name, name);
	taken++;
	return item;
}

static void assert_none(void)
{
	const struct record *item = NULL;
	ck_assert(!drain_next(drain, &item));
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
	put(0);
	put(1);
	put(0);
	drain_begin(drain, DRAIN_SETTLED);
	ck_assert_uint_eq(next()->source, 0);
	ck_assert_uint_gt(ring_fixture_tail(&rings[0]), first);
	ck_assert_uint_lt(ring_fixture_tail(&rings[0]), ring_fixture_head(&rings[0]));
	ck_assert_uint_eq(ring_fixture_tail(&rings[1]), second);
	ck_assert_uint_eq(next()->source, 1);
	ck_assert_uint_lt(ring_fixture_tail(&rings[0]), ring_fixture_head(&rings[0]));
	next();
	for (size_t i = 0; i < RINGS; i++)
		ck_assert_uint_eq(ring_fixture_tail(&rings[i]), ring_fixture_head(&rings[i]));
	drain_begin(drain, DRAIN_SETTLED);
	assert_none();
}

START_TEST(alone_in_place)
{
	struct pollfd polls[RINGS];
	ck_assert_uint_eq(drain_polls(drain, polls), RINGS);
	for (size_t i = 0; i < RINGS; i++)
		ck_assert_int_eq(polls[i].fd, rings[i].fd);
	take_in_place();
	drain_begin(drain, DRAIN_REST);
	assert_none();
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
	put(1);
	ck_assert_int_eq(poll(polls, 1, WAIT_MS), 1);
	drain_begin(drain, DRAIN_SETTLED);
	next();
	assert_none();
	drain_begin(drain, DRAIN_REST);
	assert_none();
	ck_assert_uint_eq(copied(), 0);
}
END_TEST

/* What is lost, and what came late, is told at the end. */
START_TEST(losses_are_counted)
{
	struct drain_counts counts;
	const struct record *item = NULL;
	uint8_t zeros[64] = {0};
	put(0);
	drain_begin(drain, DRAIN_ALL);
	next();
	put_count = 0; /* a record as old as the first one, and one that is younger */
	put(1);
	put_count = 5;
	put(1);
	ring_fixture_put(&rings[0], zeros, sizeof(zeros));
	drain_begin(drain, DRAIN_ALL);
	put_count = 0;
	for (int i = 0; i < 2; i++)
		ck_assert(drain_next(drain, &item));
	put(0); /* older by now */
	drain_begin(drain, DRAIN_REST);
	ck_assert(drain_next(drain, &item));
	assert_none();
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
	assert_none();
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
		put_record(&record, 0);
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
	put(0);
	uint32_t count = 1 + crowd(0) + crowd(1);
	drain_begin(drain, DRAIN_SETTLED);
	const struct record *item = next();
	ck_assert_int_eq(drain_start(drain), 0);
	wake(0);
	wait_for_tail(1, ring_fixture_head(&rings[1]));
	sleep_again(0);
	ck_assert_uint_eq(ring_fixture_tail(&rings[0]), ring_fixture_head(&rings[0]));
	ck_assert_str_eq(item->comm.name, name);
	count += crowd(1);
	while (taken < count)
		next();
	assert_none();
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
		crowd(0);
		wake(0);
		wait_for_tail(0, ring_fixture_head(&rings[0]));
		sleep_again(0);
	}
	crowd(1);
	drain_begin(drain, DRAIN_REST);
	while (taken < put_count)
		next();
	assert_none();
	ck_assert_uint_gt(copied(), put_count / 2);
}
END_TEST

/* How many records of put() a queue holds that nobody takes from. */
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
	put(0);
	uint64_t size = ring_fixture_head(&rings[0]);
	ck_assert_int_eq(drain_start(drain), 0);
	wake(0);
	while (put_count <= most) {
		crowd(0);
		crowd(1);
		poll(NULL, 0, 1);
	}
	for (int i = 0; i < WAIT_MS && count_moved(size) < least; i++)
		poll(NULL, 0, 1);
	ck_assert_uint_ge(count_moved(size), least);
	ck_assert_uint_le(count_moved(size), most);
}
END_TEST

static void assert_sample(const struct record *item, uint32_t tid, size_t size)
{
	const struct record_sample *sample = &item->sample;
	ck_assert_int_eq(item->kind, RECORD_SAMPLE);
	ck_assert_uint_eq(item->tid, tid);
	ck_assert_uint_eq(sample->stack.size, size);
	for (size_t i = 0; i < size; i++)
		ck_assert_uint_eq(sample->stack.bytes[i], i < 1000 ? 0 : 10);
}

/* A sample in two parts, one that another record cuts, and one that the end cuts. */
START_TEST(parts)
{
	const struct record *item = NULL;
	put_part(0, 50, 0, 1000, 3000);
	put_part(0, 50, 1000, 2000, 3000);
	put_part(0, 60, 0, 1000, 3000);
	put_count = 61;
	taken = 61;
	put(0);
	put_part(1, 70, 0, 1000, 3000);
	drain_begin(drain, DRAIN_SETTLED);
	ck_assert(drain_next(drain, &item));
	assert_sample(item, 50, 3000);
	ck_assert(drain_next(drain, &item));
	assert_sample(item, 60, 1000);
	next();
	assert_none();
	drain_begin(drain, DRAIN_REST);
	ck_assert(drain_next(drain, &item));
	assert_sample(item, 70, 1000);
	assert_none();
}
END_TEST

/* Reports of lost records without those that were no samples; none where nothing is left. */
START_TEST(lost_without_refused)
{
	/* As read between the second report and the third, when nothing more was refused. */
	struct sampler_refused refused[RINGS] = {{.count = 9, .read_ns = 2}};
	struct record record = {.kind = RECORD_LOST, .lost = 5};
	const struct record *item = NULL;
	sampler.refused = refused;
	put_record(&record, 0);
	put_record(&record, 0);
	put_record(&record, 0);
	drain_begin(drain, DRAIN_SETTLED);
	for (uint64_t lost = 1; lost <= 5; lost += 4) {
		ck_assert(drain_next(drain, &item));
		ck_assert_int_eq(item->kind, RECORD_LOST);
		ck_assert_uint_eq(item->lost, lost);
		if (lost == 1)
			ck_assert_uint_eq(refused[0].read_ns, 2);
	}
	ck_assert_uint_gt(refused[0].read_ns, 2);
	assert_none();
}
END_TEST

/* Of samples whose stack may be left out, and of deep copies, a share is; of those of which that is
 * decided, none. */
START_TEST(keeps_a_share)
{
	enum { SAMPLES = 400 };
	static uint8_t stack[1000];
	struct record record = {.kind = RECORD_SAMPLE};
	struct drain_counts counts;
	const struct record *item = NULL;
	uint32_t kept = 0;
	sampler.config.stack_size = sizeof(stack);
	drain_destroy(drain);
	drain = drain_create(&sampler);
	record.sample.abi = RECORD_REGISTERS_64;
	record.sample.regs.value[7] = BASE;
	record.sample.stack = (struct uw_stack){.base = BASE,
						.bytes = stack,
						.size = sizeof(stack),
						.requested = sizeof(stack)};
	sampler.config.deep_interval_ns = 7000000;
	for (int i = 0; i < SAMPLES; i++) {
		record.sample.period = i % 2 == 0 ? 1000000 : sampler.config.deep_interval_ns;
		put_record(&record, 0);
	}
	put_part(1, SAMPLES, 0, 1000, 1000);
	drain_keep_share(drain, UINT32_MAX / 4);
	drain_begin(drain, DRAIN_SETTLED);
	for (uint32_t i = 0; i < SAMPLES; i++) {
		ck_assert(drain_next(drain, &item));
		bool is_kept = sampling_keeps_stack(UINT32_MAX / 4, i, i + 1);
		ck_assert_int_eq(item->sample.choice == RECORD_LEFT_OUT, !is_kept);
		ck_assert_uint_eq(item->sample.stack.size, is_kept ? sizeof(stack) : 0);
		kept += is_kept;
	}
	ck_assert(drain_next(drain, &item));
	ck_assert(item->sample.choice != RECORD_LEFT_OUT);
	ck_assert_uint_eq(item->sample.stack.size, 1000);
	assert_none();
	ck_assert_uint_gt(kept, SAMPLES / 6);
	ck_assert_uint_lt(kept, SAMPLES / 3);
	drain_counts(drain, &counts);
	ck_assert_uint_eq(counts.left_out_bytes, (SAMPLES - kept) * sizeof(stack));
}
END_TEST

/* Loop: from the rings, through the queue. Ticks that are not drawn lose their stack and the
 * kernel's frames, are no samples, and do not ask the budget; what the budget leaves out loses its
 * stack only. */
START_TEST(draws_samples)
{
	enum { TICKS = 400 };
	static uint8_t stack[1000];
	static const uint64_t callchain[] = {0xffffffff81000010u};
	struct record record = {.kind = RECORD_SAMPLE};
	struct drain_counts counts;
	const struct record *item = NULL;
	uint32_t drawn = 0;
	uint32_t kept = 0;
	sampler.config.stack_size = sizeof(stack);
	sampler.config.sampling = sampling_choose(PROFILE_SAMPLING_THREADS, 10000000, 77);
	sampler.config.kernel = true;
	drain_destroy(drain);
	drain = drain_create(&sampler);
	record.sample.abi = RECORD_REGISTERS_64;
	record.sample.regs.value[7] = BASE;
	record.sample.period = 2500000;
	record.sample.callchain = (const uint8_t *)callchain;
	record.sample.callchain_length = 1;
	record.sample.stack = (struct uw_stack){.base = BASE,
						.bytes = stack,
						.size = sizeof(stack),
						.requested = sizeof(stack)};
	drain_keep_share(drain, UINT32_MAX / 2);
	for (int i = 0; i < TICKS; i++)
		put_record(&record, 0);
	if (_i == 1) {
		ck_assert_int_eq(drain_start(drain), 0);
		crowd(1);
		wake(1);
		wait_for_tail(0, ring_fixture_head(&rings[0]));
	}
	drain_begin(drain, DRAIN_SETTLED);
	for (uint32_t i = 0; i < TICKS; i++) {
		ck_assert(drain_next(drain, &item));
		bool is_drawn = sampling_keeps(&sampler.config.sampling, 2500000, i, i + 1);
		bool is_kept = is_drawn && sampling_keeps_stack(UINT32_MAX / 2, i, i + 1);
		ck_assert_int_eq(item->sample.choice, is_kept    ? RECORD_KEPT
						      : is_drawn ? RECORD_LEFT_OUT
								 : RECORD_TICK);
		ck_assert_int_eq(item->sample.choice == RECORD_LEFT_OUT, is_drawn && !is_kept);
		ck_assert_uint_eq(item->sample.stack.size, is_kept ? sizeof(stack) : 0);
		ck_assert_uint_eq(item->sample.callchain_length, is_drawn ? 1 : 0);
		drawn += is_drawn;
		kept += is_kept;
	}
	ck_assert_uint_gt(drawn, TICKS / 6);
	ck_assert_uint_lt(drawn, TICKS / 3);
	ck_assert_uint_gt(kept, drawn / 3);
	ck_assert_uint_lt(kept, drawn * 2 / 3);
	if (_i == 1)
		return;
	drain_counts(drain, &counts);
	ck_assert_uint_eq(counts.left_out_bytes, (TICKS - kept) * sizeof(stack));
}
END_TEST

/* Puts a record of a mapped file and waits until the thread tells of it. */
static void map_file(struct pollfd *polls, uint32_t inode)
{
	struct record record = {.kind = RECORD_MMAP,
				.mmap = {.path = "/bin/app", .length = 4096, .inode = inode}};
	const struct record *item = NULL;
	put_record(&record, 1);
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
	tcase_add_checked_fixture(tcase, set_up, tear_down);
	tcase_add_test(tcase, alone_in_place);
	tcase_add_test(tcase, beside_thread_in_place);
	tcase_add_test(tcase, losses_are_counted);
	tcase_add_test(tcase, unsettled);
	tcase_add_test(tcase, alone_behind);
	tcase_add_test(tcase, thread_makes_room);
	tcase_add_test(tcase, rest);
	tcase_add_test(tcase, given_up);
	tcase_add_test(tcase, parts);
	tcase_add_test(tcase, lost_without_refused);
	tcase_add_test(tcase, keeps_a_share);
	tcase_add_loop_test(tcase, draws_samples, 0, 2);
	tcase_add_test(tcase, mapped_file_is_told_soon);
	Suite *suite = suite_create("drain");
	suite_add_tcase(suite, tcase);
	return run_suite(suite);
}
