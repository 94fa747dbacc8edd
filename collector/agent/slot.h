/*
 * Who waits for what: a table of counters, by the hash of the object's address. A slot is one word:
 * the number of waiting threads, and of the one object that they all wait for more bits of its
 * hash; or of several objects, until nobody waits there any more, no bits. An object then seems
 * awaited when it is not, which costs it a record: so it is with equal bits, one time of 2^40.
 *
 * All is atomic.
 */
#ifndef COLLECTOR_AGENT_SLOT_H
#define COLLECTOR_AGENT_SLOT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { SLOTS = 4096, SLOT_COUNT_BITS = 24 }; /* Linux has at most 2^22 threads */

#define SLOT_COUNT_MASK ((1ull << SLOT_COUNT_BITS) - 1)

static inline uint64_t slot_hash(const volatile void *object)
{
	return (uint64_t)(uintptr_t)object * 0x9e3779b97f4a7c15ull;
}

static inline size_t slot_of(const volatile void *object)
{
	return (size_t)(slot_hash(object) >> 52);
}

/* The bits below those of the slot's number, at their place in the word; never none. */
static inline uint64_t slot_tag(const volatile void *object)
{
	uint64_t tag = (slot_hash(object) << 12) & ~SLOT_COUNT_MASK;
	return tag ? tag : SLOT_COUNT_MASK + 1;
}

static inline bool slot_word_is_of(uint64_t word, const volatile void *object)
{
	uint64_t tag = word & ~SLOT_COUNT_MASK;
	return word != 0 && (tag == 0 || tag == slot_tag(object));
}

/* Whether anybody may wait for the object. */
static inline bool slot_has(const _Atomic uint64_t *slot, const volatile void *object)
{
	uint64_t word = atomic_load_explicit(slot, memory_order_relaxed);
	return __builtin_expect(word != 0, 0) && slot_word_is_of(word, object);
}

/* Counts a thread that waits for the object; true: it is the slot's first one. */
static inline bool slot_add(_Atomic uint64_t *slot, const volatile void *object)
{
	uint64_t word = atomic_load_explicit(slot, memory_order_relaxed);
	uint64_t next;
	do {
		uint64_t count = (word & SLOT_COUNT_MASK) + 1;
		bool is_only = word == 0 || (word & ~SLOT_COUNT_MASK) == slot_tag(object);
		next = is_only ? slot_tag(object) | count : count;
	} while (!atomic_compare_exchange_weak_explicit(slot, &word, next, memory_order_seq_cst,
							memory_order_relaxed));
	return word == 0;
}

/* Counts it no more. A slot that was emptied meanwhile (in a fork's child) is left as it is. */
static inline void slot_remove(_Atomic uint64_t *slot, const volatile void *object)
{
	uint64_t word = atomic_load_explicit(slot, memory_order_relaxed);
	uint64_t next;
	do {
		if (!slot_word_is_of(word, object))
			return;
		next = (word & SLOT_COUNT_MASK) > 1 ? word - 1 : 0;
	} while (!atomic_compare_exchange_weak_explicit(slot, &word, next, memory_order_relaxed,
							memory_order_relaxed));
}

#endif
