/*
 * The keys with the most weight in ranges of a sequence of entries, each a key and a weight.
 *
 * Keys are parted into two halves of about the same weight, again and again: a tree with the
 * heaviest keys next to its root. A node knows the weight of its keys in any range; a search enters
 * a node only if that weight could be among the largest.
 */
#ifndef TOOLS_INTERVALS_SPAN_TOP_H
#define TOOLS_INTERVALS_SPAN_TOP_H

#include <stddef.h>
#include <stdint.h>

enum { SPAN_TOP = 3 };

/* The heaviest first, the smaller key first among equals; none without weight. */
struct span_top {
	uint32_t keys[SPAN_TOP];
	uint64_t weights[SPAN_TOP];
	size_t count;
};

/* Keys come once each. */
void span_top_offer(struct span_top *top, uint32_t key, uint64_t weight);

struct span_range; /* of entries; they do not overlap */
struct span_tree;

/* numbers: by entry, that of its key among keys[0..key_count); sums: by entry, the weights before
 * it, and of all at the end. The arrays are copied. Memory: 12 bytes an entry, times the mean depth
 * of keys: about the entropy of their weights, in bits. */
struct span_tree *span_tree_create(const uint32_t *keys, uint32_t key_count,
				   const uint32_t *numbers, const uint64_t *sums, uint32_t count);
void span_tree_destroy(struct span_tree *tree);

/* The heaviest keys in the ranges, which do not overlap. Time: as many steps for each range as keys
 * could be as heavy as the last one found, times the logarithm of their number. */
void span_tree_find(struct span_tree *tree, const struct span_range *ranges, size_t count,
		    struct span_top *top);

#endif
