/* Signal frames: same stack, alternate stacks, nesting, and a restorer without CFI. */
#include "tests/support/suite.h"
#include "tests/unwind/capture.h"
#include <check.h>
#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { ALTERNATE_SIZE = 32 * 1024, REG_NUM_RIP = 16, REG_NUM_RSP = 7 };

static struct uw_space *space;
static struct capture sample;
static struct uw_frame frames[UW_DEPTH_MAX];
static struct uw_regs interrupted;

/* A function of known shape that is interrupted at a known instruction. */
void fault(void);
extern const char fault_at[];
__asm__(".text\n"
	".globl fault, fault_at\n"
	".type fault, @function\n"
	"fault:\n"
	".cfi_startproc\n"
	"endbr64\n"
	"push %rbx\n"
	".cfi_adjust_cfa_offset 8\n"
	".cfi_offset rbx, -16\n"
	"mov $1, %ebx\n"
	"fault_at:\n"
	"ud2\n"
	"pop %rbx\n"
	".cfi_adjust_cfa_offset -8\n"
	"ret\n"
	".cfi_endproc\n"
	".size fault, . - fault\n");

static void step_over(ucontext_t *context)
{
	context->uc_mcontext.gregs[REG_RIP] += 2; /* ud2 */
}

static void on_fault(int signal, siginfo_t *info, void *context)
{
	(void)signal;
	(void)info;
	capture_context(&interrupted, context);
	CAPTURE(&sample);
	step_over(context);
}

static void handle(void (*handler)(int, siginfo_t *, void *), int signal, int flags)
{
	struct sigaction action = {.sa_sigaction = handler, .sa_flags = SA_SIGINFO | flags};

	ck_assert_int_eq(sigaction(signal, &action, NULL), 0);
}

static size_t walk(enum uw_stop *stop)
{
	return uw_walk(space, &sample.regs, &sample.stack, frames, UW_DEPTH_MAX, stop);
}

/* The index of the frame that fault() was interrupted in. */
static size_t find_interrupted(size_t count)
{
	size_t i = 0;

	while (i < count && frames[i].ip != (uintptr_t)fault_at)
		i++;
	ck_assert_uint_lt(i, count);
	return i;
}

static void assert_interrupted(size_t i)
{
	ck_assert(frames[i].exact);
	ck_assert_uint_eq(frames[i].sp, interrupted.value[REG_NUM_RSP]);
	/* The stub that the handler returns to is a frame of its own. */
	ck_assert_uint_ge(i, 2);
	ck_assert(!frames[i - 1].exact);
	/* It is returned to at its first byte, where its symbol is. */
	uint32_t tag;
	uint64_t rva;
	ck_assert(uw_space_find(space, frames[i - 1].ip, &tag, &rva));
	ck_assert_uint_eq(frames[i - 1].rva, rva);
	ck_assert(uw_space_find(space, frames[i - 2].ip, &tag, &rva));
	ck_assert_uint_eq(frames[i - 2].rva, frames[i - 2].exact ? rva : rva - 1);
}

static void setup(void)
{
	space = capture_space();
}

static void teardown(void)
{
	uw_space_destroy(space);
}

START_TEST(same_stack)
{
	enum uw_stop stop;

	handle(on_fault, SIGILL, 0);
	fault();
	size_t count = walk(&stop);
	ck_assert_int_eq(stop, UW_STOP_ROOT);
	size_t i = find_interrupted(count);
	assert_interrupted(i);
	ck_assert_uint_gt(count, i + 2);
	ck_assert(!frames[i + 1].exact);
}
END_TEST

/* Runs fault() with its handler on the given stack. */
static void fault_on(void *stack, void (*handler)(int, siginfo_t *, void *))
{
	stack_t alternate = {.ss_sp = stack, .ss_size = ALTERNATE_SIZE};
	stack_t none = {.ss_flags = SS_DISABLE};

	ck_assert_int_eq(sigaltstack(&alternate, NULL), 0);
	handle(handler, SIGILL, SA_ONSTACK);
	fault();
	ck_assert_int_eq(sigaltstack(&none, NULL), 0);
}

START_TEST(alternate_stack_elsewhere)
{
	void *stack = mmap(NULL, ALTERNATE_SIZE, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	enum uw_stop stop;

	ck_assert_ptr_ne(stack, MAP_FAILED);
	fault_on(stack, on_fault);
	size_t count = walk(&stop);
	ck_assert_int_eq(stop, UW_STOP_OTHER_STACK);
	size_t i = find_interrupted(count);
	assert_interrupted(i);
	ck_assert_uint_eq(count, i + 1);
	munmap(stack, ALTERNATE_SIZE);
}
END_TEST

static struct capture outer;

/* Copies the interrupted stack, too, while it lasts. */
static void on_fault_apart(int signal, siginfo_t *info, void *context)
{
	on_fault(signal, info, context);
	outer.regs = interrupted;
	capture_stack(&outer, CAPTURE_STACK_MAX);
	sample.stack.outer = &outer.stack;
}

START_TEST(alternate_stack_and_the_other)
{
	uint8_t *stack = mmap(NULL, ALTERNATE_SIZE, PROT_READ | PROT_WRITE,
			      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	enum uw_stop stop;

	ck_assert_ptr_ne(stack, MAP_FAILED);
	fault_on(stack, on_fault_apart);
	size_t count = walk(&stop);
	size_t i = find_interrupted(count);
	assert_interrupted(i);
	/* Into the function that faulted, and on. */
	ck_assert_uint_gt(count, i + 3);
	ck_assert(!frames[i + 1].exact);
	ck_assert_uint_gt(frames[i + 1].sp, frames[i].sp);
	ck_assert_int_eq(stop, UW_STOP_ROOT);
	/* A copy of the other stack that does not hold the interrupted frame is of no use. */
	outer.stack.base += CAPTURE_STACK_MAX;
	ck_assert_uint_eq(walk(&stop), i + 1);
	ck_assert_int_eq(stop, UW_STOP_OTHER_STACK);
	munmap(stack, ALTERNATE_SIZE);
}
END_TEST

/* The alternate stack lies below the interrupted frames on the same stack: the copy has both. */
static __attribute__((noinline)) void fault_below(void)
{
	char *below = __builtin_frame_address(0);

	fault_on(below - 2 * ALTERNATE_SIZE, on_fault);
}

START_TEST(alternate_stack_within_the_copy)
{
	volatile char touch[3 * ALTERNATE_SIZE];
	enum uw_stop stop;

	touch[0] = 0;
	(void)touch[0];
	fault_below();
	size_t count = walk(&stop);
	ck_assert_int_eq(stop, UW_STOP_ROOT);
	size_t i = find_interrupted(count);
	assert_interrupted(i);
	ck_assert_uint_gt(frames[i].sp - frames[i - 1].sp, ALTERNATE_SIZE / 2);
	ck_assert_uint_gt(count, i + 3);
}
END_TEST

static void on_outer(int signal, siginfo_t *info, void *context)
{
	(void)signal;
	(void)info;
	(void)context;
	fault();
}

START_TEST(nested)
{
	enum uw_stop stop;
	size_t count, exact = 0;

	handle(on_fault, SIGILL, 0);
	handle(on_outer, SIGUSR1, 0);
	raise(SIGUSR1);
	count = walk(&stop);
	ck_assert_int_eq(stop, UW_STOP_ROOT);
	assert_interrupted(find_interrupted(count));
	for (size_t i = 0; i < count; i++)
		exact += frames[i].exact;
	ck_assert_uint_eq(exact, 3); /* the leaf, fault(), raise()'s system call */
}
END_TEST

/* As musl has it: no CFI, directly after an unrelated function that has. */
void bare_restorer(void);
__asm__(".text\n"
	".cfi_startproc\n"
	"push %rbp\n"
	".cfi_def_cfa_offset 1024\n"
	"nop\n"
	".cfi_endproc\n"
	".globl bare_restorer\n"
	".type bare_restorer, @function\n"
	"bare_restorer:\n"
	"mov $15, %rax\n"
	"syscall\n"
	".size bare_restorer, . - bare_restorer\n");

START_TEST(restorer_without_cfi)
{
	/* struct kernel_sigaction of rt_sigaction(2) on x86-64. */
	struct {
		void (*handler)(int, siginfo_t *, void *);
		unsigned long flags;
		void (*restorer)(void);
		unsigned long mask;
	} action = {on_fault, SA_SIGINFO | 0x04000000, bare_restorer, 0};
	enum uw_stop stop;

	ck_assert_int_eq(syscall(SYS_rt_sigaction, SIGILL, &action, NULL, 8), 0);
	fault();
	size_t count = walk(&stop);
	ck_assert_int_eq(stop, UW_STOP_ROOT);
	size_t i = find_interrupted(count);
	assert_interrupted(i);
	ck_assert_uint_eq(frames[i - 1].ip, (uintptr_t)bare_restorer);
}
END_TEST

/* A sample inside the stub, as it is about to enter the kernel. */
START_TEST(leaf_in_restorer)
{
	enum uw_stop stop;
	struct uw_stack stack;

	handle(on_fault, SIGILL, 0);
	fault();
	size_t count = walk(&stop);
	size_t i = find_interrupted(count);
	struct uw_regs regs = sample.regs;
	regs.value[REG_NUM_RIP] = frames[i - 1].ip + 7;
	regs.value[REG_NUM_RSP] = frames[i - 1].sp;
	stack.base = frames[i - 1].sp;
	stack.bytes = sample.bytes + (stack.base - sample.stack.base);
	stack.size = stack.requested = sample.stack.size - (stack.base - sample.stack.base);
	size_t restored = count - i;
	count = uw_walk(space, &regs, &stack, frames, UW_DEPTH_MAX, &stop);
	ck_assert_int_eq(stop, UW_STOP_ROOT);
	ck_assert_uint_eq(count, restored + 1);
	ck_assert_uint_eq(frames[1].ip, (uintptr_t)fault_at);
	ck_assert(frames[1].exact);
}
END_TEST

/* A call to nowhere: the interrupted frame is in no mapping. Above it the call is known where it
 * was to null. */
static sigjmp_buf back;

static void on_wild_jump(int signal, siginfo_t *info, void *context)
{
	(void)signal;
	(void)info;
	capture_context(&interrupted, context);
	CAPTURE(&sample);
	siglongjmp(back, 1);
}

START_TEST(interrupted_nowhere)
{
	void (*volatile nowhere)(void) = (void (*)(void))((uintptr_t)_i * 65536);
	enum uw_stop stop;

	handle(on_wild_jump, SIGSEGV, 0);
	if (sigsetjmp(back, 1) == 0)
		nowhere();
	size_t count = walk(&stop);
	ck_assert_int_eq(stop, _i == 0 ? UW_STOP_ROOT : UW_STOP_NO_INFO);
	ck_assert_uint_ge(count, 3);
	ck_assert_int_eq(count == 3, _i != 0);
	ck_assert_uint_eq(frames[2].ip, (uint64_t)_i * 65536);
	ck_assert(frames[2].exact);
	ck_assert_uint_eq(frames[2].tag, UW_TAG_NONE);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("unwind signals");
	TCase *tcase = tcase_create("signals");

	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_add_test(tcase, same_stack);
	tcase_add_test(tcase, alternate_stack_elsewhere);
	tcase_add_test(tcase, alternate_stack_and_the_other);
	tcase_add_test(tcase, nested);
	tcase_add_test(tcase, restorer_without_cfi);
	tcase_add_test(tcase, leaf_in_restorer);
	if (!capture_under_valgrind()) {
		tcase_add_test(tcase, alternate_stack_within_the_copy);
		tcase_add_loop_test(tcase, interrupted_nowhere, 0, 2);
	}
	suite_add_tcase(suite, tcase);
	return run_suite(suite);
}
