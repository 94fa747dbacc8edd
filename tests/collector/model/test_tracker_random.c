/* Samples drawn from ticks: accounts hold what the events counted, weights are proportional to what
 * the samples stand for. */
#include "tests/collector/tracker_fixture.h"
#include "tests/support/suite.h"
#include <check.h>
#include <math.h>
#include <stdlib.h>

enum { APP = 5000000 };

#define US 1000ull
#define MS 1000000ull

#define INTERVAL (10 * MS)
#define TICK     (1250 * US)

static struct sampling sampling;
static struct fixture_config config;

static void configure(enum profile_kernel_time kernel_time, bool has_count)
{
	config.has_count = has_count;
	config.kernel_time = kernel_time;
	fixture_configure(config);
	feed_launch(10, APP, "app");
}

static void setup(void)
{
	fixture_setup();
	sampling = sampling_choose(PROFILE_SAMPLING_THREADS, INTERVAL, 4711);
	sampling.tick_ns = TICK;
	config = (struct fixture_config){.sampling = &sampling};
	configure(PROFILE_KERNEL_TIME_AT_CALLS, true);
}

static struct record make_tick(uint64_t time_ns, uint32_t tid, uint64_t count, bool is_sample)
{
	struct record record = fixture_make_sample(time_ns, APP);
	record.tid = tid;
	record.sample.count = count;
	record.sample.period = TICK;
	record.sample.choice = is_sample ? RECORD_KEPT : RECORD_TICK;
	return record;
}

static void feed_tick(uint64_t time_ns, uint32_t tid, size_t ring, uint64_t count, bool is_sample)
{
	struct record record = make_tick(time_ns, tid, count, is_sample);
	feed(&record, ring, false);
}

static struct profile_stack last_stack(void)
{
	return fake_emit_last_sample(emit).stack;
}

static uint64_t counted_ns(void)
{
	struct tracker_counts counts;
	tracker_counts(tracker, &counts);
	return counts.cpu_ns;
}

/* The thread's account as it is written at its end. */
static struct profile_thread_life end(uint64_t time_ns, uint32_t tid)
{
	feed_exit(time_ns, APP, tid);
	struct profile_thread_life out = fake_emit_last_thread(emit);
	ck_assert_uint_eq(out.tid, tid);
	return out;
}

static void start(uint64_t time_ns, uint32_t tid)
{
	feed_fork(time_ns, APP, tid, APP, APP);
}

/* A tick counts and shows nothing; a sample weighs an interval, its account is what was counted. */
START_TEST(ticks_and_samples)
{
	start(20, APP + 1);
	for (uint64_t i = 1; i <= 8; i++)
		feed_tick(20 + i * TICK, APP + 1, 0, i * TICK, false);
	ck_assert_uint_eq(fake_emit_sums(emit).samples, 0);
	ck_assert_uint_eq(counted_ns(), 8 * TICK);
	feed_tick(20 + 9 * TICK, APP + 1, 0, 9 * TICK, true);
	ck_assert_uint_eq(last_stack().cpu_ns, INTERVAL);
	/* Late, and the next one early. */
	feed_tick(30 + 10 * TICK, APP + 1, 1, TICK * 12 / 10, true);
	ck_assert_uint_eq(last_stack().cpu_ns, INTERVAL * 12 / 10);
	feed_tick(40 + 11 * TICK, APP + 1, 1, 2 * TICK, true);
	ck_assert_uint_eq(last_stack().cpu_ns, INTERVAL * 8 / 10);
	struct profile_thread_life out = end(40 + 11 * TICK, APP + 1);
	ck_assert_uint_eq(out.cpu_ns, 11 * TICK);
	ck_assert_uint_eq(out.sampled_ns, 3 * INTERVAL);
	ck_assert_uint_eq(out.kernel_ns, 0);
	ck_assert_uint_eq(out.rest_ns, 0);
	ck_assert_uint_eq(out.samples, 3);
}
END_TEST

/* Loop: whether the count comes with ticks. Each CPU has another distance. */
START_TEST(distances_of_cpus)
{
	configure(PROFILE_KERNEL_TIME_AT_CALLS, _i == 0);
	start(20, APP + 1);
	struct record record = make_tick(30, APP + 1, 1100 * US, true);
	record.sample.period = 1100 * US;
	feed(&record, 0, false);
	ck_assert_uint_eq(last_stack().cpu_ns, INTERVAL);
	record.sample.count = record.sample.period = 1400 * US;
	feed(&record, 1, false);
	ck_assert_uint_eq(last_stack().cpu_ns, INTERVAL);
	/* One of an interval or more stands for itself. */
	record.sample.count += record.sample.period = INTERVAL + 5;
	feed(&record, 1, false);
	ck_assert_uint_eq(last_stack().cpu_ns, INTERVAL + 5);
	record = make_tick(40, APP + 1, 1100 * US + TICK, false);
	feed(&record, 0, false);
	ck_assert_uint_eq(end(50, APP + 1).cpu_ns, 2500 * US + INTERVAL + 5 + TICK);
}
END_TEST

/* Where kernel mode is not sampled, the time in it is known of each tick that follows; the next
 * sample carries it, of whichever ring, and what is left is the thread's. */
START_TEST(kernel_time_apart)
{
	configure(PROFILE_KERNEL_TIME_APART, true);
	start(20, APP + 1);
	feed_tick(30, APP + 1, 0, 3 * TICK, false);
	feed_tick(40, APP + 1, 1, 2 * TICK, false);
	feed_tick(50, APP + 1, 0, 4 * TICK, true);
	ck_assert_uint_eq(last_stack().kernel_us, 3 * TICK / US);
	ck_assert_uint_eq(last_stack().cpu_ns, INTERVAL + 3 * TICK);
	feed_tick(60, APP + 1, 0, 5 * TICK, true);
	ck_assert_uint_eq(last_stack().kernel_us, 0);
	ck_assert_uint_eq(last_stack().cpu_ns, INTERVAL);
	feed_tick(70, APP + 1, 0, 10 * TICK, false);
	struct profile_thread_life out = end(80, APP + 1);
	ck_assert_uint_eq(out.cpu_ns, 12 * TICK);
	ck_assert_uint_eq(out.kernel_ns, 3 * TICK);
	ck_assert_uint_eq(out.rest_ns, 4 * TICK);
	ck_assert_uint_eq(out.sampled_ns, 2 * INTERVAL);
}
END_TEST

/* More than a sample's field holds: the next one has the rest. */
START_TEST(kernel_time_beyond_the_field)
{
	const uint64_t most_us = PROFILE_KERNEL_ALL - 1;
	configure(PROFILE_KERNEL_TIME_APART, true);
	start(20, APP + 1);
	const uint64_t last = (most_us * US / TICK + 11) * TICK;
	feed_tick(30, APP + 1, 0, last, true);
	ck_assert_uint_eq(last_stack().kernel_us, most_us);
	ck_assert_uint_eq(last_stack().cpu_ns, INTERVAL + most_us * US);
	feed_tick(40, APP + 1, 0, last + TICK, true);
	struct profile_thread_life out = end(80, APP + 1);
	ck_assert_uint_eq(out.kernel_ns + out.rest_ns, last - TICK);
	ck_assert_uint_lt(out.rest_ns, US);
}
END_TEST

/* A damaged record's count: the weight stays as large, with the kernel's part in it. */
START_TEST(count_beyond_all_time)
{
	configure(PROFILE_KERNEL_TIME_APART, true);
	start(20, APP + 1);
	feed_tick(30, APP + 1, 0, 3 * TICK, false);
	feed_tick(40, APP + 1, 0, UINT64_MAX, true);
	ck_assert_uint_eq(last_stack().kernel_us, 2 * TICK / US);
	ck_assert_uint_eq(last_stack().cpu_ns, UINT64_MAX);
}
END_TEST

/* Loop: lost, throttled. What was lost is of nobody's function, and not the kernel's. */
START_TEST(gaps)
{
	configure(PROFILE_KERNEL_TIME_APART, true);
	start(20, APP + 1);
	feed_tick(30, APP + 1, 0, TICK, false);
	if (_i == 0)
		feed_lost(35, 0, 7);
	else
		feed(&(struct record){.kind = RECORD_THROTTLE, .time_ns = 35}, 0, false);
	feed_tick(40, APP + 1, 0, 9 * TICK, true);
	ck_assert_uint_eq(last_stack().cpu_ns, INTERVAL);
	ck_assert_uint_eq(last_stack().kernel_us, 0);
	struct profile_thread_life out = end(80, APP + 1);
	ck_assert_uint_eq(out.cpu_ns, 9 * TICK);
	ck_assert_uint_eq(out.rest_ns, 0);
}
END_TEST

/* Loop: registers of none, of a program that exec ends. The kernel's time for which no user code
 * stands is not scaled either. */
START_TEST(no_user_code)
{
	start(20, APP + 1);
	struct record record = make_tick(30, APP + 1, TICK, false);
	record.sample.in_kernel = true;
	if (_i == 0)
		record.sample.abi = RECORD_REGISTERS_NONE;
	for (size_t i = 0; i < UW_REGS_MAX && _i == 1; i++)
		record.sample.regs.value[i] = 0x7f0000001234;
	feed(&record, 0, false);
	record.sample.count = 2 * TICK;
	record.sample.choice = RECORD_KEPT;
	feed(&record, 0, false);
	ck_assert_uint_eq(last_stack().kernel_us, PROFILE_KERNEL_ALL);
	ck_assert_uint_eq(last_stack().cpu_ns, 2 * TICK);
	record.sample.count = 3 * TICK;
	record.sample.choice = RECORD_TICK;
	feed(&record, 0, false);
	feed_tick(50, APP + 1, 0, 4 * TICK, true); /* the program's own code */
	ck_assert_uint_eq(last_stack().cpu_ns, INTERVAL + TICK);
	ck_assert_uint_eq(last_stack().kernel_us, TICK / US);
	record.sample.count = 5 * TICK;
	feed(&record, 0, false);
	struct profile_thread_life out = end(60, APP + 1);
	ck_assert_uint_eq(out.cpu_ns, 5 * TICK);
	ck_assert_uint_eq(out.kernel_ns, 3 * TICK);
	ck_assert_uint_eq(out.rest_ns, _i == 0 ? TICK : 0);
}
END_TEST

/* What the account may lack: half a tick on each ring where there was one, no more than passed. */
START_TEST(unseen)
{
	start(1 * MS, APP + 1);
	start(1 * MS, APP + 2);
	start(1 * MS, APP + 3);
	feed_tick(20 * MS, APP + 1, 0, TICK, false);
	feed_tick(40 * MS, APP + 1, 1, TICK, true);
	ck_assert_uint_eq(end(40 * MS + 200 * US, APP + 1).unseen_ns, TICK / 2 + 100 * US);
	ck_assert_uint_eq(end(40 * MS + 300 * US, APP + 2).unseen_ns, TICK / 2);
	start(41 * MS, APP + 4);
	ck_assert_uint_eq(end(41 * MS + 50 * US, APP + 4).unseen_ns, 25 * US);
	fixture_end();
	ck_assert_uint_eq(fake_emit_last_thread(emit).unseen_ns, TICK / 2);
}
END_TEST

/* Fixed distances leave something unseen too. */
START_TEST(unseen_of_fixed_distances)
{
	fixture_configure((struct fixture_config){.has_count = true});
	feed_launch(10, APP, "app");
	start(1 * MS, APP + 1);
	feed_sample(40 * MS, APP, APP + 1, 0, INTERVAL);
	struct profile_thread_life out = end(43 * MS, APP + 1);
	ck_assert_uint_eq(out.unseen_ns, 1500 * US);
	ck_assert_uint_eq(out.cpu_ns, INTERVAL);
}
END_TEST

/* Loop: other threads or none. What the events counted more is one thread's, whose account is exact
 * then; what may be of several is in none. */
START_TEST(settles)
{
	feed_tick(30, APP, 0, TICK, true);
	if (_i == 1)
		start(40, APP + 1);
	tracker_settle(tracker, 0, TICK + 700 * US);
	struct tracker_counts counts;
	tracker_counts(tracker, &counts);
	ck_assert_uint_eq(counts.unattributed_ns, _i == 1 ? 700 * US : 0);
	if (_i == 1)
		end(MS, APP + 1);
	feed_exit(5 * MS, APP, APP);
	fixture_end();
	struct profile_thread_life out = fake_emit_last_thread(emit);
	ck_assert_uint_eq(out.tid, APP);
	ck_assert_uint_eq(out.cpu_ns, _i == 1 ? TICK : TICK + 700 * US);
	ck_assert_uint_eq(out.unseen_ns, _i == 1 ? TICK / 2 : 0);
	ck_assert_uint_eq(out.rest_ns, 0);
}
END_TEST

/* What lies after the last tick of a thread is less than one on each ring, unless it is the
 * kernel's. */
START_TEST(settles_kernel_time)
{
	configure(PROFILE_KERNEL_TIME_APART, true);
	feed_tick(30, APP, 0, TICK, true);
	feed_tick(40, APP, 1, TICK, false);
	tracker_settle(tracker, 0, 4 * TICK);
	tracker_settle(tracker, 0, 104 * TICK);
	feed_exit(5 * MS, APP, APP);
	fixture_end();
	struct profile_thread_life out = fake_emit_last_thread(emit);
	ck_assert_uint_eq(out.cpu_ns, 104 * TICK);
	ck_assert_uint_eq(out.rest_ns, 99 * TICK);
}
END_TEST

/* What is in no account is what lies between ticks, and where that is not enough, in the kernel; of
 * the followed threads only. */
START_TEST(unattributed_kernel_time)
{
	configure(PROFILE_KERNEL_TIME_APART, true);
	feed_tick(1 * MS, APP, 0, TICK, false);
	start(1 * MS, APP + 1);
	start(1 * MS, APP + 2);
	feed_tick(4 * MS, APP + 1, 0, TICK, false);
	feed_exit(4 * MS + 300 * US, APP, APP + 1);
	feed_exit(9 * MS, APP, APP + 2);
	tracker_settle(tracker, 0, 2 * TICK + 4 * MS);
	tracker_settle_all(tracker, 50 * MS);
	feed_exit(20 * MS, APP, APP);
	fixture_end();
	/* Between ticks: 300 us, and half a tick of the two others. */
	fake_emit_assert(emit, "note 48 at 20000000 value 2450000 0/0", 1);
	ck_assert_uint_eq(fake_emit_count(emit, "note 18 at 20000000 value 47500000"), 1);
}
END_TEST

/* Loop: nothing more than that; kernel mode is sampled. */
START_TEST(nothing_more_in_the_kernel)
{
	configure(_i == 0 ? PROFILE_KERNEL_TIME_APART : PROFILE_KERNEL_TIME_AT_CALLS, true);
	start(1 * MS, APP + 1);
	feed_tick(4 * MS, APP + 1, 0, TICK, false);
	feed_exit(9 * MS, APP, APP + 1);
	tracker_settle(tracker, 0, TICK + (_i == 0 ? TICK : 9 * TICK));
	feed_exit(9 * MS, APP, APP);
	fixture_end();
	ck_assert_uint_eq(fake_emit_count(emit, "note 48 "), 0);
	ck_assert_uint_eq(fake_emit_count(emit, "note 18 "), 1);
}
END_TEST

/* The counts at a thread's end: whole distances without a tick were the kernel's. */
START_TEST(final_counts)
{
	config.final_counts = true;
	configure(PROFILE_KERNEL_TIME_APART, true);
	uint64_t ticks[] = {sampling_tick_ns(&sampling, FIXTURE_CPU_0, 0),
			    sampling_tick_ns(&sampling, FIXTURE_CPU_1, 0)};
	start(20, APP + 1);
	feed_tick(30, APP + 1, 0, TICK, false);
	feed_exit(40, APP, APP + 1);
	feed_count(41, APP, APP + 1, 0, TICK + 3 * ticks[0] + 10);
	feed_count(41, APP, APP + 1, 1, ticks[1] - 1);
	struct profile_thread_life out = fake_emit_last_thread(emit);
	ck_assert_uint_eq(out.cpu_ns, TICK + 3 * ticks[0] + 10 + ticks[1] - 1);
	ck_assert_uint_eq(out.rest_ns, 3 * ticks[0]);
	ck_assert_uint_eq(out.unseen_ns, 0);
}
END_TEST

/* An exec gives a thread the id of its process's first: what its next sample was to carry goes
 * along, and so does what is still to be counted. */
START_TEST(exec_takes_over_an_id)
{
	configure(PROFILE_KERNEL_TIME_APART, true);
	start(20, APP + 1);
	feed_tick(30, APP + 1, 0, 3 * TICK, false);
	feed_exit(40, APP, APP);
	feed_exec(50, APP, "next");
	struct profile_thread_life out = fake_emit_last_thread(emit);
	ck_assert_uint_eq(out.tid, APP + 1);
	ck_assert_uint_eq(out.cpu_ns, 3 * TICK);
	ck_assert_uint_eq(out.rest_ns, 0);
	ck_assert_uint_eq(out.unseen_ns, 0);
	feed_tick(60, APP, 0, 4 * TICK, true);
	ck_assert_uint_eq(last_stack().cpu_ns, INTERVAL + 2 * TICK);
	ck_assert_uint_eq(last_stack().kernel_us, 2 * TICK / US);
}
END_TEST

/* A program that does three things in turn, of 50, 30 and 20 % of its cycle, whose length is a
 * loop's part of the interval: each is in samples and weights as often as it is on the CPU, drawn
 * as the ring's reader draws. Six standard deviations of as many independent samples; with the seed
 * given there is no false alarm. */
START_TEST(shares_of_a_periodic_program)
{
	static const double cycles[] = {0.2, 0.5, 1, 1.5, 2, 5};
	enum { SAMPLES = 4000 };
	const double shares[] = {0.5, 0.3, 0.2};
	const uint64_t cycle = (uint64_t)((double)INTERVAL * cycles[_i]);
	uint64_t tick = sampling_tick_ns(&sampling, FIXTURE_CPU_0, 0);
	double weights[3] = {0};
	double total = 0;
	double samples = 0;
	for (uint64_t count = tick; count < SAMPLES * INTERVAL; count += tick) {
		uint64_t phase = count % cycle * 10 / cycle;
		bool is_sample = sampling_keeps(&sampling, tick, APP, 77 + count);
		struct record record = make_tick(77 + count, APP, count, is_sample);
		record.sample.period = tick;
		feed(&record, 0, false);
		if (!is_sample)
			continue;
		double weight = (double)last_stack().cpu_ns;
		weights[phase < 5 ? 0 : phase < 8 ? 1 : 2] += weight;
		total += weight;
		samples++;
	}
	double truth = (double)counted_ns();
	ck_assert_double_eq_tol(samples, SAMPLES, 6 * sqrt(SAMPLES));
	ck_assert_double_eq_tol(total / truth, 1, 6 / sqrt(SAMPLES));
	for (size_t i = 0; i < 3; i++)
		ck_assert_double_eq_tol(weights[i] / total, shares[i],
					6 * sqrt(shares[i] * (1 - shares[i]) / SAMPLES));
}
END_TEST

/* Threads that live for a part of a tick to a part of an interval: their samples weigh what they
 * used, in the mean. Loop: its length in us. */
START_TEST(short_lives)
{
	static const uint64_t lengths[] = {100, 700, 1250, 3000, 9000};
	enum { LIVES = 20000 };
	const uint64_t length = lengths[_i] * US;
	unsigned seed = 5;
	double sampled = 0;
	double accounts = 0;
	uint64_t now = 100;
	for (int life = 0; life < LIVES; life++) {
		/* Where the first tick falls is the kernel's choice: the rest of the one before. */
		uint64_t first = (uint64_t)rand_r(&seed) % TICK;
		start(now, APP + 1);
		for (uint64_t at = first; at < length; at += TICK) {
			bool is_sample = sampling_keeps(&sampling, TICK, APP + 1, now + at);
			feed_tick(now + at, APP + 1, 0, at - first + TICK, is_sample);
		}
		struct profile_thread_life out = end(now + length, APP + 1);
		sampled += (double)out.sampled_ns;
		accounts += (double)out.cpu_ns;
		now += length + TICK;
	}
	double truth = (double)LIVES * (double)length;
	double deviation = sqrt(truth / (double)INTERVAL) * (double)INTERVAL;
	ck_assert_double_eq_tol(sampled, truth, 6 * deviation);
	ck_assert_double_eq_tol(accounts, truth, 6 * sqrt(LIVES) * (double)TICK / 2);
}
END_TEST

/* Random lives on two rings: the accounts hold what was counted, and the kernel's part of it is
 * where it was told. */
START_TEST(accounts_are_exact)
{
	enum { THREADS = 6, STEPS = 4000 };
	uint64_t counts[THREADS][FIXTURE_RINGS] = {{0}};
	uint64_t sum = 0;
	unsigned seed = (unsigned)_i;
	configure(PROFILE_KERNEL_TIME_APART, true);
	for (uint32_t t = 0; t < THREADS; t++)
		start(20, APP + 1 + t);
	for (uint64_t step = 1; step <= STEPS; step++) {
		size_t t = (size_t)rand_r(&seed) % THREADS;
		size_t ring = (size_t)rand_r(&seed) % FIXTURE_RINGS;
		uint64_t more =
			TICK * (uint64_t)(1 + rand_r(&seed) % 4) + (uint64_t)(rand_r(&seed) % 1000);
		sum += more;
		counts[t][ring] += more;
		if (rand_r(&seed) % 50 == 0)
			feed_lost(100 * step, ring, 1);
		feed_tick(100 * step, APP + 1 + (uint32_t)t, ring, counts[t][ring],
			  rand_r(&seed) % 8 == 0);
	}
	ck_assert_uint_eq(counted_ns(), sum);
	uint64_t accounts = 0;
	for (uint32_t t = 0; t < THREADS; t++) {
		struct profile_thread_life out = end(100 * STEPS + t, APP + 1 + t);
		accounts += out.cpu_ns;
		ck_assert_uint_eq(out.cpu_ns, counts[t][0] + counts[t][1]);
		ck_assert_uint_lt(out.kernel_ns + out.rest_ns, out.cpu_ns);
		ck_assert_uint_gt(out.kernel_ns, 0);
	}
	ck_assert_uint_eq(accounts, sum);
	tracker_settle(tracker, 0, sum + 5);
	ck_assert_uint_eq(counted_ns(), sum);
}
END_TEST

/* Lost records of a ring are ticks, of which a part would have been samples: rounded up, whatever
 * the pieces. Where BPF draws, each is a sample. */
START_TEST(lost_ticks)
{
	struct tracker_counts counts;
	feed_lost(20, 0, 1);
	ck_assert_uint_eq(fake_emit_count(emit, "note 6 at 20 value 1 "), 1);
	for (uint32_t i = 1; i < 3000; i++)
		feed_lost(20 + i, 0, 1);
	tracker_counts(tracker, &counts);
	ck_assert_uint_eq(counts.lost, 3000);
	ck_assert_uint_eq(counts.lost_samples, (3000 * (uint64_t)TICK + INTERVAL - 1) / INTERVAL);
	ck_assert_uint_lt(counts.lost_samples, 3000);
	ck_assert_uint_eq(fake_emit_count(emit, "note 6 "), counts.lost_samples);
	fixture_finish();
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("samples at random times");
	TCase *tcase = tcase_create("random");

	tcase_add_checked_fixture(tcase, setup, fixture_teardown);
	tcase_add_test(tcase, ticks_and_samples);
	tcase_add_loop_test(tcase, distances_of_cpus, 0, 2);
	tcase_add_test(tcase, kernel_time_apart);
	tcase_add_test(tcase, kernel_time_beyond_the_field);
	tcase_add_test(tcase, count_beyond_all_time);
	tcase_add_loop_test(tcase, gaps, 0, 2);
	tcase_add_loop_test(tcase, no_user_code, 0, 2);
	tcase_add_test(tcase, unseen);
	tcase_add_test(tcase, unseen_of_fixed_distances);
	tcase_add_loop_test(tcase, settles, 0, 2);
	tcase_add_test(tcase, settles_kernel_time);
	tcase_add_test(tcase, unattributed_kernel_time);
	tcase_add_loop_test(tcase, nothing_more_in_the_kernel, 0, 2);
	tcase_add_test(tcase, final_counts);
	tcase_add_test(tcase, exec_takes_over_an_id);
	tcase_add_loop_test(tcase, shares_of_a_periodic_program, 0, 6);
	tcase_add_loop_test(tcase, short_lives, 0, 5);
	tcase_add_loop_test(tcase, accounts_are_exact, 0, 4);
	tcase_add_test(tcase, lost_ticks);
	suite_add_tcase(suite, tcase);
	return run_suite(suite);
}
