/* The budget by a made-up clock: programs of which collecting takes so much for each second. */
#include "collector/perf/sampling.h"
#include "collector/session/budget.h"
#include "tests/support/suite.h"
#include <check.h>
#include <stdlib.h>

#define MS 1000000ull
#define S  (1000 * MS)

static struct budget budget;
static struct budget_reading at;

/* Steps as often as they are due. Of each ns of the program, collecting takes what a sample takes
 * anyway, and with its share of the stacks what these take. */
static void run(uint64_t time_ns, double cpus, double anyway, double stacks)
{
	uint64_t end_ns = at.now_ns + time_ns;
	for (; at.now_ns < end_ns; at.now_ns += MS) {
		double program = (double)MS * cpus;
		double share = (double)budget.share / (double)SAMPLING_SHARE_ALL;
		at.program_ns += (uint64_t)program;
		at.own_ns += (uint64_t)(program * (anyway + share * stacks));
		if (budget_is_due(&budget, at.now_ns))
			budget_step(&budget, &at);
	}
}

static double share(void)
{
	return (double)budget.share / (double)SAMPLING_SHARE_ALL;
}

static void begin(double limit)
{
	at = (struct budget_reading){.now_ns = 5000 * S, .own_ns = 7 * S, .program_ns = 3 * S};
	budget_begin(&budget, limit, at.now_ns);
}

/* However much it costs; what it cost is not held against it later. */
START_TEST(first_second_is_free)
{
	begin(0.05);
	run(S - MS, 2, 5, 5);
	ck_assert_uint_eq(budget.share, SAMPLING_SHARE_ALL);
	run(3 * S, 2, 0.01, 0.03);
	ck_assert_uint_eq(budget.share, SAMPLING_SHARE_ALL);
}
END_TEST

START_TEST(follows_the_cost)
{
	static const struct {
		double limit, cpus, anyway, stacks, share;
	} rules[] = {
		{0.05, 1, 0.01, 0.03, 1},          /* cheap enough */
		{0.05, 1, 0.01, 0.08, 0.5},        /* one half */
		{0.05, 64, 0.01, 0.08, 0.5},       /* of many CPUs */
		{0.05, 1, 0.04, 0.10, 0.1},        /* most of it is not the stacks' */
		{0.15, 1, 0.04, 0.10, 1},          /* with a larger limit */
		{0.05, 1, 0.06, 0.10, 1.0 / 64},   /* no share is small enough */
		{0.0001, 1, 0.06, 0.10, 1.0 / 64}, /* nor for such a limit */
		{0, 1, 10, 10, 1},                 /* no limit */
	};
	for (size_t i = 0; i < sizeof(rules) / sizeof(rules[0]); i++) {
		begin(rules[i].limit);
		run(40 * S, rules[i].cpus, rules[i].anyway, rules[i].stacks);
		ck_assert_double_eq_tol(share(), rules[i].share, rules[i].share * 0.05);
	}
}
END_TEST

/* Half a second is used ahead, which five seconds take here; over a minute the limit holds. */
START_TEST(start_is_dear)
{
	begin(0.05);
	run(5 * S, 1, 0.01, 0.14);
	ck_assert_uint_eq(budget.share, SAMPLING_SHARE_ALL);
	run(3 * S, 1, 0.01, 0.14);
	ck_assert_double_eq_tol(share(), 0.04 / 0.14, 0.02);
	run(52 * S, 1, 0.01, 0.14);
	ck_assert_double_eq_tol(share(), 0.04 / 0.14, 0.02);
	double own_s = (double)(at.own_ns - 7 * S) / (double)S;
	ck_assert_double_ge(own_s, 0.15 + 59 * 0.05 + 0.45);
	ck_assert_double_le(own_s, 0.15 + 59 * 0.05 + 0.55);
}
END_TEST

/* Not more is saved than there was at first. */
START_TEST(rest_is_saved)
{
	begin(0.05);
	run(100 * S, 1, 0.01, 0.01);
	ck_assert_double_eq_tol(budget.spare_ns, 0.5 * S, 1);
	run(3 * S, 1, 0.01, 0.14);
	ck_assert_uint_eq(budget.share, SAMPLING_SHARE_ALL);
	run(5 * S, 1, 0.01, 0.14);
	ck_assert_double_eq_tol(share(), 0.04 / 0.14, 0.02);
}
END_TEST

/* A dear part of the program is over. */
START_TEST(comes_back)
{
	begin(0.05);
	run(5 * S, 1, 0.01, 0.64);
	ck_assert_double_eq_tol(share(), 1.0 / 16, 0.01);
	run(4 * S, 1, 0.01, 0.02);
	ck_assert_uint_eq(budget.share, SAMPLING_SHARE_ALL);
}
END_TEST

/* What collecting costs while the program sleeps is not taken from the stacks after it, nor is a
 * count that went back taken for a large one. */
START_TEST(idle_program)
{
	begin(0.05);
	run(2 * S, 1, 0.01, 0.03);
	for (int i = 0; i < 40; i++) {
		at.now_ns += S;
		at.own_ns += MS / 20;
		ck_assert(budget_is_due(&budget, at.now_ns));
		budget_step(&budget, &at);
	}
	ck_assert_uint_eq(budget.share, SAMPLING_SHARE_ALL);
	at.program_ns -= S;
	at.now_ns += S;
	budget.share = SAMPLING_SHARE_ALL / 2;
	budget_step(&budget, &at);
	ck_assert_uint_eq(budget.share, SAMPLING_SHARE_ALL / 2);
}
END_TEST

/* Reading the counts of thousands of threads takes its time: it comes the more seldom. */
START_TEST(dear_readings_are_seldom)
{
	int steps = 0;
	begin(0.05);
	at.taken_ns = 10 * MS;
	for (; at.now_ns < 5020 * S; at.now_ns += MS) {
		if (!budget_is_due(&budget, at.now_ns))
			continue;
		steps++;
		budget_step(&budget, &at);
	}
	ck_assert_int_eq(steps, 10); /* 100 ms in 20 s */
}
END_TEST

/* Not even the dearest reading puts the next one off for long. */
START_TEST(pause_has_an_end)
{
	static const uint64_t taken_ns[] = {500 * MS, 3600 * S, UINT64_MAX};
	for (size_t i = 0; i < sizeof(taken_ns) / sizeof(taken_ns[0]); i++) {
		begin(0.05);
		at.taken_ns = taken_ns[i];
		budget_step(&budget, &at);
		ck_assert_uint_eq(budget.next_ns, at.now_ns + 5 * S);
	}
}
END_TEST

int main(void)
{
	TCase *tcase = tcase_create("budget");
	tcase_add_test(tcase, first_second_is_free);
	tcase_add_test(tcase, follows_the_cost);
	tcase_add_test(tcase, start_is_dear);
	tcase_add_test(tcase, rest_is_saved);
	tcase_add_test(tcase, comes_back);
	tcase_add_test(tcase, idle_program);
	tcase_add_test(tcase, dear_readings_are_seldom);
	tcase_add_test(tcase, pause_has_an_end);
	Suite *suite = suite_create("budget");
	suite_add_tcase(suite, tcase);
	return run_suite(suite);
}
