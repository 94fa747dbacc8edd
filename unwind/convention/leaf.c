/* Steps from code whose return address is on top of the stack, or near it. */
#include "unwind/convention/call.h"
#include "unwind/convention/convention.h"
#include "unwind/convention/function_bytes.h"
#include "unwind/frame/machine.h"
#include "unwind/module/module.h"
#include "unwind/space/space.h"

enum {
	NULL_SIZE = 4096,    /* addresses reached through null pointers */
	LEAF_SIZE_MAX = 4096 /* from its entry to ip */
};

/* The call that left the return address in a slot; NULL: no return address there. Valid until the
 * next uw_call_find. */
static const struct uw_call *find_call(struct uw_space *space, struct uw_memory *memory,
				       uint64_t slot)
{
	uint64_t ra;
	if (!uw_memory_read_word(memory, slot, &ra) || !uw_space_lookup(space, ra - 1))
		return NULL;
	const struct uw_call *call = uw_call_find(space, ra);
	return call && call->found ? call : NULL;
}

/* psABI, sections 3.2.2 (x86-64) and 2.2.2 (i386): at a function's entry the stack pointer plus a
 * word is a multiple of 16. */
static bool is_aligned_for_entry(const struct uw_machine *machine, uint64_t sp)
{
	return sp % 16 == 16u - machine->word;
}

/* Whether a leaf has made no room on its stack; start: the called function, 0: unknown. */
static bool has_no_room(struct uw_space *space, const struct uw_mapping *mapping, uint64_t start,
			uint64_t ip)
{
	uint64_t bias = mapping->start - mapping->rva, limit = mapping->start;
	struct uw_cfi_gap gap;
	struct uw_fde fde;

	if (start != 0)
		return ip - start <= LEAF_SIZE_MAX && uw_bytes_make_no_room(space, start, ip);
	if (uw_module_find(mapping->module, ip - bias, &fde, &gap) == UW_CFI_NONE &&
	    gap.start + bias > limit && gap.start + bias <= ip)
		limit = gap.start + bias;
	return uw_bytes_make_no_room_before(space, limit, ip);
}

/*
 * Whether the word on top of a leaf's stack, left by the call, is the leaf's return address. The
 * top word is the return address or was pushed after it, unless the function has made room, which
 * would hold words of older frames.
 */
static bool is_called_by(struct uw_space *space, const struct uw_mapping *mapping,
			 const struct uw_call *call, const struct uw_state *state)
{
	const struct uw_machine *machine = uw_machine_of(space->arch);
	uint64_t start = 0;

	if (call->direct && !uw_call_leads(space, mapping, call->target, state->ip, &start))
		return false;
	/* A call known to lead here needs no alignment: Go does not keep the alignment, nor do
	 * i386's compilers in calls of their own helpers, which read the instruction pointer
	 * (get_pc_thunk). */
	return (start != 0 || is_aligned_for_entry(machine, state->reg[machine->sp])) &&
	       has_no_room(space, mapping, start, state->ip);
}

enum uw_step uw_convention_leaf(struct uw_space *space, struct uw_state *state,
				struct uw_memory *memory)
{
	const struct uw_mapping *mapping = uw_space_lookup(space, state->ip - !state->exact);
	const struct uw_machine *machine = uw_machine_of(space->arch);
	uint64_t slot = state->reg[machine->sp], pushed;
	uint32_t room;

	if (!uw_machine_pushes(machine) || !mapping || !mapping->module)
		return UW_STEP_NONE;
	enum uw_place place = uw_bytes_place(space, state->ip, &room);
	if (place == UW_PLACE_NEXT) {
		if (!uw_state_knows(state, machine->fp) ||
		    !uw_memory_read_word(memory, slot, &pushed) ||
		    pushed != state->reg[machine->fp])
			return UW_STEP_NONE;
		slot += machine->word;
	}
	if (place == UW_PLACE_ABOVE)
		slot += room;
	const struct uw_call *call = find_call(space, memory, slot);
	if (!call || (place == UW_PLACE_UNKNOWN && !is_called_by(space, mapping, call, state)))
		return UW_STEP_NONE;
	return uw_state_return(machine, state, slot + machine->word, call->ra);
}

enum uw_step uw_convention_return(struct uw_space *space, struct uw_state *state,
				  struct uw_memory *memory)
{
	const struct uw_machine *machine = uw_machine_of(space->arch);
	uint64_t sp = state->reg[machine->sp];
	const struct uw_call *call = find_call(space, memory, sp);

	return call ? uw_state_return(machine, state, sp + machine->word, call->ra) : UW_STEP_NONE;
}

enum uw_step uw_convention_null_call(struct uw_space *space, struct uw_state *state,
				     struct uw_memory *memory)
{
	const struct uw_machine *machine = uw_machine_of(space->arch);
	uint64_t sp = state->reg[machine->sp];

	if (!uw_machine_pushes(machine) || !state->exact || state->ip >= NULL_SIZE ||
	    !is_aligned_for_entry(machine, sp))
		return UW_STEP_NONE;
	const struct uw_call *call = find_call(space, memory, sp);
	if (!call || (call->direct && call->target != state->ip))
		return UW_STEP_NONE;
	return uw_state_return(machine, state, sp + machine->word, call->ra);
}
