#include "unwind/convention/convention.h"

#include "unwind/cfi/machine.h"
#include "unwind/cfi/row.h"
#include "unwind/convention/call.h"
#include "unwind/convention/function_bytes.h"
#include "unwind/module/module.h"
#include "unwind/space/space.h"
#include "unwind/step/code.h"
#include "unwind/step/common.h"

enum {
	NULL_SIZE = 4096,       /* addresses that null pointers lead to */
	LEAF_SIZE_MAX = 4096,   /* from its entry to where it is */
	REGION_MAX = 64 * 1024, /* between the stack pointer and the frame record */
	CALL_EFFORT = 64 /* of looking at what precedes a return address: see uw_cfi_row_within */
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

/* Makes the state the caller's, at a return address. */
static void return_to(struct uw_state *state, const struct uw_machine *machine, uint64_t ra,
		      uint64_t sp)
{
	state->ip = ra;
	state->exact = false;
	uw_state_set(state, machine->sp, sp);
	uw_state_set(state, machine->ip, ra);
}

static bool in_mapping(struct uw_space *space, uint64_t ra)
{
	return uw_space_lookup(space, ra - 1) != NULL;
}

/* Whether target may be the start of the code without CFI at ip, which is in mapping. */
static bool is_start_of(struct uw_space *space, const struct uw_mapping *mapping, uint64_t target,
			uint64_t ip)
{
	uint64_t bias = mapping->start - mapping->rva;
	struct uw_cfi_gap gap;
	struct uw_fde fde;

	if (!mapping->module) {
		const struct uw_mapping *to = uw_space_lookup(space, target);
		return to && !to->module;
	}
	return target >= mapping->start && target <= ip &&
	       uw_module_find(mapping->module, ip - bias, &fde, &gap) == UW_CFI_NONE &&
	       target - bias >= gap.start;
}

/*
 * Whether a direct call to target can have led to the code without CFI at ip: to this piece of it,
 * or by a linkage stub, which leads anywhere. *start: where the code starts, or 0.
 */
static bool call_leads(struct uw_space *space, const struct uw_mapping *mapping, uint64_t target,
		       uint64_t ip, uint64_t *start)
{
	*start = target;
	if (is_start_of(space, mapping, target, ip))
		return true;
	if (uw_bytes_are_stub(space, &target)) {
		*start = 0;
		return true;
	}
	if (target == *start)
		return false;
	*start = target;
	return is_start_of(space, mapping, target, ip);
}

/* Whether a leaf that a call led to, at start if that is not 0, has pushed nothing or little. */
static bool leaf_has_no_room(struct uw_space *space, const struct uw_mapping *mapping,
			     uint64_t start, uint64_t ip)
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

/* Whether the word on top of a leaf's stack, which follows a call, is its return address. */
static bool leaf_is_called(struct uw_space *space, const struct uw_mapping *mapping,
			   const struct uw_call *call, const struct uw_state *state)
{
	const struct uw_machine *machine = uw_machine_of(space->arch);
	uint64_t start = 0;
	/* psABI, sections 3.2.2 (x86-64) and 2.2.2 (i386): at a function's entry the stack pointer
	 * plus a word is a multiple of 16. Where it is known that the call led here, that is not
	 * asked for: Go does not keep to it, nor i386's compilers where they call their own
	 * helpers, the functions that read the instruction pointer (get_pc_thunk). */
	bool aligned = state->reg[machine->sp] % 16 == 16u - machine->word;

	if (call->direct && !call_leads(space, mapping, call->target, state->ip, &start))
		return false;
	return (aligned || start != 0) && leaf_has_no_room(space, mapping, start, state->ip);
}

enum uw_step uw_convention_leaf(struct uw_space *space, struct uw_state *state,
				struct uw_memory *memory)
{
	const struct uw_mapping *mapping = uw_space_lookup(space, state->ip - !state->exact);
	const struct uw_machine *machine = x86_of(space);
	uint64_t ra;
	uint32_t room;

	if (!machine || !mapping || !mapping->module)
		return UW_STEP_NONE;
	uint64_t slot = state->reg[machine->sp];
	enum uw_place place = uw_bytes_place(space, state->ip, &room);
	if (place == UW_PLACE_NEXT) {
		if (!uw_state_knows(state, machine->fp) || !read_word(memory, slot, &ra) ||
		    ra != state->reg[machine->fp])
			return UW_STEP_NONE;
		slot += machine->word;
	}
	if (place == UW_PLACE_ABOVE)
		slot += room;
	if (!read_word(memory, slot, &ra) || !in_mapping(space, ra))
		return UW_STEP_NONE;
	const struct uw_call *call = uw_call_find(space, ra);
	if (!call || !call->found ||
	    (place == UW_PLACE_UNKNOWN && !leaf_is_called(space, mapping, call, state)))
		return UW_STEP_NONE;
	return_to(state, machine, ra, slot + machine->word);
	return UW_STEP_OK;
}

enum uw_step uw_convention_return(struct uw_space *space, struct uw_state *state,
				  struct uw_memory *memory)
{
	const struct uw_machine *machine = uw_machine_of(space->arch);
	uint64_t sp = state->reg[machine->sp], ra;

	if (!read_word(memory, sp, &ra) || !in_mapping(space, ra))
		return UW_STEP_NONE;
	const struct uw_call *call = uw_call_find(space, ra);
	if (!call || !call->found)
		return UW_STEP_NONE;
	return_to(state, machine, ra, sp + machine->word);
	return UW_STEP_OK;
}

enum uw_step uw_convention_null_call(struct uw_space *space, struct uw_state *state,
				     struct uw_memory *memory)
{
	const struct uw_machine *machine = x86_of(space);
	uint64_t ra;

	if (!machine || !state->exact || state->ip >= NULL_SIZE)
		return UW_STEP_NONE;
	uint64_t sp = state->reg[machine->sp];
	if (sp % 16 != 16u - machine->word || !read_word(memory, sp, &ra) || !in_mapping(space, ra))
		return UW_STEP_NONE;
	const struct uw_call *call = uw_call_find(space, ra);
	if (!call || !call->found || (call->direct && call->target != state->ip))
		return UW_STEP_NONE;
	return_to(state, machine, ra, sp + machine->word);
	return UW_STEP_OK;
}

/*
 * Whether a frame record may end a chain: code with CFI called code without, and used rbp for
 * something else. Only for a frame that was itself found by unwinding, and only where the call can
 * be seen in the caller's file.
 */
static bool record_may_end_chain(struct uw_space *space, struct uw_memory *memory, bool exact,
				 uint64_t ra)
{
	enum uw_code_kind kind =
		(enum uw_code_kind)uw_code_find(space, ra, false, &memory->effort)->kind;

	if (exact || (kind != UW_CODE_COMMON && kind != UW_CODE_REALIGNED && kind != UW_CODE_ROW &&
		      kind != UW_CODE_SWITCHED))
		return false;
	const struct uw_call *call = uw_call_find(space, ra);
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
static bool record_is_ordered(struct uw_space *space, struct uw_memory *memory, bool exact,
			      uint64_t fp, const struct record *record)
{
	return record->saved == 0 || record->saved > fp ||
	       record_may_end_chain(space, memory, exact, record->ra);
}

/* Whether a call precedes the return address, as far as the code can be read: an unreadable one
 * may. No call leads to where goroutines and coroutines end. */
static bool record_follows_call(struct uw_space *space, struct uw_memory *memory,
				const struct record *record, bool *readable)
{
	const struct uw_call *call = uw_call_find(space, record->ra);

	*readable = call && call->readable;
	return call &&
	       (call->found || !call->readable ||
		uw_code_find(space, record->ra, false, &memory->effort)->kind == UW_CODE_ROOT);
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
	if (!in_mapping(space, next.ra) ||
	    !record_is_ordered(space, memory, false, record->saved, &next) ||
	    !record_follows_call(space, memory, &next, &readable))
		return UW_STEP_NONE;
	return UW_STEP_OK;
}

/* A frame whose return address is looked for between its stack pointer and a record. */
struct region {
	uint64_t ip, sp, fp;
	bool exact;
	bool generated;      /* the code can be read in no file */
	bool from_generated; /* nor that which the record's return address is in */
};

/* Whether code with CFI that calls from ra, which is in slot, has its own return address where the
 * frame pointer or the region has one. */
static bool caller_fits(struct uw_space *space, struct uw_memory *memory,
			const struct region *region, uint64_t slot, uint64_t ra)
{
	const struct uw_machine *machine = uw_machine_of(space->arch);
	const struct uw_code *code = uw_code_find(space, ra, false, &memory->effort);
	uint64_t cfa = slot + memory->word + (uint64_t)(int64_t)code->cfa_offset;

	if (code->kind != UW_CODE_COMMON ||
	    uw_code_saved(space->cache, code)->cfa_reg != machine->sp)
		return true;
	return cfa <= region->fp && read_word(memory, cfa - memory->word, &ra) &&
	       in_mapping(space, ra);
}

/*
 * As below where the code can be read in no file. Such code saves rbp if it has a frame, or has
 * none; and what C calls it by makes a record, or else has its own caller in a file.
 */
static bool may_return_generated(struct uw_space *space, struct uw_memory *memory,
				 const struct region *region, uint64_t slot,
				 const struct uw_call *call)
{
	uint64_t saved;

	if (call->readable)
		return call->found && !call->direct && !region->from_generated &&
		       caller_fits(space, memory, region, slot, call->ra);
	if (region->exact && (slot == region->sp || slot == region->sp + memory->word))
		return true;
	return slot + memory->word < region->fp && read_word(memory, slot - memory->word, &saved) &&
	       saved == region->fp;
}

/* Whether the word in slot may be the return address of the region's frame. */
static bool may_return(struct uw_space *space, struct uw_memory *memory,
		       const struct region *region, uint64_t slot)
{
	uint64_t ra;

	if (!read_word(memory, slot, &ra))
		return true;
	if (!in_mapping(space, ra))
		return false;
	memory->effort += CALL_EFFORT;
	const struct uw_call *call = uw_call_find(space, ra);
	if (!call)
		return true;
	if (region->generated)
		return may_return_generated(space, memory, region, slot, call);
	return !call->readable ||
	       (call->found &&
		!(call->direct && uw_bytes_go_code(space, call->target, region->ip,
						   &memory->effort) == UW_GO_CODE_ELSEWHERE));
}

/* Whether a word of [sp, end) may be the return address; yes where the walk has spent what it may
 * before that is known. */
static bool region_may_return(struct uw_space *space, struct uw_memory *memory,
			      const struct region *region, uint64_t end)
{
	if (end - region->sp > REGION_MAX)
		return true;
	for (uint64_t slot = region->sp; slot < end; slot += memory->word)
		if (memory->effort > UW_CFI_EFFORT_MAX || may_return(space, memory, region, slot))
			return true;
	return false;
}

/* Whether the target that a call names tells anything of the code. V8's builtins, which have no
 * CFI, call others of them that go on to generated code by a jump. */
static bool target_tells(struct uw_space *space, struct uw_memory *memory,
			 const struct region *region, uint64_t ra)
{
	return !region->generated ||
	       uw_code_find(space, ra, false, &memory->effort)->kind != UW_CODE_NONE;
}

/* Whether a record is the frame's own, by the rule in the header. */
static bool record_is_own(struct uw_space *space, const struct uw_state *state,
			  struct uw_memory *memory, uint64_t fp, const struct record *record)
{
	const struct uw_mapping *mapping = uw_space_lookup(space, state->ip - !state->exact);
	const struct uw_call *call = uw_call_find(space, record->ra);
	const struct region region = {.ip = state->ip,
				      .sp = state->reg[uw_machine_of(space->arch)->sp],
				      .fp = fp,
				      .exact = state->exact,
				      .generated = mapping && !mapping->module,
				      .from_generated = record->ra != 0 && call && !call->readable};
	uint64_t end = fp, start;

	if (record->ra != 0 && call && call->direct && mapping &&
	    target_tells(space, memory, &region, record->ra)) {
		if (!call_leads(space, mapping, call->target, state->ip - !state->exact, &start))
			return false;
		switch (uw_bytes_go_code(space, start, state->ip, &memory->effort)) {
		case UW_GO_CODE_ELSEWHERE:
			return false;
		case UW_GO_CODE_INSIDE:
			return true;
		case UW_GO_CODE_UNKNOWN:
			break;
		}
		if (start != 0 && uw_bytes_make_record(space, start, state->ip)) {
			if (!state->exact)
				return true;
			if (end - region.sp > 2 * (uint64_t)memory->word)
				end = region.sp + 2 * (uint64_t)memory->word;
		}
	}
	return !region_may_return(space, memory, &region, end);
}

enum uw_step uw_convention_frame_pointer(struct uw_space *space, struct uw_state *state,
					 struct uw_memory *memory)
{
	const struct uw_machine *machine = x86_of(space);
	struct record record;
	bool readable;

	if (!machine || !uw_state_knows(state, machine->fp))
		return UW_STEP_NONE;
	uint64_t fp = state->reg[machine->fp];
	if (fp % machine->word != 0 || fp < state->reg[machine->sp])
		return UW_STEP_NONE;
	if (!record_read(memory, fp, &record))
		return UW_STEP_READ;
	if (record.saved == 0 && record.ra == 0) {
		if (!record_is_own(space, state, memory, fp, &record))
			return UW_STEP_NONE;
		uw_state_set(state, machine->sp, fp + 2 * (uint64_t)machine->word);
		return UW_STEP_NULL;
	}
	if (!in_mapping(space, record.ra) ||
	    !record_is_ordered(space, memory, state->exact, fp, &record) ||
	    !record_follows_call(space, memory, &record, &readable))
		return UW_STEP_NONE;
	if (!readable) {
		enum uw_step step = record_confirm(space, memory, fp, &record);
		if (step != UW_STEP_OK)
			return step;
	}
	if (!record_is_own(space, state, memory, fp, &record))
		return UW_STEP_NONE;
	uw_state_set(state, machine->fp, record.saved);
	return_to(state, machine, record.ra, fp + 2 * (uint64_t)machine->word);
	return UW_STEP_OK;
}
