/* Samples whose stacks come in parts. */
#include "collector/bpf/stack_chunk.h"
#include "collector/stream/assembly.h"
#include "tests/support/suite.h"
#include <check.h>
#include <string.h>

enum {
	BASE = 0x7f0000001f00, /* 256 bytes below a page's end, so that parts are easy to tell */
	BYTES = 4 * STACK_CHUNK_PAGE,
	INNER = 1000,
	OUTER = 2 * STACK_CHUNK_PAGE,
	OUTER_BASE = 0x7ffc00000ff0 /* 16 bytes below a page's end */
};

static uint8_t stack[BYTES];
static struct assembly *assembly;

/* The linker passes the product's calls here. */
void *__real_reallocarray(void *bytes, size_t count, size_t size);
void *__wrap_reallocarray(void *bytes, size_t count, size_t size);

static bool is_full;

void *__wrap_reallocarray(void *bytes, size_t count, size_t size)
{
	return is_full ? NULL : __real_reallocarray(bytes, count, size);
}

static void set_up(void)
{
	for (size_t i = 0; i < sizeof(stack); i++)
		stack[i] = (uint8_t)(i * 7 + i / 256);
	assembly = assembly_create(2);
	ck_assert_ptr_nonnull(assembly);
}

static void tear_down(void)
{
	assembly_destroy(assembly);
}

static struct record part(uint32_t offset, uint32_t size, uint32_t total, uint16_t absent)
{
	struct record record = {.kind = RECORD_SAMPLE, .pid = 1, .tid = 2, .time_ns = 100 + offset};
	record.sample.count = 5;
	record.sample.stack = (struct uw_stack){.base = BASE,
						.bytes = stack + offset,
						.size = size,
						.requested = size};
	record.sample.part =
		(struct record_part){.offset = offset, .total = total, .absent = absent};
	return record;
}

/* Of a copy of two stacks. */
static struct record part_of_two(uint32_t offset, uint32_t size, uint16_t absent)
{
	struct record record = part(offset, size, INNER + OUTER, absent);
	record.sample.stack.ends = true;
	record.sample.part.outer_base = OUTER_BASE;
	record.sample.part.outer_offset = INNER;
	return record;
}

static void assert_whole(const struct record *record, size_t size)
{
	ck_assert_uint_eq(record->sample.part.total, 0);
	ck_assert_uint_eq(record->sample.stack.base, BASE);
	ck_assert_uint_eq(record->sample.stack.size, size);
	ck_assert_uint_eq(record->sample.stack.requested, size);
	ck_assert_mem_eq(record->sample.stack.bytes, stack, size);
}

/* Adds as the session does; whether the record came out, and no unfinished one before it. */
static bool add(size_t ring, struct record *record)
{
	struct record cut;
	ck_assert(!assembly_cut(assembly, ring, record, &cut));
	record->source = (uint32_t)ring;
	return assembly_add(assembly, record);
}

START_TEST(others_pass)
{
	struct record record = {.kind = RECORD_EXIT, .pid = 3};
	struct record plain = {.kind = RECORD_SAMPLE};
	plain.sample.stack =
		(struct uw_stack){.base = BASE, .bytes = stack, .size = 10, .requested = 20};
	ck_assert(add(0, &record));
	ck_assert_int_eq(record.kind, RECORD_EXIT);
	ck_assert(add(0, &plain));
	ck_assert_uint_eq(plain.sample.stack.requested, 20);
}
END_TEST

START_TEST(one_part)
{
	struct record record = part(0, 900, 900, 0);
	ck_assert(add(0, &record));
	assert_whole(&record, 900);
	ck_assert_ptr_eq(record.sample.stack.bytes, stack); /* not copied */
	ck_assert(!record.sample.stack_absent);
}
END_TEST

START_TEST(three_parts)
{
	for (int round = 0; round < 2; round++) {
		struct record first = part(0, 1000, 3000, 0);
		struct record second = part(1000, 1500, 3000, 0);
		struct record third = part(2500, 500, 3000, 0);
		third.sample.count = 6;
		ck_assert(!add(0, &first));
		ck_assert(!add(0, &second));
		ck_assert(add(0, &third));
		assert_whole(&third, 3000);
		ck_assert_uint_eq(third.time_ns, 2600);
		ck_assert_uint_eq(third.sample.count, 5);
	}
}
END_TEST

START_TEST(two_stacks)
{
	struct record first = part_of_two(0, INNER, 0);
	struct record second = part_of_two(INNER, OUTER, 0);
	ck_assert(!add(0, &first));
	ck_assert(add(0, &second));
	assert_whole(&second, INNER);
	ck_assert(second.sample.stack.ends);
	ck_assert_uint_eq(second.sample.outer.base, OUTER_BASE);
	ck_assert_uint_eq(second.sample.outer.size, OUTER);
	ck_assert_ptr_eq(second.sample.outer.bytes, second.sample.stack.bytes + INNER);
	ck_assert_mem_eq(second.sample.outer.bytes, stack + INNER, OUTER);
	ck_assert(second.sample.outer.ends);
}
END_TEST

/* Absent pages of the outer stack are counted from its own first one. */
START_TEST(two_stacks_in_pieces)
{
	struct record parts[] = {part_of_two(0, 600, 0), part_of_two(600, 400, 0),
				 part_of_two(INNER, OUTER - 100, 2),
				 part_of_two(INNER + OUTER - 100, 100, 0)};
	for (int i = 0; i < 3; i++)
		ck_assert(!add(0, &parts[i]));
	ck_assert(add(0, &parts[3]));
	const struct record_sample *sample = &parts[3].sample;
	assert_whole(&parts[3], INNER);
	ck_assert(sample->stack_absent && !sample->outer.ends);
	ck_assert_mem_eq(sample->outer.bytes, stack + INNER, 16);
	for (size_t i = 16; i < 16 + STACK_CHUNK_PAGE; i++)
		ck_assert_uint_eq(sample->outer.bytes[i], ASSEMBLY_ABSENT_BYTE);
	ck_assert_mem_eq(sample->outer.bytes + 16 + STACK_CHUNK_PAGE,
			 stack + INNER + 16 + STACK_CHUNK_PAGE, OUTER - 16 - STACK_CHUNK_PAGE);
}
END_TEST

/* The ring had no room for it: the inner stack alone does not end. */
START_TEST(outer_stack_lost)
{
	struct record first = part_of_two(0, INNER, 0), cut;
	ck_assert(!add(0, &first));
	ck_assert(assembly_cut(assembly, 0, NULL, &cut));
	assert_whole(&cut, INNER);
	ck_assert_uint_eq(cut.sample.outer.size, 0);
	ck_assert(!cut.sample.stack.ends);
}
END_TEST

START_TEST(rings_are_apart)
{
	struct record first = part(0, 1000, 2000, 0);
	struct record other = part(0, 500, 1000, 0);
	struct record second = part(1000, 1000, 2000, 0);
	struct record rest = part(500, 500, 1000, 0);
	ck_assert(!add(0, &first));
	ck_assert(!add(1, &other));
	ck_assert(add(0, &second));
	assert_whole(&second, 2000);
	ck_assert(add(1, &rest));
	assert_whole(&rest, 1000);
}
END_TEST

/* Loop: what comes instead of the second part. The sample stays, with what there is of its stack.
 */
START_TEST(lost_part)
{
	struct record first = part(0, 1000, 3000, 0);
	struct record next[] = {
		part(2000, 1000, 3000, 0), part(0, 800, 900, 0),
		part(1000, 1000, 2000, 0), {.kind = RECORD_LOST, .lost = 1},
		part(1000, 1000, 3000, 0), part(1000, 1000, 3000, 0),
	};
	struct record cut;
	next[4].tid = 3;
	next[5].sample.stack.base += 8;
	ck_assert(!add(0, &first));
	ck_assert(assembly_cut(assembly, 0, &next[_i], &cut));
	assert_whole(&cut, 1000);
	ck_assert_uint_eq(cut.sample.count, 5);
	ck_assert(!assembly_cut(assembly, 0, &next[_i], &cut));
	/* A later part alone is none; a first one waits for the others. */
	ck_assert_int_eq(assembly_add(assembly, &next[_i]), next[_i].kind == RECORD_LOST);
}
END_TEST

START_TEST(end_of_all)
{
	struct record first = part(0, 1000, 3000, 0);
	struct record cut;
	ck_assert(!add(0, &first));
	ck_assert(!assembly_cut(assembly, 1, NULL, &cut));
	ck_assert(assembly_cut(assembly, 0, NULL, &cut));
	assert_whole(&cut, 1000);
}
END_TEST

/* Only a copy without gaps ends where its stack does. */
START_TEST(end_of_the_stack)
{
	struct record one = part(0, 500, 500, 0), two = part(0, 3840, 5000, 0), cut;
	one.sample.stack.ends = two.sample.stack.ends = true;
	ck_assert(add(0, &one));
	ck_assert(one.sample.stack.ends);
	ck_assert(!add(0, &two));
	two = part(3840, 1160, 5000, (uint16_t)_i);
	two.sample.stack.ends = true;
	ck_assert(add(0, &two));
	ck_assert_int_eq(two.sample.stack.ends, _i == 0);
	two = part(0, 3840, 5000, 0);
	two.sample.stack.ends = true;
	ck_assert(!add(0, &two));
	ck_assert(assembly_cut(assembly, 0, NULL, &cut));
	ck_assert(!cut.sample.stack.ends);
}
END_TEST

/* BASE is in the middle of its page: the first page has 256 bytes of the part, the others 4096. */
START_TEST(absent_pages)
{
	static const size_t ends[] = {0, 256, 256 + 4096, 256 + 2 * 4096, 9000};
	for (uint16_t absent = 1; absent < 16; absent++) {
		struct record record = part(0, 9000, 9000, absent);
		ck_assert(add(0, &record));
		ck_assert(record.sample.stack_absent);
		for (unsigned page = 0; page < 4; page++)
			for (size_t i = ends[page]; i < ends[page + 1]; i++)
				ck_assert_uint_eq(record.sample.stack.bytes[i],
						  absent >> page & 1 ? ASSEMBLY_ABSENT_BYTE
								     : stack[i]);
	}
	struct record after = part(0, 9000, 9000, 0);
	ck_assert(add(0, &after));
	ck_assert(!after.sample.stack_absent);
}
END_TEST

START_TEST(more_than_was_announced)
{
	struct record first = part(0, 1000, 1001, 0);
	struct record second = part(1000, 8, 1001, 0);
	struct record cut;
	ck_assert(!add(0, &first));
	ck_assert(!assembly_add(assembly, &second));
	ck_assert(assembly_cut(assembly, 0, NULL, &cut));
	assert_whole(&cut, 1000);
}
END_TEST

/* The sample stays, without a stack; so does the order of the next one's parts. */
START_TEST(no_memory)
{
	struct record first = part(0, 1000, 2000, 0);
	is_full = true;
	ck_assert(add(0, &first));
	ck_assert_uint_eq(first.sample.count, 5);
	ck_assert_uint_eq(first.sample.part.total, 0);
	ck_assert_uint_eq(first.sample.stack.size, 0);
	ck_assert_uint_eq(first.sample.stack.requested, 0);
	struct record rest = part(1000, 1000, 2000, 0);
	ck_assert(!add(0, &rest));
	is_full = false;
	first = part(0, 1000, 2000, 0);
	rest = part(1000, 1000, 2000, 0);
	ck_assert(!add(0, &first));
	ck_assert(add(0, &rest));
	assert_whole(&rest, 2000);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("assembly");
	TCase *tcase = tcase_create("assembly");

	tcase_add_checked_fixture(tcase, set_up, tear_down);
	tcase_add_test(tcase, others_pass);
	tcase_add_test(tcase, one_part);
	tcase_add_test(tcase, three_parts);
	tcase_add_test(tcase, two_stacks);
	tcase_add_test(tcase, two_stacks_in_pieces);
	tcase_add_test(tcase, outer_stack_lost);
	tcase_add_test(tcase, rings_are_apart);
	tcase_add_loop_test(tcase, lost_part, 0, 6);
	tcase_add_test(tcase, end_of_all);
	tcase_add_loop_test(tcase, end_of_the_stack, 0, 2);
	tcase_add_test(tcase, absent_pages);
	tcase_add_test(tcase, more_than_was_announced);
	tcase_add_test(tcase, no_memory);
	suite_add_tcase(suite, tcase);
	return run_suite(suite);
}
