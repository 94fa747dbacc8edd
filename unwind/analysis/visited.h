/* Addresses that a search has met: an open table of a fixed size, part of the search. */
#ifndef UNWIND_ANALYSIS_VISITED_H
#define UNWIND_ANALYSIS_VISITED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Notes an address, which is not 0, in a table of 1 << log slots, zeros at first. false: it was
 * noted before. The caller notes fewer than there are slots: a full table is searched for ever. */
static inline bool uw_visit(uint64_t *visited, unsigned log, uint64_t address)
{
	size_t slots = (size_t)1 << log;
	size_t i = (size_t)(address * UINT64_C(0x9e3779b97f4a7c15) >> (64 - log));

	while (visited[i] != 0 && visited[i] != address)
		i = (i + 1) & (slots - 1);
	if (visited[i] == address)
		return false;
	visited[i] = address;
	return true;
}

#endif
