/* The queue: records come out as they went in, in order, whatever has to wait. */
#include "collector/stream/queue.h"
#include "tests/support/suite.h"
#include <check.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum { STACK_MAX = 512 * 1024, TEXT_MAX = 60000, BASE = 0x7ffc0000 };

static struct queue *queue;
static uint8_t stack[STACK_MAX];
static char text[TEXT_MAX + 1];

static void set_up(void)
{
	for (size_t i = 0; i < sizeof(stack); i++)
		stack[i] = (uint8_t)(i * 7 + i / 256);
	memset(text, 'x', TEXT_MAX);
	queue = queue_create();
	ck_assert_ptr_nonnull(queue);
}

static void tear_down(void)
{
	queue_destroy(queue);
}

static struct record sample(uint32_t number, size_t stack_size)
{
	struct record record = {.kind = RECORD_SAMPLE, .tid = number};
	record.sample.stack = (struct uw_stack){.base = BASE,
						.bytes = stack,
						.size = stack_size,
						.requested = stack_size + 8};
	return record;
}

/* A record with nothing that could be left out; the size depends on the number. */
static struct record comm(uint32_t number)
{
	struct record record = {.kind = RECORD_COMM, .tid = number};
	record.comm.name = text + TEXT_MAX - (number * 7919ull) % TEXT_MAX;
	return record;
}

static void put(const struct record *record)
{
	ck_assert(queue_prepare(queue));
	struct record from = *record;
	from.source = record->tid % 3;
	queue_put(queue, &from);
}

static const struct record *take(uint32_t number)
{
	const struct record *entry = NULL;
	if (queue_take(queue, &entry) == QUEUE_EMPTY) {
		queue_flush(queue);
		ck_assert_int_eq(queue_take(queue, &entry), QUEUE_ENTRY);
	}
	ck_assert_ptr_nonnull(entry);
	ck_assert_uint_eq(entry->tid, number);
	ck_assert_uint_eq(entry->source, number % 3);
	return entry;
}

static void assert_state(enum queue_state expected)
{
	const struct record *entry;
	ck_assert_int_eq(queue_take(queue, &entry), expected);
}

static bool is_readable(void)
{
	struct pollfd poll_fd = {.fd = queue_fd(queue), .events = POLLIN};
	return poll(&poll_fd, 1, 0) == 1;
}

static void assert_whole(const struct record *entry, size_t size)
{
	ck_assert_int_ne(entry->sample.choice, RECORD_LEFT_OUT);
	ck_assert_uint_eq(entry->sample.stack.base, BASE);
	ck_assert_uint_eq(entry->sample.stack.size, size);
	ck_assert_uint_eq(entry->sample.stack.requested, size + 8);
	ck_assert_mem_eq(entry->sample.stack.bytes, stack, size);
}

static void assert_without_stack(const struct record *entry)
{
	ck_assert_int_eq(entry->sample.choice, RECORD_LEFT_OUT);
	ck_assert_uint_eq(entry->sample.stack.size, 0);
}

START_TEST(empty)
{
	ck_assert(queue_is_empty(queue));
	assert_state(QUEUE_EMPTY);
	ck_assert(!is_readable());
	queue_flush(queue);
	ck_assert(!is_readable());
	queue_wake(queue);
	ck_assert(is_readable());
	assert_state(QUEUE_EMPTY);
	ck_assert(!is_readable());
	queue_close(queue);
	ck_assert(is_readable());
	assert_state(QUEUE_END);
	assert_state(QUEUE_END);
}
END_TEST

START_TEST(every_kind)
{
	uint64_t chain[] = {1, 2, 3};
	char path[] = "/bin/true";
	char name[] = "true";
	struct record first = sample(0, 100);
	first.sample.callchain = (const uint8_t *)chain;
	first.sample.callchain_length = 3;
	struct record map = {.kind = RECORD_MMAP, .tid = 1, .mmap = {.start = 9, .path = path}};
	struct record comm_record = {.kind = RECORD_COMM, .tid = 2, .comm = {name, true}};
	struct record fork = {.kind = RECORD_FORK, .tid = 3, .fork = {4, 5}};
	struct record lost = {.kind = RECORD_LOST, .tid = 4, .lost = 6};
	put(&first);
	put(&map);
	put(&comm_record);
	put(&fork);
	put(&lost);
	ck_assert(!queue_is_empty(queue));
	assert_state(QUEUE_EMPTY); /* not handed over yet */
	queue_flush(queue);
	ck_assert(is_readable());
	memset(chain, 0, sizeof(chain));
	memset(path, 0, sizeof(path));
	memset(name, 0, sizeof(name));

	const struct record *entry = take(0);
	assert_whole(entry, 100);
	memcpy(chain, entry->sample.callchain, sizeof(chain));
	for (uint64_t i = 0; i < 3; i++)
		ck_assert_uint_eq(chain[i], i + 1);
	ck_assert_uint_eq(entry->sample.callchain_length, 3);
	entry = take(1);
	ck_assert_str_eq(entry->mmap.path, "/bin/true");
	ck_assert_uint_eq(entry->mmap.start, 9);
	entry = take(2);
	ck_assert_str_eq(entry->comm.name, "true");
	ck_assert(entry->comm.exec);
	ck_assert_uint_eq(take(3)->fork.parent_tid, 5);
	ck_assert_uint_eq(take(4)->lost, 6);
	assert_state(QUEUE_EMPTY);
	ck_assert(queue_is_empty(queue));
}
END_TEST

/* The longest callchain and the largest stack at once. */
START_TEST(largest)
{
	for (uint32_t i = 0; i < 5; i++) {
		struct record record = sample(i, STACK_MAX);
		record.sample.callchain = stack;
		record.sample.callchain_length = UINT16_MAX / 8;
		put(&record);
	}
	queue_close(queue);
	for (uint32_t i = 0; i < 5; i++) {
		const struct record *entry = take(i);
		assert_whole(entry, STACK_MAX);
		ck_assert_mem_eq(entry->sample.callchain, stack, UINT16_MAX / 8 * 8);
	}
	assert_state(QUEUE_END);
}
END_TEST

/* Far more goes through than the queue holds at once. */
START_TEST(wraps)
{
	uint32_t put_count = 0;
	uint32_t taken = 0;
	while (taken < 2000) {
		for (int i = 0; i < 7; i++) {
			struct record record = sample(put_count, put_count * 37 % 90000);
			put(&record);
			put_count++;
		}
		queue_flush(queue);
		for (; taken < put_count; taken++)
			assert_whole(take(taken), taken * 37 % 90000);
	}
	assert_state(QUEUE_EMPTY);
	ck_assert_uint_eq(queue_left_out_bytes(queue), 0);
}
END_TEST

/* From half of the chunks until a quarter, only the stacks are missing. */
START_TEST(half_full)
{
	enum { SIZE = 400000, PER_CHUNK = QUEUE_CHUNK_SIZE / SIZE };
	uint32_t count = 0;
	struct record record = sample(0, SIZE);
	for (; queue_left_out_bytes(queue) == 0; count++) {
		record.tid = count;
		put(&record);
		ck_assert_uint_le(count, PER_CHUNK * QUEUE_CHUNKS);
	}
	ck_assert_uint_eq(queue_left_out_bytes(queue), SIZE);
	ck_assert_uint_ge(count, PER_CHUNK * QUEUE_CHUNKS / 2);
	for (uint32_t i = 0; i < count - 1; i++) {
		assert_whole(take(i), SIZE);
		if (i != count / 4 && i != count - 2)
			continue;
		/* With three quarters of those still waiting, and with none. */
		record.tid = count + (i != count / 4);
		put(&record);
	}
	queue_close(queue);
	assert_without_stack(take(count - 1));
	assert_without_stack(take(count));
	assert_whole(take(count + 1), SIZE);
	ck_assert_uint_eq(queue_left_out_bytes(queue), 2 * SIZE);
}
END_TEST

/* What was left out before it came here. */
START_TEST(says_what_was_left_out)
{
	struct record record = sample(0, 1000);
	struct record other = comm(1);
	ck_assert_uint_eq(record_leave_out(&record), 1000);
	put(&record);
	put(&other);
	record = sample(2, 1000);
	record.sample.choice = RECORD_KEPT;
	put(&record);
	queue_close(queue);
	assert_without_stack(take(0));
	ck_assert_int_eq(take(1)->kind, RECORD_COMM);
	assert_whole(take(2), 1000);
	ck_assert_uint_eq(queue_left_out_bytes(queue), 0);
}
END_TEST

/* Every sample is in it, and room comes back with the first chunk that is taken. */
START_TEST(full)
{
	uint32_t count = 0;
	for (; queue_prepare(queue); count++) {
		struct record record = sample(count, 60000);
		record.source = count % 3;
		queue_put(queue, &record);
	}
	ck_assert_uint_gt(count, 40000);
	uint32_t taken = 0;
	for (; !queue_prepare(queue); taken++)
		take(taken);
	ck_assert_uint_le(taken, 2 * QUEUE_CHUNK_SIZE / 60000 + 2);
	queue_close(queue);
	for (; taken < count; taken++)
		take(taken);
	assert_state(QUEUE_END);
}
END_TEST

struct putter {
	uint32_t count;
	atomic_uint waits;
	bool abandoned;
};

static void *put_all(void *user)
{
	struct putter *putter = user;
	for (uint32_t i = 0; i < putter->count; i++) {
		while (!queue_prepare(queue)) {
			atomic_fetch_add(&putter->waits, 1);
			if (queue_wait(queue))
				continue;
			putter->abandoned = true;
			return NULL;
		}
		struct record record = comm(i);
		record.source = i % 3;
		queue_put(queue, &record);
		if (i % 64 == 0)
			queue_flush(queue);
	}
	queue_close(queue);
	return NULL;
}

/* What is put is five times what the queue holds. */
static void start_putting(struct putter *putter, pthread_t *thread)
{
	*putter = (struct putter){.count = 10000};
	ck_assert_int_eq(pthread_create(thread, NULL, put_all, putter), 0);
	while (atomic_load(&putter->waits) == 0)
		poll(NULL, 0, 1);
}

START_TEST(two_threads)
{
	struct putter putter;
	pthread_t thread;
	uint32_t taken = 0;
	enum queue_state state;
	const struct record *entry;
	start_putting(&putter, &thread);
	while ((state = queue_take(queue, &entry)) != QUEUE_END) {
		if (state == QUEUE_EMPTY) {
			struct pollfd poll_fd = {.fd = queue_fd(queue), .events = POLLIN};
			ck_assert_int_eq(poll(&poll_fd, 1, 10000), 1);
			continue;
		}
		ck_assert_uint_eq(entry->tid, taken);
		ck_assert_uint_eq(strlen(entry->comm.name), taken * 7919ull % TEXT_MAX);
		taken++;
	}
	pthread_join(thread, NULL);
	ck_assert_uint_eq(taken, putter.count);
}
END_TEST

START_TEST(abandoned)
{
	struct putter putter;
	pthread_t thread;
	start_putting(&putter, &thread);
	queue_abandon(queue);
	pthread_join(thread, NULL);
	ck_assert(putter.abandoned);
}
END_TEST

int main(void)
{
	TCase *tcase = tcase_create("queue");
	tcase_set_timeout(tcase, 60);
	tcase_add_checked_fixture(tcase, set_up, tear_down);
	tcase_add_test(tcase, empty);
	tcase_add_test(tcase, every_kind);
	tcase_add_test(tcase, largest);
	tcase_add_test(tcase, wraps);
	tcase_add_test(tcase, half_full);
	tcase_add_test(tcase, says_what_was_left_out);
	tcase_add_test(tcase, full);
	tcase_add_test(tcase, two_threads);
	tcase_add_test(tcase, abandoned);
	Suite *suite = suite_create("queue");
	suite_add_tcase(suite, tcase);
	return run_suite(suite);
}
