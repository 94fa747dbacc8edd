/*
 * Plain steps that have to be made once more with all registers, when their rules were too dear to
 * be kept: the walk ends there, and no frame is left out.
 */
#include "tests/support/suite.h"
#include "tests/unwind/elf_builder.h"
#include "unwind/elf/cursor.h"
#include "unwind/unwind.h"
#include <check.h>
#include <stdlib.h>
#include <string.h>

enum {
	DEAR = 30, /* functions with plain frames of 32 bytes */
	ROW,       /* one whose rules are unusual; frames of 1040 bytes, rbp saved below the CFA */
	ROOT,      /* one whose return address is undefined */
	CALLER,    /* one with frames of 16 bytes */
	FUNCTIONS,
	NOPS = 20000, /* instructions of a dear function's program */
	FUNCTION_SIZE = 0x1000,
	FRAME_SIZE = 1024 * 1024
};

#define LOAD UINT64_C(0x400000)
#define BASE UINT64_C(0x7ffc00000000)

static struct elf_builder builder;

static void put_fde(size_t cie, int function, const uint8_t *code, size_t size, size_t nops)
{
	static const uint8_t nop[NOPS]; /* DW_CFA_nop is 0 */
	size_t fde = elf_builder_begin_fde(&builder, cie, UW_PE_ABSPTR,
					   (size_t)function * FUNCTION_SIZE, FUNCTION_SIZE);

	elf_builder_put(&builder, "", 1); /* no augmentation */
	elf_builder_put(&builder, code, size);
	elf_builder_put(&builder, nop, nops);
	elf_builder_end(&builder, fde);
}

static struct uw_module *make_module(void)
{
	static const uint8_t rest[] = {1, 'z', 0, 1, 0x78, 16, 0, 0x0c, 7, 8, 0x90, 1};

	elf_builder_init(&builder, UW_ARCH_X86_64, FUNCTIONS * FUNCTION_SIZE, FRAME_SIZE);
	size_t cie = elf_builder_begin_cie(&builder);
	elf_builder_put(&builder, rest, sizeof(rest));
	elf_builder_end(&builder, cie);
	for (int i = 0; i < DEAR; i++)
		put_fde(cie, i, (const uint8_t[]){0x0e, 32}, 2, NOPS);
	put_fde(cie, ROW, (const uint8_t[]){0x0e, 0x90, 8, 0x86, 127}, 5, 0);
	put_fde(cie, ROOT, (const uint8_t[]){0x07, 16}, 2, 0);
	put_fde(cie, CALLER, (const uint8_t[]){0x0e, 16}, 2, 0);
	return elf_builder_module(&builder);
}

static uint64_t in_function(int function)
{
	return LOAD + ELF_BUILDER_CODE + (uint64_t)function * FUNCTION_SIZE + 0x100;
}

static int function_of(const struct uw_frame *frame)
{
	return (int)((frame->rva - ELF_BUILDER_CODE) / FUNCTION_SIZE);
}

static struct uw_frame frames[UW_DEPTH_MAX];
static size_t frame_count;

static enum uw_stop walk(struct uw_space *space, int leaf, const uint64_t *words, size_t size)
{
	struct uw_regs regs = {.value = {[7] = BASE, [16] = in_function(leaf)}};
	struct uw_stack stack = {.base = BASE,
				 .bytes = (const uint8_t *)words,
				 .size = size,
				 .requested = size};
	enum uw_stop stop;

	frame_count = uw_walk(space, &regs, &stack, frames, UW_DEPTH_MAX, &stop);
	return stop;
}

/* A stack of `dear` dear frames, then ROW, CALLER and ROOT. Each dear frame holds ROOT's address
 * where a walk that is a frame behind would look for ROW's return address. */
static void fill(uint64_t words[static 512], int dear)
{
	size_t at = 0;

	memset(words, 0, 512 * sizeof(*words));
	for (int i = 0; i < dear; i++, at += 4) {
		words[at + 1] = in_function(ROOT);
		words[at + 3] = in_function(i + 1 < dear ? i + 1 : ROW);
	}
	words[at + 125] = in_function(ROOT);
	words[at + 129] = in_function(CALLER);
	words[at + 131] = in_function(ROOT);
}

START_TEST(no_frame_is_left_out)
{
	static uint64_t words[512], first[400];
	struct uw_module *module = make_module();
	bool whole = false, cut = false;

	first[129] = in_function(ROW);
	first[259] = in_function(ROOT);
	for (int dear = 1; dear < DEAR - 1; dear++) {
		struct uw_space *space = uw_space_create(UW_ARCH_X86_64);
		ck_assert_int_eq(uw_space_map(space, LOAD, LOAD + builder.size, 0, module, 1), 0);
		/* The rules of ROW and ROOT are known from here on. */
		ck_assert_int_eq(walk(space, ROW, first, sizeof(first)), UW_STOP_ROOT);
		fill(words, dear);
		if (walk(space, 0, words, sizeof(words)) == UW_STOP_ROOT) {
			whole = true;
			ck_assert_uint_eq(frame_count, dear + 3);
			ck_assert_int_eq(function_of(&frames[dear + 1]), CALLER);
		} else {
			cut = true;
		}
		for (size_t i = 0; i < frame_count && i < (size_t)dear; i++)
			ck_assert_int_eq(function_of(&frames[i]), i);
		uw_space_destroy(space);
	}
	/* Both were seen: the walk's budget lies between. */
	ck_assert(whole && cut);
	uw_module_unref(module);
	elf_builder_finish(&builder);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("unwind settle");
	TCase *tests = tcase_create("settle");

	tcase_set_timeout(tests, 60);
	tcase_add_test(tests, no_frame_is_left_out);
	suite_add_tcase(suite, tests);
	return run_suite(suite);
}
