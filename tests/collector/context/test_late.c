/* Late frames: when readings of the thread's stack count. The target is memory of this program, and
 * the unwinder a fake that follows a list: at a frame's stack pointer lie the caller's stack
 * pointer (0: there is none) and the frame's own address. */
#include "collector/context/late.h"
#include "collector/machine/clock.h"
#include "tests/support/suite.h"
#include <check.h>
#include <string.h>

enum { COPIED = 0x100, STACK = 0x400, INNER = 0x10, SEAM = 0x40, OUTER = 0x200, ROOT = 0x300 };

#define BASE  0x7000u
#define UNFIT 0x9900u /* in a caller: no call there leads to any function */

static uint8_t target[STACK];
static bool is_refused;
static unsigned readings;
static struct late_pool *pool;
static struct late *late;
static struct uw_frame frames[UW_DEPTH_MAX];

static uint64_t word_at(const uint8_t *bytes, uint64_t offset)
{
	uint64_t word;
	memcpy(&word, bytes + offset, sizeof(word));
	return word;
}

size_t uw_walk(struct uw_space *space, const struct uw_regs *regs, const struct uw_stack *stack,
	       struct uw_frame *out, size_t max_frames, enum uw_stop *stop)
{
	size_t count = 0;
	(void)space;
	for (uint64_t sp = regs->value[7]; sp != 0 && count < max_frames; count++) {
		uint64_t offset = sp - stack->base;
		*stop = count > 0 && sp > stack->base + STACK ? UW_STOP_BAD_INFO
							      : UW_STOP_NOT_RESIDENT;
		if (offset + 16 > stack->size)
			return count;
		uint64_t ip = word_at(stack->bytes, offset + 8);
		out[count] = (struct uw_frame){.ip = ip,
					       .rva = ip,
					       .function = ip & ~UINT64_C(0xff),
					       .sp = sp,
					       .tag = 1};
		sp = word_at(stack->bytes, offset);
	}
	*stop = UW_STOP_ROOT;
	return count;
}

bool uw_space_has_call(struct uw_space *space, const struct uw_frame *callee,
		       const struct uw_frame *caller)
{
	(void)space;
	ck_assert_uint_lt(callee->sp, caller->sp);
	return caller->ip != UNFIT;
}

static size_t read_target(void *context, uint64_t start, uint8_t *bytes, size_t size)
{
	ck_assert_ptr_null(context);
	ck_assert_uint_ge(start, BASE);
	size_t left = BASE + STACK - start;
	readings++;
	memcpy(bytes, target + (start - BASE), left < size ? left : size);
	return is_refused ? 0 : left < size ? left : size;
}

static const struct late_reader reader = {NULL, read_target};

static void put_frame(uint64_t at, uint64_t caller, uint64_t ip)
{
	const uint64_t words[] = {caller == 0 ? 0 : BASE + caller, ip};
	memcpy(target + at, words, sizeof(words));
}

static void setup(void)
{
	memset(target, 0, sizeof(target));
	put_frame(INNER, SEAM, 0x1110);
	put_frame(SEAM, OUTER, 0x2210);
	put_frame(OUTER, ROOT, 0x3310);
	put_frame(ROOT, 0, 0x4410);
	is_refused = false;
	readings = 0;
	pool = late_pool_create();
	late = late_create(pool);
	ck_assert_ptr_nonnull(late);
}

static void teardown(void)
{
	late_destroy(late);
	late_pool_destroy(pool);
}

struct sample {
	struct uw_regs regs;
	uint8_t bytes[STACK];
	struct uw_stack copy;
	struct late_stack stack;
};

/* A sample of the target as it is, copied up to a size. */
static void take_sample(struct sample *sample, size_t size)
{
	*sample = (struct sample){0};
	memcpy(sample->bytes, target, STACK);
	sample->regs.value[7] = BASE + INNER;
	sample->copy = (struct uw_stack){.base = BASE,
					 .bytes = sample->bytes,
					 .size = size,
					 .requested = 2 * STACK};
	sample->stack = (struct late_stack){.map_version = 1,
					    .regs = &sample->regs,
					    .copy = &sample->copy,
					    .sampled_ns = clock_now(),
					    .reader = &reader};
}

static size_t find(const struct sample *sample)
{
	enum uw_stop stop;
	size_t count = uw_walk(NULL, &sample->regs, &sample->copy, frames, UW_DEPTH_MAX, &stop);
	ck_assert_int_eq(stop, UW_STOP_NOT_RESIDENT);
	return late_find(late, &sample->stack, frames, count);
}

static size_t find_now(void)
{
	struct sample sample;
	take_sample(&sample, COPIED);
	return find(&sample);
}

/* Has the thread's readings agree four times: five readings. */
static void prove(void)
{
	for (int i = 0; i < 4; i++)
		ck_assert_uint_eq(find_now(), 0);
	ck_assert_uint_eq(find_now(), 2);
}

static void expect_callers(void)
{
	ck_assert_uint_eq(frames[1].ip, 0x2210);
	ck_assert_uint_eq(frames[2].ip, 0x3310);
	ck_assert_uint_eq(frames[2].sp, BASE + OUTER);
	ck_assert_uint_eq(frames[3].ip, 0x4410);
}

START_TEST(callers)
{
	prove();
	expect_callers();
	ck_assert_uint_eq(readings, 5);
}
END_TEST

/* Samples that waited together share a reading, and the one before is of an earlier wait. */
START_TEST(samples_of_one_wait)
{
	struct sample first, second;
	prove();
	take_sample(&first, COPIED);
	take_sample(&second, COPIED);
	ck_assert_uint_eq(find(&first), 2);
	unsigned before = readings;
	ck_assert_uint_eq(find(&second), 2);
	ck_assert_uint_eq(readings, before);
	/* The first ones of a row have none before. */
	put_frame(SEAM, OUTER, 0x5510);
	take_sample(&first, COPIED);
	take_sample(&second, COPIED);
	ck_assert_uint_eq(find(&first), 0);
	ck_assert_uint_eq(find(&second), 0);
	ck_assert_uint_eq(find_now(), 2);
}
END_TEST

/* Progress in the same function is no other place; another function, another stack pointer, other
 * mappings, or a stack without the frame are. */
START_TEST(row)
{
	struct sample sample;
	prove();
	put_frame(SEAM, OUTER, 0x2220);
	ck_assert_uint_eq(find_now(), 2);
	put_frame(SEAM, OUTER, 0x5510);
	ck_assert_uint_eq(find_now(), 0);
	ck_assert_uint_eq(find_now(), 2);
	put_frame(INNER, SEAM + 16, 0x1110);
	put_frame(SEAM + 16, OUTER, 0x5510);
	ck_assert_uint_eq(find_now(), 0);
	ck_assert_uint_eq(find_now(), 2);
	take_sample(&sample, COPIED);
	sample.stack.map_version = 2;
	ck_assert_uint_eq(find(&sample), 0);
	ck_assert_uint_eq(find_now(), 0);
	ck_assert_uint_eq(find_now(), 2);
	late_pass(late, frames, 2);
	ck_assert_uint_eq(find_now(), 2);
	late_pass(late, frames, 1);
	ck_assert_uint_eq(find_now(), 0);
	ck_assert_uint_eq(find_now(), 2);
}
END_TEST

/* Other callers in the second reading: none is given, also later, but for much agreement. */
START_TEST(refuted)
{
	struct sample sample;
	prove();
	take_sample(&sample, COPIED);
	put_frame(OUTER, ROOT, 0x3320);
	ck_assert_uint_eq(find(&sample), 0);
	for (int i = 4; i < 99; i++)
		ck_assert_uint_eq(find_now(), 0);
	ck_assert_uint_eq(find_now(), 2);
	ck_assert_uint_eq(frames[2].ip, 0x3320);
}
END_TEST

/* The second reading finds the thread elsewhere: it says nothing. A first one there gives none. */
START_TEST(gone_on)
{
	struct sample sample;
	prove();
	take_sample(&sample, COPIED);
	put_frame(OUTER, STACK + 16, 0x3310);
	ck_assert_uint_eq(find(&sample), 2);
	expect_callers();
	put_frame(OUTER, ROOT, 0x3310);
	ck_assert_uint_eq(find_now(), 0);
	ck_assert_uint_eq(find_now(), 2);
}
END_TEST

START_TEST(unfit_call)
{
	prove();
	put_frame(ROOT, 0, UNFIT);
	ck_assert_uint_eq(find_now(), 2); /* by the reading before */
	ck_assert_uint_eq(frames[3].ip, 0x4410);
	ck_assert_uint_eq(find_now(), 0);
}
END_TEST

START_TEST(no_reading)
{
	struct sample sample;
	prove();
	is_refused = true;
	ck_assert_uint_eq(find_now(), 0);
	is_refused = false;
	ck_assert_uint_eq(find_now(), 2); /* the last reading is of the row, too */
	/* The copy ended earlier than the reading begins, and later. */
	take_sample(&sample, COPIED - 8);
	ck_assert_uint_eq(find(&sample), 0);
	take_sample(&sample, COPIED + 8);
	ck_assert_uint_eq(find(&sample), 2);
	expect_callers();
}
END_TEST

static enum guess_result test_whole(void)
{
	struct sample sample;
	enum uw_stop stop;
	take_sample(&sample, STACK);
	size_t count = uw_walk(NULL, &sample.regs, &sample.copy, frames, UW_DEPTH_MAX, &stop);
	ck_assert_int_eq(stop, UW_STOP_ROOT);
	return late_test(late, &sample.stack, frames, count);
}

/* Two whole stacks make a test. Loop: the target as it is, lying to the readings, or gone on. */
START_TEST(tests)
{
	static const enum guess_result expected[] = {GUESS_RIGHT, GUESS_WRONG, GUESS_NONE};
	ck_assert_int_eq(test_whole(), GUESS_NOT_TESTED); /* every second one begins a test */
	uint64_t outer = _i == 1 ? 0x3320 : 0x3310;
	put_frame(OUTER, ROOT, outer);
	ck_assert_int_eq(test_whole(), GUESS_NOT_TESTED);
	put_frame(OUTER, ROOT, 0x3310);
	put_frame(SEAM, OUTER, _i == 2 ? 0x5510 : 0x2210);
	struct sample sample;
	enum uw_stop stop;
	take_sample(&sample, STACK);
	put_frame(OUTER, ROOT, outer);
	size_t count = uw_walk(NULL, &sample.regs, &sample.copy, frames, UW_DEPTH_MAX, &stop);
	ck_assert_int_eq(late_test(late, &sample.stack, frames, count), expected[_i]);
}
END_TEST

/* A thread without holes for long is not tested. */
START_TEST(tests_end)
{
	unsigned tested = 0;
	for (int i = 0; i < 1000; i++)
		tested += test_whole() == GUESS_RIGHT;
	ck_assert_uint_gt(tested, 50);
	unsigned before = readings;
	ck_assert_int_eq(test_whole(), GUESS_NOT_TESTED);
	ck_assert_uint_eq(readings, before);
	find_now();
	for (int i = 0; i < 10; i++)
		tested -= test_whole() == GUESS_RIGHT;
	ck_assert_uint_gt(readings, before + 1);
}
END_TEST

START_TEST(many_threads)
{
	struct late *others[LATE_THREADS_MAX];
	for (int i = 0; i < LATE_THREADS_MAX; i++)
		others[i] = late_create(pool);
	ck_assert_ptr_nonnull(others[LATE_THREADS_MAX - 2]);
	ck_assert_ptr_null(others[LATE_THREADS_MAX - 1]);
	late_destroy(others[0]);
	others[0] = late_create(pool);
	ck_assert_ptr_nonnull(others[0]);
	for (int i = 0; i < LATE_THREADS_MAX; i++)
		late_destroy(others[i]);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("late");
	TCase *cases = tcase_create("late");
	tcase_add_checked_fixture(cases, setup, teardown);
	tcase_add_test(cases, callers);
	tcase_add_test(cases, samples_of_one_wait);
	tcase_add_test(cases, row);
	tcase_add_test(cases, refuted);
	tcase_add_test(cases, gone_on);
	tcase_add_test(cases, unfit_call);
	tcase_add_test(cases, no_reading);
	tcase_add_loop_test(cases, tests, 0, 3);
	tcase_add_test(cases, tests_end);
	tcase_add_test(cases, many_threads);
	suite_add_tcase(suite, cases);
	return run_suite(suite);
}
