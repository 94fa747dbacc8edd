/* A stack becomes a node without any sample: from registers, a copy and a thread's memory. */
#include "collector/context/stacks.h"
#include "collector/machine/clock.h"
#include "collector/machine/registers.h"
#include "tests/collector/fake_emit.h"
#include "tests/collector/fake_unwind.h"
#include "tests/support/suite.h"
#include <check.h>
#include <string.h>

static struct emit *emit;
static struct stacks *stacks;
static struct uw_space *space;
static struct uw_regs regs;
static struct uw_stack copy;
static struct stack_memory memory;

static void setup(void)
{
	emit = fake_emit_create();
	stacks = stacks_create(emit, false);
	ck_assert_ptr_nonnull(stacks);
	space = uw_space_create(registers_machine(false)->arch);
	ck_assert_int_eq(uw_space_map(space, 0x400000, 0x500000, 0, NULL, 7), 0);
	regs = (struct uw_regs){0};
	regs.value[registers_machine(false)->ip] = 0x400020;
	copy = (struct uw_stack){.base = 0x7000, .size = 64, .requested = 64};
	memory = (struct stack_memory){0};
	fake_walk_set("cba", UW_STOP_ROOT);
}

static void teardown(void)
{
	stack_memory_forget(&memory);
	stacks_destroy(stacks);
	uw_space_destroy(space);
	fake_emit_destroy(emit);
}

static struct stack_origin source_of(struct stack_memory *of)
{
	return (struct stack_origin){.space = space,
				     .memory = of,
				     .map_version = 1,
				     .regs = &regs,
				     .ip = regs.value[registers_machine(false)->ip],
				     .copy = &copy};
}

static struct profile_stack node_of(struct stack_memory *of, enum stack_extent extent)
{
	struct stack_origin source = source_of(of);
	struct profile_stack stack = {.cpu_ns = 5, .state = PROFILE_STACK_SKIPPED};
	stack.reason = PROFILE_SKIP_BUDGET;
	stacks_node(stacks, &source, extent, &stack);
	return stack;
}

static void expect_counts(uint64_t walks, uint64_t frames)
{
	ck_assert_uint_eq(memory.counts.walks, walks);
	ck_assert_uint_eq(memory.counts.frames, frames);
}

START_TEST(node_and_state)
{
	struct profile_stack stack = node_of(&memory, STACK_WALKED);
	ck_assert_uint_eq(stack.node, 3);
	ck_assert_uint_eq(fake_emit_node(emit, 3).parent, 2);
	ck_assert_int_eq(stack.state, PROFILE_STACK_COMPLETE);
	ck_assert_int_eq(stack.reason, PROFILE_SKIP_NOT_SKIPPED);
	ck_assert_uint_eq(stack.cpu_ns, 5);
	expect_counts(1, 3);
	fake_walk_set("c", UW_STOP_NO_INFO);
	stack = node_of(&memory, STACK_WALKED);
	ck_assert_uint_eq(stack.node, 4);
	ck_assert_uint_eq(fake_emit_node(emit, 4).parent, 0);
	ck_assert_int_eq(stack.state, PROFILE_STACK_SKIPPED);
	ck_assert_int_eq(stack.reason, PROFILE_SKIP_NO_INFO);
}
END_TEST

/* A stack of no sample: its node is that of the samples there, and nothing else is left of it. */
START_TEST(no_memory)
{
	struct profile_stack stack = node_of(NULL, STACK_WALKED);
	ck_assert_uint_eq(stack.node, 3);
	ck_assert_int_eq(stack.state, PROFILE_STACK_COMPLETE);
	fake_walk_set("cba", UW_STOP_TRUNCATED);
	stack = node_of(NULL, STACK_WALKED);
	ck_assert_uint_eq(stack.node, 3);
	ck_assert_int_eq(stack.state, PROFILE_STACK_SKIPPED);
	ck_assert_int_eq(stack.reason, PROFILE_SKIP_TRUNCATED);
	stacks_emit(stacks);
	ck_assert_uint_eq(fake_emit_unwinding(emit, PROFILE_UNWINDING_RUN).walks, 0);
	ck_assert_uint_eq(node_of(&memory, STACK_WALKED).node, 3);
}
END_TEST

START_TEST(variable)
{
	uint32_t node = stacks_data_node(stacks, 7, 0x1000);
	ck_assert_uint_eq(node, 1);
	ck_assert_uint_eq(fake_emit_node(emit, node).parent, 0);
	ck_assert_uint_eq(stacks_data_node(stacks, 7, 0x1000), node);
	ck_assert_uint_ne(stacks_data_node(stacks, 7, 0x1008), node);
}
END_TEST

/* Two threads in the same place are at one node; each has its own memory. */
START_TEST(threads_share_nodes)
{
	struct stack_memory other = {0};
	ck_assert_uint_eq(node_of(&memory, STACK_WALKED).node, 3);
	ck_assert_uint_eq(node_of(&other, STACK_WALKED).node, 3);
	ck_assert_ptr_nonnull(other.history);
	ck_assert_ptr_ne(other.history, memory.history);
	ck_assert_uint_eq(fake_emit_count(emit, "node "), 3);
	stack_memory_forget(&other);
}
END_TEST

/* What the caller said of a stack that is not walked stays. */
START_TEST(leaf_only)
{
	struct profile_stack stack = node_of(&memory, STACK_LEAF);
	ck_assert_uint_eq(stack.node, 1);
	fake_emit_assert(emit, "frame 0 7+20 flags 0", 1);
	ck_assert_int_eq(stack.reason, PROFILE_SKIP_BUDGET);
	ck_assert_uint_eq(node_of(&memory, STACK_NO_USER).node, 0);
	ck_assert_uint_eq(fake_walk()->walks, 0);
	ck_assert_ptr_null(memory.history);
}
END_TEST

START_TEST(inner_frames)
{
	static const struct profile_frame inner[] = {{9, 0, 0x30}, {9, 0, 0x20}};
	struct stack_origin source = source_of(&memory);
	struct profile_stack stack = {0};
	source.inner = inner;
	source.inner_count = 2;
	stacks_node(stacks, &source, STACK_WALKED, &stack);
	ck_assert_uint_eq(stack.node, 5);
	fake_emit_assert(emit, "frame 3 9+30 flags 0", 1);
	ck_assert_uint_eq(fake_emit_node(emit, 5).frame, 3);
	ck_assert_uint_eq(fake_emit_node(emit, 4).frame, 4);
	ck_assert_uint_eq(fake_emit_node(emit, 4).parent, 3);
}
END_TEST

START_TEST(without_space)
{
	struct stack_origin source = source_of(&memory);
	struct profile_stack stack = {.cpu_ns = 5};
	source.space = NULL;
	stacks_node(stacks, &source, STACK_WALKED, &stack);
	ck_assert_uint_eq(stack.node, 0);
	ck_assert_int_eq(stack.state, PROFILE_STACK_SKIPPED);
	ck_assert_int_eq(stack.reason, PROFILE_SKIP_NO_MEMORY);
	ck_assert_uint_eq(stack.cpu_ns, 5);
}
END_TEST

/* A deep copy makes no node, and the next stack builds on it. */
START_TEST(learned)
{
	struct stack_origin source = source_of(&memory);
	stacks_learn(stacks, &source);
	ck_assert_ptr_nonnull(memory.chain);
	ck_assert_uint_eq(fake_emit_count(emit, "node "), 0);
	expect_counts(0, 0);
	fake_walk()->reused_count = 3;
	ck_assert_uint_eq(node_of(&memory, STACK_WALKED).node, 3);
	ck_assert_uint_eq(memory.counts.frames_reused, 3);
}
END_TEST

static struct profile_stack node_of_chain(struct stack_chain chain)
{
	struct stack_origin source = source_of(&memory);
	struct profile_stack stack = {.cpu_ns = 5, .state = PROFILE_STACK_NONE};
	source.chain = chain;
	stacks_node(stacks, &source, STACK_GIVEN, &stack);
	return stack;
}

/* Callers are looked up inside their calls; addresses of no code at the end are no frames. */
START_TEST(given)
{
	static const uint64_t chain[] = {0x400020, 0x400101, 0x400201, 0x12345, 0};
	struct profile_stack stack = node_of_chain((struct stack_chain){chain, 5, 0, false, false});
	ck_assert_uint_eq(fake_emit_count(emit, "node "), 3);
	fake_emit_assert(emit, "frame 0 7+200 flags 1", 1);
	fake_emit_assert(emit, "frame 1 7+100 flags 1", 1);
	fake_emit_assert(emit, "frame 2 7+20 flags 0", 1);
	ck_assert_int_eq(stack.state, PROFILE_STACK_SKIPPED);
	ck_assert_int_eq(stack.reason, PROFILE_SKIP_CHAIN_ENDS);
	ck_assert_uint_eq(fake_walk()->walks, 0);
}
END_TEST

/* Whether a chain ends at the root is asked of the unwind information, once for each place. */
START_TEST(given_root)
{
	static const uint64_t chain[] = {0x400020, 0x400101};
	fake_walk_set("a", UW_STOP_ROOT);
	for (int i = 0; i < 2; i++) {
		struct profile_stack stack =
			node_of_chain((struct stack_chain){chain, 2, 0, false, false});
		ck_assert_int_eq(stack.state, PROFILE_STACK_COMPLETE);
		ck_assert_int_eq(stack.reason, PROFILE_SKIP_NOT_SKIPPED);
		ck_assert_uint_eq(fake_walk()->walks, 1);
	}
	fake_walk_set("a", UW_STOP_NO_INFO);
	struct profile_stack stack = node_of_chain((struct stack_chain){chain, 1, 0, false, false});
	ck_assert_int_eq(stack.reason, PROFILE_SKIP_CHAIN_ENDS);
}
END_TEST

/* What the giver knows of the end counts. */
START_TEST(given_end)
{
	static const uint64_t chain[] = {0x400020, 0x400101, 0x400201};
	struct profile_stack stack = node_of_chain((struct stack_chain){chain, 3, 0, true, false});
	ck_assert_int_eq(stack.state, PROFILE_STACK_SKIPPED);
	stack = node_of_chain((struct stack_chain){chain, 3, 1, false, true});
	ck_assert_int_eq(stack.state, PROFILE_STACK_GUESSED);
	ck_assert_uint_eq(stack.verified, 2);
	fake_walk_set("a", UW_STOP_NO_INFO);
	stack = node_of_chain((struct stack_chain){chain, 3, 0, false, true});
	ck_assert_int_eq(stack.state, PROFILE_STACK_COMPLETE);
	static uint64_t deep[UW_DEPTH_MAX + 1];
	for (size_t i = 0; i <= UW_DEPTH_MAX; i++)
		deep[i] = 0x400001 + 16 * i;
	stack = node_of_chain((struct stack_chain){deep, UW_DEPTH_MAX + 1, 0, false, true});
	ck_assert_int_eq(stack.state, PROFILE_STACK_SKIPPED);
	ck_assert_int_eq(stack.reason, PROFILE_SKIP_DEPTH);
}
END_TEST

static size_t read_anything(void *context, uint64_t start, uint8_t *bytes, size_t size)
{
	(void)context, (void)start;
	memset(bytes, 0, size);
	return size;
}

/* A stack of frames up to c, whose copy ended at an absent page. */
static struct profile_stack late_stack(const char *found)
{
	static const struct late_reader reader = {NULL, read_anything};
	struct stack_origin source = source_of(&memory);
	struct profile_stack stack = {0};
	source.sampled_ns = clock_now();
	source.reader = &reader;
	fake_walk_set_placed(found, UW_STOP_NOT_RESIDENT);
	stacks_node(stacks, &source, STACK_WALKED, &stack);
	return stack;
}

/* Frames read are a level of their own: others than verified and guessed ones. */
START_TEST(late)
{
	copy.bytes = (const uint8_t[64]){0};
	copy.requested = 128;
	fake_walk_set_whole("zcba");
	for (int i = 0; i < 4; i++) {
		struct profile_stack stack = late_stack("zc");
		ck_assert_int_eq(stack.state, PROFILE_STACK_SKIPPED);
		ck_assert_uint_eq(stack.guess_level, PROFILE_GUESS_NONE);
	}
	struct profile_stack stack = late_stack("zc");
	ck_assert_int_eq(stack.state, PROFILE_STACK_GUESSED);
	ck_assert_int_eq(stack.reason, PROFILE_SKIP_NOT_RESIDENT);
	ck_assert_uint_eq(stack.guess_level, PROFILE_GUESS_LATE);
	ck_assert_uint_eq(stack.guess_hits, 0);
	ck_assert_uint_eq(stack.verified, 2);
	fake_emit_assert(emit, "frame 2 1+61 flags 10", 1);
	fake_emit_assert(emit, "frame 3 1+62 flags 10", 1);
	/* In no wait, and where no call leads from a caller. */
	struct stack_origin source = source_of(&memory);
	source.sampled_ns = clock_now();
	stacks_node(stacks, &source, STACK_WALKED, &stack);
	ck_assert_int_eq(stack.state, PROFILE_STACK_SKIPPED);
	fake_walk_set_whole("zcbx");
	ck_assert_int_eq(late_stack("zc").state, PROFILE_STACK_SKIPPED);
	/* Tests that were wrong end them. */
	fake_walk_set_whole("zcba");
	ck_assert_int_eq(late_stack("zc").state, PROFILE_STACK_GUESSED);
	memory.counts.late_covered = 99;
	memory.counts.late_wrong = 1;
	ck_assert_int_eq(late_stack("zc").state, PROFILE_STACK_SKIPPED);
	memory.counts.late_covered = 100;
	ck_assert_int_eq(late_stack("zc").state, PROFILE_STACK_GUESSED);
	fake_walk()->whole_count = 0;
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("stacks");
	TCase *tcase = tcase_create("stacks");

	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_add_test(tcase, node_and_state);
	tcase_add_test(tcase, no_memory);
	tcase_add_test(tcase, variable);
	tcase_add_test(tcase, threads_share_nodes);
	tcase_add_test(tcase, leaf_only);
	tcase_add_test(tcase, inner_frames);
	tcase_add_test(tcase, without_space);
	tcase_add_test(tcase, learned);
	tcase_add_test(tcase, given);
	tcase_add_test(tcase, given_root);
	tcase_add_test(tcase, given_end);
	tcase_add_test(tcase, late);
	suite_add_tcase(suite, tcase);
	return run_suite(suite);
}
