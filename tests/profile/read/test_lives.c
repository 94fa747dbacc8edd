/* Lives of processes of which another program wrote starts and ends as records apart (guide, 8.6).
 */
#include "tests/profile/fixture.h"
#include <stdlib.h>
#include <string.h>

struct sample {
	TBRW_SampleRecordPC pc;
	TBRW_SampleRecordTSC tsc;
};

static TBRW_PID started(uint32_t pid, uint64_t when)
{
	return (TBRW_PID){.pid_id = pid,
			  .pid_flags = TBRW_PID_CREATE | TBRW_PID_TSC_USED,
			  .pid_event_when = when};
}

static TBRW_PID ended(uint32_t pid, uint64_t when)
{
	return (TBRW_PID){.pid_id = pid,
			  .pid_flags = TBRW_PID_TERMINATE | TBRW_PID_TSC_USED,
			  .pid_event_when = when};
}

static struct profile_reader *read_lives(const TBRW_PID *processes, uint32_t count)
{
	struct sample sample = {
		.pc = {.iip = 0x400010,
		       .IA64PC = 1,
		       .pidRecIndex = processes[0].pid_id,
		       .pidRecIndexRaw = 1},
		.tsc.tsc = processes[0].pid_event_when,
	};
	struct fixture_plain plain = {
		.interval_us = 1000,
		.processes = processes,
		.process_count = count,
		.fields = fixture_plain_fields,
		.field_count = 2,
		.samples = &sample,
		.size = sizeof(sample),
	};

	fixture_write_plain(&plain);
	return fixture_open();
}

/* The end of the process of this pid and start; 0: there is none. */
static uint64_t end_of(const struct profile_reader *reader, uint32_t pid, uint64_t start)
{
	for (uint32_t i = 0; i < profile_reader_process_count(reader); i++) {
		const struct profile_process_info *info = profile_reader_process(reader, i);
		if (info->pid == pid && info->start_tsc == start)
			return info->end_tsc;
	}
	return 0;
}

START_TEST(ends_find_their_starts)
{
	/* Starts of a pid in no order; ends later, in another order. */
	const TBRW_PID records[] = {
		started(7, 100), started(9, 50), started(7, 10),  started(8, 20),
		ended(6, 30),                                  /* never started */
		ended(9, 50),    ended(7, 150),  ended(8, 19), /* before its start */
		ended(7, 99),    ended(7, 160),  ended(10, 1000), ended(7, 5),
	};
	struct profile_reader *reader = read_lives(records, sizeof(records) / sizeof(*records));

	ck_assert_uint_eq(profile_reader_process_count(reader), 4);
	ck_assert_uint_eq(end_of(reader, 7, 10), 99);
	ck_assert_uint_eq(end_of(reader, 7, 100), 150);
	ck_assert_uint_eq(end_of(reader, 8, 20), UINT64_MAX);
	ck_assert_uint_eq(end_of(reader, 9, 50), 50);
	fixture_check_promises(reader);
	profile_reader_close(reader);
}
END_TEST

/* A record right behind its start belongs to it, if it can. */
START_TEST(end_behind_its_start)
{
	const TBRW_PID records[] = {
		started(7, 100), started(7, 200), ended(7, 250), started(8, 300),
		ended(8, 299),   started(9, 400), ended(7, 150),
	};
	struct profile_reader *reader = read_lives(records, sizeof(records) / sizeof(*records));

	ck_assert_uint_eq(end_of(reader, 7, 100), 150);
	ck_assert_uint_eq(end_of(reader, 7, 200), 250);
	ck_assert_uint_eq(end_of(reader, 8, 300), UINT64_MAX);
	ck_assert_uint_eq(end_of(reader, 9, 400), UINT64_MAX);
	profile_reader_close(reader);
}
END_TEST

START_TEST(many_lives_of_many_pids)
{
	enum { PIDS = 50, LIVES = 7, COUNT = PIDS * LIVES };
	TBRW_PID *records = calloc(2 * COUNT, sizeof(*records));

	ck_assert_ptr_nonnull(records);
	for (uint32_t i = 0; i < COUNT; i++) {
		/* 101 has no divisor in common with the counts: another order for each. */
		uint32_t life = i * 101 % COUNT;
		records[i] = started(1000 + life % PIDS, 1000 * (1 + life / PIDS));
		records[COUNT + COUNT - 1 - i] =
			ended(1000 + life % PIDS, 1000 * (1 + life / PIDS) + 1 + life % 900);
	}
	struct profile_reader *reader = read_lives(records, 2 * COUNT);
	ck_assert_uint_eq(profile_reader_process_count(reader), COUNT);
	for (uint32_t life = 0; life < COUNT; life++) {
		uint64_t start = 1000 * (1 + life / PIDS);
		ck_assert_uint_eq(end_of(reader, 1000 + life % PIDS, start),
				  start + 1 + life % 900);
	}
	profile_reader_close(reader);
	free(records);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("profile lives");
	TCase *tcase = fixture_case(suite);

	tcase_add_test(tcase, ends_find_their_starts);
	tcase_add_test(tcase, end_behind_its_start);
	tcase_add_test(tcase, many_lives_of_many_pids);
	return run_suite(suite);
}
