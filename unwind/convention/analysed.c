/*
 * Steps by analysis of code. A row says where the return address lies if the function's start is
 * right, and if the code keeps the rules of calls. The return address is therefore checked: a call
 * precedes it, and where this call names its target, the target is the function, or a function
 * that ends by a jump to it. A row by the way ahead does without the function's start: the target
 * then lies before the place. If the row says that the caller's frame pointer was saved as frame
 * pointers are, the frame pointer must point there.
 */
#include "unwind/analysis/analysis.h"
#include "unwind/cfi/row.h"
#include "unwind/convention/call.h"
#include "unwind/convention/convention.h"
#include "unwind/convention/function_bytes.h"
#include "unwind/functions/functions.h"
#include "unwind/module/module.h"
#include "unwind/space/space.h"
#include "unwind/step/code.h"
#include "unwind/step/step.h"
#include <assert.h>
#include <string.h>

enum {
	JUMPS_MAX = 4,               /* from a call's target to the function, one after the other */
	TARGETS_MAX = 16,            /* functions looked at for these */
	FRAME_MAX = 8 * 1024 * 1024, /* between the stack and the frame pointer */
	SCANNED_MAX = 512,           /* words of the stack */
	CALLEES_MAX = 8,             /* functions that are tried, of those called there */
	SCAN_EFFORT = 8              /* of a word: see uw_cfi_row */
};

/* The function whose frame it is, and where in it. */
struct place {
	struct uw_space *space;
	const struct uw_mapping *mapping; /* with a module */
	uint64_t lookup;                  /* lookup address */
	uint64_t bias;                    /* mapped address minus the file's */
	struct uw_functions *functions;
};

static bool find_place(struct uw_space *space, const struct uw_state *state, struct place *place)
{
	uint64_t lookup = state->ip - !state->exact;
	const struct uw_mapping *mapping = uw_space_lookup(space, lookup);

	if (!mapping || !mapping->module || space->arch != UW_ARCH_X86_64 ||
	    mapping->module->elf.arch != UW_ARCH_X86_64)
		return false;
	uw_module_load(mapping->module);
	*place = (struct place){space, mapping, lookup, mapping->start - mapping->rva,
				uw_module_functions(mapping->module)};
	return place->functions != NULL;
}

/* What is known of the function at an address. */
static const struct uw_analysis *analysis_at(struct uw_space *space, uint64_t address,
					     uint64_t *bias)
{
	const struct uw_mapping *mapping = uw_space_lookup(space, address);

	if (!mapping || !mapping->module || mapping->module->elf.arch != UW_ARCH_X86_64)
		return NULL;
	uw_module_load(mapping->module);
	*bias = mapping->start - mapping->rva;
	struct uw_functions *functions = uw_module_functions(mapping->module);
	return functions ? uw_functions_analysis(functions, address - *bias) : NULL;
}

/* Whether the place's function may start at an address: it does, or, if its start is not known, the
 * address lies before the place. */
static bool may_start(const struct place *place, uint64_t address, uint64_t start)
{
	if (start != UW_START_UNKNOWN)
		return address == start;
	return address >= place->mapping->start && address <= place->lookup &&
	       place->lookup - address <= UW_FUNCTION_SIZE_MAX;
}

/* Whether control can come from target to start by jumps alone; a linkage stub leads anywhere. */
static bool jumps_lead(const struct place *place, uint64_t target, uint64_t start, unsigned jumps,
		       unsigned *left)
{
	const uint64_t *exits;
	uint64_t bias, stub = target;

	if (may_start(place, target, start) || uw_bytes_are_stub(place->space, &stub))
		return true;
	if (jumps == JUMPS_MAX || *left == 0)
		return false;
	--*left;
	if (stub != target)
		return jumps_lead(place, stub, start, jumps + 1, left);
	const struct uw_analysis *analysis = analysis_at(place->space, target, &bias);
	if (!analysis)
		return false;
	if (uw_analysis_exits_to(analysis, start - bias))
		return true;
	size_t count = uw_analysis_exits(analysis, &exits);
	for (size_t i = 0; i < count; i++)
		if (jumps_lead(place, exits[i] + bias, start, jumps + 1, left))
			return true;
	return false;
}

/* Whether the function at target has the same rule for the CFA at this place. */
static bool target_has_place(const struct place *place, uint64_t target, const struct uw_code *code,
			     const struct uw_saved *saved)
{
	const struct uw_machine *machine = uw_machine_of(UW_ARCH_X86_64);
	const struct uw_analysis_row *row;
	struct uw_rules rules;

	if (target < place->mapping->start || target >= place->mapping->end)
		return false;
	row = uw_functions_row_from(place->functions, target - place->bias,
				    place->lookup - place->bias);
	return row && uw_form_analysed(machine, row, &rules) &&
	       rules.cfa_offset == code->cfa_offset && rules.saved.cfa_reg == saved->cfa_reg;
}

/* Whether no call leads to these places by design: the ends of goroutines and coroutines, and the
 * trampolines that signal handlers return to. */
static bool needs_no_call(struct uw_space *space, uint64_t ra, struct uw_memory *memory)
{
	uint8_t kind = uw_code_find(space, ra, false, &memory->effort)->kind;

	return kind == UW_CODE_ROOT || kind == UW_CODE_SIGRETURN ||
	       (kind == UW_CODE_ROW && uw_code_is_sigreturn(space, ra));
}

/* Whether a function has returns by other rules, and jumps to unknown places. */
static bool jumps_by_register(const struct uw_analysis *analysis)
{
	return analysis && uw_analysis_is_contradicted(analysis) &&
	       uw_analysis_jumps_anywhere(analysis);
}

/*
 * Whether a direct call of another function may have led to code with a frame record, whose own
 * rules have to do: calls in generated code are changed while they run, and V8's builtins jump by
 * registers, with their arguments on the stack, at once or behind one direct jump.
 */
static bool may_lead(struct uw_space *space, const struct uw_call *call)
{
	const uint64_t *exits;
	uint64_t bias, other;

	if (call->is_generated)
		return true;
	const struct uw_analysis *analysis = analysis_at(space, call->target, &bias);
	if (jumps_by_register(analysis))
		return true;
	uint64_t targets[UW_ANALYSIS_EXITS_MAX];
	size_t count = analysis ? uw_analysis_exits(analysis, &exits) : 0;
	if (count > 0)
		memcpy(targets, exits, count * sizeof(*exits));
	for (size_t i = 0; i < count; i++)
		if (jumps_by_register(analysis_at(space, targets[i] + bias, &other)))
			return true;
	return false;
}

/* Whether a step is by the frame pointer, to a frame record. */
static bool has_record(const struct uw_saved *saved)
{
	return saved->cfa_reg == uw_machine_of(UW_ARCH_X86_64)->fp &&
	       saved->slot[UW_SAVED_FP] != UW_SLOT_LOST;
}

/* Whether the call before a return address led to the function at start. */
static bool call_fits(const struct place *place, uint64_t ra, const struct uw_code *code,
		      const struct uw_saved *saved, struct uw_memory *memory)
{
	bool is_ahead = code->function == UW_FUNCTION_UNKNOWN;
	uint64_t start = is_ahead ? UW_START_UNKNOWN : uw_code_start(code) + place->bias;
	unsigned left = TARGETS_MAX;

	if (!uw_space_lookup(place->space, ra - 1))
		return false;
	struct uw_call *call = uw_call_find(place->space, ra);
	if (!call || !call->readable)
		return false;
	if (call->inner == (is_ahead ? place->lookup : start))
		return true;
	if (!call->found)
		return needs_no_call(place->space, ra, memory);
	if (is_ahead) {
		if (call->direct && !jumps_lead(place, call->target, start, 0, &left) &&
		    !(has_record(saved) && may_lead(place->space, call)))
			return false;
		call->inner = place->lookup;
		return true;
	}
	if (call->direct && call->target != start) {
		if (target_has_place(place, call->target, code, saved))
			uw_functions_learn(place->functions, call->target - place->bias);
		else if (!jumps_lead(place, call->target, start, 0, &left) &&
			 !((call->is_generated || has_record(saved)) &&
			   may_lead(place->space, call)))
			return false;
	} else if (call->direct) {
		uw_functions_learn(place->functions, start - place->bias);
	}
	call->inner = start;
	return true;
}

bool uw_space_has_call(struct uw_space *space, const struct uw_frame *callee,
		       const struct uw_frame *caller)
{
	const struct uw_state inner = {.ip = callee->ip, .exact = callee->exact};
	unsigned left = TARGETS_MAX;
	struct place place;

	if (caller->exact || callee->function == 0 || !uw_space_lookup(space, caller->ip - 1) ||
	    !find_place(space, &inner, &place))
		return false;
	const struct uw_call *call = uw_call_find(space, caller->ip);
	return call && call->found && !call->is_generated &&
	       (!call->direct ||
		jumps_lead(&place, call->target, callee->function + place.bias, 0, &left));
}

/* How the step was taken, for uw_taken. */
static struct uw_taken taken_of(const struct uw_saved *saved, uint64_t cfa)
{
	int8_t slot = saved->slot[UW_SAVED_FP];

	return (struct uw_taken){
		.slot = cfa + (uint64_t)(int64_t)(slot == 0 ? -8 : slot * 8),
		.uses_fp = saved->cfa_reg == uw_machine_of(UW_ARCH_X86_64)->fp,
		.is_plain = slot != UW_SLOT_LOST &&
			    (saved->cfa_reg == uw_machine_of(UW_ARCH_X86_64)->fp ||
			     saved->cfa_reg == UW_X86_64_RSP),
	};
}

/* Whether the next instruction makes the frame pointer point to the word pushed last, which is the
 * caller's: there is one of 16 samples of Chromium. */
static bool makes_record(struct uw_space *space, const struct uw_code *code,
			 const struct uw_saved *saved, const struct uw_state *state)
{
	uint32_t room;

	return state->exact && saved->cfa_reg == UW_X86_64_RSP && code->cfa_offset == 16 &&
	       uw_bytes_place(space, state->ip, &room) == UW_PLACE_NEXT;
}

/* Whether a row by the way ahead, by which the caller's frame pointer is saved as frame pointers
 * are, is refuted by the frame pointer, which points elsewhere. */
static bool lacks_record(struct uw_space *space, const struct uw_code *code,
			 const struct uw_saved *saved, const struct uw_state *state)
{
	const struct uw_machine *machine = uw_machine_of(UW_ARCH_X86_64);
	uint64_t fp = state->reg[machine->fp], sp = state->reg[machine->sp];

	if (saved->slot[UW_SAVED_FP] != -2)
		return false;
	if (saved->cfa_reg == machine->fp)
		return fp < sp || fp % 8 != 0 || fp - sp > FRAME_MAX;
	return fp + 16 != sp + (uint64_t)(int64_t)code->cfa_offset &&
	       !makes_record(space, code, saved, state);
}

/* A step by the code's rules to a return address that the call before it confirms. */
static enum uw_step try_rules(const struct place *place, const struct uw_code *code,
			      const struct uw_saved *saved, struct uw_state *caller,
			      struct uw_memory *memory)
{
	const struct uw_machine *machine = uw_machine_of(UW_ARCH_X86_64);

	if (code->function == UW_FUNCTION_UNKNOWN &&
	    (!uw_state_knows(caller, machine->fp) ||
	     lacks_record(place->space, code, saved, caller)))
		return UW_STEP_NONE;
	enum uw_step step = uw_step_analysed(machine, code, saved, caller, memory);
	if (step == UW_STEP_OK && !call_fits(place, caller->ip, code, saved, memory))
		return UW_STEP_NONE;
	return step;
}

/* What is known of the code without the row by the way ahead, which does not hold, or needs a frame
 * pointer that is not known: others may do without, so that it is not asked again. */
static const struct uw_code *code_refused(const struct place *place, const struct uw_state *state,
					  struct uw_memory *memory)
{
	uw_functions_refuse(place->functions, place->lookup - place->bias, state->exact);
	uw_code_forget(place->space, state->ip, state->exact);
	return uw_code_find(place->space, state->ip, state->exact, &memory->effort);
}

enum uw_step uw_convention_analysed(struct uw_space *space, const struct uw_code *found,
				    struct uw_state *state, struct uw_memory *memory,
				    struct uw_taken *taken)
{
	enum uw_step step = UW_STEP_NONE;
	struct place place;

	assert(found->kind == UW_CODE_ANALYSED);
	if (!find_place(space, state, &place))
		return UW_STEP_NONE;
	for (bool is_ahead = true; is_ahead && found->kind == UW_CODE_ANALYSED;) {
		/* The slot may be taken by another address. */
		const struct uw_code code = *found;
		const struct uw_saved saved = *uw_code_saved(space->cache, found);
		struct uw_state caller = *state;

		is_ahead = code.function == UW_FUNCTION_UNKNOWN;
		step = try_rules(&place, &code, &saved, &caller, memory);
		if (step == UW_STEP_OK || step == UW_STEP_NULL) {
			*state = caller;
			*taken = taken_of(&saved, caller.reg[UW_X86_64_RSP]);
			return step;
		}
		if (step != UW_STEP_NONE)
			return step;
		if (is_ahead)
			found = code_refused(&place, state, memory);
	}
	return step;
}

/* The function that a direct call led to, through jumps, if it may be the one at this place; 0: it
 * is not. */
static uint64_t callee_here(const struct place *place, const struct uw_call *call)
{
	uint64_t target = call->target;

	for (unsigned jumps = 0; jumps < JUMPS_MAX; jumps++) {
		uint64_t from = target;
		if (target >= place->mapping->start && target <= place->lookup &&
		    place->lookup - target <= UW_FUNCTION_SIZE_MAX)
			return target;
		if (uw_bytes_are_stub(place->space, &target) || target == from)
			break;
	}
	return 0;
}

/* Tries the function at start for the frame with its return address in a slot. */
static bool try_callee(const struct place *place, uint64_t start, uint64_t slot,
		       struct uw_state *state, struct uw_memory *memory, struct uw_taken *taken)
{
	const struct uw_machine *machine = uw_machine_of(UW_ARCH_X86_64);
	struct uw_code code = {.kind = UW_CODE_ANALYSED};
	const struct uw_analysis_row *row;
	struct uw_state caller = *state;
	struct uw_rules rules;

	row = uw_functions_row_from(place->functions, start - place->bias,
				    place->lookup - place->bias);
	if (!row || !uw_form_analysed(machine, row, &rules))
		return false;
	code.cfa_offset = rules.cfa_offset;
	if (uw_step_analysed(machine, &code, &rules.saved, &caller, memory) != UW_STEP_OK ||
	    caller.reg[UW_X86_64_RSP] - 8 != slot)
		return false;
	uw_functions_learn(place->functions, start - place->bias);
	*state = caller;
	*taken = taken_of(&rules.saved, slot + 8);
	return true;
}

/* Whether code at a place of a module has no call frame information. */
static bool is_untold(const struct place *place, uint64_t address)
{
	struct uw_cfi_gap gap;
	struct uw_fde fde;

	return uw_module_find(place->mapping->module, address - place->bias, &fde, &gap) ==
	       UW_CFI_NONE;
}

enum uw_step uw_convention_called(struct uw_space *space, struct uw_state *state,
				  struct uw_memory *memory, struct uw_taken *taken)
{
	uint64_t slot = state->reg[UW_X86_64_RSP], tried = 0, ra, ip = state->ip;
	bool exact = state->exact;
	unsigned callees = 0;
	struct place place;

	if (slot % 8 != 0 || !find_place(space, state, &place))
		return UW_STEP_NONE;
	for (unsigned i = 0; i < SCANNED_MAX && callees < CALLEES_MAX; i++, slot += 8) {
		if (memory->effort > UW_CFI_EFFORT_MAX ||
		    !uw_stack_read(memory->stack, slot, 8, &ra))
			break;
		memory->effort += SCAN_EFFORT;
		if (!uw_space_lookup(space, ra - 1))
			continue;
		const struct uw_call *call = uw_call_find(space, ra);
		if (!call || !call->found || !call->direct)
			continue;
		uint64_t start = callee_here(&place, call);
		if (start == 0 || start == tried || !is_untold(&place, start))
			continue;
		tried = start;
		callees++;
		if (try_callee(&place, start, slot, state, memory, taken)) {
			uw_code_forget(space, ip, exact);
			return UW_STEP_OK;
		}
	}
	return UW_STEP_NONE;
}
