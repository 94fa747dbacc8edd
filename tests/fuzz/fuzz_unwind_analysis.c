/*
 * Code analysis on any bytes. The first two bytes choose the entry; the third splits the rest in
 * two parts and says whether bytes change between reads. What must hold: it ends, and each address
 * has a row or a reason.
 */
#include "unwind/analysis/analysis.h"
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { BASE = 0x10000, HEAD = 3 };

struct code {
	const uint8_t *bytes;
	size_t size, split;
	uint8_t change; /* what reads are off by */
	unsigned reads;
};

static bool read_code(void *context, uint64_t address, void *bytes, size_t size)
{
	struct code *code = context;
	uint64_t offset = address - BASE;

	if (offset > code->size || size > code->size - offset)
		return false;
	memcpy(bytes, code->bytes + offset, size);
	if (size > 0 && code->change)
		*(uint8_t *)bytes ^= (uint8_t)(code->change * code->reads++);
	return true;
}

static bool find_bounds(void *context, uint64_t address, uint64_t *start, uint64_t *end)
{
	const struct code *code = context;
	uint64_t offset = address - BASE;

	if (offset >= code->size)
		return false;
	*start = BASE + (offset < code->split ? 0 : code->split);
	*end = BASE + (offset < code->split ? code->split : code->size);
	return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct uw_analysis_row row;
	uint64_t start, end;
	uint32_t steps = 0;

	if (size <= HEAD)
		return 0;
	struct code code = {.bytes = data + HEAD, .size = size - HEAD, .change = data[2] & 3};
	const struct uw_analysis_source source = {&code, read_code, find_bounds, false};
	code.split = code.size * (data[2] >> 2) / 64;
	struct uw_analysis *analysis =
		uw_analysis_run(&source, BASE + (data[0] | data[1] << 8) % code.size);
	for (size_t i = 0; analysis && uw_analysis_part(analysis, i, &start, &end); i++)
		for (uint64_t at = start; at < end; at++)
			if (uw_analysis_find(analysis, at)->reason >= UW_ANALYSIS_REASON_COUNT)
				abort();
	uw_analysis_destroy(analysis);
	if (uw_analysis_ahead(&source, BASE + (data[0] | data[1] << 8) % code.size, data[2] & 4,
			      &row, &steps) &&
	    (row.reason != UW_ANALYSIS_KNOWN || row.cfa_offset < 8 || (row.saved & row.same)))
		abort();
	return 0;
}
