/*
 * What samples inside of intervals add up to: by item (tools/intervals/spans.h) how many there are,
 * what they weigh, and which keys (functions) weigh most. A sample counts once in an item, in
 * however many of its intervals it lies.
 *
 * Samples are not kept. The starts and ends of an owner's intervals part its time into cells; of
 * the samples of a cell those of one key are one entry. An item is then a few runs of cells.
 *
 * Memory: 80 bytes an interval, 40 an entry; of each sample inside of intervals at most one entry
 * for each owner (thread, process, all) and key; and the tree of span_top.h where intervals overlap
 * so much that reading their entries one by one would take longer.
 * Time: the logarithm of the number of intervals for each sample, and for each interval at most 64
 * entries, or a search in the tree. Items with intervals of different kinds of owners (some of a
 * thread, some of a thread in a process) take each of their samples one by one.
 */
#ifndef TOOLS_INTERVALS_SPAN_SUMS_H
#define TOOLS_INTERVALS_SPAN_SUMS_H

#include "tools/intervals/span_top.h"
#include "tools/intervals/spans.h"

struct span_sums;

struct span_sum {
	uint64_t samples;
	uint64_t weight;
	struct span_top top;
};

/* A key's part of a sample. */
struct span_share {
	uint32_t key;
	uint64_t weight;
};

/* Reads the intervals. Returns the reader's code; on failure *sums is NULL. */
TBRW_U32 span_sums_create(struct span_sums **sums, struct profile_reader *reader,
			  spans_choice *choose, void *user);
void span_sums_destroy(struct span_sums *sums);

/* Whether no sample could lie in an interval. */
bool span_sums_is_empty(const struct span_sums *sums);

/* Adds a sample. Not after span_sums_get. */
void span_sums_add(struct span_sums *sums, uint32_t pid, uint32_t tid, uint64_t tsc,
		   const struct span_share *shares, size_t count);

/* All zero for an item without intervals. */
void span_sums_get(struct span_sums *sums, uint32_t item, struct span_sum *sum);

#endif
