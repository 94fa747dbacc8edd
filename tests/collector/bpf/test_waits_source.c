/* The BPF programs of waits on this machine's kernel. Without privileges only the refusal can be
 * seen. */
#include "collector/bpf/wait_head.h"
#include "collector/bpf/waits_source.h"
#include "tests/collector/bpf/bpf_fixture.h"
#include <check.h>
#include <errno.h>
#include <unistd.h>

static const struct waits_source_config config = {.cpus = 4,
						  .threshold_ns = 10000,
						  .children = true};

/* The verifier takes the programs, they start and stop, and closing gives everything back. */
START_TEST(opens_and_closes)
{
	int before = bpf_free_descriptor();
	for (int i = 0; i < 3; i++) {
		struct waits_source *source = NULL;
		struct waits_source_missing missing = {1, 1};
		ck_assert_int_eq(waits_source_open(&config, &source), 0);
		waits_source_limit(source, &(struct stack_source_limit){4096, 1, 65536});
		waits_source_share(source, UINT32_MAX / 2);
		ck_assert_uint_eq(waits_source_refused(source, 3), 0);
		/* Neither a CPU beyond those nor a file that is no event. */
		ck_assert(waits_source_output(source, 4, before) < 0 && errno == E2BIG);
		ck_assert(waits_source_output(source, 0, before) < 0 && errno == EBADF);
		ck_assert_int_eq(waits_source_start(source), 0);
		waits_source_stop(source);
		waits_source_missing(source, &missing);
		ck_assert_uint_eq(missing.waits, 0);
		ck_assert_uint_eq(missing.threads, 0);
		waits_source_close(source);
	}
	ck_assert_int_eq(bpf_free_descriptor(), before);
}
END_TEST

/* As many threads as are promised; a known one is no other. */
START_TEST(follows)
{
	struct waits_source *source = NULL;
	ck_assert_int_eq(waits_source_open(&config, &source), 0);
	/* No thread has ids as large: linux/threads.h. */
	for (uint32_t i = 0; i < WAIT_THREADS; i++)
		ck_assert_int_eq(waits_source_add(source, 5000000, 5000000 + i, i % 2 == 0), 0);
	ck_assert_int_eq(waits_source_add(source, 5000000, 5000000, false), 0);
	ck_assert(waits_source_add(source, 5000000, 4999999, false) < 0 && errno == E2BIG);
	/* None of them runs: those that are followed may wait. */
	struct waits_source_waiting waiting;
	uint32_t tid = 0;
	uint32_t count = 0;
	while (waits_source_next_waiting(source, &tid, &waiting)) {
		ck_assert_uint_eq(waiting.tid, tid);
		ck_assert_uint_eq(waiting.begin_ns, 0);
		count++;
	}
	ck_assert_uint_eq(count, WAIT_THREADS / 2);
	waits_source_close(source);
}
END_TEST

static int open_source(void **source)
{
	struct waits_source *opened = NULL;
	int result = waits_source_open(&config, &opened);
	*source = opened;
	return result;
}

static void close_source(void *source)
{
	waits_source_close(source);
}

int main(void)
{
	const TTest *const tests[] = {opens_and_closes, follows, NULL};
	const struct bpf_source source = {"waits_source", "waits by BPF", open_source, close_source,
					  tests};
	return bpf_run_source(&source);
}
