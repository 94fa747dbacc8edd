/* Code that runs on a stack that it loaded itself: walks end there, and nowhere else. Argument of
 * the build: SWITCHED, the library made from switched.c. */
#include "tests/support/suite.h"
#include "tests/unwind/capture.h"
#include <check.h>
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

enum { REG_NUM_RSP = 7, REG_NUM_RIP = 16, WORDS = 16 };

static const uint64_t base = UINT64_C(0x7ffc00000000);
static void *library;
static struct uw_space *space;
static struct uw_frame frames[UW_DEPTH_MAX];
static uint64_t words[WORDS];
static enum uw_stop stop;

static uint64_t address(const char *name)
{
	void *symbol = dlsym(library, name);

	ck_assert_msg(symbol != NULL, "%s", name);
	return (uintptr_t)symbol;
}

static void setup(void)
{
	library = dlopen(SWITCHED, RTLD_NOW);
	ck_assert_ptr_nonnull(library);
	space = capture_space();
	memset(words, 0, sizeof(words));
}

static void teardown(void)
{
	uw_space_destroy(space);
	dlclose(library);
}

static size_t walk(uint64_t ip)
{
	struct uw_stack stack = {.base = base,
				 .bytes = (const uint8_t *)words,
				 .size = sizeof(words),
				 .requested = sizeof(words)};
	struct uw_regs regs = {0};

	regs.value[REG_NUM_RIP] = ip;
	regs.value[REG_NUM_RSP] = base;
	return uw_walk(space, &regs, &stack, frames, UW_DEPTH_MAX, &stop);
}

/* A walk from a leaf that was called from before the label, in a function that is so many words
 * high; above it is a return address. */
static size_t walk_called(const char *label, size_t height)
{
	memset(words, 0, sizeof(words));
	words[0] = address(label);
	words[height] = address("stale_return");
	return walk(address("callee"));
}

START_TEST(loads)
{
	ck_assert_uint_eq(walk_called("loads_return", 2), 2);
	ck_assert_int_eq(stop, UW_STOP_SWITCHED);
	ck_assert_uint_eq(frames[1].ip, address("loads_return"));
	ck_assert_uint_eq(frames[1].function,
			  frames[1].rva + 1 - (address("loads_return") - address("loads")));
	/* Again, from what is remembered. */
	ck_assert_uint_eq(walk_called("loads_return", 2), 2);
	ck_assert_int_eq(stop, UW_STOP_SWITCHED);
}
END_TEST

START_TEST(aligns)
{
	ck_assert_uint_eq(walk_called("aligns_return", 1), 2);
	ck_assert_int_eq(stop, UW_STOP_SWITCHED);
}
END_TEST

/* A sample in the function itself: it has called, or left, nothing before the load. */
START_TEST(leaf)
{
	static const char *const switched[] = {"loads_before_push", "loads_before_call",
					       "jumps_after_load"};
	static const char *const called[] = {"loads", "jumps", "restores", "restores_after_load"};

	for (size_t i = 0; i < WORDS; i++)
		words[i] = address("stale_return");
	for (size_t i = 0; i < sizeof(switched) / sizeof(switched[0]); i++) {
		ck_assert_uint_eq(walk(address(switched[i])), 1);
		ck_assert_int_eq(stop, UW_STOP_SWITCHED);
	}
	for (size_t i = 0; i < sizeof(called) / sizeof(called[0]); i++) {
		ck_assert_uint_gt(walk(address(called[i])), 1);
		ck_assert_int_ne(stop, UW_STOP_SWITCHED);
	}
}
END_TEST

/* What proves nothing ends no stack. */
START_TEST(goes_on)
{
	static const char *const labels[] = {"removes_return", "joins_return", "hides_return",
					     "unknown_return"};

	for (size_t i = 0; i < sizeof(labels) / sizeof(labels[0]); i++) {
		ck_assert_uint_eq(walk_called(labels[i], 1), 3);
		ck_assert_uint_eq(frames[2].ip, address("stale_return"));
		ck_assert_int_ne(stop, UW_STOP_SWITCHED);
	}
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("stack_switch");
	TCase *tests = tcase_create("walks");

	tcase_add_checked_fixture(tests, setup, teardown);
	tcase_add_test(tests, loads);
	tcase_add_test(tests, aligns);
	tcase_add_test(tests, leaf);
	tcase_add_test(tests, goes_on);
	suite_add_tcase(suite, tests);
	return run_suite(suite);
}
