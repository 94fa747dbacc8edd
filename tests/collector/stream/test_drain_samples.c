/* Draining: samples are put together from parts, drawn from ticks, and thinned to the share of
 * stacks. */
#include "collector/perf/sampler.h"
#include "collector/stream/drain.h"
#include "tests/collector/drain_fixture.h"
#include "tests/collector/ring_fixture.h"
#include "tests/support/suite.h"
#include <check.h>
#include <string.h>

enum { BASE = 0x7ffc0000 };

static void put_part(size_t ring, uint32_t tid, uint32_t offset, uint32_t size, uint32_t total)
{
	static uint8_t bytes[32768];
	struct record record = {.kind = RECORD_SAMPLE};
	memset(bytes, (int)(offset / 100), sizeof(bytes));
	record.sample.abi = RECORD_REGISTERS_64;
	record.sample.regs.value[7] = BASE;
	record.sample.regs.value[31] = BASE;
	record.sample.stack =
		(struct uw_stack){.base = BASE, .bytes = bytes, .size = size, .requested = size};
	record.sample.part = (struct record_part){.offset = offset, .total = total};
	uint32_t before = put_count;
	put_count = tid;
	drain_fixture_put_record(&record, ring);
	put_count = before;
}

static void assert_sample(const struct record *item, uint32_t tid, size_t size)
{
	const struct record_sample *sample = &item->sample;
	ck_assert_int_eq(item->kind, RECORD_SAMPLE);
	ck_assert_uint_eq(item->tid, tid);
	ck_assert_uint_eq(sample->stack.size, size);
	for (size_t i = 0; i < size; i++)
		ck_assert_uint_eq(sample->stack.bytes[i], i < 1000 ? 0 : 10);
}

/* A sample in two parts, one that another record cuts, and one that the end cuts. */
START_TEST(parts)
{
	const struct record *item = NULL;
	put_part(0, 50, 0, 1000, 3000);
	put_part(0, 50, 1000, 2000, 3000);
	put_part(0, 60, 0, 1000, 3000);
	put_count = 61;
	taken = 61;
	drain_fixture_put(0);
	put_part(1, 70, 0, 1000, 3000);
	drain_begin(drain, DRAIN_SETTLED);
	ck_assert(drain_next(drain, &item));
	assert_sample(item, 50, 3000);
	ck_assert(drain_next(drain, &item));
	assert_sample(item, 60, 1000);
	drain_fixture_next();
	drain_fixture_assert_none();
	drain_begin(drain, DRAIN_REST);
	ck_assert(drain_next(drain, &item));
	assert_sample(item, 70, 1000);
	drain_fixture_assert_none();
}
END_TEST

/* Reports of lost records without those that were no samples; none where nothing is left. */
START_TEST(lost_without_refused)
{
	/* As read between the second report and the third, when nothing more was refused. */
	struct sampler_refused refused[RINGS] = {{.count = 9, .read_ns = 2}};
	struct record record = {.kind = RECORD_LOST, .lost = 5};
	const struct record *item = NULL;
	sampler.refused = refused;
	drain_fixture_put_record(&record, 0);
	drain_fixture_put_record(&record, 0);
	drain_fixture_put_record(&record, 0);
	drain_begin(drain, DRAIN_SETTLED);
	for (uint64_t lost = 1; lost <= 5; lost += 4) {
		ck_assert(drain_next(drain, &item));
		ck_assert_int_eq(item->kind, RECORD_LOST);
		ck_assert_uint_eq(item->lost, lost);
		if (lost == 1)
			ck_assert_uint_eq(refused[0].read_ns, 2);
	}
	ck_assert_uint_gt(refused[0].read_ns, 2);
	drain_fixture_assert_none();
}
END_TEST

/* Begins anew with samples that have a stack of this size, and gives one to the record. */
static void begin_stacks(struct record *record, const uint8_t *stack, uint32_t size)
{
	sampler.config.stack_size = size;
	drain_destroy(drain);
	drain = drain_create(&sampler);
	record->sample.abi = RECORD_REGISTERS_64;
	record->sample.regs.value[7] = BASE;
	record->sample.stack =
		(struct uw_stack){.base = BASE, .bytes = stack, .size = size, .requested = size};
}

/* Of samples whose stack may be left out, and of deep copies, a share is; of those of which that is
 * decided, none. */
START_TEST(keeps_a_share)
{
	enum { SAMPLES = 400 };
	static uint8_t stack[1000];
	struct record record = {.kind = RECORD_SAMPLE};
	struct drain_counts counts;
	const struct record *item = NULL;
	uint32_t kept = 0;
	begin_stacks(&record, stack, sizeof(stack));
	sampler.config.deep_interval_ns = 7000000;
	for (int i = 0; i < SAMPLES; i++) {
		record.sample.period = i % 2 == 0 ? 1000000 : sampler.config.deep_interval_ns;
		drain_fixture_put_record(&record, 0);
	}
	put_part(1, SAMPLES, 0, 1000, 1000);
	drain_keep_share(drain, UINT32_MAX / 4);
	drain_begin(drain, DRAIN_SETTLED);
	for (uint32_t i = 0; i < SAMPLES; i++) {
		ck_assert(drain_next(drain, &item));
		bool is_kept = sampling_keeps_stack(UINT32_MAX / 4, i, i + 1);
		ck_assert_int_eq(item->sample.choice == RECORD_LEFT_OUT, !is_kept);
		ck_assert_uint_eq(item->sample.stack.size, is_kept ? sizeof(stack) : 0);
		kept += is_kept;
	}
	ck_assert(drain_next(drain, &item));
	ck_assert(item->sample.choice != RECORD_LEFT_OUT);
	ck_assert_uint_eq(item->sample.stack.size, 1000);
	drain_fixture_assert_none();
	ck_assert_uint_gt(kept, SAMPLES / 6);
	ck_assert_uint_lt(kept, SAMPLES / 3);
	drain_counts(drain, &counts);
	ck_assert_uint_eq(counts.left_out_bytes, (SAMPLES - kept) * sizeof(stack));
}
END_TEST

/* Loop: from the rings, through the queue. Ticks that are not drawn lose their stack and the
 * kernel's frames, are no samples, and do not ask the budget; what the budget leaves out loses its
 * stack only. */
START_TEST(draws_samples)
{
	enum { TICKS = 400 };
	static uint8_t stack[1000];
	static const uint64_t callchain[] = {0xffffffff81000010u};
	struct record record = {.kind = RECORD_SAMPLE};
	struct drain_counts counts;
	const struct record *item = NULL;
	uint32_t drawn = 0;
	uint32_t kept = 0;
	sampler.config.sampling = sampling_choose(PROFILE_SAMPLING_THREADS, 10000000, 77);
	sampler.config.kernel = true;
	begin_stacks(&record, stack, sizeof(stack));
	record.sample.period = 2500000;
	record.sample.callchain = (const uint8_t *)callchain;
	record.sample.callchain_length = 1;
	drain_keep_share(drain, UINT32_MAX / 2);
	for (int i = 0; i < TICKS; i++)
		drain_fixture_put_record(&record, 0);
	if (_i == 1) {
		drain_fixture_crowd(1);
		ck_assert_int_eq(drain_start(drain), 0);
		drain_fixture_wake(1);
		drain_fixture_wait_for_tail(0, ring_fixture_head(&rings[0]));
	}
	drain_begin(drain, DRAIN_SETTLED);
	for (uint32_t i = 0; i < TICKS; i++) {
		ck_assert(drain_next(drain, &item));
		bool is_drawn = sampling_keeps(&sampler.config.sampling, 2500000, i, i + 1);
		bool is_kept = is_drawn && sampling_keeps_stack(UINT32_MAX / 2, i, i + 1);
		ck_assert_int_eq(item->sample.choice, is_kept    ? RECORD_KEPT
						      : is_drawn ? RECORD_LEFT_OUT
								 : RECORD_TICK);
		ck_assert_int_eq(item->sample.choice == RECORD_LEFT_OUT, is_drawn && !is_kept);
		ck_assert_uint_eq(item->sample.stack.size, is_kept ? sizeof(stack) : 0);
		ck_assert_uint_eq(item->sample.callchain_length, is_drawn ? 1 : 0);
		drawn += is_drawn;
		kept += is_kept;
	}
	ck_assert_uint_gt(drawn, TICKS / 6);
	ck_assert_uint_lt(drawn, TICKS / 3);
	ck_assert_uint_gt(kept, drawn / 3);
	ck_assert_uint_lt(kept, drawn * 2 / 3);
	if (_i == 1)
		return;
	drain_counts(drain, &counts);
	ck_assert_uint_eq(counts.left_out_bytes, (TICKS - kept) * sizeof(stack));
}
END_TEST

/* A thread that comes late leaves stacks out from three quarters of a ring to half of it, and keeps
 * every sample. */
START_TEST(late_thread_leaves_stacks_out)
{
	static uint8_t stack[1000];
	struct record record = {.kind = RECORD_SAMPLE, .sample.period = 1000000};
	struct drain_counts counts;
	const struct record *item = NULL;
	uint32_t left_out = 0;
	begin_stacks(&record, stack, sizeof(stack));
	while (ring_fixture_head(&rings[0]) < SIZE / 8 * 7)
		drain_fixture_put_record(&record, 0);
	uint32_t size = (uint32_t)(ring_fixture_head(&rings[0]) / put_count);
	ck_assert_int_eq(drain_start(drain), 0);
	drain_fixture_wake(0);
	drain_fixture_wait_for_tail(0, ring_fixture_head(&rings[0]));
	drain_begin(drain, DRAIN_REST);
	for (uint32_t i = 0; i < put_count; i++) {
		ck_assert(drain_next(drain, &item));
		ck_assert_uint_eq(item->tid, i);
		if (item->sample.choice == RECORD_LEFT_OUT)
			ck_assert_uint_eq(left_out++, i);
		ck_assert_uint_eq(item->sample.stack.size, i < left_out ? 0 : sizeof(stack));
	}
	drain_fixture_assert_none();
	ck_assert_uint_ge(left_out, SIZE / 8 * 3 / size - 2);
	ck_assert_uint_le(left_out, SIZE / 8 * 3 / size + 2);
	drain_counts(drain, &counts);
	ck_assert_uint_eq(counts.left_out_bytes, left_out * sizeof(stack));
}
END_TEST

/* Nor does it keep the stacks of samples that others cut off. */
START_TEST(late_thread_leaves_parts_out)
{
	const struct record *item = NULL;
	uint32_t count = 0;
	uint32_t left_out = 0;
	while (ring_fixture_head(&rings[0]) < SIZE / 8 * 7)
		put_part(0, count++, 0, 1000, 3000);
	ck_assert_int_eq(drain_start(drain), 0);
	drain_fixture_wake(0);
	drain_fixture_wait_for_tail(0, ring_fixture_head(&rings[0]));
	drain_begin(drain, DRAIN_REST);
	for (uint32_t i = 0; i < count; i++) {
		ck_assert(drain_next(drain, &item));
		ck_assert_uint_eq(item->tid, i);
		if (item->sample.choice == RECORD_LEFT_OUT)
			ck_assert_uint_eq(left_out++, i);
		ck_assert_uint_eq(item->sample.stack.size, i < left_out ? 0 : 1000);
	}
	drain_fixture_assert_none();
	ck_assert_uint_ge(left_out, count * 3 / 7 - 3);
	ck_assert_uint_le(left_out, count * 3 / 7 + 3);
}
END_TEST

/* So it does with one ring's stacks while another ring fills up. */
START_TEST(late_for_another_ring)
{
	enum { SAMPLES = 100 };
	const struct record *item = NULL;
	for (uint32_t i = 0; i < SAMPLES; i++) {
		put_part(0, i, 0, 1000, 1000);
		put_count++;
	}
	while (ring_fixture_head(&rings[1]) < SIZE / 8 * 7)
		drain_fixture_put(1);
	ck_assert_int_eq(drain_start(drain), 0);
	drain_fixture_wake(1);
	drain_fixture_wait_for_tail(0, ring_fixture_head(&rings[0]));
	drain_begin(drain, DRAIN_REST);
	for (uint32_t i = 0; i < SAMPLES; i++) {
		ck_assert(drain_next(drain, &item));
		ck_assert_uint_eq(item->tid, i);
		if (i >= RINGS)
			ck_assert_int_eq(item->sample.choice, RECORD_LEFT_OUT);
	}
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("drain of samples");
	TCase *tcase = tcase_create("drain of samples");
	tcase_add_checked_fixture(tcase, drain_fixture_set_up, drain_fixture_tear_down);
	tcase_add_test(tcase, parts);
	tcase_add_test(tcase, lost_without_refused);
	tcase_add_test(tcase, keeps_a_share);
	tcase_add_loop_test(tcase, draws_samples, 0, 2);
	tcase_add_test(tcase, late_thread_leaves_stacks_out);
	tcase_add_test(tcase, late_thread_leaves_parts_out);
	tcase_add_test(tcase, late_for_another_ring);
	suite_add_tcase(suite, tcase);
	return run_suite(suite);
}
