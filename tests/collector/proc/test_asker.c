/* Questions about processes of others: answered, given up, and of what becomes of those. */
#include "collector/image/maps.h"
#include "collector/proc/asker.h"
#include "collector/proc/command_line.h"
#include "tests/support/suite.h"
#include <check.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define NS_PER_S 1000000000ull

/* No machine is slower than that; no test waits for it. */
#define LONG_NS  (60 * NS_PER_S)
#define SHORT_NS (NS_PER_S / 100)

static pid_t stranger; /* a process of another user */
static struct asker *asker;
static int gate[2]; /* what a question waits for */
static atomic_int discarded;

struct question {
	struct asker_question base;
	bool waits;
	pthread_t answered_by;
	int answer;
};

static void answer(struct asker_question *base)
{
	struct question *question = (struct question *)base;
	char byte;
	if (question->waits)
		ck_assert_int_eq(read(gate[0], &byte, 1), 1);
	question->answered_by = pthread_self();
	question->answer = 42;
}

static void discard(struct asker_question *base)
{
	free(base);
	discarded++;
}

static struct question *make(bool waits)
{
	struct question *question = calloc(1, sizeof(*question));
	ck_assert_ptr_nonnull(question);
	question->base = (struct asker_question){answer, discard};
	question->waits = waits;
	return question;
}

/* Root's is one that became nobody; for others root's first process is one. */
static void setup(void)
{
	ck_assert_int_eq(pipe(gate), 0);
	stranger = 1;
	if (geteuid() != 0)
		return;
	stranger = fork();
	ck_assert_int_ge(stranger, 0);
	if (stranger == 0) {
		if (setresuid(65534, 65534, 65534) != 0 || write(gate[1], "r", 1) != 1)
			_exit(1);
		for (;;)
			pause();
	}
	char byte;
	ck_assert_int_eq(read(gate[0], &byte, 1), 1);
}

static void teardown(void)
{
	asker_destroy(asker);
	if (stranger > 1) {
		kill(stranger, SIGKILL);
		waitpid(stranger, NULL, 0);
	}
}

static bool ask(bool waits)
{
	return asker_ask(asker, (uint32_t)stranger, &make(waits)->base);
}

START_TEST(owner)
{
	enum { NO_PROCESS = 5000000 }; /* above what the kernel gives out */
	ck_assert_uint_eq(asker_find_owner((uint32_t)getpid()), geteuid());
	ck_assert_uint_eq(asker_find_owner(NO_PROCESS), ASKER_NO_OWNER);
}
END_TEST

START_TEST(answers)
{
	asker = asker_create(LONG_NS);
	pthread_t first = pthread_self();
	for (int i = 0; i < 3; i++) {
		struct question *question = make(false);
		ck_assert(asker_ask(asker, (uint32_t)stranger, &question->base));
		ck_assert_int_eq(question->answer, 42);
		ck_assert_int_eq(pthread_equal(question->answered_by, pthread_self()), 0);
		ck_assert(i == 0 || pthread_equal(question->answered_by, first));
		first = question->answered_by;
		discard(&question->base);
	}
	const uint32_t *pids;
	ck_assert_uint_eq(asker_silent(asker, &pids), 0);
}
END_TEST

/* Our own, those that are gone, and all without an asker. */
START_TEST(answers_of_ours)
{
	asker = asker_create(LONG_NS);
	struct {
		struct asker *asker;
		uint32_t pid;
	} const asked[] = {{asker, (uint32_t)getpid()},
			   {asker, 0x7fffffff},
			   {NULL, (uint32_t)stranger}};
	for (size_t i = 0; i < sizeof(asked) / sizeof(asked[0]); i++) {
		struct question *question = make(false);
		ck_assert(asker_ask(asked[i].asker, asked[i].pid, &question->base));
		ck_assert_int_ne(pthread_equal(question->answered_by, pthread_self()), 0);
		discard(&question->base);
	}
}
END_TEST

/* The process is not asked again; the question is discarded once, when its answer comes. */
START_TEST(given_up)
{
	const uint32_t *pids;
	asker = asker_create(SHORT_NS);
	ck_assert(!ask(true));
	ck_assert_uint_eq(asker_silent(asker, &pids), 1);
	ck_assert_uint_eq(pids[0], (uint32_t)stranger);
	ck_assert_int_eq(discarded, 0);
	ck_assert(!ask(false));
	ck_assert_int_eq(discarded, 1);
	ck_assert_int_eq(write(gate[1], "x", 1), 1);
	while (discarded < 2)
		usleep(1000);
	ck_assert_uint_eq(asker_silent(asker, &pids), 1);
}
END_TEST

/* What is given up may outlive the asker. */
START_TEST(answered_after_the_end)
{
	asker = asker_create(SHORT_NS);
	ck_assert(!ask(true));
	asker_destroy(asker);
	asker = NULL;
	ck_assert_int_eq(write(gate[1], "x", 1), 1);
	while (discarded < 1)
		usleep(1000);
}
END_TEST

/* What is read of a process comes through it: the same as what we read ourselves, or nothing. */
static bool count_entry(const struct maps_entry *entry, void *user)
{
	(*(size_t *)user) += entry->end > entry->start;
	return true;
}

START_TEST(what_is_asked)
{
	size_t direct = 0;
	size_t through = 0;
	char line[2][COMMAND_LINE_MAX];
	asker = asker_create(LONG_NS);
	ck_assert_int_eq(maps_read(NULL, stranger, count_entry, &direct), 0);
	ck_assert_int_eq(maps_read(asker, stranger, count_entry, &through), 0);
	ck_assert_uint_gt(direct, 0);
	ck_assert_uint_eq(through, direct);
	bool first = command_line_read(NULL, (uint32_t)stranger, "test_collector_", line[0]);
	bool second = command_line_read(asker, (uint32_t)stranger, "test_collector_", line[1]);
	ck_assert(first && second);
	ck_assert_str_eq(line[0], line[1]);
	asker_destroy(asker);
	asker = asker_create(SHORT_NS);
	ck_assert(!ask(true));
	ck_assert_int_eq(maps_read(asker, stranger, count_entry, &through), -1);
	ck_assert_int_eq(errno, ETIMEDOUT);
	ck_assert(!command_line_read(asker, (uint32_t)stranger, "test_collector_", line[1]));
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("asker");
	TCase *tcase = tcase_create("asker");

	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_add_test(tcase, owner);
	tcase_add_test(tcase, answers);
	tcase_add_test(tcase, answers_of_ours);
	tcase_add_test(tcase, given_up);
	tcase_add_test(tcase, answered_after_the_end);
	if (geteuid() == 0)
		tcase_add_test(tcase, what_is_asked);
	else
		printf("skipped - what is asked of others: only root may\n");
	suite_add_tcase(suite, tcase);
	return run_suite(suite);
}
