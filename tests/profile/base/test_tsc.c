/* The map between raw nanoseconds and TSC values. */
#include "profile/base/tsc.h"
#include "tests/profile/fixture.h"

static const struct profile_clock three_ghz = {
	.tsc = FIXTURE_TSC,
	.raw_ns = FIXTURE_RAW_NS,
	.tsc_per_ns_q32 = FIXTURE_RATE_Q32,
};

START_TEST(tsc_map)
{
	ck_assert_uint_eq(profile_tsc_from_raw(&three_ghz, FIXTURE_RAW_NS), FIXTURE_TSC);
	ck_assert_uint_eq(profile_tsc_from_raw(&three_ghz, FIXTURE_RAW_NS + 7), FIXTURE_TSC + 21);
	ck_assert_uint_eq(profile_tsc_from_raw(&three_ghz, FIXTURE_RAW_NS - 7), FIXTURE_TSC - 21);
	ck_assert_uint_eq(profile_tsc_from_raw(&three_ghz, PROFILE_TIME_BEFORE), 0);
	ck_assert_uint_eq(profile_tsc_from_raw(&three_ghz, PROFILE_TIME_NEVER), UINT64_MAX);
	ck_assert_uint_eq(profile_raw_from_tsc(&three_ghz, 0), 0);
	ck_assert_uint_eq(profile_raw_from_tsc(&three_ghz, UINT64_MAX), UINT64_MAX);
}
END_TEST

START_TEST(tsc_map_rounds_down_everywhere)
{
	/* 1.5 ticks per ns: profile.h's formula, floor on both sides of the sync point. */
	struct profile_clock clock = {.tsc = 1000, .raw_ns = 1000, .tsc_per_ns_q32 = 3u << 31};

	clock.tsc_per_ns_q32 = UINT64_C(3) << 31;
	ck_assert_uint_eq(profile_tsc_from_raw(&clock, 1001), 1001);
	ck_assert_uint_eq(profile_tsc_from_raw(&clock, 999), 998);
}
END_TEST

START_TEST(tsc_map_saturates)
{
	struct profile_clock clock = {.tsc = 100, .raw_ns = 1000, .tsc_per_ns_q32 = UINT64_MAX};

	ck_assert_uint_eq(profile_tsc_from_raw(&clock, UINT64_MAX - 1), UINT64_MAX - 1);
	ck_assert_uint_eq(profile_tsc_from_raw(&clock, 1), 1);
	clock.tsc_per_ns_q32 = 1;
	ck_assert_uint_eq(profile_raw_from_tsc(&clock, UINT64_MAX - 1), UINT64_MAX - 1);
	ck_assert_uint_eq(profile_raw_from_tsc(&clock, 1), 1);
	clock.tsc_per_ns_q32 = 0;
	ck_assert_uint_eq(profile_raw_from_tsc(&clock, 12345), 12345);
}
END_TEST

START_TEST(tsc_map_inverts)
{
	static const uint64_t rates[] = {UINT64_C(1) << 32, (UINT64_C(1) << 32) * 21 / 10,
					 FIXTURE_RATE_Q32, UINT64_C(25769803775)};

	for (size_t r = 0; r < sizeof(rates) / sizeof(rates[0]); r++) {
		struct profile_clock clock = three_ghz;
		clock.tsc_per_ns_q32 = rates[r];
		for (uint64_t ns = FIXTURE_RAW_NS - 1000000; ns < FIXTURE_RAW_NS + 1000000;
		     ns += 997)
			ck_assert_uint_eq(profile_raw_from_tsc(&clock,
							       profile_tsc_from_raw(&clock, ns)),
					  ns);
	}
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("profile tsc");
	TCase *tcase = tcase_create("tsc");

	tcase_add_test(tcase, tsc_map);
	tcase_add_test(tcase, tsc_map_rounds_down_everywhere);
	tcase_add_test(tcase, tsc_map_saturates);
	tcase_add_test(tcase, tsc_map_inverts);
	suite_add_tcase(suite, tcase);
	return run_suite(suite);
}
