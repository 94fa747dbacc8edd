/* Ways out of code in assembly, each with one thing that the search must know. */
#include "unwind/analysis/way_out.h"
#include <check.h>
#include <string.h>

/* Code starts and ends at labels; the search begins at NAME_from. */
#define CODE(name, ...)                                                                      \
	__asm__(".pushsection .text.ways, \"ax\", @progbits\n" #name "_start:\n" __VA_ARGS__ \
		"\n" #name "_end:\n.popsection\n");                                          \
	extern const char name##_start[], name##_end[], name##_from[]

CODE(leaf, "leaf_from: inc %eax; ret");
CODE(room, "sub $24, %rsp; mov %rbp, 16(%rsp); room_from: xor %ebp, %ebp; call room_start;"
	   "add $16, %rsp; pop %rbp; ret");
CODE(framed, "push %rbp; mov %rsp, %rbp; push %rbx; framed_from: call *%rax; test %eax, %eax;"
	     "jne 1f; mov %rbp, %rsp; pop %rbp; ret; 1: leave; ret $16");
CODE(entry, "entry_from: push %rbp; mov %rsp, %rbp; sub $64, %rsp; leave; ret");
CODE(pushed, "push %rbp; pushed_from: mov %rsp, %rbp; sub $64, %rsp; leave; ret");
CODE(untouched, "push %rax; untouched_from: call *%rax; pop %rcx; ret");
CODE(overwritten, "overwritten_from: mov %rax, %rbp; ret");
/* As V8's exits to its deoptimizer: calls alone, then what is no code of this function. */
CODE(deopt, "push %rax; deopt_from: test %eax, %eax; jne 1f; pop %rax; ret; 1: call *%rax;"
	    "call *%rax; ret");
CODE(differs, "differs_from: test %eax, %eax; je 1f; pop %rax; ret; 1: ret");
CODE(dispatch, "dispatch_from: pop %rax; jmp *%rax");
CODE(tail, "tail_from: mov %rdi, %rax; jmp *64(%rbx)");
CODE(branched_tail, "branched_tail_from: test %eax, %eax; je 1f; jmp *64(%rbx); 1: ud2");
CODE(leaves, "push %rax; leaves_from: pop %rax; jmp leaf_start");
CODE(endless, "endless_from: jmp endless_from");
CODE(aligned, "aligned_from: and $-64, %rsp; ret");
CODE(computed, "computed_from: lea (%rsp, %rax, 8), %rsp; ret");
/* As V8's builtins: arguments, as many as a register says, are taken from above the return address.
 */
CODE(arguments, "push %rbp; mov %rsp, %rbp; push %rbx; arguments_from: call *%rax; leave; pop %rcx;"
		"lea (%rsp, %rbx, 8), %rsp; push %rcx; ret");
CODE(high_register, "push %rbp; mov %rsp, %rbp; high_register_from: call *%rax; leave; pop %r10;"
		    "lea (%rsp, %rbx, 8), %rsp; push %r10; ret");
CODE(other_pushed, "push %rbp; mov %rsp, %rbp; other_pushed_from: call *%rax; leave; pop %rcx;"
		   "lea (%rsp, %rbx, 8), %rsp; push %rdx; ret");
CODE(pushed_before, "push %rbp; mov %rsp, %rbp; pushed_before_from: call *%rax; leave; pop %rcx;"
		    "lea (%rsp, %rbx, 8), %rsp; push %rcx; pop %rdx; ret");
CODE(invalid, "invalid_from: .byte 0x06; ret");

struct code {
	const char *start, *end;
};

static bool read_code(void *context, uint64_t address, void *bytes, size_t size)
{
	const struct code *code = context;
	uint64_t start = (uint64_t)(uintptr_t)code->start, end = (uint64_t)(uintptr_t)code->end;

	if (address < start || address >= end || size > end - address)
		return false;
	memcpy(bytes, code->start + (address - start), size);
	return true;
}

static struct uw_way_out find(const char *start, const char *end, const char *from)
{
	struct code code = {start, end};
	const struct uw_analysis_source source = {.context = &code, .read = read_code};
	struct uw_way_out way;

	ck_assert(uw_way_out_find(&source, (uint64_t)(uintptr_t)from, &way));
	return way;
}

#define FIND(name) find(name##_start, name##_end, name##_from)

static const struct {
	const char *name, *start, *end, *from;
	struct uw_way_out way;
} cases[] = {
#define CASE(name, ...)                                       \
	{                                                     \
#name, name##_start, name##_end, name##_from, \
		{                                             \
			__VA_ARGS__                           \
		}                                             \
	}
	CASE(leaf, .base = UW_WAY_SP, .fp = UW_WAY_FP_SAME),
	CASE(room, .base = UW_WAY_SP, .slot = 24, .fp = UW_WAY_FP_BELOW),
	CASE(framed, .base = UW_WAY_FP, .slot = 8, .fp = UW_WAY_FP_BELOW),
	CASE(entry, .base = UW_WAY_SP, .fp = UW_WAY_FP_SAME),
	CASE(pushed, .base = UW_WAY_SP, .slot = 8, .fp = UW_WAY_FP_BELOW),
	CASE(untouched, .base = UW_WAY_SP, .slot = 8, .fp = UW_WAY_FP_SAME),
	CASE(overwritten, .base = UW_WAY_SP, .fp = UW_WAY_FP_LOST),
	CASE(deopt, .base = UW_WAY_SP, .slot = 8, .fp = UW_WAY_FP_SAME),
	CASE(differs, .base = UW_WAY_UNKNOWN),
	CASE(dispatch, .base = UW_WAY_UNKNOWN),
	CASE(tail, .base = UW_WAY_SP, .fp = UW_WAY_FP_SAME, .is_tail = true),
	CASE(branched_tail, .base = UW_WAY_UNKNOWN),
	CASE(leaves, .base = UW_WAY_SP, .slot = 8, .fp = UW_WAY_FP_SAME),
	CASE(endless, .base = UW_WAY_UNKNOWN),
	CASE(aligned, .base = UW_WAY_UNKNOWN),
	CASE(computed, .base = UW_WAY_UNKNOWN),
	CASE(arguments, .base = UW_WAY_FP, .slot = 8, .fp = UW_WAY_FP_BELOW),
	CASE(high_register, .base = UW_WAY_FP, .slot = 8, .fp = UW_WAY_FP_BELOW),
	CASE(other_pushed, .base = UW_WAY_UNKNOWN),
	CASE(pushed_before, .base = UW_WAY_UNKNOWN),
	CASE(invalid, .base = UW_WAY_UNKNOWN),
};

START_TEST(ways)
{
	struct uw_way_out way = find(cases[_i].start, cases[_i].end, cases[_i].from);

	ck_assert_msg(way.base == cases[_i].way.base, "%s: base %u", cases[_i].name, way.base);
	if (way.base == UW_WAY_UNKNOWN)
		return;
	ck_assert_msg(way.slot == cases[_i].way.slot, "%s: slot %d", cases[_i].name, way.slot);
	ck_assert_msg(way.fp == cases[_i].way.fp, "%s: fp %u", cases[_i].name, way.fp);
	ck_assert_msg(way.is_tail == cases[_i].way.is_tail, "%s: tail", cases[_i].name);
	ck_assert_msg(way.popped == cases[_i].way.popped, "%s: popped %u", cases[_i].name,
		      way.popped);
	ck_assert_uint_gt(way.steps, 0);
}
END_TEST

/* The code that an answer depends on is told, also of no answer. */
START_TEST(looked_at)
{
	struct uw_way_out way = FIND(framed);

	ck_assert_uint_eq(way.from, (uint64_t)(uintptr_t)framed_from);
	ck_assert_uint_eq(way.end, (uint64_t)(uintptr_t)framed_end);
	way = FIND(invalid);
	ck_assert_uint_gt(way.end, way.from);
	way = find(leaf_start, leaf_start, leaf_from); /* nothing can be read */
	ck_assert_uint_eq(way.base, UW_WAY_UNKNOWN);
	ck_assert_uint_eq(way.end, way.from);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("unwind-way_out");
	TCase *tests = tcase_create("ways");

	tcase_add_loop_test(tests, ways, 0, sizeof(cases) / sizeof(cases[0]));
	tcase_add_test(tests, looked_at);
	suite_add_tcase(suite, tests);
	SRunner *runner = srunner_create(suite);
	srunner_run_all(runner, CK_NORMAL);
	int failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed == 0 ? 0 : 1;
}
