/*
 * Reuse of a thread's last stack: whatever changed between two samples, a walk with history gives
 * the very frames of a walk without.
 */
#include "tests/support/suite.h"
#include "tests/unwind/capture.h"
#include <check.h>
#include <stdlib.h>
#include <string.h>

enum { FRAMES_MAX = UW_DEPTH_MAX, REG_NUM_RBP = 6, REG_NUM_RSP = 7, REG_NUM_RIP = 16 };

static struct capture sample;
static struct uw_space *space;
static struct uw_history *history;
static struct uw_frame plain[FRAMES_MAX], reusing[FRAMES_MAX], complete[FRAMES_MAX];
static size_t complete_count; /* of the latest complete walk with history */
static size_t walks, frames_walked, frames_reused;

static void setup(void)
{
	space = capture_space();
	history = uw_history_create();
	ck_assert_ptr_nonnull(history);
	complete_count = walks = frames_walked = frames_reused = 0;
}

static void teardown(void)
{
	uw_history_destroy(history);
	uw_space_destroy(space);
}

/* One assertion per stack: each is a message between processes. */
static void assert_same(const struct uw_frame *a, const struct uw_frame *b, size_t count)
{
	size_t same = 0;

	while (same < count && a[same].ip == b[same].ip && a[same].rva == b[same].rva &&
	       a[same].function == b[same].function && a[same].sp == b[same].sp &&
	       a[same].tag == b[same].tag && a[same].source == b[same].source &&
	       a[same].exact == b[same].exact)
		same++;
	ck_assert_uint_eq(same, count);
}

/* Walks the sample both ways; returns how many frames were taken over. */
static size_t compare_limited(size_t max_frames)
{
	enum uw_stop plain_stop, stop;
	size_t reused = SIZE_MAX;
	size_t expected =
		uw_walk(space, &sample.regs, &sample.stack, plain, max_frames, &plain_stop);
	size_t count = uw_walk_reuse(space, history, &sample.regs, &sample.stack, reusing,
				     max_frames, &stop, &reused);

	ck_assert_str_eq(uw_stop_name(stop), uw_stop_name(plain_stop));
	ck_assert_uint_eq(count, expected);
	assert_same(reusing, plain, count);
	ck_assert_uint_le(reused, complete_count);
	ck_assert_uint_lt(reused, count + 1);
	assert_same(reusing + count - reused, complete + complete_count - reused, reused);
	if (stop == UW_STOP_ROOT) {
		memcpy(complete, reusing, count * sizeof(complete[0]));
		complete_count = count;
	} else {
		ck_assert_uint_eq(reused, 0);
	}
	walks++;
	frames_walked += count;
	frames_reused += reused;
	return reused;
}

static size_t compare(void)
{
	return compare_limited(FRAMES_MAX);
}

/* Calls of functions with every shape of frame, in an order that only rand_r knows. */
struct script {
	unsigned seed;
	int calls; /* that are left */
	void (*visit)(void);
};

static int call_any(struct script *script, int depth);

static __attribute__((noinline)) void visit_here(struct script *script)
{
	CAPTURE(&sample);
	script->visit();
}

/* Leaves the frame pointer alone, on which its caller may depend. */
static __attribute__((noinline)) int pass_through(struct script *script)
{
	visit_here(script);
	return 1;
}

#define SHAPE(name, locals, use)                                                    \
	static __attribute__((noinline)) int name(struct script *script, int depth) \
	{                                                                           \
		locals;                                                             \
		int sum = depth;                                                    \
                                                                                    \
		for (int i = rand_r(&script->seed) % 3; i >= 0; i--)                \
			sum += call_any(script, depth - 1);                         \
		return sum + (int)(use);                                            \
	}

SHAPE(shape_plain, volatile int here = depth, here)
SHAPE(shape_wide, volatile char room[700] = {0}, room[depth % 700])
/* Who asks for the frame's address gets a frame pointer. */
SHAPE(shape_framed, volatile void *volatile frame = __builtin_frame_address(0),
      !frame + pass_through(script))
SHAPE(shape_sized, volatile char *room = __builtin_alloca((size_t)depth * 8 + 16), room != NULL)

static __attribute__((noinline)) int sort_compare(const void *left, const void *right)
{
	struct script *const *script = left;

	(void)right;
	return (*script)->calls > 0 ? call_any(*script, 1) != 0 : 0;
}

/* Through the C library, whose frames are its own. */
static __attribute__((noinline)) int shape_library(struct script *script, int depth)
{
	struct script *pair[2] = {script, script};

	(void)depth;
	qsort(pair, 2, sizeof(pair[0]), sort_compare);
	return 1;
}

static __attribute__((noinline)) int call_any(struct script *script, int depth)
{
	static int (*const shapes[])(struct script *, int) = {shape_plain, shape_wide, shape_framed,
							      shape_sized, shape_library};

	if (script->calls <= 0)
		return 0;
	script->calls--;
	if (depth <= 0 || rand_r(&script->seed) % 4 == 0) {
		CAPTURE(&sample);
		script->visit();
	}
	if (depth <= 0)
		return 1;
	return shapes[(unsigned)rand_r(&script->seed) % 5](script, depth) + 1;
}

static void run(void (*visit)(void), unsigned seed, int depth)
{
	struct script script = {.seed = seed, .calls = 400, .visit = visit};

	while (script.calls > 0)
		call_any(&script, depth);
}

static void visit_sample(void)
{
	compare();
}

/* Loop: seeds. Stacks as a program makes them. */
START_TEST(program)
{
	run(visit_sample, (unsigned)_i, 20 + 10 * _i);
	ck_assert_uint_gt(walks, 50);
	ck_assert_uint_gt(frames_reused * 4, frames_walked);
}
END_TEST

static unsigned damage_seed;

/* Changes words of the copy, registers, and what is copied at all, one after the other. */
static void visit_damaged(void)
{
	static uint8_t sound[CAPTURE_STACK_MAX];
	struct uw_regs regs = sample.regs;
	size_t size = sample.stack.size < 16384 ? sample.stack.size : 16384;

	memcpy(sound, sample.bytes, size);
	compare();
	for (int round = 0; round < 20; round++) {
		for (int i = rand_r(&damage_seed) % 4; i > 0; i--) {
			size_t at = (size_t)rand_r(&damage_seed) % (size / 8) * 8;
			size_t from = (size_t)rand_r(&damage_seed) % (size / 8) * 8;

			memcpy(sample.bytes + at, sound + from, 8);
		}
		if (round % 5 == 1)
			sample.regs.value[REG_NUM_RBP] += (uint64_t)rand_r(&damage_seed) % 64;
		if (round % 5 == 2)
			sample.stack.size = (size_t)rand_r(&damage_seed) % size;
		if (round % 5 == 3)
			sample.regs.value[REG_NUM_RSP] += (uint64_t)rand_r(&damage_seed) % 8 * 8;
		compare();
		memcpy(sample.bytes, sound, size);
		sample.regs = regs;
		sample.stack.size = sample.stack.requested;
		if (round % 3 == 0)
			compare();
	}
}

START_TEST(damaged)
{
	damage_seed = (unsigned)_i;
	run(visit_damaged, (unsigned)_i, 20);
	ck_assert_uint_gt(walks, 1000);
	ck_assert_uint_gt(frames_reused, 0);
}
END_TEST

static void visit_limited(void)
{
	for (size_t max = 0; max < 40; max++) {
		compare();
		compare_limited(max);
	}
}

START_TEST(depth_limit)
{
	run(visit_limited, 3, 30);
}
END_TEST

static void visit_changed(void)
{
	compare();
	ck_assert_uint_gt(compare(), 0);
	ck_assert_int_eq(uw_space_map(space, 4096, 8192, 0, NULL, 1), 0);
	ck_assert_uint_gt(compare(), 0);
	ck_assert_int_eq(uw_space_map(space, 4096, 8192, 0, NULL, 2), 0);
	ck_assert_uint_eq(compare(), 0);
	ck_assert_uint_gt(compare(), 0);
	struct uw_space *other = uw_space_clone(space);
	uw_space_destroy(space);
	space = other;
	ck_assert_uint_eq(compare(), 0);
	ck_assert_uint_gt(compare(), 0);
	ck_assert_int_eq(uw_space_unmap(space, 0, UINT64_MAX), 0);
	ck_assert_uint_eq(compare(), 0);
	uw_space_destroy(space);
	space = capture_space();
	ck_assert_uint_eq(compare(), 0);
}

/* After any change of what was mapped nothing is taken over; new mappings change nothing. */
START_TEST(mappings_changed)
{
	struct script script = {.seed = 1, .calls = 20, .visit = visit_changed};

	call_any(&script, 4);
	ck_assert_uint_gt(walks, 8);
}
END_TEST

static uint64_t again(int depth)
{
	volatile uint64_t here = (uint64_t)depth;

	if (depth > 0)
		return again(depth - 1) + here;
	CAPTURE(&sample);
	compare();
	return here;
}

/* The same place twice: everything but the leaf is taken over. */
START_TEST(recursion)
{
	struct uw_counts counts;

	for (int i = 0; i < 2; i++)
		again(300);
	size_t reused = compare();
	ck_assert_uint_ge(reused, complete_count - 2);
	ck_assert_uint_gt(reused, 50);
	uw_space_counts(space, &counts);
	ck_assert_uint_eq(counts.frames_reused, frames_reused);
	ck_assert_uint_eq(counts.frames, 2 * frames_walked);
	ck_assert_uint_gt(counts.cache_misses, 0);
	ck_assert_uint_lt(counts.cache_misses, 200);
}
END_TEST

START_TEST(none)
{
	enum uw_stop stop;
	size_t reused = 1;

	CAPTURE(&sample);
	uw_walk_reuse(space, NULL, &sample.regs, &sample.stack, plain, FRAMES_MAX, &stop, &reused);
	ck_assert_uint_eq(reused, 0);
	uw_history_destroy(NULL);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("unwind history");
	TCase *tcase = tcase_create("history");

	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_set_timeout(tcase, 60);
	tcase_add_loop_test(tcase, program, 0, 4);
	tcase_add_loop_test(tcase, damaged, 0, 4);
	tcase_add_test(tcase, depth_limit);
	tcase_add_test(tcase, mappings_changed);
	tcase_add_test(tcase, recursion);
	tcase_add_test(tcase, none);
	suite_add_tcase(suite, tcase);
	return run_suite(suite);
}
