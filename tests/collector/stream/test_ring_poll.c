/* Polls of rings that wake for nothing. A signalfd stands for a ring: each signal of the process
 * wakes who polls it, wanted or not. */
#include "collector/stream/ring_poll.h"
#include "tests/support/suite.h"
#include <check.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <time.h>
#include <unistd.h>

enum { WAIT_MS = 50, PATIENCE_MS = 8, TRIES = 200, MB = 1 << 20 };

static struct pollfd polls[2]; /* the stop event, a ring */
static atomic_bool is_over;

/* Signals that nobody polls for. */
static void *disturb(void *signals)
{
	const struct timespec pause = {.tv_nsec = 200000};
	int signal;
	while (!is_over) {
		pthread_kill(pthread_self(), SIGUSR1);
		sigwait(signals, &signal);
		nanosleep(&pause, NULL);
	}
	return NULL;
}

static void set_up(void)
{
	sigset_t wanted;
	sigemptyset(&wanted);
	sigaddset(&wanted, SIGUSR2);
	polls[0] = (struct pollfd){.fd = eventfd(0, EFD_CLOEXEC), .events = POLLIN};
	polls[1] = (struct pollfd){.fd = signalfd(-1, &wanted, SFD_CLOEXEC), .events = POLLIN};
	ck_assert_int_ge(polls[0].fd, 0);
	ck_assert_int_ge(polls[1].fd, 0);
}

static void tear_down(void)
{
	close(polls[0].fd);
	close(polls[1].fd);
}

static int poll_once(struct ring_poll *rings, int *wait_ms)
{
	*wait_ms = WAIT_MS;
	return ring_poll(rings, polls, 2, wait_ms);
}

/* Polls beside signals, until that is noticed. */
static void poll_noise(struct ring_poll *rings)
{
	pthread_t thread;
	sigset_t signals;
	int wait_ms;
	sigemptyset(&signals);
	sigaddset(&signals, SIGUSR1);
	ck_assert_int_eq(pthread_sigmask(SIG_BLOCK, &signals, NULL), 0);
	is_over = false;
	ck_assert_int_eq(pthread_create(&thread, NULL, disturb, &signals), 0);
	for (int i = 0; i < TRIES && !rings->is_noisy; i++)
		ck_assert_int_eq(poll_once(rings, &wait_ms), 0);
	is_over = true;
	pthread_join(thread, NULL);
}

START_TEST(leaves_noisy_rings_out)
{
	struct ring_poll rings = {.patience_ms = PATIENCE_MS};
	eventfd_t stop;
	int wait_ms;
	poll_noise(&rings);
	ck_assert(rings.is_noisy);
	int blind_ms = rings.blind_ms;
	ck_assert_int_gt(blind_ms, 2 * PATIENCE_MS);
	ck_assert_int_eq(kill(getpid(), SIGUSR2), 0); /* the ring has something */
	ck_assert_int_eq(poll_once(&rings, &wait_ms), 0);
	ck_assert_int_eq(wait_ms, PATIENCE_MS);
	ck_assert_int_eq(rings.blind_ms, blind_ms - PATIENCE_MS);
	ck_assert_int_eq(eventfd_write(polls[0].fd, 1), 0);
	ck_assert_int_eq(poll_once(&rings, &wait_ms), 1);
	ck_assert_int_ne(polls[0].revents, 0);
	ck_assert_int_eq(eventfd_read(polls[0].fd, &stop), 0);
	while (rings.blind_ms > 0)
		ck_assert_int_eq(poll_once(&rings, &wait_ms), 0);
	ck_assert_int_eq(poll_once(&rings, &wait_ms), 1); /* the ring is polled again, */
	ck_assert(!rings.is_noisy);
	ck_assert_int_eq(wait_ms, PATIENCE_MS); /* for a short time at first */
	ck_assert_int_eq(poll_once(&rings, &wait_ms), 1);
	ck_assert_int_eq(wait_ms, WAIT_MS);
}
END_TEST

START_TEST(keeps_polling_small_rings)
{
	struct ring_poll rings = {.patience_ms = 0};
	int wait_ms;
	for (int i = 0; i < 3; i++)
		ck_assert_int_eq(poll_once(&rings, &wait_ms), 0);
	ck_assert_int_eq(kill(getpid(), SIGUSR2), 0);
	ck_assert_int_eq(poll_once(&rings, &wait_ms), 1);
	ck_assert_int_eq(wait_ms, WAIT_MS);
	ck_assert_int_eq(rings.blind_ms, 0);
}
END_TEST

START_TEST(patience_by_size)
{
	ck_assert_int_eq(ring_poll_patience_ms(MB / 2), 0);
	ck_assert_int_eq(ring_poll_patience_ms((size_t)4 * MB), 0);
	ck_assert_int_eq(ring_poll_patience_ms((size_t)8 * MB), 4);
	ck_assert_int_eq(ring_poll_patience_ms((size_t)16 * MB), 8);
	ck_assert_int_eq(ring_poll_patience_ms((size_t)64 * MB), 10);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("ring_poll");
	TCase *tcase = tcase_create("ring_poll");
	sigset_t signals;
	sigemptyset(&signals);
	sigaddset(&signals, SIGUSR2);
	sigprocmask(SIG_BLOCK, &signals, NULL);
	tcase_set_timeout(tcase, 60);
	tcase_add_checked_fixture(tcase, set_up, tear_down);
	tcase_add_test(tcase, leaves_noisy_rings_out);
	tcase_add_test(tcase, keeps_polling_small_rings);
	tcase_add_test(tcase, patience_by_size);
	suite_add_tcase(suite, tcase);
	return run_suite(suite);
}
