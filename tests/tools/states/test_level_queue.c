/* Changes come roughly in order, and segments leave in order. */
#include "tests/support/suite.h"
#include "tools/states/level_queue.h"
#include <check.h>
#include <stdlib.h>
#include <string.h>

#define MS      UINT64_C(1000000)
#define WINDOW  (1000 * MS)
#define SECONDS 5u

enum { SEEN_MAX = 4096 };

struct seen {
	struct level_segment segments[SEEN_MAX];
	size_t count;
	uint64_t at_ns;
};

static struct seen seen;

static void see(const struct level_segment *segments, size_t count, void *user)
{
	struct seen *all = user;
	ck_assert_uint_gt(count, 0);
	for (size_t i = 0; i < count; i++) {
		ck_assert_uint_eq(segments[i].start_ns, all->at_ns);
		ck_assert_uint_gt(segments[i].end_ns, segments[i].start_ns);
		all->at_ns = segments[i].end_ns;
		ck_assert_uint_lt(all->count, SEEN_MAX);
		all->segments[all->count++] = segments[i];
	}
}

static struct level_queue *begin(uint64_t start_ns)
{
	memset(&seen, 0, sizeof(seen));
	seen.at_ns = start_ns;
	return level_queue_create(start_ns, WINDOW, see, &seen);
}

static void expect(size_t at, uint64_t end_ns, uint32_t running, uint32_t ready)
{
	ck_assert_uint_lt(at, seen.count);
	ck_assert_uint_eq(seen.segments[at].end_ns, end_ns);
	ck_assert_uint_eq(seen.segments[at].running, running);
	ck_assert_uint_eq(seen.segments[at].ready, ready);
}

START_TEST(empty)
{
	struct level_queue *queue = begin(7 * MS);
	level_queue_advance(queue, 3 * MS);
	level_queue_end(queue, 7 * MS);
	ck_assert_uint_eq(seen.count, 0);
	level_queue_destroy(queue);
	queue = begin(7 * MS);
	level_queue_end(queue, 9 * MS);
	expect(0, 9 * MS, 0, 0);
	level_queue_destroy(queue);
	level_queue_destroy(NULL);
}
END_TEST

/* Out of order within the window, and equal times. */
START_TEST(in_order)
{
	struct level_queue *queue = begin(5);
	level_queue_add(queue, 900 * MS, LEVEL_RUN_BEGINS);
	level_queue_add(queue, 901 * MS, LEVEL_RUN_ENDS);
	level_queue_add(queue, 100 * MS, LEVEL_RUN_BEGINS);
	level_queue_add(queue, 900 * MS, LEVEL_RUN_ENDS);
	level_queue_add(queue, 50 * MS, LEVEL_READY_BEGINS);
	level_queue_add(queue, 100 * MS, LEVEL_READY_ENDS);
	level_queue_end(queue, 2000 * MS);
	ck_assert_uint_eq(seen.count, 5);
	expect(0, 50 * MS, 0, 0);
	expect(1, 100 * MS, 0, 1);
	expect(2, 900 * MS, 1, 0);
	expect(3, 901 * MS, 1, 0);
	expect(4, 2000 * MS, 0, 0);
	level_queue_destroy(queue);
}
END_TEST

/* Hours without a change, and years, cost nothing. */
START_TEST(far_apart)
{
	struct level_queue *queue = begin(0);
	const uint64_t year = UINT64_C(31557600) * 1000 * MS;
	level_queue_add(queue, 1 * MS, LEVEL_RUN_BEGINS);
	level_queue_add(queue, 2 * MS, LEVEL_RUN_ENDS);
	level_queue_add(queue, 500 * year, LEVEL_RUN_BEGINS);
	level_queue_add(queue, 500 * year + 3, LEVEL_RUN_ENDS);
	level_queue_end(queue, 500 * year + 4);
	ck_assert_uint_eq(seen.count, 5);
	expect(3, 500 * year + 3, 1, 0);
	expect(4, 500 * year + 4, 0, 0);
	level_queue_destroy(queue);
}
END_TEST

/* Too late: counts from what has not left yet. */
START_TEST(late)
{
	struct level_queue *queue = begin(0);
	level_queue_advance(queue, 100 * MS);
	ck_assert(level_queue_is_past(queue, 10 * MS));
	ck_assert(!level_queue_is_past(queue, 100 * MS));
	level_queue_add(queue, 10 * MS, LEVEL_RUN_BEGINS);
	level_queue_add(queue, 200 * MS, LEVEL_RUN_ENDS);
	level_queue_end(queue, 300 * MS);
	ck_assert_uint_eq(seen.count, 3);
	ck_assert_uint_le(seen.segments[0].end_ns, 100 * MS);
	ck_assert_uint_gt(seen.segments[0].end_ns, 98 * MS);
	expect(1, 200 * MS, 1, 0);
	level_queue_destroy(queue);
}
END_TEST

START_TEST(known_before)
{
	static const uint64_t known[] = {3 * MS, 3 * MS, 4000 * MS};
	struct level_queue *queue = begin(1 * MS);
	level_queue_know(queue, known, 3);
	level_queue_advance(queue, 2000 * MS);
	level_queue_add(queue, 2500 * MS, LEVEL_READY_ENDS);
	level_queue_add(queue, 2600 * MS, LEVEL_READY_ENDS);
	level_queue_add(queue, 6000 * MS, LEVEL_READY_ENDS);
	level_queue_end(queue, 7000 * MS);
	ck_assert_uint_eq(seen.count, 6);
	expect(0, 3 * MS, 0, 0);
	expect(1, 2500 * MS, 0, 2);
	expect(2, 2600 * MS, 0, 1);
	expect(3, 4000 * MS, 0, 0);
	expect(4, 6000 * MS, 0, 1);
	expect(5, 7000 * MS, 0, 0);
	level_queue_destroy(queue);
}
END_TEST

/* Damaged files end what never began. */
START_TEST(never_negative)
{
	struct level_queue *queue = begin(0);
	level_queue_add(queue, 1 * MS, LEVEL_RUN_ENDS);
	level_queue_add(queue, 2 * MS, LEVEL_READY_ENDS);
	level_queue_end(queue, 3 * MS);
	expect(1, 2 * MS, 0, 0);
	expect(2, 3 * MS, 0, 0);
	level_queue_destroy(queue);
}
END_TEST

struct sums {
	uint64_t at_ns, running_ns, ready_ns;
};

static void sum(const struct level_segment *segments, size_t count, void *user)
{
	struct sums *sums = user;
	for (size_t i = 0; i < count; i++) {
		uint64_t ns = segments[i].end_ns - segments[i].start_ns;
		/* An assertion each would take a second in all. */
		if (segments[i].start_ns != sums->at_ns)
			ck_abort_msg("a gap");
		sums->at_ns = segments[i].end_ns;
		sums->running_ns += ns * segments[i].running;
		sums->ready_ns += ns * segments[i].ready;
	}
}

/* Buckets of all sizes: what went in comes out. */
START_TEST(many)
{
	struct sums sums = {0}, wanted = {0};
	struct level_queue *queue = level_queue_create(0, WINDOW, sum, &sums);
	srandom(1);
	for (unsigned i = 0; i < 200000; i++) {
		uint64_t end = (uint64_t)i * (SECONDS * WINDOW / 200000) + WINDOW;
		uint64_t length = (uint64_t)random() % (i % 100 == 0 ? WINDOW : MS);
		bool is_ready = i % 3 == 0;
		level_queue_add(queue, end - length,
				is_ready ? LEVEL_READY_BEGINS : LEVEL_RUN_BEGINS);
		level_queue_add(queue, end, is_ready ? LEVEL_READY_ENDS : LEVEL_RUN_ENDS);
		*(is_ready ? &wanted.ready_ns : &wanted.running_ns) += length;
		if (i % 1000 == 0)
			level_queue_advance(queue, end - WINDOW);
	}
	level_queue_end(queue, 2 * SECONDS * WINDOW);
	ck_assert_uint_eq(sums.running_ns, wanted.running_ns);
	ck_assert_uint_eq(sums.ready_ns, wanted.ready_ns);
	ck_assert_uint_eq(sums.at_ns, 2 * SECONDS * WINDOW);
	level_queue_destroy(queue);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("level queue");
	TCase *tcase = tcase_create("level queue");

	tcase_set_timeout(tcase, 60);
	tcase_add_test(tcase, empty);
	tcase_add_test(tcase, in_order);
	tcase_add_test(tcase, far_apart);
	tcase_add_test(tcase, late);
	tcase_add_test(tcase, known_before);
	tcase_add_test(tcase, never_negative);
	tcase_add_test(tcase, many);
	suite_add_tcase(suite, tcase);
	return run_suite(suite);
}
