/* Records of rings with several events, told apart by the events' ids. */
#include "collector/perf/event_ids.h"
#include "tests/collector/record_encode.h"
#include "tests/collector/record_fixture.h"
#include "tests/support/suite.h"
#include <check.h>
#include <linux/perf_event.h>
#include <string.h>

enum { SIZE_MAX_BYTES = 2048, HEAD = 8, PERIOD_AT = 8 + 8 + 8 + 8 + 8 };

static struct event_ids ids;
static struct record_format format;
static uint8_t bytes[SIZE_MAX_BYTES];

static void setup(void)
{
	event_ids_init(&ids);
	format = record_fixture_all;
	format.ids = &ids;
}

static void teardown(void)
{
	event_ids_finish(&ids);
}

static void set_size(size_t size)
{
	struct perf_event_header header;
	memcpy(&header, bytes, sizeof(header));
	header.size = (uint16_t)size;
	memcpy(bytes, &header, sizeof(header));
}

static size_t insert(size_t size, size_t at, uint64_t value)
{
	memmove(bytes + at + sizeof(value), bytes + at, size - at);
	memcpy(bytes + at, &value, sizeof(value));
	set_size(size + sizeof(value));
	return size + sizeof(value);
}

static size_t cut(size_t size, size_t at)
{
	memmove(bytes + at, bytes + at + 8, size - at - 8);
	set_size(size - 8);
	return size - 8;
}

/* A sample with that id: as the kernel has it behind the header (perf_output_sample). */
static size_t encode_sample(struct record *record, uint64_t id)
{
	*record = record_fixture_sample(RECORD_REGISTERS_64);
	size_t size = record_encode(&record_fixture_all, record, bytes, sizeof(bytes) - 8);
	ck_assert_uint_gt(size, 0);
	return insert(size, HEAD, id);
}

START_TEST(samples)
{
	struct record in;
	struct record out;
	uint64_t time_ns;
	ck_assert(event_ids_add(&ids, 70, &(struct event_id){.event = 2}));
	size_t size = encode_sample(&in, _i);
	ck_assert(record_time(&format, bytes, size, &time_ns));
	ck_assert_uint_eq(time_ns, in.time_ns);
	ck_assert(record_decode(&format, bytes, size, &out));
	ck_assert_int_eq(out.kind, _i == 70 ? RECORD_EVENT : RECORD_SAMPLE);
	out.kind = RECORD_SAMPLE;
	record_fixture_assert_same(&record_fixture_all, &in, &out);
	ck_assert_uint_eq(out.sample.event, _i == 70 ? 2 : 0);
	ck_assert_uint_eq(out.sample.period, in.sample.period);
}
END_TEST

START_TEST(known_period)
{
	struct record in;
	struct record out;
	ck_assert(event_ids_add(&ids, 70, &(struct event_id){.event = 1, .period = 1234}));
	size_t size = cut(encode_sample(&in, 70), HEAD + PERIOD_AT);
	ck_assert(record_decode(&format, bytes, size, &out));
	ck_assert_int_eq(out.kind, RECORD_EVENT);
	ck_assert_uint_eq(out.sample.period, 1234);
	ck_assert_uint_eq(out.cpu, in.cpu);
	ck_assert_uint_eq(out.sample.stack.size, in.sample.stack.size);
}
END_TEST

/* Other records have the id at their end. */
START_TEST(other_records)
{
	struct record in;
	struct record out;
	uint64_t time_ns;
	record_fixture_fill(&in, record_fixture_kinds[_i]);
	size_t size = record_encode(&record_fixture_all, &in, bytes, sizeof(bytes) - 8);
	size = insert(size, size, 70);
	ck_assert(record_time(&format, bytes, size, &time_ns));
	ck_assert_uint_eq(time_ns, in.time_ns);
	ck_assert(record_decode(&format, bytes, size, &out));
	ck_assert_int_eq(out.kind, in.kind);
	ck_assert_uint_eq(out.tid, in.tid);
	ck_assert_uint_eq(out.cpu, in.cpu);
}
END_TEST

START_TEST(many_ids)
{
	struct event_id found;
	for (uint64_t id = 1; id <= 10000; id++)
		ck_assert(event_ids_add(&ids, id * 3,
					&(struct event_id){(uint32_t)(id % 8 + 1), id}));
	for (uint64_t id = 1; id <= 30000; id++) {
		ck_assert_int_eq(event_ids_find(&ids, id, &found), id % 3 == 0);
		if (id % 3 == 0)
			ck_assert_uint_eq(found.period, id / 3);
	}
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("event_ids");
	TCase *tcase = tcase_create("event_ids");

	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_add_loop_test(tcase, samples, 69, 72);
	tcase_add_test(tcase, known_period);
	tcase_add_loop_test(tcase, other_records, 1, RECORD_FIXTURE_KINDS);
	tcase_add_test(tcase, many_ids);
	suite_add_tcase(suite, tcase);
	return run_suite(suite);
}
