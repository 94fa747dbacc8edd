/* Stands in for unwind/analysis/ in static programs: Debian has no static Zydis. No function has
 * rows. */
#include "unwind/analysis/analysis.h"
#include "unwind/analysis/way_out.h"
#include <errno.h>

struct uw_analysis *uw_analysis_run(const struct uw_analysis_source *source, uint64_t start)
{
	(void)source;
	(void)start;
	errno = ENOENT;
	return NULL;
}

void uw_analysis_destroy(struct uw_analysis *analysis)
{
	(void)analysis;
}

const struct uw_analysis_row *uw_analysis_find(const struct uw_analysis *analysis, uint64_t address)
{
	static const struct uw_analysis_row outside = {.reason = UW_ANALYSIS_OUTSIDE};

	(void)analysis;
	(void)address;
	return &outside;
}

bool uw_analysis_part(const struct uw_analysis *analysis, size_t number, uint64_t *start,
		      uint64_t *end)
{
	(void)analysis;
	(void)number;
	*start = *end = 0;
	return false;
}

bool uw_analysis_is_closed(const struct uw_analysis *analysis)
{
	(void)analysis;
	return false;
}

bool uw_analysis_exits_to(const struct uw_analysis *analysis, uint64_t target)
{
	(void)analysis;
	(void)target;
	return false;
}

size_t uw_analysis_exits(const struct uw_analysis *analysis, const uint64_t **targets)
{
	(void)analysis;
	*targets = NULL;
	return 0;
}

size_t uw_analysis_memory(const struct uw_analysis *analysis)
{
	(void)analysis;
	return 0;
}

uint64_t uw_analysis_extent(const struct uw_analysis_source *source, uint64_t start, uint64_t limit,
			    bool is_strict)
{
	(void)is_strict;
	(void)source;
	(void)limit;
	return start;
}

bool uw_analysis_is_spent(const struct uw_analysis *analysis)
{
	(void)analysis;
	return false;
}

bool uw_analysis_is_contradicted(const struct uw_analysis *analysis)
{
	(void)analysis;
	return false;
}

size_t uw_analysis_jumps(const struct uw_analysis_source *source, uint64_t from, uint64_t limit,
			 uint64_t *targets, size_t max)
{
	(void)source;
	(void)from;
	(void)limit;
	(void)targets;
	(void)max;
	return 0;
}

uint64_t uw_analysis_call_end(const struct uw_analysis_source *source, uint64_t start,
			      uint64_t limit)
{
	(void)source;
	(void)limit;
	return start;
}

bool uw_analysis_returns(const struct uw_analysis *analysis)
{
	(void)analysis;
	return false;
}

bool uw_analysis_keeps_alignment(const struct uw_analysis *analysis)
{
	(void)analysis;
	return false;
}

bool uw_analysis_ahead(const struct uw_analysis_source *source, uint64_t address,
		       bool is_behind_call, struct uw_analysis_row *row, uint32_t *steps)
{
	(void)source;
	(void)address;
	(void)is_behind_call;
	(void)row;
	(void)steps;
	return false;
}

bool uw_way_out_find(const struct uw_analysis_source *source, uint64_t address,
		     struct uw_way_out *way)
{
	(void)source;
	*way = (struct uw_way_out){.from = address, .end = address};
	return true;
}

bool uw_analysis_jumps_anywhere(const struct uw_analysis *analysis)
{
	(void)analysis;
	return false;
}
