/* The calling-context tree: dense ids. */
#include "collector/context/tree.h"
#include "tests/collector/fake_emit.h"
#include "tests/support/suite.h"
#include <check.h>
#include <stdlib.h>

static struct emit *emit;
static struct tree *tree;

static void setup(void)
{
	emit = fake_emit_create();
	tree = tree_create(emit);
	ck_assert_ptr_nonnull(tree);
}

static void teardown(void)
{
	tree_destroy(tree);
	fake_emit_destroy(emit);
}

static uint32_t frame(uint32_t image, uint64_t rva)
{
	struct profile_frame out = {image, 0, rva};
	return tree_frame(tree, &out, 0).id;
}

/* The node of a stack, leaf first. */
static uint32_t node(const uint32_t *frames, size_t count)
{
	uint32_t parent = 0;
	uint32_t hash = 0;
	while (count > 0) {
		hash = tree_hash(hash, frames[--count]);
		parent = tree_child(tree, parent, frames[count], hash);
	}
	return parent;
}

START_TEST(empty)
{
	ck_assert_uint_eq(tree_child(tree, 0, PROFILE_NONE, 0), PROFILE_NONE);
	ck_assert_str_eq(fake_emit_lines(emit), "");
	tree_destroy(NULL);
}
END_TEST

START_TEST(frames_are_dense_and_written_once)
{
	struct profile_frame by_pointer = {1, PROFILE_FRAME_POINTER, 0x10};
	ck_assert_uint_eq(frame(1, 0x10), 0);
	ck_assert_uint_eq(frame(1, 0x20), 1);
	ck_assert_uint_eq(frame(2, 0x10), 2);
	ck_assert_uint_eq(tree_frame(tree, &by_pointer, 0).id, 3);
	ck_assert_uint_eq(frame(1, 0x10), 0);
	ck_assert_uint_eq(tree_frame(tree, &by_pointer, 0).id, 3);
	ck_assert_str_eq(fake_emit_lines(emit), "frame 0 1+10 flags 0\n"
						"frame 1 1+20 flags 0\n"
						"frame 2 2+10 flags 0\n"
						"frame 3 1+10 flags 1\n");
}
END_TEST

START_TEST(nodes_share_their_callers)
{
	uint32_t outer = frame(1, 0x100);
	uint32_t middle = frame(1, 0x200);
	uint32_t leaf = frame(1, 0x300);
	const uint32_t deep[] = {leaf, middle, outer};
	const uint32_t other[] = {leaf, outer};
	fake_emit_clear(emit);
	ck_assert_uint_eq(node(deep, 3), 3);
	ck_assert_uint_eq(node(deep, 3), 3);
	ck_assert_uint_eq(node(other, 2), 4); /* same leaf, other caller */
	ck_assert_uint_eq(node(deep + 1, 2), 2);
	ck_assert_str_eq(fake_emit_lines(emit), "node 1 parent 0 frame 0\n"
						"node 2 parent 1 frame 1\n"
						"node 3 parent 2 frame 2\n"
						"node 4 parent 1 frame 2\n");
}
END_TEST

/* Enough of them that they meet in the table. */
START_TEST(frames_that_differ_in_flags_only)
{
	for (uint32_t i = 0; i < 4000; i++) {
		struct profile_frame by_pointer = {1, PROFILE_FRAME_POINTER, i};
		ck_assert_uint_eq(frame(1, i), 2 * i);
		ck_assert_uint_eq(tree_frame(tree, &by_pointer, 0).id, 2 * i + 1);
	}
}
END_TEST

/* Past the tables' first size: ids stay, and none is written twice. */
START_TEST(grows)
{
	enum { COUNT = 20000 };
	uint32_t *nodes = calloc(COUNT, sizeof(*nodes));
	ck_assert_ptr_nonnull(nodes);
	for (uint32_t i = 0; i < COUNT; i++) {
		ck_assert_uint_eq(frame(i % 7, 0x1000ull * i), i);
		const uint32_t stack[] = {i, i / 2};
		nodes[i] = node(stack, 2);
	}
	size_t written = fake_emit_count(emit, "node ");
	for (uint32_t i = 0; i < COUNT; i++) {
		const uint32_t stack[] = {i, i / 2};
		ck_assert_uint_eq(frame(i % 7, 0x1000ull * i), i);
		ck_assert_uint_eq(node(stack, 2), nodes[i]);
	}
	ck_assert_uint_eq(fake_emit_count(emit, "node "), written);
	ck_assert_uint_eq(written, COUNT + COUNT / 2);
	ck_assert_uint_eq(fake_emit_count(emit, "frame "), COUNT);
	free(nodes);
}
END_TEST

/* Frames of one function, wherever they are in it; a frame without one is its own. */
START_TEST(functions)
{
	struct profile_frame one = {1, 0, 0x110};
	struct profile_frame two = {1, PROFILE_FRAME_POINTER, 0x120};
	struct profile_frame other_image = {2, 0, 0x110};
	struct profile_frame start = {1, 0, 0x100};
	struct profile_frame elsewhere = {1, 0, 0x130};
	uint32_t first = tree_frame(tree, &one, 0x100).function;
	ck_assert_uint_eq(tree_frame(tree, &two, 0x100).function, first);
	ck_assert_uint_ne(tree_frame(tree, &other_image, 0x100).function, first);
	ck_assert_uint_ne(tree_frame(tree, &start, 0).function, first);
	ck_assert_uint_ne(tree_frame(tree, &elsewhere, 0).function, first);
	/* The second time as the first. */
	ck_assert_uint_eq(tree_frame(tree, &two, 0x100).function, first);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("tree");
	TCase *tcase = tcase_create("tree");

	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_add_test(tcase, empty);
	tcase_add_test(tcase, frames_are_dense_and_written_once);
	tcase_add_test(tcase, nodes_share_their_callers);
	tcase_add_test(tcase, frames_that_differ_in_flags_only);
	tcase_add_test(tcase, grows);
	tcase_add_test(tcase, functions);
	suite_add_tcase(suite, tcase);
	return run_suite(suite);
}
