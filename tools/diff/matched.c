#include "tools/diff/matched.h"

#include "tools/memory/xalloc.h"
#include "tools/names/cold_name.h"
#include <stdlib.h>
#include <string.h>

/* Frames of a stack in its name. */
#define NAME_FRAMES 12u

void matched_init(struct matched *matched, enum report_group by, size_t run_count)
{
	*matched = (struct matched){.by = by, .run_count = run_count};
	matched->totals = xalloc_zeroed(run_count, sizeof(*matched->totals));
}

void matched_finish(struct matched *matched)
{
	free(matched->rows);
	free(matched->parts);
	free(matched->totals);
	index_map_finish(&matched->map);
	index_texts_finish(&matched->texts);
	*matched = (struct matched){0};
}

static bool is_row(const void *item, const void *wanted)
{
	const struct matched_row *row = item;
	const struct matched_row *other = wanted;
	return row->parent == other->parent && row->full == other->full &&
	       row->module == other->module;
}

static uint32_t find_row(struct matched *matched, const struct matched_row *row)
{
	const uint32_t identity[] = {row->parent, row->full, row->module};
	uint32_t before = matched_count(matched);
	uint32_t index =
		index_map_enter(&matched->map, &matched->rows, row, sizeof(*row),
				index_map_hash(&matched->map, identity, sizeof(identity)), is_row);
	size_t size = matched->run_count * sizeof(*matched->parts);
	xalloc_room(&matched->parts, &matched->capacity, matched_count(matched), size);
	if (index == before)
		memset(&matched->parts[index * matched->run_count], 0, size);
	return index;
}

/* The row of a name alone. */
static uint32_t find_named(struct matched *matched, const char *name)
{
	uint32_t text = index_texts_enter(&matched->texts, name);
	uint32_t none = index_texts_enter(&matched->texts, "");
	return find_row(matched, &(struct matched_row){MATCHED_NONE, text, none, text});
}

/* The texts of each function, without what parts of it are called. The caller frees them. */
static struct matched_row *name_functions(struct matched *matched,
					  const struct functions *functions)
{
	uint32_t count = functions_count(functions);
	struct matched_row *rows = xalloc_zeroed(count, sizeof(*rows));
	for (uint32_t i = 0; i < count; i++) {
		const struct function *function = functions_at(functions, i);
		char *full = xalloc_printf("%.*s", (int)cold_name_owner_length(function->full),
					   function->full);
		rows[i].parent = MATCHED_NONE;
		rows[i].full = index_texts_enter(&matched->texts, full);
		rows[i].name = index_texts_enter(&matched->texts, function->name);
		rows[i].module =
			index_texts_enter(&matched->texts, functions_dso_of(functions, i)->name);
		free(full);
	}
	return rows;
}

static uint32_t find_stack(struct matched *matched, const struct matched_row *functions,
			   const struct call_path *path)
{
	uint32_t row = MATCHED_NONE;
	for (size_t i = 0; i < path->count; i++) {
		struct matched_row wanted = functions[path->functions[i]];
		wanted.parent = row;
		row = find_row(matched, &wanted);
	}
	return row;
}

static uint32_t find_place(struct matched *matched, const struct matched_row *functions,
			   const struct weighted_stacks *at)
{
	switch (matched->by) {
	case REPORT_GROUP_THREAD:
		return find_named(matched, weighted_stacks_owner(at).thread);
	case REPORT_GROUP_MODULE:
		return find_named(matched, matched_text(matched, functions[at->leaf].module));
	case REPORT_GROUP_STACK:
		return find_stack(matched, functions, &at->call_path);
	default:
		return find_row(matched, &functions[at->leaf]);
	}
}

static void add_part(struct matched *matched, size_t run, uint32_t row,
		     const struct draws_part *part)
{
	draws_add_part(&matched->parts[row * matched->run_count + run], part);
	draws_add_part(&matched->totals[run], part);
}

/* Time in no sample: of each thread, or a row of its own. */
static void add_rests(struct matched *matched, size_t run, const struct report_input *input)
{
	const struct profile_reader *reader = input->reader;
	uint64_t rest_ns = input->tally.rest_ns;
	for (uint32_t i = 0; matched->by == REPORT_GROUP_THREAD && rest_ns > 0 &&
			     i < profile_reader_thread_count(reader);
	     i++) {
		const char *name = profile_reader_thread(reader, i)->name;
		add_part(matched, run, find_named(matched, name[0] ? name : "[Unknown]"),
			 &(struct draws_part){.cpu_ns = input->tally.thread_rest_ns[i]});
	}
	if (matched->by != REPORT_GROUP_THREAD && rest_ns > 0)
		add_part(matched, run, find_named(matched, TALLY_NO_SAMPLE),
			 &(struct draws_part){.cpu_ns = rest_ns});
}

void matched_add_run(struct matched *matched, size_t run, const struct report_input *input)
{
	struct weighted_stacks at = report_stacks(input, true);
	struct matched_row *functions = name_functions(matched, input->functions);
	while (weighted_stacks_next(&at))
		add_part(matched, run, find_place(matched, functions, &at), &at.entry->sum);
	add_rests(matched, run, input);
	free(functions);
}

char *matched_name(const struct matched *matched, uint32_t row)
{
	char *name = xalloc_text(matched_text(matched, matched->rows[row].name));
	uint32_t at = matched->rows[row].parent;
	for (unsigned frames = 1; at != MATCHED_NONE; frames++) {
		bool is_all = frames < NAME_FRAMES;
		char *longer = xalloc_printf("%s < %s", name,
					     is_all ? matched_text(matched, matched->rows[at].name)
						    : "...");
		free(name);
		name = longer;
		at = is_all ? matched->rows[at].parent : MATCHED_NONE;
	}
	return name;
}

struct table_column matched_column(enum report_group by)
{
	switch (by) {
	case REPORT_GROUP_MODULE:
		return (struct table_column){"Module", "module", TABLE_NAME, TABLE_ALL};
	case REPORT_GROUP_THREAD:
		return (struct table_column){"Thread", "thread", TABLE_NAME, TABLE_ALL};
	case REPORT_GROUP_STACK:
		return (struct table_column){"Function Stack", "function_stack", TABLE_NAME,
					     TABLE_ALL};
	default:
		return (struct table_column){"Function", "function", TABLE_NAME, TABLE_ALL};
	}
}
