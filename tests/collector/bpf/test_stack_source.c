/* The BPF program on this machine's kernel. Without privileges only the refusal can be seen. */
#include "collector/bpf/stack_chunk.h"
#include "collector/bpf/stack_source.h"
#include "tests/support/suite.h"
#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

enum { NOBODY = 65534, SKIPPED = 77 };

/* The lowest free descriptor: it stays the same where none leaks. */
static int free_descriptor(void)
{
	int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
	ck_assert_int_ge(fd, 0);
	close(fd);
	return fd;
}

/* The verifier takes it, and closing gives everything back. */
START_TEST(opens_and_closes)
{
	int before = free_descriptor();
	for (int i = 0; i < 20; i++) {
		struct stack_source *source = NULL;
		ck_assert_int_eq(stack_source_open(4, &source), 0);
		ck_assert_int_ge(stack_source_program(source), 0);
		stack_source_limit(source, &(struct stack_source_limit){4096, 1, 65536});
		stack_source_share(source, UINT32_MAX / 2);
		ck_assert_uint_eq(stack_source_refused(source, 3), 0);
		/* Neither a CPU beyond those nor a file that is no event. */
		ck_assert(stack_source_output(source, 4, before) < 0 && errno == E2BIG);
		ck_assert(stack_source_output(source, 0, before) < 0 && errno == EBADF);
		stack_source_close(source);
	}
	ck_assert_int_eq(free_descriptor(), before);
}
END_TEST

/* What is followed, and how many at once; and that nothing of it stays either. */
START_TEST(follows)
{
	static const struct stack_source_follow follow = {true, true};
	struct stack_source_missing missing = {1, 1, 1};
	int before = free_descriptor();
	struct stack_source *source = NULL;
	uint32_t added = 0;
	int result;
	ck_assert_int_eq(stack_source_open(4, &source), 0);
	ck_assert_int_eq(stack_source_follow(source, &follow), 0);
	ck_assert_int_ge(stack_source_tick_program(source), 0);
	ck_assert_int_eq(stack_source_add(source, 1, true), 0);
	ck_assert_int_eq(stack_source_add(source, 1, false), 0);
	/* No process has ids as large: linux/threads.h. */
	while ((result = stack_source_add(source, 5000000 + added, false)) == 0)
		added++;
	ck_assert(result < 0 && errno == E2BIG);
	ck_assert_uint_eq(added, FOLLOW_PROCESSES - 1);
	stack_source_missing(source, &missing);
	ck_assert_uint_eq(missing.accounts, 0);
	ck_assert_uint_eq(missing.cpu_ns, 0);
	stack_source_close(source);
	ck_assert_int_eq(free_descriptor(), before);
}
END_TEST

START_TEST(refused_to_others)
{
	int before = free_descriptor();
	if (geteuid() == 0)
		ck_assert_int_eq(setuid(NOBODY), 0);
	struct stack_source *source = NULL;
	ck_assert(stack_source_open(4, &source) < 0 && errno == EPERM);
	ck_assert_ptr_null(source);
	ck_assert_int_eq(free_descriptor(), before);
}
END_TEST

START_TEST(closes_nothing)
{
	stack_source_close(NULL);
}
END_TEST

int main(void)
{
	struct stack_source *source = NULL;
	bool is_built = stack_source_open(1, &source) == 0 || errno != ENOSYS;
	stack_source_close(source);
	if (!is_built)
		return SKIPPED; /* built without BPF */
	Suite *suite = suite_create("bpf_source");
	TCase *tcase = tcase_create("bpf_source");

	if (geteuid() == 0) {
		tcase_add_test(tcase, opens_and_closes);
		tcase_add_test(tcase, follows);
	} else {
		puts("skipped - opening a source by BPF: needs root");
	}
	tcase_add_test(tcase, refused_to_others);
	tcase_add_test(tcase, closes_nothing);
	suite_add_tcase(suite, tcase);
	return run_suite(suite);
}
