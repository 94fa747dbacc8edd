/* Threads of this process that block, as the rings tell, are looked at. */
#include "collector/machine/clock.h"
#include "collector/waits/observer.h"
#include "tests/collector/drain_fixture.h"
#include "tests/collector/ring_fixture.h"
#include "tests/support/suite.h"
#include <check.h>
#include <linux/futex.h>
#include <linux/perf_event.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { THREADS = 8 };

#define THRESHOLD_NS 3000000u

static struct observer *observer;
static int word;
static uint32_t tids[THREADS];
static pthread_t threads[THREADS];

static void *wait_for_word(void *tid)
{
	__atomic_store_n((uint32_t *)tid, (uint32_t)gettid(), __ATOMIC_RELEASE);
	while (__atomic_load_n(&word, __ATOMIC_ACQUIRE) == 0)
		syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 0, NULL, NULL, 0);
	return NULL;
}

static void setup(void)
{
	drain_fixture_set_up();
	observer = observer_create(THRESHOLD_NS, drain);
	ck_assert_ptr_nonnull(observer);
	word = 0;
	for (int i = 0; i < THREADS; i++) {
		tids[i] = 0;
		ck_assert_int_eq(pthread_create(&threads[i], NULL, wait_for_word, &tids[i]), 0);
	}
	for (int i = 0; i < THREADS; i++)
		while (__atomic_load_n(&tids[i], __ATOMIC_ACQUIRE) == 0)
			poll(NULL, 0, 1);
}

static void teardown(void)
{
	__atomic_store_n(&word, 1, __ATOMIC_RELEASE);
	syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, THREADS, NULL, NULL, 0);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	observer_destroy(observer);
	drain_fixture_tear_down();
}

static void put_switch(size_t ring, uint32_t tid, uint16_t misc, uint64_t time_ns)
{
	uint64_t words[] = {0, (uint64_t)tid << 32 | (uint32_t)getpid(), time_ns, 0};
	struct perf_event_header header = {PERF_RECORD_SWITCH, misc, sizeof(words)};
	memcpy(words, &header, sizeof(header));
	ring_fixture_put(&rings[ring], words, sizeof(words));
}

/* Lets the observer work until the drain has had so many looks; bits of the threads in *seen. */
static size_t take_looks(size_t wanted, uint32_t *seen)
{
	size_t count = 0;
	for (int i = 0; i < WAIT_MS && count < wanted; i++) {
		const struct record *record;
		drain_begin(drain, DRAIN_ALL);
		while (drain_next(drain, &record)) {
			if (record->kind != RECORD_LOOK)
				continue;
			ck_assert_uint_eq(record->source, RINGS);
			ck_assert_uint_eq(record->look.call.number, SYS_futex);
			ck_assert_uint_eq(record->look.call.arguments[0], (uintptr_t)&word);
			ck_assert_uint_le(record->look.call.begin_ns, record->time_ns);
			ck_assert_uint_gt(record->sample.stack.size, 0);
			for (int n = 0; n < THREADS; n++)
				*seen |= (record->tid == tids[n] ? 1u : 0u) << n;
			count++;
		}
		poll(NULL, 0, 1);
	}
	return count;
}

START_TEST(blocked_threads)
{
	uint32_t seen = 0;
	ck_assert_int_eq(observer_start(observer), 0);
	for (int i = 0; i < THREADS; i++)
		put_switch((size_t)i % RINGS, tids[i], PERF_RECORD_MISC_SWITCH_OUT, clock_now());
	ck_assert_uint_eq(take_looks(THREADS, &seen), THREADS);
	ck_assert_uint_eq(seen, (1u << THREADS) - 1);
	observer_stop(observer);
	struct observer_counts counts = observer_counts(observer);
	ck_assert_uint_eq(counts.reads, THREADS);
	ck_assert_uint_eq(counts.looks, THREADS);
	ck_assert_uint_eq(counts.missed, 0);
	ck_assert_uint_gt(counts.cpu_ns, 0);
}
END_TEST

/* What runs again, is preempted, or was blocked for less than the threshold is left alone. */
START_TEST(others)
{
	uint32_t seen = 0;
	uint64_t now = clock_now();
	put_switch(0, tids[0], PERF_RECORD_MISC_SWITCH_OUT, now - 20);
	put_switch(1, tids[0], 0, now - 10);
	put_switch(0, tids[1], PERF_RECORD_MISC_SWITCH_OUT | PERF_RECORD_MISC_SWITCH_OUT_PREEMPT,
		   now - 20);
	put_switch(1, tids[2], PERF_RECORD_MISC_SWITCH_OUT, now + 1000000000000);
	put_switch(1, tids[3], PERF_RECORD_MISC_SWITCH_OUT, now);
	ck_assert_int_eq(observer_start(observer), 0);
	ck_assert_uint_eq(take_looks(1, &seen), 1);
	ck_assert_uint_eq(seen, 1u << 3);
	observer_stop(observer);
	ck_assert_uint_eq(observer_counts(observer).reads, 1);
}
END_TEST

/* A thread of before the collection. */
START_TEST(added)
{
	uint32_t seen = 0;
	observer_add_thread(observer, (uint32_t)getpid(), tids[5]);
	ck_assert_int_eq(observer_start(observer), 0);
	ck_assert_uint_eq(take_looks(1, &seen), 1);
	ck_assert_uint_eq(seen, 1u << 5);
}
END_TEST

/* One that is gone costs a read. */
START_TEST(gone)
{
	uint32_t seen = 0;
	put_switch(0, 1u << 30, PERF_RECORD_MISC_SWITCH_OUT, clock_now() - 10 * THRESHOLD_NS);
	put_switch(0, tids[0], PERF_RECORD_MISC_SWITCH_OUT, clock_now());
	ck_assert_int_eq(observer_start(observer), 0);
	ck_assert_uint_eq(take_looks(1, &seen), 1);
	observer_stop(observer);
	ck_assert_uint_eq(observer_counts(observer).reads, 2);
	ck_assert_uint_eq(observer_counts(observer).looks, 1);
}
END_TEST

START_TEST(never_started)
{
	observer_stop(observer);
	ck_assert_uint_eq(observer_counts(observer).reads, 0);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("observer");
	TCase *tcase = tcase_create("observer");
	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_add_test(tcase, blocked_threads);
	tcase_add_test(tcase, others);
	tcase_add_test(tcase, added);
	tcase_add_test(tcase, gone);
	tcase_add_test(tcase, never_started);
	suite_add_tcase(suite, tcase);
	return run_suite(suite);
}
