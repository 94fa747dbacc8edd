#include "tests/unwind/analysis/judge.h"

#include <stdio.h>

static const char *const words[VERDICT_COUNT] = {
	[LINKAGE] = "linkage",
	[PADDING] = "padding",
	[EXCEPTIONS] = "exceptions",
	[UNTOLD] = "untold",
	[FIRST_REASON + UW_ANALYSIS_APART] = "apart",
	[FIRST_REASON + UW_ANALYSIS_JUMP] = "jump",
	[FIRST_REASON + UW_ANALYSIS_CONFLICT] = "conflict",
	[FIRST_REASON + UW_ANALYSIS_COMPUTED] = "computed",
	[FIRST_REASON + UW_ANALYSIS_RETURN] = "return",
	[FIRST_REASON + UW_ANALYSIS_LIMIT] = "limit",
	[PARTLY] = "partly",
	[RIGHT] = "right",
	[EXCUSED] = "excused",
	[CONTRADICTORY] = "contradictory",
	[WRONG] = "WRONG",
	[DISPUTED] = "disputed",
};

/* DW_OP_breg6 offset, and after it operation tail if that is not 0. */
static bool is_near_fp(const struct uw_rule *rule, uint8_t tail, int64_t *offset)
{
	const struct uw_span span = {rule->expression, rule->size, 0};
	struct uw_cursor cursor = uw_cursor_of(&span, 0, rule->size);

	if (uw_read_u8(&cursor) != 0x76)
		return false;
	*offset = uw_read_sleb(&cursor);
	if (tail && uw_read_u8(&cursor) != tail)
		return false;
	return !cursor.failed && uw_cursor_left(&cursor) == 0;
}

static enum verdict judge_cfa(const struct uw_row *theirs, const struct uw_analysis_row *ours)
{
	const struct uw_rule *cfa = &theirs->cfa;
	int64_t offset;

	if (cfa->kind != UW_RULE_REGISTER) {
		if (!is_near_fp(cfa, 0x06, &offset))
			return PARTLY;
		if (ours->cfa_is_stored)
			return ours->cfa_reg == 6 && ours->cfa_offset == offset ? RIGHT : WRONG;
		return PARTLY;
	}
	if (!ours->cfa_is_stored && ours->cfa_reg == cfa->reg)
		return ours->cfa_offset == cfa->offset ? RIGHT : WRONG;
	if (cfa->reg == 7 && ours->sp_offset != INT32_MIN)
		return ours->sp_offset == cfa->offset ? RIGHT : WRONG;
	if (cfa->reg == 6 && ours->fp_offset != INT32_MIN)
		return ours->fp_offset == cfa->offset ? RIGHT : WRONG;
	return PARTLY;
}

static enum verdict judge_register(const struct uw_rule *theirs, const struct uw_analysis_row *ours,
				   unsigned index, int32_t sp)
{
	bool same = ours->same >> index & 1, saved = ours->saved >> index & 1;
	bool by_fp = ours->by_fp >> index & 1;
	int64_t offset = theirs->offset;

	switch (theirs->kind) {
	case UW_RULE_UNSPECIFIED:
	case UW_RULE_SAME:
		return same ? RIGHT : saved ? WRONG : PARTLY;
	case UW_RULE_UNDEFINED:
		return RIGHT;
	case UW_RULE_AT_CFA:
		if (saved && !by_fp)
			return ours->slot[index] == offset ? RIGHT : WRONG;
		/* Popped already. */
		if (same)
			return sp != INT32_MIN && offset < -sp ? RIGHT : PARTLY;
		return PARTLY;
	case UW_RULE_AT_EXPRESSION:
		if (saved && by_fp && is_near_fp(theirs, 0, &offset))
			return ours->slot[index] == offset ? RIGHT : WRONG;
		return same ? RIGHT : PARTLY;
	default:
		return PARTLY;
	}
}

enum verdict judge(const struct uw_row *theirs, const struct uw_analysis_row *ours)
{
	static const uint8_t saved[] = {3, 6, 12, 13, 14, 15};

	if (ours->reason != UW_ANALYSIS_KNOWN)
		return FIRST_REASON + ours->reason;
	enum verdict verdict = judge_cfa(theirs, ours);
	for (unsigned i = 0; i < UW_SAVED_COUNT; i++) {
		enum verdict next =
			judge_register(&theirs->reg[saved[i]], ours, i, ours->sp_offset);
		if (next == WRONG || verdict == RIGHT)
			verdict = next;
	}
	return verdict;
}

void judge_print(const struct uw_row *theirs, const struct uw_analysis_row *ours)
{
	static const uint8_t saved[] = {3, 6, 12, 13, 14, 15};

	printf("   table: cfa kind %d r%d%+ld", theirs->cfa.kind, theirs->cfa.reg,
	       theirs->cfa.offset);
	for (unsigned i = 0; i < UW_SAVED_COUNT; i++)
		if (theirs->reg[saved[i]].kind != UW_RULE_UNSPECIFIED)
			printf(" r%d:%d@%ld", saved[i], theirs->reg[saved[i]].kind,
			       theirs->reg[saved[i]].offset);
	printf("\n   ours:  cfa %sr%d%+d sp%+d fp%+d", ours->cfa_is_stored ? "*" : "",
	       ours->cfa_reg, ours->cfa_offset, ours->sp_offset, ours->fp_offset);
	for (unsigned i = 0; i < UW_SAVED_COUNT; i++)
		printf(" r%d:%s%s@%d", saved[i], ours->same >> i & 1 ? "=" : "",
		       ours->saved >> i & 1 ? (ours->by_fp >> i & 1 ? "f" : "c") : "",
		       ours->slot[i]);
	printf("\n");
}

const char *judge_word(enum verdict verdict)
{
	return words[verdict];
}
