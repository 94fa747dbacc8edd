/*
 * Feeds record_decode with any bytes. The first byte chooses the format, the rest is one record,
 * whose size in the header is put right so that more than the first check is reached. What decodes
 * must lie inside, and must be the same once more after it was encoded.
 */
#include "collector/perf/event_ids.h"
#include "collector/perf/record.h"
#include "tests/collector/record_encode.h"
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void expect(bool holds)
{
	if (!holds)
		abort();
}

static void expect_inside(const void *at, uint64_t length, const uint8_t *bytes, size_t size)
{
	const uint8_t *begin = at;
	expect(begin >= bytes && begin <= bytes + size);
	expect(length <= (size_t)(bytes + size - begin));
}

static void check_sample(const struct record_sample *sample, const uint8_t *bytes, size_t size)
{
	expect(sample->callchain_length <= size / 8);
	if (sample->callchain_length > 0)
		expect_inside(sample->callchain, sample->callchain_length * 8, bytes, size);
	expect(sample->stack.size <= sample->stack.requested);
	if (sample->stack.requested > 0)
		expect_inside(sample->stack.bytes, sample->stack.requested, bytes, size);
}

static void check(const struct record *record, const uint8_t *bytes, size_t size)
{
	if (record->kind == RECORD_SAMPLE) {
		check_sample(&record->sample, bytes, size);
	} else if (record->kind == RECORD_MMAP) {
		expect_inside(record->mmap.path, strlen(record->mmap.path) + 1, bytes, size);
		expect(record->mmap.build_id_size <= sizeof(record->mmap.build_id));
	} else if (record->kind == RECORD_COMM) {
		expect_inside(record->comm.name, strlen(record->comm.name) + 1, bytes, size);
	}
}

static void check_again(const struct record_format *format, const struct record *record)
{
	static uint8_t bytes[UINT16_MAX];
	struct record again;
	size_t size = record_encode(format, record, bytes, sizeof(bytes));
	if (size == 0)
		return; /* of a kind that is only read, or too large with its padding */
	expect(record_decode(format, bytes, size, &again));
	check(&again, bytes, size);
	expect(again.kind == record->kind && again.time_ns == record->time_ns);
	expect(again.tid == record->tid && again.cpu == record->cpu);
	if (record->kind == RECORD_ACCOUNT)
		expect(again.account.cpu_ns == record->account.cpu_ns &&
		       again.account.is_renamed == record->account.is_renamed);
	if (record->kind == RECORD_ENDING)
		expect(again.sample.callchain_length == record->sample.callchain_length);
	if (record->kind != RECORD_SAMPLE)
		return;
	expect(again.sample.ip == record->sample.ip && again.sample.abi == record->sample.abi);
	expect(memcmp(&again.sample.regs, &record->sample.regs, sizeof(again.sample.regs)) == 0);
	expect(again.sample.stack.size == record->sample.stack.size);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	enum { SIZE_OFFSET = 6 }; /* of the size in struct perf_event_header */
	if (size < 1 || size > UINT16_MAX)
		return 0;
	struct event_ids ids;
	struct record_format format = {
		.count = data[0] & 1,
		.lost = (data[0] & 2) != 0,
		.callchain = (data[0] & 4) != 0,
		.registers = (data[0] & 8) != 0,
		.stack = (data[0] & 24) == 24,
		.raw = (data[0] & 32) != 0,
		.ids = (data[0] & 64) ? &ids : NULL,
	};
	struct record record;
	uint64_t time_ns;
	uint16_t record_size = (uint16_t)(size - 1);
	uint8_t *bytes = malloc(record_size > 0 ? record_size : 1);
	if (!bytes)
		return 0;
	event_ids_init(&ids);
	event_ids_add(&ids, 1, &(struct event_id){.event = 1});
	event_ids_add(&ids, 2, &(struct event_id){.event = 2, .period = 10});
	memcpy(bytes, data + 1, record_size);
	if (record_size >= SIZE_OFFSET + sizeof(record_size))
		memcpy(bytes + SIZE_OFFSET, &record_size, sizeof(record_size));
	bool timed = record_time(&format, bytes, record_size, &time_ns);
	if (record_decode(&format, bytes, record_size, &record)) {
		expect(timed);
		check(&record, bytes, record_size);
		/* The encoder writes no ids. */
		if (!format.ids)
			check_again(&format, &record);
	}
	event_ids_finish(&ids);
	free(bytes);
	return 0;
}
