#include "unwind/rules/form.h"

#include "unwind/analysis/analysis.h"
#include "unwind/cfi/row.h"
#include "unwind/elf/cursor.h"
#include <assert.h>

enum { OP_DEREF = 0x06, OP_BREG0 = 0x70 /* DWARF 5, section 7.7.1 */ };

static int8_t saved_lowest(const struct uw_saved *saved)
{
	int8_t lowest = 0;

	for (unsigned i = 0; i < UW_SAVED_COUNT; i++) {
		if (saved->slot[i] > 0)
			return INT8_MIN;
		if (saved->slot[i] < lowest)
			lowest = saved->slot[i];
	}
	return lowest;
}

static uint8_t rules_plain(const struct uw_machine *machine, const struct uw_rules *rules)
{
	int words = -rules->saved.slot[UW_SAVED_FP];
	uint8_t reg = rules->saved.cfa_reg;

	if (words == 0)
		words = UW_PLAIN_UNSAVED;
	else if (words <= UW_PLAIN_UNSAVED || words > UW_PLAIN_WORDS_MAX)
		return UW_PLAIN_NOT;
	if ((reg != machine->sp && reg != machine->fp) || rules->cfa_offset % machine->word != 0)
		return UW_PLAIN_NOT;
	return (uint8_t)(words | (reg == machine->fp ? UW_PLAIN_FROM_FP : 0));
}

bool uw_form_common(const struct uw_machine *machine, const struct uw_row *row,
		    struct uw_rules *rules)
{
	const struct uw_rule *ra = &row->reg[machine->ra];
	size_t next = 0;

	assert(uw_machine_pushes(machine) && machine->saved[UW_SAVED_FP] == machine->fp);
	*rules = (struct uw_rules){0};
	if (row->cfa.kind != UW_RULE_REGISTER || row->cfa.offset != (int32_t)row->cfa.offset ||
	    ra->kind != UW_RULE_AT_CFA || ra->offset != -machine->word)
		return false;
	rules->saved.cfa_reg = row->cfa.reg;
	rules->cfa_offset = (int32_t)row->cfa.offset;
	for (unsigned reg = 0; reg < machine->ra; reg++) {
		const struct uw_rule *rule = &row->reg[reg];
		bool preserved = next < machine->saved_count && machine->saved[next] == reg;

		next += preserved;
		if (rule->kind == UW_RULE_UNSPECIFIED || rule->kind == UW_RULE_SAME)
			continue;
		if (!preserved || rule->kind != UW_RULE_AT_CFA || rule->offset == 0 ||
		    !uw_slot_of(machine, rule->offset, &rules->saved.slot[next - 1]))
			return false;
	}
	rules->saved.lowest = saved_lowest(&rules->saved);
	rules->plain = rules_plain(machine, rules);
	return true;
}

bool uw_form_analysed(const struct uw_machine *machine, const struct uw_analysis_row *row,
		      struct uw_rules *rules)
{
	assert(row->reason == UW_ANALYSIS_KNOWN);
	*rules = (struct uw_rules){.cfa_offset = row->cfa_offset, .plain = UW_PLAIN_NOT};
	rules->saved.cfa_reg = row->cfa_reg;
	if (row->cfa_is_stored)
		return false;
	/* Where a called function pops its arguments, the stack pointer is not what it seems. */
	if (row->fp_offset != INT32_MIN) {
		rules->saved.cfa_reg = machine->fp;
		rules->cfa_offset = row->fp_offset;
	}
	for (unsigned i = 0; i < machine->saved_count; i++) {
		int8_t *slot = &rules->saved.slot[i];
		bool is_saved = row->saved >> i & 1;

		if (is_saved ? (row->by_fp >> i & 1) || row->slot[i] >= 0 ||
				       !uw_slot_of(machine, row->slot[i], slot)
			     : !(row->same >> i & 1))
			*slot = UW_SLOT_LOST;
	}
	return true;
}

/* Whether an expression is "frame pointer + offset", and after it *tail alone, or nothing. */
static bool is_near_fp(const struct uw_machine *machine, const struct uw_rule *rule,
		       const uint8_t *tail, int64_t *offset)
{
	const struct uw_span span = {rule->expression, rule->size, 0};
	struct uw_cursor cursor = uw_cursor_of(&span, 0, rule->size);

	if (uw_read_u8(&cursor) != OP_BREG0 + machine->fp)
		return false;
	*offset = uw_read_sleb(&cursor);
	if (tail && uw_read_u8(&cursor) != *tail)
		return false;
	return !cursor.failed && uw_cursor_left(&cursor) == 0;
}

static bool take_register(const struct uw_machine *machine, const struct uw_rule *rule,
			  unsigned reg, unsigned index, struct uw_rules *rules)
{
	int64_t offset;

	if (rule->kind != UW_RULE_AT_EXPRESSION || machine->saved[index] != reg ||
	    !is_near_fp(machine, rule, NULL, &offset))
		return false;
	return uw_slot_of(machine, offset, &rules->saved.slot[index]) &&
	       (offset == 0) == (index == UW_SAVED_FP);
}

bool uw_form_realigned(const struct uw_machine *machine, const struct uw_row *row,
		       struct uw_rules *rules)
{
	static const uint8_t deref = OP_DEREF;
	const struct uw_rule *ra = &row->reg[machine->ra];
	unsigned index = 0;
	int64_t offset;

	*rules = (struct uw_rules){.plain = UW_PLAIN_NOT};
	if (row->cfa.kind != UW_RULE_EXPRESSION_VALUE ||
	    !is_near_fp(machine, &row->cfa, &deref, &offset) || offset != (int32_t)offset ||
	    ra->kind != UW_RULE_AT_CFA || ra->offset != -machine->word ||
	    row->reg[machine->fp].kind != UW_RULE_AT_EXPRESSION)
		return false;
	rules->cfa_offset = (int32_t)offset;
	rules->saved.cfa_reg = machine->fp;
	for (unsigned reg = 0; reg < machine->ra; reg++) {
		const struct uw_rule *rule = &row->reg[reg];

		while (index + 1U < machine->saved_count && machine->saved[index] < reg)
			index++;
		if (rule->kind != UW_RULE_UNSPECIFIED && rule->kind != UW_RULE_SAME &&
		    !take_register(machine, rule, reg, index, rules))
			return false;
	}
	return true;
}
