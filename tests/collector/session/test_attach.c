/* Attaching to this very process: which threads are opened, and what comes in between. The sampler
 * and the tracker are fakes. */
#include "collector/session/attach.h"
#include "tests/support/suite.h"
#include <check.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

enum { THREADS = 6, KNOWN_MAX = 64 };

static pthread_t threads[THREADS];
static pthread_barrier_t begun;
static pthread_barrier_t ended;

static struct sampler_thread last;
static struct sampler sampler = {.threads = &last, .thread_count = 1};
static pid_t opened[KNOWN_MAX];
static size_t opened_count;
static pid_t inherited; /* known without being opened; 0: none */

/* What came in between. */
static size_t settled;
static size_t all;
static size_t stop_after; /* calls; 0: never */
static size_t opened_at_stop;
static size_t released;
static size_t opened_at_release;

int sampler_add(struct sampler *to, pid_t pid, pid_t tid, struct failure *failure)
{
	(void)failure;
	ck_assert_int_eq(pid, getpid());
	ck_assert_uint_lt(opened_count, KNOWN_MAX);
	ck_assert_ptr_eq(to, &sampler);
	opened[opened_count++] = tid;
	return 0;
}

void sampler_release(const struct sampler *of)
{
	ck_assert_ptr_eq(of, &sampler);
	released++;
	opened_at_release = opened_count;
}

void sampler_drop(struct sampler *from, size_t index)
{
	(void)from;
	(void)index;
}

bool tracker_knows(const struct tracker *tracker, pid_t tid)
{
	(void)tracker;
	for (size_t i = 0; i < opened_count; i++)
		if (opened[i] == tid)
			return true;
	return tid == inherited;
}

uint32_t tracker_family(const struct tracker *tracker, pid_t tid)
{
	(void)tracker;
	(void)tid;
	return UINT32_MAX;
}

int tracker_add_thread(struct tracker *tracker, pid_t pid, pid_t tid, bool attach)
{
	(void)tracker;
	(void)pid;
	(void)tid;
	return attach ? 0 : -1;
}

static bool meanwhile(void *user, enum drain_extent extent)
{
	ck_assert_ptr_eq(user, &sampler);
	settled += extent == DRAIN_SETTLED;
	all += extent == DRAIN_ALL;
	opened_at_stop = opened_count;
	return stop_after == 0 || settled + all < stop_after;
}

static void *wait_for_end(void *user)
{
	pthread_barrier_wait(&begun);
	pthread_barrier_wait(&ended);
	return user;
}

static void set_up(void)
{
	pthread_barrier_init(&begun, NULL, THREADS + 1);
	pthread_barrier_init(&ended, NULL, THREADS + 1);
	for (size_t i = 0; i < THREADS; i++)
		ck_assert_int_eq(pthread_create(&threads[i], NULL, wait_for_end, NULL), 0);
	pthread_barrier_wait(&begun);
	opened_count = settled = all = stop_after = released = 0;
	inherited = 0;
}

static void tear_down(void)
{
	pthread_barrier_wait(&ended);
	for (size_t i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
}

static int attach(void)
{
	struct failure failure = {0};
	return attach_process(&sampler, NULL, getpid(), meanwhile, &sampler, &failure);
}

/* Each thread is followed by a look, and the list is read again until nothing new is in it. */
START_TEST(looks_after_each_thread)
{
	ck_assert_int_eq(attach(), 0);
	ck_assert_uint_eq(opened_count, THREADS + 1);
	ck_assert_uint_eq(settled, THREADS + 1);
	ck_assert_uint_eq(all, 1);
	/* Samples come when all threads are open. */
	ck_assert_uint_eq(released, 1);
	ck_assert_uint_eq(opened_at_release, THREADS + 1);
}
END_TEST

START_TEST(inherited_are_not_opened)
{
	inherited = getpid();
	ck_assert_int_eq(attach(), 0);
	ck_assert_uint_eq(opened_count, THREADS);
	ck_assert_uint_eq(settled, THREADS);
}
END_TEST

/* Ctrl-C, or the end of the duration: no further thread is opened. */
START_TEST(ends_between_threads)
{
	stop_after = 3;
	ck_assert_int_eq(attach(), 1);
	ck_assert_uint_eq(opened_count, 3);
	ck_assert_uint_eq(opened_at_stop, 3);
	ck_assert_uint_eq(all, 0);
	ck_assert_uint_eq(released, 0);
}
END_TEST

START_TEST(ends_between_lists)
{
	stop_after = THREADS + 2;
	ck_assert_int_eq(attach(), 1);
	ck_assert_uint_eq(opened_count, THREADS + 1);
	ck_assert_uint_eq(all, 1);
}
END_TEST

int main(void)
{
	TCase *tcase = tcase_create("attach");
	tcase_add_checked_fixture(tcase, set_up, tear_down);
	tcase_add_test(tcase, looks_after_each_thread);
	tcase_add_test(tcase, inherited_are_not_opened);
	tcase_add_test(tcase, ends_between_threads);
	tcase_add_test(tcase, ends_between_lists);
	Suite *suite = suite_create("attach");
	suite_add_tcase(suite, tcase);
	return run_suite(suite);
}
