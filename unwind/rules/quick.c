/*
 * The rules of ordinary x86 code, without the machinery for the rest: compilers emit a dozen
 * instructions, and all but 0.15 % of the rows in a distribution's x86-64 libraries say that the
 * CFA is a register plus an offset, the return address lies below it, and preserved registers at
 * offsets.
 */
#include "unwind/rules/quick.h"

#include "unwind/cfi/machine.h"
#include "unwind/cfi/opcodes.h"

enum { RA_MAX = 16, REMEMBER_DEPTH_MAX = 4 };

/* Index in uw_quick.saved by DWARF number below the return address's; -1: not a register that
 * functions preserve. */
static const int8_t saved_index_64[RA_MAX] = {-1, -1, -1, 0,  -1, -1, 1, -1,
					      -1, -1, -1, -1, 2,  3,  4, 5};
static const int8_t saved_index_32[RA_MAX] = {-1, -1, -1, 0,  -1, 1,  2,  3,
					      -1, -1, -1, -1, -1, -1, -1, -1};

struct quick_state {
	struct uw_quick row, initial;
	struct uw_quick remembered[REMEMBER_DEPTH_MAX];
	struct uw_reader code;
	const struct uw_machine *machine;
	const int8_t *saved_index;
	uint64_t at, target;
	const struct uw_fde *fde;
	unsigned depth;
	bool in_fde;
	struct uw_quick_row *rows; /* NULL: only the target's is wanted */
	size_t count, room;
};

/* Takes "register reg is stored at CFA + factor * data alignment"; false: not ordinary. */
static bool quick_offset(struct quick_state *state, uint64_t reg, uint64_t factor)
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

static bool quick_restore(struct quick_state *state, uint64_t reg)
{
	if (!state->in_fde || reg >= state->machine->ra || state->saved_index[reg] < 0)
		return false;
	int8_t index = state->saved_index[reg];
	state->row.saved.slot[index] = state->initial.saved.slot[index];
	return true;
}

static bool quick_cfa(struct quick_state *state, uint64_t reg, uint64_t offset)
{
	if (reg >= state->machine->ra || offset > INT32_MAX)
		return false;
	state->row.saved.cfa_reg = (uint8_t)reg;
	state->row.cfa_offset = (int32_t)offset;
	state->row.has_cfa = true;
	return true;
}

/* Adds the row that ends here; false: no room, or too far from the start. */
static bool quick_emit(struct quick_state *state)
{
	uint64_t offset = state->at - state->fde->start;

	if (state->count == state->room || offset > UINT32_MAX)
		return false;
	state->rows[state->count++] =
		(struct uw_quick_row){.offset = (uint32_t)offset, .rules = state->row};
	return true;
}

static bool quick_advance(struct quick_state *state, uint64_t delta)
{
	if (!state->in_fde)
		return false; /* so that what a CIE says is the same for all of its FDEs */
	if (state->rows && delta > 0 && !quick_emit(state))
		return false;
	return !__builtin_mul_overflow(delta, state->fde->code_align, &delta) &&
	       !__builtin_add_overflow(state->at, delta, &state->at);
}

/* Instructions without an operand in the operation; false: malformed, or not ordinary. */
static bool quick_run_other(struct quick_state *state, uint8_t op)
{
	struct uw_reader *code = &state->code;
	uint64_t reg;

	switch (op) {
	case UW_CFA_NOP:
		return true;
	case UW_CFA_ADVANCE_LOC1:
		return quick_advance(state, uw_read_u8(code));
	case UW_CFA_ADVANCE_LOC2:
		return quick_advance(state, uw_read_u16(code));
	case UW_CFA_ADVANCE_LOC4:
		return quick_advance(state, uw_read_u32(code));
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
		return quick_cfa(state, reg, uw_read_uleb(code));
	case UW_CFA_DEF_CFA_REGISTER:
		return state->row.has_cfa &&
		       quick_cfa(state, uw_read_uleb(code), (uint64_t)state->row.cfa_offset);
	case UW_CFA_DEF_CFA_OFFSET:
		return state->row.has_cfa &&
		       quick_cfa(state, state->row.saved.cfa_reg, uw_read_uleb(code));
	case UW_CFA_GNU_ARGS_SIZE:
		(void)uw_read_uleb(code);
		return true;
	default:
		return false;
	}
}

/* Runs code until it ends or the row of the target is complete. */
static bool quick_run(struct quick_state *state, struct uw_reader code)
{
	state->code = code;
	if (uw_reader_left(&code) > UW_CFA_CODE_SIZE_MAX)
		return false;
	while (state->code.at < state->code.end && state->at <= state->target) {
		uint8_t op = uw_read_u8(&state->code);
		uint8_t operand = op & (uint8_t)~UW_CFA_HIGH_MASK;
		bool ok;

		switch (op & UW_CFA_HIGH_MASK) {
		case UW_CFA_ADVANCE_LOC:
			ok = quick_advance(state, operand);
			break;
		case UW_CFA_OFFSET:
			ok = quick_offset(state, operand, uw_read_uleb(&state->code));
			break;
		case UW_CFA_RESTORE:
			ok = quick_restore(state, operand);
			break;
		default:
			ok = quick_run_other(state, op);
		}
		if (!ok || state->code.failed)
			return false;
	}
	return true;
}

static bool quick_run_cie(struct quick_state *state)
{
	state->row = (struct uw_quick){0};
	state->at = state->fde->start;
	state->depth = 0;
	state->in_fde = false;
	state->rows = NULL;
	return quick_run(state, state->fde->cie_code);
}

static bool quick_begin(struct quick_state *state, const struct uw_fde *fde, uint64_t target,
			struct uw_quick_cie *cie)
{
	struct uw_quick_cie only = {0};

	if (!cie)
		cie = &only;
	state->machine = uw_machine_of(fde->cfi->arch);
	state->saved_index = state->machine->word == 8 ? saved_index_64 : saved_index_32;
	state->target = target;
	state->fde = fde;
	if (!cie->code.at || cie->code.at != fde->cie_code.at ||
	    cie->code.end != fde->cie_code.end || cie->data_align != fde->data_align) {
		cie->ordinary = quick_run_cie(state);
		cie->rules = state->row;
		cie->code = fde->cie_code;
		cie->data_align = fde->data_align;
	}
	if (!cie->ordinary)
		return false;
	state->row = state->initial = cie->rules;
	state->depth = 0;
	state->in_fde = true;
	state->at = fde->start;
	return true;
}

bool uw_cfi_quick(const struct uw_fde *fde, uint64_t rva, struct uw_quick *row)
{
	struct quick_state state;

	state.rows = NULL;
	if (!quick_begin(&state, fde, rva, NULL) || !quick_run(&state, fde->code) ||
	    !state.row.has_ra || !state.row.has_cfa)
		return false;
	*row = state.row;
	uw_quick_finish(state.machine, row);
	return true;
}

size_t uw_cfi_quick_rows(const struct uw_fde *fde, struct uw_quick_cie *cie,
			 struct uw_quick_row *rows, size_t room)
{
	struct quick_state state;

	if (!quick_begin(&state, fde, UINT64_MAX, cie))
		return 0;
	state.rows = rows;
	state.count = 0;
	state.room = room;
	if (!quick_run(&state, fde->code) || !quick_emit(&state))
		return 0;
	return state.count;
}
