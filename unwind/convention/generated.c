/* Steps through generated code, and what follows the same rules, by the way from there to the
 * function's return. */
#include "unwind/cfi/row.h"
#include "unwind/convention/call.h"
#include "unwind/convention/convention.h"
#include "unwind/functions/functions.h"
#include "unwind/generated/code.h"
#include "unwind/module/module.h"
#include "unwind/space/space.h"
#include "unwind/step/code.h"

enum {
	WAY_EFFORT = 16, /* of a way that is known: see uw_cfi_row; */
	STEP_EFFORT = 4  /* of an instruction that is looked at for one that is not */
};

/* The return address in a slot is a caller's: a call precedes it, or nobody calls it by design. */
static bool is_called(struct uw_space *space, struct uw_memory *memory, uint64_t ra)
{
	if (!uw_space_lookup(space, ra - 1))
		return false;
	const struct uw_call *call = uw_call_find(space, ra);
	return call && call->readable &&
	       (call->found ||
		uw_code_find(space, ra, false, &memory->effort)->kind == UW_CODE_ROOT);
}

/* Takes the caller's frame pointer; false: it is not in the copy. */
static bool take_fp(struct uw_state *caller, struct uw_memory *memory, uint8_t fp_way,
		    uint64_t slot)
{
	const struct uw_machine *machine = uw_machine_of(UW_ARCH_X86_64);
	uint64_t fp;

	if (fp_way == UW_WAY_FP_LOST)
		uw_state_forget(caller, machine->fp);
	if (fp_way != UW_WAY_FP_BELOW)
		return true;
	if (!uw_memory_read_word(memory, slot - machine->word, &fp))
		return false;
	uw_state_set(caller, machine->fp, fp);
	return true;
}

/* What generated code keeps of the other registers is not known. */
static void forget_others(struct uw_state *state)
{
	const struct uw_machine *machine = uw_machine_of(UW_ARCH_X86_64);

	state->known &= UINT64_C(1) << machine->sp | UINT64_C(1) << machine->fp |
			UINT64_C(1) << machine->ip;
}

/* Takes the step that a way out tells. */
static enum uw_step take_way(struct uw_space *space, struct uw_state *state,
			     struct uw_memory *memory, const struct uw_way_out *way,
			     struct uw_taken *taken)
{
	const struct uw_machine *machine = uw_machine_of(UW_ARCH_X86_64);
	struct uw_state caller = *state;
	uint64_t sp = state->reg[machine->sp], ra;

	if (way->base == UW_WAY_UNKNOWN ||
	    (way->base == UW_WAY_FP && !uw_state_knows(state, machine->fp)))
		return UW_STEP_NONE;
	/* psABI, section 3.2.2: so is the stack pointer at a function's entry. */
	if (way->is_tail && (!state->exact || sp % 16 != 8))
		return UW_STEP_NONE;
	uint64_t slot = state->reg[way->base == UW_WAY_FP ? machine->fp : machine->sp] +
			(uint64_t)(int64_t)way->slot;
	if (slot % machine->word != 0 || slot < sp)
		return UW_STEP_NONE;
	memory->failed = slot;
	if (!uw_stack_read(memory->stack, slot, machine->word, &ra))
		return UW_STEP_READ;
	if (!is_called(space, memory, ra) || !take_fp(&caller, memory, way->fp, slot))
		return UW_STEP_NONE;
	forget_others(&caller);
	*taken = (struct uw_taken){
		.slot = way->fp == UW_WAY_FP_BELOW ? slot - machine->word : slot,
		.uses_fp = way->base == UW_WAY_FP,
		.is_plain = way->fp != UW_WAY_FP_LOST,
	};
	*state = caller;
	return uw_state_return(machine, state, slot + machine->word + way->popped, ra);
}

static bool read_file(void *space, uint64_t address, void *bytes, size_t size)
{
	return uw_space_read(space, address, bytes, size);
}

/* The way out of a file's function that follows rules of its own; V8's builtins, which take their
 * arguments off the stack, are such. */
static struct uw_way_out way_of_file(struct uw_space *space, const struct uw_mapping *mapping,
				     uint64_t ip, bool exact)
{
	const struct uw_analysis_source source = {.context = space, .read = read_file};
	uint64_t bias = mapping->start - mapping->rva;

	uw_module_load(mapping->module);
	struct uw_functions *functions = uw_module_functions(mapping->module);
	if (!functions || !uw_functions_deviates(functions, ip - !exact - bias))
		return (struct uw_way_out){0};
	return uw_generated_way_of_file(space->generated, &source, ip);
}

enum uw_step uw_convention_generated(struct uw_space *space, struct uw_state *state,
				     struct uw_memory *memory, struct uw_taken *taken)
{
	const struct uw_mapping *mapping = uw_space_lookup(space, state->ip - !state->exact);

	if (!mapping || !space->generated || space->arch != UW_ARCH_X86_64 ||
	    memory->effort > UW_CFI_EFFORT_MAX || state->ip >= mapping->end ||
	    (mapping->module && mapping->module->elf.arch != UW_ARCH_X86_64))
		return UW_STEP_NONE;
	uint64_t steps = uw_generated_steps(space->generated);
	const struct uw_way_out way = mapping->module
					      ? way_of_file(space, mapping, state->ip, state->exact)
					      : uw_generated_way(space->generated, mapping->start,
								 mapping->end, state->ip);
	steps = uw_generated_steps(space->generated) - steps;
	memory->effort += WAY_EFFORT + STEP_EFFORT * (uint32_t)steps;
	return take_way(space, state, memory, &way, taken);
}
