#include "unwind/x86/stack_switch.h"

#include "unwind/cfi/row.h"
#include "unwind/elf/elf.h"
#include "unwind/frame/machine.h"
#include "unwind/x86/instruction.h"

enum {
	BEFORE_MAX = 256, /* from the function's start: functions that switch stacks are short */
	AFTER_MAX = 64,
	NOT_LOADED = -1
};

/* The jumps that lead to a place. */
enum join { JOIN_NONE, JOIN_ONE, JOIN_MIXED };

/* The code of a function, read in order. */
struct sweep {
	uint8_t bytes[BEFORE_MAX + AFTER_MAX];
	size_t size;
	size_t offset; /* of the next instruction */
	int load;      /* start of the instruction that loaded the stack pointer in this line */
	size_t loaded; /* end of this instruction */
	enum uw_instruction_kind last;              /* of the latest instruction */
	uint8_t joins[BEFORE_MAX + AFTER_MAX + 1];  /* enum join: from before, to each offset */
	int16_t joined[BEFORE_MAX + AFTER_MAX + 1]; /* JOIN_ONE: load at the jump */
};

static void note_jump(struct sweep *sweep, const struct uw_instruction *read)
{
	int64_t target = (int64_t)sweep->offset + read->distance;

	if (target < (int64_t)sweep->offset || target > (int64_t)sweep->size)
		return;
	bool mixes = sweep->joins[target] != JOIN_NONE && sweep->joined[target] != sweep->load;
	sweep->joins[target] = mixes ? JOIN_MIXED : JOIN_ONE;
	sweep->joined[target] = (int16_t)sweep->load;
}

/* Forgets the load where a jump with another stack pointer joins the line. */
static void meet_joins(struct sweep *sweep)
{
	uint8_t join = sweep->joins[sweep->offset];

	if (join == JOIN_MIXED || (join == JOIN_ONE && sweep->joined[sweep->offset] != sweep->load))
		sweep->load = NOT_LOADED;
}

/* Takes one instruction. false: an unknown one. */
static bool take_instruction(struct sweep *sweep)
{
	struct uw_instruction read =
		uw_instruction_read(sweep->bytes + sweep->offset, sweep->size - sweep->offset);

	sweep->last = read.kind;
	if (read.kind == UW_INSTRUCTION_UNKNOWN)
		return false;
	if (read.kind == UW_INSTRUCTION_LOAD) {
		sweep->load = (int)sweep->offset;
		sweep->loaded = sweep->offset + read.size;
	}
	sweep->offset += read.size;
	if (read.kind == UW_INSTRUCTION_BRANCH || read.kind == UW_INSTRUCTION_GOTO)
		note_jump(sweep, &read);
	if (read.kind == UW_INSTRUCTION_STACK || read.kind == UW_INSTRUCTION_GOTO ||
	    read.kind == UW_INSTRUCTION_JUMP || read.kind == UW_INSTRUCTION_END)
		sweep->load = NOT_LOADED;
	meet_joins(sweep);
	return true;
}

/* Whether the next instructions show that the code is not about to pop its own frame. */
static bool leaves_stack(struct sweep *sweep)
{
	while (sweep->load != NOT_LOADED && take_instruction(sweep))
		if (sweep->last == UW_INSTRUCTION_CALL || sweep->last == UW_INSTRUCTION_LOAD)
			return true;
	return sweep->last == UW_INSTRUCTION_JUMP;
}

/* Whether the CFA is as far from the stack pointer after the instruction as before it. */
static bool cfa_stays(const struct uw_fde *fde, uint64_t start, uint64_t end, uint32_t *effort)
{
	struct uw_row before, after;

	return uw_cfi_row(fde, start, &before, effort) == UW_CFI_OK &&
	       uw_cfi_row(fde, end, &after, effort) == UW_CFI_OK &&
	       before.cfa.kind == UW_RULE_REGISTER && before.cfa.reg == UW_X86_64_RSP &&
	       after.cfa.kind == UW_RULE_REGISTER && after.cfa.reg == UW_X86_64_RSP &&
	       before.cfa.offset == after.cfa.offset;
}

bool uw_stack_is_loaded(const struct uw_elf *elf, const struct uw_code_range *function,
			uint64_t rva, bool exact, struct uw_code_range *load)
{
	struct sweep sweep = {.load = NOT_LOADED};
	uint64_t at = rva - function->start, left = function->end - rva;

	if (at > BEFORE_MAX)
		return false;
	sweep.size = at + (!exact ? 0 : left < AFTER_MAX ? left : AFTER_MAX);
	if (!uw_elf_read_constant(elf, function->start, sweep.bytes, sweep.size))
		return false;
	while (sweep.offset < at)
		if (!take_instruction(&sweep))
			return false;
	if (sweep.offset != at || sweep.load == NOT_LOADED)
		return false;
	load->start = function->start + (uint64_t)sweep.load;
	load->end = function->start + sweep.loaded;
	return exact ? leaves_stack(&sweep) : sweep.last == UW_INSTRUCTION_CALL;
}

bool uw_stack_is_switched(const struct uw_elf *elf, const struct uw_fde *fde, uint64_t rva,
			  bool exact, uint32_t *effort)
{
	const struct uw_code_range function = {fde->start, fde->end};
	struct uw_code_range load;

	return uw_stack_is_loaded(elf, &function, rva, exact, &load) &&
	       cfa_stays(fde, load.start, load.end, effort);
}
