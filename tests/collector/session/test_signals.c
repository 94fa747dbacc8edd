/* What becomes of signals while a collection runs, and afterwards. */
#include "collector/session/signals.h"
#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <unistd.h>

static const int blocked[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGALRM, SIGCHLD};
enum { BLOCKED = sizeof(blocked) / sizeof(blocked[0]) };

static struct signals signals;
static struct failure failure;

typedef void handler(int);

static handler *handler_of(int number)
{
	struct sigaction action;
	ck_assert_int_eq(sigaction(number, NULL, &action), 0);
	return action.sa_handler;
}

static int is_blocked(int number)
{
	sigset_t mask;
	ck_assert_int_eq(sigprocmask(SIG_BLOCK, NULL, &mask), 0);
	return sigismember(&mask, number);
}

/* What tbcollect is started with here: none is as it needs it. */
static void set_up(void)
{
	sigset_t mask;
	signal(SIGCHLD, SIG_IGN);
	signal(SIGPIPE, SIG_DFL);
	signal(SIGXFSZ, SIG_DFL);
	sigemptyset(&mask);
	sigaddset(&mask, SIGWINCH);
	sigaddset(&mask, SIGUSR2);
	sigprocmask(SIG_SETMASK, &mask, NULL);
	failure = (struct failure){0};
}

static void assert_as_before(void)
{
	ck_assert_ptr_eq(handler_of(SIGCHLD), SIG_IGN);
	ck_assert_ptr_eq(handler_of(SIGPIPE), SIG_DFL);
	ck_assert_ptr_eq(handler_of(SIGXFSZ), SIG_DFL);
	for (int i = 0; i < BLOCKED; i++)
		ck_assert_int_eq(is_blocked(blocked[i]), blocked[i] == SIGUSR2);
	ck_assert(is_blocked(SIGWINCH));
}

START_TEST(while_it_runs)
{
	ck_assert_int_eq(signals_init(&signals, &failure), 0);
	ck_assert_ptr_eq(handler_of(SIGCHLD), SIG_DFL);
	ck_assert_ptr_eq(handler_of(SIGPIPE), SIG_IGN);
	ck_assert_ptr_eq(handler_of(SIGXFSZ), SIG_IGN);
	for (int i = 0; i < BLOCKED; i++)
		ck_assert(is_blocked(blocked[i]));
	ck_assert(!is_blocked(SIGSEGV));
	ck_assert(fcntl(signals.fd, F_GETFD) & FD_CLOEXEC);
	ck_assert(fcntl(signals.fd, F_GETFL) & O_NONBLOCK);
	signals_finish(&signals);
}
END_TEST

START_TEST(pending_ones)
{
	struct signals_event event;
	ck_assert_int_eq(signals_init(&signals, &failure), 0);
	ck_assert(!signals_next(&signals, &event));
	for (int i = 0; i < BLOCKED; i++) {
		ck_assert_int_eq(kill(getpid(), blocked[i]), 0);
		ck_assert(signals_next(&signals, &event));
		ck_assert_int_eq(event.number, blocked[i]);
		ck_assert(!event.from_terminal);
		ck_assert(!signals_next(&signals, &event));
	}
	signals_finish(&signals);
}
END_TEST

/* A timer's come from the kernel, as a terminal's do. */
START_TEST(from_the_kernel)
{
	struct itimerval timer = {.it_value.tv_usec = 1};
	struct signals_event event;
	ck_assert_int_eq(signals_init(&signals, &failure), 0);
	ck_assert_int_eq(setitimer(ITIMER_REAL, &timer, NULL), 0);
	while (!signals_next(&signals, &event))
		continue;
	ck_assert_int_eq(event.number, SIGALRM);
	ck_assert(event.from_terminal);
	signals_finish(&signals);
}
END_TEST

/* What is pending would end the test. */
START_TEST(afterwards)
{
	ck_assert_int_eq(signals_init(&signals, &failure), 0);
	int fd = signals.fd;
	raise(SIGTERM);
	raise(SIGINT);
	signals_finish(&signals);
	assert_as_before();
	ck_assert_int_eq(signals.fd, -1);
	ck_assert_int_eq(fcntl(fd, F_GETFD), -1);
	signals_finish(&signals);
	assert_as_before();
}
END_TEST

START_TEST(for_a_child)
{
	ck_assert_int_eq(signals_init(&signals, &failure), 0);
	signals_restore(&signals);
	assert_as_before();
	ck_assert_int_ge(fcntl(signals.fd, F_GETFD), 0);
}
END_TEST

START_TEST(without_a_descriptor)
{
	struct rlimit limit;
	ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &limit), 0);
	struct rlimit none = (struct rlimit){.rlim_max = limit.rlim_max};
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &none), 0);
	ck_assert_int_eq(signals_init(&signals, &failure), -1);
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &limit), 0);
	ck_assert_ptr_nonnull(strstr(failure.text, "cannot receive signals: Too many open files"));
	assert_as_before();
}
END_TEST

START_TEST(asking_to_end)
{
	static const int ends[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};
	static const int others[] = {SIGUSR1, SIGUSR2, SIGALRM, SIGCHLD, SIGPIPE};
	for (size_t i = 0; i < sizeof(ends) / sizeof(*ends); i++)
		ck_assert(signals_asks_to_end(ends[i]));
	for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++)
		ck_assert(!signals_asks_to_end(others[i]));
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("signals");
	TCase *tcase = tcase_create("signals");
	SRunner *runner = srunner_create(suite);

	tcase_add_checked_fixture(tcase, set_up, NULL);
	tcase_add_test(tcase, while_it_runs);
	tcase_add_test(tcase, pending_ones);
	tcase_add_test(tcase, from_the_kernel);
	tcase_add_test(tcase, afterwards);
	tcase_add_test(tcase, for_a_child);
	tcase_add_test(tcase, without_a_descriptor);
	tcase_add_test(tcase, asking_to_end);
	suite_add_tcase(suite, tcase);
	srunner_run_all(runner, CK_ENV);
	int failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed != 0;
}
