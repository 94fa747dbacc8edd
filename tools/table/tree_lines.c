#include "tools/table/tree_lines.h"

#include "tools/memory/xalloc.h"
#include <stdlib.h>
#include <string.h>

static const struct {
	const char *next; /* a node with a sibling below */
	const char *last;
	const char *through; /* the line of a level above */
	const char *none;
} drawings[] = {
	{"\u251c ", "\u2514 ", "\u2502", " "},
	{"|-", "`-", "|", " "},
};

static uint32_t deepest(const uint32_t *depths, size_t count)
{
	uint32_t depth = 0;
	for (size_t i = 0; i < count; i++)
		depth = depths[i] > depth ? depths[i] : depth;
	return depth;
}

void tree_lines_init(struct tree_lines *lines, const uint32_t *depths, size_t count, bool is_ascii)
{
	size_t levels = (size_t)deepest(depths, count) + 1;
	size_t open = 0; /* no level from here on is open */
	*lines = (struct tree_lines){
		.has_next = xalloc_zeroed(count, sizeof(bool)),
		.is_open = xalloc_zeroed(levels, sizeof(bool)),
		.is_ascii = is_ascii,
	};
	/* From the end, so the rows below are known. */
	for (size_t row = count; row-- > 0;) {
		uint32_t depth = depths[row];
		lines->has_next[row] = depth < open && lines->is_open[depth];
		for (size_t level = (size_t)depth + 1; level < open; level++)
			lines->is_open[level] = false;
		lines->is_open[depth] = true;
		open = (size_t)depth + 1;
	}
	memset(lines->is_open, 0, levels);
}

void tree_lines_finish(struct tree_lines *lines)
{
	free(lines->has_next);
	free(lines->is_open);
	memset(lines, 0, sizeof(*lines));
}

size_t tree_lines_width(uint32_t depth)
{
	return depth == 0 ? 0 : (size_t)depth + 1;
}

char *tree_lines_draw(struct tree_lines *lines, size_t row, uint32_t depth)
{
	size_t size = strlen(drawings[0].through) * ((size_t)depth + 2);
	char *text = xalloc_zeroed(size, 1);
	char *end = text;
	lines->is_open[depth] = lines->has_next[row];
	for (uint32_t level = 1; level < depth; level++)
		end = stpcpy(end, lines->is_open[level] ? drawings[lines->is_ascii].through
							: drawings[lines->is_ascii].none);
	if (depth > 0)
		stpcpy(end, lines->has_next[row] ? drawings[lines->is_ascii].next
						 : drawings[lines->is_ascii].last);
	return text;
}
