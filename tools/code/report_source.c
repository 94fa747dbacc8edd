/* The source lines of a function or a file, with the CPU time of each. */
#include "tools/code/cost_rows.h"
#include "tools/code/place_costs.h"
#include "tools/code/report_code.h"
#include "tools/code/source_text.h"
#include "tools/memory/xalloc.h"
#include "tools/report/report.h"
#include "tools/terminal/terminal.h"
#include <stdlib.h>
#include <string.h>

/* Lines shown around each line with time. */
#define CONTEXT 4u

enum { COLUMN_FILE = COST_ROWS_COLUMNS, COLUMN_LINE, COLUMN_SOURCE, COLUMN_COUNT };

static const struct table_column columns[COLUMN_COUNT] = {
	COST_ROWS_COLUMN_ENTRIES,
	[COLUMN_FILE] = {"Source File", "source_file", TABLE_TEXT, TABLE_DATA},
	[COLUMN_LINE] = {"Line", "line", TABLE_ID, TABLE_ALL},
	[COLUMN_SOURCE] = {"Source", "source", TABLE_CODE, TABLE_ALL},
};

/* The lines of the functions asked for, by files. */
struct listing {
	const struct report_input *input;
	bool *is_subject;
	struct index_texts files;
	struct place_costs costs;
	struct cost_rows rows; /* of the file being shown, or of all in data */
};

static bool *choose_functions(const struct report_input *input)
{
	bool *is_subject = report_subject_functions(input);
	if (report_has_subject(input, is_subject))
		return is_subject;
	free(is_subject);
	return report_subject_functions_of_file(input);
}

static bool find_line(void *user, const struct call_path *path, size_t at, struct place_cost *cost)
{
	struct listing *listing = user;
	uint32_t function = path->functions[at];
	if (!listing->is_subject[function])
		return false;
	const char *file = functions_at(listing->input->functions, function)->file;
	cost->group = index_texts_enter(&listing->files, file);
	cost->place = path->lines[at];
	return true;
}

static struct table_cell *add_row(struct listing *listing, const char *file, uint32_t line,
				  char *source)
{
	struct table_cell *row = cost_rows_add(&listing->rows);
	row[COLUMN_FILE].text = file;
	row[COLUMN_LINE].number = line;
	row[COLUMN_LINE].is_unknown = line == 0;
	row[COLUMN_SOURCE].text = cost_rows_keep(&listing->rows, source);
	return row;
}

static void add_costs(struct listing *listing, const struct source_text *text,
		      const struct place_cost *cost)
{
	uint32_t line = (uint32_t)cost->place;
	const char *file = listing->files.texts[cost->group];
	char *source = line > 0 ? source_text_line(text, line) : xalloc_text("[No line]");
	cost_rows_set(&listing->rows, &listing->costs.all, cost,
		      add_row(listing, file, line, source));
}

/* Lines without time up to a line, which is not among them. */
static void add_lines(struct listing *listing, const struct source_text *text, uint32_t from,
		      uint32_t to)
{
	for (uint32_t line = from; line < to && line <= text->count; line++)
		add_row(listing, text->path, line, source_text_line(text, line));
}

/* Lines between two with time: all of them, or those next to the two. last 0: none before. */
static void add_between(struct listing *listing, const struct source_text *text, uint32_t last,
			uint32_t line)
{
	uint32_t from = last + 1;
	uint32_t near = line > CONTEXT + from ? line - CONTEXT : from;
	if (last == 0) {
		from = near;
	} else if (near > from + CONTEXT + 1 && line <= text->count) {
		add_lines(listing, text, from, from + CONTEXT);
		add_row(listing, text->path, 0, xalloc_text("..."));
		from = near;
	}
	add_lines(listing, text, from, line);
}

/* The rows of a file: its lines with time among their neighbours. */
static void add_file(struct listing *listing, const struct source_text *text, uint32_t first,
		     uint32_t end)
{
	uint32_t last = 0;
	for (uint32_t i = first; i < end; i++) {
		uint32_t line = (uint32_t)listing->costs.costs[i].place;
		/* Lines that the file lacks have no neighbours. */
		if (line > 0 && line <= text->count)
			add_between(listing, text, last, line);
		add_costs(listing, text, &listing->costs.costs[i]);
		last = line;
	}
	if (last > 0 && last < text->count)
		add_lines(listing, text, last + 1, last + 1 + CONTEXT);
}

static void print_heading(const char *path, bool is_first, FILE *stream)
{
	char *shown = terminal_text(path[0] ? path : "[Unknown source file]");
	fprintf(stream, "%s%s\n", is_first ? "" : "\n", shown);
	free(shown);
}

static void print_file(struct listing *listing, uint32_t first, uint32_t end, FILE *stream,
		       unsigned width)
{
	const char *path = listing->files.texts[listing->costs.costs[first].group];
	struct source_text text;
	bool is_text = listing->input->options->format->id == TABLE_FORMAT_TEXT;
	report_code_read(listing->input, path, &text);
	if (is_text) {
		print_heading(text.path ? text.path : path, first == 0, stream);
		cost_rows_begin(&listing->rows, listing->input, columns, COLUMN_COUNT);
		add_file(listing, &text, first, end);
		cost_rows_print(&listing->rows, stream, width);
		cost_rows_finish(&listing->rows);
	} else {
		for (uint32_t i = first; i < end; i++)
			add_costs(listing, &text, &listing->costs.costs[i]);
	}
	source_text_finish(&text);
}

static void print_files(struct listing *listing, FILE *stream, unsigned width)
{
	const struct place_costs *costs = &listing->costs;
	bool is_text = listing->input->options->format->id == TABLE_FORMAT_TEXT;
	if (!is_text)
		cost_rows_begin(&listing->rows, listing->input, columns, COLUMN_COUNT);
	for (uint32_t first = 0; first < place_costs_count(costs);) {
		uint32_t end = first;
		while (end < place_costs_count(costs) &&
		       costs->costs[end].group == costs->costs[first].group)
			end++;
		print_file(listing, first, end, stream, width);
		first = end;
	}
	if (is_text)
		return;
	cost_rows_print(&listing->rows, stream, width);
	cost_rows_finish(&listing->rows);
}

static void collect(struct listing *listing, const struct report_input *input)
{
	struct weighted_stacks at = report_stacks(input, true);
	*listing = (struct listing){.input = input, .is_subject = choose_functions(input)};
	place_costs_collect(&listing->costs, &at, find_line, listing);
}

static void finish(struct listing *listing)
{
	place_costs_finish(&listing->costs);
	index_texts_finish(&listing->files);
	free(listing->is_subject);
}

TBRW_U32 report_source_print(const struct report_input *input, FILE *stream, unsigned width)
{
	struct listing listing;
	collect(&listing, input);
	if (place_costs_count(&listing.costs) == 0)
		report_code_say_absent(input);
	print_files(&listing, stream, width);
	finish(&listing);
	return VT_SUCCESS;
}

/* Whether a function of those asked for has a source file. */
static bool has_file(const struct report_input *input, const bool *is_subject)
{
	uint32_t i = 0;
	while (i < functions_count(input->functions) &&
	       !(is_subject[i] && functions_at(input->functions, i)->file[0]))
		i++;
	return i < functions_count(input->functions);
}

char *report_refuse_source(const struct report_input *input)
{
	const char *name = input->options->subject.conditions[0].value;
	bool *is_subject = choose_functions(input);
	char *problem = NULL;
	if (!report_has_subject(input, is_subject))
		problem = report_refuse_subject(input);
	else if (!has_file(input, is_subject))
		problem = xalloc_printf("source %s: no source lines are known; they need debug "
					"information (-g, or a package of it) when tbconvert "
					"finalize runs; see tbreport assembly",
					name);
	free(is_subject);
	return problem;
}
