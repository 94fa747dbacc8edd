/*
 * Plain steps that have to be made once more with all registers, when their rules were too dear to
 * be kept: the walk ends there, and no frame is left out.
 */
#include "unwind/unwind.h"

#include <check.h>
#include <elf.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

enum {
	DEAR = 30, /* functions with plain frames of 32 bytes */
	ROW,       /* one whose rules are unusual; frames of 1040 bytes, rbp saved below the CFA */
	ROOT,      /* one whose return address is undefined */
	CALLER,    /* one with frames of 16 bytes */
	FUNCTIONS,
	NOPS = 20000, /* instructions of a dear function's program */
	FUNCTION_SIZE = 0x1000
};

#define LOAD UINT64_C(0x400000)
#define BASE UINT64_C(0x7ffc00000000)

static struct file {
	Elf64_Ehdr ehdr;
	Elf64_Phdr phdr[2];
	uint8_t hdr[8];
	uint8_t code[FUNCTIONS][FUNCTION_SIZE];
	uint8_t frame[1024 * 1024];
} file;

static size_t used; /* of file.frame */

static void put(const void *bytes, size_t size)
{
	ck_assert_uint_le(used + size, sizeof(file.frame));
	memcpy(file.frame + used, bytes, size);
	used += size;
}

static void put_u32(uint32_t value)
{
	put(&value, sizeof(value));
}

static void end_record(size_t start)
{
	uint32_t length;

	used = (used + 7) & ~(size_t)7;
	length = (uint32_t)(used - start - 4);
	memcpy(file.frame + start, &length, sizeof(length));
}

static void put_fde(int function, const uint8_t *code, size_t size, size_t nops)
{
	uint64_t range[] = {offsetof(struct file, code) + (uint64_t)function * FUNCTION_SIZE,
			    FUNCTION_SIZE};
	size_t start = used;

	put_u32(0);
	put_u32((uint32_t)(start + 4)); /* back to the CIE */
	put(range, sizeof(range));
	put("", 1); /* no augmentation */
	put(code, size);
	used += nops; /* DW_CFA_nop is 0 */
	end_record(start);
}

static struct uw_module *make_module(void)
{
	static const uint8_t cie[] = {1, 'z', 0, 1, 0x78, 16, 0, 0x0c, 7, 8, 0x90, 1};
	uint32_t to_frame =
		(uint32_t)(offsetof(struct file, frame) - offsetof(struct file, hdr) - 4);
	struct uw_module *module;

	memcpy(file.ehdr.e_ident, ELFMAG, SELFMAG);
	file.ehdr.e_ident[EI_CLASS] = ELFCLASS64;
	file.ehdr.e_ident[EI_DATA] = ELFDATA2LSB;
	file.ehdr.e_machine = EM_X86_64;
	file.ehdr.e_phoff = offsetof(struct file, phdr);
	file.ehdr.e_phnum = 2;
	file.ehdr.e_phentsize = sizeof(Elf64_Phdr);
	file.phdr[0] =
		(Elf64_Phdr){.p_type = PT_LOAD, .p_flags = PF_R | PF_X, .p_filesz = sizeof(file)};
	file.phdr[1] = (Elf64_Phdr){.p_type = PT_GNU_EH_FRAME,
				    .p_offset = offsetof(struct file, hdr),
				    .p_vaddr = offsetof(struct file, hdr),
				    .p_filesz = sizeof(file.hdr)};
	/* No search table; the frame's address is relative to itself. */
	memcpy(file.hdr, (const uint8_t[]){1, 0x1b, 0xff, 0xff}, 4);
	memcpy(file.hdr + 4, &to_frame, sizeof(to_frame));
	put_u32(0);
	put_u32(0);
	put(cie, sizeof(cie));
	end_record(0);
	for (int i = 0; i < DEAR; i++)
		put_fde(i, (const uint8_t[]){0x0e, 32}, 2, NOPS);
	put_fde(ROW, (const uint8_t[]){0x0e, 0x90, 8, 0x86, 127}, 5, 0);
	put_fde(ROOT, (const uint8_t[]){0x07, 16}, 2, 0);
	put_fde(CALLER, (const uint8_t[]){0x0e, 16}, 2, 0);
	ck_assert_int_eq(uw_module_from_memory(&file, sizeof(file), &module), 0);
	return module;
}

static uint64_t in_function(int function)
{
	return LOAD + offsetof(struct file, code) + (uint64_t)function * FUNCTION_SIZE + 0x100;
}

static int function_of(const struct uw_frame *frame)
{
	return (int)((frame->rva - offsetof(struct file, code)) / FUNCTION_SIZE);
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
	struct uw_space *space;
	bool whole = false, cut = false;

	first[129] = in_function(ROW);
	first[259] = in_function(ROOT);
	for (int dear = 1; dear < DEAR - 1; dear++) {
		space = uw_space_create(UW_ARCH_X86_64);
		ck_assert_int_eq(uw_space_map(space, LOAD, LOAD + sizeof(file), 0, module, 1), 0);
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
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("unwind settle");
	TCase *tests = tcase_create("settle");
	SRunner *runner = srunner_create(suite);
	int failed;

	tcase_set_timeout(tests, 60);
	tcase_add_test(tests, no_frame_is_left_out);
	suite_add_tcase(suite, tests);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed > 0;
}
