/* Records of switches, by hand: the slices they become. */
#include "collector/model/tracker_sampled.h"
#include "collector/states/states.h"
#include "tests/collector/tracker_fixture.h"
#include "tests/support/suite.h"
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Above all ids of the kernel, as in the fixture. CPU 3 is ring 0, CPU 7 is ring 1. */
enum { APP = 5000000, WORKER, OTHER, THIRD };

#define S 1000000000ull

/* The slices so far, one to a line, and forgets them. */
static void expect(const char *expected)
{
	static char slices[16384];
	size_t used = 0;
	slices[0] = '\0';
	for (const char *line = fake_emit_lines(emit); *line != '\0';) {
		size_t length = strcspn(line, "\n") + 1;
		if (strncmp(line, "slice ", 6) == 0) {
			ck_assert_uint_lt(used + length, sizeof(slices));
			memcpy(slices + used, line + 6, length - 6);
			used += length - 6;
			slices[used] = '\0';
		}
		line += length;
	}
	ck_assert_str_eq(slices, expected);
	fake_emit_clear(emit);
}

static void on(uint64_t time_ns, uint32_t tid, size_t ring)
{
	feed_switch(time_ns, APP, tid, ring, FIXTURE_ON);
}

static void off(uint64_t time_ns, uint32_t tid, size_t ring)
{
	feed_switch(time_ns, APP, tid, ring, FIXTURE_OFF);
}

static void preempt(uint64_t time_ns, uint32_t tid, size_t ring)
{
	feed_switch(time_ns, APP, tid, ring, FIXTURE_PREEMPTED);
}

static void end(uint64_t time_ns)
{
	fixture_end_ns = time_ns;
	fixture_end();
}

static struct states_now find(uint32_t tid)
{
	struct states_now now;
	ck_assert(states_find(fixture_states(), tid, &now));
	return now;
}

static uint64_t unordered(void)
{
	struct states_counts counts;
	states_counts(fixture_states(), &counts);
	return counts.unordered;
}

START_TEST(transitions)
{
	feed_launch(1000, APP, "app");
	ck_assert_int_eq(find(APP).state, PROFILE_STATE_RUNNING);
	off(2000, APP, 0);
	ck_assert_int_eq(find(APP).state, PROFILE_STATE_BLOCKED);
	ck_assert_uint_eq(find(APP).since_ns, 2000);
	on(5000, APP, 1);
	preempt(6000, APP, 1);
	ck_assert_int_eq(find(APP).state, PROFILE_STATE_READY);
	on(7000, APP, 0);
	ck_assert_uint_eq(find(APP).since_ns, 7000);
	off(7500, APP, 0);
	expect("5000000 1000+1000 cpu 3 ready ready 0\n"
	       "5000000 5000+1000 cpu 7 blocked ready 0\n"
	       "5000000 7000+500 cpu 3 ready ready 0\n");
	end(9000);
	expect("5000000 9000+0 cpu 3 blocked ready 0\n");
}
END_TEST

START_TEST(runs_at_the_end)
{
	feed_launch(1000, APP, "app");
	end(5000);
	expect("5000000 1000+4000 cpu 3 ready ready 0\n");
}
END_TEST

/* What a launched program's process did before its exec is not the program's. */
START_TEST(launched)
{
	const struct thread *thread;
	ck_assert_int_ge(tracker_add_thread(tracker, APP, APP, false), 0);
	feed_fork(500, THIRD, THIRD, THIRD, THIRD); /* any record */
	feed_exec(1000, APP, "app");
	off(1500, APP, 0);
	thread = tracker_find_thread(tracker, APP, APP);
	ck_assert_ptr_nonnull(thread);
	ck_assert_uint_eq(thread->start_ns, 1000);
	expect("5000000 1000+500 cpu 3 ready ready 0\n");
	feed_exec(2000, APP, "other"); /* the next one is of the same life */
	ck_assert_uint_eq(thread->start_ns, 1000);
}
END_TEST

/* A new thread is ready from its fork on; its exit is its last moment. */
START_TEST(births_and_ends)
{
	feed_launch(1000, APP, "app");
	feed_fork(1100, APP, WORKER, APP, APP);
	feed_fork(1200, APP, OTHER, APP, APP);
	ck_assert_int_eq(find(WORKER).state, PROFILE_STATE_READY);
	on(1500, WORKER, 1);
	feed_exit(1600, APP, WORKER);
	off(1700, APP, 0);
	feed_fork(1800, APP, WORKER, APP, APP); /* the id again */
	on(2000, WORKER, 0);
	off(2001, WORKER, 0);
	expect("5000001 1500+100 cpu 7 ready ready 0\n"
	       "5000000 1000+700 cpu 3 ready ready 0\n"
	       "5000001 1800+201 cpu 3 ready ready 0\n");
	end(3000);
	ck_assert_uint_eq(fake_emit_count(emit, "slice "), 3);
	fake_emit_assert(emit, "slice 5000002 3000+0 cpu 0 ready ready 0", 1);
	fake_emit_assert(emit, "slice 5000001 3000+0 cpu 3 blocked ready 0", 1);
	fake_emit_assert(emit, "slice 5000000 3000+0 cpu 3 blocked ready 0", 1);
}
END_TEST

/* Pieces are written when they are full, among other slices. */
START_TEST(long_runs_come_in_pieces)
{
	feed_launch(S, APP, "app");
	feed_fork(S + 10, APP, WORKER, APP, APP);
	on(S + 20, WORKER, 1);
	off(2 * S + 5, WORKER, 1);
	expect("5000000 1000000000+1000000000 cpu 3 ready ready 0\n"
	       "5000001 1000000020+999999985 cpu 7 ready ready 0\n");
	on(2 * S + 10, WORKER, 1);
	feed_lost(4 * S + 7, 1, 1); /* any record */
	expect("5000000 2000000000+1000000000 cpu 3 running ready 0\n"
	       "5000001 2000000010+1000000000 cpu 7 blocked ready 0\n"
	       "5000000 3000000000+1000000000 cpu 3 running ready 0\n");
	off(4 * S + 10, APP, 0);
	expect("5000001 3000000010+1000000000 cpu 7 running ready 0\n"
	       "5000000 4000000000+10 cpu 3 running ready 0\n");
	ck_assert_uint_eq(find(WORKER).since_ns, 2 * S + 10);
	end(5 * S + 11);
	ck_assert_uint_eq(fake_emit_count(emit, "slice "), 3);
	fake_emit_assert(emit, "slice 5000001 4000000010+1000000000 cpu 7 running ready 0", 1);
	fake_emit_assert(emit, "slice 5000001 5000000010+1 cpu 7 running ready 0", 1);
	fake_emit_assert(emit, "slice 5000000 5000000011+0 cpu 3 blocked ready 0", 1);
}
END_TEST

START_TEST(wakes)
{
	struct states *states = fixture_states();
	feed_launch(1000, APP, "app");
	off(2000, APP, 0);
	states_note_wake(states, APP, 1999); /* before it blocked */
	on(3000, APP, 0);
	off(3100, APP, 0);
	states_note_wake(states, APP, 3600);
	on(4000, APP, 0);
	off(4100, APP, 0);
	on(5000, APP, 0);
	states_note_wake(states, APP, 4900); /* told late */
	states_note_wake(states, APP, 4099); /* not of this time */
	off(5100, APP, 0);
	on(6000, APP, 0);
	preempt(6100, APP, 0);
	states_note_wake(states, APP, 6150); /* it could run anyway */
	on(6200, APP, 0);
	states_note_wake(states, APP, 6150);
	states_note_wake(states, THIRD, 6150);
	off(6300, APP, 0);
	states_note_wake(states, APP, 6400);
	end(6500);
	expect("5000000 1000+1000 cpu 3 ready ready 0\n"
	       "5000000 3000+100 cpu 3 blocked ready 0\n"
	       "5000000 4000+100 cpu 3 blocked ready 400\n"
	       "5000000 5000+100 cpu 3 blocked ready 100\n"
	       "5000000 6000+100 cpu 3 blocked ready 0\n"
	       "5000000 6200+100 cpu 3 ready ready 0\n"
	       "5000000 6500+0 cpu 3 blocked ready 100\n");
}
END_TEST

START_TEST(stops)
{
	struct states *states = fixture_states();
	struct record out = {.kind = RECORD_SWITCH, .time_ns = 2000, .pid = APP, .tid = APP};
	out.switched.out = out.switched.stopped = true;
	feed_launch(1000, APP, "app");
	feed(&out, 0, false);
	ck_assert_int_eq(find(APP).state, PROFILE_STATE_STOPPED);
	on(3000, APP, 0);
	off(3100, APP, 0);
	states_note_stop(states, APP, 3099); /* not of this time */
	on(4000, APP, 0);
	off(4100, APP, 0);
	states_note_stop(states, APP, 4200);
	on(5000, APP, 0);
	off(5100, APP, 0);
	on(6000, APP, 0);
	states_note_stop(states, APP, 5500); /* told late */
	preempt(6100, APP, 0);
	states_note_stop(states, APP, 6150); /* it can run */
	states_note_stop(states, THIRD, 6150);
	end(6500);
	expect("5000000 1000+1000 cpu 3 ready ready 0\n"
	       "5000000 3000+100 cpu 3 stopped ready 0\n"
	       "5000000 4000+100 cpu 3 blocked ready 0\n"
	       "5000000 5000+100 cpu 3 stopped ready 0\n"
	       "5000000 6000+100 cpu 3 stopped ready 0\n"
	       "5000000 6500+0 cpu 3 ready ready 0\n");
}
END_TEST

/* Another thread than the first calls exec, and goes on under the first one's id. */
START_TEST(exec_by_another_thread)
{
	feed_launch(1000, APP, "app");
	feed_fork(1100, APP, WORKER, APP, APP);
	on(1200, WORKER, 1);
	off(1300, WORKER, 1); /* waits for the others' ends */
	feed_exit(1400, APP, APP);
	on(1500, WORKER, 1);
	preempt(1600, APP, 1); /* it has the new id */
	on(1700, APP, 1);
	struct record exec = {.kind = RECORD_COMM,
			      .time_ns = 1800,
			      .pid = APP,
			      .tid = APP,
			      .comm = {.name = "new", .exec = true}};
	feed(&exec, 1, false);
	off(1900, APP, 1);
	end(2000);
	expect("5000001 1200+100 cpu 7 ready ready 0\n"
	       "5000000 1000+400 cpu 3 ready ready 0\n"
	       "5000001 1500+100 cpu 7 blocked ready 0\n"
	       "5000001 1700+100 cpu 7 ready ready 0\n"
	       "5000000 1800+100 cpu 7 ready ready 0\n"
	       "5000000 2000+0 cpu 7 blocked ready 0\n");
}
END_TEST

/* The record of the fork was lost: known by its switches. */
START_TEST(unknown_threads)
{
	feed_launch(1000, APP, "app");
	on(1200, WORKER, 1);
	off(1300, WORKER, 1);
	off(1500, OTHER, 1);
	on(1600, OTHER, 1);
	feed_sample(1700, APP, THIRD, 0, 0);
	expect("5000001 1200+100 cpu 7 ready after-loss ready 0\n"
	       "5000002 1500+0 cpu 7 ready after-loss ready 0\n");
	feed_sample(1800, APP, THIRD, 0, 0);
	off(1900, THIRD, 0);
	expect("5000000 1000+700 cpu 3 ready cut ready 0\n"
	       "5000003 1700+200 cpu 3 ready after-loss ready 0\n");
	/* No ids: tasks that end, or outside of this namespace. */
	feed_switch(2000, UINT32_MAX, UINT32_MAX, 0, FIXTURE_ON);
	feed_switch(2000, 0, 0, 0, FIXTURE_ON);
	expect("");
}
END_TEST

static void seen_on_cpu(uint64_t time_ns, uint32_t pid, uint32_t tid, bool out)
{
	struct record record = {.kind = RECORD_SWITCH,
				.time_ns = time_ns,
				.pid = pid,
				.tid = tid,
				.switched = {.out = out, .by_cpu = true}};
	feed(&record, 0, false);
}

/* Seen on a CPU: others' threads, ours before their program's exec, and ended ones are not taken
 * for new threads; unknown ones of known processes are. */
START_TEST(switches_of_all)
{
	ck_assert_int_ge(tracker_add_thread(tracker, APP, APP, false), 0);
	seen_on_cpu(500, APP, APP, false);
	seen_on_cpu(600, APP, APP, true);
	seen_on_cpu(700, OTHER, OTHER, false);
	seen_on_cpu(800, OTHER, OTHER, true);
	expect("");
	feed_exec(1000, APP, "app");
	seen_on_cpu(1200, APP, APP, true);
	seen_on_cpu(1300, APP, WORKER, false);
	seen_on_cpu(1400, APP, WORKER, true);
	expect("5000000 1000+200 cpu 3 ready ready 0\n"
	       "5000001 1300+100 cpu 3 ready after-loss ready 0\n");
	feed_exit(1500, APP, WORKER);
	expect("5000001 1500+0 cpu 3 blocked ready 0\n");
	seen_on_cpu(1600, APP, WORKER, false);
	seen_on_cpu(1700, APP, WORKER, true);
	expect("");
}
END_TEST

/* Where switches alone were lost, samples of the time since do not make the last run longer. */
START_TEST(losses_of_switches_alone)
{
	struct record lost = {.kind = RECORD_LOST,
			      .time_ns = 5000,
			      .lost = 7,
			      .lost_switches = 7,
			      .has_lost_switches = true,
			      .only_switches = true};
	feed_launch(1000, APP, "app");
	seen_on_cpu(1200, APP, APP, true);
	seen_on_cpu(2000, APP, APP, false);
	feed_sample(4000, APP, APP, 0, 0);
	feed(&lost, 0, false);
	seen_on_cpu(6000, APP, APP, true);
	expect("5000000 1000+200 cpu 3 ready ready 0\n"
	       "5000000 2000+0 cpu 3 blocked cut ready 0\n"
	       "5000000 5000+1000 cpu 3 unknown after-loss ready 0\n");
}
END_TEST

/* A thread's slice ends at the CPU's last record; others may have run there unseen. */
START_TEST(losses)
{
	feed_launch(1000, APP, "app");
	feed_fork(1100, APP, WORKER, APP, APP);
	feed_fork(1150, APP, OTHER, APP, APP); /* the last record of this CPU */
	on(1200, WORKER, 1);
	feed_lost_switches(2000, 0, 10, 4);
	fake_emit_assert(emit, "note 57 at 2000 value 4 0/3", 1);
	expect("5000000 1000+150 cpu 3 ready cut ready 0\n");
	ck_assert_int_eq(find(APP).state, PROFILE_STATE_UNKNOWN);
	ck_assert(find(OTHER).after_loss);
	ck_assert(!find(WORKER).after_loss);
	off(2100, WORKER, 1); /* got there during the loss */
	on(2200, WORKER, 1);
	off(2300, WORKER, 1);
	on(2400, APP, 0);
	off(2500, APP, 0);
	on(2600, APP, 0);
	off(2700, APP, 0);
	on(2800, OTHER, 1);
	expect("5000001 1200+900 cpu 7 ready after-loss ready 0\n"
	       "5000001 2200+100 cpu 7 blocked ready 0\n"
	       "5000000 2400+100 cpu 3 unknown after-loss ready 0\n"
	       "5000000 2600+100 cpu 3 blocked ready 0\n");
	end(2900);
	fake_emit_assert(emit, "slice 5000002 2300+600 cpu 7 ready after-loss ready 0", 1);
}
END_TEST

/* Lost records that were surely samples change nothing. */
START_TEST(losses_of_samples)
{
	feed_launch(1000, APP, "app");
	feed_lost(2000, 0, 10);
	off(2100, APP, 0);
	expect("5000000 1000+1100 cpu 3 ready ready 0\n");
}
END_TEST

/* From the report of the loss on, the CPU's records are whole: who leaves it was there. */
START_TEST(on_the_cpu_after_a_loss)
{
	feed_launch(1000, APP, "app");
	off(1500, APP, 0);
	feed_lost_switches(2000, 0, 1, 1);
	off(2100, APP, 0);
	off(2200, APP, 0); /* now it cannot be known */
	expect("5000000 1000+500 cpu 3 ready ready 0\n"
	       "5000000 2000+100 cpu 3 blocked after-loss ready 0\n"
	       "5000000 2200+0 cpu 3 blocked ready 0\n");
	feed_lost_switches(3000, 0, 1, 1);
	feed_sample(3100, APP, APP, 0, 0);
	ck_assert_int_eq(find(APP).state, PROFILE_STATE_RUNNING);
	off(3200, APP, 0);
	expect("5000000 3000+200 cpu 3 blocked after-loss ready 0\n");
}
END_TEST

/* Losses that no record reports: those at the end. */
START_TEST(losses_at_the_end)
{
	feed_launch(1000, APP, "app");
	feed_fork(1100, APP, WORKER, APP, APP);
	on(1200, WORKER, 1);
	off(1300, WORKER, 1);
	states_lose_rest(fixture_states());
	end(2000);
	expect("5000001 1200+100 cpu 7 ready ready 0\n"
	       "5000000 1000+300 cpu 3 ready cut ready 0\n"
	       "5000000 2000+0 cpu 3 unknown after-loss ready 0\n"
	       "5000001 2000+0 cpu 7 blocked after-loss ready 0\n");
}
END_TEST

/* Contradictions without a report of losses. */
START_TEST(contradictions)
{
	feed_launch(1000, APP, "app");
	feed_fork(1100, APP, WORKER, APP, APP);
	on(1200, WORKER, 0);
	expect("5000000 1000+100 cpu 3 ready cut ready 0\n");
	on(1300, WORKER, 0);
	expect("5000001 1200+0 cpu 3 ready cut ready 0\n");
	off(1400, WORKER, 1);
	expect("5000001 1300+0 cpu 3 unknown after-loss cut ready 0\n"
	       "5000001 1400+0 cpu 7 unknown after-loss ready 0\n");
	on(1500, WORKER, 0);
	on(1600, WORKER, 1);
	off(1700, WORKER, 1);
	expect("5000001 1500+0 cpu 3 blocked cut ready 0\n"
	       "5000001 1600+100 cpu 7 unknown after-loss ready 0\n");
}
END_TEST

/* The kernel does not tell of switches from some tasks: who was preempted by one goes on, unless
 * another thread was there, or the thread waits, or went elsewhere. */
START_TEST(preempted_by_a_hidden_task)
{
	feed_launch(1000, APP, "app");
	feed_fork(1100, APP, WORKER, APP, APP);
	on(1200, WORKER, 1);
	preempt(2000, WORKER, 1);
	off(9000, WORKER, 1);
	expect("5000001 1200+800 cpu 7 ready ready 0\n"
	       "5000001 2000+7000 cpu 7 ready ready 0\n");
	off(10000, WORKER, 1);
	expect("5000001 10000+0 cpu 7 blocked ready 0\n");
	on(11000, WORKER, 1);
	preempt(12000, WORKER, 1);
	off(13000, WORKER, 0);
	expect("5000001 11000+1000 cpu 7 blocked ready 0\n"
	       "5000000 1000+11000 cpu 3 ready cut ready 0\n"
	       "5000001 13000+0 cpu 3 ready ready 0\n");
}
END_TEST

/* Never negative, never twice. */
START_TEST(clock_goes_back)
{
	feed_launch(1000, APP, "app");
	off(2000, APP, 0);
	on(1900, APP, 0);
	off(1800, APP, 0);
	on(2100, APP, 0);
	off(2050, APP, 0);
	expect("5000000 1000+1000 cpu 3 ready ready 0\n"
	       "5000000 2000+0 cpu 3 blocked ready 0\n"
	       "5000000 2100+0 cpu 3 blocked ready 0\n");
	ck_assert_uint_eq(unordered(), 3);
	feed_fork(2200, APP, WORKER, APP, APP);
	on(2300, WORKER, 1);
	on(2400, APP, 0);
	off(2500, WORKER, 1);
	off(2450, APP, 0); /* ends are in order */
	end(2400);
	expect("5000001 2300+200 cpu 7 ready ready 0\n"
	       "5000000 2400+100 cpu 3 blocked ready 0\n"
	       "5000000 2500+0 cpu 3 blocked ready 0\n"
	       "5000001 2500+0 cpu 7 blocked ready 0\n");
}
END_TEST

/* The time of a direct switch between two threads is the second one's, as in the kernel. */
START_TEST(direct_switches)
{
	feed_launch(S, APP, "app");
	feed_fork(S + 100, APP, WORKER, APP, APP);
	feed_fork(S + 900, APP, OTHER, APP, APP);
	off(S + 1000, APP, 0);
	on(S + 2500, WORKER, 0);
	off(S + 3000, WORKER, 0);
	on(S + 4000, WORKER, 0); /* it came back: something else ran between */
	off(S + 5000, WORKER, 0);
	on(S + 9001, APP, 0);   /* too long */
	on(S + 9100, OTHER, 1); /* another CPU */
	off(S + 9200, OTHER, 1);
	off(S + 9300, APP, 0);
	expect("5000000 1000000000+1000 cpu 3 ready ready 0\n"
	       "5000001 1000001000+2000 cpu 3 ready ready 0\n"
	       "5000001 1000004000+1000 cpu 3 blocked ready 0\n"
	       "5000002 1000009100+100 cpu 7 ready ready 0\n"
	       "5000000 1000009001+299 cpu 3 blocked ready 0\n");
}
END_TEST

static struct switch_lead lead;

/* Of a switch that an account and a record tell apart: the run begins by the lead before its
 * record, but not before another thread of ours, or the thread itself, left the CPU. */
START_TEST(runs_begin_by_the_account)
{
	states_follow_lead(fixture_states(), &lead);
	lead.found_ns = 3000;
	feed_launch(S, APP, "app");
	feed_fork(S + 100, APP, WORKER, APP, APP);
	feed_fork(S + 200, APP, OTHER, APP, APP);
	off(S + 1000, APP, 0);
	on(S + 9000, WORKER, 0); /* after the idle CPU */
	off(S + 9500, WORKER, 0);
	on(S + 10000, OTHER, 0); /* directly */
	off(S + 10500, OTHER, 0);
	on(S + 12000, OTHER, 0); /* it waited meanwhile */
	off(S + 13000, OTHER, 0);
	seen_on_cpu(S + 20000, APP, APP, false); /* by BPF: at the decision */
	seen_on_cpu(S + 20500, APP, APP, true);
	lead.found_ns = 0;
	on(S + 30000, APP, 0);
	off(S + 30500, APP, 0);
	expect("5000000 1000000000+1000 cpu 3 ready ready 0\n"
	       "5000001 1000006000+3500 cpu 3 ready ready 0\n"
	       "5000002 1000009500+1000 cpu 3 ready ready 0\n"
	       "5000002 1000010500+2500 cpu 3 blocked ready 0\n"
	       "5000000 1000020000+500 cpu 3 blocked ready 0\n"
	       "5000000 1000030000+500 cpu 3 blocked ready 0\n");
}
END_TEST

/* Where preempted threads show that switches take long. */
START_TEST(slow_switches)
{
	uint64_t now_ns = S;
	feed_launch(now_ns, APP, "app");
	feed_fork(now_ns, APP, WORKER, APP, APP);
	for (int i = 0; i < 40; i++) {
		preempt(now_ns += 1000, i % 2 == 0 ? APP : WORKER, 0);
		on(now_ns += 10000, i % 2 == 0 ? WORKER : APP, 0);
	}
	fake_emit_clear(emit);
	off(now_ns + 1000, APP, 0);
	on(now_ns + 12000, WORKER, 0);
	off(now_ns + 13000, WORKER, 0);
	char expected[128];
	snprintf(expected, sizeof(expected),
		 "5000000 %llu+11000 cpu 3 ready ready 0\n"
		 "5000001 %llu+12000 cpu 3 ready ready 0\n",
		 now_ns - 10000ull, now_ns + 1000ull);
	expect(expected);
}
END_TEST

/* Many short switches do not hide that others take long; of preempted threads all are direct. */
START_TEST(switches_of_two_lengths)
{
	uint64_t now_ns = S;
	feed_launch(now_ns, APP, "app");
	feed_fork(now_ns, APP, WORKER, APP, APP);
	for (int i = 0; i < 600; i++) {
		preempt(now_ns += 1000, i % 2 == 0 ? APP : WORKER, 0);
		on(now_ns += i < 100 ? 17000 : 2500, i % 2 == 0 ? WORKER : APP, 0);
	}
	fake_emit_clear(emit);
	off(now_ns + 1000, APP, 0);
	on(now_ns + 20000, WORKER, 0);
	preempt(now_ns + 21000, WORKER, 0);
	on(now_ns + 60000, APP, 0);
	preempt(now_ns + 61000, APP, 0);
	on(now_ns + 101001, WORKER, 0);
	off(now_ns + 102000, WORKER, 0);
	char expected[256];
	snprintf(expected, sizeof(expected),
		 "5000000 %llu+3500 cpu 3 ready ready 0\n"
		 "5000001 %llu+20000 cpu 3 ready ready 0\n"
		 "5000000 %llu+40000 cpu 3 blocked ready 0\n"
		 "5000001 %llu+999 cpu 3 ready ready 0\n",
		 now_ns - 2500ull, now_ns + 1000ull, now_ns + 21000ull, now_ns + 101001ull);
	expect(expected);
}
END_TEST

/* A jump of the clock is no run of hours. */
START_TEST(clock_jumps)
{
	feed_launch(1000, APP, "app");
	feed_fork(1500, APP, WORKER, APP, APP);
	off(10000 * S, APP, 0);
	on(UINT64_MAX, APP, 0);
	expect("5000000 1000+500 cpu 3 ready cut ready 0\n"
	       "5000000 10000000000000+0 cpu 3 unknown after-loss ready 0\n");
	end(UINT64_MAX);
	ck_assert_uint_eq(fake_emit_count(emit, "slice "), 2);
}
END_TEST

/* A time that is none, and the clock back at what it was: all end at one time. */
START_TEST(clock_jumps_and_comes_back)
{
	feed_launch(1000, APP, "app");
	off(5 * S, OTHER, 1);
	off(UINT64_MAX, THIRD, 0);
	on(2000, WORKER, 1);
	fake_emit_clear(emit);
	end(2000);
	fake_emit_assert(emit, "slice 5000002 5000000000+0 cpu 7 blocked ready 0", 1);
	fake_emit_assert(emit, "slice 5000001 5000000000+0 cpu 7 ready after-loss ready 0", 1);
	ck_assert_uint_eq(fake_emit_count(emit, "slice "), 3);
}
END_TEST

/* Its pieces are written before others' ends. */
START_TEST(long_run_told_late)
{
	feed_launch(1000, APP, "app");
	off(2000, APP, 0);
	feed_fork(10 * S, APP, WORKER, APP, APP);
	on(7 * S, APP, 0);
	end(1000);
	ck_assert_uint_eq(fake_emit_count(emit, "slice "), 6);
	fake_emit_assert(emit, "slice 5000000 7000000000+1000000000 cpu 3 blocked ready 0", 1);
	fake_emit_assert(emit, "slice 5000000 9000000000+1000000000 cpu 3 running ready 0", 1);
	fake_emit_assert(emit, "slice 5000001 10000000000+0 cpu 0 ready ready 0", 1);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("states");
	TCase *tcase = tcase_create("states");

	tcase_add_checked_fixture(tcase, fixture_setup_states, fixture_teardown);
	tcase_add_test(tcase, transitions);
	tcase_add_test(tcase, runs_at_the_end);
	tcase_add_test(tcase, launched);
	tcase_add_test(tcase, births_and_ends);
	tcase_add_test(tcase, long_runs_come_in_pieces);
	tcase_add_test(tcase, wakes);
	tcase_add_test(tcase, stops);
	tcase_add_test(tcase, exec_by_another_thread);
	tcase_add_test(tcase, unknown_threads);
	tcase_add_test(tcase, switches_of_all);
	tcase_add_test(tcase, losses_of_switches_alone);
	tcase_add_test(tcase, losses);
	tcase_add_test(tcase, losses_of_samples);
	tcase_add_test(tcase, losses_at_the_end);
	tcase_add_test(tcase, on_the_cpu_after_a_loss);
	tcase_add_test(tcase, contradictions);
	tcase_add_test(tcase, preempted_by_a_hidden_task);
	tcase_add_test(tcase, clock_goes_back);
	tcase_add_test(tcase, direct_switches);
	tcase_add_test(tcase, runs_begin_by_the_account);
	tcase_add_test(tcase, slow_switches);
	tcase_add_test(tcase, switches_of_two_lengths);
	tcase_add_test(tcase, clock_jumps);
	tcase_add_test(tcase, clock_jumps_and_comes_back);
	tcase_add_test(tcase, long_run_told_late);
	suite_add_tcase(suite, tcase);
	return run_suite(suite);
}
