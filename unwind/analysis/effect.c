#include "unwind/analysis/effect.h"

#include <Zydis/Decoder.h>
#include <string.h>

enum {
	UNMAPPED_SIZE = 64 * 1024,
	/* The SIB byte of an address without registers, and where it stands at most: behind two
	 * prefixes, three bytes of the operation and ModRM (AMD64 manual, volume 3, 1.2 to 1.4). */
	SIB_ABSOLUTE = 0x25,
	SIB_END = 7
};

struct instruction {
	ZydisDecodedInstruction head;
	ZydisDecodedOperand operand[ZYDIS_MAX_OPERAND_COUNT];
	uint64_t next; /* address behind it */
};

static const struct uw_value any;

/* Whether nothing of an instruction but its kind and size counts, and the distance of a target. */
static bool is_bare(const ZydisDecodedInstruction *head)
{
	switch (head->meta.category) {
	case ZYDIS_CATEGORY_COND_BR: /* loops count in a register */
		return head->opcode_map != ZYDIS_OPCODE_MAP_DEFAULT ||
		       (head->opcode & 0xf0) == 0x70;
	case ZYDIS_CATEGORY_UNCOND_BR:
	case ZYDIS_CATEGORY_CALL:
		return head->raw.imm[0].is_relative;
	case ZYDIS_CATEGORY_NOP:
	case ZYDIS_CATEGORY_WIDENOP:
	case ZYDIS_CATEGORY_RET:
		return true;
	default:
		return false;
	}
}

static bool decode(const uint8_t *bytes, size_t size, struct instruction *instruction)
{
	ZydisDecoder decoder;
	ZydisDecoderContext context;

	instruction->operand[0].type = ZYDIS_OPERAND_TYPE_UNUSED;
	return ZYAN_SUCCESS(ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64,
					     ZYDIS_STACK_WIDTH_64)) &&
	       ZYAN_SUCCESS(ZydisDecoderDecodeInstruction(&decoder, &context, bytes, size,
							  &instruction->head)) &&
	       (is_bare(&instruction->head) ||
		ZYAN_SUCCESS(ZydisDecoderDecodeOperands(&decoder, &context, &instruction->head,
							instruction->operand,
							instruction->head.operand_count)));
}

/* The general purpose register that holds reg; UW_NO_GPR: another one. */
static unsigned gpr_of(ZydisRegister reg)
{
	if (reg < ZYDIS_REGISTER_AL || reg > ZYDIS_REGISTER_R15)
		return UW_NO_GPR;
	if (reg >= ZYDIS_REGISTER_RAX)
		return (unsigned)(reg - ZYDIS_REGISTER_RAX);
	if (reg >= ZYDIS_REGISTER_EAX)
		return (unsigned)(reg - ZYDIS_REGISTER_EAX);
	if (reg >= ZYDIS_REGISTER_AX)
		return (unsigned)(reg - ZYDIS_REGISTER_AX);
	/* al to bl, ah to bh, spl to r15b */
	return (unsigned)(reg -
			  (reg < ZYDIS_REGISTER_AH ? ZYDIS_REGISTER_AL : ZYDIS_REGISTER_AL + 4));
}

static bool is_register(const ZydisDecodedOperand *operand)
{
	return operand->type == ZYDIS_OPERAND_TYPE_REGISTER &&
	       gpr_of(operand->reg.value) != UW_NO_GPR;
}

static bool is_memory(const ZydisDecodedOperand *operand)
{
	return operand->type == ZYDIS_OPERAND_TYPE_MEMORY;
}

/* The place of an operand that is a register or in memory. */
static struct uw_place place_of(const struct instruction *instruction,
				const ZydisDecodedOperand *operand)
{
	struct uw_place place = {.is_set = 1, .reg = UW_NO_GPR, .index = UW_NO_GPR};

	if (is_register(operand)) {
		place.reg = (uint8_t)gpr_of(operand->reg.value);
		return place;
	}
	if (!is_memory(operand) || operand->mem.segment == ZYDIS_REGISTER_FS ||
	    operand->mem.segment == ZYDIS_REGISTER_GS)
		return (struct uw_place){0};
	place.is_memory = 1;
	place.reg = (uint8_t)gpr_of(operand->mem.base);
	place.index = (uint8_t)gpr_of(operand->mem.index);
	place.scale = place.index == UW_NO_GPR ? 0 : operand->mem.scale;
	place.displacement = operand->mem.disp.value;
	if (operand->mem.base == ZYDIS_REGISTER_RIP) {
		place.reg = UW_RIP_BASE;
		place.displacement = (int64_t)(instruction->next + (uint64_t)place.displacement);
	}
	return place;
}

/* The address of an operand in memory, as a value. */
static struct uw_value address_of(const struct uw_flow_state *state, const struct uw_place *place)
{
	if (!place->is_set || !place->is_memory || place->index != UW_NO_GPR)
		return any;
	if (place->reg == UW_RIP_BASE || place->reg == UW_NO_GPR)
		return uw_value_constant(place->displacement);
	return uw_value_add(state->reg[place->reg], place->displacement);
}

/* An entry of size bytes of a table of jumps; ANY: the place is none. count is 0 if nothing bounds
 * the index: the compiler took all of its values for cases. */
static struct uw_value table_entry(const struct uw_flow_state *state, const struct uw_place *place,
				   unsigned size)
{
	struct uw_value table;

	if (!place->is_memory || place->index == UW_NO_GPR || place->scale != size ||
	    place->reg == UW_RIP_BASE)
		return any;
	table = place->reg == UW_NO_GPR ? uw_value_constant(place->displacement)
					: uw_value_add(state->reg[place->reg], place->displacement);
	if (table.kind != UW_VALUE_CONSTANT)
		return any;
	table.kind = size == 8 ? UW_VALUE_POINTER : UW_VALUE_DISTANCE;
	table.count = state->reg[place->index].kind == UW_VALUE_BELOW
			      ? state->reg[place->index].count
			      : 0;
	return table;
}

static struct uw_value below(uint64_t count)
{
	return count > 0 && count <= UW_TABLE_MAX
		       ? (struct uw_value){UW_VALUE_BELOW, (uint16_t)count, 0}
		       : any;
}

/* Of an index that may have other bounds, too. */
static struct uw_value at_most(uint64_t count)
{
	struct uw_value value = below(count);

	if (value.kind == UW_VALUE_BELOW)
		value.count |= UW_TABLE_LIMIT;
	return value;
}

/* What a register of at least 32 bits has after it is loaded from memory. */
static struct uw_value load(const struct uw_flow_state *state, const struct uw_place *place,
			    unsigned size)
{
	struct uw_value value = uw_state_load(state, address_of(state, place), size);

	if (value.kind == UW_VALUE_ANY && size == 8)
		value = table_entry(state, place, 8);
	if (value.kind == UW_VALUE_ANY && state->bounded.is_set &&
	    memcmp(place, &state->bounded, sizeof(*place)) == 0)
		return below(state->bounded_count);
	return value.kind == UW_VALUE_ANY && size == 1 ? at_most(UW_TABLE_BYTE) : value;
}

/* The values of an instruction's first two operands. */
struct operands {
	const ZydisDecodedOperand *to, *from;
	struct uw_place to_place, from_place;
	struct uw_value from_value; /* of a register or constant */
	bool has_constant;
	int64_t constant;
	unsigned size; /* of the first one, in bytes */
};

static struct operands operands_of(const struct uw_flow_state *state,
				   const struct instruction *instruction)
{
	struct operands operands = {.to = &instruction->operand[0],
				    .from = &instruction->operand[1]};
	const ZydisDecodedOperand *from = operands.from;

	operands.to_place = place_of(instruction, operands.to);
	operands.from_place = place_of(instruction, from);
	operands.size = operands.to->size / 8U;
	if (is_register(from)) {
		operands.from_value = state->reg[operands.from_place.reg];
	} else if (from->type == ZYDIS_OPERAND_TYPE_IMMEDIATE) {
		operands.has_constant = true;
		operands.constant = from->imm.value.s;
		operands.from_value = uw_value_constant(operands.constant);
	}
	return operands;
}

/* mov, movzx and movsxd to a register. */
static struct uw_value moved(const struct uw_flow_state *state,
			     const struct instruction *instruction, const struct operands *operands)
{
	unsigned from_size = operands->from->size / 8U;
	bool extends = instruction->head.mnemonic != ZYDIS_MNEMONIC_MOV;

	if (operands->size < 4)
		return any;
	if (is_memory(operands->from)) {
		if (instruction->head.mnemonic == ZYDIS_MNEMONIC_MOVSXD)
			return table_entry(state, &operands->from_place, 4);
		return load(state, &operands->from_place, from_size);
	}
	if (operands->from_value.kind == UW_VALUE_BELOW)
		return operands->from_value;
	if (extends)
		return from_size == 1 && instruction->head.mnemonic == ZYDIS_MNEMONIC_MOVZX
			       ? at_most(UW_TABLE_BYTE)
			       : any;
	/* A constant of 32 bits may be an address in a program that is not position-independent. */
	return operands->size == 8 || operands->from_value.kind == UW_VALUE_CONSTANT
		       ? operands->from_value
		       : any;
}

/* to + from, or to - from. */
static struct uw_value added(struct uw_value to, const struct operands *operands, bool subtracts)
{
	struct uw_value from = operands->from_value;

	if (operands->has_constant || (subtracts && from.kind == UW_VALUE_CONSTANT)) {
		int64_t constant = operands->has_constant ? operands->constant : from.number;
		/* A constant of an instruction has 32 bits. */
		return uw_value_add(to, subtracts ? -constant : constant);
	}
	if (subtracts)
		return any;
	if (from.kind == UW_VALUE_DISTANCE) {
		from = to;
		to = operands->from_value;
	}
	if (from.kind != UW_VALUE_CONSTANT)
		return any;
	if (to.kind != UW_VALUE_DISTANCE)
		return uw_value_add(to, from.number);
	if (to.number != from.number)
		return any;
	to.kind = UW_VALUE_TARGET;
	return to;
}

static bool state_is_aligned(const struct uw_flow_state *state)
{
	for (unsigned reg = 0; reg < UW_GPR_COUNT; reg++)
		if (state->reg[reg].kind == UW_VALUE_ALIGNED)
			return true;
	return state->slot_count > 0 && state->slot[state->slot_count - 1].base == UW_VALUE_ALIGNED;
}

static struct uw_value masked(const struct uw_flow_state *state, const struct operands *operands)
{
	if (!operands->has_constant)
		return any;
	if (operands->constant >= 0)
		return at_most((uint64_t)operands->constant + 1);
	/* Words of an earlier aligned frame would be taken for this one's. */
	if (operands->to_place.reg == UW_RSP && state->reg[UW_RSP].kind == UW_VALUE_CFA &&
	    !state_is_aligned(state))
		return (struct uw_value){UW_VALUE_ALIGNED, 0, 0};
	return any;
}

/* The new value of an instruction's first operand, a register. */
static struct uw_value result(const struct uw_flow_state *state,
			      const struct instruction *instruction,
			      const struct operands *operands)
{
	struct uw_value to = state->reg[operands->to_place.reg];

	switch (instruction->head.mnemonic) {
	case ZYDIS_MNEMONIC_MOV:
	case ZYDIS_MNEMONIC_MOVZX:
	case ZYDIS_MNEMONIC_MOVSXD:
		return moved(state, instruction, operands);
	case ZYDIS_MNEMONIC_LEA:
		return operands->size == 8 ? address_of(state, &operands->from_place) : any;
	case ZYDIS_MNEMONIC_ADD:
	case ZYDIS_MNEMONIC_SUB:
		return operands->size == 8 ? added(to, operands,
						   instruction->head.mnemonic == ZYDIS_MNEMONIC_SUB)
					   : any;
	case ZYDIS_MNEMONIC_AND:
		return operands->size >= 4 ? masked(state, operands) : any;
	default:
		return any;
	}
}

/* Everything that an instruction writes, as far as it is of no known value. */
static void clobber(struct uw_flow_state *state, const struct instruction *instruction)
{
	const ZydisAccessedFlags *flags = instruction->head.cpu_flags;

	for (unsigned i = 0; i < instruction->head.operand_count; i++) {
		const ZydisDecodedOperand *operand = &instruction->operand[i];
		if (!(operand->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE))
			continue;
		if (is_register(operand)) {
			uw_state_put(state, gpr_of(operand->reg.value), any);
		} else if (is_memory(operand)) {
			struct uw_place place = place_of(instruction, operand);
			uw_state_store(state, address_of(state, &place), operand->size / 8U, any);
		}
	}
	if (flags && (flags->modified | flags->set_0 | flags->set_1 | flags->undefined))
		memset(&state->comparison, 0, sizeof(state->comparison));
}

static void compare(struct uw_flow_state *state, const struct operands *operands)
{
	struct uw_comparison comparison = {.place = operands->to_place, .other = UW_NO_GPR};

	if (is_register(operands->from))
		comparison.other = operands->from_place.reg;
	else if (operands->has_constant)
		comparison.constant =
			operands->size < 8
				? operands->constant & ((INT64_C(1) << 8 * operands->size) - 1)
				: operands->constant;
	else
		return;
	if (comparison.place.is_set)
		state->comparison = comparison;
}

static void push(struct uw_flow_state *state, const struct instruction *instruction,
		 struct uw_effect *effect)
{
	const ZydisDecodedOperand *operand = &instruction->operand[0];
	unsigned size = instruction->head.operand_width == 16 ? 2 : 8;
	struct uw_value value = any;

	if (instruction->head.mnemonic == ZYDIS_MNEMONIC_PUSH && is_register(operand) && size == 8)
		value = state->reg[gpr_of(operand->reg.value)];
	effect->pushed = value;
	uw_state_put(state, UW_RSP, uw_value_add(state->reg[UW_RSP], -(int64_t)size));
	uw_state_store(state, state->reg[UW_RSP], size, value);
	if (state->ahead && value.kind != UW_VALUE_ANY)
		state->ahead |= uw_value_is_frame(state->reg[UW_RSP])
					? UW_AHEAD_PUSHED
					: UW_AHEAD_PUSHED | UW_AHEAD_LOST;
}

static void pop(struct uw_flow_state *state, const struct instruction *instruction)
{
	const ZydisDecodedOperand *operand = &instruction->operand[0];
	unsigned size = instruction->head.operand_width == 16 ? 2 : 8;
	struct uw_value sp = state->reg[UW_RSP], value = uw_state_load(state, sp, size);

	uw_state_put(state, UW_RSP, uw_value_add(sp, size));
	if (instruction->head.mnemonic != ZYDIS_MNEMONIC_POP) {
		memset(&state->comparison, 0, sizeof(state->comparison));
	} else if (is_register(operand)) {
		uw_state_put(state, gpr_of(operand->reg.value), value);
	} else if (is_memory(operand)) {
		struct uw_place place = place_of(instruction, operand);
		uw_state_store(state, address_of(state, &place), size, any);
	}
}

static void leave(struct uw_flow_state *state)
{
	struct uw_value fp = state->reg[UW_RBP];

	uw_state_put(state, UW_RBP, uw_state_load(state, fp, 8));
	uw_state_put(state, UW_RSP, uw_value_add(fp, 8));
}

static void enter(struct uw_flow_state *state, const struct instruction *instruction)
{
	struct uw_value sp = uw_value_add(state->reg[UW_RSP], -8);

	if (instruction->operand[1].imm.value.u != 0 || instruction->head.operand_width == 16) {
		clobber(state, instruction);
		return;
	}
	uw_state_store(state, sp, 8, state->reg[UW_RBP]);
	uw_state_put(state, UW_RBP, sp);
	uw_state_put(state, UW_RSP,
		     uw_value_add(sp, -(int64_t)instruction->operand[0].imm.value.u));
}

static void compute(struct uw_flow_state *state, const struct instruction *instruction)
{
	struct operands operands = operands_of(state, instruction);
	bool is_move = instruction->head.mnemonic == ZYDIS_MNEMONIC_MOV;
	struct uw_value value = any;

	if (is_register(operands.to))
		value = result(state, instruction, &operands);
	struct uw_value address = address_of(state, &operands.to_place);
	clobber(state, instruction);
	if (instruction->head.mnemonic == ZYDIS_MNEMONIC_CMP)
		compare(state, &operands);
	else if (is_register(operands.to) && value.kind != UW_VALUE_ANY)
		uw_state_put(state, operands.to_place.reg, value);
	else if (is_memory(operands.to) && is_move && is_register(operands.from))
		uw_state_store(state, address, operands.size, operands.from_value);
	if (is_move && is_register(operands.to) && is_register(operands.from) &&
	    operands.size >= 4 && (value.kind == UW_VALUE_ANY || value.kind == UW_VALUE_BELOW))
		uw_state_copy(state, operands.to_place.reg, operands.from_place.reg);
}

static enum uw_condition condition_of(ZydisMnemonic mnemonic)
{
	switch (mnemonic) {
	case ZYDIS_MNEMONIC_JNBE:
		return UW_CONDITION_ABOVE;
	case ZYDIS_MNEMONIC_JNB:
		return UW_CONDITION_NOT_BELOW;
	case ZYDIS_MNEMONIC_JB:
		return UW_CONDITION_BELOW;
	case ZYDIS_MNEMONIC_JBE:
		return UW_CONDITION_NOT_ABOVE;
	case ZYDIS_MNEMONIC_JZ:
		return UW_CONDITION_EQUAL;
	case ZYDIS_MNEMONIC_JNZ:
		return UW_CONDITION_NOT_EQUAL;
	default:
		return UW_CONDITION_OTHER;
	}
}

static void jump(struct uw_flow_state *state, const struct instruction *instruction,
		 struct uw_effect *effect)
{
	const ZydisDecodedOperand *operand = &instruction->operand[0];
	bool is_branch = instruction->head.meta.category == ZYDIS_CATEGORY_COND_BR;

	if (instruction->head.raw.imm[0].is_relative) {
		effect->flow = is_branch ? UW_FLOW_BRANCH : UW_FLOW_JUMP;
		effect->condition = condition_of(instruction->head.mnemonic);
		effect->target = instruction->next + instruction->head.raw.imm[0].value.u;
		if (is_branch && !is_bare(&instruction->head))
			clobber(state, instruction); /* the counter of a loop */
		return;
	}
	effect->flow = UW_FLOW_INDIRECT;
	if (is_register(operand)) {
		effect->value = state->reg[gpr_of(operand->reg.value)];
	} else if (is_memory(operand)) {
		struct uw_place place = place_of(instruction, operand);
		effect->value = table_entry(state, &place, 8);
	}
}

static void call(struct uw_flow_state *state, const struct instruction *instruction,
		 struct uw_effect *effect)
{
	if (instruction->head.raw.imm[0].is_relative && instruction->head.raw.imm[0].value.u == 0) {
		/* A push of the next instruction's address. */
		uw_state_put(state, UW_RSP, uw_value_add(state->reg[UW_RSP], -8));
		uw_state_store(state, state->reg[UW_RSP], 8, any);
		return;
	}
	uw_state_call(state);
	effect->flow = UW_FLOW_CALL;
}

static bool apply_stack(struct uw_flow_state *state, const struct instruction *instruction,
			struct uw_effect *effect)
{
	switch (instruction->head.mnemonic) {
	case ZYDIS_MNEMONIC_PUSH:
	case ZYDIS_MNEMONIC_PUSHF:
	case ZYDIS_MNEMONIC_PUSHFQ:
		push(state, instruction, effect);
		return true;
	case ZYDIS_MNEMONIC_POP:
	case ZYDIS_MNEMONIC_POPF:
	case ZYDIS_MNEMONIC_POPFQ:
		pop(state, instruction);
		return true;
	case ZYDIS_MNEMONIC_LEAVE:
		leave(state);
		return true;
	case ZYDIS_MNEMONIC_ENTER:
		enter(state, instruction);
		return true;
	default:
		return false;
	}
}

static bool is_end(const struct instruction *instruction)
{
	switch (instruction->head.mnemonic) {
	case ZYDIS_MNEMONIC_HLT:
	case ZYDIS_MNEMONIC_INT3:
	case ZYDIS_MNEMONIC_UD0:
	case ZYDIS_MNEMONIC_UD1:
	case ZYDIS_MNEMONIC_UD2:
		return true;
	default:
		return instruction->head.meta.category == ZYDIS_CATEGORY_RET ||
		       instruction->head.meta.category == ZYDIS_CATEGORY_SYSRET;
	}
}

bool uw_effect_apply(struct uw_flow_state *state, uint64_t address, const uint8_t *bytes,
		     size_t size, struct uw_effect *effect)
{
	struct instruction instruction;

	if (!decode(bytes, size, &instruction))
		return false;
	instruction.next = address + instruction.head.length;
	*effect = (struct uw_effect){.size = instruction.head.length};
	if (is_end(&instruction)) {
		effect->flow = instruction.head.mnemonic == ZYDIS_MNEMONIC_RET ? UW_FLOW_RETURN
									       : UW_FLOW_END;
		effect->popped = (uint16_t)instruction.head.raw.imm[0].value.u;
		return true;
	}
	switch (instruction.head.meta.category) {
	case ZYDIS_CATEGORY_COND_BR:
	case ZYDIS_CATEGORY_UNCOND_BR:
		jump(state, &instruction, effect);
		return true;
	case ZYDIS_CATEGORY_CALL:
		call(state, &instruction, effect);
		return true;
	case ZYDIS_CATEGORY_NOP:
	case ZYDIS_CATEGORY_WIDENOP:
		return true;
	default:
		if (!apply_stack(state, &instruction, effect))
			compute(state, &instruction);
		return true;
	}
}

bool uw_effect_faults(const uint8_t *bytes, size_t size)
{
	struct instruction instruction;

	if (!memchr(bytes, SIB_ABSOLUTE, size < SIB_END ? size : SIB_END) ||
	    !decode(bytes, size, &instruction) ||
	    instruction.head.meta.category == ZYDIS_CATEGORY_NOP ||
	    instruction.head.meta.category == ZYDIS_CATEGORY_WIDENOP)
		return false;
	for (uint8_t i = 0; i < instruction.head.operand_count; i++) {
		const ZydisDecodedOperandMem *at = &instruction.operand[i].mem;
		if (is_memory(&instruction.operand[i]) && at->type == ZYDIS_MEMOP_TYPE_MEM &&
		    at->base == ZYDIS_REGISTER_NONE && at->index == ZYDIS_REGISTER_NONE &&
		    at->segment != ZYDIS_REGISTER_FS && at->segment != ZYDIS_REGISTER_GS &&
		    at->disp.value >= 0 && at->disp.value < UNMAPPED_SIZE)
			return true;
	}
	return false;
}

unsigned uw_effect_nop(const uint8_t *bytes, size_t size)
{
	ZydisDecoder decoder;
	ZydisDecodedInstruction head;

	if (!ZYAN_SUCCESS(
		    ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64)) ||
	    !ZYAN_SUCCESS(ZydisDecoderDecodeInstruction(&decoder, NULL, bytes, size, &head)))
		return 0;
	return head.meta.category == ZYDIS_CATEGORY_NOP ||
			       head.meta.category == ZYDIS_CATEGORY_WIDENOP
		       ? head.length
		       : 0;
}

static void assume_below(struct uw_flow_state *state, uint64_t count)
{
	struct uw_comparison comparison = state->comparison;
	struct uw_value value = below(count);

	if (value.kind == UW_VALUE_ANY || comparison.other != UW_NO_GPR)
		return;
	if (comparison.place.is_memory) {
		state->bounded = comparison.place;
		state->bounded_count = (uint32_t)count;
		return;
	}
	unsigned compared = comparison.place.reg;
	for (unsigned reg = 0; reg < UW_GPR_COUNT; reg++) {
		bool is_equal = reg == compared || state->copy_of[reg] == compared + 1U ||
				state->copy_of[compared] == reg + 1U;
		if (is_equal && !uw_value_is_frame(state->reg[reg]) &&
		    state->reg[reg].kind != UW_VALUE_INITIAL &&
		    state->reg[reg].kind != UW_VALUE_WORD)
			state->reg[reg] = value;
	}
}

/* A loop that touches a large frame's pages ends when the stack pointer has reached a register. */
static void assume_equal(struct uw_flow_state *state)
{
	struct uw_comparison comparison = state->comparison;

	if (comparison.place.is_memory || comparison.other >= UW_GPR_COUNT)
		return;
	if (comparison.place.reg == UW_RSP && uw_value_is_frame(state->reg[comparison.other]))
		uw_state_put(state, UW_RSP, state->reg[comparison.other]);
}

void uw_effect_assume(struct uw_flow_state *state, enum uw_condition condition, bool taken)
{
	uint64_t constant = (uint64_t)state->comparison.constant;

	if (!state->comparison.place.is_set)
		return;
	if ((condition == UW_CONDITION_ABOVE && !taken) ||
	    (condition == UW_CONDITION_NOT_ABOVE && taken))
		assume_below(state, constant + 1);
	else if ((condition == UW_CONDITION_NOT_BELOW && !taken) ||
		 (condition == UW_CONDITION_BELOW && taken))
		assume_below(state, constant);
	else if ((condition == UW_CONDITION_EQUAL && taken) ||
		 (condition == UW_CONDITION_NOT_EQUAL && !taken))
		assume_equal(state);
}
