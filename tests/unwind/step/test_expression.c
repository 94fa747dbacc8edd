/* Operations of DWARF expressions, one by one, and what must be refused. */
#include "tests/support/suite.h"
#include "unwind/step/expression.h"
#include <check.h>
#include <string.h>

enum { REG_RSP = 7, REG_R15 = 15, REG_RIP = 16 };

struct evaluated {
	const char *name;
	uint8_t size;
	uint8_t code[14];
	enum uw_step step;
	uint64_t value;
};

/* rax = 100, rsp = 0x7000, r15 unknown; the stack holds 0x1122334455667788 at 0x7000. */
static const struct evaluated expressions[] = {
	{"lit", 1, {0x30 + 31}, UW_STEP_OK, 31},
	{"breg", 2, {0x70, 0x7f}, UW_STEP_OK, 99},
	{"bregx", 3, {0x92, 0, 5}, UW_STEP_OK, 105},
	{"unknown register", 2, {0x7f, 0}, UW_STEP_BAD, 0},
	{"register out of range", 3, {0x92, 99, 0}, UW_STEP_BAD, 0},
	{"addr", 9, {0x03, 0x10, 0, 0, 0, 0, 0, 0, 0}, UW_STEP_OK, 0x4010},
	{"const1s", 2, {0x09, 0xff}, UW_STEP_OK, UINT64_MAX},
	{"const2u", 3, {0x0a, 0x34, 0x12}, UW_STEP_OK, 0x1234},
	{"const4s", 5, {0x0d, 0xfe, 0xff, 0xff, 0xff}, UW_STEP_OK, UINT64_MAX - 1},
	{"constu", 3, {0x10, 0x80, 0x01}, UW_STEP_OK, 128},
	{"consts", 2, {0x11, 0x7f}, UW_STEP_OK, UINT64_MAX},
	{"deref", 3, {0x77, 0, 0x06}, UW_STEP_OK, UINT64_C(0x1122334455667788)},
	{"deref_size 2", 4, {0x77, 0, 0x94, 2}, UW_STEP_OK, 0x7788},
	{"deref_size 9", 4, {0x77, 0, 0x94, 9}, UW_STEP_BAD, 0},
	{"deref of no memory", 2, {0x30, 0x06}, UW_STEP_READ, 0},
	{"dup, plus", 3, {0x33, 0x12, 0x22}, UW_STEP_OK, 6},
	{"drop", 3, {0x33, 0x34, 0x13}, UW_STEP_OK, 3},
	{"over", 3, {0x33, 0x34, 0x14}, UW_STEP_OK, 3},
	{"pick 2", 5, {0x31, 0x32, 0x33, 0x15, 2}, UW_STEP_OK, 1},
	{"pick out of range", 3, {0x31, 0x15, 200}, UW_STEP_BAD, 0},
	{"swap, minus", 4, {0x32, 0x39, 0x16, 0x1c}, UW_STEP_OK, 7},
	{"rot", 6, {0x31, 0x32, 0x33, 0x17, 0x13, 0x13}, UW_STEP_OK, 3},
	{"abs", 3, {0x09, 0x80, 0x19}, UW_STEP_OK, 128},
	{"and", 3, {0x3c, 0x36, 0x1a}, UW_STEP_OK, 4},
	{"div", 4, {0x09, 0xf8, 0x32, 0x1b}, UW_STEP_OK, (uint64_t)-4},
	{"div by 0", 3, {0x32, 0x30, 0x1b}, UW_STEP_BAD, 0},
	{"div of INT64_MIN by -1", 7, {0x31, 0x08, 63, 0x24, 0x09, 0xff, 0x1b}, UW_STEP_BAD, 0},
	{"mod", 3, {0x39, 0x34, 0x1d}, UW_STEP_OK, 1},
	{"mod by 0", 3, {0x39, 0x30, 0x1d}, UW_STEP_BAD, 0},
	{"mul", 3, {0x39, 0x34, 0x1e}, UW_STEP_OK, 36},
	{"neg", 2, {0x31, 0x1f}, UW_STEP_OK, UINT64_MAX},
	{"not", 2, {0x30, 0x20}, UW_STEP_OK, UINT64_MAX},
	{"or", 3, {0x38, 0x31, 0x21}, UW_STEP_OK, 9},
	{"plus_uconst", 3, {0x31, 0x23, 9}, UW_STEP_OK, 10},
	{"shl by 64", 4, {0x31, 0x08, 64, 0x24}, UW_STEP_OK, 0},
	{"shr", 4, {0x09, 0xff, 0x4f, 0x25}, UW_STEP_OK, UINT64_C(0x1ffffffff)},
	{"shra by 70", 5, {0x09, 0x80, 0x08, 70, 0x26}, UW_STEP_OK, UINT64_MAX},
	{"xor", 3, {0x3f, 0x35, 0x27}, UW_STEP_OK, 10},
	{"lt", 4, {0x09, 0xff, 0x30, 0x2d}, UW_STEP_OK, 1},
	{"ge", 4, {0x09, 0xff, 0x30, 0x2a}, UW_STEP_OK, 0},
	{"ne", 3, {0x31, 0x31, 0x2e}, UW_STEP_OK, 0},
	{"skip", 5, {0x31, 0x2f, 1, 0, 0x32}, UW_STEP_OK, 1},
	{"skip beyond the end", 4, {0x31, 0x2f, 9, 0}, UW_STEP_BAD, 0},
	{"skip before the start", 4, {0x31, 0x2f, 0, 0x80}, UW_STEP_BAD, 0},
	{"skip for ever", 4, {0x31, 0x2f, 0xfd, 0xff}, UW_STEP_BAD, 0},
	{"bra taken", 6, {0x31, 0x31, 0x28, 1, 0, 0x35}, UW_STEP_OK, 1},
	{"bra not taken", 6, {0x31, 0x30, 0x28, 1, 0, 0x35}, UW_STEP_OK, 5},
	{"nop", 2, {0x96, 0x31}, UW_STEP_OK, 1},
	{"empty", 0, {0}, UW_STEP_BAD, 0},
	{"underflow", 1, {0x22}, UW_STEP_BAD, 0},
	{"cut operand", 2, {0x0c, 1}, UW_STEP_BAD, 0},
	{"unsupported: reg0", 1, {0x50}, UW_STEP_BAD, 0},
	{"plt slot",
	 11,
	 {0x77, 8, 0x80, 0, 0x3f, 0x1a, 0x3b, 0x2a, 0x33, 0x24, 0x22},
	 UW_STEP_OK,
	 0x7010},
};

static struct uw_state state;
static struct uw_memory memory;

static enum uw_step evaluate(const uint8_t *code, size_t size, const uint64_t *initial,
			     uint64_t *value)
{
	static const uint64_t word = UINT64_C(0x1122334455667788);
	static uint8_t bytes[sizeof(word)];
	static const struct uw_stack stack = {.base = 0x7000,
					      .bytes = bytes,
					      .size = sizeof(bytes),
					      .requested = sizeof(bytes)};

	memcpy(bytes, &word, sizeof(word));
	memory = (struct uw_memory){.stack = &stack, .word = 8};
	memset(&state, 0, sizeof(state));
	state.known = (UINT64_C(1) << 17) - 1;
	state.reg[0] = 100;
	state.reg[REG_RSP] = 0x7000;
	state.reg[REG_RIP] = 0x400b;
	uw_state_forget(&state, REG_R15);
	return uw_expression_eval(code, size, initial, 0x4000, &state, &memory, value);
}

START_TEST(expression_operations)
{
	const struct evaluated *expected = &expressions[_i];
	uint64_t value = 0;

	ck_assert_msg(evaluate(expected->code, expected->size, NULL, &value) == expected->step,
		      "%s", expected->name);
	if (expected->step == UW_STEP_OK)
		ck_assert_msg(value == expected->value, "%s: %#lx", expected->name, value);
	else if (expected->step == UW_STEP_READ)
		ck_assert_uint_eq(memory.failed, 0);
}
END_TEST

START_TEST(expression_stack)
{
	static const uint8_t plus[] = {0x32, 0x22};
	uint8_t pushes[65];
	uint64_t initial = 40, value = 0;

	ck_assert_int_eq(evaluate(plus, sizeof(plus), &initial, &value), UW_STEP_OK);
	ck_assert_uint_eq(value, 42);
	memset(pushes, 0x31, sizeof(pushes));
	ck_assert_int_eq(evaluate(pushes, 64, NULL, &value), UW_STEP_OK);
	ck_assert_int_eq(evaluate(pushes, 65, NULL, &value), UW_STEP_BAD);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("unwind expression");
	TCase *tcase = tcase_create("expression");

	tcase_add_loop_test(tcase, expression_operations, 0,
			    sizeof(expressions) / sizeof(expressions[0]));
	tcase_add_test(tcase, expression_stack);
	suite_add_tcase(suite, tcase);
	return run_suite(suite);
}
