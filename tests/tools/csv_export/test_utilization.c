/* Time of threads in equal parts; a part grows with the time, and nothing gets lost. */
#include "tests/support/suite.h"
#include "tools/csv_export/utilization.h"
#include <check.h>

static struct utilization utilization;

static void begin(uint64_t start_ns, uint64_t width_ns)
{
	utilization = (struct utilization){.start_ns = start_ns, .width_ns = width_ns};
}

static uint64_t sum(void)
{
	uint64_t total = 0;
	for (size_t i = 0; i < utilization.count; i++)
		total += utilization.busy_ns[i];
	return total;
}

START_TEST(parts)
{
	begin(1000, 100);
	utilization_add(&utilization, 1050, 1250);
	utilization_add(&utilization, 1200, 1300); /* another thread */
	utilization_add(&utilization, 1300, 1300);
	ck_assert_uint_eq(utilization.count, 3);
	ck_assert_uint_eq(utilization_percent(&utilization, 0), 50);
	ck_assert_uint_eq(utilization_percent(&utilization, 1), 100);
	ck_assert_uint_eq(utilization_percent(&utilization, 2), 150);
	utilization_finish(&utilization);
	ck_assert_uint_eq(utilization.count, 0);
	utilization_finish(&utilization);
}
END_TEST

START_TEST(long_time)
{
	begin(0, 1);
	for (uint64_t at = 0; at < 1000000; at += 10)
		utilization_add(&utilization, at, at + 7);
	ck_assert_uint_eq(utilization.width_ns, 16);
	ck_assert_uint_eq(utilization.count, 62500);
	ck_assert_uint_eq(sum(), 700000);
	/* A file may say anything. */
	utilization_add(&utilization, UINT64_MAX - 5, UINT64_MAX);
	ck_assert_uint_eq(sum(), 700005);
	ck_assert_uint_eq(utilization.busy_ns[0], 700000);
	ck_assert_uint_eq(utilization.busy_ns[utilization.count - 1], 5);
	utilization_finish(&utilization);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("utilization");
	TCase *tcase = tcase_create("utilization");
	tcase_add_test(tcase, parts);
	tcase_add_test(tcase, long_time);
	suite_add_tcase(suite, tcase);
	return run_suite(suite);
}
