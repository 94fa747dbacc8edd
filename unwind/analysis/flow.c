#include "unwind/analysis/flow.h"

#include "containers/array.h"
#include "unwind/analysis/effect.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum {
	BOUNDS_MAX = 64,       /* questions for a part's bounds; each may look at 64 KB of code */
	STATES_MAX = 16 * 1024 /* distinct ones, of 400 bytes */
};

enum {
	STEPS_PER_BYTE = 8,
	PARTS_TOLD = 4,
	STACK_ALIGNMENT = 16,
	TABLE_CHUNK = 16,
	BYTES_PER_STEP = 64,
	STUB_SIZE = 11, /* endbr64 and a jump with a prefix */
	OP_JMP = 0xe9   /* with 4 bytes of distance (AMD64 manual, volume 3: JMP near) */
};

struct uw_flow_part *uw_flow_find(struct uw_flow *flow, uint64_t address)
{
	for (size_t i = 0; i < flow->part_count; i++)
		if (address >= flow->part[i].start && address < flow->part[i].end)
			return &flow->part[i];
	return NULL;
}

static void finish_part(struct uw_flow_part *part)
{
	free(part->bytes);
	free(part->state);
	free(part->size);
	free(part->target);
}

void uw_flow_finish(struct uw_flow *flow)
{
	for (size_t i = 0; i < flow->part_count; i++)
		finish_part(&flow->part[i]);
	uw_flow_states_finish(&flow->states);
	free(flow->ways.items);
	free(flow->doubtful.items);
	free(flow->tables);
	free(flow->returns.items);
}

/* Marks the targets of all bytes that can be a direct jump, instructions or not (AMD64 manual,
 * volume 3: Jcc, JMP near): a mark too many only delays a way. */
static void mark_targets(struct uw_flow_part *part)
{
	size_t size = (size_t)(part->end - part->start);

	for (size_t i = 0; i + 2 <= size; i++) {
		uint8_t op = part->bytes[i];
		bool is_near = op == OP_JMP ||
			       (i > 0 && part->bytes[i - 1] == 0x0f && (op & 0xf0) == 0x80);
		int32_t distance = part->bytes[i + 1] - (part->bytes[i + 1] < 0x80 ? 0 : 0x100);
		size_t next = i + 2;

		if (is_near && i + 5 <= size) {
			memcpy(&distance, part->bytes + i + 1, sizeof(distance));
			next = i + 5;
		} else if (op != 0xeb && (op & 0xf0) != 0x70) {
			continue;
		}
		if (next + (size_t)(ptrdiff_t)distance < size)
			part->target[next + (size_t)(ptrdiff_t)distance] = 1;
	}
}

static bool ask_bounds(struct uw_flow *flow, uint64_t address, uint64_t *start, uint64_t *end)
{
	return flow->bounds_asked++ < BOUNDS_MAX &&
	       flow->source->bounds(flow->source->context, address, start, end);
}

/* Returns 0, or -1 with ENOMEM, or ENOENT: there is no code, or it is not read. */
static int add_part(struct uw_flow *flow, uint64_t address)
{
	const struct uw_analysis_source *source = flow->source;
	struct uw_flow_part part = {0};

	errno = ENOENT;
	if (flow->part_count == (source->bounds_are_narrow ? UW_ANALYSIS_PARTS_MAX : PARTS_TOLD) ||
	    !ask_bounds(flow, address, &part.start, &part.end) || part.end <= part.start ||
	    part.end - part.start > UW_ANALYSIS_SIZE_MAX || address < part.start ||
	    address >= part.end)
		return -1;
	for (size_t i = 0; i < flow->part_count; i++)
		if (part.start < flow->part[i].end && part.end > flow->part[i].start)
			return -1;
	size_t size = (size_t)(part.end - part.start);
	part.bytes = malloc(size);
	part.state = calloc(size, sizeof(*part.state));
	part.size = calloc(size, 1);
	part.target = calloc(size, 1);
	errno = ENOMEM;
	if (!part.bytes || !part.state || !part.size || !part.target) {
		finish_part(&part);
		return -1;
	}
	if (!source->read(source->context, part.start, part.bytes, size)) {
		finish_part(&part);
		errno = ENOENT;
		return -1;
	}
	mark_targets(&part);
	flow->part[flow->part_count++] = part;
	return 0;
}

static bool add_way(struct uw_flow *flow, struct uw_flow_ways *ways, uint64_t address,
		    const struct uw_flow_state *state)
{
	uint32_t number = uw_flow_states_number(&flow->states, state);

	if (number == 0 ||
	    !array_reserve(&ways->items, &ways->capacity, ways->count + 1, sizeof(*ways->items)))
		return false;
	ways->items[ways->count++] = (struct uw_flow_way){address, number};
	flow->is_spent |= number > STATES_MAX;
	return true;
}

static void note_exit(struct uw_flow *flow, uint64_t target)
{
	for (size_t i = 0; i < flow->exit_count; i++)
		if (flow->exits[i] == target)
			return;
	if (flow->exit_count < UW_ANALYSIS_EXITS_MAX)
		flow->exits[flow->exit_count++] = target;
}

/* A jump. One that leaves the function's parts with a frame leads to another part. */
static bool add_jump(struct uw_flow *flow, uint64_t target, const struct uw_flow_state *state)
{
	if (!uw_flow_find(flow, target)) {
		if (uw_state_is_entry(state)) {
			note_exit(flow, target);
			return true;
		}
		if (add_part(flow, target) != 0)
			return errno != ENOMEM;
	}
	return add_way(flow, &flow->ways, target, state);
}

/* The entries of a table of jumps, for the caller to free: count words of 8 bytes or 4. NULL: not
 * known, or out of memory. */
static void *read_table(const struct uw_flow *flow, struct uw_value table)
{
	const size_t word = table.kind == UW_VALUE_POINTER ? 8 : 4;
	void *entries = malloc(table.count * word);

	if (entries && !flow->source->read(flow->source->context, (uint64_t)(int64_t)table.number,
					   entries, table.count * word)) {
		free(entries);
		entries = NULL;
	}
	return entries;
}

/* Whether an address lies behind the start of an instruction that a way came to. */
static bool is_inside(struct uw_flow *flow, uint64_t address)
{
	const struct uw_flow_part *part = uw_flow_find(flow, address);
	size_t offset = part ? (size_t)(address - part->start) : 0;

	for (size_t back = 1; back < UW_INSTRUCTION_SIZE_MAX && back <= offset; back++)
		if (part->state[offset - back])
			return part->size[offset - back] > back;
	return false;
}

static uint64_t entry_target(struct uw_value table, const void *entry)
{
	uint64_t pointer;
	int32_t distance;

	if (table.kind == UW_VALUE_POINTER) {
		memcpy(&pointer, entry, sizeof(pointer));
		return pointer;
	}
	memcpy(&distance, entry, sizeof(distance));
	return (uint64_t)(int64_t)table.number + (uint64_t)(int64_t)distance;
}

static uint64_t table_target(struct uw_value table, const void *entries, size_t i)
{
	const size_t word = table.kind == UW_VALUE_POINTER ? 8 : 4;

	return entry_target(table, (const char *)entries + i * word);
}

/* Whether all entries lead to instructions of the function's parts, or to its cold part, which is
 * one if bounds are told. Else the bound was none. */
static bool is_table_of(struct uw_flow *flow, struct uw_value table, const void *entries)
{
	uint64_t start = 0, end = 0;
	unsigned others = flow->source->bounds_are_narrow ? UW_ANALYSIS_PARTS_MAX : 1;

	for (uint32_t i = 0; i < table.count; i++) {
		uint64_t target = table_target(table, entries, i);
		if (is_inside(flow, target))
			return false;
		if (uw_flow_find(flow, target) || (target >= start && target < end))
			continue;
		if (others == 0 || !ask_bounds(flow, target, &start, &end))
			return false;
		others--;
	}
	return true;
}

/* The first place behind a table whose address the function's code takes: of its next table. Bytes
 * that can be lea (AMD64 manual, volume 3: LEA, ModRM with rip) are taken for it: a place too many
 * only cuts a table short. */
static uint64_t place_behind(struct uw_flow *flow, uint64_t table)
{
	uint64_t behind = UINT64_MAX;

	if (flow->last_behind != 0 && flow->last_searched == table)
		return flow->last_behind;
	for (size_t i = 0; i < flow->part_count; i++) {
		const struct uw_flow_part *part = &flow->part[i];
		size_t size = (size_t)(part->end - part->start);
		for (size_t at = 0; at + 6 <= size; at++) {
			int32_t distance;
			if (part->bytes[at] != 0x8d || (part->bytes[at + 1] & 0xc7) != 5)
				continue;
			memcpy(&distance, part->bytes + at + 2, sizeof(distance));
			uint64_t place = part->start + at + 6 + (uint64_t)(int64_t)distance;
			if (place > table && place < behind)
				behind = place;
		}
		flow->steps += size / BYTES_PER_STEP;
	}
	flow->last_searched = table;
	flow->last_behind = behind;
	return behind;
}

/* The number of entries of a table with no bound but its limit: the ones that lead to the
 * function's parts, up to the first that does not. */
static uint16_t count_entries(struct uw_flow *flow, struct uw_value table, unsigned limit)
{
	const size_t word = table.kind == UW_VALUE_POINTER ? 8 : 4;
	uint8_t entries[TABLE_CHUNK * 8];
	size_t chunk = TABLE_CHUNK;
	unsigned count = 0;

	for (; count < limit; count++) {
		int64_t at = (int64_t)table.number + (int64_t)count * (int64_t)word;
		for (size_t i = 0; i < flow->table_count; i++)
			if (flow->tables[i].table.number == at && count > 0)
				return (uint16_t)count;
		/* The file may end behind the table. */
		if (count % chunk == 0 && chunk > 1 &&
		    !flow->source->read(flow->source->context, (uint64_t)at, entries, chunk * word))
			chunk = 1;
		if (chunk == 1 &&
		    !flow->source->read(flow->source->context, (uint64_t)at, entries, word))
			break;
		uint64_t target = entry_target(table, entries + count % chunk * word);
		if (!uw_flow_find(flow, target) || is_inside(flow, target))
			break;
	}
	return (uint16_t)count;
}

/* How many entries a table can have, whose count is none or a limit: up to the next table. */
static unsigned limit_entries(struct uw_flow *flow, struct uw_value table)
{
	const size_t word = table.kind == UW_VALUE_POINTER ? 8 : 4;
	uint64_t start = (uint64_t)(int64_t)table.number, behind = place_behind(flow, start);
	unsigned limit = table.count == 0 ? UW_TABLE_MAX : table.count & ~UW_TABLE_LIMIT;

	return (behind - start) / word < limit ? (unsigned)((behind - start) / word) : limit;
}

/* The entries of a table, all of which lead to the function, for the caller to free, and their
 * number in table->count. NULL: not known, or out of memory. */
static void *find_entries(struct uw_flow *flow, struct uw_value *table)
{
	bool is_limit = table->count == 0 || table->count & UW_TABLE_LIMIT;
	bool is_counted = table->count == 0;

	if (is_limit)
		table->count = (uint16_t)limit_entries(flow, *table);
	for (;;) {
		if (is_counted)
			table->count = count_entries(flow, *table, table->count);
		void *entries = table->count > 0 ? read_table(flow, *table) : NULL;
		flow->steps += table->count;
		if (entries && is_table_of(flow, *table, entries))
			return entries;
		free(entries);
		if (!is_limit || is_counted)
			return NULL;
		is_counted = true;
	}
}

/* Jumps through a table. If it is none, *is_table becomes false, and no way is taken. */
static bool add_table(struct uw_flow *flow, struct uw_value table,
		      const struct uw_flow_state *state, bool *is_table)
{
	void *entries = find_entries(flow, &table);
	bool done = true;

	*is_table = entries != NULL;
	for (uint32_t i = 0; *is_table && done && i < table.count; i++)
		done = add_jump(flow, table_target(table, entries, i), state);
	free(entries);
	return done;
}

/* The table that was found for the jump at address before. */
static struct uw_value known_table(const struct uw_flow *flow, uint64_t address)
{
	for (size_t i = 0; i < flow->table_count; i++)
		if (flow->tables[i].address == address)
			return flow->tables[i].table;
	return (struct uw_value){0};
}

/* A jump through a table stays one where ways meet and its bound is forgotten: all that arrives
 * there goes to the same places. */
static bool add_indirect(struct uw_flow *flow, uint64_t address, struct uw_value value,
			 const struct uw_flow_state *state)
{
	struct uw_value table = known_table(flow, address);
	bool is_known = table.kind != UW_VALUE_ANY, is_table = false;

	if (!is_known)
		table = value;
	if ((table.kind == UW_VALUE_TARGET || table.kind == UW_VALUE_POINTER) &&
	    !add_table(flow, table, state, &is_table))
		return false;
	if (!is_table && uw_state_is_entry(state))
		flow->exits_anywhere = true;
	else if (!is_table)
		flow->has_unknown_jump = true;
	if (!is_table || is_known)
		return true;
	if (!array_reserve(&flow->tables, &flow->table_capacity, flow->table_count + 1,
			   sizeof(*flow->tables)))
		return false;
	flow->tables[flow->table_count++] = (struct uw_flow_table){address, table};
	return true;
}

/* The code behind padding; the part's end: there is none. */
static size_t skip_padding(const struct uw_flow_part *part, size_t offset)
{
	size_t size = (size_t)(part->end - part->start);

	while (offset < size && !part->target[offset]) {
		unsigned nop = uw_effect_nop(part->bytes + offset, size - offset);
		if (nop == 0)
			break;
		offset += nop;
	}
	return offset;
}

/* Whether a call may not return: padding is behind it, or code that others jump to. */
static bool is_doubtful(const struct uw_flow_part *part, size_t offset)
{
	size_t size = (size_t)(part->end - part->start);
	size_t code = skip_padding(part, offset);

	return code > offset || (code < size && part->target[code]);
}

/* Takes the state of a way that arrives at an instruction; false: nothing new is known there, or,
 * with *number 0, out of memory. *number: a state's that may be the same. */
static bool arrive(struct uw_flow *flow, struct uw_flow_part *part, size_t offset,
		   struct uw_flow_state *state, uint32_t *number)
{
	uint32_t known = part->state[offset];

	if (known) {
		struct uw_flow_state met = flow->states.items[known - 1];
		if (!uw_state_meet(&met, state))
			return false;
		*state = met;
	}
	/* Most instructions change nothing. */
	if (memcmp(&flow->states.items[*number - 1], state, sizeof(*state)) != 0)
		*number = uw_flow_states_number(&flow->states, state);
	part->state[offset] = *number;
	return *number != 0;
}

/* Whether code at an address jumps on through a word, at once or behind endbr64: a linkage stub. */
static bool is_stub(const struct uw_flow *flow, uint64_t address)
{
	struct uw_flow_state scratch = {0};
	struct uw_effect effect = {0};
	uint8_t bytes[STUB_SIZE];

	if (!flow->source->read(flow->source->context, address, bytes, sizeof(bytes)) ||
	    !uw_effect_apply(&scratch, address, bytes, sizeof(bytes), &effect))
		return false;
	size_t at = effect.size;
	if (effect.flow == UW_FLOW_NEXT && memcmp(bytes, "\xf3\x0f\x1e\xfa", 4) == 0 &&
	    !uw_effect_apply(&scratch, address + at, bytes + at, sizeof(bytes) - at, &effect))
		return false;
	return effect.flow == UW_FLOW_INDIRECT;
}

/* Whether a call does not come back, by what is behind it: it faults, or it is the tail call of
 * another way, as which this one has something on the stack. */
static bool call_ends(const struct uw_flow *flow, const struct uw_flow_part *part, size_t next,
		      const struct uw_flow_state *state)
{
	const uint8_t *bytes = part->bytes + next;
	size_t size = (size_t)(part->end - part->start) - next;
	struct uw_flow_state scratch = {0};
	struct uw_effect effect;

	if (uw_effect_faults(bytes, size))
		return true;
	return size > 0 && bytes[0] == OP_JMP && !uw_state_is_entry(state) &&
	       uw_effect_apply(&scratch, part->start + next, bytes, size, &effect) &&
	       (effect.target < part->start || effect.target >= part->end) &&
	       is_stub(flow, effect.target);
}

/* Goes on behind an instruction; false: the way ends, or memory does. */
static bool go_on(struct uw_flow *flow, struct uw_flow_part *part, size_t next,
		  const struct uw_effect *effect, struct uw_flow_state *state, bool *failed)
{
	struct uw_flow_state taken;

	switch (effect->flow) {
	case UW_FLOW_NEXT:
		return true;
	case UW_FLOW_CALL:
		flow->has_misaligned_call |= state->reg[UW_RSP].kind == UW_VALUE_CFA &&
					     state->reg[UW_RSP].number % STACK_ALIGNMENT != 0;
		if (call_ends(flow, part, next, state))
			return false;
		if (!is_doubtful(part, next))
			return true;
		*failed = !add_way(flow, &flow->doubtful, part->start + next, state);
		return false;
	case UW_FLOW_BRANCH:
		taken = *state;
		uw_effect_assume(&taken, effect->condition, true);
		*failed = !add_jump(flow, effect->target, &taken);
		uw_effect_assume(state, effect->condition, false);
		return !*failed;
	case UW_FLOW_JUMP:
		*failed = !add_jump(flow, effect->target, state);
		return false;
	case UW_FLOW_INDIRECT:
		*failed = !add_indirect(flow, part->start + next - effect->size, effect->value,
					state);
		return false;
	case UW_FLOW_RETURN:
		*failed = !add_way(flow, &flow->returns, part->start + next - effect->size, state);
		break;
	case UW_FLOW_END:
		break;
	}
	return false;
}

/* Follows a way to its end, or to where nothing new is known; false: out of memory. */
static bool follow(struct uw_flow *flow, const struct uw_flow_way *way)
{
	struct uw_flow_part *part = uw_flow_find(flow, way->address);
	struct uw_flow_state state = flow->states.items[way->state - 1];
	size_t size = (size_t)(part->end - part->start);
	size_t offset = (size_t)(way->address - part->start);
	uint32_t number = way->state;
	bool failed = false;

	while (offset < size && arrive(flow, part, offset, &state, &number)) {
		struct uw_effect effect;
		if (!uw_effect_apply(&state, part->start + offset, part->bytes + offset,
				     size - offset, &effect))
			break;
		part->size[offset] = effect.size;
		flow->steps++;
		offset += effect.size;
		if (!go_on(flow, part, offset, &effect, &state, &failed))
			break;
	}
	return !failed && number != 0;
}

static bool row_is_same(const struct uw_flow_state *a, const struct uw_flow_state *b)
{
	struct uw_analysis_row rows[2];

	uw_state_row(a, &rows[0]);
	uw_state_row(b, &rows[1]);
	return memcmp(&rows[0], &rows[1], sizeof(rows[0])) == 0;
}

static bool row_is_known(const struct uw_flow_state *state)
{
	struct uw_analysis_row row;

	uw_state_row(state, &row);
	return row.reason == UW_ANALYSIS_KNOWN;
}

/* Whether a doubtful way is none, for the call before does not return: it contradicts the others,
 * or it leads to code that was aligned because only jumps lead there, and some jump is not known.
 */
static bool is_refuted(struct uw_flow *flow, const struct uw_flow_way *way)
{
	const struct uw_flow_part *part = uw_flow_find(flow, way->address);
	size_t offset = (size_t)(way->address - part->start);
	size_t code = skip_padding(part, offset);

	if (code == (size_t)(part->end - part->start))
		return true;
	if (!part->state[code] && code > offset && !part->target[code]) {
		flow->has_aligned_way |= !flow->has_unknown_jump;
		return flow->has_unknown_jump;
	}
	if (!part->state[code])
		return false;
	/* What is not known contradicts nothing. */
	if (!row_is_known(&flow->states.items[way->state - 1]))
		return false;
	struct uw_flow_state met = flow->states.items[part->state[code] - 1];
	uw_state_meet(&met, &flow->states.items[way->state - 1]);
	return !row_is_same(&met, &flow->states.items[part->state[code] - 1]);
}

/* The state at a return. */
static const struct uw_flow_state *return_state(struct uw_flow *flow, size_t i)
{
	uint64_t address = flow->returns.items[i].address;
	const struct uw_flow_part *part = uw_flow_find(flow, address);

	return &flow->states.items[part->state[address - part->start] - 1];
}

/* Whether a return finds the frame that the entry had. */
static bool has_return(struct uw_flow *flow)
{
	for (size_t i = 0; i < flow->returns.count; i++)
		if (uw_state_is_entry(return_state(flow, i)))
			return true;
	return false;
}

static bool next_way(struct uw_flow *flow, struct uw_flow_way *way)
{
	if (flow->ways.count > 0) {
		*way = flow->ways.items[--flow->ways.count];
		return true;
	}
	if (!flow->has_doubts)
		flow->is_closed = has_return(flow);
	flow->has_doubts = true;
	while (flow->doubtful.count > 0) {
		*way = flow->doubtful.items[--flow->doubtful.count];
		if (!is_refuted(flow, way))
			return true;
	}
	return false;
}

/* Whether a return finds another frame than the entry had. */
static bool is_contradicted(struct uw_flow *flow)
{
	for (size_t i = 0; i < flow->returns.count; i++) {
		const struct uw_flow_state *state = return_state(flow, i);
		if (state->reg[UW_RSP].kind == UW_VALUE_CFA && !uw_state_is_entry(state))
			return true;
	}
	return false;
}

/* Drops instructions that overlap: a jump led into one of them, by an entry of a table that is
 * none. The states are the same where the jump spares a lock prefix. */
static void drop_overlaps(struct uw_flow *flow, struct uw_flow_part *part)
{
	const struct uw_flow_state *states = flow->states.items;
	size_t size = (size_t)(part->end - part->start);
	uint8_t *is_split = part->target; /* which are all followed */

	memset(is_split, 0, size);
	for (size_t at = 0; at < size; at++) {
		size_t end = part->state[at] ? at + part->size[at] : at;
		for (size_t inside = at + 1; inside < end && inside < size; inside++)
			if (part->state[inside] && !row_is_same(&states[part->state[at] - 1],
								&states[part->state[inside] - 1]))
				is_split[at] = is_split[inside] = 1;
	}
	for (size_t at = 0; at < size; at++)
		if (is_split[at])
			part->state[at] = part->size[at] = 0;
}

int uw_flow_run(struct uw_flow *flow, uint64_t start)
{
	struct uw_flow_state entry;
	struct uw_flow_way way;

	uw_state_enter(&entry);
	if (add_part(flow, start) != 0)
		return -1;
	if (!add_way(flow, &flow->ways, start, &entry))
		return -1;
	while (next_way(flow, &way)) {
		uint64_t size = 0;
		for (size_t i = 0; i < flow->part_count; i++)
			size += flow->part[i].end - flow->part[i].start;
		if (flow->steps > STEPS_PER_BYTE * size) {
			flow->is_spent = true;
			break;
		}
		if (!follow(flow, &way)) {
			errno = ENOMEM;
			return -1;
		}
	}
	flow->is_contradicted = is_contradicted(flow);
	flow->comes_back = has_return(flow);
	for (size_t i = 0; i < flow->part_count; i++)
		drop_overlaps(flow, &flow->part[i]);
	return 0;
}
