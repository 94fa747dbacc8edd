#include "unwind/convention.h"

#include "unwind/space.h"
#include "unwind/step_common.h"

enum {
	REG_RBP = 6,
	REG_RSP = UW_X86_64_RSP,
	REG_RIP = UW_X86_64_RIP,
	/* Code without CFI between two functions that have it; more is a module, or a part of one,
	   that has none at all. */
	GAP_FUNCTIONS_MAX = 64 * 1024,
	LEAF_SIZE_MAX = 512 /* of a function in such a part, from its entry to here */
};

static bool in_mapping(struct uw_space *space, uint64_t ra)
{
	return uw_space_lookup(space, ra - 1) != NULL;
}

/*
 * Whether a direct call to target can have led to the code without CFI at ip. A target in another
 * mapping is a linkage stub, which leads anywhere; one in the same must be this piece of code.
 */
static bool call_reaches(const struct uw_mapping *mapping, uint64_t target, uint64_t ip)
{
	uint64_t bias = mapping->start - mapping->rva;
	struct uw_cfi_gap gap;
	struct uw_fde fde;

	if (target < mapping->start || target >= mapping->end)
		return true;
	return target <= ip &&
	       uw_cfi_find(&mapping->module->cfi, ip - bias, &fde, &gap) == UW_CFI_NONE &&
	       target - bias >= gap.start &&
	       (gap.end - gap.start <= GAP_FUNCTIONS_MAX || ip - target <= LEAF_SIZE_MAX);
}

enum uw_step uw_convention_leaf(struct uw_space *space, struct uw_state *state,
				struct uw_memory *memory)
{
	const struct uw_mapping *mapping = memory->mapping;
	uint64_t sp = state->reg[REG_RSP];
	const struct uw_call *call;
	uint64_t ra;

	/* psABI, section 3.2.2: at a function's entry rsp + 8 is a multiple of 16. */
	if (space->arch != UW_ARCH_X86_64 || !mapping || !mapping->module || sp % 16 != 8 ||
	    !uw_memory_read(memory, sp, &ra) || !in_mapping(space, ra))
		return UW_STEP_NONE;
	call = uw_call_find(space, ra);
	if (!call || !call->found)
		return UW_STEP_NONE;
	if (call->direct && !call_reaches(mapping, call->target, state->ip))
		return UW_STEP_NONE;
	state->ip = ra;
	state->exact = false;
	uw_state_set(state, REG_RSP, sp + 8);
	uw_state_set(state, REG_RIP, ra);
	return UW_STEP_OK;
}

/*
 * Whether a frame record may end a chain: code with CFI called code without, and used rbp for
 * something else. Only for a frame that was itself found by unwinding, and only where the call can
 * be seen in the caller's file.
 */
static bool record_may_end_chain(struct uw_space *space, const struct uw_state *state, uint64_t ra)
{
	enum uw_code_kind kind =
		(enum uw_code_kind)uw_code_find(space, space->cache, ra, false)->kind;
	const struct uw_call *call;

	if (state->exact || (kind != UW_CODE_COMMON && kind != UW_CODE_ROW))
		return false;
	call = uw_call_find(space, ra);
	return call && call->found;
}

enum uw_step uw_convention_frame_pointer(struct uw_space *space, struct uw_state *state,
					 struct uw_memory *memory)
{
	uint64_t fp = state->reg[REG_RBP], sp = state->reg[REG_RSP];
	const struct uw_call *call;
	uint64_t saved, ra;

	if (space->arch != UW_ARCH_X86_64 || !uw_state_knows(state, REG_RBP) || fp % 8 != 0 ||
	    fp < sp)
		return UW_STEP_NONE;
	if (!uw_memory_read(memory, fp, &saved) || !uw_memory_read(memory, fp + 8, &ra))
		return UW_STEP_READ;
	if (saved == 0 && ra == 0)
		return UW_STEP_ROOT;
	if (!in_mapping(space, ra))
		return UW_STEP_NONE;
	if (saved != 0 && saved <= fp && !record_may_end_chain(space, state, ra))
		return UW_STEP_NONE;
	call = uw_call_find(space, ra);
	if (!call || (call->readable && !call->found &&
		      uw_code_find(space, space->cache, ra, false)->kind != UW_CODE_ROOT))
		return UW_STEP_NONE;
	state->ip = ra;
	state->exact = false;
	uw_state_set(state, REG_RBP, saved);
	uw_state_set(state, REG_RSP, fp + 16);
	uw_state_set(state, REG_RIP, ra);
	return UW_STEP_OK;
}
