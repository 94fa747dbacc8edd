/* Comparisons of made-up programs whose samples are drawn: how often a difference is found, and how
 * often one that is not there. */
#include "tests/support/suite.h"
#include "tools/diff/comparison.h"
#include <check.h>
#include <math.h>
#include <stdlib.h>

enum { ROWS = 5, RUNS_MAX = 8, TRIES = 400 };

#define MS 1000000.0

struct program {
	double ms[ROWS]; /* CPU time of each function */
};

static const struct program plain = {{4500, 2500, 2000, 990, 10}};

struct made {
	struct draws_part parts[ROWS][RUNS_MAX]; /* of so many runs as `runs` */
	struct draws_part packed[ROWS * RUNS_MAX];
	struct draws_part totals[RUNS_MAX];
	size_t runs;
};

static double draw_normal(unsigned short seed[3])
{
	return sqrt(-2 * log(1 - erand48(seed))) * cos(2 * M_PI * erand48(seed));
}

/* A run of `samples` samples in all, in the mean; the machine's speed is another in each run. vary:
 * how much each function's time varies from run to run besides. */
static void add_run(struct made *made, const struct program *program, double samples, double vary,
		    unsigned short seed[3])
{
	double speed = exp(0.1 * draw_normal(seed));
	double all_ms = 0;
	size_t run = made->runs++;
	for (size_t i = 0; i < ROWS; i++)
		all_ms += plain.ms[i];
	made->totals[run] = (struct draws_part){0};
	for (size_t i = 0; i < ROWS; i++) {
		double ms = program->ms[i] * speed * exp(vary * draw_normal(seed));
		double mean = ms * samples / all_ms;
		double count = fmax(round(mean + sqrt(mean) * draw_normal(seed)), 0);
		double weight_ns = all_ms * MS / samples;
		struct draws_part part = {(uint64_t)(count * weight_ns),
					  (uint64_t)count,
					  {(uint64_t)(count * weight_ns),
					   count * weight_ns * weight_ns}};
		made->parts[i][run] = part;
		draws_add_part(&made->totals[run], &part);
	}
}

static void compare(struct comparison *comparison, struct made *made, size_t base_runs)
{
	for (size_t i = 0; i < ROWS; i++)
		for (size_t run = 0; run < made->runs; run++)
			made->packed[i * made->runs + run] = made->parts[i][run];
	comparison_make(comparison, made->packed, made->totals, ROWS, base_runs, made->runs, false);
}

/* How often a row has the verdict; *others: how often another row, or it otherwise, has one. */
static int count_verdicts(const struct program *changed, size_t runs, double samples, double vary,
			  size_t row, enum comparison_verdict verdict, int *others)
{
	unsigned short seed[3] = {1, 2, (unsigned short)runs};
	int found = 0;
	*others = 0;
	for (int try = 0; try < TRIES; try++) {
		struct made made = {.runs = 0};
		struct comparison comparison;
		bool is_other = false;
		for (size_t run = 0; run < 2 * runs; run++)
			add_run(&made, run < runs ? &plain : changed, samples, vary, seed);
		compare(&comparison, &made, runs);
		for (size_t i = 0; i < ROWS; i++) {
			bool is_wanted = i == row && comparison.rows[i].verdict == verdict;
			found += is_wanted;
			is_other |= !is_wanted && comparison.rows[i].verdict != COMPARISON_UNSURE;
		}
		*others += is_other;
		comparison_finish(&comparison);
	}
	return found;
}

/* Of the same program nothing is named, in 400 comparisons of every kind. */
START_TEST(test_no_difference)
{
	int others;
	count_verdicts(&plain, 1, 200000, 0, ROWS, COMPARISON_SLOWER, &others);
	ck_assert_int_eq(others, 0);
	count_verdicts(&plain, 1, 2000, 0, ROWS, COMPARISON_SLOWER, &others);
	ck_assert_int_le(others, 3); /* a risk of 0.1 % */
	count_verdicts(&plain, 4, 50000, 0, ROWS, COMPARISON_SLOWER, &others);
	ck_assert_int_eq(others, 0);
}
END_TEST

/* 5 % of a function of 45 % of the time, by 300,000 samples. */
START_TEST(test_slower_function)
{
	struct program slower = plain;
	int others;
	slower.ms[0] *= 1.05;
	ck_assert_int_ge(count_verdicts(&slower, 1, 300000, 0, 0, COMPARISON_SLOWER, &others),
			 TRIES - 2);
	ck_assert_int_eq(others, 0);
	ck_assert_int_ge(count_verdicts(&slower, 4, 75000, 0, 0, COMPARISON_SLOWER, &others),
			 TRIES - 2);
	ck_assert_int_eq(others, 0);
	/* By a hundredth of the samples there is nothing to see. */
	ck_assert_int_le(count_verdicts(&slower, 1, 2000, 0, 0, COMPARISON_SLOWER, &others), 20);
}
END_TEST

START_TEST(test_faster_function)
{
	struct program faster = plain;
	int others;
	faster.ms[1] *= 0.8;
	ck_assert_int_ge(count_verdicts(&faster, 1, 50000, 0, 1, COMPARISON_FASTER, &others),
			 TRIES - 2);
	ck_assert_int_eq(others, 0);
}
END_TEST

/* Functions that vary by 5 % from run to run differ, whatever the number of samples: single runs
 * cannot know, several can. */
START_TEST(test_runs_that_vary)
{
	int single;
	int several;
	count_verdicts(&plain, 1, 1e6, 0.05, ROWS, COMPARISON_SLOWER, &single);
	count_verdicts(&plain, 4, 1e6, 0.05, ROWS, COMPARISON_SLOWER, &several);
	ck_assert_int_gt(single, TRIES / 2);
	ck_assert_msg(several <= TRIES / 20, "%d of %d", several, TRIES);
}
END_TEST

/* What begins a program takes another time when its files were just read: 30 ms more or less of
 * ten seconds are no difference, however sure. */
START_TEST(test_small_part)
{
	struct program slower = plain;
	int others;
	slower.ms[4] = 40;
	ck_assert_int_eq(count_verdicts(&slower, 1, 1e6, 0, 4, COMPARISON_SLOWER, &others), 0);
	ck_assert_int_eq(others, 0);
	slower.ms[4] = 80;
	ck_assert_int_eq(count_verdicts(&slower, 1, 1e6, 0, 4, COMPARISON_SLOWER, &others), TRIES);
}
END_TEST

START_TEST(test_new_and_gone)
{
	struct program changed = plain;
	int others;
	changed.ms[3] = 0;
	ck_assert_int_eq(count_verdicts(&changed, 1, 5000, 0, 3, COMPARISON_GONE, &others), TRIES);
	struct made made = {.runs = 0};
	struct comparison comparison;
	unsigned short seed[3] = {1, 2, 3};
	add_run(&made, &changed, 5000, 0, seed);
	add_run(&made, &plain, 5000, 0, seed);
	compare(&comparison, &made, 1);
	ck_assert_int_eq(comparison.rows[3].verdict, COMPARISON_NEW);
	/* Five samples are no news. */
	ck_assert_int_eq(comparison.rows[4].verdict, COMPARISON_UNSURE);
	ck_assert(!comparison.rows[4].has_error);
	comparison_finish(&comparison);
}
END_TEST

/* All functions slower: the machine, or the program? Several runs tell. */
START_TEST(test_slower_program)
{
	struct made made = {.runs = 0};
	struct comparison comparison;
	static const double means[] = {1, 1.01, 0.99, 1.2, 1.21, 1.19};
	for (size_t run = 0; run < 6; run++) {
		struct program program = plain;
		unsigned short seed[3] = {1, 2, (unsigned short)run};
		for (size_t i = 0; i < ROWS; i++)
			program.ms[i] *= means[run];
		add_run(&made, &program, 1e5, 0, seed);
		for (size_t i = 0; i < ROWS; i++) /* the time without the machine's speed */
			made.parts[i][run].cpu_ns = (uint64_t)(program.ms[i] * MS);
		made.totals[run].cpu_ns = (uint64_t)(10000 * means[run] * MS);
	}
	compare(&comparison, &made, 3);
	ck_assert_int_eq(comparison.total.verdict, COMPARISON_SLOWER);
	ck_assert(fabs(comparison.total.change - log(1.2)) < 0.01);
	ck_assert(comparison.has_factor && fabs(comparison.factor - 1.2) < 0.01);
	for (size_t i = 0; i < ROWS; i++)
		ck_assert_int_eq(comparison.rows[i].verdict, COMPARISON_UNSURE);
	comparison_finish(&comparison);
	made.runs = 2;
	compare(&comparison, &made, 1);
	ck_assert_int_eq(comparison.total.verdict, COMPARISON_UNSURE);
	ck_assert(!comparison.total.has_error);
	comparison_finish(&comparison);
}
END_TEST

/* Nothing at all, and a run without time. */
START_TEST(test_empty)
{
	struct comparison comparison;
	const struct draws_part none[2] = {{0}};
	comparison_make(&comparison, none, none, 0, 1, 2, false);
	ck_assert(!comparison.has_factor);
	comparison_finish(&comparison);
	comparison_make(&comparison, none, none, 1, 1, 2, false);
	ck_assert_int_eq(comparison.rows[0].verdict, COMPARISON_UNSURE);
	ck_assert(!comparison.total.has_error);
	comparison_finish(&comparison);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("comparison");
	TCase *cases = tcase_create("comparison");
	tcase_set_timeout(cases, 60);
	tcase_add_test(cases, test_no_difference);
	tcase_add_test(cases, test_slower_function);
	tcase_add_test(cases, test_faster_function);
	tcase_add_test(cases, test_runs_that_vary);
	tcase_add_test(cases, test_small_part);
	tcase_add_test(cases, test_new_and_gone);
	tcase_add_test(cases, test_slower_program);
	tcase_add_test(cases, test_empty);
	suite_add_tcase(suite, cases);
	return run_suite(suite);
}
