#include "tools/code/jump_arrows.h"

#include "containers/compare.h"
#include "tools/memory/xalloc.h"
#include <stdlib.h>
#include <string.h>

/* What an arrow does in a cell. */
enum {
	CELL_ABOVE = 1, /* comes from the row above */
	CELL_BELOW = 2, /* goes on in the row below */
	CELL_END = 4,   /* goes to the text */
	CELL_HEAD = 8,  /* ... with its head */
};

struct jump {
	size_t from; /* instructions */
	size_t to;
};

static size_t first_of(const struct jump *jump)
{
	return jump->from < jump->to ? jump->from : jump->to;
}

static size_t last_of(const struct jump *jump)
{
	return jump->from < jump->to ? jump->to : jump->from;
}

/* The instruction at an address; code->count: none begins there. */
static size_t find_instruction(const struct disassembly *code, uint64_t rva)
{
	size_t low = 0;
	size_t high = code->count;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (code->instructions[middle].rva < rva)
			low = middle + 1;
		else
			high = middle;
	}
	return low < code->count && code->instructions[low].rva == rva ? low : code->count;
}

static int compare_jumps(const void *a, const void *b)
{
	const struct jump *left = a;
	const struct jump *right = b;
	int order =
		compare_numbers(last_of(left) - first_of(left), last_of(right) - first_of(right));
	return order ? order : compare_numbers(left->from, right->from);
}

/* Short ones first. The caller frees the array. */
static struct jump *find_jumps(const struct disassembly *code, size_t *count)
{
	struct jump *jumps = xalloc_zeroed(code->count, sizeof(*jumps));
	*count = 0;
	for (size_t i = 0; i < code->count; i++) {
		struct jump jump = {i, code->count};
		if (code->instructions[i].is_jump)
			jump.to = find_instruction(code, code->instructions[i].target);
		if (jump.to < code->count && last_of(&jump) - first_of(&jump) <= JUMP_ARROWS_REACH)
			jumps[(*count)++] = jump;
	}
	if (*count > 1)
		qsort(jumps, *count, sizeof(*jumps), compare_jumps);
	return jumps;
}

static bool is_free(const struct jump_arrows *arrows, const struct jump *jump, unsigned lane)
{
	for (size_t i = first_of(jump); i <= last_of(jump); i++)
		if (arrows->cells[i * JUMP_ARROWS_LANES + lane])
			return false;
	return true;
}

static void draw_jump(struct jump_arrows *arrows, const struct jump *jump, unsigned lane)
{
	for (size_t i = first_of(jump); i <= last_of(jump); i++) {
		uint8_t *cell = &arrows->cells[i * JUMP_ARROWS_LANES + lane];
		*cell |= i > first_of(jump) ? CELL_ABOVE : 0;
		*cell |= i < last_of(jump) ? CELL_BELOW : 0;
		*cell |= i == jump->from || i == jump->to ? CELL_END : 0;
		*cell |= i == jump->to ? CELL_HEAD : 0;
	}
	if (lane >= arrows->lanes)
		arrows->lanes = lane + 1;
}

void jump_arrows_make(struct jump_arrows *arrows, const struct disassembly *code, bool is_ascii)
{
	size_t count;
	struct jump *jumps = find_jumps(code, &count);
	*arrows = (struct jump_arrows){.is_ascii = is_ascii};
	arrows->cells = xalloc_zeroed(code->count, JUMP_ARROWS_LANES);
	for (size_t i = 0; i < count; i++) {
		unsigned lane = 0;
		while (lane < JUMP_ARROWS_LANES && !is_free(arrows, &jumps[i], lane))
			lane++;
		if (lane < JUMP_ARROWS_LANES)
			draw_jump(arrows, &jumps[i], lane);
	}
	free(jumps);
}

void jump_arrows_finish(struct jump_arrows *arrows)
{
	free(arrows->cells);
	*arrows = (struct jump_arrows){0};
}

/* By CELL_ABOVE and CELL_BELOW; behind them an arrow across another one. */
#define WAY_CROSSING 4u
static const char *const ways[] = {"\u2500", "\u2514", "\u250c", "\u2502", "\u253c"};
static const char *const ascii_ways[] = {"-", "\\", "/", "|", "+"};

/* The lanes from the outermost one to the text: an arrow's end runs over lanes without one. */
static char *draw(const struct jump_arrows *arrows, const uint8_t *cells)
{
	const char *const *texts = arrows->is_ascii ? ascii_ways : ways;
	char *text = xalloc_zeroed(((size_t)arrows->lanes + 2) * 4 + 1, 1);
	char *end = text;
	bool runs = false;
	bool has_head = false;
	for (unsigned lane = arrows->lanes; lane-- > 0;) {
		uint8_t way = cells[lane] & (CELL_ABOVE | CELL_BELOW);
		if (runs && way == (CELL_ABOVE | CELL_BELOW))
			way = WAY_CROSSING;
		end = stpcpy(end, way || runs ? texts[way] : " ");
		runs |= (cells[lane] & CELL_END) != 0;
		has_head |= (cells[lane] & CELL_HEAD) != 0;
	}
	if (arrows->lanes > 0) {
		end = stpcpy(end, has_head ? ">" : runs ? texts[0] : " ");
		stpcpy(end, " ");
	}
	return text;
}

char *jump_arrows_draw(const struct jump_arrows *arrows, size_t instruction)
{
	return draw(arrows, arrows->cells + instruction * JUMP_ARROWS_LANES);
}

char *jump_arrows_draw_before(const struct jump_arrows *arrows, size_t instruction)
{
	uint8_t cells[JUMP_ARROWS_LANES];
	for (unsigned lane = 0; lane < JUMP_ARROWS_LANES; lane++) {
		uint8_t cell = arrows->cells[instruction * JUMP_ARROWS_LANES + lane];
		cells[lane] = cell & CELL_ABOVE ? CELL_ABOVE | CELL_BELOW : 0;
	}
	return draw(arrows, cells);
}
