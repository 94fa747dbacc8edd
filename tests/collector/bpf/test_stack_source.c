/* The BPF program on this machine's kernel. Without privileges only the refusal can be seen. */
#include "collector/bpf/stack_chunk.h"
#include "collector/bpf/stack_source.h"
#include "tests/collector/bpf/bpf_fixture.h"
#include <check.h>
#include <errno.h>
#include <unistd.h>

/* The verifier takes it, and closing gives everything back. */
START_TEST(opens_and_closes)
{
	int before = bpf_free_descriptor();
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
	ck_assert_int_eq(bpf_free_descriptor(), before);
}
END_TEST

/* What is followed, and how many at once; and that nothing of it stays either. */
START_TEST(follows)
{
	static const struct stack_source_follow follow = {true, true};
	struct stack_source_missing missing = {1, 1, 1};
	int before = bpf_free_descriptor();
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
	ck_assert_int_eq(bpf_free_descriptor(), before);
}
END_TEST

static int open_source(void **source)
{
	struct stack_source *opened = NULL;
	int result = stack_source_open(4, &opened);
	*source = opened;
	return result;
}

static void close_source(void *source)
{
	stack_source_close(source);
}

int main(void)
{
	const TTest *const tests[] = {opens_and_closes, follows, NULL};
	const struct bpf_source source = {"bpf_source", "opening a source by BPF", open_source,
					  close_source, tests};
	return bpf_run_source(&source);
}
