/* Code without CFI that analysis gives rows for, and the check of the return addresses. */
#include "tests/support/suite.h"
#include "tests/unwind/capture.h"
#include <check.h>
#include <string.h>

enum { REG_NUM_RAX = 0, REG_NUM_RBX = 3, REG_NUM_RBP = 6, REG_NUM_RSP = 7, REG_NUM_RIP = 16 };

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

/* Of functions with CFI, which keep their frame in rbp, and so need it back. */
#define CALLER(name, call)                                   \
	void name(void (*function)(void), uint64_t *ra);     \
	__asm__(".text\n.globl " #name "\n.type " #name ", " \
		"@function\n" #name ":\n"                    \
		".cfi_startproc\n"                           \
		"endbr64\n"                                  \
		"push %rbp\n"                                \
		".cfi_def_cfa_offset 16\n"                   \
		".cfi_offset rbp, -16\n"                     \
		"mov %rsp, %rbp\n"                           \
		".cfi_def_cfa_register rbp\n"                \
		"push %rbx\n"                                \
		".cfi_offset rbx, -24\n"                     \
		"push %rbx\n"                                \
		"lea 1f(%rip), %rax\n"                       \
		"mov %rax, (%rsi)\n" call "\n"               \
		"1: pop %rbx\n"                              \
		"pop %rbx\n"                                 \
		"pop %rbp\n"                                 \
		".cfi_def_cfa rsp, 8\n"                      \
		"ret\n"                                      \
		".cfi_endproc\n"                             \
		".size " #name ", . - " #name "\n")

#define BARE(name, code)                                                                      \
	void name(void);                                                                      \
	__asm__(".text\n.globl " #name "\n.type " #name ", @function\n" #name ":\n" code "\n" \
		".size " #name ", . - " #name "\n")

CALLER(call_any, "call *%rdi");
CALLER(call_pushes, "call pushes");
CALLER(call_tail, "call tail");
CALLER(call_hidden, "call hidden");

/* Room on the stack, and rbx and rbp with other values. */
BARE(pushes,
     "push %rbp\npush %rbx\nsub $24, %rsp\nxor %ebx, %ebx\nxor %ebp, %ebp\nmovq $0, (%rsp)\n"
     "ud2\nadd $24, %rsp\npop %rbx\npop %rbp\nret");
BARE(tail, "push %rbx\nmov $1, %ebx\npop %rbx\njmp pushes");
BARE(outer, "push %rbp\nsub $16, %rsp\nxor %ebp, %ebp\ncall pushes\nadd $16, %rsp\npop %rbp\nret");
/* The stack pointer is a sum that nothing is known of. */
BARE(switches, "push %rbp\nxor %ebp, %ebp\nxor %edx, %edx\nmov %rsp, switches_kept(%rip)\n"
	       "lea (%rsp, %rdx), %rsp\nud2\nmov switches_kept(%rip), %rsp\npop %rbp\nret");
__asm__(".lcomm switches_kept, 8\n");
/* No symbol, and not aligned; the code before could go on. */
__asm__(".text\n.p2align 4\nnop\nnop\nnop\n"
	".local hidden\nhidden:\n"
	"push %rbp\nsub $32, %rsp\nxor %ebp, %ebp\nmovq $0, (%rsp)\nud2\nadd $32, %rsp\npop "
	"%rbp\nret\n"
	".type behind_hidden, @function\nbehind_hidden: ret\n.size behind_hidden, 1\n");

/* No symbol, and arguments that are taken from above the return address, as V8's builtins do;
 * nothing jumps there. */
__asm__(".text\n.p2align 4\n"
	".local builtin\nbuiltin:\n"
	"push %rbp\nmov %rsp, %rbp\nsub $32, %rsp\ncall pushes\nxor %ebx, %ebx\nleave\npop %rcx\n"
	"lea (%rsp, %rbx, 8), %rsp\npush %rcx\nret\n"
	".type behind_builtin, @function\nbehind_builtin: ret\n.size behind_builtin, 1\n");
extern char builtin[];
CALLER(call_behind, "call behind_builtin");

/* The samples' places: behind a push of rbp, which is not the frame pointer yet. No symbol, nor a
 * likely start; the call may not return. */
__asm__(".text\n.p2align 4\nnop\nnop\nnop\n"
	".local pushing\npushing:\n"
	"push %rbp\nud2\npop %rbp\nret\n"
	".local framing\nframing:\n"
	"push %rbp\nmov %rsp, %rbp\nsub $32, %rsp\ncall pushes\nadd $32, %rsp\npop %rbp\nret\n"
	".type behind_framing, @function\nbehind_framing: ret\n.size behind_framing, 1\n");
extern char pushing[], framing[];

static void assert_complete_through(size_t index, uint64_t ra)
{
	enum uw_stop stop;
	size_t count = walk(&stop);

	ck_assert_int_eq(stop, UW_STOP_ROOT);
	ck_assert_uint_gt(count, index + 3);
	ck_assert_uint_eq(frames[index].ip, ra);
	for (size_t i = 1; i <= index; i++)
		ck_assert_uint_eq(frames[i].source, UW_SOURCE_ANALYSIS);
	ck_assert_uint_eq(frames[index + 1].source, UW_SOURCE_CFI);
}

static void assert_no_info(void)
{
	enum uw_stop stop;

	ck_assert_uint_eq(walk(&stop), 1);
	ck_assert_int_eq(stop, UW_STOP_NO_INFO);
}

/* The word that holds the return address, and another value for it. */
static void change_return(uint64_t from, uint64_t to)
{
	uint64_t word = 0;
	size_t i = 0;

	while (word != from && i + sizeof(word) <= sample.stack.size) {
		memcpy(&word, sample.bytes + i, sizeof(word));
		i += sizeof(word);
	}
	ck_assert_uint_eq(word, from);
	memcpy(sample.bytes + i - sizeof(word), &to, sizeof(to));
}

START_TEST(called_by_pointer)
{
	call_any(pushes, &caller_ra);
	assert_complete_through(1, caller_ra);
	ck_assert_uint_eq(frames[0].rva - frames[0].function,
			  sample.regs.value[REG_NUM_RIP] - (uintptr_t)pushes);
}
END_TEST

START_TEST(called_by_name)
{
	call_pushes(NULL, &caller_ra);
	assert_complete_through(1, caller_ra);
}
END_TEST

/* Frames of return addresses too; the walk repeats with the same result. */
START_TEST(two_frames)
{
	call_any(outer, &caller_ra);
	for (int i = 0; i < 2; i++)
		assert_complete_through(2, caller_ra);
}
END_TEST

START_TEST(tail_call)
{
	call_tail(NULL, &caller_ra);
	assert_complete_through(1, caller_ra);
}
END_TEST

/* What the rules name as return address follows no call, or one that led elsewhere. */
START_TEST(return_address_is_checked)
{
	uint64_t other;

	call_any(pushes, &caller_ra);
	change_return(caller_ra, caller_ra - 1);
	assert_no_info();
	change_return(caller_ra - 1, (uintptr_t)pushes + 4);
	assert_no_info();
	uint64_t before = caller_ra;
	static struct capture kept;

	kept = sample;
	call_hidden(NULL, &other);
	ck_assert_uint_ne(other, before);
	sample = kept;
	sample.stack.bytes = sample.bytes;
	change_return((uintptr_t)pushes + 4, other);
	assert_no_info();
	change_return(other, before);
	assert_complete_through(1, before);
}
END_TEST

/* Of whole stacks: a call by a pointer, by name, and of a function that ends by a jump; and no
 * call, or one of another function. */
START_TEST(has_call)
{
	enum uw_stop stop;
	struct uw_frame wrong;

	call_any(outer, &caller_ra);
	ck_assert_uint_gt(walk(&stop), 4);
	ck_assert(uw_space_has_call(space, &frames[0], &frames[1]));
	ck_assert(uw_space_has_call(space, &frames[1], &frames[2]));
	ck_assert(!uw_space_has_call(space, &frames[1], &frames[0])); /* the leaf is exact */
	wrong = frames[0];
	wrong.function = frames[1].function;
	ck_assert(!uw_space_has_call(space, &wrong, &frames[1]));
	wrong.function = 0;
	ck_assert(!uw_space_has_call(space, &wrong, &frames[1]));
	wrong = frames[1];
	wrong.ip--;
	ck_assert(!uw_space_has_call(space, &frames[0], &wrong));
	wrong.ip = 8;
	ck_assert(!uw_space_has_call(space, &frames[0], &wrong));
	call_tail(NULL, &caller_ra);
	ck_assert_uint_gt(walk(&stop), 3);
	ck_assert(uw_space_has_call(space, &frames[0], &frames[1]));
	call_pushes(NULL, &caller_ra);
	ck_assert_uint_gt(walk(&stop), 3);
	ck_assert(uw_space_has_call(space, &frames[0], &frames[1]));
	wrong = frames[0];
	wrong.function += 1;
	ck_assert(!uw_space_has_call(space, &wrong, &frames[1]));
}
END_TEST

/* The start is known by the call alone; from then on without a search. */
START_TEST(no_symbol)
{
	struct uw_counts before, after;
	enum uw_stop stop;

	call_hidden(NULL, &caller_ra);
	assert_complete_through(1, caller_ra);
	ck_assert_uint_eq(frames[0].function, 0);
	walk(&stop);
	ck_assert_uint_ne(frames[0].function, 0);
	uw_space_counts(space, &before);
	size_t count = walk(&stop);
	uw_space_counts(space, &after);
	ck_assert_uint_eq(after.frames_by_source[UW_SOURCE_ANALYSIS],
			  before.frames_by_source[UW_SOURCE_ANALYSIS] + 1);
	ck_assert_uint_eq(after.frames_by_source[UW_SOURCE_CFI],
			  before.frames_by_source[UW_SOURCE_CFI] + count - 2);
	ck_assert_uint_eq(after.frames_by_source[UW_SOURCE_FRAME_POINTER],
			  before.frames_by_source[UW_SOURCE_FRAME_POINTER]);
}
END_TEST

static size_t read_nothing(void *context, uint64_t address, void *bytes, size_t size)
{
	(void)context;
	(void)address;
	(void)bytes;
	(void)size;
	return 0;
}

/* Only its frame pointer shows the frame, and the call must have led there: behind_builtin lies
 * behind. */
START_TEST(before_the_frame_pointer_is_set)
{
	call_any((void (*)(void))pushing, &caller_ra);
	sample.regs.value[REG_NUM_RIP] = (uintptr_t)framing + 1;
	assert_complete_through(1, caller_ra);
}
END_TEST

START_TEST(arguments_are_taken)
{
	static const struct uw_code_reader reader = {NULL, read_nothing};

	uw_space_set_reader(space, &reader);
	call_any((void (*)(void))(uintptr_t)builtin, &caller_ra);
	assert_complete_through(2, caller_ra);
	uint64_t other;
	enum uw_stop stop;

	call_behind(NULL, &other);
	change_return(caller_ra, other);
	ck_assert_uint_eq(walk(&stop), 2);
	ck_assert_int_eq(stop, UW_STOP_NO_INFO);
}
END_TEST

START_TEST(computed_stack_pointer)
{
	call_any(switches, &caller_ra);
	assert_no_info();
}
END_TEST

/* A history takes analysed frames over, as long as their words are the same. */
START_TEST(reuse)
{
	struct uw_history *history = uw_history_create();
	struct uw_counts counts;
	enum uw_stop stop;
	size_t reused, count = 0;

	ck_assert_ptr_nonnull(history);
	call_any(outer, &caller_ra);
	for (int i = 0; i < 2; i++)
		count = uw_walk_reuse(space, history, &sample.regs, &sample.stack, frames,
				      UW_DEPTH_MAX, &stop, &reused);
	ck_assert_int_eq(stop, UW_STOP_ROOT);
	ck_assert_uint_eq(reused, count - 2);
	ck_assert_uint_eq(frames[2].source, UW_SOURCE_ANALYSIS);
	uw_space_counts(space, &counts);
	ck_assert_uint_eq(counts.frames_by_source[UW_SOURCE_ANALYSIS], 4);
	ck_assert_uint_eq(counts.frames, 2 * count);
	change_return(caller_ra, caller_ra - 1);
	ck_assert_uint_eq(uw_walk_reuse(space, history, &sample.regs, &sample.stack, frames,
					UW_DEPTH_MAX, &stop, &reused),
			  2);
	ck_assert_int_eq(stop, UW_STOP_NO_INFO);
	uw_history_destroy(history);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("unwind analysed");
	TCase *tcase = tcase_create("steps");

	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_add_test(tcase, called_by_pointer);
	tcase_add_test(tcase, called_by_name);
	tcase_add_test(tcase, two_frames);
	tcase_add_test(tcase, tail_call);
	tcase_add_test(tcase, return_address_is_checked);
	tcase_add_test(tcase, has_call);
	tcase_add_test(tcase, no_symbol);
	tcase_add_test(tcase, before_the_frame_pointer_is_set);
	tcase_add_test(tcase, arguments_are_taken);
	tcase_add_test(tcase, computed_stack_pointer);
	tcase_add_test(tcase, reuse);
	suite_add_tcase(suite, tcase);
	return run_suite(suite);
}
