/* Walks over real captures of this process, compared with the addresses each function noted. */
#include "tests/support/suite.h"
#include "tests/unwind/capture.h"
#include <check.h>
#include <execinfo.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { FRAMES_MAX = 1024, RECURSION_DEPTH = 300 };

static struct capture sample;
static uint64_t noted[FRAMES_MAX]; /* return addresses, innermost first */
static size_t noted_count;

static struct uw_space *space;
static struct uw_frame frames[FRAMES_MAX];

static void setup(void)
{
	space = capture_space();
	noted_count = 0;
}

static void teardown(void)
{
	uw_space_destroy(space);
}

/* glibc's own unwinder as the oracle: return addresses of all callers of the caller. */
static __attribute__((noinline)) void note_callers(void)
{
	void *addresses[FRAMES_MAX];
	int count = backtrace(addresses, FRAMES_MAX);
	int i = 0;

	/* A sanitizer's stand-in for backtrace() adds a frame before this one. */
	while (i < count && addresses[i] != __builtin_return_address(0))
		i++;
	noted_count = 0;
	for (i++; i < count; i++)
		noted[noted_count++] = (uintptr_t)addresses[i];
}

static size_t walk(enum uw_stop *stop)
{
	memset(frames, 0xff, sizeof(frames)); /* each walk fills in all of a frame */
	return uw_walk(space, &sample.regs, &sample.stack, frames, FRAMES_MAX, stop);
}

/* The frames after the leaf are the noted ones, and the walk ended at the root. */
static void assert_complete(void)
{
	enum uw_stop stop;
	size_t count = walk(&stop);

	ck_assert_str_eq(uw_stop_name(stop), "complete");
	ck_assert_uint_eq(count, noted_count + 1);
	ck_assert_uint_eq(frames[0].ip, sample.regs.value[16]);
	ck_assert_uint_eq(frames[0].source, UW_SOURCE_SAMPLE);
	ck_assert(frames[0].exact);
	for (size_t i = 0; i < noted_count; i++) {
		ck_assert_uint_eq(frames[i + 1].ip, noted[i]);
		ck_assert_uint_eq(frames[i + 1].source, UW_SOURCE_CFI);
		ck_assert(!frames[i + 1].exact);
		ck_assert_uint_gt(frames[i + 1].sp, frames[i].sp);
		ck_assert_uint_ne(frames[i + 1].tag, UW_TAG_NONE);
	}
}

static __attribute__((noinline)) void leaf(void)
{
	note_callers();
	CAPTURE(&sample);
}

/* Forty functions with frames of different shapes: locals, variable-size arrays, saved registers.
 */
#define LINK(n, next)                                                              \
	static __attribute__((noinline)) int link_##n(int a, volatile int *b)      \
	{                                                                          \
		volatile char room[(n)*24 + 1];                                    \
		int saved = a * (n) + *b;                                          \
		char *more = n % 5 == 0 ? __builtin_alloca((size_t)a + 16) : NULL; \
		room[n] = (char)a;                                                 \
		if (more)                                                          \
			memset(more, a, 16);                                       \
		saved += next(a + 1, b);                                           \
		return saved + room[n] + (more ? more[3] : 0);                     \
	}

static __attribute__((noinline)) int link_0(int a, volatile int *b)
{
	leaf();
	return a + *b;
}

LINK(1, link_0)
LINK(2, link_1)
LINK(3, link_2)
LINK(4, link_3)
LINK(5, link_4)
LINK(6, link_5)
LINK(7, link_6)
LINK(8, link_7)
LINK(9, link_8)
LINK(10, link_9)
LINK(11, link_10)
LINK(12, link_11)
LINK(13, link_12)
LINK(14, link_13)
LINK(15, link_14)
LINK(16, link_15)
LINK(17, link_16)
LINK(18, link_17)
LINK(19, link_18)
LINK(20, link_19)
LINK(21, link_20)
LINK(22, link_21)
LINK(23, link_22)
LINK(24, link_23)
LINK(25, link_24)
LINK(26, link_25)
LINK(27, link_26)
LINK(28, link_27)
LINK(29, link_28)
LINK(30, link_29)
LINK(31, link_30)
LINK(32, link_31)
LINK(33, link_32)
LINK(34, link_33)
LINK(35, link_34)
LINK(36, link_35)
LINK(37, link_36)
LINK(38, link_37)
LINK(39, link_38)

static void run_chain(void)
{
	volatile int one = 1;

	link_39(1, &one);
}

START_TEST(chain_of_forty)
{
	run_chain();
	ck_assert_uint_gt(noted_count, 40);
	assert_complete();
}
END_TEST

static __attribute__((noinline)) int recurse(int depth)
{
	volatile int here = depth;

	if (depth == 0)
		leaf();
	else
		here += recurse(depth - 1);
	return here;
}

START_TEST(recursion)
{
	recurse(RECURSION_DEPTH);
	ck_assert_uint_gt(noted_count, RECURSION_DEPTH);
	assert_complete();
}
END_TEST

/* The address of the function that frame i is in. */
static uint64_t function_address(size_t i)
{
	ck_assert_uint_ne(frames[i].function, 0);
	return frames[i].ip - !frames[i].exact - (frames[i].rva - frames[i].function);
}

/* Whatever the call site: each level says where its function starts. */
START_TEST(functions)
{
	recurse(RECURSION_DEPTH);
	assert_complete();
	ck_assert_uint_eq(function_address(0), (uintptr_t)leaf);
	for (size_t i = 1; i <= RECURSION_DEPTH; i++)
		ck_assert_uint_eq(frames[i].function, frames[1].function);
	ck_assert_uint_ne(frames[1].function, frames[RECURSION_DEPTH + 2].function);
}
END_TEST

static int compare(const void *left, const void *right)
{
	if (noted_count == 0)
		leaf();
	return *(const int *)left - *(const int *)right;
}

START_TEST(callback_through_libc)
{
	int numbers[16];

	for (int i = 0; i < 16; i++)
		numbers[i] = i * 7 % 16;
	qsort(numbers, 16, sizeof(numbers[0]), compare);
	assert_complete();
}
END_TEST

static void *thread_main(void *argument)
{
	leaf();
	return argument;
}

START_TEST(thread_root)
{
	pthread_t thread;

	ck_assert_int_eq(pthread_create(&thread, NULL, thread_main, NULL), 0);
	pthread_join(thread, NULL);
	assert_complete();
}
END_TEST

/* Cuts the sample to size bytes: what is left must be a prefix, never a false root. */
static void assert_prefix(size_t size, size_t requested, enum uw_stop expected)
{
	static struct uw_frame cut[FRAMES_MAX];
	struct uw_stack stack = sample.stack;
	enum uw_stop stop;

	stack.size = size;
	stack.requested = requested;
	size_t count = uw_walk(space, &sample.regs, &stack, cut, FRAMES_MAX, &stop);
	ck_assert_uint_ge(count, 1);
	ck_assert_uint_le(count, noted_count + 1);
	ck_assert_int_eq(stop, count == noted_count + 1 ? UW_STOP_ROOT : expected);
	for (size_t i = 1; i < count; i++)
		ck_assert_uint_eq(cut[i].ip, noted[i - 1]);
	/* Each frame whose return address was copied is there. */
	if (count <= noted_count)
		ck_assert_uint_gt(frames[count].sp, stack.base + size);
}

START_TEST(truncated_copies)
{
	enum uw_stop stop;

	run_chain();
	assert_complete();
	size_t full = walk(&stop);
	for (size_t size = 0; size <= frames[full - 1].sp - sample.stack.base + 8;
	     size += size < 512 ? 1 : 13) {
		assert_prefix(size, size, UW_STOP_TRUNCATED);
		assert_prefix(size, size + 4096, UW_STOP_NOT_RESIDENT);
	}
}
END_TEST

/* Makes registers unknown, with values that lead nowhere. */
static void forget_registers(uint64_t unknown)
{
	for (size_t i = 0; i < UW_REGS_MAX; i++)
		if (unknown >> i & 1)
			sample.regs.value[i] = sample.regs.value[7] + 16 * i;
	sample.regs.unknown = unknown;
}

/* Of a caller only the registers count that a function preserves. */
START_TEST(clobbered_registers_unknown)
{
	uint64_t preserved = 1u << 3 | 1u << 6 | 0xfu << 12 | 1u << 7 | 1u << 16;

	run_chain();
	forget_registers(~preserved);
	assert_complete();
}
END_TEST

/* The chain has frames by rbp: the walk may end where nobody saved it, and is right so far. */
START_TEST(only_sp_and_pc_known)
{
	struct uw_history *history = uw_history_create();
	enum uw_stop stop;
	size_t reused;

	run_chain();
	forget_registers(~(1u << 7 | 1u << 16));
	for (int i = 0; i < 2; i++) {
		size_t count = uw_walk_reuse(space, history, &sample.regs, &sample.stack, frames,
					     FRAMES_MAX, &stop, &reused);
		ck_assert_uint_ge(count, 1);
		ck_assert_int_eq(stop, count == noted_count + 1 ? UW_STOP_ROOT : UW_STOP_NO_INFO);
		for (size_t n = 1; n < count; n++)
			ck_assert_uint_eq(frames[n].ip, noted[n - 1]);
		ck_assert_uint_eq(reused, 0);
	}
	uw_history_destroy(history);
}
END_TEST

START_TEST(depth_limit)
{
	enum uw_stop stop;

	run_chain();
	size_t full = walk(&stop);
	for (size_t max = 0; max < full; max++) {
		ck_assert_uint_eq(uw_walk(space, &sample.regs, &sample.stack, frames, max, &stop),
				  max);
		ck_assert_int_eq(stop, UW_STOP_DEPTH);
	}
	ck_assert_uint_eq(uw_walk(space, &sample.regs, &sample.stack, frames, full, &stop), full);
	ck_assert_int_eq(stop, UW_STOP_ROOT);
}
END_TEST

START_TEST(space_counts)
{
	struct uw_counts counts;
	enum uw_stop stop;

	run_chain();
	size_t full = walk(&stop);
	uw_walk(space, &sample.regs, &sample.stack, frames, 5, &stop);
	uw_space_counts(space, &counts);
	ck_assert_uint_eq(counts.walks, 2);
	ck_assert_uint_eq(counts.frames, full + 5);
	ck_assert_uint_eq(counts.frames_by_source[UW_SOURCE_SAMPLE], 2);
	ck_assert_uint_eq(counts.frames_by_source[UW_SOURCE_CFI], full + 3);
}
END_TEST

/* The stack's own bytes decide: a return address to nowhere, and a chain that goes in circles. */
START_TEST(contradictions)
{
	enum uw_stop stop;

	run_chain();
	assert_complete();
	uint64_t offset = frames[4].sp - 8 - sample.stack.base;
	uint64_t ra = 0x1234;
	memcpy(sample.bytes + offset, &ra, sizeof(ra));
	size_t count = walk(&stop);
	ck_assert_int_eq(stop, UW_STOP_BAD_INFO);
	ck_assert_uint_eq(count, 4);
	ra = UINT64_C(0x8000000000000000);
	memcpy(sample.bytes + offset, &ra, sizeof(ra));
	count = walk(&stop);
	ck_assert_int_eq(stop, UW_STOP_BAD_INFO);
	ck_assert_uint_eq(count, 4);
}
END_TEST

START_TEST(no_mappings)
{
	struct uw_space *empty = uw_space_create(UW_ARCH_X86_64);
	enum uw_stop stop;

	run_chain();
	ck_assert_uint_eq(uw_walk(empty, &sample.regs, &sample.stack, frames, FRAMES_MAX, &stop),
			  1);
	ck_assert_int_eq(stop, UW_STOP_NO_INFO);
	ck_assert_uint_eq(frames[0].tag, UW_TAG_NONE);
	ck_assert_uint_eq(frames[0].rva, frames[0].ip);
	ck_assert_uint_eq(frames[0].function, 0);
	uw_space_destroy(empty);
}
END_TEST

START_TEST(stop_names)
{
	for (int stop = 0; stop < UW_STOP_COUNT; stop++)
		for (int other = 0; other < stop; other++)
			ck_assert_str_ne(uw_stop_name((enum uw_stop)stop),
					 uw_stop_name((enum uw_stop)other));
	ck_assert_str_eq(uw_stop_name(UW_STOP_ROOT), "complete");
	ck_assert_str_eq(uw_stop_name(UW_STOP_COUNT), "unknown");
}
END_TEST

static Suite *walk_suite(void)
{
	Suite *suite = suite_create("unwind walk");
	TCase *tcase = tcase_create("walk");

	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_add_test(tcase, chain_of_forty);
	tcase_add_test(tcase, recursion);
	tcase_add_test(tcase, functions);
	tcase_add_test(tcase, callback_through_libc);
	tcase_add_test(tcase, thread_root);
	tcase_add_test(tcase, truncated_copies);
	tcase_add_test(tcase, clobbered_registers_unknown);
	tcase_add_test(tcase, only_sp_and_pc_known);
	tcase_add_test(tcase, depth_limit);
	tcase_add_test(tcase, space_counts);
	tcase_add_test(tcase, contradictions);
	tcase_add_test(tcase, no_mappings);
	tcase_add_test(tcase, stop_names);
	suite_add_tcase(suite, tcase);
	return suite;
}

int main(void)
{
	return run_suite(walk_suite());
}
