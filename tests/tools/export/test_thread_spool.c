/* Records parted by thread: in memory, in the file, and in both. */
#include "tests/support/suite.h"
#include "tools/spool/thread_spool.h"
#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#define THREADS 7u
#define RECORDS 10000u

struct record {
	uint32_t number;
	uint32_t thread;
};

/* A thread for the n-th record: runs of one thread, and mixtures. */
static uint32_t thread_of(uint32_t number)
{
	return number % 1000 < 300 ? number / 1000 % THREADS
				   : number * UINT32_C(2654435761) % THREADS;
}

static void expect_thread(struct thread_spool *spool, uint32_t thread)
{
	thread_spool_rewind(spool, thread);
	for (uint32_t i = 0; i < RECORDS; i++) {
		if (thread_of(i) != thread)
			continue;
		const struct record *record = thread_spool_next(spool);
		ck_assert_ptr_nonnull(record);
		ck_assert_uint_eq(record->number, i);
		ck_assert_uint_eq(record->thread, thread);
	}
	ck_assert_ptr_null(thread_spool_next(spool));
	ck_assert_ptr_null(thread_spool_next(spool));
}

/* loop: memory for one record, for some, for nearly all and for all */
START_TEST(test_order)
{
	static const uint32_t held[] = {0, 40, RECORDS - 1, RECORDS};
	struct thread_spool *spool =
		thread_spool_create(sizeof(struct record),
				    held[_i] * (uint32_t)sizeof(struct record));
	for (uint32_t i = 0; i < RECORDS; i++) {
		struct record record = {i, thread_of(i)};
		thread_spool_add(spool, record.thread, &record);
	}
	for (unsigned round = 0; round < 2; round++) {
		for (uint32_t thread = THREADS; thread-- > 0;)
			expect_thread(spool, thread);
	}
	thread_spool_destroy(spool);
}
END_TEST

START_TEST(test_no_records)
{
	struct thread_spool *spool = thread_spool_create(sizeof(struct record), 100);
	struct record record = {1, 3};
	thread_spool_rewind(spool, 5);
	ck_assert_ptr_null(thread_spool_next(spool));
	thread_spool_add(spool, 3, &record);
	thread_spool_rewind(spool, 2);
	ck_assert_ptr_null(thread_spool_next(spool));
	thread_spool_rewind(spool, 3);
	ck_assert_ptr_nonnull(thread_spool_next(spool));
	thread_spool_destroy(spool);
	thread_spool_destroy(NULL);
}
END_TEST

static void fill(void)
{
	struct thread_spool *spool = thread_spool_create(sizeof(struct record), 0);
	const struct record record = {0, 0};
	for (uint32_t i = 0; i < RECORDS; i++)
		thread_spool_add(spool, 0, &record);
	exit(0);
}

/* Runs fill() in a child with TMPDIR and a limit of file sizes. Returns its exit status. */
static int status_of(const char *directory, rlim_t most)
{
	pid_t child = fork();
	int status;
	ck_assert_int_ge(child, 0);
	if (child == 0) {
		const struct rlimit limit = {most, most};
		int null = open("/dev/null", O_WRONLY | O_CLOEXEC);
		dup2(null, STDERR_FILENO);
		setenv("TMPDIR", directory, 1);
		signal(SIGXFSZ, SIG_IGN);
		setrlimit(RLIMIT_FSIZE, &limit);
		fill();
	}
	ck_assert_int_eq(waitpid(child, &status, 0), child);
	ck_assert(WIFEXITED(status));
	return WEXITSTATUS(status);
}

/* No directory, and no room in the directory: the program ends. */
START_TEST(test_failures)
{
	ck_assert_int_eq(status_of("/tmp", RLIM_INFINITY), 0);
	ck_assert_int_eq(status_of("/nonexistent", RLIM_INFINITY), 1);
	ck_assert_int_eq(status_of("/tmp", 4096), 1);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("thread spool");
	TCase *cases = tcase_create("all");
	tcase_set_timeout(cases, 60);
	tcase_add_loop_test(cases, test_order, 0, 4);
	tcase_add_test(cases, test_no_records);
	tcase_add_test(cases, test_failures);
	suite_add_tcase(suite, cases);
	return run_suite(suite);
}
