/* Hashing that a file cannot foresee: whoever chooses its ids and strings does not choose which of
 * them meet in a table. SipHash-1-3 (Aumasson and Bernstein, "SipHash: a fast short-input PRF"). */
#ifndef TBRW_HASH_H
#define TBRW_HASH_H

#include <stddef.h>
#include <stdint.h>

struct tb5_hash_key {
	uint64_t words[2];
};

/* A key of this table's own. */
struct tb5_hash_key tb5_hash_key(void);

uint64_t tb5_hash(const struct tb5_hash_key *key, const void *bytes, size_t size);

#endif
