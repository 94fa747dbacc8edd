/* Whether a collection was made since the machine started last. */
#include "tests/support/suite.h"
#include "tools/symbolization/boot.h"
#include <check.h>
#include <stddef.h>

#define SECOND UINT64_C(1000000000)
#define DAY    (86400 * SECOND)

static const struct profile_clock then = {.raw_ns = 3 * DAY, .real_ns = 20000 * DAY + 900000000};

/* What passed until now, by either clock. */
static const struct {
	uint64_t raw_ns;
	uint64_t real_ns;
	bool is_same;
} times[] = {
	{0, 0, true},
	/* Within the second of the date in which it began, and in the next. */
	{1000, 1000, true},
	{99 * SECOND / 1000, 99 * SECOND / 1000, true},
	{SECOND, SECOND, true},
	{30 * DAY, 30 * DAY + 26 * SECOND, true},
	{30 * DAY + 26 * SECOND, 30 * DAY, true},
	/* The date was set. */
	{SECOND, 5 * SECOND, true},
	{SECOND, 7 * SECOND, false},
	{8 * SECOND, SECOND, false},
	/* A clock may drift by a thousandth, in either direction. */
	{9985 * SECOND + 1, 10000 * SECOND, true},
	{9985 * SECOND, 10000 * SECOND, false},
	{10015 * SECOND - 1, 10000 * SECOND, true},
	{10015 * SECOND, 10000 * SECOND, false},
	/* Another start, a minute ago, since when the clock counts anew. */
	{60 * SECOND - 3 * DAY, 600 * SECOND, false},
	{60 * SECOND - 3 * DAY, 10 * DAY, false},
	{SECOND, -SECOND, false},
};

START_TEST(same)
{
	ck_assert_int_eq(boot_is_same(&then, then.raw_ns + times[_i].raw_ns,
				      then.real_ns + times[_i].real_ns),
			 times[_i].is_same);
}
END_TEST

/* Of a result that says anything. */
START_TEST(extremes)
{
	struct profile_clock last = {.raw_ns = UINT64_MAX, .real_ns = UINT64_MAX};
	struct profile_clock first = {.raw_ns = 0, .real_ns = 0};

	ck_assert(!boot_is_same(&last, 3 * DAY, 20000 * DAY));
	ck_assert(!boot_is_same(&first, 3 * DAY, 20000 * DAY));
	ck_assert(!boot_is_same(&first, UINT64_C(1) << 63, 0));
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("start of the machine");
	TCase *tcase = tcase_create("boot");

	tcase_add_loop_test(tcase, same, 0, sizeof(times) / sizeof(times[0]));
	tcase_add_test(tcase, extremes);
	suite_add_tcase(suite, tcase);
	return run_suite(suite);
}
