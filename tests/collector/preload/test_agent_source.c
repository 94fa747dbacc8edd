/* Reading what the library in the target wrote, and what else the memory may hold. */
#include "collector/agent/channel.h"
#include "collector/machine/clock.h"
#include "collector/preload/agent_source.h"
#include "tests/support/suite.h"
#include <check.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { STACK = 64 };

static struct channel *channel;
static struct agent_source *agent;
static struct source source;
static uint64_t start_ns;

static void setup(void)
{
	channel = mmap(NULL, CHANNEL_SIZE, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	ck_assert_ptr_ne(channel, MAP_FAILED);
	agent = agent_source_create(channel);
	ck_assert_ptr_nonnull(agent);
	source = agent_source_of(agent);
	start_ns = clock_now() - 1000000;
}

static void teardown(void)
{
	agent_source_destroy(agent);
	munmap(channel, CHANNEL_SIZE);
}

static uint64_t owner(void)
{
	return (uint64_t)getpid() << 32 | (uint32_t)gettid();
}

static void put_bytes(size_t ring, const void *bytes, size_t size)
{
	struct channel_control *control = &channel->controls[ring];
	for (size_t i = 0; i < size; i++)
		channel->rings[ring][(control->head + i) % CHANNEL_RING_SIZE] =
			((const uint8_t *)bytes)[i];
	control->head += size;
}

static struct channel_record wait_of(uint64_t object, uint64_t end)
{
	return (struct channel_record){.size = sizeof(struct channel_record),
				       .kind = CHANNEL_WAIT,
				       .type = CHANNEL_MUTEX,
				       .object = object,
				       .begin_ns = start_ns,
				       .end_ns = start_ns + end,
				       .site = 0x1234};
}

static void put(size_t ring, uint64_t object, uint64_t end)
{
	struct channel_record record = wait_of(object, end);
	channel->owners[ring] = owner();
	put_bytes(ring, &record, sizeof(record));
}

uint64_t __real_clock_now(void);
uint64_t __wrap_clock_now(void);

/* 0: none. At the next look at the clock, a record of a later time goes there. */
static size_t meanwhile_ring;

uint64_t __wrap_clock_now(void)
{
	uint64_t now = __real_clock_now();
	size_t ring = meanwhile_ring;
	meanwhile_ring = 0;
	if (ring > 0)
		put(ring, 2, now + 1 - start_ns);
	return now;
}

/* The next record; false: none, or (then *is_bad) it is not one. */
static bool next(struct record *record, bool *is_bad)
{
	const void *bytes;
	size_t size;
	uint64_t time_ns;
	*is_bad = false;
	if (!source.kind->peek(&source, &bytes, &size))
		return false;
	ck_assert(source.kind->time(&source, bytes, size, &time_ns));
	*is_bad = !source.kind->decode(&source, bytes, size, record);
	if (!*is_bad)
		ck_assert_uint_eq(record->time_ns, time_ns);
	source.kind->consume(&source, size);
	return !*is_bad;
}

static void assert_next(uint64_t object)
{
	struct record record;
	bool is_bad;
	ck_assert(next(&record, &is_bad));
	ck_assert_uint_eq(record.sync.object, object);
	ck_assert_int_eq(record.kind, RECORD_SYNC_WAIT);
	ck_assert_uint_eq(record.pid, (uint32_t)getpid());
	ck_assert_uint_eq(record.tid, (uint32_t)gettid());
	ck_assert_uint_eq(record.sync.sample.stack.size, 0);
}

static void assert_none(void)
{
	const void *bytes;
	size_t size;
	ck_assert(!source.kind->peek(&source, &bytes, &size));
}

static struct agent_source_counts counts(void)
{
	struct agent_source_counts counts;
	agent_source_counts(agent, &counts);
	return counts;
}

START_TEST(by_time_over_rings)
{
	put(7, 1, 10);
	put(7, 4, 40);
	put(4000, 2, 20);
	put(4000, 3, 30);
	source.kind->refresh(&source);
	for (uint64_t object = 1; object <= 4; object++)
		assert_next(object);
	assert_none();
	ck_assert_uint_eq(channel->controls[7].tail, channel->controls[7].head);
	ck_assert_uint_eq(counts().records, 4);
}
END_TEST

/* Older ones that are taken in between come at the next refresh: until then what was shown stays.
 */
START_TEST(taken_in_between)
{
	const void *bytes;
	const void *again;
	size_t size;
	put(0, 2, 20);
	source.kind->refresh(&source);
	ck_assert(source.kind->peek(&source, &bytes, &size));
	put(1, 1, 10);
	source.kind->take(&source);
	ck_assert_uint_eq(channel->controls[1].tail, sizeof(struct channel_record));
	ck_assert(source.kind->peek(&source, &again, &size));
	ck_assert_ptr_eq(again, bytes);
	source.kind->refresh(&source);
	assert_next(1);
	assert_next(2);
	assert_none();
}
END_TEST

START_TEST(around_the_end)
{
	for (uint64_t i = 0; i < 3 * CHANNEL_RING_SIZE / sizeof(struct channel_record); i++) {
		put(0, i + 1, i);
		source.kind->refresh(&source);
		assert_next(i + 1);
	}
	ck_assert_uint_gt(channel->controls[0].tail, 2 * CHANNEL_RING_SIZE);
}
END_TEST

static struct channel_record with_stack(uint8_t *bytes)
{
	struct channel_record record = wait_of(9, 1);
	struct channel_registers registers;
	for (size_t i = 0; i < CHANNEL_REGISTERS; i++)
		registers.value[i] = 0x1000 + i;
	record.flags = CHANNEL_STACK | CHANNEL_STACK_WHOLE | CHANNEL_TIMED_OUT;
	record.stack_bytes = STACK;
	record.size += sizeof(registers) + STACK;
	memcpy(bytes, &registers, sizeof(registers));
	memset(bytes + sizeof(registers), 0x55, STACK);
	return record;
}

START_TEST(stack_and_registers)
{
	uint8_t bytes[sizeof(struct channel_registers) + STACK];
	struct channel_record from = with_stack(bytes);
	const void *entry;
	size_t size;
	struct record record;
	channel->owners[0] = owner();
	put_bytes(0, &from, sizeof(from));
	put_bytes(0, bytes, sizeof(bytes));
	source.kind->refresh(&source);
	ck_assert(source.kind->peek(&source, &entry, &size));
	ck_assert(source.kind->decode(&source, entry, size, &record));
	const struct record_sample *sample = &record.sync.sample;
	ck_assert_int_eq(sample->abi, RECORD_REGISTERS_64);
	ck_assert_uint_eq(sample->stack.size, STACK);
	ck_assert_uint_eq(sample->stack.base, 0x1001);
	ck_assert_uint_eq(sample->stack.bytes[STACK - 1], 0x55);
	ck_assert(sample->stack.ends);
	ck_assert_uint_eq(sample->ip, 0x1000);
	ck_assert(record.sync.is_timed_out);
	ck_assert_uint_eq(record.sync.site, 0x1234);
#if defined(__x86_64__)
	ck_assert_uint_eq(sample->regs.value[16], 0x1000);
	ck_assert_uint_eq(sample->regs.value[7], 0x1001);
	ck_assert_uint_eq(sample->regs.value[6], 0x1002);
	ck_assert_uint_eq(sample->regs.value[3], 0x1003);
	ck_assert_uint_eq(sample->regs.value[15], 0x1007);
	ck_assert_uint_eq(sample->regs.unknown & 0x1ffff, 0xf37 & ~0x8ull);
#endif
	source.kind->consume(&source, size);
}
END_TEST

static void assert_bad(const struct channel_record *record, size_t rest)
{
	static const uint8_t zeros[256];
	struct record decoded;
	bool is_bad;
	channel->owners[0] = owner();
	put_bytes(0, record, sizeof(*record));
	put_bytes(0, zeros, rest);
	source.kind->refresh(&source);
	ck_assert(!next(&decoded, &is_bad));
	ck_assert(is_bad);
	assert_none();
}

START_TEST(whole_but_wrong)
{
	struct channel_record record = wait_of(1, 1);
	record.kind = CHANNEL_KINDS;
	assert_bad(&record, 0);
	record.kind = 0;
	assert_bad(&record, 0);
	record = wait_of(1, 1);
	record.type = CHANNEL_TYPES;
	assert_bad(&record, 0);
	record = wait_of(1, 1);
	record.begin_ns = record.end_ns + 1;
	assert_bad(&record, 0);
	record = wait_of(1, 1);
	record.end_ns = UINT64_MAX;
	assert_bad(&record, 0);
	record = wait_of(1, 1);
	record.stack_bytes = 8;
	record.size += 8;
	assert_bad(&record, 8);
	record.flags = CHANNEL_STACK;
	assert_bad(&record, 8);
	record.size += sizeof(struct channel_registers);
	record.stack_bytes = UINT32_MAX;
	assert_bad(&record, 8 + sizeof(struct channel_registers));
}
END_TEST

static void assert_broken(uint64_t times)
{
	source.kind->refresh(&source);
	assert_none();
	ck_assert_uint_eq(counts().broken, times);
	ck_assert_uint_eq(channel->controls[0].tail, channel->controls[0].head);
	/* What comes behind is read again. */
	put(0, 5, times);
	source.kind->refresh(&source);
	assert_next(5);
}

START_TEST(no_records)
{
	static const uint32_t sizes[] = {0, 8, 47, 49, 56, UINT32_MAX, CHANNEL_RING_SIZE};
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		struct channel_record record = wait_of(1, 1);
		record.size = sizes[i];
		channel->owners[0] = owner();
		put_bytes(0, &record, sizeof(record));
		assert_broken(i + 1);
	}
	channel->controls[0].head += 8; /* less than a record */
	assert_broken(8);
	channel->controls[0].head += CHANNEL_RING_SIZE + 8;
	assert_broken(9);
	channel->controls[0].head -= 4096;
	assert_broken(10);
	channel->controls[0].tail = 77; /* of no interest: it is ours */
	put(0, 6, 100);
	source.kind->refresh(&source);
	assert_next(6);
}
END_TEST

/* The ring of a thread that is gone is free again, once all it wrote is taken. */
START_TEST(ended_threads)
{
	put(3, 1, 1);
	put(4, 2, 2);
	channel->owners[4] = (uint64_t)getpid() << 32 | 0x3fffffff;
	channel->owners[5] = 1;
	source.kind->refresh(&source);
	ck_assert_uint_eq(channel->owners[3], owner());
	ck_assert_uint_eq(channel->owners[4], 0);
	ck_assert_uint_eq(channel->owners[5], 0);
	assert_next(1);
	struct record record;
	bool is_bad;
	ck_assert(next(&record, &is_bad));
	ck_assert_uint_eq(record.tid, 0x3fffffff);
}
END_TEST

/* More than we hold stays in the rings, whose writers count what finds no room. */
START_TEST(bounded)
{
	static uint8_t bytes[CHANNEL_RING_SIZE];
	size_t ring = 0;
	struct channel_record record = wait_of(1, 1);
	for (size_t at = 0; at + sizeof(record) <= sizeof(bytes); at += sizeof(record))
		memcpy(bytes + at, &record, sizeof(record));
	for (; ring < 1500; ring++) {
		channel->owners[ring] = owner();
		put_bytes(ring, bytes, sizeof(bytes) / sizeof(record) * sizeof(record));
	}
	source.kind->take(&source);
	ck_assert_uint_eq(channel->controls[0].tail, channel->controls[0].head);
	ck_assert_uint_lt(channel->controls[1499].tail, channel->controls[1499].head);
	ck_assert_uint_lt(counts().records, (80u << 20) / sizeof(record));
	ck_assert_uint_eq(counts().broken, 0);
}
END_TEST

/* Records that end between the clock and the look at a ring are as good as others. */
START_TEST(written_meanwhile)
{
	put(5, 1, 0);
	meanwhile_ring = 5;
	source.kind->refresh(&source);
	ck_assert_uint_eq(meanwhile_ring, 0);
	assert_next(1);
	source.kind->refresh(&source);
	assert_next(2);
	assert_none();
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("agent_source");
	TCase *tcase = tcase_create("agent_source");

	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_add_test(tcase, by_time_over_rings);
	tcase_add_test(tcase, written_meanwhile);
	tcase_add_test(tcase, taken_in_between);
	tcase_add_test(tcase, around_the_end);
	tcase_add_test(tcase, stack_and_registers);
	tcase_add_test(tcase, whole_but_wrong);
	tcase_add_test(tcase, no_records);
	tcase_add_test(tcase, ended_threads);
	tcase_add_test(tcase, bounded);
	suite_add_tcase(suite, tcase);
	return run_suite(suite);
}
