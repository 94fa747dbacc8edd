#include "collector/recording/recording_deferred.h"

#include "collector/recording/recording_events.h"
#include "containers/array.h"
#include <linux/perf_event.h>
#include <stdlib.h>

struct chain_key {
	uint64_t cookie;
	uint64_t tid;
};

struct chain {
	struct hash_slot head;
	struct chain_key key;
	size_t first; /* of the frames */
	size_t count;
};

static bool is_chain(const void *slot, const void *key)
{
	const struct chain *chain = slot;
	const struct chain_key *wanted = key;
	return chain->key.cookie == wanted->cookie && chain->key.tid == wanted->tid;
}

static bool has_room(struct recording_deferred *deferred, uint64_t count)
{
	return count <= RECORDING_DEFERRED_BYTES / sizeof(*deferred->frames) - deferred->count &&
	       deferred->chains.count < RECORDING_IDS_MAX &&
	       array_reserve(&deferred->frames, &deferred->capacity,
			     deferred->count + (size_t)count, sizeof(*deferred->frames));
}

/* The last one of a key counts. false: there is no room. */
static bool add_chain(struct recording_deferred *deferred, const struct chain_key *key,
		      const uint8_t *frames, uint64_t count)
{
	if (deferred->chains.count == 0)
		deferred->key = hash_key_draw();
	uint64_t hash = hash_bytes(&deferred->key, key, sizeof(*key));
	if (!has_room(deferred, count))
		return false;
	struct chain *chain =
		hash_table_find(&deferred->chains, sizeof(*chain), hash, is_chain, key);
	if (!chain)
		chain = hash_table_add(&deferred->chains, sizeof(*chain), hash);
	if (!chain)
		return false;
	chain->key = *key;
	chain->first = deferred->count;
	chain->count = (size_t)count;
	for (uint64_t i = 0; i < count; i++)
		deferred->frames[deferred->count++] = recording_u64_at(frames, i);
	return true;
}

void recording_deferred_take(struct recording_deferred *deferred, struct recording_events *events,
			     const uint8_t *bytes, size_t size)
{
	struct recording_trailer trailer;
	bool is_whole = recording_trailer_read(events, bytes, size, &trailer);
	struct recording_cursor cursor =
		recording_cursor_of(bytes, is_whole ? size - trailer.size : 0);
	recording_take(&cursor, sizeof(struct perf_event_header));
	const struct chain_key key = {recording_take_u64(&cursor), trailer.tid};
	uint64_t count = recording_take_u64(&cursor);
	const uint8_t *frames = recording_take_items(&cursor, count, sizeof(uint64_t));
	if (!frames || !trailer.has_task || !add_chain(deferred, &key, frames, count))
		deferred->left_out++;
}

const uint64_t *recording_deferred_find(const struct recording_deferred *deferred, uint32_t tid,
					uint64_t cookie, size_t *count)
{
	const struct chain_key key = {cookie, tid};
	const struct chain *found =
		hash_table_find(&deferred->chains, sizeof(*found),
				hash_bytes(&deferred->key, &key, sizeof(key)), is_chain, &key);
	if (!found || found->count == 0)
		return NULL;
	*count = found->count;
	return deferred->frames + found->first;
}

void recording_deferred_finish(struct recording_deferred *deferred)
{
	hash_table_finish(&deferred->chains);
	free(deferred->frames);
	*deferred = (struct recording_deferred){0};
}
