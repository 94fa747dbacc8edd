/* Generated code: walks through code in no file, and bytes that change. */
#include "tests/support/suite.h"
#include "tests/unwind/capture.h"
#include "unwind/generated/code.h"
#include <check.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

enum { CODE_SIZE = 2 * UW_GENERATED_LINE, INNER_AT = 512 };

static struct uw_space *space;
static struct capture sample;
static struct uw_frame frames[UW_DEPTH_MAX];
static uint8_t *code;      /* executable and writable, in no file */
static uint64_t caller_ra; /* where the generated code returns to */
static size_t reads;       /* of the target's memory */
static bool is_gone;

static size_t read_own(void *context, uint64_t address, void *bytes, size_t size)
{
	uint64_t start = (uint64_t)(uintptr_t)code;

	ck_assert_ptr_eq(context, &code);
	reads++;
	if (is_gone || address < start || address >= start + CODE_SIZE)
		return 0;
	size_t left = (size_t)(start + CODE_SIZE - address);
	memcpy(bytes, code + (address - start), left < size ? left : size);
	return left < size ? left : size;
}

static const struct uw_code_reader reader = {&code, read_own};

static void setup(void)
{
	code = mmap(NULL, CODE_SIZE, PROT_READ | PROT_WRITE | PROT_EXEC,
		    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	ck_assert_ptr_ne(code, MAP_FAILED);
	capture_at_ud2(&sample);
	space = capture_space();
	uw_space_set_reader(space, &reader);
	reads = 0;
	is_gone = false;
}

static void teardown(void)
{
	uw_space_destroy(space);
	munmap(code, CODE_SIZE);
}

/* Has call frame information, and needs its rbp back. */
void call_generated(const void *function, uint64_t *ra);
__asm__(".text\n.globl call_generated\n.type call_generated, @function\ncall_generated:\n"
	".cfi_startproc\nendbr64\npush %rbp\n.cfi_def_cfa_offset 16\n.cfi_offset rbp, -16\n"
	"mov %rsp, %rbp\n.cfi_def_cfa_register rbp\n"
	"push %rbx\n.cfi_offset rbx, -24\npush %rbx\nlea 1f(%rip), %rax\nmov %rax, (%rsi)\n"
	"call *%rdi\n1: pop %rbx\npop %rbx\npop %rbp\n.cfi_def_cfa rsp, 8\nret\n.cfi_endproc\n"
	".size call_generated, . - call_generated\n");

/* Code to copy: it is not run where it lies. */
#define CODE(name, ...)                                                           \
	__asm__(".pushsection .rodata\n" #name "_start:\n" __VA_ARGS__ "\n" #name \
		"_end:\n.popsection\n");                                          \
	extern const uint8_t name##_start[], name##_end[]

CODE(leaf, "ud2; ret");
/* As HotSpot's without -XX:+PreserveFramePointer. Words of the frame look like return addresses. */
CODE(room,
     "sub $40, %rsp; mov %rbp, 32(%rsp); mov (%rsi), %rax;"
     "mov %rax, 8(%rsp); mov %rax, (%rsp); xor %ebp, %ebp; ud2; add $32, %rsp; pop %rbp; ret");
CODE(framed, "push %rbp; mov %rsp, %rbp; sub $64, %rsp; mov (%rsi), %rax; mov %rax, (%rsp);"
	     "mov %rax, 8(%rsp); ud2; mov %rbp, %rsp; pop %rbp; ret");
CODE(prologue, "push %rbp; ud2; mov %rsp, %rbp; mov %rbp, %rsp; pop %rbp; ret");
/* The called function lies INNER_AT behind. */
CODE(outer, "sub $24, %rsp; lea outer_start + 512(%rip), %rax; call *%rax; add $24, %rsp; ret");

static void put(size_t at, const uint8_t *start, const uint8_t *end)
{
	memcpy(code + at, start, (size_t)(end - start));
}

/* Runs the code; the sample is of what comes behind its ud2. */
static void run_code(void)
{
	call_generated(code, &caller_ra);
	sample.regs.value[16] += 2;
}

static size_t walk(enum uw_stop *stop)
{
	return uw_walk(space, &sample.regs, &sample.stack, frames, UW_DEPTH_MAX, stop);
}

/* Walks the sample that the generated code took, and expects its caller at index depth. */
static void expect_caller(size_t depth)
{
	enum uw_stop stop;
	size_t count = walk(&stop);

	ck_assert_int_eq(stop, UW_STOP_ROOT);
	ck_assert_uint_gt(count, depth + 1);
	for (size_t i = 1; i <= depth; i++)
		ck_assert_uint_eq(frames[i].source, UW_SOURCE_ANALYSIS);
	ck_assert_uint_eq(frames[depth].ip, caller_ra);
	ck_assert_uint_ne(frames[depth + 1].source, UW_SOURCE_ANALYSIS);
}

static const struct {
	const uint8_t *start, *end;
} kinds[] = {
	{leaf_start, leaf_end},
	{room_start, room_end},
	{framed_start, framed_end},
	{prologue_start, prologue_end},
};

START_TEST(called_by_pointer)
{
	put(0, kinds[_i].start, kinds[_i].end);
	run_code();
	expect_caller(1);
}
END_TEST

START_TEST(two_frames)
{
	put(0, outer_start, outer_end);
	put(INNER_AT, kinds[_i].start, kinds[_i].end);
	run_code();
	expect_caller(2);
}
END_TEST

START_TEST(other_code_at_one_address)
{
	const struct timespec moment = {0, UW_GENERATED_SETTLE_NS + 50 * 1000 * 1000};
	enum uw_stop stop;

	put(0, framed_start, framed_end);
	run_code();
	expect_caller(1);
	/* The sampled instruction lies at the same address in both. */
	uint64_t start = (uint64_t)(uintptr_t)code;
	size_t at = (size_t)(sample.regs.value[16] - 2 - start);
	memset(code, 0x90, at);
	put(at, leaf_start, leaf_end);
	run_code();
	ck_assert_uint_eq(sample.regs.value[16], start + at + 2);
	/* A mapping that changes makes all lines old. */
	ck_assert_int_eq(uw_space_unmap(space, start, start + CODE_SIZE), 0);
	ck_assert_int_eq(uw_space_map(space, start, start + CODE_SIZE, 0, NULL, 99), 0);
	/* It could be a late sample of the code before. */
	ck_assert(walk(&stop) < 2 || frames[1].source != UW_SOURCE_ANALYSIS);
	nanosleep(&moment, NULL);
	expect_caller(1);
}
END_TEST

START_TEST(time_makes_old)
{
	const struct timespec moment = {0, 4 * UW_GENERATED_FRESH_NS};
	struct uw_generated *generated = uw_generated_create(&reader);
	uint64_t at = (uint64_t)(uintptr_t)code;
	uint8_t byte = 0;

	ck_assert_ptr_nonnull(generated);
	uw_generated_begin(generated);
	for (int i = 0; i < 3; i++)
		ck_assert(uw_generated_read(generated, at, &byte, 1));
	ck_assert_uint_eq(reads, 1);
	code[0] = 0xcc;
	ck_assert(uw_generated_read(generated, at, &byte, 1));
	ck_assert_uint_eq(byte, 0);
	nanosleep(&moment, NULL);
	uw_generated_begin(generated);
	ck_assert(uw_generated_read(generated, at, &byte, 1));
	ck_assert_uint_eq(byte, 0xcc);
	/* What is gone was there before. */
	is_gone = true;
	uw_generated_outdate(generated);
	ck_assert(uw_generated_read(generated, at, &byte, 1));
	ck_assert(!uw_generated_read(generated, at + CODE_SIZE, &byte, 1));
	ck_assert(!uw_generated_read(generated, at + UW_GENERATED_LINE, &byte, 1));
	uw_generated_destroy(generated);
}
END_TEST

/* Code put where none was cannot be taken for other code. */
START_TEST(code_beside_code)
{
	put(0, framed_start, framed_end);
	run_code();
	expect_caller(1);
	put(INNER_AT, room_start, room_end);
	call_generated(code + INNER_AT, &caller_ra);
	sample.regs.value[16] += 2;
	uint64_t start = (uint64_t)(uintptr_t)code;
	ck_assert_int_eq(uw_space_unmap(space, start, start + CODE_SIZE), 0);
	ck_assert_int_eq(uw_space_map(space, start, start + CODE_SIZE, 0, NULL, 99), 0);
	expect_caller(1);
}
END_TEST

START_TEST(lines_end)
{
	struct uw_generated *generated = uw_generated_create(&reader);
	uint64_t at = (uint64_t)(uintptr_t)code;
	uint8_t bytes[2 * UW_GENERATED_LINE + 1];

	ck_assert_ptr_nonnull(generated);
	uw_generated_begin(generated);
	code[UW_GENERATED_LINE - 1] = 1;
	code[UW_GENERATED_LINE] = 2;
	ck_assert(uw_generated_read(generated, at + UW_GENERATED_LINE - 1, bytes, 2));
	ck_assert(bytes[0] == 1 && bytes[1] == 2);
	ck_assert(uw_generated_read(generated, at, bytes, CODE_SIZE));
	ck_assert(!uw_generated_read(generated, at, bytes, CODE_SIZE + 1));
	ck_assert(!uw_generated_read(generated, UINT64_MAX, bytes, 2));
	uw_generated_destroy(generated);
}
END_TEST

static size_t read_anything(void *context, uint64_t address, void *bytes, size_t size)
{
	uint64_t *state = context;
	uint8_t *to = bytes;

	(void)address;
	for (size_t i = 0; i < size; i++) {
		*state = *state * UINT64_C(6364136223846793005) + 1442695040888963407;
		to[i] = (uint8_t)(*state >> 56);
	}
	return *state >> 60 == 0 ? size / 3 : size;
}

/* Bytes that are never the same: what is found above the leaf are words of the stack. */
START_TEST(bytes_change_all_the_time)
{
	uint64_t state = 15, start = (uint64_t)(uintptr_t)code;
	const struct uw_code_reader any = {&state, read_anything};
	enum uw_stop stop;

	put(0, framed_start, framed_end);
	run_code();
	uw_space_set_reader(space, &any);
	for (int i = 0; i < 2000; i++) {
		ck_assert_int_eq(uw_space_unmap(space, start, start + CODE_SIZE), 0);
		ck_assert_int_eq(uw_space_map(space, start, start + CODE_SIZE, 0, NULL, 99), 0);
		sample.regs.value[16] = start + (uint64_t)i % CODE_SIZE;
		size_t count = walk(&stop);
		ck_assert_uint_ge(count, 1);
		for (size_t k = 1; k < count; k++) {
			uint64_t word;
			ck_assert_uint_gt(frames[k].sp, frames[k - 1].sp);
			memcpy(&word, sample.bytes + (frames[k].sp - 8 - sample.stack.base), 8);
			ck_assert_uint_eq(word, frames[k].ip);
		}
	}
}
END_TEST

START_TEST(no_reader)
{
	enum uw_stop stop;

	uw_space_set_reader(space, NULL);
	put(0, room_start, room_end);
	run_code();
	ck_assert_uint_eq(walk(&stop), 1);
	ck_assert_int_eq(stop, UW_STOP_NO_INFO);
	ck_assert_uint_eq(reads, 0);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("unwind generated code");
	TCase *tcase = tcase_create("code");
	const int count = sizeof(kinds) / sizeof(kinds[0]);

	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_add_loop_test(tcase, called_by_pointer, 0, count);
	tcase_add_loop_test(tcase, two_frames, 0, count);
	tcase_add_test(tcase, other_code_at_one_address);
	tcase_add_test(tcase, time_makes_old);
	tcase_add_test(tcase, code_beside_code);
	tcase_add_test(tcase, lines_end);
	tcase_add_test(tcase, bytes_change_all_the_time);
	tcase_add_test(tcase, no_reader);
	suite_add_tcase(suite, tcase);
	return run_suite(suite);
}
