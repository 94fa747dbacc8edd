#include "tbrw/file/hash.h"

#include <string.h>
#include <sys/random.h>
#include <time.h>

struct tb5_hash_key tb5_hash_key(void)
{
	struct tb5_hash_key key;
	struct timespec now;

	if (getrandom(&key, sizeof(key), GRND_NONBLOCK) == (ssize_t)sizeof(key))
		return key;
	/* Before the system has gathered randomness: what is not easily known from outside. */
	clock_gettime(CLOCK_MONOTONIC, &now);
	key.words[0] = (uint64_t)now.tv_nsec;
	key.words[1] = (uint64_t)(uintptr_t)&now;
	return key;
}

static uint64_t rotate(uint64_t value, unsigned bits)
{
	return value << bits | value >> (64 - bits);
}

static void sip_round(uint64_t v[4])
{
	v[0] += v[1];
	v[2] += v[3];
	v[1] = rotate(v[1], 13) ^ v[0];
	v[3] = rotate(v[3], 16) ^ v[2];
	v[0] = rotate(v[0], 32);
	v[2] += v[1];
	v[0] += v[3];
	v[1] = rotate(v[1], 17) ^ v[2];
	v[3] = rotate(v[3], 21) ^ v[0];
	v[2] = rotate(v[2], 32);
}

static void take_word(uint64_t v[4], uint64_t word)
{
	v[3] ^= word;
	sip_round(v);
	v[0] ^= word;
}

uint64_t tb5_hash(const struct tb5_hash_key *key, const void *bytes, size_t size)
{
	/* "somepseudorandomlygeneratedbytes", as the paper has it. */
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
		take_word(v, word);
	}
	for (size_t i = 0; i < size; i++)
		last |= (uint64_t)p[i] << 8 * i;
	take_word(v, last);
	v[2] ^= 0xff;
	for (int i = 0; i < 3; i++)
		sip_round(v);
	return v[0] ^ v[1] ^ v[2] ^ v[3];
}
