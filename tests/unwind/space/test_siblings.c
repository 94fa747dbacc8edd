/* Address spaces that share what is remembered of code. */
#include "tests/support/suite.h"
#include "tests/unwind/capture.h"
#include "unwind/rules/rule_cache.h"
#include "unwind/space/space.h"
#include <check.h>
#include <stdlib.h>

static struct uw_space *space;
static struct capture sample;
static struct uw_frame frames[UW_DEPTH_MAX];
static size_t count;

static void setup(void)
{
	space = capture_space();
	CAPTURE(&sample);
}

static void teardown(void)
{
	uw_space_destroy(space);
}

/* Walks into frames; how many lookups that took. */
static uint64_t walk(struct uw_space *in)
{
	struct uw_counts before, after;
	enum uw_stop stop;

	uw_space_counts(in, &before);
	count = uw_walk(in, &sample.regs, &sample.stack, frames, UW_DEPTH_MAX, &stop);
	ck_assert_int_eq(stop, UW_STOP_ROOT);
	ck_assert_uint_gt(count, 2);
	uw_space_counts(in, &after);
	return after.cache_misses - before.cache_misses;
}

/* The space's mappings with other tags. */
static void map_as(struct uw_space *to, uint32_t first_tag)
{
	struct ranges_place place = {0};
	const struct uw_mapping *from;

	while ((from = ranges_next(&space->mappings, &place))) {
		ck_assert_int_eq(uw_space_map(to, from->start, from->end, 0, from->module,
					      first_tag + from->tag),
				 0);
		struct uw_mapping *copy =
			ranges_at(&to->mappings, ranges_find(&to->mappings, from->start));
		copy->rva = from->rva;
	}
}

START_TEST(a_clone_knows_what_its_original_knows)
{
	ck_assert_uint_gt(walk(space), 0);
	struct uw_space *clone = uw_space_clone(space);
	ck_assert_uint_eq(walk(clone), 0);
	/* Whoever changes has to look again, the other one not. */
	ck_assert_int_eq(uw_space_map(clone, 4096, 8192, 0, NULL, 77), 0);
	ck_assert_uint_gt(walk(clone), 0);
	ck_assert_int_eq(uw_space_map(space, 4096, 8192, 0, NULL, 78), 0);
	ck_assert_uint_gt(walk(space), 0);
	uw_space_destroy(clone);
}
END_TEST

/* New mappings cost no lookups of what is known; one that takes another's place does. */
START_TEST(new_mappings_leave_all_known)
{
	ck_assert_uint_gt(walk(space), 0);
	for (uint64_t i = 1; i < 1000; i++) {
		ck_assert_int_eq(uw_space_map(space, i * 0x3000, i * 0x3000 + 0x1000, 0, NULL, 77),
				 0);
		ck_assert_uint_eq(walk(space), 0);
	}
	ck_assert_int_eq(uw_space_map(space, 0x3000, 0x4000, 0, NULL, 78), 0);
	ck_assert_uint_gt(walk(space), 0);
}
END_TEST

/* Pages of one module in a row, or of generated code, are one mapping, from whichever side they
 * come and where they overlap. */
START_TEST(pages_in_a_row_are_one)
{
	enum { PAGES = 20000 };
	size_t before = space->mappings.count;
	const struct uw_mapping *first = ranges_at(&space->mappings, (struct ranges_place){0});
	struct uw_module *module = first->module;
	uint32_t tag;
	uint64_t rva;

	for (uint64_t i = PAGES; i > 0; i--)
		ck_assert_int_eq(uw_space_map(space, i * 0x1000, i * 0x1000 + 0x1800, 0, NULL, 77),
				 0);
	ck_assert_uint_eq(space->mappings.count, before + 1);
	ck_assert(uw_space_find(space, 0x1000, &tag, &rva) && tag == 77 && rva == 0x1000);
	ck_assert(!uw_space_find(space, 0xfff, &tag, &rva));
	ck_assert(uw_space_find(space, PAGES * 0x1000 + 0x17ff, &tag, &rva));
	ck_assert(!uw_space_find(space, PAGES * 0x1000 + 0x1800, &tag, &rva));
	/* Of a module, in file order and not. */
	for (uint64_t i = 0; i < 4; i++)
		ck_assert_int_eq(uw_space_map(space, 0x8000000 + i * 0x1000, 0x8001000 + i * 0x1000,
					      (i == 3 ? 0 : i) * 0x1000, module, 5),
				 0);
	ck_assert_uint_eq(space->mappings.count, before + 3);
}
END_TEST

/* Where there was nothing, code may come. */
START_TEST(nothing_is_not_remembered)
{
	enum uw_stop stop;

	ck_assert_uint_gt(walk(space), 0);
	sample.regs.value[16] = 0x5000;
	uw_walk(space, &sample.regs, &sample.stack, frames, UW_DEPTH_MAX, &stop);
	ck_assert_uint_eq(frames[0].tag, UW_TAG_NONE);
	ck_assert_int_eq(uw_space_map(space, 0x5000, 0x6000, 0, NULL, 77), 0);
	uw_walk(space, &sample.regs, &sample.stack, frames, UW_DEPTH_MAX, &stop);
	ck_assert_uint_eq(frames[0].tag, 77);
}
END_TEST

START_TEST(a_clone_outlives_its_original)
{
	walk(space);
	struct uw_space *clone = uw_space_clone(space);
	uw_space_destroy(space);
	ck_assert_uint_eq(walk(clone), 0);
	space = clone;
}
END_TEST

START_TEST(siblings_do_not_take_over_from_each_other)
{
	struct uw_space *sibling = uw_space_sibling(space, space->arch);

	map_as(sibling, 1000);
	for (int round = 0; round < 3; round++) {
		walk(space);
		uint32_t tag = frames[0].tag;
		ck_assert_uint_lt(tag, 1000);
		walk(sibling);
		ck_assert_uint_eq(frames[0].tag, tag + 1000);
	}
	uw_space_destroy(sibling);
}
END_TEST

START_TEST(siblings_share_a_cache)
{
	struct uw_space *sibling = uw_space_sibling(space, space->arch);

	map_as(sibling, 1000);
	walk(space);
	ck_assert_ptr_eq(space->cache, sibling->cache);
	walk(sibling);
	uw_space_destroy(sibling);
	walk(space);
}
END_TEST

/* More changes than there are epochs: what one space knew under a number is not another's. */
START_TEST(epochs_begin_anew)
{
	struct uw_space *sibling = uw_space_sibling(space, space->arch);
	uint32_t era = space->cache->era, tag;

	map_as(sibling, 1000);
	walk(space);
	tag = frames[0].tag;
	for (uint32_t change = 0; change < UW_CACHE_EPOCH_MAX + 10; change++) {
		ck_assert_int_eq(uw_space_map(sibling, 4096, 8192, 0, NULL, change), 0);
		walk(sibling);
		if (frames[0].tag != tag + 1000)
			ck_abort_msg("change %u: tag %u", change, frames[0].tag);
	}
	ck_assert_uint_eq(space->cache->era, era + 1);
	/* The sibling took the space's own old number at the start of the new era. */
	ck_assert_uint_gt(walk(space), 0);
	ck_assert_uint_eq(frames[0].tag, tag);
	ck_assert_uint_eq(walk(space), 0);
	uw_space_destroy(sibling);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("unwind siblings");
	TCase *tests = tcase_create("siblings");

	tcase_set_timeout(tests, 60);
	tcase_add_checked_fixture(tests, setup, teardown);
	tcase_add_test(tests, a_clone_knows_what_its_original_knows);
	tcase_add_test(tests, a_clone_outlives_its_original);
	tcase_add_test(tests, new_mappings_leave_all_known);
	tcase_add_test(tests, pages_in_a_row_are_one);
	tcase_add_test(tests, nothing_is_not_remembered);
	tcase_add_test(tests, siblings_do_not_take_over_from_each_other);
	tcase_add_test(tests, siblings_share_a_cache);
	tcase_add_test(tests, epochs_begin_anew);
	suite_add_tcase(suite, tests);
	return run_suite(suite);
}
