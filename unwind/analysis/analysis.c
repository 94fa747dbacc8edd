#include "unwind/analysis/analysis.h"

#include "containers/array.h"
#include "unwind/analysis/flow.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Addresses from start to the next one's: rows of a part are sorted. */
struct range {
	uint64_t start;
	uint32_t row;
};

struct part {
	uint64_t start, end;
	size_t first, count; /* of the ranges */
};

struct uw_analysis {
	struct part part[UW_ANALYSIS_PARTS_MAX];
	size_t part_count;
	struct range *ranges; /* owned */
	size_t range_count, range_capacity;
	struct uw_analysis_row *rows; /* owned; distinct */
	size_t row_count, row_capacity;
	uint64_t exits[UW_ANALYSIS_EXITS_MAX];
	size_t exit_count;
	bool exits_anywhere, jumps_anywhere;
	bool returns, is_closed, is_contradicted, is_spent, keeps_alignment;
};

void uw_analysis_destroy(struct uw_analysis *analysis)
{
	if (!analysis)
		return;
	free(analysis->ranges);
	free(analysis->rows);
	free(analysis);
}

enum { ROWS_MAX = 4096 }; /* of a function; compilers' have some dozens */

/* The number of a row; functions have few. false: no memory, or too many. */
static bool number_row(struct uw_analysis *analysis, const struct uw_analysis_row *row,
		       uint32_t *number)
{
	for (size_t i = analysis->row_count; i-- > 0;) {
		if (memcmp(&analysis->rows[i], row, sizeof(*row)) == 0) {
			*number = (uint32_t)i;
			return true;
		}
	}
	if (analysis->row_count == ROWS_MAX ||
	    !array_reserve(&analysis->rows, &analysis->row_capacity, analysis->row_count + 1,
			   sizeof(*row)))
		return false;
	*number = (uint32_t)analysis->row_count;
	analysis->rows[analysis->row_count++] = *row;
	return true;
}

static bool add_range(struct uw_analysis *analysis, struct part *part, uint64_t start, uint32_t row)
{
	if (part->count > 0 && analysis->ranges[analysis->range_count - 1].row == row)
		return true;
	if (!array_reserve(&analysis->ranges, &analysis->range_capacity, analysis->range_count + 1,
			   sizeof(*analysis->ranges)))
		return false;
	analysis->ranges[analysis->range_count++] = (struct range){start, row};
	part->count++;
	return true;
}

/* The rows of a function's states: number_of[state - 1]. */
static bool number_states(struct uw_analysis *analysis, const struct uw_flow_states *states,
			  uint32_t *number_of)
{
	for (size_t i = 0; i < states->count; i++) {
		struct uw_analysis_row row;
		uw_state_row(&states->items[i], &row);
		if (!number_row(analysis, &row, &number_of[i]))
			return false;
	}
	return true;
}

static bool take_part(struct uw_analysis *analysis, const struct uw_flow_part *from,
		      const uint32_t *number_of, uint32_t apart)
{
	struct part *part = &analysis->part[analysis->part_count++];
	size_t size = (size_t)(from->end - from->start), covered = 0;

	*part = (struct part){from->start, from->end, analysis->range_count, 0};
	for (size_t i = 0; i < size; i++) {
		if (from->size[i] > 0) {
			if (!add_range(analysis, part, from->start + i,
				       number_of[from->state[i] - 1]))
				return false;
			covered = i + from->size[i];
		} else if (i >= covered && !add_range(analysis, part, from->start + i, apart)) {
			return false;
		}
	}
	return true;
}

/* Why nothing is known of the whole function. */
static uint8_t reason_of(const struct uw_flow *flow)
{
	if (flow->is_spent)
		return UW_ANALYSIS_LIMIT;
	return flow->is_contradicted ? UW_ANALYSIS_RETURN : UW_ANALYSIS_KNOWN;
}

static bool take_flow(struct uw_analysis *analysis, const struct uw_flow *flow)
{
	struct uw_analysis_row apart = {.reason = flow->has_unknown_jump ? UW_ANALYSIS_JUMP
									 : UW_ANALYSIS_APART};
	uint32_t *number_of = malloc((flow->states.count + 1) * sizeof(*number_of));
	bool done = number_of && number_row(analysis, &apart, number_of);
	uint32_t none = done ? number_of[0] : 0;

	done = done && number_states(analysis, &flow->states, number_of);
	for (size_t i = 0; reason_of(flow) != UW_ANALYSIS_KNOWN && i < analysis->row_count; i++)
		analysis->rows[i] = (struct uw_analysis_row){.reason = reason_of(flow)};
	for (size_t i = 0; done && i < flow->part_count; i++)
		done = take_part(analysis, &flow->part[i], number_of, none);
	free(number_of);
	memcpy(analysis->exits, flow->exits, sizeof(analysis->exits));
	analysis->exit_count = flow->exit_count;
	analysis->exits_anywhere = flow->exits_anywhere;
	analysis->jumps_anywhere = flow->exits_anywhere || flow->has_unknown_jump;
	analysis->is_contradicted = reason_of(flow) != UW_ANALYSIS_KNOWN;
	analysis->is_spent = flow->is_spent;
	analysis->keeps_alignment = !flow->has_misaligned_call;
	analysis->returns = flow->comes_back && !analysis->is_contradicted;
	analysis->is_closed = flow->is_closed && !analysis->is_contradicted;
	return done;
}

struct uw_analysis *uw_analysis_run(const struct uw_analysis_source *source, uint64_t start)
{
	struct uw_flow flow = {.source = source};
	struct uw_analysis *analysis = NULL;

	int result = uw_flow_run(&flow, start);
	if (result == 0 && flow.has_aligned_way && flow.has_unknown_jump) {
		uw_flow_finish(&flow);
		flow = (struct uw_flow){.source = source, .has_unknown_jump = true};
		result = uw_flow_run(&flow, start);
	}
	if (result == 0) {
		analysis = calloc(1, sizeof(*analysis));
		if (analysis && !take_flow(analysis, &flow)) {
			uw_analysis_destroy(analysis);
			analysis = NULL;
		}
		errno = ENOMEM;
	}
	int error = errno;
	uw_flow_finish(&flow);
	errno = error;
	return analysis;
}

const struct uw_analysis_row *uw_analysis_find(const struct uw_analysis *analysis, uint64_t address)
{
	static const struct uw_analysis_row outside = {.reason = UW_ANALYSIS_OUTSIDE};
	const struct part *part = analysis->part;

	while (part < analysis->part + analysis->part_count &&
	       (address < part->start || address >= part->end))
		part++;
	if (part == analysis->part + analysis->part_count)
		return &outside;
	/* The last range that starts at or before the address; the first one starts with the part.
	 */
	size_t low = part->first, high = part->first + part->count;
	while (high - low > 1) {
		size_t middle = low + (high - low) / 2;
		if (analysis->ranges[middle].start <= address)
			low = middle;
		else
			high = middle;
	}
	return &analysis->rows[analysis->ranges[low].row];
}

bool uw_analysis_part(const struct uw_analysis *analysis, size_t number, uint64_t *start,
		      uint64_t *end)
{
	if (number >= analysis->part_count)
		return false;
	*start = analysis->part[number].start;
	*end = analysis->part[number].end;
	return true;
}

bool uw_analysis_is_closed(const struct uw_analysis *analysis)
{
	return analysis->is_closed;
}

bool uw_analysis_returns(const struct uw_analysis *analysis)
{
	return analysis->returns;
}

bool uw_analysis_is_contradicted(const struct uw_analysis *analysis)
{
	return analysis->is_contradicted;
}

bool uw_analysis_keeps_alignment(const struct uw_analysis *analysis)
{
	return analysis->keeps_alignment;
}

bool uw_analysis_exits_to(const struct uw_analysis *analysis, uint64_t target)
{
	for (size_t i = 0; i < analysis->exit_count; i++)
		if (analysis->exits[i] == target)
			return true;
	return analysis->exits_anywhere;
}

bool uw_analysis_is_spent(const struct uw_analysis *analysis)
{
	return analysis->is_spent;
}

bool uw_analysis_jumps_anywhere(const struct uw_analysis *analysis)
{
	return analysis->jumps_anywhere;
}

size_t uw_analysis_exits(const struct uw_analysis *analysis, const uint64_t **targets)
{
	*targets = analysis->exits;
	return analysis->exit_count;
}

size_t uw_analysis_memory(const struct uw_analysis *analysis)
{
	return sizeof(*analysis) + analysis->range_capacity * sizeof(*analysis->ranges) +
	       analysis->row_capacity * sizeof(*analysis->rows);
}
