/* The end of draining: samples whose last parts never come are handed out as far as they came, even
 * where their rings are more than the queue has room for. */
#include "collector/perf/sampler.h"
#include "collector/stream/drain.h"
#include "collector/stream/queue.h"
#include "tests/collector/record_encode.h"
#include "tests/collector/ring_fixture.h"
#include "tests/support/suite.h"
#include <check.h>
#include <dirent.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

enum {
	RING_SIZE = 128 * 1024,
	CALLCHAIN_SIZE = 60000, /* bytes, which go with a sample even where its stack is left out */
	PART_SIZE = 64,
	BASE = 0x7ffc0000,
	RINGS = QUEUE_CHUNKS * (QUEUE_CHUNK_SIZE / CALLCHAIN_SIZE + 1)
};

static struct ring rings[RINGS];
static struct sampler sampler;
static struct drain *drain;
static int wake_fd; /* of all rings: nothing wakes the thread */

static void set_up(void)
{
	wake_fd = eventfd(0, EFD_CLOEXEC);
	ck_assert_int_ge(wake_fd, 0);
	for (size_t i = 0; i < RINGS; i++) {
		ring_fixture_init(&rings[i], RING_SIZE, 0);
		rings[i].fd = wake_fd;
	}
	sampler = (struct sampler){.cpus = {.count = RINGS}, .rings = rings};
	sampler.config.raw = sampler.config.kernel = true;
	drain = drain_create(&sampler);
	ck_assert_ptr_nonnull(drain);
}

static void tear_down(void)
{
	drain_destroy(drain);
	for (size_t i = 0; i < RINGS; i++)
		ring_finish(&rings[i]);
	close(wake_fd);
}

/* The first half of a sample, or the second. Its ring says which thread it is of. */
static void put_half(size_t ring, bool second, uint64_t time_ns)
{
	static uint8_t callchain[CALLCHAIN_SIZE];
	static uint8_t bytes[UINT16_MAX];
	uint8_t stack[PART_SIZE];
	struct record record = {.kind = RECORD_SAMPLE, .tid = (uint32_t)ring, .time_ns = time_ns};
	struct record_format format = event_format(&sampler.config);
	memset(callchain, (int)(ring % 251), sizeof(callchain));
	memset(stack, (int)(ring % 241), sizeof(stack));
	record.sample.abi = RECORD_REGISTERS_64;
	record.sample.regs.value[7] = BASE;
	record.sample.callchain = callchain;
	record.sample.callchain_length = CALLCHAIN_SIZE / sizeof(uint64_t);
	record.sample.stack = (struct uw_stack){.base = BASE,
						.bytes = stack,
						.size = PART_SIZE,
						.requested = PART_SIZE};
	record.sample.part =
		(struct record_part){.offset = second ? PART_SIZE : 0, .total = 2 * PART_SIZE};
	ring_fixture_put(&rings[ring], bytes,
			 record_encode(&format, &record, bytes, sizeof(bytes)));
}

static void assert_all(const void *bytes, size_t size, size_t value)
{
	static uint8_t expected[CALLCHAIN_SIZE];
	memset(expected, (int)value, size);
	ck_assert(memcmp(bytes, expected, size) == 0);
}

static void assert_sample(const struct record *item, size_t ring, size_t stack_size)
{
	const struct record_sample *sample = &item->sample;
	ck_assert_int_eq(item->kind, RECORD_SAMPLE);
	ck_assert_uint_eq(item->tid, ring);
	ck_assert_uint_eq(item->source, ring);
	ck_assert_uint_eq(sample->callchain_length, CALLCHAIN_SIZE / sizeof(uint64_t));
	assert_all(sample->callchain, CALLCHAIN_SIZE, ring % 251);
	ck_assert_uint_eq(sample->stack.size,
			  item->sample.choice == RECORD_LEFT_OUT ? 0 : stack_size);
	assert_all(sample->stack.bytes, sample->stack.size, ring % 241);
}

/* Loop: without the thread, and with it. */
START_TEST(more_than_the_queue_holds)
{
	const struct record *item = NULL;
	size_t left_out = 0;
	if (_i == 1)
		ck_assert_int_eq(drain_start(drain), 0);
	for (size_t i = 0; i < RINGS; i++)
		put_half(i, false, i + 1);
	drain_begin(drain, DRAIN_ALL);
	ck_assert(!drain_next(drain, &item)); /* the other half may come */
	drain_begin(drain, DRAIN_REST);
	for (size_t i = 0; i < RINGS; i++) {
		ck_assert(drain_next(drain, &item));
		assert_sample(item, i, PART_SIZE);
		left_out += item->sample.choice == RECORD_LEFT_OUT;
	}
	ck_assert(!drain_next(drain, &item));
	ck_assert_uint_lt(left_out, RINGS / 3 * 2);
}
END_TEST

static void put_exit(size_t ring, uint64_t time_ns)
{
	uint8_t bytes[256];
	struct record record = {.kind = RECORD_EXIT, .time_ns = time_ns};
	struct record_format format = event_format(&sampler.config);
	ring_fixture_put(&rings[ring], bytes,
			 record_encode(&format, &record, bytes, sizeof(bytes)));
}

/* Only what is unfinished once the rings are empty. */
START_TEST(after_the_rings)
{
	static const size_t unfinished[] = {0, 7, RINGS - 1};
	const struct record *item = NULL;
	for (size_t i = 0; i < 3; i++)
		put_half(unfinished[i], false, i + 1);
	put_half(5, false, 4);
	put_exit(3, 5);
	put_half(5, true, 6);
	drain_begin(drain, DRAIN_REST);
	ck_assert(drain_next(drain, &item));
	ck_assert_int_eq(item->kind, RECORD_EXIT);
	ck_assert(drain_next(drain, &item));
	assert_sample(item, 5, 2 * PART_SIZE);
	for (size_t i = 0; i < 3; i++) {
		ck_assert(drain_next(drain, &item));
		assert_sample(item, unfinished[i], PART_SIZE);
		ck_assert(item->sample.choice != RECORD_LEFT_OUT);
	}
	ck_assert(!drain_next(drain, &item));
}
END_TEST

static size_t count_entries(const char *directory)
{
	size_t count = 0;
	DIR *stream = opendir(directory);
	ck_assert_ptr_nonnull(stream);
	while (readdir(stream))
		count++;
	closedir(stream);
	return count;
}

/* Neither a thread nor a descriptor, with a thread and without. */
START_TEST(nothing_is_left)
{
	size_t descriptors = count_entries("/proc/self/fd");
	size_t threads = count_entries("/proc/self/task");
	struct drain *other = drain_create(&sampler);
	ck_assert_ptr_nonnull(other);
	if (_i != 0)
		ck_assert_int_eq(drain_start(other), 0);
	drain_destroy(other);
	ck_assert_uint_eq(count_entries("/proc/self/fd"), descriptors);
	/* A thread that was joined may be seen a moment longer. */
	while (count_entries("/proc/self/task") != threads)
		poll(NULL, 0, 1);
	drain_destroy(NULL);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("drain_rest");
	TCase *tcase = tcase_create("drain_rest");
	tcase_set_timeout(tcase, 60);
	tcase_add_checked_fixture(tcase, set_up, tear_down);
	tcase_add_loop_test(tcase, more_than_the_queue_holds, 0, 2);
	tcase_add_test(tcase, after_the_rings);
	tcase_add_loop_test(tcase, nothing_is_left, 0, 2);
	suite_add_tcase(suite, tcase);
	return run_suite(suite);
}
