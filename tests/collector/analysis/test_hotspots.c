/* Samples become nodes: what the walk found, and what it says of it. The unwinder is a fake. */
#include "collector/machine/registers.h"
#include "tests/collector/fake_unwind.h"
#include "tests/collector/tracker_fixture.h"
#include "tests/support/suite.h"
#include <check.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { APP = 5000000 };

static void setup(void)
{
	fixture_setup();
	fixture_configure((struct fixture_config){.has_count = true,
						  .unwind = true,
						  .collapse = true,
						  .kernel_time = PROFILE_KERNEL_TIME_FRAMES});
	feed_launch(10, APP, "app");
	fake_walk_set("c", UW_STOP_ROOT);
}

static struct record make_sample(void)
{
	return fixture_make_sample(20, APP);
}

START_TEST(sample_is_passed_on)
{
	struct record record = make_sample();
	struct profile_sample out = fixture_apply(&record, false);
	ck_assert_uint_eq(out.time_ns, 20);
	ck_assert_uint_eq(out.ip, 0x400020);
	ck_assert_uint_eq(out.flags, 0x246);
	ck_assert_uint_eq(out.pid, APP);
	ck_assert_uint_eq(out.tid, APP);
	ck_assert_uint_eq(out.cpu, 9);
	ck_assert_uint_eq(out.cs, 0x33);
	ck_assert(!out.is_32bit);
}
END_TEST

START_TEST(complete_stack)
{
	struct record record = make_sample();
	fake_walk_set("cba", UW_STOP_ROOT);
	struct profile_sample out = fixture_apply(&record, false);
	ck_assert_int_eq(out.stack.state, PROFILE_STACK_COMPLETE);
	ck_assert_int_eq(out.stack.reason, PROFILE_SKIP_NOT_SKIPPED);
	ck_assert_uint_eq(out.stack.node, 3);
	fake_emit_assert(emit, "frame 0 1+61 flags 0", 1); /* a, the outermost, is node 1 */
	fake_emit_assert(emit, "node 1 parent 0 frame 0", 1);
	fake_emit_assert(emit, "node 2 parent 1 frame 1", 1);
	fake_emit_assert(emit, "node 3 parent 2 frame 2", 1);
}
END_TEST

static const struct {
	enum uw_stop stop;
	enum profile_skip_reason reason;
} stops[] = {
	{UW_STOP_TRUNCATED, PROFILE_SKIP_TRUNCATED},
	{UW_STOP_NOT_RESIDENT, PROFILE_SKIP_NOT_RESIDENT},
	{UW_STOP_NO_INFO, PROFILE_SKIP_NO_INFO},
	{UW_STOP_OTHER_STACK, PROFILE_SKIP_OTHER_STACK},
	{UW_STOP_SWITCHED, PROFILE_SKIP_OTHER_STACK},
	{UW_STOP_DEPTH, PROFILE_SKIP_DEPTH},
	{UW_STOP_BAD_INFO, PROFILE_SKIP_BAD_INFO},
	{UW_STOP_RED_ZONE, PROFILE_SKIP_RED_ZONE},
};

START_TEST(incomplete_stack)
{
	struct record record = make_sample();
	fake_walk_set("cb", stops[_i].stop);
	struct profile_sample out = fixture_apply(&record, false);
	ck_assert_int_eq(out.stack.state, PROFILE_STACK_SKIPPED);
	ck_assert_int_eq(out.stack.reason, stops[_i].reason);
	ck_assert_uint_eq(out.stack.node, 2); /* what was found is kept */
}
END_TEST

/* In a copy with gaps a wrong return address says nothing of the unwind information. */
START_TEST(incomplete_stack_with_gaps)
{
	struct record record = make_sample();
	enum profile_skip_reason reason = stops[_i].reason;
	if (stops[_i].stop == UW_STOP_BAD_INFO || stops[_i].stop == UW_STOP_NO_INFO)
		reason = PROFILE_SKIP_NOT_RESIDENT;
	record.sample.stack_absent = true;
	fake_walk_set("cb", stops[_i].stop);
	struct profile_sample out = fixture_apply(&record, false);
	ck_assert_int_eq(out.stack.state, PROFILE_STACK_SKIPPED);
	ck_assert_int_eq(out.stack.reason, reason);
}
END_TEST

/* No reason of the unwinder is left out of the table above. */
START_TEST(all_stops_are_known)
{
	ck_assert_uint_eq(sizeof(stops) / sizeof(stops[0]), UW_STOP_COUNT - 1);
}
END_TEST

START_TEST(frames_outside_of_mappings)
{
	struct record record = make_sample();
	fake_walk_set("ba", UW_STOP_ROOT);
	fake_walk()->frames[0].tag = UW_TAG_NONE;
	fake_walk()->frames[1].source = UW_SOURCE_FRAME_POINTER;
	fixture_apply(&record, false);
	fake_emit_assert(emit, "frame 1 0+62 flags 0", 1);
	fake_emit_assert(emit, "frame 0 1+61 flags 1", 1);
}
END_TEST

START_TEST(stack_is_left_out_under_load)
{
	struct record record = make_sample();
	struct profile_sample out = fixture_apply(&record, true);
	ck_assert_uint_eq(fake_walk()->walks, 0);
	ck_assert_int_eq(out.stack.state, PROFILE_STACK_SKIPPED);
	ck_assert_int_eq(out.stack.reason, PROFILE_SKIP_BUDGET);
	ck_assert_uint_eq(out.stack.node, 1);
	fake_emit_assert(emit, "frame 0 1+20 flags 0", 1); /* the leaf stays */
}
END_TEST

/* Loop: under load or not: it makes no difference. */
START_TEST(leaf_only)
{
	struct record record = make_sample();
	fixture_configure((struct fixture_config){.has_count = true});
	feed_launch(10, APP, "app");
	struct profile_sample out = fixture_apply(&record, _i != 0);
	ck_assert_uint_eq(fake_walk()->walks, 0);
	ck_assert_int_eq(out.stack.state, PROFILE_STACK_NONE);
	ck_assert_int_eq(out.stack.reason, PROFILE_SKIP_NOT_SKIPPED);
	fake_emit_assert(emit, "frame 0 1+20 flags 0", 1);
}
END_TEST

START_TEST(leaf_outside_of_mappings)
{
	struct record record = make_sample();
	for (size_t i = 0; i < UW_REGS_MAX; i++)
		record.sample.regs.value[i] = 0x900000;
	fixture_apply(&record, true);
	fake_emit_assert(emit, "frame 0 0+900000 flags 0", 1);
}
END_TEST

START_TEST(no_registers)
{
	struct record record = make_sample();
	record.sample.abi = RECORD_REGISTERS_NONE;
	struct profile_sample out = fixture_apply(&record, false);
	ck_assert_uint_eq(fake_walk()->walks, 0);
	ck_assert_int_eq(out.stack.state, PROFILE_STACK_SKIPPED);
	ck_assert_int_eq(out.stack.reason, PROFILE_SKIP_NO_REGS);
	ck_assert_uint_eq(out.stack.node, 0);
	ck_assert_uint_eq(fake_emit_count(emit, "frame "), 0);
}
END_TEST

START_TEST(code_of_32_bits)
{
	struct record record = make_sample();
	record.sample.abi = RECORD_REGISTERS_32;
	struct profile_sample out = fixture_apply(&record, false);
	bool is_unwound = registers_machine(true)->is_unwound;
	int state = is_unwound ? PROFILE_STACK_COMPLETE : PROFILE_STACK_SKIPPED;
	ck_assert(out.is_32bit);
	ck_assert_int_eq(fake_unwind_arch(), registers_machine(true)->arch);
	ck_assert_uint_eq(fake_walk()->walks, is_unwound ? 1 : 0);
	ck_assert_int_eq(out.stack.state, state);
	ck_assert_uint_eq(out.stack.reason == PROFILE_SKIP_NO_REGS, !is_unwound);
	ck_assert_uint_eq(out.stack.node, 1);
	record = make_sample();
	ck_assert(!fixture_apply(&record, false).is_32bit);
	ck_assert_int_eq(fake_unwind_arch(), registers_machine(false)->arch);
}
END_TEST

START_TEST(recursion_is_collapsed)
{
	struct record record = make_sample();
	fake_walk_set("xbbbbbba", UW_STOP_ROOT);
	struct profile_sample out = fixture_apply(&record, false);
	ck_assert_uint_eq(out.stack.collapsed, 4);
	ck_assert_uint_eq(out.stack.node, 4); /* a b b x */
	fake_walk_set("xba", UW_STOP_ROOT);
	ck_assert_uint_eq(fixture_apply(&record, false).stack.collapsed, 0);
}
END_TEST

/* What the walk took over goes to the node it had; threads do not share it. */
START_TEST(outer_frames_are_reused)
{
	struct record record = make_sample();
	fake_walk_set("dcba", UW_STOP_ROOT);
	ck_assert_uint_eq(fixture_apply(&record, false).stack.node, 4);
	fake_walk_set("xyba", UW_STOP_ROOT);
	fake_walk()->reused_count = 2;
	fake_walk()->frames[2].rva = fake_walk()->frames[3].rva = '?'; /* is not looked at */
	ck_assert_uint_eq(fixture_apply(&record, false).stack.node, 6);
	fake_walk_set("zdcba", UW_STOP_TRUNCATED); /* leaves what is remembered alone */
	ck_assert_uint_eq(fixture_apply(&record, false).stack.node, 7);
	fake_walk_set("e?ba", UW_STOP_ROOT);
	fake_walk()->reused_count = 3;
	ck_assert_uint_eq(fixture_apply(&record, false).stack.node, 8);
	fake_emit_assert(emit, "node 8 parent 5 frame 7", 1);
	fake_emit_assert(emit, "node 5 parent 2 frame 4", 1);
	record.tid = APP + 1;
	fake_walk()->reused_count = 3;
	fake_walk_set("dcba", UW_STOP_ROOT);
	ck_assert_uint_eq(fixture_apply(&record, false).stack.node, 4);
}
END_TEST

/* Stacks of 32-bit code are taken over from as others are; those of the other width, which a walk
 * has nothing to take over from, come in between. */
START_TEST(both_widths_are_remembered)
{
	static const struct {
		const char *letters;
		enum record_registers abi;
		size_t reused;
	} stacks[] = {{"dcba", RECORD_REGISTERS_32, 0},
		      {"e???", RECORD_REGISTERS_32, 3},
		      {"x", RECORD_REGISTERS_64, 0},
		      {"fcba", RECORD_REGISTERS_32, 0}};
	struct record record = make_sample();
	if (!registers_machine(true)->is_unwound)
		return;
	for (size_t i = 0; i < sizeof(stacks) / sizeof(stacks[0]); i++) {
		fake_walk_set(stacks[i].letters, UW_STOP_ROOT);
		fake_walk()->reused_count = stacks[i].reused;
		record.sample.abi = stacks[i].abi;
		fixture_apply(&record, false);
	}
	fake_emit_assert(emit, "node 5 parent 3 frame 4", 1);
	fake_emit_assert(emit, "node 6 parent 0 frame 5", 1);
	fake_emit_assert(emit, "node 7 parent 3 frame 6", 1);
}
END_TEST

START_TEST(recursion_is_kept)
{
	struct record record = make_sample();
	fixture_configure((struct fixture_config){.has_count = true, .unwind = true});
	feed_launch(10, APP, "app");
	fake_walk_set("xbbbbbba", UW_STOP_ROOT);
	struct profile_sample out = fixture_apply(&record, false);
	ck_assert_uint_eq(out.stack.collapsed, 0);
	ck_assert_uint_eq(out.stack.node, 8);
}
END_TEST

START_TEST(deepest_stack)
{
	struct record record = make_sample();
	for (size_t i = 0; i < UW_DEPTH_MAX; i++)
		fake_walk()->frames[i] = (struct uw_frame){.rva = i, .tag = 1};
	fake_walk()->frame_count = UW_DEPTH_MAX;
	fake_walk()->stop = UW_STOP_DEPTH;
	ck_assert_uint_eq(fixture_apply(&record, false).stack.node, UW_DEPTH_MAX);
}
END_TEST

static void apply_in_kernel(const uint64_t *chain, size_t length)
{
	struct record record = make_sample();
	record.sample.in_kernel = true;
	record.sample.ip = 0xffffffff81000010;
	record.sample.callchain = (const uint8_t *)chain;
	record.sample.callchain_length = length;
	feed(&record, 0, false);
}

/* The kernel's frames lie below the user's; callers are looked up inside the call. */
START_TEST(kernel_frames)
{
	const uint64_t chain[] = {0xffffffff81000010, 0xffffffff81000400};
	fake_walk_set("ba", UW_STOP_ROOT);
	apply_in_kernel(chain, 2);
	ck_assert_uint_eq(fake_emit_last_sample(emit).cs, 0x10);
	ck_assert_uint_eq(fake_emit_last_sample(emit).stack.node, 4);
	fake_emit_assert(emit, "image 1 kind 4 flags 0 [vmlinux]", 1);
	fake_emit_assert(emit, "load 0 8000000000000000-ffffffffffffffff [vmlinux] at before first",
			 1);
	ck_assert_uint_eq(fake_emit_count(emit, "frame "), 4);
	fake_emit_assert(emit, "frame 2 1+ffffffff81000010 flags 0", 1);
	fake_emit_assert(emit, "frame 3 1+ffffffff810003ff flags 0", 1);
	apply_in_kernel(chain, 2);
	ck_assert_uint_eq(fake_emit_count(emit, "image "), 1);
	ck_assert_uint_eq(fake_emit_count(emit, "load 0 "), 1);
}
END_TEST

START_TEST(kernel_frames_without_user)
{
	struct record record = make_sample();
	const uint64_t chain[] = {0xffffffff81000010};
	record.sample.in_kernel = true;
	record.sample.abi = RECORD_REGISTERS_NONE;
	record.sample.callchain = (const uint8_t *)chain;
	record.sample.callchain_length = 1;
	struct profile_sample out = fixture_apply(&record, false);
	ck_assert_uint_eq(out.stack.node, 1);
	ck_assert_int_eq(out.stack.state, PROFILE_STACK_NONE);
	ck_assert_int_eq(out.stack.reason, PROFILE_SKIP_NOT_SKIPPED);
	ck_assert_uint_eq(out.stack.kernel_us, 0);
}
END_TEST

/* A chain as long as a record can be, over the deepest user stack. */
START_TEST(hostile_kernel_chain)
{
	static uint64_t chain[8000];
	for (size_t i = 0; i < 8000; i++)
		chain[i] = 0xffffffff81000000 + 16 * i;
	for (size_t i = 0; i < UW_DEPTH_MAX; i++)
		fake_walk()->frames[i] = (struct uw_frame){.rva = i, .tag = 1};
	fake_walk()->frame_count = UW_DEPTH_MAX;
	fake_walk()->stop = UW_STOP_ROOT;
	apply_in_kernel(chain, 8000);
	ck_assert_uint_gt(fake_emit_last_sample(emit).stack.node, UW_DEPTH_MAX);
	ck_assert_uint_le(fake_emit_last_sample(emit).stack.node, UW_DEPTH_MAX + 8000);
}
END_TEST

/* Two processes at the same address: each has its own mappings. */
START_TEST(space_of_each_process)
{
	struct record record = make_sample();
	feed_fork(11, APP + 100, APP + 100, APP, APP);
	feed_exec(12, APP + 100, "prog");
	feed_map(13, APP + 100, 0x400000, 0x500000, "/bin/prog");
	fixture_apply(&record, true);
	record.pid = record.tid = APP + 100;
	fixture_apply(&record, true);
	fake_emit_assert(emit, "frame 0 1+20 flags 0", 1);
	fake_emit_assert(emit, "frame 1 2+20 flags 0", 1);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("tracker samples");
	TCase *tcase = tcase_create("samples");

	tcase_add_checked_fixture(tcase, setup, fixture_teardown);
	tcase_add_test(tcase, sample_is_passed_on);
	tcase_add_test(tcase, complete_stack);
	tcase_add_loop_test(tcase, incomplete_stack, 0, (int)(sizeof(stops) / sizeof(stops[0])));
	tcase_add_loop_test(tcase, incomplete_stack_with_gaps, 0,
			    (int)(sizeof(stops) / sizeof(stops[0])));
	tcase_add_test(tcase, all_stops_are_known);
	tcase_add_test(tcase, frames_outside_of_mappings);
	tcase_add_test(tcase, stack_is_left_out_under_load);
	tcase_add_loop_test(tcase, leaf_only, 0, 2);
	tcase_add_test(tcase, leaf_outside_of_mappings);
	tcase_add_test(tcase, no_registers);
	tcase_add_test(tcase, code_of_32_bits);
	tcase_add_test(tcase, recursion_is_collapsed);
	tcase_add_test(tcase, outer_frames_are_reused);
	tcase_add_test(tcase, both_widths_are_remembered);
	tcase_add_test(tcase, recursion_is_kept);
	tcase_add_test(tcase, deepest_stack);
	tcase_add_test(tcase, kernel_frames);
	tcase_add_test(tcase, kernel_frames_without_user);
	tcase_add_test(tcase, hostile_kernel_chain);
	tcase_add_test(tcase, space_of_each_process);
	suite_add_tcase(suite, tcase);
	return run_suite(suite);
}
