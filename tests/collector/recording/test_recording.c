/* Recordings made here, byte by byte, become results. */
#include "tests/collector/recording_fixture.h"
#include "tests/support/suite.h"
#include <check.h>
#include <linux/perf_event.h>
#include <string.h>
#include <zstd.h>

static void put_round(void)
{
	recorded_end(recorded_begin(RECORDED_ROUND, 0));
}

/* Two processes; records of two rounds are out of order. */
static void put_two(void)
{
	recorded_put_comm(7, "first", 0);
	recorded_put_map(7, 0x400000, "/nonexistent/first", 0);
	recorded_put_sample(7, 300, 5, recorded_chain, 3);
	recorded_put_sample(7, 100, 7, recorded_chain, 3);
	put_round();
	recorded_put_comm(8, "second", 150);
	recorded_put_map(8, 0x400000, "/nonexistent/second", 160);
	recorded_put_sample(8, 200, 11, recorded_chain, 2);
	put_round();
}

static bool expect_sample(const struct profile_sample_info *sample, void *user)
{
	static const uint64_t periods[] = {7, 11, 5};
	uint64_t *i = user;
	ck_assert_uint_lt(*i, 3);
	ck_assert_uint_eq(profile_reader_raw_ns(recorded.reader, sample->tsc), 100 * (*i + 1));
	ck_assert_uint_eq(sample->stack.cpu_ns, periods[*i]);
	ck_assert_uint_eq(sample->pid, *i == 1 ? 8 : 7);
	ck_assert_int_eq(sample->stack.reason, PROFILE_SKIP_CHAIN_ENDS);
	++*i;
	return true;
}

static void expect_two(void)
{
	uint64_t seen = 0;
	ck_assert_uint_eq(recorded.summary.samples, 3);
	ck_assert_uint_eq(profile_reader_each_sample(recorded.reader, expect_sample, &seen),
			  VT_SUCCESS);
	ck_assert_uint_eq(seen, 3);
	ck_assert_uint_eq(profile_reader_process_count(recorded.reader), 2);
	ck_assert_uint_eq(profile_reader_thread_count(recorded.reader), 2);
	ck_assert(!recorded_has_note(PROFILE_NOTE_OUT_OF_ORDER, 1, ""));
}

START_TEST(file_form)
{
	const struct perf_event_attr attr = recorded_attributes(PERF_COUNT_SW_CPU_CLOCK);
	recorded_begin_file(&attr);
	put_two();
	recorded_end_file();
	ck_assert_int_eq(recorded_import(NULL), 0);
	expect_two();
	ck_assert_str_eq(recorded.summary.told, "");
	ck_assert_str_eq(recorded.summary.event, "cpu-clock");
}
END_TEST

START_TEST(pipe_form)
{
	const struct perf_event_attr attr = recorded_attributes(PERF_COUNT_SW_CPU_CLOCK);
	recorded_begin_pipe(&attr);
	put_two();
	ck_assert_int_eq(recorded_import(NULL), 0);
	expect_two();
}
END_TEST

/* Records begin in one compressed part and end in the next; the last one lacks bytes. */
static void put_compressed(size_t lacking)
{
	static uint8_t plain[sizeof(recorded.bytes)], packed[4096];
	const struct perf_event_attr attr = recorded_attributes(PERF_COUNT_SW_CPU_CLOCK);
	recorded_begin_pipe(&attr);
	size_t start = recorded.size;
	put_two();
	recorded_put_sample(7, 310, 5, recorded_chain, 3);
	size_t length = recorded.size - start - lacking;
	memcpy(plain, recorded.bytes + start, length);
	recorded.size = start;
	ZSTD_CCtx *packer = ZSTD_createCCtx();
	for (size_t at = 0; at < length; at += 100) {
		ZSTD_inBuffer in = {plain + at, length - at < 100 ? length - at : 100, 0};
		ZSTD_outBuffer out = {packed, sizeof(packed), 0};
		ck_assert_uint_eq(ZSTD_compressStream2(packer, &out, &in, ZSTD_e_flush), 0);
		size_t record = recorded_begin(RECORDED_COMPRESSED, 0);
		recorded_put(packed, out.pos);
		recorded_end(record);
	}
	ZSTD_freeCCtx(packer);
}

START_TEST(compressed)
{
	put_compressed(0);
	ck_assert_int_eq(recorded_import(NULL), 0);
	ck_assert_uint_eq(recorded.summary.samples, 4);
	ck_assert_str_eq(recorded.summary.told, "");
	recorded_forget();
	put_compressed(1);
	ck_assert_int_eq(recorded_import(NULL), 0);
	ck_assert_uint_eq(recorded.summary.samples, 3);
	ck_assert_ptr_nonnull(strstr(recorded.summary.told, "bytes of the file could not be read"));
	recorded_forget();
	put_compressed(0);
	/* A part that cannot be unpacked takes only itself and what builds on it away. */
	recorded.bytes[recorded.size - 5] ^= 0x55;
	if (recorded_import(NULL) == 0)
		ck_assert_uint_le(recorded.summary.samples, 4);
}
END_TEST

/* Each file that ends too early says so, or has no samples. */
START_TEST(cut)
{
	const struct perf_event_attr attr = recorded_attributes(PERF_COUNT_SW_CPU_CLOCK);
	recorded_begin_file(&attr);
	put_two();
	recorded_end_file();
	for (size_t whole = recorded.size; recorded.size > 8; recorded.size--) {
		int result = recorded_import(NULL);
		ck_assert(recorded.size == whole ? recorded.summary.told[0] == '\0'
						 : result < 0 || recorded.summary.told[0]);
		ck_assert(result == 0 || recorded.failure.text[0]);
		recorded_forget();
	}
}
END_TEST

START_TEST(losses)
{
	const struct perf_event_attr attr = recorded_attributes(PERF_COUNT_SW_PAGE_FAULTS);
	recorded_begin_file(&attr);
	put_two();
	size_t start = recorded_begin(PERF_RECORD_LOST, 0);
	recorded_put_u64(1);
	recorded_put_u64(4);
	recorded_end_with(start, 7, 310);
	start = recorded_begin(PERF_RECORD_LOST_SAMPLES, 0);
	recorded_put_u64(6);
	recorded_end_with(start, 7, 320);
	for (unsigned type = PERF_RECORD_THROTTLE; type <= PERF_RECORD_UNTHROTTLE; type++) {
		start = recorded_begin(type, 0);
		recorded_put_u64(325); /* time, id, stream */
		recorded_put_u64(0);
		recorded_put_u64(0);
		recorded_end_with(start, 7, 325);
	}
	start = recorded_begin(RECORDED_AUXTRACE,
			       0); /* the bytes of the trace stand behind the record */
	recorded_put_u64(64);
	for (int i = 0; i < 4; i++)
		recorded_put_u64(0);
	recorded_end(start);
	for (int i = 0; i < 8; i++)
		recorded_put_u64(UINT64_MAX);
	start = recorded_begin(PERF_RECORD_AUX, 0);
	recorded_put_u64(0);
	recorded_put_u64(64);
	recorded_put_u64(PERF_AUX_FLAG_TRUNCATED);
	recorded_end_with(start, 7, 327);
	start = recorded_begin(PERF_RECORD_SWITCH, 0);
	recorded_end_with(start, 7, 330);
	start = recorded_begin(60, 0); /* of a kernel to come */
	recorded_end_with(start, 7, 330);
	start = recorded_begin(PERF_RECORD_SAMPLE, 0); /* not whole */
	recorded_end(start);
	recorded_end_file();
	ck_assert_int_eq(recorded_import(NULL), 0);
	ck_assert_uint_eq(recorded.summary.samples_lost, 6);
	ck_assert(recorded_has_note(PROFILE_NOTE_SAMPLES_LOST, 4, ""));
	ck_assert(recorded_has_note(PROFILE_NOTE_SAMPLES_LOST, 2, ""));
	ck_assert(recorded_has_note(PROFILE_NOTE_RECORDS_LOST, 1, "could not be read"));
	ck_assert(recorded_has_note(PROFILE_NOTE_WARNING, 0, "1 records of context switches"));
	ck_assert(recorded_has_note(PROFILE_NOTE_WARNING, 0, "1 records of kinds not known here"));
	ck_assert(recorded_has_note(PROFILE_NOTE_THROTTLED, 1, ""));
	ck_assert(recorded_has_note(PROFILE_NOTE_UNTHROTTLED, 1, ""));
	ck_assert(recorded_has_note(PROFILE_NOTE_WARNING, 0, "64 bytes of processor traces (AUX)"));
	ck_assert(recorded_has_note(PROFILE_NOTE_WARNING, 0, "lost parts 1 times"));
	ck_assert(recorded_has_note(PROFILE_NOTE_EVENT, 1, "page-faults"));
	ck_assert_str_eq(profile_reader_counted_event(recorded.reader), "page-faults");
}
END_TEST

/* A million ids, then events and questions by turns: to look at all ids for each took minutes. */
START_TEST(many_ids)
{
	struct perf_event_attr attr = recorded_attributes(PERF_COUNT_SW_PAGE_FAULTS);
	uint64_t id = 1000;
	attr.sample_type |= PERF_SAMPLE_IDENTIFIER;
	recorded_begin_pipe(&attr);
	for (int i = 0; i < 128; i++) {
		size_t start = recorded_begin(RECORDED_ATTR, 0);
		recorded_put(&attr, RECORDED_ATTR_SIZE);
		for (int j = 0; j < 8000; j++)
			recorded_put_u64(id++);
		recorded_end(start);
	}
	for (int i = 0; i < 3900; i++) {
		recorded_add_event(attr, id, 0);
		size_t start = recorded_begin(RECORDED_UPDATE, 0);
		recorded_put_u64(1);
		recorded_put_u64(id++);
		recorded_end(start);
	}
	recorded_add_event(recorded_attributes(PERF_COUNT_SW_TASK_CLOCK), id, 1);
	recorded_add_event(recorded_attributes(PERF_COUNT_SW_CPU_CLOCK), 1001,
			   1); /* an id of before stays */
	ck_assert_int_eq(recorded_import("task-clock"), 0);
	ck_assert_uint_eq(recorded.summary.samples, 1);
	ck_assert(recorded_has_note(PROFILE_NOTE_WARNING, 0,
				    "1 samples of other events: page-faults"));
}
END_TEST

/* Each event names the same 64 MB as its ids: reading them for each took minutes. */
START_TEST(ids_of_all)
{
	enum { EVENTS = 4096 };
	const struct perf_event_attr attr = recorded_attributes(PERF_COUNT_SW_CPU_CLOCK);
	recorded_begin_file(&attr);
	for (int i = 1; i < EVENTS; i++) {
		recorded_put(&attr, RECORDED_ATTR_SIZE);
		recorded_put_u64(RECORDED_HEADER_SIZE);
		recorded_put_u64(64 << 20);
	}
	uint64_t attributes_size = EVENTS * (RECORDED_ATTR_SIZE + 16);
	uint64_t data = recorded.size;
	memcpy(recorded.bytes + 32, &attributes_size, sizeof(attributes_size));
	memcpy(recorded.bytes + 40, &data, sizeof(data));
	recorded.hole = 64 << 20;
	ck_assert_int_eq(recorded_import(NULL), -1);
	ck_assert_str_eq(recorded.failure.text,
			 "cannot import x.data: it has no samples of the event "
			 "cpu-clock; record anew");
}
END_TEST

/* Sums that a number cannot hold. */
START_TEST(large_periods)
{
	const struct perf_event_attr attr = recorded_attributes(PERF_COUNT_SW_CPU_CLOCK);
	recorded_begin_file(&attr);
	recorded_put_sample(7, 100, UINT64_C(1) << 60, recorded_chain, 3);
	recorded_put_sample(7, 200, UINT64_C(1) << 63, recorded_chain, 3);
	recorded_put_sample(7, 300, UINT64_C(1) << 60, recorded_chain, 3);
	recorded_put_sample(7, 400, 5, recorded_chain, 3);
	recorded_end_file();
	ck_assert_int_eq(recorded_import(NULL), 0);
	ck_assert_uint_eq(recorded.summary.samples, 2);
	ck_assert_ptr_nonnull(
		strstr(recorded.summary.told, "2 samples were left out: their periods"));
}
END_TEST

/* How far the work is, is told. */
START_TEST(watched)
{
	const struct perf_event_attr attr = recorded_attributes(PERF_COUNT_SW_CPU_CLOCK);
	recorded_begin_file(&attr);
	for (uint64_t i = 1; i <= 20000; i++)
		recorded_put_sample(7, i, 5, recorded_chain, 3);
	recorded_end_file();
	ck_assert_int_eq(recorded_import(NULL), 0);
	ck_assert_uint_gt(recorded.seen_done, recorded.size + recorded.size / 2);
}
END_TEST

START_TEST(recognized)
{
	ck_assert(recording_is_recognized((const uint8_t *)"PERFILE2", 8));
	ck_assert(recording_is_recognized((const uint8_t *)"2ELIFREP", 8));
	ck_assert(recording_is_recognized((const uint8_t *)"PERFFILE", 8));
	ck_assert(!recording_is_recognized((const uint8_t *)"PERFILE2", 7));
	ck_assert(!recording_is_recognized((const uint8_t *)"PERFILE3", 8));
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("recording");
	TCase *tcase = tcase_create("recording");

	tcase_add_checked_fixture(tcase, recorded_set_up, recorded_tear_down);
	tcase_set_timeout(tcase, 60);
	tcase_add_test(tcase, file_form);
	tcase_add_test(tcase, pipe_form);
	tcase_add_test(tcase, compressed);
	tcase_add_test(tcase, cut);
	tcase_add_test(tcase, losses);
	tcase_add_test(tcase, many_ids);
	tcase_add_test(tcase, ids_of_all);
	tcase_add_test(tcase, large_periods);
	tcase_add_test(tcase, watched);
	tcase_add_test(tcase, recognized);
	suite_add_tcase(suite, tcase);
	return run_suite(suite);
}
