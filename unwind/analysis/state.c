#include "unwind/analysis/state.h"

#include <assert.h>
#include <string.h>

static const struct uw_value any;

enum { SMALLEST = 4096 };

void uw_state_enter(struct uw_flow_state *state)
{
	memset(state, 0, sizeof(*state));
	state->reg[UW_RSP] = (struct uw_value){UW_VALUE_CFA, 0, -8};
	for (unsigned reg = 0; reg < UW_GPR_COUNT; reg++) {
		unsigned index = uw_saved_index(reg);
		if (index < UW_SAVED_COUNT)
			state->reg[reg] = (struct uw_value){UW_VALUE_INITIAL, 0, (int32_t)index};
	}
}

void uw_state_begin(struct uw_flow_state *state)
{
	uw_state_enter(state);
	state->reg[UW_RSP].number = 0;
	state->reg[UW_RBP] = (struct uw_value){UW_VALUE_ALIGNED, 0, 0};
	state->ahead = UW_AHEAD;
}

bool uw_state_is_entry(const struct uw_flow_state *state)
{
	struct uw_flow_state entry;

	uw_state_enter(&entry);
	for (unsigned reg = 0; reg < UW_GPR_COUNT; reg++)
		if (entry.reg[reg].kind != UW_VALUE_ANY &&
		    memcmp(&entry.reg[reg], &state->reg[reg], sizeof(any)) != 0)
			return false;
	return true;
}

static bool is_same(struct uw_value a, struct uw_value b)
{
	return a.kind == b.kind && a.count == b.count && a.number == b.number;
}

struct uw_value uw_value_constant(int64_t constant)
{
	/* No address, and no frame: a state less. */
	if (constant != (int32_t)constant || (constant >= 0 && constant < SMALLEST))
		return any;
	return (struct uw_value){UW_VALUE_CONSTANT, 0, (int32_t)constant};
}

struct uw_value uw_value_add(struct uw_value value, int64_t constant)
{
	int64_t sum;

	if ((!uw_value_is_frame(value) && value.kind != UW_VALUE_CONSTANT) ||
	    __builtin_add_overflow(constant, value.number, &sum) || sum != (int32_t)sum)
		return any;
	value.number = (int32_t)sum;
	return value;
}

static bool place_uses(const struct uw_place *place, unsigned reg)
{
	return place->is_set && (place->reg == reg || (place->is_memory && place->index == reg));
}

void uw_state_put(struct uw_flow_state *state, unsigned reg, struct uw_value value)
{
	struct uw_comparison *comparison = &state->comparison;

	state->reg[reg] = value;
	if (place_uses(&comparison->place, reg) ||
	    (comparison->place.is_set && comparison->other == reg))
		memset(comparison, 0, sizeof(*comparison));
	state->copy_of[reg] = 0;
	for (unsigned other = 0; other < UW_GPR_COUNT; other++)
		if (state->copy_of[other] == reg + 1)
			state->copy_of[other] = 0;
	if (place_uses(&state->bounded, reg)) {
		memset(&state->bounded, 0, sizeof(state->bounded));
		state->bounded_count = 0;
	}
	if (reg == UW_RSP && !uw_value_is_frame(value) && state->reason == UW_ANALYSIS_KNOWN)
		state->reason = UW_ANALYSIS_COMPUTED;
	else if (reg == UW_RSP && value.kind == UW_VALUE_CFA)
		state->reason = UW_ANALYSIS_KNOWN;
}

void uw_state_copy(struct uw_flow_state *state, unsigned to, unsigned from)
{
	if (to != from)
		state->copy_of[to] = (uint8_t)(from + 1);
}

static void remove_slot(struct uw_flow_state *state, uint32_t i)
{
	state->slot_count--;
	memmove(&state->slot[i], &state->slot[i + 1],
		(state->slot_count - i) * sizeof(state->slot[0]));
	memset(&state->slot[state->slot_count], 0, sizeof(state->slot[0]));
}

static bool slot_lies_before(const struct uw_slot *slot, struct uw_value address)
{
	return slot->base < address.kind ||
	       (slot->base == address.kind && slot->offset < address.number);
}

struct uw_value uw_state_load(const struct uw_flow_state *state, struct uw_value address,
			      size_t size)
{
	if (!uw_value_is_frame(address) || size != 8)
		return any;
	for (uint32_t i = 0; i < state->slot_count; i++)
		if (state->slot[i].base == address.kind && state->slot[i].offset == address.number)
			return state->slot[i].value;
	if (state->ahead)
		return (struct uw_value){UW_VALUE_WORD, address.kind, address.number};
	return any;
}

/* Addresses of the frame are stored everywhere; the CFA's is needed where the stack pointer was
 * aligned. */
static bool is_kept(const struct uw_flow_state *state, struct uw_value address,
		    struct uw_value value)
{
	if (state->ahead)
		return value.kind == UW_VALUE_INITIAL || value.kind == UW_VALUE_WORD ||
		       (value.kind == UW_VALUE_ALIGNED && value.number == 0);
	return value.kind == UW_VALUE_INITIAL ||
	       (value.kind == UW_VALUE_CFA && address.kind == UW_VALUE_ALIGNED);
}

void uw_state_store(struct uw_flow_state *state, struct uw_value address, size_t size,
		    struct uw_value value)
{
	uint32_t i = 0;

	if (!uw_value_is_frame(address))
		return;
	while (i < state->slot_count) {
		const struct uw_slot *slot = &state->slot[i];
		if (slot->base == address.kind && slot->offset < address.number + (int64_t)size &&
		    slot->offset + INT64_C(8) > address.number)
			remove_slot(state, i);
		else
			i++;
	}
	if (size != 8 || !is_kept(state, address, value))
		return;
	if (state->slot_count == UW_SLOT_MAX) {
		state->ahead |= state->ahead ? UW_AHEAD_LOST : 0;
		return;
	}
	for (i = 0; i < state->slot_count && slot_lies_before(&state->slot[i], address);)
		i++;
	memmove(&state->slot[i + 1], &state->slot[i],
		(state->slot_count - i) * sizeof(state->slot[0]));
	state->slot[i] = (struct uw_slot){address.kind, address.number, value};
	state->slot_count++;
}

void uw_state_call(struct uw_flow_state *state)
{
	struct uw_value sp = state->reg[UW_RSP];
	uint32_t i = 0;

	for (unsigned reg = 0; reg < UW_GPR_COUNT; reg++)
		if (reg != UW_RSP && uw_saved_index(reg) == UW_SAVED_COUNT)
			state->reg[reg] = any;
	memset(state->copy_of, 0, sizeof(state->copy_of));
	memset(&state->comparison, 0, sizeof(state->comparison));
	memset(&state->bounded, 0, sizeof(state->bounded));
	state->bounded_count = 0;
	while (i < state->slot_count) {
		if (state->slot[i].base == sp.kind && state->slot[i].offset < sp.number)
			remove_slot(state, i);
		else
			i++;
	}
}

/* Both are sorted. */
static bool meet_slots(struct uw_flow_state *state, const struct uw_flow_state *other)
{
	uint32_t kept = 0, i = 0, before = state->slot_count;

	for (uint32_t j = 0; i < before; i++) {
		struct uw_slot slot = state->slot[i];
		struct uw_value address = {(uint16_t)slot.base, 0, slot.offset};
		while (j < other->slot_count && slot_lies_before(&other->slot[j], address))
			j++;
		if (j < other->slot_count && other->slot[j].base == slot.base &&
		    other->slot[j].offset == slot.offset &&
		    is_same(other->slot[j].value, slot.value))
			state->slot[kept++] = slot;
	}
	memset(&state->slot[kept], 0, (before - kept) * sizeof(state->slot[0]));
	state->slot_count = kept;
	return kept != before;
}

bool uw_state_meet(struct uw_flow_state *state, const struct uw_flow_state *other)
{
	bool changed = meet_slots(state, other);

	for (unsigned reg = 0; reg < UW_GPR_COUNT; reg++) {
		if (state->copy_of[reg] && state->copy_of[reg] != other->copy_of[reg]) {
			state->copy_of[reg] = 0;
			changed = true;
		}
		if (is_same(state->reg[reg], other->reg[reg]) ||
		    state->reg[reg].kind == UW_VALUE_ANY)
			continue;
		state->reg[reg] = any;
		changed = true;
		if (reg == UW_RSP)
			state->reason = other->reason ? other->reason : UW_ANALYSIS_CONFLICT;
	}
	if (state->comparison.place.is_set &&
	    memcmp(&state->comparison, &other->comparison, sizeof(state->comparison)) != 0) {
		memset(&state->comparison, 0, sizeof(state->comparison));
		changed = true;
	}
	if (state->bounded.is_set &&
	    (memcmp(&state->bounded, &other->bounded, sizeof(state->bounded)) != 0 ||
	     state->bounded_count != other->bounded_count)) {
		memset(&state->bounded, 0, sizeof(state->bounded));
		state->bounded_count = 0;
		changed = true;
	}
	return changed;
}

/* DWARF numbers: System V x86-64 psABI, figure 3.36. */
static const uint8_t dwarf_number[UW_GPR_COUNT] = {0, 2, 1,  3,  7,  6,  4,  5,
						   8, 9, 10, 11, 12, 13, 14, 15};

static int32_t distance(struct uw_value value)
{
	return value.kind == UW_VALUE_CFA ? -value.number : INT32_MIN;
}

static void row_register(struct uw_analysis_row *row, const struct uw_flow_state *state,
			 unsigned reg)
{
	row->reason = UW_ANALYSIS_KNOWN;
	row->cfa_reg = dwarf_number[reg];
	row->cfa_offset = distance(state->reg[reg]);
}

static void row_cfa(struct uw_analysis_row *row, const struct uw_flow_state *state)
{
	static const uint8_t order[] = {UW_RSP, UW_RBP, 10, 13, 0,  1,  2,  3,
					6,      7,      8,  9,  11, 12, 14, 15};
	struct uw_value fp = state->reg[UW_RBP];

	for (unsigned i = 0; i < UW_GPR_COUNT; i++) {
		if (state->reg[order[i]].kind == UW_VALUE_CFA) {
			row_register(row, state, order[i]);
			return;
		}
	}
	row->reason = state->reason ? (uint8_t)state->reason : UW_ANALYSIS_COMPUTED;
	for (uint32_t i = 0; i < state->slot_count; i++) {
		const struct uw_slot *slot = &state->slot[i];
		if (slot->base != UW_VALUE_ALIGNED || fp.kind != UW_VALUE_ALIGNED ||
		    slot->value.kind != UW_VALUE_CFA || slot->value.number != 0)
			continue;
		row->reason = UW_ANALYSIS_KNOWN;
		row->cfa_is_stored = true;
		row->cfa_reg = dwarf_number[UW_RBP];
		row->cfa_offset = slot->offset - fp.number;
	}
}

static void row_slot(struct uw_analysis_row *row, const struct uw_flow_state *state,
		     const struct uw_slot *slot)
{
	struct uw_value sp = state->reg[UW_RSP], fp = state->reg[UW_RBP];
	unsigned index = (unsigned)slot->value.number;
	uint8_t bit = (uint8_t)(1U << index);

	if (slot->base == UW_VALUE_CFA) {
		/* Popped: the word is no longer the frame's. */
		if ((row->same & bit) && sp.kind == UW_VALUE_CFA && slot->offset < sp.number)
			return;
		row->by_fp &= (uint8_t)~bit;
		row->slot[index] = slot->offset;
	} else {
		if (fp.kind != UW_VALUE_ALIGNED || (row->saved & bit))
			return;
		if ((row->same & bit) && sp.kind == UW_VALUE_ALIGNED && slot->offset < sp.number)
			return;
		row->by_fp |= bit;
		row->slot[index] = slot->offset - fp.number;
	}
	row->saved |= bit;
}

void uw_state_row(const struct uw_flow_state *state, struct uw_analysis_row *row)
{
	memset(row, 0, sizeof(*row));
	row_cfa(row, state);
	if (row->reason != UW_ANALYSIS_KNOWN)
		return;
	row->sp_offset = distance(state->reg[UW_RSP]);
	row->fp_offset = distance(state->reg[UW_RBP]);
	for (unsigned reg = 0; reg < UW_GPR_COUNT; reg++) {
		unsigned index = uw_saved_index(reg);
		if (index < UW_SAVED_COUNT &&
		    is_same(state->reg[reg],
			    (struct uw_value){UW_VALUE_INITIAL, 0, (int32_t)index}))
			row->same |= (uint8_t)(1U << index);
	}
	for (uint32_t i = 0; i < state->slot_count; i++)
		if (state->slot[i].value.kind == UW_VALUE_INITIAL)
			row_slot(row, state, &state->slot[i]);
}
