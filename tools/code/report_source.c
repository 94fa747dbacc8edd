/* The source lines of a function or a file, with the CPU time of each. */
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

enum {
	COLUMN_SELF,
	COLUMN_SHARE,
	COLUMN_ERROR,
	COLUMN_TOTAL,
	COLUMN_SAMPLES,
	COLUMN_FILE,
	COLUMN_LINE,
	COLUMN_SOURCE,
	COLUMN_COUNT
};

static const struct table_column columns[COLUMN_COUNT] = {
	[COLUMN_SELF] = {"CPU Time:Self", "cpu_time_self_s", TABLE_SECONDS, TABLE_ALL},
	[COLUMN_SHARE] = {"CPU %", "cpu_share", TABLE_SHARE, TABLE_SHOWN | TABLE_KEYED},
	[COLUMN_ERROR] = REPORT_ERROR_COLUMN,
	[COLUMN_TOTAL] = {"CPU Time:Total", "cpu_time_total_s", TABLE_SECONDS, TABLE_ALL},
	[COLUMN_SAMPLES] = {"Samples:Total", "samples_total", TABLE_COUNT, TABLE_DATA},
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
	struct table table; /* of the file being shown, or of all in data */
	char **texts;       /* of its rows */
	size_t text_count;
	size_t text_capacity;
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

static const char *keep(struct listing *listing, char *text)
{
	xalloc_room(&listing->texts, &listing->text_capacity, listing->text_count + 1,
		    sizeof(*listing->texts));
	listing->texts[listing->text_count++] = text;
	return text;
}

static struct table_cell *add_row(struct listing *listing, const char *file, uint32_t line,
				  char *source)
{
	struct table_cell *row = table_add_row(&listing->table);
	for (size_t i = COLUMN_SELF; i <= COLUMN_SAMPLES; i++)
		row[i].is_unknown = true;
	row[COLUMN_FILE].text = file;
	row[COLUMN_LINE].number = line;
	row[COLUMN_LINE].is_unknown = line == 0;
	row[COLUMN_SOURCE].text = keep(listing, source);
	return row;
}

static void set_costs(const struct listing *listing, const struct place_cost *cost,
		      struct table_cell *row)
{
	const struct draws_part *all = &listing->costs.all;
	uint64_t all_ns = all->cpu_ns + listing->input->tally.rest_ns;
	for (size_t i = COLUMN_SELF; i <= COLUMN_SAMPLES; i++)
		row[i].is_unknown = false;
	row[COLUMN_SELF].number = cost->self.cpu_ns;
	row[COLUMN_SHARE].number = table_share(cost->self.cpu_ns, all_ns);
	report_set_error(&row[COLUMN_ERROR], &cost->self, &all->draws, all_ns);
	row[COLUMN_TOTAL].number = cost->total.cpu_ns;
	row[COLUMN_SAMPLES].number = cost->total.samples;
}

static void add_costs(struct listing *listing, const struct source_text *text,
		      const struct place_cost *cost)
{
	uint32_t line = (uint32_t)cost->place;
	const char *file = listing->files.texts[cost->group];
	char *source = line > 0 ? source_text_line(text, line) : xalloc_text("[No line]");
	set_costs(listing, cost, add_row(listing, file, line, source));
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

static void print_rows(struct listing *listing, FILE *stream, unsigned width)
{
	report_print_as(listing->input, &listing->table, listing->input->options->format, stream,
			width);
	table_finish(&listing->table);
	for (size_t i = 0; i < listing->text_count; i++)
		free(listing->texts[i]);
	listing->text_count = 0;
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
		table_init(&listing->table, columns, COLUMN_COUNT);
		add_file(listing, &text, first, end);
		print_rows(listing, stream, width);
	} else {
		for (uint32_t i = first; i < end; i++)
			add_costs(listing, &text, &listing->costs.costs[i]);
	}
	source_text_finish(&text);
}

static void print_files(struct listing *listing, FILE *stream, unsigned width)
{
	const struct place_costs *costs = &listing->costs;
	table_init(&listing->table, columns, COLUMN_COUNT);
	for (uint32_t first = 0; first < place_costs_count(costs);) {
		uint32_t end = first;
		while (end < place_costs_count(costs) &&
		       costs->costs[end].group == costs->costs[first].group)
			end++;
		print_file(listing, first, end, stream, width);
		first = end;
	}
	if (listing->input->options->format->id != TABLE_FORMAT_TEXT)
		print_rows(listing, stream, width);
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
	free(listing->texts);
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
