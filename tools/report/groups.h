/*
 * Sums of CPU time and samples under text labels, for reports with one row per such group.
 */
#ifndef TOOLS_REPORT_GROUPS_H
#define TOOLS_REPORT_GROUPS_H

#include "tools/analysis/draws.h"
#include "tools/analysis/index_map.h"
#include <stddef.h>
#include <stdint.h>

struct group {
	const char *label; /* borrowed */
	uint64_t id; /* tells groups of one label apart; also what a report shows as PID, TID */
	struct draws_part sum;
	uint32_t added; /* how often something was */
	uint32_t index; /* the caller's, of the first time */
};

struct groups { /* all zero: empty */
	struct group *groups;
	size_t count;
	struct index_map map;
};

void groups_add(struct groups *groups, const char *label, uint64_t id, uint32_t index,
		const struct draws_part *part);
/* By CPU time, samples (most first), label, id. */
void groups_sort(struct groups *groups);
void groups_finish(struct groups *groups);

#endif
