/*
 * Keyed hashes. Files choose their ids and strings, profiled programs their paths and addresses;
 * neither can foresee the hashes, nor choose keys to meet in a table.
 */
#ifndef CONTAINERS_HASH_H
#define CONTAINERS_HASH_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>

struct hash_key {
	uint64_t words[2];
};

/* A random key for one table. */
static inline struct hash_key hash_key_draw(void)
{
	struct hash_key key;
	struct timespec now;

	if (getrandom(&key, sizeof(key), GRND_NONBLOCK) == (ssize_t)sizeof(key))
		return key;
	/* Before the system has gathered randomness: values not easily known from outside. */
	clock_gettime(CLOCK_MONOTONIC, &now);
	key.words[0] = (uint64_t)now.tv_nsec;
	key.words[1] = (uint64_t)(uintptr_t)&now;
	return key;
}

/* Hashes a number by two multiplications. Each folds its high half onto the low one: all bits then
 * reach the bits that choose a slot. */
static inline uint64_t hash_number(const struct hash_key *key, uint64_t number)
{
	unsigned __int128 product =
		(unsigned __int128)(number ^ key->words[0]) * UINT64_C(0x9e3779b97f4a7c15);
	uint64_t folded = (uint64_t)product ^ (uint64_t)(product >> 64);

	product = (unsigned __int128)(folded ^ key->words[1]) * UINT64_C(0xff51afd7ed558ccd);
	return (uint64_t)product ^ (uint64_t)(product >> 64);
}

static inline uint64_t hash_rotate(uint64_t value, unsigned bits)
{
	return value << bits | value >> (64 - bits);
}

static inline void hash_sip_round(uint64_t v[4])
{
	v[0] += v[1];
	v[2] += v[3];
	v[1] = hash_rotate(v[1], 13) ^ v[0];
	v[3] = hash_rotate(v[3], 16) ^ v[2];
	v[0] = hash_rotate(v[0], 32);
	v[2] += v[1];
	v[0] += v[3];
	v[1] = hash_rotate(v[1], 17) ^ v[2];
	v[3] = hash_rotate(v[3], 21) ^ v[0];
	v[2] = hash_rotate(v[2], 32);
}

static inline void hash_sip_word(uint64_t v[4], uint64_t word)
{
	v[3] ^= word;
	hash_sip_round(v);
	v[0] ^= word;
}

/* Hashes bytes: SipHash-1-3 (Aumasson and Bernstein, "SipHash: a fast short-input PRF"). */
static inline uint64_t hash_bytes(const struct hash_key *key, const void *bytes, size_t size)
{
	/* The paper's "somepseudorandomlygeneratedbytes". */
	uint64_t v[4] = {
		key->words[0] ^ 0x736f6d6570736575u,
		key->words[1] ^ 0x646f72616e646f6du,
		key->words[0] ^ 0x6c7967656e657261u,
		key->words[1] ^ 0x7465646279746573u,
	};
	uint64_t last = (uint64_t)size << 56;
	const unsigned char *p = bytes;
	uint64_t word;

	for (; size >= sizeof(word); size -= sizeof(word), p += sizeof(word)) {
		memcpy(&word, p, sizeof(word));
		hash_sip_word(v, word);
	}
	for (size_t i = 0; i < size; i++)
		last |= (uint64_t)p[i] << 8 * i;
	hash_sip_word(v, last);
	v[2] ^= 0xff;
	for (int i = 0; i < 3; i++)
		hash_sip_round(v);
	return v[0] ^ v[1] ^ v[2] ^ v[3];
}

#endif
