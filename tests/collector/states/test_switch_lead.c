/* How long before their records threads' runs begin by the scheduler's accounts. */
#include "collector/states/switch_lead.h"
#include "collector/states/task_state.h"
#include "tests/support/suite.h"
#include <check.h>

/* SAME has TID's place. */
enum { PID = 7, TID = 8, OTHER = 9, SAME = TID + SWITCH_LEAD_THREADS, CPU = 1 };

#define MS 1000000ull
#define US 1000ull

static struct switch_lead lead;
static uint64_t now_ns;

/* What the scheduler says of the thread with an id. */
static struct {
	uint64_t cpu_ns;
	uint64_t times;
} accounts[64];
static unsigned reads;
static bool has_accounts;

bool task_account_read(uint32_t pid, uint32_t tid, uint64_t *cpu_ns, uint64_t *times)
{
	ck_assert_uint_eq(pid, PID);
	reads++;
	*cpu_ns = accounts[tid].cpu_ns;
	*times = accounts[tid].times;
	return has_accounts;
}

static void set_up(void)
{
	lead = (struct switch_lead){0};
	now_ns = 1000 * MS;
	has_accounts = true;
}

static void show(uint32_t tid, uint64_t time_ns, enum record_switch_kind kind)
{
	switch_lead_show(&lead, &(struct record_switch){.time_ns = time_ns,
							.pid = PID,
							.tid = tid,
							.kind = kind,
							.cpu = CPU});
}

/* The thread runs so often, 20 us each by its switches, and lead_ns more by its account. The CPU is
 * free for gap_ns before. */
static void run(uint32_t tid, unsigned times, uint64_t gap_ns, uint64_t lead_ns)
{
	for (unsigned i = 0; i < times; i++) {
		now_ns += gap_ns;
		show(tid, now_ns, RECORD_SWITCHED_IN);
		now_ns += 20 * US;
		show(tid, now_ns, RECORD_BLOCKED);
		accounts[tid].cpu_ns += 20 * US + lead_ns;
		accounts[tid].times++;
	}
}

static void ask(void)
{
	now_ns += 20 * MS;
	switch_lead_ask(&lead, now_ns);
}

static void expect_lead(uint64_t expected_ns)
{
	ck_assert_uint_ge(switch_lead_ns(&lead), expected_ns - expected_ns / 50);
	ck_assert_uint_le(switch_lead_ns(&lead), expected_ns + expected_ns / 50);
}

/* A thread of which all switches were seen needs one account; of one that was there before, the
 * time since an earlier account counts. Loop: which. */
START_TEST(learns)
{
	accounts[TID].times = _i * 1000;
	accounts[TID].cpu_ns = _i * 50 * MS;
	run(TID, 100, MS, 5 * US);
	ck_assert_uint_eq(switch_lead_ns(&lead), 0);
	ask();
	if (_i == 1)
		ck_assert_uint_eq(switch_lead_ns(&lead), 0);
	run(TID, 100, MS, 5 * US);
	if (_i == 1)
		ask();
	expect_lead(5 * US);
}
END_TEST

/* Few switches tell little, and are kept for the next account; an account costs time. */
START_TEST(asks_seldom)
{
	run(TID, 1, MS, 5 * US);
	reads = 0;
	ask();
	ck_assert_uint_eq(reads, 1);
	run(TID, 50, MS, 5 * US);
	ask();
	ck_assert_uint_eq(reads, 1);
	run(TID, 50, MS, 5 * US);
	switch_lead_ask(&lead, lead.asked_ns + 19 * MS);
	ck_assert_uint_eq(reads, 1);
	ask();
	ck_assert_uint_eq(reads, 2);
	ck_assert_uint_eq(lead.known.times, 100);
	expect_lead(5 * US);
	for (uint32_t tid = 10; tid < 20; tid++)
		run(tid, 100, MS, 0);
	reads = 0;
	ask();
	ck_assert_uint_eq(reads, 4);
}
END_TEST

/* While a thread runs, the scheduler has not counted the run. */
START_TEST(asks_between_runs)
{
	run(TID, 100, MS, 5 * US);
	show(TID, now_ns, RECORD_SWITCHED_IN);
	accounts[TID].times++;
	reads = 0;
	ask();
	ck_assert_uint_eq(reads, 0);
	show(TID, now_ns, RECORD_PREEMPTED);
	ask();
	ck_assert_uint_eq(reads, 1);
}
END_TEST

/* From thread to thread all of the gap is theirs, however long some gaps are: the runs' begins add
 * up to the accounts. */
START_TEST(runs_without_a_pause)
{
	uint64_t missing_ns = 0;
	for (int i = 0; i < 100; i++) {
		uint64_t gap_ns = i % 10 == 0 ? 60 * US : 4 * US;
		run(TID, 1, gap_ns, gap_ns);
		missing_ns += gap_ns;
	}
	ask();
	ck_assert_uint_ge(switch_lead_ns(&lead), 50 * US);
	uint64_t found_ns = 90 * 4 * US + 10 * switch_lead_ns(&lead);
	ck_assert_uint_ge(found_ns, missing_ns * 95 / 100);
	ck_assert_uint_le(found_ns, missing_ns * 105 / 100);
}
END_TEST

/* Half of the runs follow another one, half the idle CPU. */
START_TEST(some_gaps_are_short)
{
	for (int i = 0; i < 100; i++) {
		run(TID, 1, 3 * US, 3 * US);
		run(TID, 1, MS, 9 * US);
	}
	ask();
	expect_lead(9 * US);
}
END_TEST

/* The gap is since whatever thread of ours left that CPU. */
START_TEST(gaps_of_cpus)
{
	for (int i = 0; i < 100; i++) {
		run(OTHER, 1, MS, 0);
		now_ns += 2 * US;
		show(TID, now_ns, RECORD_SWITCHED_IN);
		show(TID, now_ns + US, RECORD_BLOCKED);
	}
	ck_assert_uint_eq(lead.threads[TID % SWITCH_LEAD_THREADS]
				  .gaps.gaps[2 * US / SWITCH_LEAD_STEP]
				  .times,
			  100);
	ck_assert_uint_eq(lead.threads[OTHER % SWITCH_LEAD_THREADS]
				  .gaps.gaps[SWITCH_LEAD_GAPS - 1]
				  .times,
			  100);
	switch_lead_show(&lead, &(struct record_switch){.time_ns = now_ns + US,
							.pid = PID,
							.tid = TID,
							.kind = RECORD_SWITCHED_IN,
							.cpu = UINT32_MAX});
	ck_assert_uint_eq(lead.threads[TID % SWITCH_LEAD_THREADS]
				  .gaps.gaps[SWITCH_LEAD_GAPS - 1]
				  .times,
			  1);
}
END_TEST

/* Of two threads with one place, the one that switches more has it. */
START_TEST(rivals)
{
	run(TID, 100, MS, 5 * US);
	run(SAME, 100, MS, 5 * US);
	ck_assert_uint_eq(lead.threads[TID % SWITCH_LEAD_THREADS].tid, TID);
	run(SAME, 1, MS, 5 * US);
	ck_assert_uint_eq(lead.threads[TID % SWITCH_LEAD_THREADS].tid, SAME);
	ck_assert_uint_eq(lead.threads[TID % SWITCH_LEAD_THREADS].gaps.times, 1);
	show(SAME, now_ns, RECORD_ENDED);
	ck_assert_uint_eq(lead.threads[TID % SWITCH_LEAD_THREADS].tid, 0);
}
END_TEST

/* Threads that are gone, and kernels without accounts. */
START_TEST(no_account)
{
	has_accounts = false;
	run(TID, 100, MS, 5 * US);
	ask();
	ck_assert_uint_eq(lead.threads[TID % SWITCH_LEAD_THREADS].tid, 0);
	ck_assert_uint_eq(switch_lead_ns(&lead), 0);
}
END_TEST

/* Another thread with the id, records that are missing, and what no switch takes. Loop: which. */
START_TEST(refuses)
{
	run(TID, 100, MS, 5 * US);
	ask();
	expect_lead(5 * US);
	run(TID, 100, MS, _i == 2 ? 50 * US : 15 * US);
	if (_i == 0)
		accounts[TID].times = 150, accounts[TID].cpu_ns = 2 * MS;
	if (_i == 1)
		accounts[TID].times += 50;
	ask();
	expect_lead(5 * US);
}
END_TEST

/* An account may be of a moment before or behind: what is too much once is too little another
 * time. */
START_TEST(chance_cancels_out)
{
	run(TID, 100, MS, 10 * US);
	ask();
	expect_lead(10 * US);
	run(TID, 100, MS, 0);
	accounts[TID].cpu_ns -= 100 * 12 * US;
	ask();
	ck_assert_uint_eq(switch_lead_ns(&lead), 0);
	run(TID, 200, MS, 4 * US);
	ask();
	expect_lead(3 * US / 2);
}
END_TEST

/* The lead follows the machine, which may be slower by now. */
START_TEST(forgets)
{
	run(TID, 5000, MS, 5 * US);
	ask();
	expect_lead(5 * US);
	for (int i = 0; i < 12; i++) {
		run(TID, 4000, MS, 15 * US);
		ask();
	}
	expect_lead(15 * US);
	ck_assert_uint_lt(lead.known.times, 9000);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("switch lead");
	TCase *tcase = tcase_create("switch lead");

	tcase_add_checked_fixture(tcase, set_up, NULL);
	tcase_add_loop_test(tcase, learns, 0, 2);
	tcase_add_test(tcase, asks_seldom);
	tcase_add_test(tcase, asks_between_runs);
	tcase_add_test(tcase, runs_without_a_pause);
	tcase_add_test(tcase, some_gaps_are_short);
	tcase_add_test(tcase, gaps_of_cpus);
	tcase_add_test(tcase, rivals);
	tcase_add_test(tcase, no_account);
	tcase_add_loop_test(tcase, refuses, 0, 3);
	tcase_add_test(tcase, chance_cancels_out);
	tcase_add_test(tcase, forgets);
	suite_add_tcase(suite, tcase);
	return run_suite(suite);
}
