#include "unwind/analysis/way_out.h"

#include "unwind/analysis/effect.h"
#include "unwind/analysis/visited.h"
#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum {
	STEPS_MAX = 3000, /* instructions on all ways */
	AFTER_FOUND = 64, /* steps more, and as many as before, to find a return that differs */
	TAIL_MAX = 16,    /* instructions to a jump that may be a tail call */
	WAYS_MAX = 64,    /* not yet followed */
	LOG_SEEN = 13,    /* addresses of instructions: more than twice STEPS_MAX */
	DISTANCE_MAX = 256 * 1024,
	WORD = 8
};

/* The two registers at the start are the bases of the search's values: rsp is the CFA. rbp is the
 * other base, ALIGNED, when it may be a frame's pointer; else it is one more preserved value. */
enum {
	INITIAL_FP = 1,
	/* Any other numbers: of the words where a frame pointer points to, and the one above. */
	MARKED = 2,
	MARKED_RETURN = 3
};

struct way {
	uint64_t address;
	struct uw_flow_state state;
};

/* A step may add a way, whose first address is noted even if it ends there. */
static_assert(2 * STEPS_MAX + 1 < 1 << LOG_SEEN, "there is always a free slot");

struct search {
	const struct uw_analysis_source *source;
	struct uw_way_out *out;
	uint64_t start;
	struct way ways[WAYS_MAX];
	size_t first, count; /* of a ring */
	uint64_t seen[1 << LOG_SEEN];
	unsigned steps, steps_max;
	struct uw_way_out found; /* base: of the returns */
	struct uw_way_out left;  /* of a jump out of the code */
	bool differs;
};

static bool is_near(const struct search *search, uint64_t address)
{
	return address - search->start < DISTANCE_MAX || search->start - address < DISTANCE_MAX;
}

/* The bytes from address on, as many as an instruction has or as there are. */
static size_t read_code(struct search *search, uint64_t address,
			uint8_t bytes[static UW_INSTRUCTION_SIZE_MAX])
{
	const struct uw_analysis_source *source = search->source;
	size_t size = UW_INSTRUCTION_SIZE_MAX;

	if (!is_near(search, address))
		return 0;
	while (!source->read(source->context, address, bytes, size))
		if (--size == 0)
			return 0;
	if (address < search->out->from)
		search->out->from = address;
	if (address + size > search->out->end)
		search->out->end = address + size;
	return size;
}

/* Where the stack pointer finds the return address. */
static struct uw_way_out ending(const struct uw_flow_state *state)
{
	struct uw_value sp = state->reg[UW_RSP], fp = state->reg[UW_RBP];
	struct uw_way_out way = {.slot = sp.number};

	if (sp.kind == UW_VALUE_CFA)
		way.base = UW_WAY_SP;
	else if (sp.kind == UW_VALUE_ALIGNED)
		way.base = UW_WAY_FP;
	if (fp.kind == UW_VALUE_INITIAL && fp.number == MARKED)
		way.fp = UW_WAY_FP_BELOW;
	else if ((fp.kind == UW_VALUE_INITIAL && fp.number == INITIAL_FP) ||
		 (fp.kind == UW_VALUE_ALIGNED && fp.number == 0))
		way.fp = UW_WAY_FP_SAME;
	return way;
}

/* is_pushed: the instruction before pushed the return address, which had been taken off from below
 * arguments: so do V8's builtins, whose number of arguments is known at run time only. */
static void take_return(struct search *search, const struct uw_flow_state *state, uint16_t popped,
			bool is_pushed)
{
	struct uw_way_out way = ending(state);

	way.popped = popped;
	if (way.base == UW_WAY_UNKNOWN && is_pushed) {
		way.base = UW_WAY_FP;
		way.slot = WORD;
	}
	if (way.base == UW_WAY_UNKNOWN)
		return;
	if (search->found.base == UW_WAY_UNKNOWN) {
		search->found = way;
		unsigned steps = 2 * search->steps + AFTER_FOUND;
		if (steps < search->steps_max)
			search->steps_max = steps;
	} else if (search->found.base != way.base || search->found.slot != way.slot ||
		   search->found.fp != way.fp) {
		search->differs = true;
	} else if (popped < search->found.popped) {
		search->found.popped = popped;
	}
}

static void add_way(struct search *search, uint64_t address, const struct uw_flow_state *state)
{
	if (search->count == WAYS_MAX)
		return;
	search->ways[(search->first + search->count) % WAYS_MAX] = (struct way){address, *state};
	search->count++;
}

/* A jump to an unknown place, on the only way: a tail call, perhaps, if nothing is on the stack. */
static void take_tail(struct search *search, const struct uw_flow_state *state)
{
	struct uw_way_out way = ending(state);

	if (search->count == 0 && search->steps < TAIL_MAX && way.base == UW_WAY_SP &&
	    way.slot == 0 && search->left.base == UW_WAY_UNKNOWN) {
		search->left = way;
		search->left.is_tail = true;
	}
}

/* Moves behind an instruction; false: the way ends. is_pushed: see take_return. */
static bool go_on(struct search *search, struct uw_flow_state *state,
		  const struct uw_effect *effect, bool is_pushed, uint64_t *address)
{
	uint8_t bytes[UW_INSTRUCTION_SIZE_MAX];
	struct uw_flow_state taken;

	*address += effect->size;
	switch (effect->flow) {
	case UW_FLOW_NEXT:
	case UW_FLOW_CALL:
		return true;
	case UW_FLOW_BRANCH:
		taken = *state;
		uw_effect_assume(&taken, effect->condition, true);
		add_way(search, effect->target, &taken);
		uw_effect_assume(state, effect->condition, false);
		return true;
	case UW_FLOW_JUMP:
		*address = effect->target;
		if (read_code(search, *address, bytes) > 0)
			return true;
		if (search->left.base == UW_WAY_UNKNOWN)
			search->left = ending(state);
		return false;
	case UW_FLOW_RETURN:
		take_return(search, state, effect->popped, is_pushed);
		return false;
	case UW_FLOW_INDIRECT:
		take_tail(search, state);
		return false;
	case UW_FLOW_END:
		break;
	}
	return false;
}

/* Follows a way to its end. Calls one behind the other, with nothing in between, do not return:
 * each is one of V8's exits to its deoptimizer. */
static void follow(struct search *search, uint64_t address, struct uw_flow_state *state)
{
	enum uw_flow_kind last = UW_FLOW_NEXT;
	bool is_pushed = false;

	while (search->steps < search->steps_max && uw_visit(search->seen, LOG_SEEN, address)) {
		uint8_t bytes[UW_INSTRUCTION_SIZE_MAX];
		size_t size = read_code(search, address, bytes);
		struct uw_effect effect;
		if (size == 0 || !uw_effect_apply(state, address, bytes, size, &effect))
			return;
		search->steps++;
		if ((effect.flow == UW_FLOW_CALL && last == UW_FLOW_CALL) ||
		    !go_on(search, state, &effect, is_pushed, &address))
			return;
		last = effect.flow;
		is_pushed = effect.pushed.kind == UW_VALUE_INITIAL &&
			    effect.pushed.number == MARKED_RETURN;
	}
}

/* Searches from a state at the start. */
static struct uw_way_out run(struct search *search, const struct uw_flow_state *state)
{
	memset(search->seen, 0, sizeof(search->seen));
	search->found = search->left = (struct uw_way_out){0};
	search->differs = false;
	search->steps = 0;
	search->steps_max = STEPS_MAX;
	search->first = search->count = 0;
	add_way(search, search->start, state);
	while (search->count > 0 && search->steps < search->steps_max && !search->differs) {
		struct way *way = &search->ways[search->first];
		struct uw_flow_state current = way->state;
		uint64_t address = way->address;
		search->first = (search->first + 1) % WAYS_MAX;
		search->count--;
		follow(search, address, &current);
	}
	search->out->steps += search->steps;
	if (search->differs)
		return (struct uw_way_out){0};
	return search->found.base != UW_WAY_UNKNOWN ? search->found : search->left;
}

static void set_word(struct uw_flow_state *state, uint32_t base, int32_t offset, int32_t mark)
{
	struct uw_value marked = {UW_VALUE_INITIAL, 0, mark};

	uw_state_store(state, (struct uw_value){(uint16_t)base, 0, offset}, 8, marked);
}

/* The state at the start, with rbp a base or not. */
static void begin(struct uw_flow_state *state, bool fp_is_base)
{
	memset(state, 0, sizeof(*state));
	state->reg[UW_RSP] = (struct uw_value){UW_VALUE_CFA, 0, 0};
	state->reg[UW_RBP] = fp_is_base ? (struct uw_value){UW_VALUE_ALIGNED, 0, 0}
					: (struct uw_value){UW_VALUE_INITIAL, 0, INITIAL_FP};
	if (!fp_is_base)
		return;
	set_word(state, UW_VALUE_ALIGNED, 0, MARKED);
	set_word(state, UW_VALUE_ALIGNED, WORD, MARKED_RETURN);
}

static struct uw_way_out find(struct search *search)
{
	struct uw_flow_state state;

	begin(&state, true);
	struct uw_way_out way = run(search, &state);
	if (way.base == UW_WAY_FP && (way.slot != WORD || way.fp != UW_WAY_FP_BELOW))
		return (struct uw_way_out){0};
	if (way.base != UW_WAY_SP)
		return way;
	/* Once more, for what becomes of rbp. */
	int32_t slot = way.slot;
	begin(&state, false);
	set_word(&state, UW_VALUE_CFA, slot - WORD, MARKED);
	way = run(search, &state);
	return way.base == UW_WAY_SP && way.slot == slot ? way : (struct uw_way_out){0};
}

bool uw_way_out_find(const struct uw_analysis_source *source, uint64_t address,
		     struct uw_way_out *way)
{
	struct search *search = malloc(sizeof(*search));

	*way = (struct uw_way_out){.from = address, .end = address};
	if (!search)
		return false;
	search->source = source;
	search->out = way;
	search->start = address;
	struct uw_way_out found = find(search);
	way->base = found.base;
	way->fp = found.fp;
	way->slot = found.slot;
	way->is_tail = found.is_tail;
	way->popped = found.popped;
	free(search);
	return true;
}
