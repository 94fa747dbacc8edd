#include "unwind/step/expression.h"

#include "unwind/elf/cursor.h"
#include "unwind/frame/machine.h"

/* Operation codes: DWARF 5, section 7.7.1. */
enum {
	OP_ADDR = 0x03,
	OP_DEREF = 0x06,
	OP_CONST1U = 0x08,
	OP_CONST8S = 0x0f,
	OP_CONSTU = 0x10,
	OP_CONSTS = 0x11,
	OP_DUP = 0x12,
	OP_DROP = 0x13,
	OP_OVER = 0x14,
	OP_PICK = 0x15,
	OP_SWAP = 0x16,
	OP_ROT = 0x17,
	OP_ABS = 0x19,
	OP_AND = 0x1a,
	OP_DIV = 0x1b,
	OP_MINUS = 0x1c,
	OP_MOD = 0x1d,
	OP_MUL = 0x1e,
	OP_NEG = 0x1f,
	OP_NOT = 0x20,
	OP_OR = 0x21,
	OP_PLUS = 0x22,
	OP_PLUS_UCONST = 0x23,
	OP_SHL = 0x24,
	OP_SHR = 0x25,
	OP_SHRA = 0x26,
	OP_XOR = 0x27,
	OP_BRA = 0x28,
	OP_EQ = 0x29,
	OP_GE = 0x2a,
	OP_GT = 0x2b,
	OP_LE = 0x2c,
	OP_LT = 0x2d,
	OP_NE = 0x2e,
	OP_SKIP = 0x2f,
	OP_LIT0 = 0x30,
	OP_LIT31 = 0x4f,
	OP_BREG0 = 0x70,
	OP_BREG31 = 0x8f,
	OP_BREGX = 0x92,
	OP_DEREF_SIZE = 0x94,
	OP_NOP = 0x96,

	STACK_MAX = 64,
	STEPS_MAX = 1000 /* skip and bra may jump backwards */
};

struct evaluation {
	struct uw_cursor code;
	const uint8_t *start;
	uint64_t bias;
	const struct uw_state *state;
	struct uw_memory *memory;
	enum uw_step result;
	unsigned depth;
	uint64_t stack[STACK_MAX];
};

static void fail(struct evaluation *evaluation, enum uw_step result)
{
	if (evaluation->result == UW_STEP_OK)
		evaluation->result = result;
}

/* Values are words of the machine; 32-bit ones are kept zero-extended. */
static void push(struct evaluation *evaluation, uint64_t value)
{
	if (evaluation->depth == STACK_MAX)
		fail(evaluation, UW_STEP_BAD);
	else
		evaluation->stack[evaluation->depth++] =
			uw_word_wrap(value, evaluation->memory->word);
}

/* A word as a signed number. */
static int64_t as_signed(const struct evaluation *evaluation, uint64_t value)
{
	return evaluation->memory->word == 4 ? (int32_t)value : (int64_t)value;
}

static uint64_t pop(struct evaluation *evaluation)
{
	if (evaluation->depth == 0) {
		fail(evaluation, UW_STEP_BAD);
		return 0;
	}
	return evaluation->stack[--evaluation->depth];
}

static void push_pick(struct evaluation *evaluation, unsigned index)
{
	if (index >= evaluation->depth)
		fail(evaluation, UW_STEP_BAD);
	else
		push(evaluation, evaluation->stack[evaluation->depth - 1 - index]);
}

static void push_register(struct evaluation *evaluation, uint64_t reg, int64_t offset)
{
	if (reg >= UW_REGS_MAX || !uw_state_knows(evaluation->state, (unsigned)reg))
		fail(evaluation, UW_STEP_BAD);
	else
		push(evaluation, evaluation->state->reg[reg] + (uint64_t)offset);
}

static void deref(struct evaluation *evaluation, uint8_t size)
{
	uint64_t address = pop(evaluation);
	uint64_t value = 0;

	if (evaluation->result != UW_STEP_OK)
		return;
	if (size == 0 || size > evaluation->memory->word)
		fail(evaluation, UW_STEP_BAD);
	else if (!uw_memory_read_sized(evaluation->memory, address, size, &value))
		fail(evaluation, UW_STEP_READ);
	else
		push(evaluation, value);
}

static void jump(struct evaluation *evaluation, int16_t offset, bool taken)
{
	struct uw_cursor *code = &evaluation->code;
	ptrdiff_t to = code->at - evaluation->start + offset;

	if (!taken)
		return;
	if (to < 0 || to > code->end - evaluation->start) {
		fail(evaluation, UW_STEP_BAD);
		return;
	}
	code->at = evaluation->start + to;
}

/* Operations that push a constant; false when op is none of them. */
static bool run_constant(struct evaluation *evaluation, uint8_t op)
{
	struct uw_cursor *code = &evaluation->code;

	if (op >= OP_CONST1U && op <= OP_CONST8S) {
		/* Of 1, 2, 4 and 8 bytes, each unsigned and signed. */
		push(evaluation, uw_read_number(code, 1u << (op - OP_CONST1U) / 2, op & 1));
		return true;
	}
	switch (op) {
	case OP_ADDR:
		push(evaluation,
		     uw_read_number(code, evaluation->memory->word, false) + evaluation->bias);
		return true;
	case OP_CONSTU:
		push(evaluation, uw_read_uleb(code));
		return true;
	case OP_CONSTS:
		push(evaluation, (uint64_t)uw_read_sleb(code));
		return true;
	default:
		return false;
	}
}

static bool compare(const struct evaluation *evaluation, uint8_t op, uint64_t left, uint64_t right)
{
	int64_t first = as_signed(evaluation, left), second = as_signed(evaluation, right);

	switch (op) {
	case OP_EQ:
		return left == right;
	case OP_GE:
		return first >= second;
	case OP_GT:
		return first > second;
	case OP_LE:
		return first <= second;
	case OP_LT:
		return first < second;
	default: /* OP_NE */
		return left != right;
	}
}

/* Operations on two values; false when op is none of them. */
static bool run_binary(struct evaluation *evaluation, uint8_t op)
{
	uint64_t value;

	if (op < OP_AND || op > OP_NE || op == OP_NEG || op == OP_NOT || op == OP_PLUS_UCONST ||
	    op == OP_BRA)
		return false;
	uint64_t right = pop(evaluation);
	uint64_t left = pop(evaluation);
	switch (op) {
	case OP_AND:
		value = left & right;
		break;
	case OP_DIV:
		/* The one quotient that does not fit, INT64_MIN / -1, traps on x86. */
		if (right == 0 || (right == UINT64_MAX && left == UINT64_C(1) << 63)) {
			fail(evaluation, UW_STEP_BAD);
			return true;
		}
		value = (uint64_t)(as_signed(evaluation, left) / as_signed(evaluation, right));
		break;
	case OP_MINUS:
		value = left - right;
		break;
	case OP_MOD:
		if (right == 0) {
			fail(evaluation, UW_STEP_BAD);
			return true;
		}
		value = left % right;
		break;
	case OP_MUL:
		value = left * right;
		break;
	case OP_OR:
		value = left | right;
		break;
	case OP_PLUS:
		value = left + right;
		break;
	case OP_SHL:
		value = right < 64 ? left << right : 0;
		break;
	case OP_SHR:
		value = right < 64 ? left >> right : 0;
		break;
	case OP_SHRA:
		value = (uint64_t)(as_signed(evaluation, left) >> (right < 64 ? right : 63));
		break;
	case OP_XOR:
		value = left ^ right;
		break;
	default:
		value = compare(evaluation, op, left, right);
	}
	push(evaluation, value);
	return true;
}

/* Operations that move values or take one; false when op is none of them. */
static bool run_unary(struct evaluation *evaluation, uint8_t op)
{
	uint64_t first, second, third;

	switch (op) {
	case OP_DUP:
		push_pick(evaluation, 0);
		return true;
	case OP_DROP:
		(void)pop(evaluation);
		return true;
	case OP_OVER:
		push_pick(evaluation, 1);
		return true;
	case OP_PICK:
		push_pick(evaluation, uw_read_u8(&evaluation->code));
		return true;
	case OP_SWAP:
		first = pop(evaluation);
		second = pop(evaluation);
		push(evaluation, first);
		push(evaluation, second);
		return true;
	case OP_ROT: /* the top becomes the third */
		first = pop(evaluation);
		second = pop(evaluation);
		third = pop(evaluation);
		push(evaluation, first);
		push(evaluation, third);
		push(evaluation, second);
		return true;
	case OP_ABS:
		first = pop(evaluation);
		push(evaluation, as_signed(evaluation, first) < 0 ? -first : first);
		return true;
	case OP_NEG:
		push(evaluation, -pop(evaluation));
		return true;
	case OP_NOT:
		push(evaluation, ~pop(evaluation));
		return true;
	default:
		return false;
	}
}

static void run_other(struct evaluation *evaluation, uint8_t op)
{
	struct uw_cursor *code = &evaluation->code;
	uint64_t value;
	int16_t offset;

	if (op >= OP_LIT0 && op <= OP_LIT31) {
		push(evaluation, (uint64_t)(op - OP_LIT0));
		return;
	}
	if (op >= OP_BREG0 && op <= OP_BREG31) {
		push_register(evaluation, (uint64_t)(op - OP_BREG0), uw_read_sleb(code));
		return;
	}
	switch (op) {
	case OP_BREGX:
		value = uw_read_uleb(code);
		push_register(evaluation, value, uw_read_sleb(code));
		break;
	case OP_PLUS_UCONST:
		value = uw_read_uleb(code);
		push(evaluation, pop(evaluation) + value);
		break;
	case OP_DEREF:
		deref(evaluation, evaluation->memory->word);
		break;
	case OP_DEREF_SIZE:
		deref(evaluation, uw_read_u8(code));
		break;
	case OP_SKIP:
		offset = (int16_t)uw_read_u16(code);
		jump(evaluation, offset, true);
		break;
	case OP_BRA:
		offset = (int16_t)uw_read_u16(code);
		jump(evaluation, offset, pop(evaluation) != 0);
		break;
	case OP_NOP:
		break;
	default:
		fail(evaluation, UW_STEP_BAD);
	}
}

enum uw_step uw_expression_eval(const uint8_t *bytes, size_t size, const uint64_t *initial,
				uint64_t bias, const struct uw_state *state,
				struct uw_memory *memory, uint64_t *value)
{
	struct evaluation evaluation;

	evaluation.code = (struct uw_cursor){.at = bytes, .end = bytes + size};
	evaluation.start = bytes;
	evaluation.bias = bias;
	evaluation.state = state;
	evaluation.memory = memory;
	evaluation.result = UW_STEP_OK;
	evaluation.depth = 0;
	if (initial)
		push(&evaluation, *initial);
	for (unsigned steps = 0; uw_cursor_left(&evaluation.code) > 0; steps++) {
		uint8_t op = uw_read_u8(&evaluation.code);

		if (!run_constant(&evaluation, op) && !run_binary(&evaluation, op) &&
		    !run_unary(&evaluation, op))
			run_other(&evaluation, op);
		if (evaluation.code.failed || steps == STEPS_MAX ||
		    ++memory->operations > UW_OPERATIONS_MAX)
			fail(&evaluation, UW_STEP_BAD);
		if (evaluation.result != UW_STEP_OK)
			return evaluation.result;
	}
	*value = pop(&evaluation);
	return evaluation.result;
}
