/* Code without CFI, and the outermost frames that have none. */
#include "tests/support/suite.h"
#include "tests/unwind/capture.h"
#include <check.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { REG_NUM_RAX = 0, REG_NUM_RBP = 6, REG_NUM_RSP = 7, REG_NUM_RIP = 16 };

static struct uw_space *space;
static struct capture sample;
static struct uw_frame frames[UW_DEPTH_MAX];
static uint64_t caller_ra; /* where the function under test returns to */

static size_t walk(enum uw_stop *stop)
{
	return uw_walk(space, &sample.regs, &sample.stack, frames, UW_DEPTH_MAX, stop);
}

static void setup(void)
{
	capture_at_ud2(&sample);
	space = capture_space();
}

static void teardown(void)
{
	uw_space_destroy(space);
}

/* Functions without CFI: one that pushes nothing, one that does, one with a frame pointer. */
void bare_leaf(void);
void bare_pushing(void);
void bare_framed(void);
void bare_calling(void (*callee)(void));
void bare_roomy(void);
void bare_saving(void);
extern const uint8_t bare_pushing_end[], bare_framed_mov[];
__asm__(".text\n"
	".macro bare name\n"
	".globl \\name\n"
	".type \\name, @function\n"
	"\\name:\n"
	"endbr64\n"
	".endm\n"
	"bare bare_leaf\n"
	"nop\n"
	"ud2\n"
	"ret\n"
	"bare bare_pushing\n"
	"sub $24, %rsp\n"
	"movq $0, (%rsp)\n"
	"xor %eax, %eax\n"
	"xchg %rax, %rbp\n"
	"ud2\n"
	"xchg %rax, %rbp\n"
	"bare_pushing_end:\n"
	"add $24, %rsp\n"
	"ret\n"
	"bare bare_framed\n"
	"push %rbp\n"
	"bare_framed_mov:\n"
	"mov %rsp, %rbp\n"
	"push $0\n"
	"push $0\n"
	"ud2\n"
	"leave\n"
	"ret\n"
	/* What was on top of the room that it makes is a return address, in rax. */
	"bare bare_roomy\n"
	"sub $32, %rsp\n"
	"mov %rax, (%rsp)\n"
	"ud2\n"
	"add $32, %rsp\n"
	"ret\n"
	"bare bare_saving\n"
	"push %rbp\n"
	"ud2\n"
	"pop %rbp\n"
	"ret\n"
	"bare bare_calling\n"
	"push %rbp\n"
	"mov %rsp, %rbp\n"
	"call *%rdi\n"
	"pop %rbp\n"
	"ret\n");

/* Calls a function and notes where the call returns to. rbp is a valid, higher stack address, as in
 * code that was built with frame pointers. */
void call_noting(void (*function)(void), uint64_t *ra);
__asm__(".text\n"
	".globl call_noting\n"
	".type call_noting, @function\n"
	"call_noting:\n"
	".cfi_startproc\n"
	"endbr64\n"
	"push %rbp\n"
	".cfi_def_cfa_offset 16\n"
	".cfi_offset rbp, -16\n"
	"mov %rsp, %rbp\n"
	".cfi_def_cfa_register rbp\n"
	"lea 1f(%rip), %rax\n"
	"mov %rax, (%rsi)\n"
	"call *%rdi\n"
	"1: pop %rbp\n"
	".cfi_def_cfa rsp, 8\n"
	"ret\n"
	".cfi_endproc\n"
	".size call_noting, . - call_noting\n");

static void assert_complete_through(size_t index, uint64_t ra)
{
	enum uw_stop stop;
	size_t count = walk(&stop);

	ck_assert_int_eq(stop, UW_STOP_ROOT);
	ck_assert_uint_gt(count, index + 3);
	ck_assert_uint_eq(frames[index].ip, ra);
	ck_assert_uint_eq(frames[index].source, UW_SOURCE_FRAME_POINTER);
	ck_assert_uint_eq(frames[index + 1].source, UW_SOURCE_CFI);
}

START_TEST(leaf_without_cfi)
{
	call_noting(bare_leaf, &caller_ra);
	assert_complete_through(1, caller_ra);
}
END_TEST

START_TEST(frame_pointer_without_cfi)
{
	call_noting(bare_framed, &caller_ra);
	assert_complete_through(1, caller_ra);
}
END_TEST

/* An address of code on the stack is no return address where no call precedes it. */
START_TEST(function_pointer_in_the_frame)
{
	uint64_t pointer = (uintptr_t)bare_leaf;

	call_noting(bare_framed, &caller_ra);
	memcpy(sample.bytes, &pointer, sizeof(pointer));
	assert_complete_through(1, caller_ra);
}
END_TEST

/* Nothing says where the return address is: the walk must not go on. */
START_TEST(neither)
{
	enum uw_stop stop;

	call_noting(bare_pushing, &caller_ra);
	ck_assert_uint_eq(walk(&stop), 1);
	ck_assert_int_eq(stop, UW_STOP_NO_INFO);
}
END_TEST

static void assert_no_info(void)
{
	enum uw_stop stop;

	ck_assert_uint_eq(walk(&stop), 1);
	ck_assert_int_eq(stop, UW_STOP_NO_INFO);
}

/* What is on top of the stack may be a word that an older frame left there. */
START_TEST(leaf_with_room)
{
	call_noting(bare_roomy, &caller_ra);
	sample.regs.value[REG_NUM_RBP] = 0;
	assert_no_info();
}
END_TEST

/* The instruction that comes next tells where the return address is. */
START_TEST(leaf_at_its_ends)
{
	call_noting(bare_pushing, &caller_ra);
	sample.regs.value[REG_NUM_RIP] = (uintptr_t)bare_pushing_end;
	sample.regs.value[REG_NUM_RBP] = sample.regs.value[REG_NUM_RAX];
	assert_complete_through(1, caller_ra);
	sample.regs.value[REG_NUM_RIP] += 4; /* ret */
	sample.regs.value[REG_NUM_RSP] += 24;
	assert_complete_through(1, caller_ra);
	call_noting(bare_saving, &caller_ra);
	assert_no_info();
	sample.regs.value[REG_NUM_RIP] = (uintptr_t)bare_framed_mov;
	assert_complete_through(1, caller_ra);
	sample.regs.value[REG_NUM_RBP] = 0;
	assert_no_info();
}
END_TEST

/* The record is that of the caller, as a return address below it shows; and as that calls no code
 * that is without CFI, where it does not. */
START_TEST(frame_pointer_of_the_caller)
{
	uint64_t zero = 0, offset;

	call_noting(bare_saving, &caller_ra);
	assert_no_info();
	offset = sample.regs.value[REG_NUM_RSP] + 8 - sample.stack.base;
	memcpy(sample.bytes + offset, &zero, sizeof(zero));
	assert_no_info();
}
END_TEST

/* A return address on top of the stack that a direct call left there which did not lead here. */
START_TEST(leaf_with_stale_return_address)
{
	enum uw_stop stop;
	uint64_t word = 0, ra = 0;

	call_noting(bare_leaf, &caller_ra);
	sample.regs.value[REG_NUM_RBP] = 0;
	/* A direct call in this very program: the one to capture_registers above. */
	for (const uint8_t *at = (const uint8_t *)(uintptr_t)walk; ra == 0; at++) {
		int32_t displacement;

		memcpy(&displacement, at + 1, sizeof(displacement));
		if (*at == 0xe8 && displacement > -100000 && displacement < 100000)
			ra = (uintptr_t)at + 5;
	}
	memcpy(&word, sample.bytes, sizeof(word));
	ck_assert_uint_eq(word, caller_ra);
	memcpy(sample.bytes, &ra, sizeof(ra));
	ck_assert_uint_eq(walk(&stop), 1);
	ck_assert_int_eq(stop, UW_STOP_NO_INFO);
}
END_TEST

/* A return address that no call precedes. */
START_TEST(leaf_without_call)
{
	enum uw_stop stop;

	call_noting(bare_leaf, &caller_ra);
	sample.regs.value[REG_NUM_RBP] = 0;
	uint64_t ra = caller_ra - 1;
	memcpy(sample.bytes, &ra, sizeof(ra));
	ck_assert_uint_eq(walk(&stop), 1);
	ck_assert_int_eq(stop, UW_STOP_NO_INFO);
}
END_TEST

static void callee(void)
{
	CAPTURE(&sample);
}

/* push %rbp; mov %rsp, %rbp; call *%rdi; pop %rbp; ret, in anonymous memory. */
START_TEST(jit_code)
{
	static const uint8_t code[] = {0x55, 0x48, 0x89, 0xe5, 0xff, 0xd7, 0x5d, 0xc3};
	union {
		void *address;
		void (*run)(void (*)(void));
	} jit;
	enum uw_stop stop;
	size_t i;

	jit.address = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	ck_assert_ptr_ne(jit.address, MAP_FAILED);
	memcpy(jit.address, code, sizeof(code));
	ck_assert_int_eq(mprotect(jit.address, 4096, PROT_READ | PROT_EXEC), 0);
	uw_space_destroy(space);
	space = capture_space();
	jit.run(callee);
	size_t count = walk(&stop);
	ck_assert_int_eq(stop, UW_STOP_ROOT);
	for (i = 0; i < count && frames[i].ip != (uintptr_t)jit.address + 6; i++)
		;
	ck_assert_uint_lt(i + 2, count);
	ck_assert_uint_eq(frames[i].source, UW_SOURCE_CFI);
	ck_assert_uint_eq(frames[i].rva, frames[i].ip - 1);
	ck_assert_uint_eq(frames[i + 1].source, UW_SOURCE_FRAME_POINTER);
	ck_assert_uint_eq(frames[i + 2].source, UW_SOURCE_CFI);
	munmap(jit.address, 4096);
}
END_TEST

/* Generated code between push %rbp and mov %rsp, %rbp, and behind them. */
START_TEST(jit_prologue)
{
	static const uint8_t code[] = {0x55, 0x0f, 0x0b, 0x5d, 0xc3};
	static const uint8_t framed[] = {0x55, 0x48, 0x89, 0xe5, 0x0f, 0x0b, 0x5d, 0xc3};
	union {
		uint8_t *address;
		void (*run)(void);
	} jit;

	jit.address = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	ck_assert_ptr_ne(jit.address, MAP_FAILED);
	memcpy(jit.address, code, sizeof(code));
	memcpy(jit.address + 16, framed, sizeof(framed));
	ck_assert_int_eq(mprotect(jit.address, 4096, PROT_READ | PROT_EXEC), 0);
	uw_space_destroy(space);
	space = capture_space();
	call_noting(jit.run, &caller_ra);
	assert_no_info();
	jit.address += 16;
	call_noting(jit.run, &caller_ra);
	assert_complete_through(1, caller_ra);
	munmap(jit.address - 16, 4096);
}
END_TEST

/* Generated code above whose saved rbp, which is still what it was, is what looks like its caller.
 * A word that no rbp was saved below does not. */
START_TEST(jit_code_without_record)
{
	uint64_t words[8] = {0};
	enum uw_stop stop;

	ck_assert_int_eq(uw_space_map(space, 0x10000, 0x20000, 0, NULL, 99), 0);
	callee();
	sample.stack.bytes = (const uint8_t *)words;
	sample.stack.size = sizeof(words);
	sample.regs.value[REG_NUM_RIP] = 0x11000;
	sample.regs.value[REG_NUM_RSP] = sample.stack.base;
	sample.regs.value[REG_NUM_RBP] = sample.stack.base + 32;
	words[4] = sample.stack.base + 48;
	words[5] = 0x12000;
	words[7] = 0x13000;
	words[3] = 0x14000;
	ck_assert_uint_eq(walk(&stop), 2);
	words[2] = sample.stack.base + 32; /* of a caller whose frame is empty */
	ck_assert_uint_eq(walk(&stop), 2);
	words[2] = 0x14000;
	words[1] = sample.stack.base + 32;
	assert_no_info();
}
END_TEST

/* The outermost record of a thread, which C code made that called the generated code: where that
 * returns to lies below. */
START_TEST(jit_code_below_the_outermost_record)
{
	uint64_t words[8] = {0};
	enum uw_stop stop;

	ck_assert_int_eq(uw_space_map(space, 0x10000, 0x20000, 0, NULL, 99), 0);
	call_noting(bare_leaf, &caller_ra);
	sample.stack.bytes = (const uint8_t *)words;
	sample.stack.size = sizeof(words);
	sample.stack.requested = 2 * sizeof(words);
	sample.regs.value[REG_NUM_RIP] = 0x11000;
	sample.regs.value[REG_NUM_RSP] = sample.stack.base;
	sample.regs.value[REG_NUM_RBP] = sample.stack.base + 48;
	walk(&stop);
	ck_assert_int_eq(stop, UW_STOP_ROOT);
	words[2] = caller_ra;
	walk(&stop);
	ck_assert_int_eq(stop, UW_STOP_NO_INFO);
}
END_TEST

/* Words that each take a look at the code in front of them: more than a walk may take. */
START_TEST(many_return_addresses)
{
	static uint64_t words[8000];
	size_t record = 7996;
	enum uw_stop stop;

	ck_assert_int_eq(uw_space_map(space, 0x10000, 0x20000, 0, NULL, 99), 0);
	call_noting(bare_leaf, &caller_ra);
	for (size_t i = 2; i < record; i++)
		words[i] = caller_ra;
	words[record] = sample.stack.base + (record + 2) * 8;
	words[record + 1] = 0x12000;
	words[record + 3] = 0x13000;
	sample.stack.bytes = (const uint8_t *)words;
	sample.stack.size = sizeof(words);
	sample.regs.value[REG_NUM_RIP] = 0x11000;
	sample.regs.value[REG_NUM_RBP] = sample.stack.base + record * 8;
	sample.regs.value[REG_NUM_RSP] = sample.stack.base + (record - 100) * 8;
	ck_assert_uint_eq(walk(&stop), 2);
	sample.regs.value[REG_NUM_RSP] = sample.stack.base;
	ck_assert_uint_eq(walk(&stop), 1);
	ck_assert_int_eq(stop, UW_STOP_NO_INFO);
}
END_TEST

/* Two words that are in order, as far as they can be checked, and lead to nothing. */
START_TEST(jit_code_that_is_none)
{
	uint64_t words[] = {0, 0, 0, 0};
	enum uw_stop stop;

	ck_assert_int_eq(uw_space_map(space, 0x10000, 0x20000, 0, NULL, 99), 0);
	callee();
	sample.stack.bytes = (const uint8_t *)words;
	sample.stack.size = sizeof(words);
	sample.regs.value[REG_NUM_RIP] = 0x11000;
	sample.regs.value[REG_NUM_RBP] = sample.stack.base;
	words[0] = sample.stack.base + 16;
	words[1] = 0x12000;
	ck_assert_uint_eq(walk(&stop), 1);
	ck_assert_int_eq(stop, UW_STOP_NO_INFO);
	words[3] = 0x13000; /* another record, which ends the chain */
	ck_assert_uint_eq(walk(&stop), 2);
	ck_assert_int_eq(stop, UW_STOP_NO_INFO);
	words[0] = 0; /* no other one */
	ck_assert_uint_eq(walk(&stop), 1);
	ck_assert_int_eq(stop, UW_STOP_NO_INFO);
	words[0] = sample.stack.base + 24; /* another one that is beyond the copy */
	ck_assert_uint_eq(walk(&stop), 1);
	ck_assert_int_eq(stop, UW_STOP_NO_INFO);
}
END_TEST

/* A frame pointer that goes downwards, or is not aligned, is none. */
START_TEST(frame_pointer_checks)
{
	enum uw_stop stop;

	call_noting(bare_framed, &caller_ra);
	ck_assert_uint_gt(walk(&stop), 1);
	uint64_t offset = sample.regs.value[REG_NUM_RBP] - sample.stack.base;
	uint64_t down = sample.regs.value[REG_NUM_RBP];
	memcpy(sample.bytes + offset, &down, sizeof(down));
	ck_assert_uint_eq(walk(&stop), 1);
	ck_assert_int_eq(stop, UW_STOP_NO_INFO);
	sample.regs.value[REG_NUM_RBP]++;
	ck_assert_uint_eq(walk(&stop), 1);
	ck_assert_int_eq(stop, UW_STOP_NO_INFO);
	sample.regs.value[REG_NUM_RBP] = UINT64_C(0x7fff00000000);
	ck_assert_uint_eq(walk(&stop), 1);
	ck_assert_int_eq(stop, UW_STOP_NO_INFO);
}
END_TEST

/* Just after the system call in clone(): the same address in parent and child. */
START_TEST(clone_system_call)
{
	const uint8_t *at = (const uint8_t *)(uintptr_t)clone;
	enum uw_stop stop;
	uint64_t direct_ra, word = 0;

	while (at[0] != 0x0f || at[1] != 0x05)
		at++;
	call_noting(bare_leaf, &caller_ra);
	sample.regs.value[REG_NUM_RIP] = (uintptr_t)at + 2;
	sample.regs.value[REG_NUM_RAX] = 0;
	ck_assert_uint_eq(walk(&stop), 1);
	ck_assert_int_eq(stop, UW_STOP_ROOT);
	sample.regs.value[REG_NUM_RAX] = 4711;
	size_t count = walk(&stop);
	ck_assert_int_eq(stop, UW_STOP_ROOT);
	ck_assert_uint_gt(count, 3);
	ck_assert_uint_eq(frames[1].ip, caller_ra);
	/* The parent's call names the function, whose start is none of the gap: here another one.
	 */
	direct_ra = frames[2].ip;
	for (uint64_t i = 0; i + sizeof(word) <= sample.stack.size && word != direct_ra; i += 8) {
		memcpy(&word, sample.bytes + i, sizeof(word));
		sample.regs.value[REG_NUM_RSP] = sample.stack.base + i;
	}
	ck_assert_uint_eq(word, direct_ra);
	ck_assert_uint_eq(((const uint8_t *)(uintptr_t)direct_ra)[-5], 0xe8);
	ck_assert_uint_gt(walk(&stop), 1);
	ck_assert_uint_eq(frames[1].ip, direct_ra);
	/* After the gap, where the child sets up: described as the root. */
	sample.regs.value[REG_NUM_RIP] = (uintptr_t)at + 10;
	ck_assert_uint_eq(walk(&stop), 1);
	ck_assert_int_eq(stop, UW_STOP_ROOT);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("unwind conventions");
	TCase *tcase = tcase_create("conventions");

	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_add_test(tcase, leaf_without_cfi);
	tcase_add_test(tcase, frame_pointer_without_cfi);
	tcase_add_test(tcase, function_pointer_in_the_frame);
	tcase_add_test(tcase, neither);
	tcase_add_test(tcase, leaf_with_room);
	tcase_add_test(tcase, leaf_at_its_ends);
	tcase_add_test(tcase, frame_pointer_of_the_caller);
	tcase_add_test(tcase, leaf_with_stale_return_address);
	tcase_add_test(tcase, leaf_without_call);
	tcase_add_test(tcase, jit_code);
	tcase_add_test(tcase, jit_prologue);
	tcase_add_test(tcase, jit_code_without_record);
	tcase_add_test(tcase, jit_code_below_the_outermost_record);
	tcase_add_test(tcase, many_return_addresses);
	tcase_add_test(tcase, jit_code_that_is_none);
	tcase_add_test(tcase, frame_pointer_checks);
	tcase_add_test(tcase, clone_system_call);
	suite_add_tcase(suite, tcase);
	return run_suite(suite);
}
