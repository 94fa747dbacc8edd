#include "unwind/convention.h"

#include "unwind/space.h"
#include "unwind/step_common.h"

enum {
	/* Code without CFI between two functions that have it; more is a module, or a part of one,
	   that has none at all. */
	GAP_FUNCTIONS_MAX = 64 * 1024,
	NULL_SIZE = 4096,   /* addresses that null pointers lead to */
	LEAF_SIZE_MAX = 512 /* of a function in such a part, from its entry to here */
};

/* Both x86 machines share their conventions but for the size of a word. */
static const struct uw_machine *x86_of(const struct uw_space *space)
{
	return space->arch == UW_ARCH_AARCH64 ? NULL : uw_machine_of(space->arch);
}

static bool read_word(struct uw_memory *memory, uint64_t address, uint64_t *value)
{
	return uw_memory_read_sized(memory, address, memory->word, value);
}

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
	       uw_module_find(mapping->module, ip - bias, &fde, &gap) == UW_CFI_NONE &&
	       target - bias >= gap.start &&
	       (gap.end - gap.start <= GAP_FUNCTIONS_MAX || ip - target <= LEAF_SIZE_MAX);
}

enum uw_step uw_convention_leaf(struct uw_space *space, struct uw_state *state,
				struct uw_memory *memory)
{
	const struct uw_mapping *mapping = memory->mapping;
	const struct uw_machine *machine = x86_of(space);
	const struct uw_call *call;
	uint64_t sp, ra;
	bool aligned;

	if (!machine || !mapping || !mapping->module)
		return UW_STEP_NONE;
	sp = state->reg[machine->sp];
	/* psABI, sections 3.2.2 (x86-64) and 2.2.2 (i386): at a function's entry the stack pointer
	   plus a word is a multiple of 16. On i386 compilers do not keep to that where they call
	   their own helpers, the functions that read the instruction pointer (get_pc_thunk). */
	aligned = sp % 16 == 16u - machine->word;
	if ((!aligned && space->arch != UW_ARCH_I386) || !read_word(memory, sp, &ra) ||
	    !in_mapping(space, ra))
		return UW_STEP_NONE;
	call = uw_call_find(space, ra);
	if (!call || !call->found)
		return UW_STEP_NONE;
	if (call->direct && !call_reaches(mapping, call->target, state->ip))
		return UW_STEP_NONE;
	if (!aligned &&
	    (!call->direct || call->target < mapping->start || call->target >= mapping->end))
		return UW_STEP_NONE;
	state->ip = ra;
	state->exact = false;
	uw_state_set(state, machine->sp, sp + machine->word);
	uw_state_set(state, machine->ip, ra);
	return UW_STEP_OK;
}

enum uw_step uw_convention_null_call(struct uw_space *space, struct uw_state *state,
				     struct uw_memory *memory)
{
	const struct uw_machine *machine = x86_of(space);
	const struct uw_call *call;
	uint64_t sp, ra;

	if (!machine || !state->exact || state->ip >= NULL_SIZE)
		return UW_STEP_NONE;
	sp = state->reg[machine->sp];
	if (sp % 16 != 16u - machine->word || !read_word(memory, sp, &ra) || !in_mapping(space, ra))
		return UW_STEP_NONE;
	call = uw_call_find(space, ra);
	if (!call || !call->found || (call->direct && call->target != state->ip))
		return UW_STEP_NONE;
	state->ip = ra;
	state->exact = false;
	uw_state_set(state, machine->sp, sp + machine->word);
	uw_state_set(state, machine->ip, ra);
	return UW_STEP_OK;
}

/*
 * Whether a frame record may end a chain: code with CFI called code without, and used rbp for
 * something else. Only for a frame that was itself found by unwinding, and only where the call can
 * be seen in the caller's file.
 */
static bool record_may_end_chain(struct uw_space *space, bool exact, uint64_t ra)
{
	enum uw_code_kind kind =
		(enum uw_code_kind)uw_code_find(space, space->cache, ra, false)->kind;
	const struct uw_call *call;

	if (exact || (kind != UW_CODE_COMMON && kind != UW_CODE_ROW && kind != UW_CODE_SWITCHED))
		return false;
	call = uw_call_find(space, ra);
	return call && call->found;
}

/* What a frame pointer points to. */
struct record {
	uint64_t saved, ra;
};

/* Reads it from the copied stack; false: it is not there. */
static bool record_read(struct uw_memory *memory, uint64_t fp, struct record *record)
{
	memory->failed = fp;
	return fp - memory->stack->base < memory->stack->size &&
	       read_word(memory, fp, &record->saved) &&
	       read_word(memory, fp + memory->word, &record->ra);
}

/* The chain goes upwards, or ends. */
static bool record_is_ordered(struct uw_space *space, bool exact, uint64_t fp,
			      const struct record *record)
{
	return record->saved == 0 || record->saved > fp ||
	       record_may_end_chain(space, exact, record->ra);
}

/* Whether a call precedes the return address, as far as the code can be read: an unreadable one
   may. No call leads to where goroutines and coroutines end. */
static bool record_follows_call(struct uw_space *space, const struct record *record, bool *readable)
{
	const struct uw_call *call = uw_call_find(space, record->ra);

	*readable = call && call->readable;
	return call && (call->found || !call->readable ||
			uw_code_find(space, space->cache, record->ra, false)->kind == UW_CODE_ROOT);
}

/*
 * Generated code cannot be read, so that nothing shows whether a call precedes a return address in
 * it. Two words that happen to be a higher stack address and an address of such code are no proof;
 * that the first one leads to another frame record, which has to be in order too, is taken for one.
 */
static enum uw_step record_confirm(struct uw_space *space, struct uw_memory *memory, uint64_t fp,
				   const struct record *record)
{
	struct record next;
	bool readable;

	if (record->saved <= fp || record->saved % memory->word != 0)
		return UW_STEP_NONE;
	if (!record_read(memory, record->saved, &next))
		return UW_STEP_READ;
	if (!in_mapping(space, next.ra) || !record_is_ordered(space, false, record->saved, &next) ||
	    !record_follows_call(space, &next, &readable))
		return UW_STEP_NONE;
	return UW_STEP_OK;
}

enum uw_step uw_convention_frame_pointer(struct uw_space *space, struct uw_state *state,
					 struct uw_memory *memory)
{
	const struct uw_machine *machine = x86_of(space);
	struct record record;
	enum uw_step step;
	bool readable;
	uint64_t fp;

	if (!machine || !uw_state_knows(state, machine->fp))
		return UW_STEP_NONE;
	fp = state->reg[machine->fp];
	if (fp % machine->word != 0 || fp < state->reg[machine->sp])
		return UW_STEP_NONE;
	if (!record_read(memory, fp, &record))
		return UW_STEP_READ;
	if (record.saved == 0 && record.ra == 0) {
		uw_state_set(state, machine->sp, fp + 2 * (uint64_t)machine->word);
		return UW_STEP_NULL;
	}
	if (!in_mapping(space, record.ra) || !record_is_ordered(space, state->exact, fp, &record) ||
	    !record_follows_call(space, &record, &readable))
		return UW_STEP_NONE;
	if (!readable) {
		step = record_confirm(space, memory, fp, &record);
		if (step != UW_STEP_OK)
			return step;
	}
	state->ip = record.ra;
	state->exact = false;
	uw_state_set(state, machine->fp, record.saved);
	uw_state_set(state, machine->sp, fp + 2 * (uint64_t)machine->word);
	uw_state_set(state, machine->ip, record.ra);
	return UW_STEP_OK;
}
