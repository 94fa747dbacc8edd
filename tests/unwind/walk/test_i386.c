/* Stacks of 32-bit code: a made file with the forms that its unwind information has, and words of
 * four bytes. What compilers and C libraries make of them is compared in live_oracle and i386.py.
 */
#include "tests/support/suite.h"
#include "tests/unwind/elf_builder.h"
#include "unwind/cfi/row.h"
#include "unwind/module/module.h"
#include "unwind/step/expression.h"
#include <check.h>
#include <string.h>

enum { ESP = 4, EBP = 5, ESI = 6, EIP = 8 };

enum {
	FRAMED = 0x100, /* functions, 0x100 bytes each, as offsets from the code's start */
	REALIGNED = 0x200,
	SIGNAL_RETURN = 0x300,
	ROOT = 0x400,
	BARE = 0x500, /* no CFI */
	CODE_SIZE = 0x600,
	FRAME_SIZE = 1024
};

static struct elf_builder builder;
static struct uw_space *space;

static const uint64_t load = 0xf7000000, jit = 0x1000000;
static const uint32_t sp = 0xffffd00c; /* 16-byte aligned after a word, near the addresses' end */

static uint32_t words[64];
static struct uw_stack stack = {.base = sp, .bytes = (const uint8_t *)words, .size = sizeof(words)};

static uint64_t code(uint32_t offset)
{
	return load + ELF_BUILDER_CODE + offset;
}

/* CFA = esp + 4, eip below it. A personality routine comes first, in the file's own address size.
 */
static size_t put_cie(bool signal, uint8_t encoding)
{
	const uint8_t factors[] = {1, 0x7c, EIP, 6, UW_PE_ABSPTR, 1, 2, 3, 4, encoding};
	static const uint8_t rules[] = {0x0c, ESP, 4, 0x80 | EIP, 1};
	size_t cie = elf_builder_begin_cie(&builder);

	elf_builder_put(&builder, "\1", 1);
	elf_builder_put(&builder, signal ? "zPRS" : "zPR", signal ? 5 : 4);
	elf_builder_put(&builder, factors, sizeof(factors));
	elf_builder_put(&builder, rules, sizeof(rules));
	elf_builder_end(&builder, cie);
	return cie;
}

static void put_fde(size_t cie, uint8_t encoding, size_t function, const void *rules, size_t size)
{
	size_t fde = elf_builder_begin_fde(&builder, cie, encoding, function, 0x100);

	elf_builder_put(&builder, "", 1);
	elf_builder_put(&builder, rules, size);
	elf_builder_end(&builder, fde);
}

/* Loop: both encodings of addresses that are as wide as the file's. */
static void put_frames(uint8_t encoding)
{
	/* push ebp; mov esp, ebp */
	static const uint8_t framed[] = {0x41, 0x0e, 8, 0x80 | EBP, 2, 0x42, 0x0d, EBP};
	/* The CFA is stored at ebp - 4; ebp at ebp: what gcc says of a realigned stack. */
	static const uint8_t realigned[] = {0x0f, 3,   0x70 + EBP, 0x7c,       0x06,
					    0x10, EBP, 2,          0x70 + EBP, 0};
	/* The interrupted registers from esp on: esp, ebp, esi, eip. */
	static const uint8_t signal[] = {0x0f, 3,   0x70 + ESP, 0,          0x06,
					 0x10, EBP, 2,          0x70 + ESP, 4,
					 0x10, ESI, 2,          0x70 + ESP, 8,
					 0x10, EIP, 2,          0x70 + ESP, 12};
	static const uint8_t root[] = {0x07, EIP};
	size_t cie = put_cie(false, encoding), signal_cie;

	put_fde(cie, encoding, FRAMED, framed, sizeof(framed));
	put_fde(cie, encoding, REALIGNED, realigned, sizeof(realigned));
	put_fde(cie, encoding, ROOT, root, sizeof(root));
	signal_cie = put_cie(true, encoding);
	put_fde(signal_cie, encoding, SIGNAL_RETURN, signal, sizeof(signal));
}

static struct uw_module *make_module(uint8_t encoding)
{
	elf_builder_init(&builder, UW_ARCH_I386, CODE_SIZE, FRAME_SIZE);
	uint8_t *bytes = builder.bytes + ELF_BUILDER_CODE;
	put_frames(encoding);
	/* A call of BARE from the middle of FRAMED, and an indirect one. */
	bytes[FRAMED + 0x20] = 0xe8;
	memcpy(bytes + FRAMED + 0x21, (const uint32_t[]){BARE - FRAMED - 0x25}, 4);
	memcpy(bytes + FRAMED + 0x40, "\xff\xd0", 2);
	memcpy(bytes + BARE + 0x20, "\xff\xd0", 2);
	struct uw_module *module = elf_builder_module(&builder);
	elf_builder_finish(&builder);
	ck_assert_int_eq(uw_module_arch(module), UW_ARCH_I386);
	return module;
}

static void setup_encoding(uint8_t encoding)
{
	struct uw_module *module = make_module(encoding);

	memset(words, 0, sizeof(words));
	stack.requested = stack.size;
	space = uw_space_create(UW_ARCH_I386);
	ck_assert_int_eq(uw_space_map(space, load, load + 0x1000, 0, module, 1), 0);
	ck_assert_int_eq(uw_space_map(space, jit, jit + 0x1000, 0, NULL, 2), 0);
	uw_module_unref(module);
}

static void setup(void)
{
	setup_encoding(UW_PE_ABSPTR);
}

static void teardown(void)
{
	uw_space_destroy(space);
}

static uint32_t address(size_t word)
{
	return sp + (uint32_t)word * 4;
}

/* Walks and compares the frames' addresses in the code's terms; 0 ends them. */
static enum uw_stop walk(uint64_t ip, uint32_t ebp, const uint64_t *expected)
{
	struct uw_regs regs = {.value = {[ESP] = sp, [EBP] = ebp, [EIP] = ip}};
	struct uw_frame frames[UW_DEPTH_MAX];
	enum uw_stop stop;
	size_t count = uw_walk(space, &regs, &stack, frames, UW_DEPTH_MAX, &stop), i;

	ck_assert_uint_eq(frames[0].ip, ip);
	for (i = 1; i < count && expected[i - 1] != 0; i++)
		ck_assert_uint_eq(frames[i].ip, expected[i - 1]);
	ck_assert_uint_eq(i, count);
	ck_assert_uint_eq(expected[i - 1], 0);
	return stop;
}

/* A frame record at a word of the stack. */
static void put_record(size_t word, size_t next, uint64_t ra)
{
	words[word] = address(next);
	words[word + 1] = (uint32_t)ra;
}

START_TEST(framed_and_realigned)
{
	uw_space_destroy(space);
	setup_encoding(_i == 0 ? UW_PE_ABSPTR : UW_PE_PCREL | UW_PE_ABSPTR);
	put_record(4, 12, code(REALIGNED + 5));
	/* ebp of the realigned frame is word 12; its CFA, word 20, is stored below. */
	words[11] = address(20);
	words[12] = address(30);
	words[19] = (uint32_t)code(FRAMED + 0x50);
	put_record(30, 40, code(ROOT + 5));
	ck_assert_int_eq(walk(code(FRAMED + 8), address(4),
			      (const uint64_t[]){code(REALIGNED + 5), code(FRAMED + 0x50),
						 code(ROOT + 5), 0}),
			 UW_STOP_ROOT);
}
END_TEST

/* At its entry nothing was pushed; one instruction on, ebp was. */
START_TEST(prologue)
{
	words[0] = (uint32_t)code(ROOT + 5);
	ck_assert_int_eq(walk(code(FRAMED), 0, (const uint64_t[]){code(ROOT + 5), 0}),
			 UW_STOP_ROOT);
	words[0] = 0x12345678;
	words[1] = (uint32_t)code(ROOT + 5);
	ck_assert_int_eq(walk(code(FRAMED + 1), 0, (const uint64_t[]){code(ROOT + 5), 0}),
			 UW_STOP_ROOT);
}
END_TEST

START_TEST(signal_frame)
{
	/* Of the handler that returns to the stub; then what it interrupted, at its first byte. */
	put_record(0, 9, code(SIGNAL_RETURN + 1));
	words[2] = address(10); /* esp */
	words[3] = address(20); /* ebp */
	words[5] = (uint32_t)code(FRAMED);
	words[10] = (uint32_t)code(ROOT + 5);
	ck_assert_int_eq(walk(code(FRAMED + 8), sp,
			      (const uint64_t[]){code(SIGNAL_RETURN + 1), code(FRAMED),
						 code(ROOT + 5), 0}),
			 UW_STOP_ROOT);
}
END_TEST

START_TEST(truncated)
{
	struct uw_stack whole = stack;

	put_record(4, 12, code(FRAMED + 0x50));
	put_record(12, 20, code(ROOT + 5));
	stack.size = stack.requested = 13 * 4; /* half of the last record */
	ck_assert_int_eq(walk(code(FRAMED + 8), address(4),
			      (const uint64_t[]){code(FRAMED + 0x50), 0}),
			 UW_STOP_TRUNCATED);
	stack.requested = whole.size;
	ck_assert_int_eq(walk(code(FRAMED + 8), address(4),
			      (const uint64_t[]){code(FRAMED + 0x50), 0}),
			 UW_STOP_NOT_RESIDENT);
	stack = whole;
}
END_TEST

/* Walks with history and without; returns how many frames were taken over of how many. */
static size_t compare(struct uw_history *history, uint32_t ebp, size_t *count)
{
	struct uw_regs regs = {.value = {[ESP] = sp, [EBP] = ebp, [EIP] = code(FRAMED + 8)}};
	struct uw_frame plain[UW_DEPTH_MAX], frames[UW_DEPTH_MAX];
	enum uw_stop plain_stop, stop;
	size_t reused, same = 0;

	*count = uw_walk(space, &regs, &stack, plain, UW_DEPTH_MAX, &plain_stop);
	ck_assert_uint_eq(uw_walk_reuse(space, history, &regs, &stack, frames, UW_DEPTH_MAX, &stop,
					&reused),
			  *count);
	ck_assert_int_eq(stop, plain_stop);
	while (same < *count && frames[same].ip == plain[same].ip &&
	       frames[same].rva == plain[same].rva && frames[same].sp == plain[same].sp &&
	       frames[same].function == plain[same].function &&
	       frames[same].source == plain[same].source && frames[same].exact == plain[same].exact)
		same++;
	ck_assert_uint_eq(same, *count);
	return reused;
}

/* Six framed functions, one that realigned its stack, and again framed ones down to the root. */
static void put_deep_stack(void)
{
	for (size_t i = 0; i < 6; i++)
		put_record(4 + 4 * i, 8 + 4 * i, code(i < 5 ? FRAMED + 0x50 : REALIGNED + 5));
	words[27] = address(40); /* the CFA, near the record at word 28 */
	put_record(28, 44, 0x1234);
	words[39] = (uint32_t)code(FRAMED + 0x50);
	put_record(44, 52, code(FRAMED + 0x42));
	put_record(52, 60, code(ROOT + 5));
}

/* Nothing is looked up or read twice of a stack that stays, also from main's realigned one on; and
 * whatever word of it changes, the frames are those of a walk that knows nothing. */
START_TEST(reuse)
{
	const uint32_t others[] = {0,
				   address(20),
				   address(44),
				   (uint32_t)code(FRAMED + 0x42),
				   (uint32_t)code(REALIGNED + 5),
				   (uint32_t)code(ROOT + 5)};
	struct uw_history *history = uw_history_create();
	struct uw_counts counts;
	size_t count, taken = 0;

	put_deep_stack();
	ck_assert_uint_eq(compare(history, address(4), &count), 0);
	ck_assert_uint_eq(count, 10);
	uw_space_counts(space, &counts);
	ck_assert_uint_eq(compare(history, address(4), &count), count - 2);
	for (size_t i = 0; i < 64 * sizeof(others) / sizeof(others[0]); i++) {
		uint32_t kept = words[i % 64];

		words[i % 64] = others[i / 64];
		compare(history, address(4), &count);
		words[i % 64] = kept;
		taken += compare(history, address(4), &count);
		ck_assert_uint_eq(count, 10);
	}
	ck_assert_uint_gt(taken, 64 * 6 * 6);
	taken = counts.cache_misses;
	uw_space_counts(space, &counts);
	/* Places in no mapping, where only the changes lead, are not kept. */
	ck_assert_uint_le(counts.cache_misses - taken, 64);
	uw_history_destroy(history);
}
END_TEST

/* Generated code by frame pointers, from there into code with CFI. */
START_TEST(frame_pointers)
{
	put_record(2, 10, jit + 0x20);
	put_record(10, 20, code(FRAMED + 0x42));
	put_record(20, 30, code(ROOT + 5));
	ck_assert_int_eq(walk(jit + 0x10, address(2),
			      (const uint64_t[]){jit + 0x20, code(FRAMED + 0x42), code(ROOT + 5),
						 0}),
			 UW_STOP_ROOT);
	words[11] = (uint32_t)code(FRAMED + 0x25); /* a call that names other code */
	ck_assert_int_eq(walk(jit + 0x10, address(2), (const uint64_t[]){jit + 0x20, 0}),
			 UW_STOP_NO_INFO);
	words[2] = words[3] = 0; /* a null record, with callers above, and without */
	ck_assert_int_eq(walk(jit + 0x10, address(2), (const uint64_t[]){0}), UW_STOP_NO_INFO);
	memset(words, 0, sizeof(words));
	ck_assert_int_eq(walk(jit + 0x10, address(2), (const uint64_t[]){0}), UW_STOP_NO_INFO);
	stack.ends = true;
	ck_assert_int_eq(walk(jit + 0x10, address(2), (const uint64_t[]){0}), UW_STOP_ROOT);
	stack.ends = false;
	ck_assert_int_eq(walk(jit + 0x10, address(2) + 2, (const uint64_t[]){0}), UW_STOP_NO_INFO);
}
END_TEST

/* The helpers that read the instruction pointer are called with any alignment, but by name. */
START_TEST(leaf_without_cfi)
{
	struct uw_stack whole = stack;

	put_record(8, 20, code(ROOT + 5));
	words[0] = (uint32_t)code(FRAMED + 0x25);
	ck_assert_int_eq(walk(code(BARE), address(8),
			      (const uint64_t[]){code(FRAMED + 0x25), code(ROOT + 5), 0}),
			 UW_STOP_ROOT);
	words[0] = (uint32_t)code(FRAMED + 0x42); /* after the indirect call, aligned */
	ck_assert_int_eq(walk(code(BARE), address(8),
			      (const uint64_t[]){code(FRAMED + 0x42), code(ROOT + 5), 0}),
			 UW_STOP_ROOT);
	stack.base += 4; /* no longer */
	words[0] = (uint32_t)code(FRAMED + 0x25);
	words[8] += 4;
	struct uw_regs regs = {
		.value = {[ESP] = stack.base, [EBP] = stack.base + 32, [EIP] = code(BARE)}};
	struct uw_frame frames[8];
	enum uw_stop stop;
	ck_assert_uint_eq(uw_walk(space, &regs, &stack, frames, 8, &stop), 3);
	ck_assert_uint_eq(frames[1].ip, code(FRAMED + 0x25));
	words[0] = (uint32_t)code(FRAMED + 0x42);
	uw_walk(space, &regs, &stack, frames, 8, &stop);
	ck_assert_uint_ne(frames[1].ip, code(FRAMED + 0x42));
	stack = whole;
}
END_TEST

/* An address space and a module of different machines do not go together. */
START_TEST(machines_are_not_mixed)
{
	struct uw_module *module = make_module(UW_PE_ABSPTR);
	struct uw_space *wide = uw_space_create(UW_ARCH_X86_64);
	struct uw_regs regs = {.value = {[7] = sp, [16] = code(FRAMED)}};
	struct uw_frame frames[8];
	enum uw_stop stop;

	ck_assert_int_eq(uw_space_map(wide, load, load + 0x1000, 0, module, 1), 0);
	words[0] = (uint32_t)code(ROOT + 5);
	ck_assert_uint_eq(uw_walk(wide, &regs, &stack, frames, 8, &stop), 1);
	ck_assert_int_eq(stop, UW_STOP_NO_INFO);
	uw_space_destroy(wide);
	uw_module_unref(module);
}
END_TEST

static const struct {
	const char *name;
	uint8_t size, code[12];
	enum uw_step step;
	uint64_t value;
} expressions[] = {
	{"plus wraps", 7, {0x0c, 0xff, 0xff, 0xff, 0xff, 0x32, 0x22}, UW_STEP_OK, 1},
	{"minus wraps", 3, {0x31, 0x32, 0x1c}, UW_STEP_OK, 0xffffffff},
	{"neg", 2, {0x31, 0x1f}, UW_STEP_OK, 0xffffffff},
	{"not", 2, {0x30, 0x20}, UW_STEP_OK, 0xffffffff},
	{"consts", 2, {0x11, 0x7f}, UW_STEP_OK, 0xffffffff},
	{"abs", 3, {0x11, 0x7b, 0x19}, UW_STEP_OK, 5},
	{"lt is signed", 4, {0x11, 0x7f, 0x31, 0x2d}, UW_STEP_OK, 1},
	{"div is signed", 4, {0x11, 0x78, 0x32, 0x1b}, UW_STEP_OK, 0xfffffffc},
	{"div overflows", 8, {0x0c, 0, 0, 0, 0x80, 0x11, 0x7f, 0x1b}, UW_STEP_OK, 0x80000000},
	{"mod is not", 4, {0x11, 0x7f, 0x3a, 0x1d}, UW_STEP_OK, 5},
	{"shl", 6, {0x31, 0x08, 33, 0x24, 0x96, 0x96}, UW_STEP_OK, 0},
	{"shr", 4, {0x11, 0x7f, 0x34, 0x25}, UW_STEP_OK, 0x0fffffff},
	{"shra", 4, {0x11, 0x7e, 0x31, 0x26}, UW_STEP_OK, 0xffffffff},
	{"shra far", 5, {0x11, 0x7e, 0x08, 70, 0x26}, UW_STEP_OK, 0xffffffff},
	{"addr has 4 bytes", 5, {0x03, 1, 0, 0, 0x10}, UW_STEP_OK, 0x10004001},
	{"breg", 3, {0x70 + ESP, 0x7c, 0x96}, UW_STEP_OK, 0xffffd008},
	{"deref reads 4 bytes", 3, {0x70 + ESP, 0xfc, 0x01}, UW_STEP_OK, 0xffffd108},
	{"deref of the last word", 4, {0x70 + ESP, 0xfc, 0x01, 0x06}, UW_STEP_OK, 0x87654321},
	{"deref_size 2", 5, {0x70 + ESP, 0xfe, 0x01, 0x94, 2}, UW_STEP_OK, 0x8765},
	{"deref_size 8", 4, {0x70 + ESP, 0, 0x94, 8}, UW_STEP_BAD, 0},
	{"no register 9", 2, {0x79, 0}, UW_STEP_BAD, 0},
};

START_TEST(expression_operations)
{
	struct uw_state state = {.reg = {[ESP] = sp}, .known = 0x1ff};
	struct uw_memory memory = {.stack = &stack, .word = 4};
	uint64_t value = 0;

	words[63] = 0x87654321;
	enum uw_step step = uw_expression_eval(expressions[_i].code, expressions[_i].size, NULL,
					       0x4000, &state, &memory, &value);
	ck_assert_msg(step == expressions[_i].step && value == expressions[_i].value, "%s: %d %#lx",
		      expressions[_i].name, step, value);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("unwind i386");
	TCase *tcase = tcase_create("i386");

	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_add_loop_test(tcase, framed_and_realigned, 0, 2);
	tcase_add_test(tcase, prologue);
	tcase_add_test(tcase, signal_frame);
	tcase_add_test(tcase, reuse);
	tcase_add_test(tcase, truncated);
	tcase_add_test(tcase, frame_pointers);
	tcase_add_test(tcase, leaf_without_cfi);
	tcase_add_test(tcase, machines_are_not_mixed);
	tcase_add_loop_test(tcase, expression_operations, 0,
			    sizeof(expressions) / sizeof(expressions[0]));
	suite_add_tcase(suite, tcase);
	return run_suite(suite);
}
