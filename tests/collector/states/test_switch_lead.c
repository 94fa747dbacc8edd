/* How much longer threads run by the scheduler's accounts than by their switches. */
#include "collector/states/switch_lead.h"
#include "tests/support/suite.h"
#include <check.h>

enum { TID = 7, OTHER = 8 };

#define MS 1000000ull
#define US 1000ull

static struct switch_lead lead;
static uint64_t now_ns;

static void set_up(void)
{
	lead = (struct switch_lead){0};
	now_ns = 1000 * MS;
}

/* The thread runs so often, 20 us each by its switches, in a millisecond. */
static void run(uint32_t tid, unsigned times)
{
	for (unsigned i = 0; i < times; i++) {
		switch_lead_in(&lead, tid, now_ns);
		switch_lead_out(&lead, tid, now_ns + 20 * US);
		now_ns += MS;
	}
}

/* An account of so many runs of 25 us, told when the thread comes to a CPU. */
static void account(uint32_t tid, uint64_t times)
{
	switch_lead_in(&lead, tid, now_ns);
	switch_lead_account(&lead, tid, now_ns, times * 25 * US, times);
	switch_lead_out(&lead, tid, now_ns + 20 * US);
	now_ns += MS;
}

START_TEST(learns)
{
	ck_assert(switch_lead_asks(&lead, TID, now_ns));
	account(TID, 1000);
	ck_assert_uint_eq(switch_lead_ns(&lead), 0);
	ck_assert(!switch_lead_asks(&lead, TID, now_ns));
	run(TID, 100);
	ck_assert(switch_lead_asks(&lead, TID, now_ns));
	ck_assert(!switch_lead_asks(&lead, OTHER, now_ns));
	/* The account is of more runs than were seen: it is ahead. */
	account(TID, 1200);
	ck_assert_uint_ge(switch_lead_ns(&lead), 5 * US);
	ck_assert_uint_lt(switch_lead_ns(&lead), 5 * US + US / 2);
}
END_TEST

/* Records come in bursts: the account did not go on, and the runs are kept for the next one. */
START_TEST(keeps_what_is_too_little)
{
	account(TID, 1000);
	run(TID, 100);
	account(TID, 1010);
	ck_assert_uint_eq(switch_lead_ns(&lead), 0);
	ck_assert(!switch_lead_asks(&lead, TID, now_ns));
	run(TID, 50);
	account(TID, 1100);
	ck_assert_uint_ge(lead.sum_times, 150);
	ck_assert_uint_ge(switch_lead_ns(&lead), 5 * US);
}
END_TEST

START_TEST(follows_another_one)
{
	account(TID, 1000);
	now_ns += 1000 * MS;
	ck_assert(switch_lead_asks(&lead, OTHER, now_ns));
	account(OTHER, 500);
	run(TID, 100); /* of no use now */
	run(OTHER, 100);
	account(OTHER, 600);
	ck_assert_uint_eq(lead.tid, OTHER);
	ck_assert_uint_ge(switch_lead_ns(&lead), 5 * US);
}
END_TEST

/* A thread that is gone, or a kernel without accounts. */
START_TEST(no_account)
{
	ck_assert(switch_lead_asks(&lead, TID, now_ns));
	switch_lead_fail(&lead, now_ns);
	ck_assert(!switch_lead_asks(&lead, TID, now_ns));
	ck_assert(!switch_lead_asks(&lead, OTHER, now_ns + 49 * MS));
	ck_assert(switch_lead_asks(&lead, OTHER, now_ns + 50 * MS));
}
END_TEST

/* What no switch takes, and less than nothing, is not believed; after a loss all begins anew. */
START_TEST(refuses)
{
	account(TID, 1000);
	run(TID, 100);
	switch_lead_account(&lead, TID, now_ns, 1000 * 25 * US + 100 * 100 * US, 1100);
	ck_assert_uint_eq(switch_lead_ns(&lead), 0);
	run(TID, 100);
	switch_lead_account(&lead, TID, now_ns, 1000 * 25 * US + 101 * 100 * US, 1200);
	ck_assert_uint_eq(switch_lead_ns(&lead), 0);
	run(TID, 100);
	switch_lead_forget(&lead);
	account(TID, 2000);
	ck_assert_uint_eq(lead.times, 0);
	switch_lead_out(&lead, TID, now_ns); /* its coming is not known */
	ck_assert_uint_eq(lead.tid, 0);
}
END_TEST

/* Accounts are of other stretches than the runs: what is too much once is too little another time.
 */
START_TEST(chance_cancels_out)
{
	account(TID, 1000);
	run(TID, 100);
	switch_lead_account(&lead, TID, now_ns, 1000 * 25 * US + 100 * 30 * US, 1100);
	ck_assert_uint_gt(switch_lead_ns(&lead), 9 * US);
	run(TID, 100);
	switch_lead_account(&lead, TID, now_ns, 1000 * 25 * US + 100 * 40 * US, 1200);
	ck_assert_uint_eq(switch_lead_ns(&lead), 0);
	run(TID, 200);
	switch_lead_account(&lead, TID, now_ns, 1000 * 25 * US + 100 * 88 * US, 1400);
	ck_assert_uint_gt(switch_lead_ns(&lead), US);
	ck_assert_uint_le(switch_lead_ns(&lead), 2 * US);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("switch lead");
	TCase *tcase = tcase_create("switch lead");

	tcase_add_checked_fixture(tcase, set_up, NULL);
	tcase_add_test(tcase, learns);
	tcase_add_test(tcase, keeps_what_is_too_little);
	tcase_add_test(tcase, follows_another_one);
	tcase_add_test(tcase, no_account);
	tcase_add_test(tcase, refuses);
	tcase_add_test(tcase, chance_cancels_out);
	suite_add_tcase(suite, tcase);
	return run_suite(suite);
}
