#include "unwind/analysis/states.h"

#include "containers/array.h"
#include <string.h>

struct state_slot {
	struct hash_slot head;
};

struct wanted {
	const struct uw_flow_states *states;
	const struct uw_flow_state *state;
};

void uw_flow_states_finish(struct uw_flow_states *states)
{
	free(states->items);
	hash_table_finish(&states->table);
	*states = (struct uw_flow_states){0};
}

static bool is_state(const void *slot, const void *key)
{
	const struct state_slot *known = slot;
	const struct wanted *wanted = key;

	return memcmp(&wanted->states->items[known->head.number - 1], wanted->state,
		      sizeof(*wanted->state)) == 0;
}

/* Code chooses the states, and could make their hashes meet: the number of steps is bounded, and so
 * is that of states. */
static uint64_t hash_state(const struct uw_flow_state *state)
{
	uint64_t lanes[4] = {1, 2, 3, 4}, word;
	const char *bytes = (const char *)state;

	_Static_assert(sizeof(*state) % sizeof(word) == 0, "whole words");
	for (size_t i = 0; i < sizeof(*state) / sizeof(word); i++) {
		memcpy(&word, bytes + i * sizeof(word), sizeof(word));
		lanes[i % 4] =
			(lanes[i % 4] ^ word) * UINT64_C(0x9e3779b97f4a7c15) + (lanes[i % 4] >> 29);
	}
	uint64_t hash = lanes[0] ^ lanes[1] * 3 ^ lanes[2] * 5 ^ lanes[3] * 7;
	return hash ^ hash >> 32;
}

uint32_t uw_flow_states_number(struct uw_flow_states *states, const struct uw_flow_state *state)
{
	const struct wanted wanted = {states, state};
	uint64_t hash = hash_state(state);
	struct state_slot *slot =
		hash_table_find(&states->table, sizeof(*slot), hash, is_state, &wanted);

	if (slot)
		return slot->head.number;
	if (!array_reserve(&states->items, &states->capacity, states->count + 1,
			   sizeof(*states->items)) ||
	    !hash_table_add(&states->table, sizeof(*slot), hash))
		return 0;
	states->items[states->count++] = *state;
	return (uint32_t)states->count;
}
