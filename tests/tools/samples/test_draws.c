/* Standard errors of shares. */
#include "tests/support/suite.h"
#include "tools/samples/draws.h"
#include <check.h>
#include <math.h>

#define MS UINT64_C(1000000)

static struct draws draw(unsigned count, uint64_t cpu_ns)
{
	struct draws draws = {0};
	for (unsigned i = 0; i < count; i++)
		draws_add_sample(&draws, cpu_ns);
	return draws;
}

static struct draws sum_of(struct draws one, struct draws other)
{
	draws_add(&one, &other);
	return one;
}

/* Equal weights: sqrt(p * (1 - p) / n). */
START_TEST(binomial)
{
	static const unsigned counts[] = {1, 2, 30, 50, 99};
	unsigned count = counts[_i];
	struct draws part = draw(count, 10 * MS);
	struct draws all = sum_of(part, draw(100 - count, 10 * MS));
	uint64_t error;
	double share = count / 100.0;
	ck_assert(draws_error(&part, &all, 1000 * MS, &error));
	ck_assert_uint_eq(error, (uint64_t)(sqrt(share * (1 - share) / 100) * 1e6 + 0.5));
}
END_TEST

/* What was measured makes the share smaller, and its error by as much. */
START_TEST(beside_measured_time)
{
	struct draws part = draw(50, 10 * MS);
	struct draws all = draw(100, 10 * MS);
	uint64_t error;
	ck_assert(draws_error(&part, &all, 4000 * MS, &error));
	ck_assert_uint_eq(error, 12500);
	ck_assert(draws_error(&all, &all, 4000 * MS, &error));
	ck_assert_uint_eq(error, 0);
}
END_TEST

START_TEST(nothing_to_tell)
{
	const struct draws none = {0};
	struct draws one = draw(1, 10 * MS);
	struct draws two = draw(2, 10 * MS);
	struct draws dominated = sum_of(draw(1, 1000 * MS), draw(100, 1));
	struct draws most = draw(3, UINT64_MAX / 4);
	uint64_t error = 77;
	ck_assert(!draws_error(&none, &two, 20 * MS, &error));
	ck_assert(!draws_error(&none, &none, 0, &error));
	ck_assert(!draws_error(&one, &one, 10 * MS, &error));
	ck_assert(!draws_error(&one, &two, 0, &error));
	ck_assert(!draws_error(&one, &dominated, 1001 * MS, &error));
	ck_assert_uint_eq(error, 77);
	ck_assert(draws_error(&one, &two, 20 * MS, &error));
	ck_assert(draws_error(&most, &most, UINT64_MAX, &error));
	ck_assert_uint_eq(error, 0);
}
END_TEST

static uint64_t random_state;

/* splitmix64, in [0, 1). */
static double random_part(void)
{
	uint64_t z = (random_state += UINT64_C(0x9e3779b97f4a7c15));
	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return (double)((z ^ z >> 31) >> 11) / (double)(UINT64_C(1) << 53);
}

/* Whether the interval of 95 % of one run holds the truth: each sample is the function's with
 * probability `share`, and weighs 10 ms, or from 5 to 50. */
static bool holds_truth(double share, unsigned samples, bool is_uneven)
{
	struct draws part = {0}, all = {0};
	uint64_t error = 0;
	for (unsigned i = 0; i < samples; i++) {
		bool is_in = random_part() < share;
		uint64_t cpu_ns = is_uneven ? 5 * MS + (uint64_t)(random_part() * 45e6) : 10 * MS;
		draws_add_sample(&all, cpu_ns);
		if (is_in)
			draws_add_sample(&part, cpu_ns);
	}
	draws_error(&part, &all, all.cpu_ns, &error);
	return fabs((double)part.cpu_ns / (double)all.cpu_ns - share) <= 1.96 * (double)error / 1e6;
}

/* Of 2,000 runs 92 to 98 % hold it. Loop: shares, of even and uneven weights. */
START_TEST(errors_are_honest)
{
	static const double shares[] = {0.5, 0.3, 0.1};
	unsigned held = 0;
	random_state = (uint64_t)_i;
	for (unsigned run = 0; run < 2000; run++)
		held += holds_truth(shares[_i % 3], 400, _i >= 3);
	ck_assert_uint_ge(held, 1840);
	ck_assert_uint_le(held, 1960);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("draws");
	TCase *tcase = tcase_create("draws");

	tcase_add_loop_test(tcase, binomial, 0, 5);
	tcase_add_test(tcase, beside_measured_time);
	tcase_add_test(tcase, nothing_to_tell);
	tcase_add_loop_test(tcase, errors_are_honest, 0, 6);
	suite_add_tcase(suite, tcase);
	return run_suite(suite);
}
