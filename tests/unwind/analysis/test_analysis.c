/* Rows of functions written in assembly, each with one thing that analysis must know. */
#include "unwind/analysis/analysis.h"
#include <check.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Functions start and end at labels; NAME_N is an address whose row is tested. */
#define FUNCTION(name, ...)                                                                      \
	__asm__(".pushsection .text.analysed, \"ax\", @progbits\n" #name "_start:\n" __VA_ARGS__ \
		"\n" #name "_end:\n.popsection\n");                                              \
	extern const char name##_start[], name##_end[]
FUNCTION(pushes,
	 "push %rbx; push %r12; sub $24, %rsp; xor %ebx, %ebx; xor %r12d, %r12d;"
	 "pushes_body: call abort@plt; add $24, %rsp; pop %r12; pop %rbx; pushes_last: ret");
extern const char pushes_body[], pushes_last[];

FUNCTION(framed, "endbr64; push %rbp; mov %rsp, %rbp; push %r15; xor %r15d, %r15d; sub %rax, %rsp;"
		 "framed_body: nop; lea -8(%rbp), %rsp; pop %r15; pop %rbp; framed_last: ret");
extern const char framed_body[], framed_last[];

FUNCTION(aligned, "lea 8(%rsp), %r10; and $-32, %rsp; push -8(%r10); push %rbp; mov %rsp, %rbp;"
		  "push %rbx; push %r10; sub $64, %rsp; xor %ebx, %ebx; xor %r10d, %r10d;"
		  "aligned_body: nop; mov -16(%rbp), %r10; mov -8(%rbp), %rbx; leave;"
		  "lea -8(%r10), %rsp; aligned_last: ret");
extern const char aligned_body[], aligned_last[];

FUNCTION(leaf, "mov %rbx, -16(%rsp); xor %ebx, %ebx; leaf_body: nop; mov -16(%rsp), %rbx; ret");
extern const char leaf_body[];

/* The call does not return: behind it is code that is jumped to with a smaller frame. */
FUNCTION(doubtful, "test %edi, %edi; je doubtful_on; sub $24, %rsp; call abort@plt;"
		   "doubtful_on: nop; ret");
extern const char doubtful_on[];

/* Neither does this one: behind it is a way that gcc isolated, on which a pointer is null. */
FUNCTION(isolated, "test %rdi, %rdi; je isolated_null; sub $24, %rsp; call abort@plt;"
		   "isolated_null: mov 8, %rax; ud2");
FUNCTION(isolated_last, "sub $24, %rsp; call abort@plt; isolated_first: mov 8, %rax; ud2;"
			"isolated_thread: call abort@plt; isolated_own: mov %fs:8, %rax; ud2");
extern const char isolated_null[], isolated_first[], isolated_thread[], isolated_own[];

/* A stub, and behind a call that does not return the tail call of another way through it. */
FUNCTION(linkage, "endbr64; jmp *linkage_word(%rip); linkage_word: .quad 0");
FUNCTION(leaving, "test %edi, %edi; je leaving_tail; push %rax; call abort@plt;"
		  "leaving_tail: .byte 0xe9; .long linkage_start - leaving_end");
FUNCTION(leaving_last, "push %rax; call abort@plt; leaving_only: .byte 0xe9;"
		       ".long linkage_start - leaving_last_end");
extern const char leaving_tail[], leaving_only[];

/* A call in code that is not known, to which ways with different frames lead: behind it nothing is
 * known, although another call leads there. */
FUNCTION(clouded, "test %edi, %edi; je 1f; push %rax; 1: push %rax; jmp clouded_call;"
		  "clouded_call: call abort@plt; clouded_behind: nop; test %esi, %esi;"
		  "je clouded_behind; ud2");
extern const char clouded_call[], clouded_behind[];

FUNCTION(conflict, "test %edi, %edi; je conflict_on; push %rax; conflict_on: nop; ud2");
extern const char conflict_on[];

FUNCTION(table, "push %rbx; cmp $1, %edi; ja table_out; mov %edi, %edi; lea table_data(%rip), %rbx;"
		"movslq (%rbx, %rdi, 4), %rax; add %rbx, %rax; jmp *%rax;"
		"table_data: .long table_zero - table_data, table_one - table_data;"
		"table_zero: nop; table_out: pop %rbx; ret; table_one: nop; jmp table_out");
extern const char table_data[], table_zero[], table_one[], table_out[];

FUNCTION(unknown, "push %rbx; jmp *%rdi; unknown_on: nop; pop %rbx; ret");
extern const char unknown_on[];

FUNCTION(deviant, "push %rbx; deviant_on: nop; ret");
extern const char deviant_on[];

/* A large frame, page by page, as with -fstack-clash-protection. */
FUNCTION(large, "lea -12288(%rsp), %r11; 1: sub $4096, %rsp; orq $0, (%rsp); large_loop: cmp %r11, "
		"%rsp; jne 1b;"
		"large_body: nop; add $12288, %rsp; ret");
extern const char large_body[], large_loop[];

FUNCTION(hot, "push %rbx; test %edi, %edi; jne cold_start; hot_back: pop %rbx; ret");
FUNCTION(cold, "xor %ebx, %ebx; cold_body: nop; jmp hot_back");
extern const char cold_body[];

/* No comparison bounds the index: all that lead to the function are entries; the word behind the
 * table does not. */
FUNCTION(unbounded, "push %rbx; movzwl %di, %eax; lea unbounded_data(%rip), %rcx;"
		    "movslq (%rcx, %rax, 4), %rax; add %rcx, %rax; jmp *%rax;"
		    "unbounded_zero: nop; pop %rbx; ret; unbounded_one: nop; pop %rbx; ret;"
		    "unbounded_none: push %rbx; ud2");
__asm__(".pushsection .text.analysed_data, \"ax\", @progbits\nunbounded_data:"
	".long unbounded_zero - unbounded_data, unbounded_one - unbounded_data, 0\n.popsection\n");
extern const char unbounded_zero[], unbounded_one[], unbounded_none[];

/* Two such tables, one behind the other: an entry of the second one, counted from the first, leads
 * to the function, too. */
FUNCTION(adjacent,
	 "push %rbx; movzwl %di, %eax; lea adjacent_data(%rip), %rcx;"
	 "movslq (%rcx, %rax, 4), %rax; add %rcx, %rax; jmp *%rax;"
	 "adjacent_zero: sub $16, %rsp; movzwl %di, %eax; lea adjacent_next(%rip), %rcx;"
	 "movslq (%rcx, %rax, 4), %rax; add %rcx, %rax; jmp *%rax;"
	 "adjacent_stray: nop; nop; nop; nop; adjacent_one: nop; add $16, %rsp; pop %rbx; ret");
__asm__(".pushsection .text.analysed_data, \"ax\", @progbits\nadjacent_data:"
	".long adjacent_zero - adjacent_data\nadjacent_next: .long adjacent_one - adjacent_next, "
	"0\n"
	".popsection\n");
extern const char adjacent_zero[], adjacent_stray[], adjacent_one[];

/* The indexes are masked to 4 and 8 values, of which the compiler knew that 2 are possible: the
 * first table ends where the second one begins, whose entries, counted from the first, lead to the
 * function, too; the second one where an entry leads out. */
FUNCTION(masked,
	 "push %rbx; and $3, %edi; lea masked_data(%rip), %rcx;"
	 "movslq (%rcx, %rdi, 4), %rax; add %rcx, %rax; jmp *%rax;"
	 "masked_zero: sub $16, %rsp; and $7, %esi; lea masked_next(%rip), %rcx;"
	 "movslq (%rcx, %rsi, 4), %rax; add %rcx, %rax; jmp *%rax; masked_one: pop %rbx; ret;"
	 "masked_epilogue: nop; masked_stray: add $16, %rsp; pop %rbx; ret; nop; nop;"
	 "masked_two: jmp masked_epilogue");
__asm__(".pushsection .text.analysed_data, \"ax\", @progbits\nmasked_data:"
	".long masked_zero - masked_data, masked_one - masked_data\n"
	"masked_next: .long masked_two - masked_next, masked_two - masked_next, 0x7fffffff,"
	"0, 0, 0, 0, 0\n.popsection\n");
extern const char masked_zero[], masked_one[], masked_epilogue[], masked_stray[], masked_two[];

/* The word behind a table without a bound leads into an instruction. */
FUNCTION(splitting, "push %rbx; splitting_sub: sub $0x12345678, %rsp; movzwl %di, %eax;"
		    "lea splitting_data(%rip), %rcx; movslq (%rcx, %rax, 4), %rax; add %rcx, %rax;"
		    "jmp *%rax; splitting_zero: add $0x12345678, %rsp; pop %rbx; ret");
__asm__(".pushsection .text.analysed_data, \"ax\", @progbits\nsplitting_data:"
	".long splitting_zero - splitting_data, splitting_sub + 3 - splitting_data\n.popsection\n");
extern const char splitting_sub[], splitting_zero[];

/* A jump into an instruction, whose bytes are nops there. */
FUNCTION(overlapping, "test %edi, %edi; je overlapping_sub + 3; overlapping_push: push %rax;"
		      "overlapping_sub: sub $0x90909090 - 0x100000000, %rsp; ud2");
extern const char overlapping_push[], overlapping_sub[];

/* A tail call of a known place, and of one that is not. */
FUNCTION(tail, "push %rbx; pop %rbx; test %edi, %edi; je leaf_start; jmp *%rsi");
/* It returns only behind a call that padding follows. */
FUNCTION(padded, "sub $8, %rsp; call abort@plt; nopl (%rax); add $8, %rsp; ret");
/* Its calls are not aligned. */
FUNCTION(skewed, "call abort@plt; call abort@plt; ret");

/* Ends: behind the last instruction, behind a jump's target, behind a call with padding, which a
 * loop can jump over; and cold code, which jumps to its function. */
FUNCTION(extents,
	 ".p2align 4; extent_jump: test %edi, %edi; je 1f; ret; 1: nop; ret; extent_jump_end:"
	 ".p2align 4; extent_call: push %rax; call abort@plt; extent_call_end: .p2align 4;"
	 "push %rbx; pop %rbx; ret; .p2align 4;"
	 "extent_loop: push %rax; call abort@plt; .p2align 4; 2: nop; dec %edi; jne 2b;"
	 "pop %rax; ret; extent_loop_end: .p2align 4;"
	 "extent_cold: nop; je extent_jump; call abort@plt; extent_cold_end: nop; jmp extent_loop");
extern const char extent_jump[], extent_jump_end[], extent_call[], extent_call_end[], extent_loop[],
	extent_loop_end[], extent_cold[], extent_cold_end[];

struct range {
	const char *start, *end;
};

/* Addresses count from base. */
struct code {
	uintptr_t base;
	struct range part[2];
	bool fails;
};

static bool read_code(void *context, uint64_t address, void *bytes, size_t size)
{
	const struct code *code = context;

	if (code->fails)
		return false;
	memcpy(bytes, (const void *)(code->base + address), size);
	return true;
}

static bool find_bounds(void *context, uint64_t address, uint64_t *start, uint64_t *end)
{
	const struct code *code = context;

	for (int i = 0; i < 2; i++) {
		*start = (uintptr_t)code->part[i].start - code->base;
		*end = (uintptr_t)code->part[i].end - code->base;
		if (address >= *start && address < *end)
			return true;
	}
	return false;
}

static struct uw_analysis *analyse(struct code *code)
{
	const struct uw_analysis_source source = {code, read_code, find_bounds, false};
	return uw_analysis_run(&source, (uintptr_t)code->part[0].start - code->base);
}

/* All functions lie behind, as in a file. */
#define BASE ((uintptr_t)pushes_start - 65536)

#define ANALYSE(name) analyse(&(struct code){.base = BASE, .part = {{name##_start, name##_end}}})

static struct uw_analysis_row row_at(const struct uw_analysis *analysis, const char *at)
{
	return *uw_analysis_find(analysis, (uintptr_t)at - BASE);
}

enum { RBX = 1, RBP = 2, R12 = 4, R15 = 32 };

START_TEST(pushes_and_pops)
{
	struct uw_analysis *analysis = ANALYSE(pushes);
	struct uw_analysis_row row = row_at(analysis, pushes_start);

	ck_assert_int_eq(row.reason, UW_ANALYSIS_KNOWN);
	ck_assert_int_eq(row.cfa_reg, 7);
	ck_assert_int_eq(row.cfa_offset, 8);
	ck_assert_int_eq(row.saved, 0);
	ck_assert_int_eq(row.same, 63);
	row = row_at(analysis, pushes_body);
	ck_assert_int_eq(row.cfa_offset, 48);
	ck_assert_int_eq(row.saved, RBX | R12);
	ck_assert_int_eq(row.slot[0], -16);
	ck_assert_int_eq(row.slot[2], -24);
	ck_assert_int_eq(row.same, 63 & ~(RBX | R12));
	/* Inside the call, where return addresses are looked up. */
	ck_assert_int_eq(row_at(analysis, pushes_body + 4).cfa_offset, 48);
	row = row_at(analysis, pushes_last);
	ck_assert_int_eq(row.cfa_offset, 8);
	ck_assert_int_eq(row.saved, 0);
	ck_assert_int_eq(row.same, 63);
	ck_assert_int_eq(row_at(analysis, pushes_end).reason, UW_ANALYSIS_OUTSIDE);
	uw_analysis_destroy(analysis);
}
END_TEST

START_TEST(frame_pointer_with_alloca)
{
	struct uw_analysis *analysis = ANALYSE(framed);
	struct uw_analysis_row row = row_at(analysis, framed_body);

	ck_assert_int_eq(row.reason, UW_ANALYSIS_KNOWN);
	ck_assert_int_eq(row.cfa_reg, 6);
	ck_assert_int_eq(row.cfa_offset, 16);
	ck_assert_int_eq(row.sp_offset, INT32_MIN);
	ck_assert_int_eq(row.saved, RBP | R15);
	ck_assert_int_eq(row.slot[1], -16);
	ck_assert_int_eq(row.slot[5], -24);
	ck_assert_int_eq(row_at(analysis, framed_last).sp_offset, 8);
	uw_analysis_destroy(analysis);
}
END_TEST

START_TEST(aligned_stack)
{
	struct uw_analysis *analysis = ANALYSE(aligned);
	struct uw_analysis_row row = row_at(analysis, aligned_body);

	ck_assert_int_eq(row.reason, UW_ANALYSIS_KNOWN);
	ck_assert(row.cfa_is_stored);
	ck_assert_int_eq(row.cfa_reg, 6);
	ck_assert_int_eq(row.cfa_offset, -16);
	ck_assert_int_eq(row.saved, RBX | RBP);
	ck_assert_int_eq(row.by_fp, RBX | RBP);
	ck_assert_int_eq(row.slot[0], -8);
	ck_assert_int_eq(row.slot[1], 0);
	row = row_at(analysis, aligned_last);
	ck_assert_int_eq(row.sp_offset, 8);
	ck_assert_int_eq(row.same, 63);
	uw_analysis_destroy(analysis);
}
END_TEST

START_TEST(red_zone)
{
	struct uw_analysis *analysis = ANALYSE(leaf);
	struct uw_analysis_row row = row_at(analysis, leaf_body);

	ck_assert_int_eq(row.cfa_offset, 8);
	ck_assert_int_eq(row.saved, RBX);
	ck_assert_int_eq(row.slot[0], -24);
	uw_analysis_destroy(analysis);
}
END_TEST

START_TEST(call_that_does_not_return)
{
	struct uw_analysis *analysis = ANALYSE(doubtful);
	struct uw_analysis_row row = row_at(analysis, doubtful_on);

	ck_assert_int_eq(row.reason, UW_ANALYSIS_KNOWN);
	ck_assert_int_eq(row.cfa_offset, 8);
	uw_analysis_destroy(analysis);
}
END_TEST

/* A call does not come back to an instruction that faults; a jump may lead there. */
START_TEST(call_before_a_way_that_faults)
{
	struct uw_analysis *analysis = ANALYSE(isolated);
	struct uw_analysis_row row = row_at(analysis, isolated_null);

	ck_assert_int_eq(row.reason, UW_ANALYSIS_KNOWN);
	ck_assert_int_eq(row.cfa_offset, 8);
	uw_analysis_destroy(analysis);
	analysis = ANALYSE(isolated_last);
	ck_assert_int_eq(row_at(analysis, isolated_first).reason, UW_ANALYSIS_APART);
	uw_analysis_destroy(analysis);
	analysis = analyse(
		&(struct code){.base = BASE, .part = {{isolated_thread, isolated_last_end}}});
	ck_assert_int_eq(row_at(analysis, isolated_own).cfa_offset, 8);
	uw_analysis_destroy(analysis);
}
END_TEST

START_TEST(call_before_a_tail_call)
{
	struct uw_analysis *analysis = ANALYSE(leaving);

	ck_assert_int_eq(row_at(analysis, leaving_tail).cfa_offset, 8);
	uw_analysis_destroy(analysis);
	analysis = ANALYSE(leaving_last);
	ck_assert_int_eq(row_at(analysis, leaving_only).reason, UW_ANALYSIS_APART);
	uw_analysis_destroy(analysis);
}
END_TEST

START_TEST(call_in_unknown_code)
{
	struct uw_analysis *analysis = ANALYSE(clouded);

	ck_assert_int_eq(row_at(analysis, clouded_call).reason, UW_ANALYSIS_CONFLICT);
	ck_assert_int_eq(row_at(analysis, clouded_behind).reason, UW_ANALYSIS_CONFLICT);
	uw_analysis_destroy(analysis);
}
END_TEST

START_TEST(ways_that_differ)
{
	struct uw_analysis *analysis = ANALYSE(conflict);

	ck_assert_int_eq(row_at(analysis, conflict_start).reason, UW_ANALYSIS_KNOWN);
	ck_assert_int_eq(row_at(analysis, conflict_on).reason, UW_ANALYSIS_CONFLICT);
	uw_analysis_destroy(analysis);
}
END_TEST

START_TEST(table_of_jumps)
{
	struct uw_analysis *analysis = ANALYSE(table);

	ck_assert_int_eq(row_at(analysis, table_zero).cfa_offset, 16);
	ck_assert_int_eq(row_at(analysis, table_one).cfa_offset, 16);
	ck_assert_int_eq(row_at(analysis, table_out).cfa_offset, 16);
	/* The table itself. */
	ck_assert_int_eq(row_at(analysis, table_data).reason, UW_ANALYSIS_APART);
	uw_analysis_destroy(analysis);
}
END_TEST

START_TEST(jump_to_an_unknown_place)
{
	struct uw_analysis *analysis = ANALYSE(unknown);

	ck_assert_int_eq(row_at(analysis, unknown_start).reason, UW_ANALYSIS_KNOWN);
	ck_assert_int_eq(row_at(analysis, unknown_on).reason, UW_ANALYSIS_JUMP);
	uw_analysis_destroy(analysis);
}
END_TEST

START_TEST(return_without_the_frame)
{
	struct uw_analysis *analysis = ANALYSE(deviant);

	ck_assert_int_eq(row_at(analysis, deviant_start).reason, UW_ANALYSIS_RETURN);
	ck_assert_int_eq(row_at(analysis, deviant_on).reason, UW_ANALYSIS_RETURN);
	uw_analysis_destroy(analysis);
}
END_TEST

START_TEST(large_frame_page_by_page)
{
	struct uw_analysis *analysis = ANALYSE(large);
	struct uw_analysis_row row = row_at(analysis, large_loop);

	/* r11 has the frame's end from the start. */
	ck_assert_int_eq(row.reason, UW_ANALYSIS_KNOWN);
	ck_assert_int_eq(row.cfa_reg, 11);
	ck_assert_int_eq(row.cfa_offset, 12296);
	row = row_at(analysis, large_body);
	ck_assert_int_eq(row.cfa_reg, 7);
	ck_assert_int_eq(row.cfa_offset, 12296);
	uw_analysis_destroy(analysis);
}
END_TEST

START_TEST(cold_part)
{
	struct code code = {.base = BASE, .part = {{hot_start, hot_end}, {cold_start, cold_end}}};
	struct uw_analysis *analysis = analyse(&code);
	struct uw_analysis_row row = row_at(analysis, cold_body);
	uint64_t start, end;

	ck_assert_int_eq(row.reason, UW_ANALYSIS_KNOWN);
	ck_assert_int_eq(row.cfa_offset, 16);
	ck_assert_int_eq(row.slot[0], -16);
	ck_assert(uw_analysis_part(analysis, 1, &start, &end));
	ck_assert_uint_eq(start, (uintptr_t)cold_start - BASE);
	ck_assert(!uw_analysis_part(analysis, 2, &start, &end));
	uw_analysis_destroy(analysis);
}
END_TEST

START_TEST(no_code)
{
	struct code code = {.base = BASE, .part = {{leaf_start, leaf_end}}, .fails = true};

	errno = 0;
	ck_assert_ptr_null(analyse(&code));
	ck_assert_int_eq(errno, ENOENT);
	code = (struct code){0};
	errno = 0;
	ck_assert_ptr_null(analyse(&code));
	ck_assert_int_eq(errno, ENOENT);
}
END_TEST

/* Bytes that are no program's: the analysis ends, and every address has a row or a reason. */
START_TEST(any_bytes)
{
	enum { SIZE = 2048, ROUNDS = 25 };
	char *bytes = malloc(SIZE);
	unsigned seed = 1;

	for (int round = 0; round < ROUNDS; round++) {
		struct code code = {.base = (uintptr_t)bytes, .part = {{bytes, bytes + SIZE}}};
		for (int i = 0; i < SIZE; i++)
			bytes[i] = (char)rand_r(&seed);
		struct uw_analysis *analysis = analyse(&code);
		ck_assert_ptr_nonnull(analysis);
		for (int i = 0; i < SIZE; i++)
			ck_assert_int_lt(uw_analysis_find(analysis, (uint64_t)i)->reason,
					 UW_ANALYSIS_REASON_COUNT);
		uw_analysis_destroy(analysis);
	}
	free(bytes);
}
END_TEST

START_TEST(table_without_a_bound)
{
	struct uw_analysis *analysis = ANALYSE(unbounded);

	ck_assert_int_eq(row_at(analysis, unbounded_zero).cfa_offset, 16);
	ck_assert_int_eq(row_at(analysis, unbounded_one).cfa_offset, 16);
	ck_assert_int_ne(row_at(analysis, unbounded_none).reason, UW_ANALYSIS_KNOWN);
	uw_analysis_destroy(analysis);
}
END_TEST

START_TEST(tables_side_by_side)
{
	struct uw_analysis *analysis = ANALYSE(adjacent);

	ck_assert_int_eq(row_at(analysis, adjacent_zero).cfa_offset, 16);
	ck_assert_int_eq(row_at(analysis, adjacent_one).reason, UW_ANALYSIS_KNOWN);
	ck_assert_int_eq(row_at(analysis, adjacent_one).cfa_offset, 32);
	ck_assert_int_ne(row_at(analysis, adjacent_stray).reason, UW_ANALYSIS_KNOWN);
	uw_analysis_destroy(analysis);
}
END_TEST

START_TEST(tables_with_fewer_entries_than_a_mask_allows)
{
	struct uw_analysis *analysis = ANALYSE(masked);

	ck_assert_int_eq(row_at(analysis, masked_zero).cfa_offset, 16);
	ck_assert_int_eq(row_at(analysis, masked_one).cfa_offset, 16);
	ck_assert_int_eq(row_at(analysis, masked_two).reason, UW_ANALYSIS_KNOWN);
	ck_assert_int_eq(row_at(analysis, masked_two).cfa_offset, 32);
	ck_assert_int_eq(row_at(analysis, masked_epilogue).cfa_offset, 32);
	ck_assert_int_eq(row_at(analysis, masked_stray).cfa_offset, 32);
	uw_analysis_destroy(analysis);
}
END_TEST

START_TEST(table_before_a_word_into_an_instruction)
{
	struct uw_analysis *analysis = ANALYSE(splitting);

	ck_assert_int_eq(row_at(analysis, splitting_sub + 3).cfa_offset, 16);
	ck_assert_int_eq(row_at(analysis, splitting_zero).cfa_offset, 0x12345678 + 16);
	uw_analysis_destroy(analysis);
}
END_TEST

START_TEST(instructions_that_overlap)
{
	struct uw_analysis *analysis = ANALYSE(overlapping);

	ck_assert_int_eq(row_at(analysis, overlapping_push).cfa_offset, 8);
	ck_assert_int_ne(row_at(analysis, overlapping_sub).reason, UW_ANALYSIS_KNOWN);
	ck_assert_int_ne(row_at(analysis, overlapping_sub + 3).reason, UW_ANALYSIS_KNOWN);
	uw_analysis_destroy(analysis);
}
END_TEST

START_TEST(proof_of_the_entry)
{
	struct uw_analysis *analysis = ANALYSE(leaf);
	ck_assert(uw_analysis_is_closed(analysis) && uw_analysis_returns(analysis));
	ck_assert(uw_analysis_keeps_alignment(analysis));
	ck_assert(!uw_analysis_is_contradicted(analysis));
	ck_assert_uint_gt(uw_analysis_memory(analysis), 0);
	uw_analysis_destroy(analysis);
	analysis = ANALYSE(deviant);
	ck_assert(!uw_analysis_is_closed(analysis) && !uw_analysis_returns(analysis));
	ck_assert(uw_analysis_is_contradicted(analysis));
	uw_analysis_destroy(analysis);
	analysis = ANALYSE(padded);
	ck_assert(!uw_analysis_is_closed(analysis) && uw_analysis_returns(analysis));
	ck_assert(uw_analysis_keeps_alignment(analysis));
	uw_analysis_destroy(analysis);
	analysis = ANALYSE(skewed);
	ck_assert(!uw_analysis_keeps_alignment(analysis));
	uw_analysis_destroy(analysis);
}
END_TEST

START_TEST(tail_calls)
{
	const uint64_t leaf = (uintptr_t)leaf_start - BASE, *exits;
	struct uw_analysis *analysis = ANALYSE(tail);

	ck_assert_uint_eq(uw_analysis_exits(analysis, &exits), 1);
	ck_assert_uint_eq(exits[0], leaf);
	ck_assert(uw_analysis_exits_to(analysis, leaf));
	ck_assert(uw_analysis_exits_to(analysis, leaf + 1)); /* the place not known */
	uw_analysis_destroy(analysis);
	analysis = ANALYSE(leaf);
	ck_assert_uint_eq(uw_analysis_exits(analysis, &exits), 0);
	ck_assert(!uw_analysis_exits_to(analysis, leaf));
	uw_analysis_destroy(analysis);
}
END_TEST

START_TEST(extents)
{
	struct code code = {.base = BASE};
	const struct uw_analysis_source source = {&code, read_code, find_bounds, true};
	const uint64_t limit = (uintptr_t)extents_end - BASE;
	uint64_t targets[4];

#define EXTENT(name, strict) \
	(uw_analysis_extent(&source, (uintptr_t)(name)-BASE, limit, strict) + BASE)
	ck_assert_uint_eq(EXTENT(extent_jump, false), (uintptr_t)extent_jump_end);
	ck_assert_uint_eq(EXTENT(extent_call, false), (uintptr_t)extent_call_end);
	ck_assert_uint_eq(EXTENT(extent_loop, false), (uintptr_t)extent_loop_end);
	ck_assert_uint_eq(uw_analysis_extent(&source, limit, limit, false), limit);
	const uint64_t cold = (uintptr_t)extent_cold - BASE;
	ck_assert_uint_eq(uw_analysis_call_end(&source, cold, limit) + BASE,
			  (uintptr_t)extent_cold_end);
	ck_assert_uint_eq(uw_analysis_jumps(&source, cold, limit, targets, 4), 2);
	ck_assert_uint_eq(targets[0] + BASE, (uintptr_t)extent_jump);
	ck_assert_uint_eq(targets[1] + BASE, (uintptr_t)extent_loop);
	ck_assert_uint_eq(uw_analysis_jumps(&source, cold, limit, targets, 1), 1);
	code.fails = true;
	ck_assert_uint_eq(uw_analysis_extent(&source, cold, limit, true), cold);
}
END_TEST

/* Code is looked at through a window: a call near its end, whose padding lies beyond. Loop: where
 * the call is. */
START_TEST(extents_over_windows)
{
	enum { START = 4096, SIZE = 2048, CALL_SIZE = 5 };
	static const uint8_t push_pop[] = {0x50, 0x58}, call[CALL_SIZE] = {0xe8};
	uint8_t bytes[SIZE];
	struct code code = {.base = (uintptr_t)bytes - START};
	const struct uw_analysis_source source = {&code, read_code, find_bounds, true};

	for (size_t padding = 0; padding <= 640; padding += padding < 24 ? 1 : 77) {
		const size_t behind = (size_t)_i + CALL_SIZE + padding;
		if (behind % 16 == 0)
			continue; /* the call may be the last instruction */
		for (size_t i = 0; i < SIZE; i += sizeof(push_pop))
			memcpy(bytes + i, push_pop, sizeof(push_pop));
		memcpy(bytes + _i, call, sizeof(call));
		memset(bytes + _i + CALL_SIZE, 0x90, padding);
		bytes[behind] = 0xc3;
		ck_assert_uint_eq(uw_analysis_extent(&source, START, START + SIZE, false),
				  START + behind + 1);
		/* Also where the window ends with the limit. */
		ck_assert_uint_eq(uw_analysis_extent(&source, START, START + behind + 1, false),
				  START + behind + 1);
	}
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("analysis");
	TCase *cases = tcase_create("analysis");

	tcase_add_test(cases, pushes_and_pops);
	tcase_add_test(cases, frame_pointer_with_alloca);
	tcase_add_test(cases, aligned_stack);
	tcase_add_test(cases, red_zone);
	tcase_add_test(cases, call_that_does_not_return);
	tcase_add_test(cases, call_before_a_way_that_faults);
	tcase_add_test(cases, call_before_a_tail_call);
	tcase_add_test(cases, call_in_unknown_code);
	tcase_add_test(cases, ways_that_differ);
	tcase_add_test(cases, table_of_jumps);
	tcase_add_test(cases, jump_to_an_unknown_place);
	tcase_add_test(cases, return_without_the_frame);
	tcase_add_test(cases, large_frame_page_by_page);
	tcase_add_test(cases, cold_part);
	tcase_add_test(cases, table_without_a_bound);
	tcase_add_test(cases, tables_side_by_side);
	tcase_add_test(cases, tables_with_fewer_entries_than_a_mask_allows);
	tcase_add_test(cases, table_before_a_word_into_an_instruction);
	tcase_add_test(cases, instructions_that_overlap);
	tcase_add_test(cases, proof_of_the_entry);
	tcase_add_test(cases, tail_calls);
	tcase_add_test(cases, extents);
	tcase_add_loop_test(cases, extents_over_windows, 480, 516);
	tcase_add_test(cases, no_code);
	tcase_add_test(cases, any_bytes);
	suite_add_tcase(suite, cases);
	SRunner *runner = srunner_create(suite);
	srunner_run_all(runner, CK_NORMAL);
	int failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed != 0;
}
