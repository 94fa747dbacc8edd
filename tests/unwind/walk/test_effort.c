/* What a walk may cost at most, whatever a file's unwind information asks for. */
#include "tests/support/suite.h"
#include "tests/unwind/capture.h"
#include "tests/unwind/elf_builder.h"
#include "unwind/cfi/row.h"
#include "unwind/elf/cursor.h"
#include "unwind/unwind.h"
#include <check.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
	REG_NUM_RSP = 7,
	REG_NUM_RIP = 16,
	CODE_SIZE = 0x1000, /* of a function */
	FRAME_SIZE = 256 * 1024,
	SITES = 64, /* of calls: more than rows are kept */
	DEPTH = 1000,
	WALKS = 1000,
	FUNCTIONS = 64,
	NOPS = 8000 /* instructions of each one's program, each a byte */
};

static const uint64_t load = 0x400000, base = UINT64_C(0x7ffc00000000);
static struct elf_builder builder;
static struct uw_space *space;
static uint64_t words[2 * DEPTH + 2];
static const struct uw_stack stack = {.base = UINT64_C(0x7ffc00000000),
				      .bytes = (const uint8_t *)words,
				      .size = sizeof(words),
				      .requested = sizeof(words)};

/* CFA = rsp + 8, rip below it. */
static size_t put_cie(void)
{
	static const uint8_t rest[] = {1, 'z',          'R',  0,           1, 0x78,      16,
				       1, UW_PE_ABSPTR, 0x0c, REG_NUM_RSP, 8, 0x80 | 16, 1};
	size_t cie = elf_builder_begin_cie(&builder);

	elf_builder_put(&builder, rest, sizeof(rest));
	elf_builder_end(&builder, cie);
	return cie;
}

/* The prologue, times the repeated instructions, and a frame of 16 bytes. */
static void put_fde(size_t cie, size_t offset, const void *first, size_t first_size,
		    const void *repeated, size_t size, size_t times)
{
	size_t fde = elf_builder_begin_fde(&builder, cie, UW_PE_ABSPTR, offset, CODE_SIZE);

	elf_builder_put(&builder, "", 1);
	if (first)
		elf_builder_put(&builder, first, first_size);
	for (size_t i = 0; i < times; i++)
		elf_builder_put(&builder, repeated, size);
	elf_builder_put(&builder, (const uint8_t[]){0x41, UW_CFA_DEF_CFA_OFFSET, 16}, 3);
	elf_builder_end(&builder, fde);
}

/* A space with what was built, and a stack with a frame for each of DEPTH return addresses. */
static void map_built(uint64_t step, size_t sites)
{
	struct uw_module *module = elf_builder_module(&builder);

	space = uw_space_create(UW_ARCH_X86_64);
	ck_assert_int_eq(uw_space_map(space, load, load + builder.size, 0, module, 1), 0);
	uw_module_unref(module);
	elf_builder_finish(&builder);
	for (size_t i = 0; i <= DEPTH; i++)
		words[2 * i + 1] = load + ELF_BUILDER_CODE + 0x10 + i % sites * step;
}

static void make_space(const void *first, size_t first_size, const void *repeated, size_t size,
		       size_t times)
{
	elf_builder_init(&builder, UW_ARCH_X86_64, CODE_SIZE, FRAME_SIZE);
	put_fde(put_cie(), 0, first, first_size, repeated, size, times);
	map_built(8, SITES);
}

/* Functions of the common form, which are decoded as a whole, with long programs. */
static void make_functions(void)
{
	elf_builder_init(&builder, UW_ARCH_X86_64, FUNCTIONS * CODE_SIZE,
			 FUNCTIONS * (NOPS + 64) + 64);
	size_t cie = put_cie();
	for (size_t i = 0; i < FUNCTIONS; i++)
		put_fde(cie, i * CODE_SIZE, NULL, 0, "", 1, NOPS);
	map_built(CODE_SIZE, FUNCTIONS);
}

static void teardown(void)
{
	uw_space_destroy(space);
	space = NULL;
}

/* What the latest walk spent. */
static uint64_t effort;

static size_t walk(enum uw_stop *stop)
{
	struct uw_counts before, after;
	static struct uw_frame frames[UW_DEPTH_MAX];
	struct uw_regs regs = {
		.value = {[REG_NUM_RSP] = base, [REG_NUM_RIP] = load + ELF_BUILDER_CODE + 8}};

	uw_space_counts(space, &before);
	size_t count = uw_walk(space, &regs, &stack, frames, UW_DEPTH_MAX, stop);
	uw_space_counts(space, &after);
	effort = after.effort - before.effort;
	return count;
}

/* CPU time in seconds of that many walks, each of which ends at a limit: what is counted goes
 * beyond it by no more than one function adds at once. */
static double walk_often(size_t walks)
{
	clock_t start = clock();
	enum uw_stop stop;

	for (size_t i = 0; i < walks; i++) {
		walk(&stop);
		ck_assert_int_eq(stop, UW_STOP_BAD_INFO);
		ck_assert_uint_lt(effort, UW_CFI_EFFORT_MAX + FRAME_SIZE / 8);
	}
	return (double)(clock() - start) / CLOCKS_PER_SEC;
}

/* Against work that is not counted as effort: a twentieth of it was seen. Tools that watch each
 * access take what they take. */
static void assert_quick(double seconds)
{
#if defined(__SANITIZE_ADDRESS__)
	double bound = 30;
#else
	double bound = capture_under_valgrind() ? 60 : 10;
#endif

	ck_assert_msg(seconds < bound, "%d walks took %.3f s", WALKS, seconds);
}

/* Not of the common form: rax is an offset from the CFA. */
static const uint8_t unusual[] = {UW_CFA_VAL_OFFSET, 0, 0};
static const uint8_t copies[] = {UW_CFA_REMEMBER_STATE, UW_CFA_RESTORE_STATE};

START_TEST(copied_rows)
{
	make_space(unusual, sizeof(unusual), copies, sizeof(copies), 32000);
	double seconds = walk_often(WALKS);
	assert_quick(seconds);
}
END_TEST

START_TEST(many_instructions)
{
	make_space(unusual, sizeof(unusual), (const uint8_t[]){0x80 | 3, 2}, 2, 32000);
	double seconds = walk_often(WALKS);
	assert_quick(seconds);
}
END_TEST

/* The CFA is what a long expression says, after 900 operations that do nothing. */
START_TEST(long_expressions)
{
	uint8_t first[904] = {UW_CFA_DEF_CFA_EXPRESSION, 0x85, 0x07};

	memset(first + 3, 0x96, sizeof(first) - 3);
	first[sizeof(first) - 2] = 0x77; /* rsp + 16 */
	first[sizeof(first) - 1] = 16;
	make_space(first, sizeof(first), "", 1, 0);
	double seconds = walk_often(WALKS);
	assert_quick(seconds);
}
END_TEST

START_TEST(large_program)
{
	enum uw_stop stop;

	make_space(unusual, sizeof(unusual), copies, sizeof(copies), 33000);
	ck_assert_uint_eq(walk(&stop), 1);
	ck_assert_int_eq(stop, UW_STOP_BAD_INFO);
}
END_TEST

/* What programs have is far from the limit: the whole depth, at each of the call sites. */
START_TEST(enough)
{
	enum uw_stop stop;

	make_space(unusual, sizeof(unusual), copies, sizeof(copies), 5);
	for (int i = 0; i < 3; i++) {
		ck_assert_uint_eq(walk(&stop), DEPTH + 2);
		ck_assert_int_eq(stop, UW_STOP_TRUNCATED);
	}
}
END_TEST

/* Each address costs the instructions before it; what was found stays known to the next walks. */
START_TEST(large_functions)
{
	size_t affordable = UW_CFI_EFFORT_MAX / NOPS, walks = 1;
	enum uw_stop stop;

	make_functions();
	size_t count = walk(&stop);
	ck_assert_int_eq(stop, UW_STOP_BAD_INFO);
	/* One frame is of the function that took too much. */
	ck_assert_uint_ge(count, affordable);
	ck_assert_uint_le(count, affordable + 3);
	ck_assert_uint_gt(effort, UW_CFI_EFFORT_MAX);
	ck_assert_uint_lt(effort, UW_CFI_EFFORT_MAX + NOPS);
	for (; stop == UW_STOP_BAD_INFO; walks++) {
		size_t before = count;
		count = walk(&stop);
		ck_assert_uint_ge(count, before + affordable / 2);
	}
	ck_assert_uint_eq(count, DEPTH + 2);
	ck_assert_int_eq(stop, UW_STOP_TRUNCATED);
	ck_assert_uint_le(walks, FUNCTIONS / affordable + 2);
}
END_TEST

/* What one walk had no time for, the next one may find. */
START_TEST(the_next_walk)
{
	enum uw_stop stop;

	make_space(unusual, sizeof(unusual), copies, sizeof(copies), 1000);
	size_t first = walk(&stop);
	ck_assert_int_eq(stop, UW_STOP_BAD_INFO);
	size_t second = walk(&stop);
	ck_assert_int_eq(stop, UW_STOP_BAD_INFO);
	ck_assert_uint_gt(first, 5);
	ck_assert_uint_ge(second, first);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("unwind effort");
	TCase *tcase = tcase_create("effort");

	tcase_add_checked_fixture(tcase, NULL, teardown);
	tcase_set_timeout(tcase, 60);
	tcase_add_test(tcase, copied_rows);
	tcase_add_test(tcase, many_instructions);
	tcase_add_test(tcase, long_expressions);
	tcase_add_test(tcase, large_program);
	tcase_add_test(tcase, enough);
	tcase_add_test(tcase, large_functions);
	tcase_add_test(tcase, the_next_walk);
	suite_add_tcase(suite, tcase);
	return run_suite(suite);
}
