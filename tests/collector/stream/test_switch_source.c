/* Rings of switches made up in memory: the records they become. */
#include "collector/bpf/switches_source.h"
#include "collector/machine/clock.h"
#include "collector/stream/switch_source.h"
#include "tests/support/suite.h"
#include <check.h>
#include <string.h>

enum { CAPACITY = 8, CPU = 3 };

/* The one in bpf/ is not linked. */
struct switches_source {
	struct switch_record records[CAPACITY];
	uint64_t head;
	uint64_t tail;
	uint64_t lost;
};

uint64_t switches_source_head(const struct switches_source *source, uint32_t cpu)
{
	ck_assert_uint_eq(cpu, CPU);
	return source->head;
}

uint64_t switches_source_tail(const struct switches_source *source, uint32_t cpu)
{
	ck_assert_uint_eq(cpu, CPU);
	return source->tail;
}

uint32_t switches_source_capacity(const struct switches_source *source)
{
	(void)source;
	return CAPACITY;
}

const struct switch_record *switches_source_at(const struct switches_source *source, uint32_t cpu,
					       uint64_t position)
{
	ck_assert_uint_eq(cpu, CPU);
	ck_assert(position >= source->tail && position < source->head);
	return &source->records[position % CAPACITY];
}

void switches_source_release(struct switches_source *source, uint32_t cpu, uint64_t position)
{
	ck_assert_uint_eq(cpu, CPU);
	ck_assert(position >= source->tail && position <= source->head);
	source->tail = position;
}

uint64_t switches_source_lost(const struct switches_source *source, uint32_t cpu)
{
	ck_assert_uint_eq(cpu, CPU);
	return source->lost;
}

static struct switches_source rings;
static struct switch_source state;
static const struct source source = {&source_switches, &state, NULL};

static void set_up(void)
{
	rings = (struct switches_source){0};
	switch_source_begin(&state, &rings, CPU);
}

static void write_record(const struct switch_record *record)
{
	rings.records[rings.head % CAPACITY] = *record;
	rings.head++;
}

/* The next record; false: there is none for now. */
static bool next(struct record *record)
{
	const void *bytes;
	size_t size;
	uint64_t time_ns;
	if (!source.kind->peek(&source, &bytes, &size))
		return false;
	ck_assert(source.kind->time(&source, bytes, size, &time_ns));
	/* What it was before is no part of it. */
	memset(record, 0xff, sizeof(*record));
	ck_assert(source.kind->decode(&source, bytes, size, record));
	ck_assert_uint_eq(record->time_ns, time_ns);
	ck_assert_uint_eq(record->cpu, CPU);
	source.kind->consume(&source, size);
	return true;
}

static void expect_switch(uint32_t pid, uint32_t tid, bool out, bool preempted)
{
	struct record record;
	ck_assert(next(&record));
	ck_assert_int_eq(record.kind, RECORD_SWITCH);
	ck_assert_uint_eq(record.pid, pid);
	ck_assert_uint_eq(record.tid, tid);
	ck_assert_int_eq(record.switched.out, out);
	ck_assert_int_eq(record.switched.preempted, preempted);
	ck_assert(record.switched.by_cpu);
}

static void expect_lost(uint64_t lost)
{
	struct record record;
	ck_assert(next(&record));
	ck_assert_int_eq(record.kind, RECORD_LOST);
	ck_assert_uint_eq(record.lost, lost);
	ck_assert_uint_eq(record.lost_switches, lost);
	ck_assert(record.has_lost_switches && record.only_switches);
}

static void expect_nothing(void)
{
	struct record record;
	ck_assert(!next(&record));
}

/* One record tells of the thread that leaves, and of the one that comes, where they are ours. */
START_TEST(both_threads)
{
	uint64_t now = clock_read(CLOCK_MONOTONIC);
	write_record(&(struct switch_record){now, 1, 2, 3, 4, 0, SWITCH_RECORD_RUNNABLE});
	write_record(&(struct switch_record){now + 1, 3, 4, 0, 0, 0, 0});
	write_record(&(struct switch_record){now + 2, 0, 0, 5, 6, 0, SWITCH_RECORD_RUNNABLE});
	expect_nothing(); /* not taken over yet */
	source.kind->refresh(&source);
	expect_switch(1, 2, true, true);
	expect_switch(3, 4, false, false);
	expect_switch(3, 4, true, false);
	expect_switch(5, 6, false, false);
	expect_nothing();
	ck_assert_uint_eq(rings.tail, 0);
	source.kind->refresh(&source);
	ck_assert_uint_eq(rings.tail, 3);
}
END_TEST

/* What found no room comes before the next record; the count may wrap. */
START_TEST(losses)
{
	uint64_t now = clock_read(CLOCK_MONOTONIC);
	write_record(&(struct switch_record){now, 1, 2, 0, 0, 5, 0});
	write_record(&(struct switch_record){now + 1, 0, 0, 1, 2, 5, 0});
	write_record(&(struct switch_record){now + 2, 0, 0, 0, 0, 6, 0});
	write_record(&(struct switch_record){now + 3, 1, 2, 0, 0, UINT32_MAX, 0});
	write_record(&(struct switch_record){now + 4, 0, 0, 1, 2, 1, 0});
	rings.lost = (UINT64_C(1) << 32) + 1;
	source.kind->refresh(&source);
	expect_lost(0);
	expect_lost(5);
	expect_switch(1, 2, true, false);
	expect_switch(1, 2, false, false);
	expect_lost(0);
	expect_lost(1);
	expect_lost(0);
	expect_lost(UINT32_MAX - 6);
	expect_switch(1, 2, true, false);
	expect_lost(0);
	expect_lost(2);
	expect_switch(1, 2, false, false);
	expect_nothing();
}
END_TEST

/* Losses are told at once behind the last record before, once, and their number before the next one
 * or at the end. */
START_TEST(losses_at_the_end)
{
	uint64_t now = clock_read(CLOCK_MONOTONIC);
	write_record(&(struct switch_record){now, 1, 2, 0, 0, 1, 0});
	rings.lost = 4;
	source.kind->refresh(&source);
	expect_lost(0);
	expect_lost(1);
	expect_switch(1, 2, true, false);
	expect_lost(0);
	expect_nothing();
	rings.lost = 5;
	source.kind->refresh(&source);
	expect_nothing();
	write_record(&(struct switch_record){now + 1, 0, 0, 1, 2, 5, 0});
	source.kind->refresh(&source);
	expect_lost(4);
	expect_switch(1, 2, false, false);
	expect_nothing();
	rings.lost = 7;
	state.is_ending = true;
	source.kind->refresh(&source);
	expect_lost(0);
	expect_lost(2);
	expect_nothing();
	source.kind->refresh(&source);
	expect_nothing();
}
END_TEST

/* Times are those of the other clock, and never go back. */
START_TEST(times)
{
	struct record record;
	uint64_t first = clock_read(CLOCK_MONOTONIC);
	uint64_t raw = clock_now();
	write_record(&(struct switch_record){first, 1, 2, 0, 0, 0, 0});
	write_record(&(struct switch_record){first - 1000, 0, 0, 1, 2, 0, 0});
	write_record(&(struct switch_record){first + 1000000, 1, 2, 0, 0, 0, 0});
	source.kind->refresh(&source);
	ck_assert(next(&record));
	uint64_t time_ns = record.time_ns;
	/* However long the two readings were apart. */
	ck_assert_uint_le(time_ns, raw + 1000);
	ck_assert(next(&record));
	ck_assert_uint_eq(record.time_ns, time_ns);
	ck_assert(next(&record));
	ck_assert_uint_ge(record.time_ns, time_ns + 990000);
	ck_assert_uint_le(record.time_ns, time_ns + 1010000);
}
END_TEST

/* More than the ring holds between its ends: nothing of it can be believed. */
START_TEST(broken_ends)
{
	rings.head = CAPACITY + 1;
	source.kind->refresh(&source);
	expect_nothing();
	write_record(&(struct switch_record){clock_read(CLOCK_MONOTONIC), 1, 2, 0, 0, 0, 0});
	source.kind->refresh(&source);
	expect_switch(1, 2, true, false);
}
END_TEST

START_TEST(fills)
{
	ck_assert(!switch_source_is_full(&rings, CPU, 0));
	rings.head = 4;
	ck_assert(switch_source_is_full(&rings, CPU, 3));
	ck_assert(!switch_source_is_full(&rings, CPU, 4));
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("switch_source");
	TCase *tcase = tcase_create("switch_source");

	tcase_add_checked_fixture(tcase, set_up, NULL);
	tcase_add_test(tcase, both_threads);
	tcase_add_test(tcase, losses);
	tcase_add_test(tcase, losses_at_the_end);
	tcase_add_test(tcase, times);
	tcase_add_test(tcase, broken_ends);
	tcase_add_test(tcase, fills);
	suite_add_tcase(suite, tcase);
	return run_suite(suite);
}
