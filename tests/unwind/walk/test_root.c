/* What may be called the root of a stack: only what the stack does not contradict. */
#include "tests/support/suite.h"
#include "tests/unwind/capture.h"
#include <check.h>
#include <elf.h>
#include <link.h>
#include <string.h>
#include <sys/auxv.h>

enum { REG_NUM_RBP = 6, REG_NUM_RSP = 7, REG_NUM_RIP = 16, WORDS = 1024 };

static struct uw_space *space;
static struct capture sample;
static struct uw_frame frames[UW_DEPTH_MAX];

/* A stack that is made up. */
static const uint64_t base = UINT64_C(0x7ffc00000000);
static uint64_t words[WORDS];
static struct uw_stack stack;
static struct uw_regs regs;

static size_t walk(enum uw_stop *stop)
{
	return uw_walk(space, &sample.regs, &sample.stack, frames, UW_DEPTH_MAX, stop);
}

static enum uw_stop walk_made(void)
{
	enum uw_stop stop;

	uw_walk(space, &regs, &stack, frames, UW_DEPTH_MAX, &stop);
	return stop;
}

static void setup(void)
{
	capture_at_ud2(&sample);
	space = capture_space();
	memset(words, 0, sizeof(words));
	memset(&regs, 0, sizeof(regs));
	regs.value[REG_NUM_RSP] = base;
	stack = (struct uw_stack){.base = base,
				  .bytes = (const uint8_t *)words,
				  .size = 64,
				  .requested = sizeof(words)};
}

static void teardown(void)
{
	uw_space_destroy(space);
}

#define FAR_CFA(name, cfi)                               \
	".type " name ", @function\n" name ":\n"         \
	".cfi_startproc\n" cfi ".cfi_offset %rbp, -16\n" \
	"ud2\n"                                          \
	"ret\n"                                          \
	".cfi_endproc\n"                                 \
	".size " name ", . - " name "\n"

/* Without CFI: a register that points to zeros is no frame pointer. With CFI that leaves a push
 * out: the zero is no return address. */
void bare_zeros(void);
void undescribed(void);
void red_zone(void);
void far_plain(void);
void far_saved(void);
void far_expression(void);
void ra_value(void);
void ra_place(void);
extern const char returning[];
__asm__(".text\n"
	".globl bare_zeros, undescribed, returning, red_zone, far_plain, far_saved\n"
	".globl far_expression, ra_value, ra_place\n"
	".type bare_zeros, @function\n"
	"bare_zeros:\n"
	"endbr64\n"
	"push %rbp\n"
	"push $0\n"
	"push $0\n"
	"mov %rsp, %rbp\n"
	"push $0\n"
	"ud2\n"
	"add $24, %rsp\n"
	"pop %rbp\n"
	"ret\n"
	".type undescribed, @function\n"
	"undescribed:\n"
	".cfi_startproc\n"
	"endbr64\n"
	"push $0\n"
	"ud2\n"
	"pop %rax\n"
	"returning: ret\n"
	".cfi_endproc\n"
	".size undescribed, . - undescribed\n"
	/* Its CFA is the word below its stack pointer, and 8. */
	".type red_zone, @function\n"
	"red_zone:\n"
	".cfi_startproc\n"
	".cfi_escape 0x0f, 5, 0x77, 0x78, 0x06, 0x23, 8\n"
	"mov %rsp, -8(%rsp)\n"
	"ud2\n"
	"ret\n"
	".cfi_endproc\n"
	".size red_zone, . - red_zone\n"
	/* Their CFA is the frame pointer, and 16: as plain code, with another register saved, and
	 * by expression. */
	FAR_CFA("far_plain", ".cfi_def_cfa %rbp, 16\n")
		FAR_CFA("far_saved", ".cfi_def_cfa %rbp, 16\n.cfi_offset %rbx, -24\n")
			FAR_CFA("far_expression", ".cfi_escape 0x0f, 2, 0x76, 16\n")
	/* Their return address is what an expression gives, and what lies where it says: the
	 * second word of the stack. */
	".type ra_value, @function\n"
	"ra_value:\n"
	".cfi_startproc\n"
	".cfi_escape 0x16, 16, 3, 0x77, 8, 0x06\n"
	"ud2\n"
	"ret\n"
	".cfi_endproc\n"
	".size ra_value, . - ra_value\n"
	".type ra_place, @function\n"
	"ra_place:\n"
	".cfi_startproc\n"
	".cfi_escape 0x10, 16, 2, 0x77, 8\n"
	"ud2\n"
	"ret\n"
	".cfi_endproc\n"
	".size ra_place, . - ra_place\n");

START_TEST(register_to_zeros)
{
	enum uw_stop stop;

	bare_zeros();
	ck_assert_uint_eq(walk(&stop), 1);
	ck_assert_int_eq(stop, UW_STOP_NO_INFO);
	/* Nor where all that was copied is zeros. */
	sample.stack.size = 40;
	sample.stack.requested = 40;
	ck_assert_uint_eq(walk(&stop), 1);
	ck_assert_int_eq(stop, UW_STOP_NO_INFO);
}
END_TEST

START_TEST(undescribed_push)
{
	struct uw_history *history = uw_history_create();
	enum uw_stop stop;
	size_t reused;

	undescribed();
	ck_assert_uint_eq(walk(&stop), 1);
	ck_assert_int_eq(stop, UW_STOP_BAD_INFO);
	for (int i = 0; i < 2; i++) {
		ck_assert_uint_eq(uw_walk_reuse(space, history, &sample.regs, &sample.stack, frames,
						UW_DEPTH_MAX, &stop, &reused),
				  1);
		ck_assert_int_eq(stop, UW_STOP_BAD_INFO);
		ck_assert_uint_eq(reused, 0);
	}
	sample.stack.size = sample.stack.requested = 8;
	walk(&stop);
	ck_assert_int_eq(stop, UW_STOP_NO_INFO);
	uw_history_destroy(history);
}
END_TEST

/* The stack of a coroutine: its first function was given a zero to return to. */
START_TEST(coroutine)
{
	regs.value[REG_NUM_RIP] = (uintptr_t)returning;
	ck_assert_int_eq(walk_made(), UW_STOP_ROOT);
	stack.requested = stack.size; /* what is above was not copied */
	ck_assert_int_eq(walk_made(), UW_STOP_NO_INFO);
	stack.ends = true; /* nothing is above */
	ck_assert_int_eq(walk_made(), UW_STOP_ROOT);
	words[7] = (uintptr_t)returning + 1; /* no call precedes it */
	ck_assert_int_eq(walk_made(), UW_STOP_ROOT);
	memset(words, 0, sizeof(words));
	stack.size = stack.requested = sizeof(words); /* too far from the top */
	ck_assert_int_eq(walk_made(), UW_STOP_NO_INFO);
}
END_TEST

/* What is remembered of a stack does not outlast what proved its root. */
START_TEST(coroutine_with_history)
{
	struct uw_history *history = uw_history_create();
	enum uw_stop stop;
	size_t reused;

	undescribed(); /* for an address that a call precedes */
	regs.value[REG_NUM_RIP] = (uintptr_t)returning;
	words[0] = words[1] = (uintptr_t)returning + 1; /* two callers, and a zero */
	for (size_t i = 0; i < 3; i++) {
		uw_walk_reuse(space, history, &regs, &stack, frames, UW_DEPTH_MAX, &stop, &reused);
		ck_assert_int_eq(stop, UW_STOP_ROOT);
		ck_assert_uint_eq(reused, i > 0);
	}
	memcpy(&words[4], sample.bytes + 8, sizeof(words[4]));
	uw_walk_reuse(space, history, &regs, &stack, frames, UW_DEPTH_MAX, &stop, &reused);
	ck_assert_int_eq(stop, UW_STOP_BAD_INFO);
	uw_history_destroy(history);
}
END_TEST

static ucontext_t outside, inside;

static void run_inside(void)
{
	CAPTURE(&sample);
	swapcontext(&inside, &outside);
}

static void run_context(void)
{
	static char room[64 * 1024] __attribute__((aligned(16)));

	ck_assert_int_eq(getcontext(&inside), 0);
	inside.uc_stack = (stack_t){.ss_sp = room, .ss_size = sizeof(room)};
	inside.uc_link = &outside;
	makecontext(&inside, run_inside, 0);
	ck_assert_int_eq(swapcontext(&outside, &inside), 0);
}

/* Its return address is in code that says nothing of where it came from. */
START_TEST(context)
{
	enum uw_stop stop;

	run_context();
	ck_assert_uint_eq(walk(&stop), 2);
	ck_assert_int_eq(stop, UW_STOP_ROOT);
}
END_TEST

/* Steps by frame pointer ask that the saved one is in order, which nobody further out may need. */
START_TEST(records_with_history)
{
	struct uw_history *history = uw_history_create();
	enum uw_stop stop;
	size_t reused;

	run_context();
	ck_assert_uint_eq(walk(&stop), 2);
	ck_assert_int_eq(uw_space_map(space, 0x10000, 0x20000, 0, NULL, 99), 0);
	regs.value[REG_NUM_RIP] = (uintptr_t)returning;
	regs.value[REG_NUM_RBP] = base + 16;
	words[0] = 0x11000;
	words[2] = base + 48;
	words[3] = 0x12000;
	words[7] = frames[1].ip;
	for (size_t i = 0; i < 3; i++) {
		words[6] = i < 2 ? 0 : base;
		uw_walk_reuse(space, history, &regs, &stack, frames, UW_DEPTH_MAX, &stop, &reused);
		ck_assert_int_eq(stop, i < 2 ? UW_STOP_ROOT : UW_STOP_NO_INFO);
		ck_assert_uint_eq(reused, i == 1 ? 2 : 0);
	}
	uw_history_destroy(history);
}
END_TEST

static uint64_t loader_entry(void)
{
	uint64_t at = getauxval(AT_BASE);
	const ElfW(Ehdr) * ehdr;

	memcpy(&ehdr, &at, sizeof(ehdr));
	return at + ehdr->e_entry;
}

/* Two arguments above what the code pushed. */
static void put_arguments(size_t at)
{
	memset(words, 0, sizeof(words));
	words[at] = 2;
	words[at + 1] = base + 4096;
	words[at + 2] = base + 4100;
}

/* The dynamic loader starts without CFI, on a stack that only has what the kernel put there. */
START_TEST(entry)
{
	for (uint64_t skipped = 0; skipped <= 3; skipped += 3) {
		regs.value[REG_NUM_RIP] = loader_entry() + skipped;
		put_arguments(0);
		ck_assert_int_eq(walk_made(), UW_STOP_ROOT);
		put_arguments(4);
		ck_assert_int_eq(walk_made(), UW_STOP_ROOT);
	}
}
END_TEST

/* Code that lies next to an entry point, where the stack shows that it was called. */
START_TEST(entry_that_was_called)
{
	regs.value[REG_NUM_RIP] = loader_entry();
	ck_assert_int_eq(walk_made(), UW_STOP_NO_INFO);
	put_arguments(0);
	words[3] = 1; /* after the last one */
	ck_assert_int_eq(walk_made(), UW_STOP_NO_INFO);
	put_arguments(0);
	words[2] = base + 4095; /* out of order */
	ck_assert_int_eq(walk_made(), UW_STOP_NO_INFO);
	put_arguments(0);
	words[0] = 0;
	ck_assert_int_eq(walk_made(), UW_STOP_NO_INFO);
	put_arguments(0);
	stack.size = 16;
	ck_assert_int_eq(walk_made(), UW_STOP_NO_INFO);
	stack.size = 64;
	undescribed();
	put_arguments(4);
	memcpy(&words[3], sample.bytes + 8, sizeof(words[3])); /* a return address */
	ck_assert_int_eq(walk_made(), UW_STOP_NO_INFO);
}
END_TEST

/* A walk that leaves the stack says whether a larger copy would help. */
START_TEST(beyond_the_copy)
{
	enum uw_stop stop;

	undescribed();
	/* Its CFA is where the stack pointer is, and a word; nothing of the stack was copied. */
	size_t size = sample.stack.size;
	sample.stack.size = 0;
	walk(&stop);
	ck_assert_int_eq(stop, UW_STOP_NOT_RESIDENT);
	sample.stack.size = size;
	sample.regs.value[REG_NUM_RSP] += sample.stack.size;
	sample.stack.ends = true;
	walk(&stop);
	ck_assert_int_eq(stop, UW_STOP_BAD_INFO);
	sample.stack.ends = false;
	walk(&stop);
	ck_assert_int_eq(stop, UW_STOP_NOT_RESIDENT);
	sample.stack.requested = sample.stack.size;
	walk(&stop);
	ck_assert_int_eq(stop, UW_STOP_TRUNCATED);
	sample.stack.requested = sample.stack.size + 4096;
	sample.regs.value[REG_NUM_RSP] += 4096; /* as if the frame were larger than the copy */
	walk(&stop);
	ck_assert_int_eq(stop, UW_STOP_NOT_RESIDENT);
	sample.regs.value[REG_NUM_RSP] += UINT64_C(1) << 30;
	walk(&stop);
	ck_assert_int_eq(stop, UW_STOP_OTHER_STACK);
	sample.regs.value[REG_NUM_RSP] |= UINT64_C(1) << 63;
	walk(&stop);
	ck_assert_int_eq(stop, UW_STOP_BAD_INFO);
}
END_TEST

/* DW_CFA_val_expression gives the register's value, DW_CFA_expression the place of it. */
START_TEST(return_address_by_expression)
{
	void (*const functions[])(void) = {ra_value, ra_place};
	enum uw_stop stop;

	regs.value[REG_NUM_RIP] = (uintptr_t)functions[_i];
	words[1] = (uintptr_t)returning;
	ck_assert_uint_ge(uw_walk(space, &regs, &stack, frames, UW_DEPTH_MAX, &stop), 2);
	ck_assert_uint_eq(frames[1].ip, (uintptr_t)returning);
	ck_assert_uint_eq(frames[1].source, UW_SOURCE_CFI);
}
END_TEST

/* Split stacks, coroutines: a frame pointer may lead to a stack that was not copied. */
START_TEST(far_frame_pointer)
{
	void (*const functions[])(void) = {far_plain, far_saved, far_expression};
	uint64_t *fp = &sample.regs.value[REG_NUM_RBP];
	enum uw_stop stop;

	functions[_i]();
	/* The word below its CFA is just below the red zone. */
	*fp = sample.stack.base - 128 - 16;
	ck_assert_uint_eq(walk(&stop), 1);
	ck_assert_int_eq(stop, UW_STOP_OTHER_STACK);
	uint64_t sp = sample.regs.value[REG_NUM_RSP] & ~UINT64_C(15);
	*fp = sp - (1 << 20);
	ck_assert_uint_eq(walk(&stop), 1);
	ck_assert_int_eq(stop, UW_STOP_OTHER_STACK);
	*fp = sample.stack.base + sample.stack.size + 4096;
	sample.stack.ends = true;
	ck_assert_uint_eq(walk(&stop), 1);
	ck_assert_int_eq(stop, UW_STOP_OTHER_STACK);
	/* No stack is there. */
	for (int i = 0; i < 4; i++) {
		*fp = (const uint64_t[]){0, sp - 32, sp - (1 << 20) + 4, UINT64_MAX << 60}[i];
		ck_assert_uint_eq(walk(&stop), 1);
		ck_assert_int_eq(stop, UW_STOP_BAD_INFO);
	}
}
END_TEST

/* What leads to the caller lies below the stack pointer, and may not have been copied. */
START_TEST(below_the_stack_pointer)
{
	static uint8_t bytes[8 + CAPTURE_STACK_MAX];
	enum uw_stop stop;

	red_zone();
	struct uw_stack above = sample.stack;
	ck_assert_uint_eq(walk(&stop), 1);
	ck_assert_int_eq(stop, UW_STOP_RED_ZONE);
	memcpy(bytes, &above.base, 8);
	memcpy(bytes + 8, above.bytes, above.size);
	sample.stack.bytes = bytes;
	sample.stack.base -= 8;
	sample.stack.size += 8;
	size_t count = walk(&stop);
	ck_assert_uint_gt(count, 2);
	ck_assert_int_eq(stop, UW_STOP_ROOT);
	ck_assert_uint_eq(frames[1].sp, above.base + 8);
}
END_TEST

/* No code runs at null: what the call pushed is on top. */
START_TEST(call_to_null)
{
	void (*volatile function)(void) = red_zone; /* which leaves its stack pointer alone */
	uint64_t ra = (uintptr_t)returning;
	enum uw_stop stop;

	function();
	sample.regs.value[REG_NUM_RIP] = 0;
	ck_assert_uint_gt(walk(&stop), 2);
	ck_assert_int_eq(stop, UW_STOP_ROOT);
	ck_assert_uint_eq(frames[0].tag, UW_TAG_NONE);
	ck_assert_uint_eq(frames[1].source, UW_SOURCE_FRAME_POINTER);
	ck_assert_uint_eq(frames[1].sp, sample.stack.base + 8);
	/* Code that is not known may have run. */
	sample.regs.value[REG_NUM_RIP] = 4096;
	ck_assert_uint_eq(walk(&stop), 1);
	ck_assert_int_eq(stop, UW_STOP_NO_INFO);
	/* A return to null, no call before the address, a call to something else. */
	sample.regs.value[REG_NUM_RIP] = 0;
	sample.regs.value[REG_NUM_RSP] += 8;
	ck_assert_uint_eq(walk(&stop), 1);
	sample.regs.value[REG_NUM_RSP] -= 8;
	memcpy(sample.bytes, &ra, sizeof(ra));
	ck_assert_uint_eq(walk(&stop), 1);
	red_zone();
	sample.regs.value[REG_NUM_RIP] = 0;
	ck_assert_uint_eq(walk(&stop), 1);
	ck_assert_int_eq(stop, UW_STOP_NO_INFO);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("unwind root");
	TCase *tcase = tcase_create("root");

	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_add_test(tcase, register_to_zeros);
	tcase_add_test(tcase, undescribed_push);
	tcase_add_test(tcase, coroutine);
	tcase_add_test(tcase, coroutine_with_history);
	tcase_add_test(tcase, context);
	tcase_add_test(tcase, records_with_history);
	tcase_add_test(tcase, entry);
	tcase_add_test(tcase, entry_that_was_called);
	tcase_add_test(tcase, beyond_the_copy);
	tcase_add_loop_test(tcase, return_address_by_expression, 0, 2);
	tcase_add_loop_test(tcase, far_frame_pointer, 0, 3);
	tcase_add_test(tcase, below_the_stack_pointer);
	tcase_add_test(tcase, call_to_null);
	suite_add_tcase(suite, tcase);
	return run_suite(suite);
}
