/* The frame of a place by the way ahead of it: what a return undoes, the function had done. */
#include "unwind/analysis/analysis.h"
#include "unwind/analysis/effect.h"
#include "unwind/analysis/visited.h"
#include <assert.h>
#include <string.h>

enum {
	WINDOW = 256,
	WAYS_MAX = 48,
	STRETCH = 32,     /* instructions of one way before the next one's turn */
	STEPS_MAX = 3000, /* in all; functions of 10 KB come to an end */
	LOG_VISITED = 12, /* each step takes a slot */
	ALIGNMENT = 16,
	WORD = 8,
	UNKNOWN = 0xff
};

struct way {
	uint64_t address;
	/* The stack pointer at calls, modulo ALIGNMENT, by base: as the state counts from the
	 * stack pointer at first, or from the frame pointer. UNKNOWN: no call. */
	uint8_t at_call[2];
	bool has_calls;
	/* The instruction before pushed the return address of rbp's frame record. */
	bool is_pushed;
	struct uw_flow_state state;
};

static_assert(STEPS_MAX < 1 << LOG_VISITED, "there is always a free slot");

struct ahead {
	const struct uw_analysis_source *source;
	uint64_t base; /* of bytes */
	size_t size;
	uint8_t bytes[WINDOW];
	uint64_t visited[1 << LOG_VISITED]; /* addresses; 0: none */
	unsigned steps;
	/* Ways to be followed, a queue. */
	size_t first, count;
	struct way ways[WAYS_MAX];
};

/* Makes the window hold the instruction at an address; false: there is no code. */
static bool look_at(struct ahead *ahead, uint64_t at)
{
	static const size_t sizes[] = {WINDOW, 64, UW_INSTRUCTION_SIZE_MAX, 4, 1};

	if (ahead->size > 0 && at >= ahead->base &&
	    at - ahead->base + UW_INSTRUCTION_SIZE_MAX <= ahead->size)
		return true;
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		ahead->base = at;
		ahead->size = sizes[i];
		if (ahead->source->read(ahead->source->context, at, ahead->bytes, ahead->size))
			return true;
	}
	ahead->size = 0;
	return false;
}

static void add_way(struct ahead *ahead, const struct way *way)
{
	if (ahead->count < WAYS_MAX)
		ahead->ways[(ahead->first + ahead->count++) % WAYS_MAX] = *way;
}

/* Whether control does not come to an address: there is none, or an instruction that stops. Nops
 * may stand before a loop, or another function. */
static bool is_stop(struct ahead *ahead, uint64_t at)
{
	if (!look_at(ahead, at))
		return true;
	const uint8_t *bytes = ahead->bytes + (at - ahead->base);
	size_t size = ahead->size - (size_t)(at - ahead->base);
	return bytes[0] == 0xcc || bytes[0] == 0xf4 ||
	       (size > 1 && bytes[0] == 0x0f && bytes[1] == 0x0b);
}

/* Takes a call; false: it may not return, or its stack pointer contradicts another call's. */
static bool take_call(struct ahead *ahead, struct way *way)
{
	struct uw_value sp = way->state.reg[UW_RSP];

	way->has_calls = true;
	if (uw_value_is_frame(sp)) {
		uint8_t *known = &way->at_call[sp.kind == UW_VALUE_ALIGNED];
		uint8_t now = (uint8_t)((uint32_t)sp.number % ALIGNMENT);
		if (*known != UNKNOWN && *known != now)
			return false;
		*known = now;
	}
	return !is_stop(ahead, way->address);
}

static bool is_same(const struct uw_flow_state *state, unsigned reg)
{
	struct uw_value value = state->reg[reg];

	if (reg == UW_RBP)
		return value.kind == UW_VALUE_ALIGNED && value.number == 0;
	return value.kind == UW_VALUE_INITIAL && (unsigned)value.number == uw_saved_index(reg);
}

/* Takes a preserved register at a return: it is unchanged, or comes from a word of the frame. */
static bool take_register(struct uw_analysis_row *row, const struct uw_flow_state *state,
			  unsigned reg, unsigned base, int32_t cfa)
{
	struct uw_value value = state->reg[reg];
	unsigned index = uw_saved_index(reg);

	if (is_same(state, reg)) {
		row->same |= (uint8_t)(1U << index);
		return true;
	}
	if (value.kind != UW_VALUE_WORD || value.count != base || value.number > cfa - 16 ||
	    value.number % 8 != 0 || (base == UW_VALUE_CFA && value.number < 0))
		return false;
	for (unsigned i = 0; i < UW_SAVED_COUNT; i++)
		if ((row->saved >> i & 1) && row->slot[i] == value.number - cfa)
			return false;
	row->saved |= (uint8_t)(1U << index);
	row->slot[index] = value.number - cfa;
	return true;
}

/* Whether the caller's frame pointer lies where a frame pointer would point to. */
static bool has_record(const struct uw_analysis_row *row)
{
	return (row->saved >> 1 & 1) && row->slot[1] == -16;
}

/* Leaves nothing of a row's registers but the caller's frame pointer. */
static void keep_fp(struct uw_analysis_row *row)
{
	int32_t slot = row->slot[1];

	memset(row->slot, 0, sizeof(row->slot));
	row->slot[1] = slot;
	row->saved &= 1 << 1;
	row->same &= 1 << 1;
}

static bool is_word(struct uw_value value, int32_t number)
{
	return value.kind == UW_VALUE_WORD && value.count == UW_VALUE_ALIGNED &&
	       value.number == number;
}

/* The row of a function that follows rules of its own, but returns by the record that rbp points
 * to: V8's builtins take arguments off the stack, and preserve no registers. */
static bool take_record(const struct way *way, struct uw_analysis_row *row)
{
	struct uw_value sp = way->state.reg[UW_RSP];
	bool is_there = sp.kind == UW_VALUE_ALIGNED ? sp.number == WORD : way->is_pushed;

	if (!is_there || !is_word(way->state.reg[UW_RBP], 0))
		return false;
	*row = (struct uw_analysis_row){.cfa_reg = 6,
					.cfa_offset = 2 * WORD,
					.sp_offset = INT32_MIN,
					.fp_offset = 2 * WORD,
					.saved = 1 << 1};
	row->slot[1] = -2 * WORD;
	return true;
}

/* The row that a return tells; false: none, the way is no function's. */
static bool take_return(const struct way *way, struct uw_analysis_row *row)
{
	static const uint8_t preserved[] = {UW_RBX, UW_RBP, 12, 13, 14, 15};
	struct uw_value sp = way->state.reg[UW_RSP];
	bool by_fp = sp.kind == UW_VALUE_ALIGNED;
	uint8_t at_call = way->at_call[by_fp];

	if (!uw_value_is_frame(sp) || sp.number < 0 || sp.number % 8 != 0)
		return false;
	int32_t cfa = sp.number + 8;
	if (at_call != UNKNOWN && (uint32_t)(cfa - at_call) % ALIGNMENT != 0)
		return false;
	*row = (struct uw_analysis_row){.cfa_reg = by_fp ? 6 : 7,
					.cfa_offset = cfa,
					.sp_offset = by_fp ? INT32_MIN : cfa,
					.fp_offset = by_fp ? cfa : INT32_MIN};
	for (size_t i = 0; i < UW_SAVED_COUNT; i++)
		if (!take_register(row, &way->state, preserved[i], sp.kind, cfa))
			return false;
	/* How far the stack pointer was from the frame pointer is not known. */
	if (row->saved && (way->state.ahead & (by_fp ? UW_AHEAD_PUSHED : UW_AHEAD_LOST)))
		return false;
	/* Where a call led on into other code, the record tells, but not the other registers. */
	if (way->has_calls)
		keep_fp(row);
	/* A frame pointer points to the word where the caller's lies. */
	return by_fp ? cfa == 16 && has_record(row) : has_record(row) || !way->has_calls;
}

/* Goes on behind an instruction, whose end way->address is; false: the way ends there. */
static bool go_on(struct ahead *ahead, struct way *way, const struct uw_effect *effect)
{
	switch (effect->flow) {
	case UW_FLOW_NEXT:
		return true;
	case UW_FLOW_CALL:
		return take_call(ahead, way);
	case UW_FLOW_BRANCH: {
		uint64_t next = way->address;
		way->address = effect->target;
		add_way(ahead, way);
		way->address = next;
		return true;
	}
	case UW_FLOW_JUMP:
		way->address = effect->target;
		return true;
	case UW_FLOW_INDIRECT:
	case UW_FLOW_RETURN:
	case UW_FLOW_END:
		break;
	}
	return false;
}

/* Follows a way for a stretch; true: it came to a return, which tells the row. */
static bool follow(struct ahead *ahead, struct way *way, struct uw_analysis_row *row)
{
	for (unsigned i = 0; i < STRETCH; i++) {
		struct uw_effect effect;

		if (ahead->steps == STEPS_MAX || way->address == 0 || !look_at(ahead, way->address))
			return false;
		size_t offset = (size_t)(way->address - ahead->base);
		if (!uw_visit(ahead->visited, LOG_VISITED, way->address))
			return false;
		/* Before any way out of here: a full table would be searched for ever. */
		ahead->steps++;
		if (!uw_effect_apply(&way->state, way->address, ahead->bytes + offset,
				     ahead->size - offset, &effect))
			return false;
		/* What takes arguments off the stack is no function of the psABI's. */
		if (effect.flow == UW_FLOW_RETURN)
			return effect.popped == 0 && !way->is_pushed ? take_return(way, row)
								     : take_record(way, row);
		/* A tail call undoes the frame; a jump to a case does not. */
		if (effect.flow == UW_FLOW_INDIRECT)
			return take_return(way, row) && has_record(row);
		way->is_pushed = is_word(effect.pushed, WORD);
		way->address += effect.size;
		if (!go_on(ahead, way, &effect))
			return false;
	}
	add_way(ahead, way);
	return false;
}

bool uw_analysis_ahead(const struct uw_analysis_source *source, uint64_t address,
		       bool is_behind_call, struct uw_analysis_row *row, uint32_t *steps)
{
	struct ahead ahead;
	struct way way = {.address = address, .at_call = {UNKNOWN, UNKNOWN}};

	ahead.source = source;
	ahead.size = ahead.first = ahead.count = 0;
	ahead.steps = 0;
	memset(ahead.visited, 0, sizeof(ahead.visited));
	uw_state_begin(&way.state);
	if (is_behind_call && !take_call(&ahead, &way))
		return false;
	add_way(&ahead, &way);
	bool found = false;
	while (!found && ahead.count > 0 && ahead.steps < STEPS_MAX) {
		way = ahead.ways[ahead.first];
		ahead.first = (ahead.first + 1) % WAYS_MAX;
		ahead.count--;
		found = follow(&ahead, &way, row);
	}
	*steps += ahead.steps;
	return found;
}
