/*
 * Hash tables: open addressing with linear probing over slots of the caller's own type, whose first
 * member is a struct hash_slot. A key in the slot makes a lookup in a large table wait for memory
 * only once (the collector's nodes); keys can also stand in the caller's array (images).
 *
 *   struct slot {
 *           struct hash_slot head;
 *           uint32_t key;
 *   };
 *   struct slot *slot = hash_table_find(&table, sizeof(*slot), hash, is_key, &key);
 *   if (!slot) {
 *           slot = hash_table_add(&table, sizeof(*slot), hash);
 *           if (!slot)
 *                   return false;
 *           slot->key = key;
 *   }
 *
 * Those who choose the keys (a file, a profiled program) must not be able to make keys meet in a
 * table: containers/hash.h has hashes for this.
 *
 * Debian's libraries for hash tables do not fit. uthash exits when memory is out (unless built with
 * HASH_NONFATAL_OOM), allocates each element by itself with 56 bytes more, and waits for memory
 * twice or more in a lookup. stb_ds does not check realloc, and keeps the seed of its hashes in a
 * mutable global. glib aborts. Not thread-safe.
 */
#ifndef CONTAINERS_HASH_TABLE_H
#define CONTAINERS_HASH_TABLE_H

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define HASH_TABLE_CAPACITY_FIRST 64u
#define HASH_TABLE_CAPACITY_MAX   (UINT32_C(1) << 31)

/* The first member of each slot. */
struct hash_slot {
	uint32_t hash;
	/* 0: the slot is free. Else the table's count after the slot was added: 1 for the first, 2
	 * for the second, as long as nothing is removed. */
	uint32_t number;
};
_Static_assert(sizeof(struct hash_slot) == 8, "a key of 8 bytes behind it is aligned");

/* All zero: empty. */
struct hash_table {
	void *slots;
	size_t capacity; /* 0 or a power of two; at most half of the slots are taken */
	uint32_t count;
};

/* Whether a taken slot with the wanted hash has the key `key`. */
typedef bool hash_table_equal(const void *slot, const void *key);

static inline void hash_table_finish(struct hash_table *table)
{
	free(table->slots);
	*table = (struct hash_table){0};
}

static inline struct hash_slot *hash_table_at(const struct hash_table *table, size_t size, size_t i)
{
	return (struct hash_slot *)((char *)table->slots + (i & (table->capacity - 1)) * size);
}

/* Prefetches the first slot of hash_table_find. */
static inline void hash_table_prefetch(const struct hash_table *table, size_t size, uint64_t hash)
{
	if (table->capacity)
		__builtin_prefetch(hash_table_at(table, size, (size_t)hash));
}

/* The slot with the key; NULL: none. `size` is the size of a slot; of `hash` the low 32 bits count.
 * The slot stays in place until the next one is added or removed. Inlined together with `equal`, a
 * lookup costs no more than a loop written by hand. */
__attribute__((always_inline)) static inline void *hash_table_find(const struct hash_table *table,
								   size_t size, uint64_t hash,
								   hash_table_equal *equal,
								   const void *key)
{
	if (!table->capacity)
		return NULL;
	for (size_t i = (size_t)hash;; i++) {
		struct hash_slot *slot = hash_table_at(table, size, i);
		if (slot->number == 0)
			return NULL;
		if (slot->hash == (uint32_t)hash && equal(slot, key))
			return slot;
	}
}

/* The free slot where this hash belongs. */
static inline struct hash_slot *hash_table_free_slot(const struct hash_table *table, size_t size,
						     uint32_t hash)
{
	size_t i = hash;
	while (hash_table_at(table, size, i)->number != 0)
		i++;
	return hash_table_at(table, size, i);
}

/* Makes room for one more slot: adding one then needs no memory. false: out of memory, or the table
 * has reached HASH_TABLE_CAPACITY_MAX; nothing has changed. */
static inline bool hash_table_reserve(struct hash_table *table, size_t size)
{
	assert(size >= sizeof(struct hash_slot));
	assert((table->capacity & (table->capacity - 1)) == 0);
	if (table->count < table->capacity / 2)
		return true;
	struct hash_table grown = {.capacity = table->capacity ? table->capacity * 2
							       : HASH_TABLE_CAPACITY_FIRST,
				   .count = table->count};
	if (grown.capacity > HASH_TABLE_CAPACITY_MAX)
		return false;
	grown.slots = calloc(grown.capacity, size);
	if (!grown.slots)
		return false;
	for (size_t i = 0; i < table->capacity; i++) {
		const struct hash_slot *slot = hash_table_at(table, size, i);
		if (slot->number != 0)
			memcpy(hash_table_free_slot(&grown, size, slot->hash), slot, size);
	}
	free(table->slots);
	*table = grown;
	return true;
}

/* Adds a slot for a key not yet in the table: zero behind the head, for the caller to fill. NULL:
 * as hash_table_reserve. */
static inline void *hash_table_add(struct hash_table *table, size_t size, uint64_t hash)
{
	if (!hash_table_reserve(table, size))
		return NULL;
	struct hash_slot *slot = hash_table_free_slot(table, size, (uint32_t)hash);
	*slot = (struct hash_slot){(uint32_t)hash, ++table->count};
	return slot;
}

/* Removes a slot. Slots behind move up: a free slot always ends a probe. */
static inline void hash_table_remove(struct hash_table *table, size_t size, void *slot)
{
	assert(((struct hash_slot *)slot)->number != 0);
	size_t hole = (size_t)((char *)slot - (char *)table->slots) / size;
	assert(hole < table->capacity && hash_table_at(table, size, hole) == slot);
	for (size_t i = hole + 1;; i++) {
		const struct hash_slot *next = hash_table_at(table, size, i);
		if (next->number == 0)
			break;
		/* A slot whose own place lies behind the hole stays. */
		if (((i - next->hash) & (table->capacity - 1)) < i - hole)
			continue;
		memcpy(hash_table_at(table, size, hole), next, size);
		hole = i;
	}
	memset(hash_table_at(table, size, hole), 0, size);
	table->count--;
}

#endif
