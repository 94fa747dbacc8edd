/*
 * The rules of ordinary x86 code, without the machinery for the rest: compilers emit a dozen
 * instructions, and all but 0.15 % of the rows in a distribution's x86-64 libraries have the same
 * form: CFA = register + offset, the return address below the CFA, preserved registers at offsets.
 */
#include "unwind/rules/quick.h"

#include "unwind/cfi/row.h"
#include "unwind/frame/machine.h"
#include <assert.h>
#include <string.h>

enum { RA_MAX = 16, REMEMBER_DEPTH_MAX = 4 };

struct quick_state {
	struct uw_rules row, initial;
	struct uw_rules remembered[REMEMBER_DEPTH_MAX];
	struct uw_cursor code;
	const struct uw_machine *machine;
	int8_t saved_index[RA_MAX]; /* in uw_rules.saved, by register; -1: not preserved */
	uint64_t at;
	const struct uw_fde *fde;
	unsigned depth;
	bool in_fde;
	struct uw_rules_row *rows;
	size_t count, room;
};

/* Takes "register reg is stored at CFA + factor * data alignment"; false: not ordinary. */
static bool take_offset(struct quick_state *state, uint64_t reg, uint64_t factor)
{
	if (state->fde->data_align != -state->machine->word || factor > INT8_MAX)
		return false;
	int64_t units = -(int64_t)factor;
	if (reg == state->machine->ra) {
		state->row.has_ra = units == -1;
		return state->row.has_ra;
	}
	if (reg > state->machine->ra || state->saved_index[reg] < 0 || units == 0)
		return false;
	state->row.saved.slot[state->saved_index[reg]] = (int8_t)units;
	return true;
}

static bool restore_slot(struct quick_state *state, uint64_t reg)
{
	if (!state->in_fde || reg >= state->machine->ra || state->saved_index[reg] < 0)
		return false;
	int8_t index = state->saved_index[reg];
	state->row.saved.slot[index] = state->initial.saved.slot[index];
	return true;
}

static bool set_cfa(struct quick_state *state, uint64_t reg, uint64_t offset)
{
	if (reg >= state->machine->ra || offset > INT32_MAX)
		return false;
	state->row.saved.cfa_reg = (uint8_t)reg;
	state->row.cfa_offset = (int32_t)offset;
	state->row.has_cfa = true;
	return true;
}

/* Adds the row that ends here; false: no room, or too far from the start. */
static bool emit_row(struct quick_state *state)
{
	uint64_t offset = state->at - state->fde->start;

	if (state->count == state->room || offset > UINT32_MAX)
		return false;
	state->rows[state->count++] =
		(struct uw_rules_row){.offset = (uint32_t)offset, .rules = state->row};
	return true;
}

static bool advance_row(struct quick_state *state, uint64_t delta)
{
	if (!state->in_fde)
		return false; /* keeps a CIE's rules the same for all its FDEs */
	if (delta > 0 && !emit_row(state))
		return false;
	return !__builtin_mul_overflow(delta, state->fde->code_align, &delta) &&
	       !__builtin_add_overflow(state->at, delta, &state->at);
}

/* Instructions without an operand in the operation; false: malformed, or not ordinary. */
static bool run_other(struct quick_state *state, uint8_t op)
{
	struct uw_cursor *code = &state->code;
	uint64_t reg;

	switch (op) {
	case UW_CFA_NOP:
		return true;
	case UW_CFA_ADVANCE_LOC1:
		return advance_row(state, uw_read_u8(code));
	case UW_CFA_ADVANCE_LOC2:
		return advance_row(state, uw_read_u16(code));
	case UW_CFA_ADVANCE_LOC4:
		return advance_row(state, uw_read_u32(code));
	case UW_CFA_REMEMBER_STATE:
		if (state->depth == REMEMBER_DEPTH_MAX)
			return false;
		state->remembered[state->depth++] = state->row;
		return true;
	case UW_CFA_RESTORE_STATE:
		if (state->depth == 0)
			return false;
		state->row = state->remembered[--state->depth];
		return true;
	case UW_CFA_DEF_CFA:
		reg = uw_read_uleb(code);
		return set_cfa(state, reg, uw_read_uleb(code));
	case UW_CFA_DEF_CFA_REGISTER:
		return state->row.has_cfa &&
		       set_cfa(state, uw_read_uleb(code), (uint64_t)state->row.cfa_offset);
	case UW_CFA_DEF_CFA_OFFSET:
		return state->row.has_cfa &&
		       set_cfa(state, state->row.saved.cfa_reg, uw_read_uleb(code));
	case UW_CFA_GNU_ARGS_SIZE:
		(void)uw_read_uleb(code);
		return true;
	default:
		return false;
	}
}

/* Runs code until it ends; false: malformed, or not ordinary. */
static bool run_code(struct quick_state *state, struct uw_cursor code)
{
	state->code = code;
	if (uw_cursor_left(&code) > UW_CFA_CODE_SIZE_MAX)
		return false;
	while (state->code.at < state->code.end) {
		uint8_t op = uw_read_u8(&state->code);
		uint8_t operand = op & (uint8_t)~UW_CFA_HIGH_MASK;
		bool ok;

		switch (op & UW_CFA_HIGH_MASK) {
		case UW_CFA_ADVANCE_LOC:
			ok = advance_row(state, operand);
			break;
		case UW_CFA_OFFSET:
			ok = take_offset(state, operand, uw_read_uleb(&state->code));
			break;
		case UW_CFA_RESTORE:
			ok = restore_slot(state, operand);
			break;
		default:
			ok = run_other(state, op);
		}
		if (!ok || state->code.failed)
			return false;
	}
	return true;
}

size_t uw_quick_rows(const struct uw_fde *fde, struct uw_rules_row *rows, size_t room)
{
	const struct uw_machine *machine = uw_machine_of(fde->cfi->arch);
	struct quick_state state = {.machine = machine,
				    .at = fde->start,
				    .fde = fde,
				    .rows = rows,
				    .room = room};

	assert(machine->ra <= RA_MAX);
	memset(state.saved_index, -1, sizeof(state.saved_index));
	for (int8_t i = 0; i < machine->saved_count; i++)
		state.saved_index[machine->saved[i]] = i;
	if (!run_code(&state, fde->cie_code))
		return 0;
	state.initial = state.row;
	state.in_fde = true;
	state.depth = 0;
	return run_code(&state, fde->code) && emit_row(&state) ? state.count : 0;
}
