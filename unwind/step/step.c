#include "unwind/step/step.h"

#include "unwind/cfi/row.h"
#include "unwind/frame/machine.h"
#include "unwind/module/module.h"
#include "unwind/rules/rule_cache.h"
#include "unwind/space/space.h"
#include "unwind/step/cfa.h"
#include "unwind/step/expression.h"
#include "unwind/step/realigned.h"
#include <assert.h>
#include <stdlib.h>

/* Offsets in the ucontext that rt_sigreturn(2) finds at the stack pointer on x86-64: uc_mcontext
 * starts at 40 (Linux, arch/x86/include/uapi/asm/sigcontext.h and asm-generic/ucontext.h). */
enum { UCONTEXT_MCONTEXT = 40 };

/* uc_mcontext's registers in their order, as DWARF numbers: r8..r15, rdi, rsi, rbp, rbx, rdx, rax,
 * rcx, rsp, rip. */
static const uint8_t mcontext_regs[] = {8, 9, 10, 11, 12, 13, 14, 15, 5, 4, 6, 3, 1, 0, 2, 7, 16};

enum {
	REG_RSP = UW_X86_64_RSP,
	REG_RIP = UW_X86_64_RIP,
	LOG_ROWS = 5 /* 32 of 864 bytes, where there are such rows */
};

/* As restore_saved, for slots anywhere. */
static void restore_each(const struct uw_machine *machine, struct uw_state *state,
			 const struct uw_saved *saved, struct uw_memory *memory, uint64_t sp,
			 uint64_t cfa)
{
	for (unsigned i = 0; i < machine->saved_count; i++) {
		int64_t offset = (int64_t)saved->slot[i] * machine->word;

		if (offset != 0)
			uw_state_restore(state, state, memory, sp, cfa, machine->saved[i],
					 uw_word_wrap(cfa + (uint64_t)offset, machine->word),
					 machine->word);
	}
}

/* Takes all preserved registers from their slots; false: the frame [sp, cfa) is not in the copy, or
 * a slot not in the frame. */
static inline __attribute__((always_inline)) bool restore_saved(const struct uw_machine *machine,
								struct uw_state *state,
								const struct uw_saved *saved,
								const struct uw_memory *memory,
								uint64_t sp, uint64_t cfa)
{
	const struct uw_stack *stack = memory->stack;
	uint64_t offset = cfa - stack->base;

	if (saved->lowest == INT8_MIN || sp - stack->base > stack->size || offset > stack->size ||
	    (cfa - sp) / machine->word < (uint64_t)-saved->lowest)
		return false;
	/* The number of saved registers is hard to predict: no branch on it. A register not saved
	 * is copied onto itself. */
	for (unsigned i = 0; i < machine->saved_count; i++) {
		uint64_t *reg = &state->reg[machine->saved[i]];
		const uint8_t *slot =
			stack->bytes + (int64_t)offset + saved->slot[i] * (int)machine->word;

		*reg = uw_word_at(saved->slot[i] ? slot : (const uint8_t *)reg, 0, machine->word);
		state->known |= (uint64_t)(saved->slot[i] != 0) << machine->saved[i];
	}
	return true;
}

/* step_common for one machine. */
static inline __attribute__((always_inline)) enum uw_step
step_common_of(const struct uw_machine *machine, const struct uw_code *code,
	       const struct uw_saved *saved, struct uw_state *state, struct uw_memory *memory)
{
	uint64_t sp = state->reg[machine->sp];
	uint64_t cfa, ra = 0;

	if (!uw_state_knows(state, saved->cfa_reg))
		return UW_STEP_BAD;
	cfa = uw_word_wrap(state->reg[saved->cfa_reg] + (uint64_t)(int64_t)code->cfa_offset,
			   machine->word);
	enum uw_step step = uw_cfa_read_return(memory, state->exact, sp, cfa,
					       saved->cfa_reg != machine->sp, machine->word, &ra);
	if (step != UW_STEP_OK)
		return step;
	if (!restore_saved(machine, state, saved, memory, sp, cfa))
		restore_each(machine, state, saved, memory, sp, cfa);
	return uw_state_return(machine, state, cfa, ra);
}

/* Takes the step of code of kind UW_CODE_COMMON. */
static inline enum uw_step step_common(const struct uw_machine *machine, const struct uw_code *code,
				       const struct uw_saved *saved, struct uw_state *state,
				       struct uw_memory *memory)
{
	assert(uw_machine_pushes(machine));
	if (machine->word == 8)
		return step_common_of(&uw_machines[UW_ARCH_X86_64], code, saved, state, memory);
	return step_common_of(&uw_machines[UW_ARCH_I386], code, saved, state, memory);
}

static bool is_kept_by_calls(const struct uw_machine *machine, unsigned reg)
{
	for (unsigned i = 0; i < machine->saved_count; i++)
		if (machine->saved[i] == reg)
			return true;
	return reg == machine->sp;
}

enum uw_step uw_step_analysed(const struct uw_machine *machine, const struct uw_code *code,
			      const struct uw_saved *saved, struct uw_state *state,
			      struct uw_memory *memory)
{
	uint64_t sp = state->reg[machine->sp], ra;

	assert(code->kind == UW_CODE_ANALYSED);
	/* Behind a call, registers that calls need not keep have what the callee left. */
	if (!uw_state_knows(state, saved->cfa_reg) ||
	    (!state->exact && !is_kept_by_calls(machine, saved->cfa_reg)))
		return UW_STEP_NONE;
	uint64_t cfa = state->reg[saved->cfa_reg] + (uint64_t)(int64_t)code->cfa_offset;
	/* The call pushed the return address, in a frame that is exact too. */
	if (cfa % machine->word != 0 || cfa - machine->word < sp || cfa < machine->word)
		return UW_STEP_NONE;
	memory->failed = cfa - machine->word;
	if (!uw_stack_read(memory->stack, cfa - machine->word, machine->word, &ra))
		return UW_STEP_READ;
	for (unsigned i = 0; i < machine->saved_count; i++) {
		uint64_t slot = cfa + (uint64_t)(int64_t)(saved->slot[i] * machine->word), value;

		if (saved->slot[i] == UW_SLOT_LOST)
			uw_state_forget(state, machine->saved[i]);
		else if (saved->slot[i] != 0 &&
			 uw_stack_read(memory->stack, slot, machine->word, &value))
			uw_state_set(state, machine->saved[i], value);
		else if (saved->slot[i] != 0)
			uw_state_forget(state, machine->saved[i]);
	}
	return uw_state_return(machine, state, cfa, ra);
}

/* Evaluated rules of an address with code of kind UW_CODE_ROW. */
struct uw_cached_row {
	uint64_t ip;
	uint16_t key;
	bool signal;
	struct uw_row row; /* expressions point into the module's .eh_frame */
};

static_assert(sizeof(struct uw_cached_row) == 864, "as said at LOG_ROWS");

/* A row being applied: rules read the frame, results go to the caller. */
struct application {
	const struct uw_row *row;
	const struct uw_state *frame;
	struct uw_memory *memory;
	uint64_t bias;
	uint64_t cfa;
	bool signal;
	bool ordinary; /* the CFA is the caller's stack pointer, and slots lie below the CFA; false
			  for signal frames and for rules that give the stack pointer (longjmp) */
};

static enum uw_step read_word(struct uw_memory *memory, uint64_t address, uint64_t *value)
{
	return uw_memory_read_word(memory, address, value) ? UW_STEP_OK : UW_STEP_READ;
}

static enum uw_step rule_value(const struct application *apply, const struct uw_rule *rule,
			       unsigned reg, uint64_t *value)
{
	uint8_t word = apply->memory->word;
	uint64_t address = uw_word_wrap(apply->cfa + (uint64_t)rule->offset, word);
	enum uw_step step;

	switch (rule->kind) {
	case UW_RULE_UNSPECIFIED:
	case UW_RULE_SAME:
		*value = apply->frame->reg[reg];
		return uw_state_knows(apply->frame, reg) ? UW_STEP_OK : UW_STEP_BAD;
	case UW_RULE_AT_CFA:
		return read_word(apply->memory, address, value);
	case UW_RULE_CFA_VALUE:
		*value = address;
		return UW_STEP_OK;
	case UW_RULE_REGISTER:
		*value = uw_word_wrap(apply->frame->reg[rule->reg] + (uint64_t)rule->offset, word);
		return uw_state_knows(apply->frame, rule->reg) ? UW_STEP_OK : UW_STEP_BAD;
	case UW_RULE_AT_EXPRESSION:
	case UW_RULE_EXPRESSION_VALUE:
		step = uw_expression_eval(rule->expression, rule->size, &apply->cfa, apply->bias,
					  apply->frame, apply->memory, value);
		if (step != UW_STEP_OK || rule->kind == UW_RULE_EXPRESSION_VALUE)
			return step;
		address = *value;
		return read_word(apply->memory, address, value);
	default:
		return UW_STEP_BAD;
	}
}

static enum uw_step apply_cfa(struct application *apply, const struct uw_machine *machine,
			      uint64_t sp)
{
	const struct uw_rule *rule = &apply->row->cfa;
	bool cfa_is_far = rule->kind != UW_RULE_REGISTER || rule->reg != machine->sp;
	enum uw_step step;

	if (rule->kind == UW_RULE_REGISTER)
		step = rule_value(apply, rule, rule->reg, &apply->cfa);
	else
		step = uw_expression_eval(rule->expression, rule->size, NULL, apply->bias,
					  apply->frame, apply->memory, &apply->cfa);
	if (step == UW_STEP_OK && apply->ordinary &&
	    !uw_cfa_is_valid(apply->frame->exact, sp, apply->cfa, apply->memory->word))
		return uw_cfa_refuse(apply->memory, apply->cfa, cfa_is_far);
	return step;
}

/* The slot of a register by its rule; false: the rule names no slot. */
static bool rule_slot(const struct application *apply, const struct uw_rule *rule, uint64_t *slot)
{
	if (rule->kind == UW_RULE_AT_CFA) {
		*slot = uw_word_wrap(apply->cfa + (uint64_t)rule->offset, apply->memory->word);
		return true;
	}
	return rule->kind == UW_RULE_AT_EXPRESSION &&
	       uw_expression_eval(rule->expression, rule->size, &apply->cfa, apply->bias,
				  apply->frame, apply->memory, slot) == UW_STEP_OK;
}

static void apply_register(const struct application *apply, unsigned reg, uint64_t sp,
			   struct uw_state *caller)
{
	const struct uw_rule *rule = &apply->row->reg[reg];
	uint64_t value;

	if (rule->kind == UW_RULE_UNSPECIFIED || rule->kind == UW_RULE_SAME)
		return;
	if (apply->ordinary && rule_slot(apply, rule, &value))
		uw_state_restore(caller, apply->frame, apply->memory, sp, apply->cfa, reg, value,
				 apply->memory->word);
	else if (rule_value(apply, rule, reg, &value) == UW_STEP_OK)
		uw_state_set(caller, reg, value);
	else
		uw_state_forget(caller, reg);
}

/* The return address; on x86 its column is the program counter, which must have a rule. */
static enum uw_step apply_return(const struct application *apply, const struct uw_machine *machine,
				 struct uw_state *caller)
{
	const struct uw_rule *rule = &apply->row->reg[machine->ra];
	uint64_t ra;

	if (uw_machine_pushes(machine) &&
	    (rule->kind == UW_RULE_UNSPECIFIED || rule->kind == UW_RULE_SAME))
		return UW_STEP_BAD;
	/* AArch64's signal stub describes the interrupted program counter itself. */
	if (apply->signal && apply->row->reg[machine->ip].kind != UW_RULE_UNSPECIFIED)
		rule = &apply->row->reg[machine->ip];
	enum uw_step step = rule_value(apply, rule, machine->ra, &ra);
	if (step != UW_STEP_OK)
		return step;
	if (apply->row->ra_signed)
		ra &= UINT64_C(
			0x0000ffffffffffff); /* user addresses have 48 bits, or 52 without PAC */
	caller->ip = ra;
	uw_state_set(caller, machine->ip, ra);
	uw_state_set(caller, machine->ra, ra);
	/* A signal may interrupt a jump to null. */
	return ra == 0 && !apply->signal ? UW_STEP_NULL : UW_STEP_OK;
}

/* The caller's stack pointer: the CFA, or the value of its own rule. */
static enum uw_step apply_sp(const struct application *apply, const struct uw_machine *machine,
			     uint64_t sp, struct uw_state *caller)
{
	const struct uw_rule *rule = &apply->row->reg[machine->sp];
	uint64_t value = apply->cfa;

	if (rule->kind > UW_RULE_SAME) {
		enum uw_step step = rule_value(apply, rule, machine->sp, &value);
		if (step != UW_STEP_OK)
			return step;
		if (!apply->signal &&
		    !uw_cfa_is_valid(apply->frame->exact, sp, value, apply->memory->word))
			return UW_STEP_BAD;
	}
	uw_state_set(caller, machine->sp, value);
	return UW_STEP_OK;
}

static enum uw_step apply_row(struct application *apply, const struct uw_machine *machine,
			      struct uw_state *state)
{
	struct uw_state caller = *state;
	uint64_t sp = state->reg[machine->sp];

	apply->ordinary = !apply->signal && apply->row->reg[machine->sp].kind <= UW_RULE_SAME;
	enum uw_step step = apply_cfa(apply, machine, sp);
	if (step != UW_STEP_OK)
		return step;
	for (unsigned reg = 0; reg < machine->regs; reg++)
		if (reg != machine->ra && reg != machine->sp && reg != machine->ip)
			apply_register(apply, reg, sp, &caller);
	step = apply_sp(apply, machine, sp, &caller);
	if (step != UW_STEP_OK)
		return step;
	step = apply_return(apply, machine, &caller);
	caller.exact = apply->signal;
	*state = caller;
	return step;
}

/* Evaluates the rules of the state's address. */
static bool evaluate_row(const struct uw_mapping *mapping, const struct uw_state *state,
			 struct uw_memory *memory, struct uw_cached_row *cached)
{
	uint64_t rva = mapping->rva + (state->ip - !state->exact - mapping->start);
	struct uw_cfi_gap gap;
	struct uw_fde fde;

	/* Both succeeded when the code's kind was found; since then the walk may have spent its
	 * effort, or the file may have changed. */
	if (uw_module_find(mapping->module, rva, &fde, &gap) != UW_CFI_OK ||
	    uw_cfi_row(&fde, rva, &cached->row, &memory->effort) != UW_CFI_OK)
		return false;
	cached->signal = fde.signal;
	return true;
}

/* The row from the cache, or, without memory for one, in *unsaved. */
static const struct uw_cached_row *find_row(struct uw_space *space,
					    const struct uw_mapping *mapping,
					    const struct uw_state *state, struct uw_memory *memory,
					    struct uw_cached_row *unsaved)
{
	struct uw_rule_cache *cache = space->cache;
	uint16_t key = uw_cache_key(space->epoch, state->exact);
	struct uw_cached_row *cached = unsaved;

	if (!cache->rows)
		cache->rows = calloc((size_t)1 << LOG_ROWS, sizeof(*cache->rows));
	if (cache->rows)
		cached = &cache->rows[uw_cache_index(state->ip, state->exact, LOG_ROWS)];
	if (cache->rows && cached->ip == state->ip && cached->key == key)
		return cached;
	cached->key = 0;
	if (!evaluate_row(mapping, state, memory, cached))
		return NULL;
	cached->ip = state->ip;
	cached->key = key;
	return cached;
}

static enum uw_step step_row(struct uw_space *space, struct uw_state *state,
			     struct uw_memory *memory)
{
	const struct uw_mapping *mapping = uw_space_lookup(space, state->ip - !state->exact);
	struct application apply = {.frame = state, .memory = memory, .bias = memory->bias};
	struct uw_cached_row unsaved;
	const struct uw_cached_row *cached =
		mapping ? find_row(space, mapping, state, memory, &unsaved) : NULL;
	if (!cached)
		return UW_STEP_BAD;
	apply.row = &cached->row;
	apply.signal = cached->signal;
	return apply_row(&apply, uw_machine_of(space->arch), state);
}

static enum uw_step step_sigreturn(struct uw_state *state, struct uw_memory *memory)
{
	uint64_t slot = state->reg[REG_RSP] + UCONTEXT_MCONTEXT;

	for (unsigned i = 0; i < sizeof(mcontext_regs); i++, slot += 8) {
		uint64_t value;

		if (!uw_memory_read_word(memory, slot, &value))
			return UW_STEP_READ;
		uw_state_set(state, mcontext_regs[i], value);
	}
	state->ip = state->reg[REG_RIP];
	state->exact = true;
	return UW_STEP_OK;
}

enum uw_step uw_step_look(const struct uw_machine *machine, const struct uw_code *code,
			  const struct uw_pointers *frame, bool exact, struct uw_memory *memory)
{
	bool from_fp = code->plain & UW_PLAIN_FROM_FP;
	uint64_t from = from_fp ? frame->fp : frame->sp, ra;
	uint64_t cfa = uw_word_wrap(from + (uint64_t)(int64_t)code->cfa_offset, machine->word);

	assert(code->plain != UW_PLAIN_NOT);
	return uw_cfa_read_return(memory, exact, frame->sp, cfa, from_fp, machine->word, &ra);
}

enum uw_step uw_step(struct uw_space *space, const struct uw_code *code, struct uw_state *state,
		     struct uw_memory *memory)
{
	const struct uw_machine *machine = uw_machine_of(space->arch);
	const struct uw_saved *saved = uw_code_saved(space->cache, code);

	switch ((enum uw_code_kind)code->kind) {
	case UW_CODE_COMMON:
		return step_common(machine, code, saved, state, memory);
	case UW_CODE_REALIGNED:
		return uw_step_realigned(machine, code, saved, state, memory);
	case UW_CODE_ROW:
		return step_row(space, state, memory);
	case UW_CODE_SIGRETURN:
		assert(space->arch == UW_ARCH_X86_64);
		return step_sigreturn(state, memory);
	case UW_CODE_ROOT:
		return UW_STEP_ROOT;
	case UW_CODE_BAD:
		return UW_STEP_BAD;
	default:
		return UW_STEP_NONE;
	}
}
