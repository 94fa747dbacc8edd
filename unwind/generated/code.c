#include "unwind/generated/code.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
	WAY_LINES_MAX = 12, /* of code that a way out depends on */
	PATCH_MAX = 8       /* bytes: one operand */
};

struct line {
	uint64_t address; /* a multiple of UW_GENERATED_LINE */
	uint64_t read_ns;
	uint64_t change; /* number of the latest change: no other line's */
	uint32_t period;
	size_t size; /* bytes that could be read */
	/* Code that was replaced, when it was seen last: bytes [replaced, replaced_end). */
	uint64_t replaced_ns;
	uint16_t replaced, replaced_end;
	uint8_t bytes[UW_GENERATED_LINE];
};

/* The lines that a way was found in. */
struct way_lines {
	uint64_t address[WAY_LINES_MAX];
	unsigned count; /* more than WAY_LINES_MAX: there are others */
};

struct known_way {
	uint64_t address;
	uint64_t change; /* the latest one when it was found */
	uint32_t period;
	bool is_used, is_of_file;
	struct uw_way_out way;
	struct way_lines lines;
};

struct uw_generated {
	struct uw_code_reader reader;
	struct line *lines[UW_GENERATED_LINES]; /* each owned, or NULL */
	struct known_way *ways;                 /* owned; NULL until needed */
	uint64_t now_ns;                        /* of the walk; 0: not asked yet */
	uint64_t changes;                       /* of lines, so far */
	uint64_t steps;                         /* of searches, so far */
	uint32_t period;                        /* changes with the mappings */
};

struct uw_generated *uw_generated_create(const struct uw_code_reader *reader)
{
	struct uw_generated *generated = calloc(1, sizeof(*generated));

	if (generated)
		generated->reader = *reader;
	return generated;
}

void uw_generated_destroy(struct uw_generated *generated)
{
	if (!generated)
		return;
	for (size_t i = 0; i < UW_GENERATED_LINES; i++)
		free(generated->lines[i]);
	free(generated->ways);
	free(generated);
}

void uw_generated_begin(struct uw_generated *generated)
{
	if (generated)
		generated->now_ns = 0;
}

void uw_generated_outdate(struct uw_generated *generated)
{
	if (generated)
		generated->period++;
}

uint64_t uw_generated_steps(const struct uw_generated *generated)
{
	return generated->steps;
}

static uint64_t walk_ns(struct uw_generated *generated)
{
	struct timespec now;

	if (generated->now_ns == 0) {
		clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
		generated->now_ns = (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
	}
	return generated->now_ns;
}

/* Whether nothing ran from here: what code is put over first. */
static bool is_filler(const uint8_t *bytes, size_t size)
{
	for (size_t i = 0; i < size; i++)
		if (bytes[i] != bytes[0])
			return false;
	return bytes[0] == 0 || bytes[0] == 0xcc || bytes[0] == 0xf4 || bytes[0] == 0x90;
}

/* Notes what new bytes of the same line replace. */
static void note_replaced(struct line *line, const uint8_t *bytes, size_t size, uint64_t now_ns)
{
	size_t first = 0, end = size < line->size ? size : line->size;

	while (first < end && line->bytes[first] == bytes[first])
		first++;
	while (end > first && line->bytes[end - 1] == bytes[end - 1])
		end--;
	/* A call's target, or a constant, is changed in code that stays. */
	if (end - first <= PATCH_MAX || is_filler(line->bytes + first, end - first))
		return;
	if (now_ns - line->replaced_ns < UW_GENERATED_SETTLE_NS && line->replaced_end > 0) {
		first = line->replaced < first ? line->replaced : first;
		end = line->replaced_end > end ? line->replaced_end : end;
	}
	line->replaced = (uint16_t)first;
	line->replaced_end = (uint16_t)end;
	line->replaced_ns = now_ns;
}

static void fill_line(struct uw_generated *generated, struct line *line, uint64_t address)
{
	uint8_t bytes[UW_GENERATED_LINE];
	size_t size =
		generated->reader.read(generated->reader.context, address, bytes, sizeof(bytes));

	if (size > sizeof(bytes))
		size = 0;
	line->read_ns = walk_ns(generated);
	line->period = generated->period;
	/* Samples in code that is gone by now are older than that. */
	if (line->change != 0 && line->address == address &&
	    (size == 0 || (line->size == size && memcmp(line->bytes, bytes, size) == 0)))
		return;
	if (line->change != 0 && line->address == address)
		note_replaced(line, bytes, size, line->read_ns);
	else
		line->replaced_end = 0;
	line->address = address;
	line->size = size;
	line->change = ++generated->changes;
	memcpy(line->bytes, bytes, size);
}

/* The line that begins at address; NULL: out of memory. */
static const struct line *find_line(struct uw_generated *generated, uint64_t address)
{
	struct line **place = &generated->lines[address / UW_GENERATED_LINE % UW_GENERATED_LINES];

	if (!*place)
		*place = calloc(1, sizeof(**place));
	struct line *line = *place;
	if (line &&
	    (line->change == 0 || line->address != address || line->period != generated->period ||
	     walk_ns(generated) - line->read_ns > UW_GENERATED_FRESH_NS))
		fill_line(generated, line, address);
	return line;
}

bool uw_generated_read(struct uw_generated *generated, uint64_t address, void *bytes, size_t size)
{
	uint8_t *to = bytes;

	while (size > 0) {
		size_t offset = (size_t)(address % UW_GENERATED_LINE);
		const struct line *line = find_line(generated, address - offset);
		size_t part = UW_GENERATED_LINE - offset < size ? UW_GENERATED_LINE - offset : size;
		if (!line || line->size < offset + part)
			return false;
		memcpy(to, line->bytes + offset, part);
		to += part;
		address += part;
		size -= part;
	}
	return true;
}

/* The mapping with the code that is looked at. */
struct code {
	struct uw_generated *generated;
	uint64_t start, end;
	struct way_lines lines; /* that were read */
};

static void note_line(struct way_lines *lines, uint64_t address)
{
	for (unsigned i = 0; i < lines->count && i < WAY_LINES_MAX; i++)
		if (lines->address[i] == address)
			return;
	if (lines->count < WAY_LINES_MAX)
		lines->address[lines->count] = address;
	if (lines->count <= WAY_LINES_MAX)
		lines->count++;
}

static bool read_code(void *context, uint64_t address, void *bytes, size_t size)
{
	struct code *code = context;

	if (address < code->start || address >= code->end || size > code->end - address)
		return false;
	for (uint64_t at = address - address % UW_GENERATED_LINE; at < address + size;
	     at += UW_GENERATED_LINE)
		note_line(&code->lines, at);
	return uw_generated_read(code->generated, address, bytes, size);
}

/* Whether the code that a way was found in has not changed since. */
static bool is_valid(struct uw_generated *generated, const struct known_way *known)
{
	if (known->is_of_file)
		return known->period == generated->period;
	for (unsigned i = 0; i < known->lines.count; i++) {
		const struct line *line = find_line(generated, known->lines.address[i]);
		if (!line || line->change > known->change)
			return false;
	}
	return true;
}

/* Whether samples may still come of other code that lay where a way was found. */
static bool is_settled(struct uw_generated *generated, const struct known_way *known)
{
	const struct uw_way_out *way = &known->way;

	for (unsigned i = 0; i < known->lines.count; i++) {
		uint64_t at = known->lines.address[i];
		const struct line *line = find_line(generated, at);
		if (!line || (line->replaced_end > 0 && at + line->replaced < way->end &&
			      at + line->replaced_end > way->from &&
			      walk_ns(generated) - line->replaced_ns < UW_GENERATED_SETTLE_NS))
			return false;
	}
	return true;
}

/* Searches a way, and keeps it. lines: those that source notes; NULL: code of a file. */
static void search_way(struct uw_generated *generated, struct known_way *known,
		       const struct uw_analysis_source *source, uint64_t address,
		       const struct way_lines *lines)
{
	*known = (struct known_way){.address = address, .is_of_file = !lines};
	known->is_used = uw_way_out_find(source, address, &known->way);
	generated->steps += known->way.steps;
	known->change = generated->changes;
	known->period = generated->period;
	if (!lines)
		return;
	known->lines = *lines;
	/* That there is none is kept, too, as long as the first lines are the same. */
	if (lines->count > WAY_LINES_MAX) {
		known->way.base = UW_WAY_UNKNOWN;
		known->lines.count = WAY_LINES_MAX;
	}
	/* Where nothing could be read, nothing is known to change. */
	known->is_used = known->is_used && lines->count > 0;
}

/* NULL: out of memory. Valid until the next call. */
static const struct known_way *find_way(struct uw_generated *generated,
					const struct uw_analysis_source *source, uint64_t address,
					const struct way_lines *lines)
{
	if (!generated->ways)
		generated->ways = calloc(UW_GENERATED_WAYS, sizeof(*generated->ways));
	if (!generated->ways)
		return NULL;
	struct known_way *known = &generated->ways[address * UINT64_C(0x9e3779b97f4a7c15) >> 32 &
						   (UW_GENERATED_WAYS - 1)];
	if (!known->is_used || known->address != address || known->is_of_file != !lines ||
	    !is_valid(generated, known))
		search_way(generated, known, source, address, lines);
	return known;
}

struct uw_way_out uw_generated_way(struct uw_generated *generated, uint64_t start, uint64_t end,
				   uint64_t address)
{
	struct code code = {generated, start, end, {{0}, 0}};
	const struct uw_analysis_source source = {.context = &code, .read = read_code};
	const struct known_way *known = find_way(generated, &source, address, &code.lines);

	return known && is_settled(generated, known) ? known->way : (struct uw_way_out){0};
}

struct uw_way_out uw_generated_way_of_file(struct uw_generated *generated,
					   const struct uw_analysis_source *source,
					   uint64_t address)
{
	const struct known_way *known = find_way(generated, source, address, NULL);

	return known ? known->way : (struct uw_way_out){0};
}
