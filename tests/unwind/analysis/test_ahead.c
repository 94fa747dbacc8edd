/* Rows by the way ahead, in functions written in assembly of which nothing but an address is told.
 */
#include "tests/support/suite.h"
#include "unwind/analysis/analysis.h"
#include <check.h>
#include <string.h>

#define CODE(...)                                                                            \
	__asm__(".pushsection .text.ahead, \"ax\", @progbits\n.p2align 4\n" __VA_ARGS__ "\n" \
		".popsection\n")
#define PLACE(name) extern const char name[]

/* As clang makes frames with -fno-omit-frame-pointer. */
CODE("framed: push %rbp; framed_record: mov %rsp, %rbp; push %rbx; sub $24, %rsp;"
     "framed_body: xor %ebx, %ebx; call abort@plt; framed_behind: test %eax, %eax; je 1f; ud2;"
     "1: add $24, %rsp; framed_last: pop %rbx; pop %rbp; ret");
PLACE(framed);
PLACE(framed_record);
PLACE(framed_body);
PLACE(framed_behind);
PLACE(framed_last);

/* Room of unknown size: all counts from the frame pointer. */
CODE("roomy: push %rbp; mov %rsp, %rbp; roomy_pushes: push %r12; push %rbx; roomy_body: sub %rax, "
     "%rsp;"
     "call abort@plt; roomy_behind: lea -16(%rbp), %rsp; pop %rbx; pop %r12; pop %rbp; ret");
PLACE(roomy_pushes);
PLACE(roomy_body);
PLACE(roomy_behind);

/* No frame pointer: a way without calls tells, one with calls does not. */
CODE("plain: push %rbx; sub $16, %rsp; plain_call: call abort@plt; plain_behind: nop; plain_on: "
     "xor "
     "%eax, %eax; add $16, %rsp; pop %rbx; ret");
PLACE(plain_call);
PLACE(plain_behind);
PLACE(plain_on);

/* A call that does not return, with the next function behind it. */
CODE("lost: push %rbp; mov %rsp, %rbp; call abort@plt; lost_behind: push %rbp; mov %rsp, %rbp;"
     "push %rbx; push %rax; pop %rax; pop %rbx; pop %rbp; ret");
PLACE(lost_behind);

/* What only exceptions lead to, of a function that saves rbx, and behind it of one that saves r14,
 * too. */
CODE("resumed: mov %r12, %rdi; call abort@plt; mov %rbx, %rdi; call abort@plt;"
     "add $16, %rsp; pop %rbx; pop %r14; pop %rbp; ret");
PLACE(resumed);

/* The same with padding. */
CODE("padded: push %rbp; mov %rsp, %rbp; call abort@plt; padded_behind: int3; pop %rbp; ret");
PLACE(padded_behind);

/* Tail calls: by a register, and to a function that pushes the same registers again. */
CODE("tail: push %rbp; mov %rsp, %rbp; push %rbx; push %rax; tail_body: call abort@plt; "
     "tail_behind: add $8, %rsp; pop %rbx; pop %rbp; jmp *%rax");
PLACE(tail_behind);
CODE("chained: push %rbp; mov %rsp, %rbp; push %rbx; push %rax; chained_body: nop; add $8, %rsp; "
     "pop %rbx; pop %rbp; jmp again; again: push %rbx; push %rbp; sub $8, %rsp; nop; add $8, %rsp; "
     "pop %rbp; pop %rbx; ret");
PLACE(chained_body);

/* A case of a switch behind pops: no tail call. */
CODE("cases: push %r14; push %rax; pop %rax; pop %r14; cases_body: jmp *%rdx");
PLACE(cases_body);

CODE("endless: push %rbp; 1: endless_body: pause; jmp 1b");
PLACE(endless_body);

/* More branches than are followed, each to an end of its own. */
CODE("branches: .set number, 0; .rept 3500; je branches_ends + number; .set number, number + 1; "
     ".endr; ret;"
     "branches_ends: .fill 3500, 1, 0xcc");
PLACE(branches);

/* Takes an argument off the stack. */
CODE("takes: push %rbx; takes_body: nop; pop %rbx; ret $8");
PLACE(takes_body);

/* As V8's builtins: arguments are taken from above the return address, other registers lost. */
CODE("builtin: push %rbp; mov %rsp, %rbp; push %rbx; call builtin; builtin_behind: xor %ebx, %ebx; "
     "leave; pop %rcx; lea (%rsp, %rbx, 8), %rsp; push %rcx; ret; "
     "builtin_eight: mov $1, %ebx; leave; ret $8; "
     "builtin_other: leave; pop %rcx; lea (%rsp, %rbx, 8), %rsp; push %rdx; ret; "
     "builtin_kept: pop %rcx; lea (%rsp, %rbx, 8), %rsp; push %rcx; ret; .byte 0x06");
PLACE(builtin_behind);
PLACE(builtin_eight);
PLACE(builtin_other);
PLACE(builtin_kept);

/* A register that is pushed in place of another is no preserved one. */
CODE("swapped: push %rbx; push %rbp; swapped_body: nop; pop %rbx; pop %rbp; pop %rcx; pop %rbx; "
     "pop %rbx; ret; .byte 0x06; swapped_none: .byte 0x06, 0x06");
PLACE(swapped_none);

static bool read_memory(void *context, uint64_t address, void *bytes, size_t size)
{
	(void)context;
	memcpy(bytes, (const void *)(uintptr_t)address, size);
	return true;
}

static const struct uw_analysis_source source = {NULL, read_memory, NULL, true};
static struct uw_analysis_row row;

static bool find(const char *place, bool is_behind_call)
{
	uint32_t steps = 0;
	bool found = uw_analysis_ahead(&source, (uintptr_t)place, is_behind_call, &row, &steps);

	ck_assert(!found || row.reason == UW_ANALYSIS_KNOWN);
	return found;
}

enum { RBX, RBP };

static void assert_row(unsigned reg, int32_t offset, unsigned saved)
{
	ck_assert_uint_eq(row.cfa_reg, reg);
	ck_assert_int_eq(row.cfa_offset, offset);
	ck_assert_uint_eq(row.saved, saved);
	ck_assert_uint_eq(row.saved | row.same, 0x3f);
}

/* A row with calls ahead, which may not return: of the registers it tells the frame pointer. */
static void assert_record(unsigned reg, int32_t offset)
{
	ck_assert_uint_eq(row.cfa_reg, reg);
	ck_assert_int_eq(row.cfa_offset, offset);
	ck_assert_uint_eq(row.saved, 1 << RBP);
	ck_assert_uint_eq(row.same, 0);
	ck_assert_int_eq(row.slot[RBP], -16);
	ck_assert_int_eq(row.slot[RBX], 0);
}

START_TEST(frame_with_record)
{
	ck_assert(find(framed_behind, true));
	assert_record(7, 48);
	ck_assert(find(framed_last, false));
	assert_row(7, 24, 1 << RBX | 1 << RBP);
}
END_TEST

/* What is pushed ahead has not been saved yet. Calls are ahead, and no record is made. */
START_TEST(prologue)
{
	ck_assert(!find(framed, false));
	ck_assert(find(framed_record, false));
	assert_record(7, 16);
}
END_TEST

START_TEST(frame_pointer)
{
	ck_assert(find(roomy_behind, true));
	assert_record(6, 16);
	ck_assert(find(roomy_body, false));
	/* The pushes count from the stack pointer, the pops from the frame pointer. */
	ck_assert(!find(roomy_pushes, false));
}
END_TEST

START_TEST(calls_without_record)
{
	ck_assert(!find(plain_call, false));
	ck_assert(!find(plain_behind, true));
	ck_assert(find(plain_on, false));
	assert_row(7, 32, 1 << RBX);
}
END_TEST

START_TEST(call_that_does_not_return)
{
	ck_assert(!find(lost_behind, true));
	ck_assert(!find(padded_behind, true));
	ck_assert(find(resumed, false));
	assert_record(7, 48);
}
END_TEST

START_TEST(tail_calls)
{
	ck_assert(find(tail_behind, true));
	assert_record(7, 32);
	ck_assert(find(chained_body, false));
	assert_row(7, 32, 1 << RBX | 1 << RBP);
	ck_assert_int_eq(row.slot[RBX], -24);
	ck_assert_int_eq(row.slot[RBP], -16);
	ck_assert(!find(cases_body, false));
}
END_TEST

START_TEST(records_of_builtins)
{
	ck_assert(find(builtin_behind, true));
	assert_record(6, 16);
	ck_assert(find(builtin_eight, false));
	assert_record(6, 16);
	ck_assert(!find(builtin_other, false));
	ck_assert(!find(builtin_kept, false));
}
END_TEST

START_TEST(no_way)
{
	ck_assert(!find(branches, false));
	ck_assert(!find(takes_body, false));
	uint32_t steps = 0;

	ck_assert(!find(endless_body, false));
	ck_assert(!find(swapped_none, false));
	ck_assert(!uw_analysis_ahead(&source, (uintptr_t)endless_body, false, &row, &steps));
	ck_assert_uint_eq(steps, 2);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("way ahead");
	TCase *tcase = tcase_create("ahead");

	tcase_add_test(tcase, frame_with_record);
	tcase_add_test(tcase, prologue);
	tcase_add_test(tcase, frame_pointer);
	tcase_add_test(tcase, calls_without_record);
	tcase_add_test(tcase, call_that_does_not_return);
	tcase_add_test(tcase, tail_calls);
	tcase_add_test(tcase, records_of_builtins);
	tcase_add_test(tcase, no_way);
	suite_add_tcase(suite, tcase);
	return run_suite(suite);
}
