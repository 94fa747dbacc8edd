/* Samples one by one: the same sums as the tally's, whatever the filter takes. */
#include "tests/support/suite.h"
#include "tests/tools/build_result.h"
#include "tests/tools/drawn_result.h"
#include "tools/functions/filter.h"
#include "tools/samples/tally.h"
#include "tools/stacks/sampled_result.h"
#include "tools/stacks/weighted_stacks.h"
#include <check.h>

enum { THREADS = 3 };

/* Time of each thread: of stacks, in the kernel, in no sample. */
struct sums {
	uint64_t stack_ns[THREADS], kernel_ns[THREADS], unseen_ns[THREADS];
	uint64_t gathered; /* samples with time in the kernel unseen */
};

static const char *const names[] = {"app", "helper"};

static const struct drawn_thread threads[THREADS] = {
	{.process = 0, .name = "main", .cpu_ns = 100 * DRAWN_MS, .rest_ns = 7 * DRAWN_MS},
	{.process = 0, .name = "worker", .cpu_ns = 300 * DRAWN_MS, .rest_ns = 50 * DRAWN_MS},
	{.process = 1, .name = "idle", .cpu_ns = 3 * DRAWN_MS, .rest_ns = 1 * DRAWN_MS},
};

static const struct drawn_sample samples[] = {
	{0, 0, 20 * DRAWN_MS, 2000},
	{1, 1, 20 * DRAWN_MS, 3000},
	{0, 3, 20 * DRAWN_MS, 9000},
	{1, 1, 90 * DRAWN_MS, 0},
	{1, 4, 20 * DRAWN_MS, 8000},
	{1, 5, 20 * DRAWN_MS, 500},
	{0, 0, 20 * DRAWN_MS, PROFILE_KERNEL_ALL},
};

static const struct drawn_result drawn = {
	.sampling = PROFILE_SAMPLING_THREADS,
	.interval_ns = 10 * DRAWN_MS,
	.names = names,
	.process_count = 2,
	.threads = threads,
	.thread_count = THREADS,
	.samples = samples,
	.sample_count = sizeof(samples) / sizeof(samples[0]),
};

static struct weighted_stacks stacks_of(struct sampled_result *result, const struct filter *filter)
{
	return (struct weighted_stacks){.reader = result->reader,
					.functions = result->functions,
					.tally = &result->tally,
					.filter = filter,
					.mode = CALL_PATH_ALL};
}

/* As the tally's entries have them. */
static struct sums sum_entries(const struct filter *filter)
{
	struct sums sums = {0};
	struct sampled_result result;
	ck_assert_int_eq(sampled_result_open(&result, build_path, filter, TALLY_BY_THREAD, true),
			 0);
	struct weighted_stacks stacks = stacks_of(&result, filter);
	while (weighted_stacks_next(&stacks)) {
		const struct tally_entry *entry = stacks.entry;
		uint64_t *to_ns = entry->node == TALLY_KERNEL ? sums.kernel_ns : sums.stack_ns;
		to_ns[entry->thread] += entry->sum.cpu_ns;
	}
	for (uint32_t i = 0; i < THREADS; i++)
		sums.unseen_ns[i] = result.tally.thread_rest_ns[i];
	sampled_result_close(&result);
	return sums;
}

static bool take_sample(const struct tally_sample *sample, void *user)
{
	struct sums *sums = user;
	uint32_t thread = sample->info->thread;
	bool is_kernel = sample->info->stack.kernel_us == PROFILE_KERNEL_ALL;
	ck_assert(!sample->is_kernel_only || sample->cpu_ns == 0);
	*(is_kernel ? &sums->kernel_ns[thread] : &sums->stack_ns[thread]) += sample->cpu_ns;
	sums->kernel_ns[thread] += sample->kernel_ns;
	ck_assert(sample->kernel_ns == 0 || sample->kernel_ns >= drawn.interval_ns);
	sums->gathered += sample->kernel_ns > 0;
	return true;
}

static struct sums sum_samples(const struct filter *filter, unsigned by)
{
	struct sums sums = {0};
	struct sampled_result result;
	ck_assert_int_eq(sampled_result_open(&result, build_path, filter, by, true), 0);
	struct weighted_stacks stacks = stacks_of(&result, filter);
	ck_assert(by == TALLY_BY_THREAD || result.tally.count == 0);
	ck_assert_uint_eq(weighted_stacks_each_sample(&stacks, take_sample, &sums), VT_SUCCESS);
	for (uint32_t i = 0; i < 2 * THREADS; i++) { /* once, though asked twice */
		struct weighted_stacks_rest rest = weighted_stacks_take_rest(&stacks, i % THREADS);
		sums.kernel_ns[i % THREADS] += rest.kernel_ns;
		sums.unseen_ns[i % THREADS] += rest.unseen_ns;
	}
	weighted_stacks_finish(&stacks);
	sampled_result_close(&result);
	return sums;
}

static void expect_same_sums(const char *condition, const char *from)
{
	struct filter filter = {0};
	if (condition)
		ck_assert_ptr_null(filter_add(&filter, condition));
	if (from)
		ck_assert_ptr_null(filter_set_from(&filter, from));
	struct sums wanted = sum_entries(&filter);
	struct sums one_by_one = sum_samples(&filter, TALLY_ONE_BY_ONE);
	struct sums with_entries = sum_samples(&filter, TALLY_BY_THREAD);
	ck_assert_mem_eq(&one_by_one, &with_entries, sizeof(one_by_one));
	wanted.gathered = one_by_one.gathered;
	for (uint32_t i = 0; i < THREADS; i++) {
		ck_assert_uint_eq(one_by_one.stack_ns[i], wanted.stack_ns[i]);
		ck_assert_uint_eq(one_by_one.kernel_ns[i], wanted.kernel_ns[i]);
		ck_assert_uint_eq(one_by_one.unseen_ns[i], wanted.unseen_ns[i]);
	}
	filter_finish(&filter);
}

START_TEST(test_weighted_stacks_sums)
{
	drawn_result_write(build_path, &drawn);
	expect_same_sums(NULL, NULL);
	expect_same_sums("tid=5001", NULL);
	expect_same_sums("process=app", NULL);
	expect_same_sums("function=f1", NULL);
	expect_same_sums("function=[System calls and faults]", NULL);
	expect_same_sums("module=app", NULL);
	expect_same_sums("function=none", NULL);
	expect_same_sums(NULL, "2us");
	expect_same_sums("function=f1", "2us");
}
END_TEST

/* All accounts are given out, and slivers of time in the kernel come together. */
START_TEST(test_weighted_stacks_kernel)
{
	struct filter everything = {0};
	drawn_result_write(build_path, &drawn);
	struct sums sums = sum_samples(&everything, TALLY_ONE_BY_ONE);
	for (uint32_t i = 0; i < THREADS; i++)
		ck_assert_uint_eq(sums.stack_ns[i] + sums.kernel_ns[i] + sums.unseen_ns[i],
				  threads[i].cpu_ns);
	ck_assert_uint_eq(sums.gathered, 2); /* 2 and 9 ms; 3 and 8 ms */
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("weighted stacks");
	TCase *cases = tcase_create("all");
	tcase_add_checked_fixture(cases, build_set_up, build_tear_down);
	tcase_add_test(cases, test_weighted_stacks_sums);
	tcase_add_test(cases, test_weighted_stacks_kernel);
	suite_add_tcase(suite, cases);
	return run_suite(suite);
}
