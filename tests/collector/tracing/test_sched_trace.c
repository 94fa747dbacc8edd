/* The scheduler's tracepoints: formats as kernels have them, and others; records. */
#include "collector/tracing/sched_trace.h"
#include "tests/support/suite.h"
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char format[] = "name: sched_switch\n"
			     "ID: 372\n"
			     "format:\n"
			     "\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n"
			     "\n"
			     "\tfield:char prev_comm[16];\toffset:12;\tsize:16;\tsigned:0;\n"
			     "\tfield:pid_t prev_pid;\toffset:28;\tsize:4;\tsigned:1;\n"
			     "\tfield:long prev_state;\toffset:36;\tsize:4;\tsigned:1;\n"
			     "\tfield:pid_t next_pid;\toffset:56;\tsize:4;\tsigned:1;\n"
			     "\n"
			     "print fmt: \"prev_pid=%d offset:1;\"\n"
			     "name: sched_wakeup\n"
			     "\tfield:pid_t pid;\toffset:28;\tsize:4;\tsigned:1;\n"
			     "print fmt:";

static struct sched_trace trace;

static void set_up(void)
{
	sched_trace_init(&trace);
}

static void expect_places(unsigned prev, unsigned state, unsigned next, unsigned woken)
{
	ck_assert_uint_eq(trace.prev_pid.offset, prev);
	ck_assert_uint_eq(trace.prev_state.offset, state);
	ck_assert_uint_eq(trace.next_pid.offset, next);
	ck_assert_uint_eq(trace.woken_pid.offset, woken);
}

static void learn(const char *text)
{
	sched_trace_learn(&trace, (const uint8_t *)text, strlen(text));
}

START_TEST(test_learn)
{
	expect_places(24, 32, 56, 24);
	learn(format);
	expect_places(28, 36, 56, 28);
	ck_assert_uint_eq(trace.prev_state.size, 4);
}
END_TEST

/* All of a format, or nothing of it. */
START_TEST(test_damaged)
{
	static const struct {
		const char *from, *to;
	} changes[] = {
		{"next_pid;", "next_bid;"},
		{"offset:56;", "offset:5x;"},
		{"offset:56;", "offset:99999;"},
		{"offset:56;", "offset:9999;"},
		{"size:4;\tsigned:1;\n\nprint", "size:2;\tsigned:1;\n\nprint"},
		{"sched_switch\n", "sched_switchs"},
	};
	for (size_t i = 0; i < sizeof(changes) / sizeof(changes[0]); i++) {
		char text[sizeof(format) + 64];
		const char *at = strstr(format, changes[i].from);
		ck_assert_ptr_nonnull(at);
		snprintf(text, sizeof(text), "%.*s%s%s", (int)(at - format), format, changes[i].to,
			 at + strlen(changes[i].from));
		set_up();
		learn(text);
		expect_places(24, 32, 56, 28);
	}
}
END_TEST

/* However far it goes, nothing behind its end is read. */
START_TEST(test_cut)
{
	for (size_t size = 0; size < sizeof(format); size++) {
		uint8_t *bytes = malloc(size ? size : 1);
		memcpy(bytes, format, size);
		set_up();
		sched_trace_learn(&trace, bytes, size);
		free(bytes);
		ck_assert(trace.prev_pid.offset == 24 || trace.next_pid.offset == 56);
	}
}
END_TEST

static void put(uint8_t *raw, size_t place, uint64_t value, size_t size)
{
	memcpy(raw + place, &value, size);
}

START_TEST(test_switch)
{
	static const struct {
		uint64_t state;
		enum sched_trace_leaving leaving;
	} cases[] = {
		{0, SCHED_TRACE_PREEMPTED}, {0x100, SCHED_TRACE_PREEMPTED},
		{1, SCHED_TRACE_BLOCKED},   {2, SCHED_TRACE_BLOCKED},
		{4, SCHED_TRACE_BLOCKED},   {0x82, SCHED_TRACE_BLOCKED},
		{0x10, SCHED_TRACE_ENDED},  {0x20, SCHED_TRACE_ENDED},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct sched_trace_switch read;
		uint8_t raw[64] = {0};
		put(raw, 24, 7, 4);
		put(raw, 32, cases[i].state, 8);
		put(raw, 56, 8, 4);
		ck_assert(sched_trace_read_switch(&trace, raw, sizeof(raw), &read));
		ck_assert_uint_eq(read.prev_tid, 7);
		ck_assert_uint_eq(read.next_tid, 8);
		ck_assert_int_eq(read.leaving, cases[i].leaving);
		ck_assert(!sched_trace_read_switch(&trace, raw, 59, &read));
		ck_assert(!sched_trace_read_switch(&trace, raw, 0, &read));
	}
}
END_TEST

START_TEST(test_wake)
{
	uint32_t tid;
	uint8_t raw[28] = {0};
	put(raw, 24, 9, 4);
	ck_assert(sched_trace_read_wake(&trace, raw, sizeof(raw), &tid));
	ck_assert_uint_eq(tid, 9);
	ck_assert(!sched_trace_read_wake(&trace, raw, sizeof(raw) - 1, &tid));
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("sched trace");
	TCase *cases = tcase_create("all");
	tcase_add_checked_fixture(cases, set_up, NULL);
	tcase_add_test(cases, test_learn);
	tcase_add_test(cases, test_damaged);
	tcase_add_test(cases, test_cut);
	tcase_add_test(cases, test_switch);
	tcase_add_test(cases, test_wake);
	suite_add_tcase(suite, cases);
	return run_suite(suite);
}
