#include "unwind/cfi/row.h"

#include "unwind/frame/machine.h"
#include <assert.h>

enum {
	REMEMBER_DEPTH_MAX = 16, /* compilers nest one or two */
	COPY_EFFORT = 8          /* of a row, in instructions that change a rule */
};

struct machine_state {
	const struct uw_cfi *cfi;
	const struct uw_fde *fde;
	const struct uw_row *initial; /* the CIE's row; NULL while the CIE's code runs */
	struct uw_row *row;
	struct uw_cursor code;
	uint64_t at;     /* first address of the row */
	uint64_t target; /* address of the wanted row */
	uint32_t *effort;
	unsigned depth;
	struct uw_row remembered[REMEMBER_DEPTH_MAX];
};

/* The rule of a register; *unused for a register not tracked. */
static struct uw_rule *find_rule(struct machine_state *state, uint64_t reg, struct uw_rule *unused)
{
	if (reg >= uw_machine_of(state->cfi->arch)->regs)
		return unused;
	return &state->row->reg[reg];
}

static void set_rule(struct machine_state *state, uint64_t reg, enum uw_rule_kind kind,
		     uint64_t offset)
{
	struct uw_rule unused;

	*find_rule(state, reg, &unused) =
		(struct uw_rule){.kind = (uint8_t)kind, .offset = (int64_t)offset};
}

static void restore_rule(struct machine_state *state, uint64_t reg)
{
	struct uw_rule unused;

	if (!state->initial)
		state->code.failed = true;
	else if (reg < UW_REGS_MAX)
		*find_rule(state, reg, &unused) = state->initial->reg[reg];
}

static void set_register(struct machine_state *state, uint64_t reg, uint64_t source)
{
	struct uw_rule unused;
	struct uw_rule *rule = find_rule(state, reg, &unused);

	if (source >= uw_machine_of(state->cfi->arch)->regs)
		state->code.failed = true;
	else
		*rule = (struct uw_rule){.kind = UW_RULE_REGISTER, .reg = (uint8_t)source};
}

static void take_expression(struct machine_state *state, struct uw_rule *rule,
			    enum uw_rule_kind kind)
{
	uint64_t size = uw_read_uleb(&state->code);
	const uint8_t *expression = state->code.at;

	uw_read_skip(&state->code, size);
	if (size > UINT16_MAX)
		state->code.failed = true;
	*rule = (struct uw_rule){.kind = (uint8_t)kind,
				 .size = (uint16_t)size,
				 .expression = expression};
}

static void set_cfa(struct machine_state *state, uint64_t reg, int64_t offset)
{
	if (reg >= uw_machine_of(state->cfi->arch)->regs)
		state->code.failed = true;
	else
		state->row->cfa = (struct uw_rule){.kind = UW_RULE_REGISTER,
						   .reg = (uint8_t)reg,
						   .offset = offset};
}

/*
 * Instructions that change one half of the CFA rule. After an expression they are not valid, but
 * assembly has them (libgcrypt), and every unwinder takes the half set before the expression.
 */
static void set_cfa_offset(struct machine_state *state, int64_t offset)
{
	if (state->row->cfa.kind == UW_RULE_UNSPECIFIED)
		state->code.failed = true;
	state->row->cfa.offset = offset;
}

static void set_cfa_register(struct machine_state *state, uint64_t reg)
{
	if (state->row->cfa.kind == UW_RULE_UNSPECIFIED)
		state->code.failed = true;
	set_cfa(state, reg, state->row->cfa.offset);
}

static void set_cfa_expression(struct machine_state *state)
{
	int64_t offset = state->row->cfa.offset;

	take_expression(state, &state->row->cfa, UW_RULE_EXPRESSION_VALUE);
	state->row->cfa.offset = offset;
}

static void advance_address(struct machine_state *state, uint64_t delta)
{
	if (__builtin_mul_overflow(delta, state->fde->code_align, &delta) ||
	    __builtin_add_overflow(state->at, delta, &state->at))
		state->code.failed = true;
}

static void remember_row(struct machine_state *state)
{
	*state->effort += COPY_EFFORT;
	if (state->depth == REMEMBER_DEPTH_MAX)
		state->code.failed = true;
	else
		state->remembered[state->depth++] = *state->row;
}

static void recall_row(struct machine_state *state)
{
	*state->effort += COPY_EFFORT;
	if (state->depth == 0)
		state->code.failed = true;
	else
		*state->row = state->remembered[--state->depth];
}

static uint64_t factored(const struct machine_state *state, uint64_t value)
{
	return value * (uint64_t)state->fde->data_align;
}

/* Runs instructions that set the CFA rule; false: another op. */
static bool run_cfa(struct machine_state *state, uint8_t op)
{
	struct uw_cursor *code = &state->code;
	uint64_t reg;

	switch (op) {
	case UW_CFA_DEF_CFA:
		reg = uw_read_uleb(code);
		set_cfa(state, reg, (int64_t)uw_read_uleb(code));
		return true;
	case UW_CFA_DEF_CFA_SF:
		reg = uw_read_uleb(code);
		set_cfa(state, reg, (int64_t)factored(state, (uint64_t)uw_read_sleb(code)));
		return true;
	case UW_CFA_DEF_CFA_REGISTER:
		set_cfa_register(state, uw_read_uleb(code));
		return true;
	case UW_CFA_DEF_CFA_OFFSET:
		set_cfa_offset(state, (int64_t)uw_read_uleb(code));
		return true;
	case UW_CFA_DEF_CFA_OFFSET_SF:
		set_cfa_offset(state, (int64_t)factored(state, (uint64_t)uw_read_sleb(code)));
		return true;
	case UW_CFA_DEF_CFA_EXPRESSION:
		set_cfa_expression(state);
		return true;
	default:
		return false;
	}
}

/* Runs instructions that set a register's rule; false: another op. */
static bool run_rule(struct machine_state *state, uint8_t op)
{
	struct uw_cursor *code = &state->code;
	struct uw_rule unused;

	if (op < UW_CFA_OFFSET_EXTENDED || (op > UW_CFA_REGISTER && op < UW_CFA_EXPRESSION) ||
	    (op > UW_CFA_VAL_EXPRESSION && op != UW_CFA_GNU_NEGATIVE_OFFSET_EXTENDED))
		return false;
	uint64_t reg = uw_read_uleb(code);
	switch (op) {
	case UW_CFA_OFFSET_EXTENDED:
		set_rule(state, reg, UW_RULE_AT_CFA, factored(state, uw_read_uleb(code)));
		return true;
	case UW_CFA_OFFSET_EXTENDED_SF:
		set_rule(state, reg, UW_RULE_AT_CFA, factored(state, (uint64_t)uw_read_sleb(code)));
		return true;
	case UW_CFA_GNU_NEGATIVE_OFFSET_EXTENDED:
		set_rule(state, reg, UW_RULE_AT_CFA, -factored(state, uw_read_uleb(code)));
		return true;
	case UW_CFA_VAL_OFFSET:
		set_rule(state, reg, UW_RULE_CFA_VALUE, factored(state, uw_read_uleb(code)));
		return true;
	case UW_CFA_VAL_OFFSET_SF:
		set_rule(state, reg, UW_RULE_CFA_VALUE,
			 factored(state, (uint64_t)uw_read_sleb(code)));
		return true;
	case UW_CFA_RESTORE_EXTENDED:
		restore_rule(state, reg);
		return true;
	case UW_CFA_UNDEFINED:
		set_rule(state, reg, UW_RULE_UNDEFINED, 0);
		return true;
	case UW_CFA_SAME_VALUE:
		set_rule(state, reg, UW_RULE_SAME, 0);
		return true;
	case UW_CFA_REGISTER:
		set_register(state, reg, uw_read_uleb(code));
		return true;
	case UW_CFA_EXPRESSION:
		take_expression(state, find_rule(state, reg, &unused), UW_RULE_AT_EXPRESSION);
		return true;
	case UW_CFA_VAL_EXPRESSION:
		take_expression(state, find_rule(state, reg, &unused), UW_RULE_EXPRESSION_VALUE);
		return true;
	default:
		return false;
	}
}

static void run_other(struct machine_state *state, uint8_t op)
{
	struct uw_cursor *code = &state->code;

	switch (op) {
	case UW_CFA_NOP:
		break;
	case UW_CFA_SET_LOC:
		state->at = uw_read_pointer(code, state->fde->encoding, state->cfi->hdr_rva);
		break;
	case UW_CFA_ADVANCE_LOC1:
		advance_address(state, uw_read_u8(code));
		break;
	case UW_CFA_ADVANCE_LOC2:
		advance_address(state, uw_read_u16(code));
		break;
	case UW_CFA_ADVANCE_LOC4:
		advance_address(state, uw_read_u32(code));
		break;
	case UW_CFA_REMEMBER_STATE:
		remember_row(state);
		break;
	case UW_CFA_RESTORE_STATE:
		recall_row(state);
		break;
	case UW_CFA_GNU_ARGS_SIZE: /* matters only to resume execution */
		(void)uw_read_uleb(code);
		break;
	case UW_CFA_AARCH64_NEGATE_RA_STATE:
		if (state->cfi->arch == UW_ARCH_AARCH64)
			state->row->ra_signed = !state->row->ra_signed;
		else
			code->failed = true;
		break;
	default:
		code->failed = true;
	}
}

/* Runs code to its end or until the row of target is complete; false: malformed. */
static bool run_code(struct machine_state *state, struct uw_cursor code)
{
	state->code = code;
	if (uw_cursor_left(&code) > UW_CFA_CODE_SIZE_MAX)
		return false;
	while (uw_cursor_left(&state->code) > 0) {
		uint8_t op = uw_read_u8(&state->code);
		uint8_t operand = op & (uint8_t)~UW_CFA_HIGH_MASK;

		if ((op & UW_CFA_HIGH_MASK) == UW_CFA_ADVANCE_LOC)
			advance_address(state, operand);
		else if ((op & UW_CFA_HIGH_MASK) == UW_CFA_OFFSET)
			set_rule(state, operand, UW_RULE_AT_CFA,
				 factored(state, uw_read_uleb(&state->code)));
		else if ((op & UW_CFA_HIGH_MASK) == UW_CFA_RESTORE)
			restore_rule(state, operand);
		else if (!run_cfa(state, op) && !run_rule(state, op))
			run_other(state, op);
		if (state->code.failed || ++*state->effort > UW_CFI_EFFORT_MAX)
			return false;
		if (state->at > state->target)
			break;
	}
	return true;
}

enum uw_cfi_result uw_cfi_row(const struct uw_fde *fde, uint64_t rva, struct uw_row *row,
			      uint32_t *effort)
{
	struct machine_state state;

	assert(rva >= fde->start && rva < fde->end);
	*row = (struct uw_row){0};
	state.cfi = fde->cfi;
	state.fde = fde;
	state.initial = NULL;
	state.row = row;
	state.depth = 0;
	state.effort = effort;
	state.at = fde->start;
	state.target = rva;
	if (!run_code(&state, fde->cie_code))
		return UW_CFI_BAD;
	struct uw_row initial = *row;
	state.initial = &initial;
	state.at = fde->start;
	if (!run_code(&state, fde->code))
		return UW_CFI_BAD;
	if (row->cfa.kind == UW_RULE_UNSPECIFIED)
		return UW_CFI_BAD;
	return UW_CFI_OK;
}
