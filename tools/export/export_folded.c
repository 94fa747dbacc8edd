#include "tools/export/export.h"
#include "tools/memory/index_map.h"
#include "tools/memory/xalloc.h"
#include "tools/samples/tally.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define NS_PER_US UINT64_C(1000)

/* Different addresses of a function make one stack here: lines with equal texts are added up. */
struct line {
	char *text;
	uint64_t count;
};

struct folding {
	struct line *lines;
	struct index_map map;
	char *text; /* the line being made */
	size_t length;
	size_t text_capacity;
};

static void append_text(struct folding *folding, const char *text)
{
	size_t length = strlen(text);
	xalloc_room(&folding->text, &folding->text_capacity, folding->length + length + 1, 1);
	memcpy(folding->text + folding->length, text, length + 1);
	folding->length += length;
}

/* ';' and line ends belong to the format: names must not have them. */
static void append_name(struct folding *folding, const char *name)
{
	if (folding->length > 0)
		append_text(folding, ";");
	size_t start = folding->length;
	append_text(folding, name);
	for (char *at = folding->text + start; *at; at++) {
		if (*at == ';')
			*at = ':';
		else if ((unsigned char)*at < 0x20 || *at == 0x7f)
			*at = '?';
	}
}

static bool is_line(const void *item, const void *wanted)
{
	return strcmp(((const struct line *)item)->text, ((const struct line *)wanted)->text) == 0;
}

static void add_line(struct folding *folding, uint64_t count)
{
	struct index_map *map = &folding->map;
	const struct line wanted = {.text = folding->text};
	uint32_t index =
		index_map_enter(map, &folding->lines, &wanted, sizeof(wanted),
				index_map_hash(map, folding->text, folding->length), is_line);
	struct line *line = &folding->lines[index];
	if (line->text == folding->text)
		line->text = xalloc_text_of(folding->text, folding->length);
	line->count += count;
}

static int compare_lines(const void *a, const void *b)
{
	const struct line *left = a;
	const struct line *right = b;
	return strcmp(left->text, right->text);
}

static void append_owner(struct folding *folding, const struct stack_owner *owner,
			 bool with_threads)
{
	char tid[16];
	append_name(folding, owner->process);
	if (!with_threads)
		return;
	append_name(folding, owner->thread);
	snprintf(tid, sizeof(tid), "-%" PRIu32, owner->tid);
	append_text(folding, tid);
}

/* ns, to be rounded once per line. */
static uint64_t count_of(const struct weighted_stacks *stacks, enum export_weight weight)
{
	return weight == EXPORT_WEIGHT_CPU ? stacks->entry->sum.cpu_ns
					   : weighted_stacks_samples(stacks);
}

static void fold_stacks(struct weighted_stacks *stacks, const struct export_options *options,
			struct folding *folding)
{
	while (weighted_stacks_next(stacks)) {
		const struct call_path *path = &stacks->call_path;
		struct stack_owner owner = weighted_stacks_owner(stacks);
		uint64_t count = count_of(stacks, options->weight);
		if (count == 0)
			continue;
		folding->length = 0;
		append_owner(folding, &owner, options->with_threads);
		for (size_t i = 0; i < path->count; i++)
			append_name(folding,
				    functions_at(stacks->functions, path->functions[i])->name);
		add_line(folding, count);
	}
	if (index_map_count(&folding->map) > 1)
		qsort(folding->lines, index_map_count(&folding->map), sizeof(*folding->lines),
		      compare_lines);
}

TBRW_U32 export_folded_write(struct weighted_stacks *stacks, const struct export_options *options,
			     FILE *stream)
{
	struct folding folding = {0};
	uint64_t unit = options->weight == EXPORT_WEIGHT_CPU ? NS_PER_US : 1;
	fold_stacks(stacks, options, &folding);
	for (size_t i = 0; i < index_map_count(&folding.map); i++) {
		uint64_t count = (folding.lines[i].count + unit / 2) / unit;
		if (count > 0)
			fprintf(stream, "%s %" PRIu64 "\n", folding.lines[i].text, count);
		free(folding.lines[i].text);
	}
	free(folding.lines);
	free(folding.text);
	index_map_finish(&folding.map);
	return VT_SUCCESS;
}
