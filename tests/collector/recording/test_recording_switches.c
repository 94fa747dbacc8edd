/* Recordings that say when threads got and left CPUs have the threads' states. */
#include "profile/read/states.h"
#include "tests/collector/recording_fixture.h"
#include "tests/support/suite.h"
#include <check.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <string.h>

enum { AWAY = PERF_RECORD_MISC_SWITCH_OUT, PREEMPTED = PERF_RECORD_MISC_SWITCH_OUT_PREEMPT };

/* Behind each record, if the recording tells CPUs. */
static bool has_cpus;

static void put_end(size_t start, uint32_t pid, uint32_t tid, uint64_t time_ns, uint64_t cpu)
{
	recorded_put_task(pid, tid);
	recorded_put_u64(time_ns);
	if (has_cpus)
		recorded_put_u64(cpu);
	recorded_end(start);
}

static void put_switch(uint32_t tid, uint64_t time_ns, uint16_t misc, uint64_t cpu)
{
	put_end(recorded_begin(PERF_RECORD_SWITCH, misc), 7, tid, time_ns, cpu);
}

/* The other one of a system-wide recording names the task that goes or comes. */
static void put_wide(uint32_t tid, uint64_t time_ns, uint16_t misc, uint64_t cpu)
{
	size_t start = recorded_begin(PERF_RECORD_SWITCH_CPU_WIDE, misc);
	recorded_put_task(9, 9);
	put_end(start, 7, tid, time_ns, cpu);
}

static void put_fork(uint32_t tid, uint64_t time_ns)
{
	size_t start = recorded_begin(PERF_RECORD_FORK, 0);
	recorded_put_task(7, 7);
	recorded_put_task(tid, 7);
	recorded_put_u64(time_ns);
	put_end(start, 7, tid, time_ns, 0);
}

static void put_lost(uint64_t count, uint64_t time_ns)
{
	size_t start = recorded_begin(PERF_RECORD_LOST, 0);
	recorded_put_u64(0);
	recorded_put_u64(count);
	put_end(start, 7, 7, time_ns, 0);
}

static void put_last_sample(uint64_t time_ns)
{
	size_t start = recorded_begin(PERF_RECORD_SAMPLE, PERF_RECORD_MISC_USER);
	recorded_put_u64(0x400010);
	recorded_put_task(7, 7);
	recorded_put_u64(time_ns);
	if (has_cpus)
		recorded_put_u64(0);
	recorded_put_u64(10);
	recorded_put_u64(0);
	recorded_end(start);
}

static void begin(bool with_cpus)
{
	struct perf_event_attr attr = recorded_attributes(PERF_COUNT_SW_CPU_CLOCK);
	has_cpus = with_cpus;
	attr.context_switch = 1;
	attr.sample_type |= with_cpus ? PERF_SAMPLE_CPU : 0;
	recorded_begin_file(&attr);
}

/* A line for each slice: "tid start..end cpu state". */
static bool print_slice(const struct profile_slice_info *slice, void *user)
{
	static const char *const states[] = {[PROFILE_STATE_UNKNOWN] = "unknown",
					     [PROFILE_STATE_RUNNING] = "running",
					     [PROFILE_STATE_READY] = "ready",
					     [PROFILE_STATE_BLOCKED] = "blocked",
					     [PROFILE_STATE_STOPPED] = "stopped"};
	char *text = user;
	size_t used = strlen(text);
	snprintf(text + used, 1024 - used, "%u %llu..%llu %u %s%s\n", slice->tid,
		 (unsigned long long)slice->start_ns, (unsigned long long)slice->end_ns, slice->cpu,
		 states[slice->before],
		 slice->flags & PROFILE_SLICE_AFTER_LOSS ? " after loss" : "");
	return true;
}

/* The last state of each thread has a slice of no length, and nobody knows what a thread did before
 * its first record. */
static void expect_slices(const char *expected)
{
	char text[1024] = "";
	recorded_end_file();
	ck_assert_int_eq(recorded_import(NULL), 0);
	ck_assert_uint_eq(profile_reader_states(recorded.reader), PROFILE_STATES_SWITCHES);
	ck_assert_uint_eq(profile_reader_each_slice(recorded.reader, print_slice, text),
			  VT_SUCCESS);
	ck_assert_str_eq(text, expected);
}

START_TEST(with_cpus)
{
	begin(true);
	put_switch(7, 100, 0, 3);
	put_switch(7, 150, AWAY, 3);
	put_last_sample(155);
	put_wide(7, 170, 0, 1);
	put_wide(7, 190, AWAY | PREEMPTED, 1);
	put_wide(0, 191, 0, 1); /* the idle task */
	put_switch(7, 200, 0, 2);
	put_switch(7, 230, AWAY, 2);
	expect_slices("7 100..150 3 unknown after loss\n7 170..190 1 blocked\n"
		      "7 200..230 2 ready\n7 230..230 2 blocked\n");
}
END_TEST

/* Threads that run at once are not on one CPU, though nobody knows on which. */
START_TEST(without_cpus)
{
	begin(false);
	put_switch(7, 100, 0, 0);
	put_fork(8, 110);
	put_switch(8, 120, 0, 0);
	put_switch(7, 130, AWAY, 0);
	put_switch(7, 140, 0, 0);
	put_last_sample(145);
	put_switch(8, 150, AWAY, 0);
	put_switch(7, 160, AWAY | PREEMPTED, 0);
	expect_slices("7 100..130 0 unknown after loss\n8 120..150 1 ready\n7 140..160 0 blocked\n"
		      "8 160..160 1 blocked\n7 160..160 0 ready\n");
}
END_TEST

/* Nobody knows whose switches were lost. */
START_TEST(losses)
{
	begin(false);
	put_switch(7, 100, 0, 0);
	put_last_sample(105);
	put_switch(7, 130, AWAY, 0);
	put_lost(4, 135);
	put_switch(7, 140, 0, 0);
	put_switch(7, 160, AWAY, 0);
	expect_slices("7 100..130 0 unknown after loss\n7 140..160 0 blocked after loss\n"
		      "7 160..160 0 blocked\n");
	ck_assert(recorded_has_note(PROFILE_NOTE_SWITCHES_LOST, 3, ""));
	ck_assert_uint_eq(recorded.summary.samples_lost, 4);
}
END_TEST

/* A recording without switches has no states. */
START_TEST(none)
{
	begin(false);
	put_last_sample(100);
	recorded_end_file();
	ck_assert_int_eq(recorded_import(NULL), 0);
	ck_assert_uint_eq(profile_reader_states(recorded.reader), 0);
}
END_TEST

enum { SWITCHES_ID = 5, WAKES_ID = 6, RAW_SIZE = 68 };

static void add_tracepoint(uint64_t id, const char *name)
{
	struct perf_event_attr attr = recorded_attributes(id);
	attr.type = PERF_TYPE_TRACEPOINT;
	attr.sample_period = 1;
	attr.sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU | PERF_SAMPLE_RAW;
	recorded_add_event(attr, id, 0);
	size_t start = recorded_begin(RECORDED_UPDATE, 0);
	recorded_put_u64(2); /* its name */
	recorded_put_u64(id);
	recorded_put_text(name);
	recorded_end(start);
}

static void put_traced(uint64_t id, uint32_t tid, uint64_t time_ns, const void *raw)
{
	const uint32_t size = RAW_SIZE;
	size_t start = recorded_begin(PERF_RECORD_SAMPLE, PERF_RECORD_MISC_KERNEL);
	recorded_put_u64(id);
	recorded_put_task(7, tid);
	recorded_put_u64(time_ns);
	recorded_put_u64(2); /* CPU */
	recorded_put(&size, sizeof(size));
	recorded_put(raw, RAW_SIZE);
	recorded_end(start);
}

static void put_sched_switch(uint32_t prev, uint64_t state, uint32_t next, uint64_t time_ns)
{
	char raw[RAW_SIZE] = {0};
	memcpy(raw + 24, &prev, sizeof(prev));
	memcpy(raw + 32, &state, sizeof(state));
	memcpy(raw + 56, &next, sizeof(next));
	put_traced(SWITCHES_ID, prev, time_ns, raw);
}

static void put_sched_waking(uint32_t tid, uint64_t time_ns)
{
	char raw[RAW_SIZE] = {0};
	memcpy(raw + 24, &tid, sizeof(tid));
	put_traced(WAKES_ID, 7, time_ns, raw);
}

static void begin_traced(void)
{
	recorded.size = 0;
	recorded_put("PERFILE2", 8);
	recorded_put_u64(16);
	add_tracepoint(SWITCHES_ID, "sched:sched_switch");
	add_tracepoint(WAKES_ID, "sched:sched_waking");
	for (uint32_t tid = 7; tid <= 8; tid++) {
		size_t start = recorded_begin(PERF_RECORD_COMM, 0);
		recorded_put_task(7, tid);
		recorded_put_text("ls");
		recorded_put_task(7, tid);
		recorded_put_u64(0); /* they were there before */
		recorded_put_u64(0);
		recorded_put_u64(SWITCHES_ID);
		recorded_end(start);
	}
	put_sched_switch(0, 0, 7, 100);
	put_sched_switch(7, 0x100, 8, 150);
	put_sched_switch(8, 1, 7, 170);
	put_sched_waking(8, 180);
	put_sched_switch(7, 2, 8, 190);
	put_sched_switch(8, 0, 0, 200);
}

/* Both threads of each switch; what was woken, and when; the CPU time is that on the CPUs. */
START_TEST(traced)
{
	char text[1024] = "";
	begin_traced();
	ck_assert_int_eq(recorded_import(NULL), 0);
	ck_assert_uint_eq(profile_reader_states(recorded.reader),
			  PROFILE_STATES_SWITCHES | PROFILE_STATES_WAKES);
	ck_assert_uint_eq(profile_reader_each_slice(recorded.reader, print_slice, text),
			  VT_SUCCESS);
	ck_assert_str_eq(text, "7 100..150 2 unknown after loss\n8 150..170 2 unknown after loss\n"
			       "7 170..190 2 ready\n8 190..200 2 blocked\n"
			       "8 200..200 2 ready\n7 200..200 2 blocked\n");
	ck_assert_uint_eq(profile_reader_sample_count(recorded.reader), 0);
	ck_assert_ptr_null(profile_reader_counted_event(recorded.reader));
	ck_assert_uint_eq(profile_reader_thread_count(recorded.reader), 2);
	for (uint32_t i = 0; i < 2; i++) {
		const struct profile_thread_info *thread =
			profile_reader_thread(recorded.reader, i);
		ck_assert_uint_eq(thread->cpu_ns, thread->tid == 7 ? 70 : 30);
	}
}
END_TEST

/* By its name, the event is one that is counted. */
START_TEST(traced_numbers)
{
	begin_traced();
	ck_assert_int_eq(recorded_import("sched:sched_switch"), 0);
	ck_assert_str_eq(profile_reader_counted_event(recorded.reader), "sched:sched_switch");
	ck_assert_uint_eq(profile_reader_sample_count(recorded.reader), 5);
	ck_assert_uint_eq(profile_reader_states(recorded.reader), 0);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("recorded switches");
	TCase *tcase = tcase_create("switches");

	tcase_add_checked_fixture(tcase, recorded_set_up, recorded_tear_down);
	tcase_add_test(tcase, with_cpus);
	tcase_add_test(tcase, without_cpus);
	tcase_add_test(tcase, losses);
	tcase_add_test(tcase, none);
	tcase_add_test(tcase, traced);
	tcase_add_test(tcase, traced_numbers);
	suite_add_tcase(suite, tcase);
	return run_suite(suite);
}
