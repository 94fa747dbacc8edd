#include "tools/intervals/span_top.h"

#include "tools/intervals/span_cells.h"
#include "tools/memory/xalloc.h"
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* Keys by rank, the heaviest first: those of a node are neighbours. */
struct span_node {
	uint32_t first, end;        /* ranks */
	struct span_node *parts[2]; /* NULL: of one key */
	uint32_t *lefts;            /* by entry: how many before it are of the first part */
	uint64_t *sums;             /* by entry: weights before it */
};

struct span_tree {
	struct span_node *root;
	uint32_t *keys; /* by rank */
	/* Of the present search: ranges of the nodes on the way. */
	struct span_range *ranges;
	size_t range_count;
	size_t range_capacity;
};

/* Weights as they are ordered: of doubles no sum is too large. */
struct ranked_key {
	double weight;
	uint32_t number;
};

void span_top_offer(struct span_top *top, uint32_t key, uint64_t weight)
{
	size_t at = top->count;
	if (weight == 0)
		return;
	while (at > 0 && (weight > top->weights[at - 1] ||
			  (weight == top->weights[at - 1] && key < top->keys[at - 1])))
		at--;
	if (at == SPAN_TOP)
		return;
	if (top->count < SPAN_TOP)
		top->count++;
	for (size_t i = top->count - 1; i > at; i--) {
		top->keys[i] = top->keys[i - 1];
		top->weights[i] = top->weights[i - 1];
	}
	top->keys[at] = key;
	top->weights[at] = weight;
}

static bool could_enter(const struct span_top *top, uint64_t weight)
{
	return weight > 0 && (top->count < SPAN_TOP || weight >= top->weights[SPAN_TOP - 1]);
}

static int compare_ranked(const void *a, const void *b)
{
	const struct ranked_key *left = a, *right = b;
	int order = (left->weight < right->weight) - (left->weight > right->weight);
	return order ? order : (left->number > right->number) - (left->number < right->number);
}

static struct ranked_key *rank_keys(uint32_t key_count, const uint32_t *numbers,
				    const uint64_t *sums, uint32_t count)
{
	struct ranked_key *ranked = xalloc_zeroed(key_count, sizeof(*ranked));
	for (uint32_t i = 0; i < key_count; i++)
		ranked[i].number = i;
	for (uint32_t i = 0; i < count; i++)
		ranked[numbers[i]].weight += (double)(sums[i + 1] - sums[i]);
	if (key_count > 1)
		qsort(ranked, key_count, sizeof(*ranked), compare_ranked);
	return ranked;
}

/* The first rank of a node's second part. Neither part is heavier than two thirds, or one has one
 * key: the depth goes by the logarithm of weights, which have 64 bits. */
static uint32_t split_keys(const struct ranked_key *ranked, uint32_t first, uint32_t end)
{
	double whole = 0, before = 0;
	uint32_t middle = first;
	for (uint32_t i = first; i < end; i++)
		whole += ranked[i].weight;
	do
		before += ranked[middle++].weight;
	while (middle < end - 1 && 2 * before < whole);
	return middle;
}

static struct span_node *grow_node(const struct ranked_key *ranked, uint32_t first, uint32_t end,
				   uint32_t *ranks, uint64_t *sums, uint32_t count);

/* Parts the entries, in their order. */
static void part_node(struct span_node *node, const struct ranked_key *ranked,
		      const uint32_t *ranks, uint32_t count)
{
	uint32_t middle = split_keys(ranked, node->first, node->end);
	uint32_t counts[2] = {0};
	for (uint32_t i = 0; i < count; i++)
		counts[ranks[i] >= middle]++;
	uint32_t *part_ranks[2];
	uint64_t *part_sums[2];
	for (int part = 0; part < 2; part++) {
		part_ranks[part] = xalloc_zeroed(counts[part], sizeof(uint32_t));
		part_sums[part] = xalloc_zeroed((size_t)counts[part] + 1, sizeof(uint64_t));
		counts[part] = 0;
	}
	node->lefts = xalloc_zeroed((size_t)count + 1, sizeof(*node->lefts));
	for (uint32_t i = 0; i < count; i++) {
		int part = ranks[i] >= middle;
		uint32_t at = counts[part]++;
		part_ranks[part][at] = ranks[i];
		part_sums[part][at + 1] = part_sums[part][at] + node->sums[i + 1] - node->sums[i];
		node->lefts[i + 1] = counts[0];
	}
	node->parts[0] =
		grow_node(ranked, node->first, middle, part_ranks[0], part_sums[0], counts[0]);
	node->parts[1] =
		grow_node(ranked, middle, node->end, part_ranks[1], part_sums[1], counts[1]);
}

/* Takes ranks and sums. */
static struct span_node *grow_node(const struct ranked_key *ranked, uint32_t first, uint32_t end,
				   uint32_t *ranks, uint64_t *sums, uint32_t count)
{
	struct span_node *node = xalloc_zeroed(1, sizeof(*node));
	*node = (struct span_node){.first = first, .end = end, .sums = sums};
	if (end - first > 1)
		part_node(node, ranked, ranks, count);
	free(ranks);
	return node;
}

struct span_tree *span_tree_create(const uint32_t *keys, uint32_t key_count,
				   const uint32_t *numbers, const uint64_t *sums, uint32_t count)
{
	struct span_tree *tree = xalloc_zeroed(1, sizeof(*tree));
	struct ranked_key *ranked = rank_keys(key_count, numbers, sums, count);
	uint32_t *rank_of = xalloc_zeroed(key_count, sizeof(*rank_of));
	tree->keys = xalloc_zeroed(key_count, sizeof(*tree->keys));
	for (uint32_t i = 0; i < key_count; i++) {
		tree->keys[i] = keys[ranked[i].number];
		rank_of[ranked[i].number] = i;
	}
	uint32_t *ranks = xalloc_zeroed(count, sizeof(*ranks));
	uint64_t *copy = xalloc_zeroed((size_t)count + 1, sizeof(*copy));
	for (uint32_t i = 0; i < count; i++) {
		ranks[i] = rank_of[numbers[i]];
		copy[i + 1] = sums[i + 1];
	}
	free(rank_of);
	tree->root = grow_node(ranked, 0, key_count, ranks, copy, count);
	free(ranked);
	return tree;
}

static void free_node(struct span_node *node)
{
	if (!node)
		return;
	free_node(node->parts[0]);
	free_node(node->parts[1]);
	free(node->lefts);
	free(node->sums);
	free(node);
}

void span_tree_destroy(struct span_tree *tree)
{
	if (!tree)
		return;
	free_node(tree->root);
	free(tree->keys);
	free(tree->ranges);
	free(tree);
}

static void keep_range(struct span_tree *tree, uint32_t first, uint32_t end)
{
	if (first == end)
		return;
	xalloc_room(&tree->ranges, &tree->range_capacity, tree->range_count + 1,
		    sizeof(*tree->ranges));
	tree->ranges[tree->range_count++] = (struct span_range){first, end};
}

/* A part of a node, with the ranges that are not empty there. */
struct part_ranges {
	const struct span_node *node;
	size_t first, count;
	uint64_t weight;
};

static struct part_ranges enter_part(struct span_tree *tree, const struct span_node *node, int part,
				     size_t first, size_t count)
{
	struct part_ranges entered = {.node = node->parts[part], .first = tree->range_count};
	for (size_t i = 0; i < count; i++) {
		const struct span_range range = tree->ranges[first + i];
		uint32_t left = node->lefts[range.first], right = node->lefts[range.end];
		uint32_t from = part ? range.first - left : left;
		uint32_t to = part ? range.end - right : right;
		entered.weight += entered.node->sums[to] - entered.node->sums[from];
		keep_range(tree, from, to);
	}
	entered.count = tree->range_count - entered.first;
	return entered;
}

/* The heavier part first: what it has makes the other one needless more often. */
static void search_node(struct span_tree *tree, const struct part_ranges *at, struct span_top *top)
{
	if (!could_enter(top, at->weight))
		return;
	if (!at->node->parts[0]) {
		span_top_offer(top, tree->keys[at->node->first], at->weight);
		return;
	}
	size_t kept = tree->range_count;
	const struct part_ranges parts[] = {enter_part(tree, at->node, 0, at->first, at->count),
					    enter_part(tree, at->node, 1, at->first, at->count)};
	int heavier = parts[1].weight > parts[0].weight;
	search_node(tree, &parts[heavier], top);
	search_node(tree, &parts[!heavier], top);
	tree->range_count = kept;
}

void span_tree_find(struct span_tree *tree, const struct span_range *ranges, size_t count,
		    struct span_top *top)
{
	struct part_ranges all = {.node = tree->root};
	*top = (struct span_top){.count = 0};
	tree->range_count = 0;
	for (size_t i = 0; i < count; i++) {
		all.weight += tree->root->sums[ranges[i].end] - tree->root->sums[ranges[i].first];
		keep_range(tree, ranges[i].first, ranges[i].end);
	}
	all.count = tree->range_count;
	search_node(tree, &all, top);
}
