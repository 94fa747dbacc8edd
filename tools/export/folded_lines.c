#include "tools/export/folded_lines.h"

#include "containers/compare.h"
#include "tools/memory/xalloc.h"
#include <assert.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define ROOT UINT32_MAX

/* A name behind others. */
struct folded_step {
	uint32_t parent; /* ROOT: none */
	uint32_t name;
	uint64_t count; /* of the line that ends here */
};

void folded_lines_finish(struct folded_lines *lines)
{
	index_texts_finish(&lines->names);
	free(lines->steps);
	index_map_finish(&lines->step_map);
}

uint32_t folded_lines_name(struct folded_lines *lines, const char *name)
{
	char *shown = xalloc_text(name);
	for (char *at = shown; *at; at++) {
		if (*at == ';')
			*at = ':';
		else if ((unsigned char)*at < 0x20 || *at == 0x7f)
			*at = '?';
	}
	uint32_t number = index_texts_enter(&lines->names, shown);
	free(shown);
	return number;
}

static bool is_step(const void *item, const void *wanted)
{
	const struct folded_step *step = item;
	const struct folded_step *other = wanted;
	return step->parent == other->parent && step->name == other->name;
}

static uint32_t enter_step(struct folded_lines *lines, uint32_t parent, uint32_t name)
{
	const struct folded_step wanted = {.parent = parent, .name = name};
	uint64_t hash =
		index_map_hash(&lines->step_map, &wanted, offsetof(struct folded_step, count));
	return index_map_enter(&lines->step_map, &lines->steps, &wanted, sizeof(wanted), hash,
			       is_step);
}

void folded_lines_add(struct folded_lines *lines, const uint32_t *names, size_t name_count,
		      uint64_t count)
{
	uint32_t step = ROOT;
	assert(name_count > 0);
	if (count == 0)
		return;
	for (size_t i = 0; i < name_count; i++)
		step = enter_step(lines, step, names[i]);
	lines->steps[step].count += count;
}

/* Behind a step's parent, lines go on in one or two ways: they end with the step's name, or there
 * is more behind it. */
struct branch {
	uint32_t parent;
	uint32_t rank; /* by the text */
	uint32_t step;
	bool is_end;
};

struct writing {
	const struct folded_lines *lines;
	FILE *stream;
	uint64_t unit;
	uint32_t *
		ranks; /* by name, twice the number, for lines that end with it, and the next one */
	struct branch *branches; /* by parent, and then in the order of lines */
	uint32_t branch_count;
	uint32_t *first; /* by step: the first branch behind it */
	uint32_t *own;   /* by step: the branch of lines with more behind it */
	char *text;      /* of the line so far */
	size_t length;
	size_t text_capacity;
};

/* As strcmp of lines: behind a name is the line's end or ';', which no name has. */
static int compare_texts(const void *a, const void *b, void *user)
{
	char *const *texts = user;
	uint32_t left = *(const uint32_t *)a, right = *(const uint32_t *)b;
	const char *left_at = texts[left / 2], *right_at = texts[right / 2];
	while (*left_at && *left_at == *right_at) {
		left_at++;
		right_at++;
	}
	unsigned char left_end = left % 2 ? ';' : '\0', right_end = right % 2 ? ';' : '\0';
	return (*left_at ? (unsigned char)*left_at : left_end) -
	       (*right_at ? (unsigned char)*right_at : right_end);
}

static void rank_names(struct writing *writing)
{
	const struct index_texts *names = &writing->lines->names;
	uint32_t count = 2 * index_texts_count(names);
	uint32_t *order = xalloc_zeroed(count, sizeof(*order));
	for (uint32_t i = 0; i < count; i++)
		order[i] = i;
	if (count > 1)
		qsort_r(order, count, sizeof(*order), compare_texts, names->texts);
	writing->ranks = xalloc_zeroed(count, sizeof(*writing->ranks));
	for (uint32_t i = 0; i < count; i++)
		writing->ranks[order[i]] = i;
	free(order);
}

static int compare_branches(const void *a, const void *b)
{
	const struct branch *left = a;
	const struct branch *right = b;
	int order = compare_numbers(left->parent, right->parent);
	return order ? order : compare_numbers(left->rank, right->rank);
}

static void add_branch(struct writing *writing, uint32_t index, bool is_end)
{
	const struct folded_step *step = &writing->lines->steps[index];
	writing->branches[writing->branch_count++] =
		(struct branch){.parent = step->parent,
				.rank = writing->ranks[2 * step->name + !is_end],
				.step = index,
				.is_end = is_end};
}

/* A step has a branch for the line that ends there, and one if it is a parent: marked in own. */
static void sort_branches(struct writing *writing)
{
	const struct folded_lines *lines = writing->lines;
	uint32_t count = index_map_count(&lines->step_map);
	writing->branches = xalloc_zeroed((size_t)2 * count, sizeof(*writing->branches));
	writing->first = xalloc_zeroed(count, sizeof(*writing->first));
	writing->own = xalloc_zeroed(count, sizeof(*writing->own));
	for (uint32_t i = 0; i < count; i++)
		if (lines->steps[i].parent != ROOT)
			writing->own[lines->steps[i].parent] = 1;
	for (uint32_t i = 0; i < count; i++) {
		if (lines->steps[i].count > 0)
			add_branch(writing, i, true);
		if (writing->own[i])
			add_branch(writing, i, false);
	}
	if (writing->branch_count > 1)
		qsort(writing->branches, writing->branch_count, sizeof(*writing->branches),
		      compare_branches);
	for (uint32_t i = writing->branch_count; i-- > 0;) {
		const struct branch *branch = &writing->branches[i];
		if (branch->parent != ROOT)
			writing->first[branch->parent] = i;
		if (!branch->is_end)
			writing->own[branch->step] = i;
	}
}

static const char *name_of(const struct writing *writing, uint32_t step)
{
	return writing->lines->names.texts[writing->lines->steps[step].name];
}

static void append_name(struct writing *writing, uint32_t step, char end)
{
	const char *name = name_of(writing, step);
	size_t length = strlen(name);
	xalloc_room(&writing->text, &writing->text_capacity, writing->length + length + 1, 1);
	memcpy(writing->text + writing->length, name, length);
	writing->text[writing->length + length] = end;
	writing->length += length + 1;
}

static void drop_name(struct writing *writing, uint32_t step)
{
	writing->length -= strlen(name_of(writing, step)) + 1;
}

static void write_line(struct writing *writing, const struct branch *branch)
{
	uint64_t count = writing->lines->steps[branch->step].count;
	uint64_t shown = (count + writing->unit / 2) / writing->unit;
	if (shown == 0)
		return;
	append_name(writing, branch->step, ' ');
	fwrite(writing->text, 1, writing->length, writing->stream);
	fprintf(writing->stream, "%" PRIu64 "\n", shown);
	drop_name(writing, branch->step);
}

/* The branch behind a branch and all its lines, up to the root where it was the last one of its
 * parents. The number of branches: none. */
static uint32_t next_branch(struct writing *writing, uint32_t index)
{
	uint32_t parent = writing->branches[index].parent;
	while (index + 1 < writing->branch_count ? writing->branches[index + 1].parent != parent
						 : parent != ROOT) {
		drop_name(writing, parent);
		index = writing->own[parent];
		parent = writing->branches[index].parent;
	}
	return index + 1;
}

static void write_branches(struct writing *writing)
{
	/* The root's stand last. */
	uint32_t index = writing->branch_count;
	while (index > 0 && writing->branches[index - 1].parent == ROOT)
		index--;
	while (index < writing->branch_count) {
		const struct branch *branch = &writing->branches[index];
		if (branch->is_end) {
			write_line(writing, branch);
			index = next_branch(writing, index);
		} else {
			append_name(writing, branch->step, ';');
			index = writing->first[branch->step];
		}
	}
}

void folded_lines_write(const struct folded_lines *lines, uint64_t unit, FILE *stream)
{
	struct writing writing = {.lines = lines, .stream = stream, .unit = unit};
	rank_names(&writing);
	sort_branches(&writing);
	write_branches(&writing);
	free(writing.ranks);
	free(writing.branches);
	free(writing.first);
	free(writing.own);
	free(writing.text);
}
