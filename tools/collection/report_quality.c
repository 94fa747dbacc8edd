#include "containers/compare.h"
#include "tools/collection/lines.h"
#include "tools/collection/quality.h"
#include "tools/collection/skip_reason.h"
#include "tools/collection/states_overview.h"
#include "tools/memory/xalloc.h"
#include "tools/report/report.h"
#include "tools/states/concurrency.h"
#include <assert.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#define OF(member) offsetof(struct quality_row, member)

_Static_assert(OF(scope) == 0, "the offset that stands for none");

/* Members set by OF() are offsets of uint64_t, or of texts by the column's kind. 0, the scope's
 * offset, stands for none. */
struct quality_column {
	const char *title; /* and so on: as struct table_column */
	const char *key;
	enum table_kind kind;
	unsigned audience;
	size_t value;            /* of a share: the part */
	size_t whole;            /* of a share */
	size_t known;            /* 0 in this member: not known */
	size_t shown;            /* 0 in this member of the run: not shown */
	const char *shown_title; /* NULL: the title */
	size_t first, past; /* in place of the above: columns of these reasons (skip_reason.h) */
};

#define COUNT(title, key, member)                                        \
	{                                                                \
		title, key, TABLE_COUNT, TABLE_DATA, .value = OF(member) \
	}
#define UNWINDING(title, key, member)                                               \
	{                                                                           \
		title, key, TABLE_COUNT, TABLE_DATA, .value = OF(unwinding.member), \
						     .known = OF(has_unwinding)     \
	}
/* In data a column keeps its place: new ones come last. */
static const struct quality_column columns[] = {
	{"Scope", "scope", TABLE_TEXT, TABLE_DATA, .value = OF(scope)},
	{"Name", "name", TABLE_NAME, TABLE_ALL, .value = OF(name)},
	{"Path", "path", TABLE_NAME, TABLE_DATA, .value = OF(path)},
	{"PID", "pid", TABLE_ID, TABLE_DATA, .value = OF(pid), .known = OF(is_thread)},
	{"TID", "tid", TABLE_ID, TABLE_ALL, .value = OF(tid), .known = OF(is_thread),
	 .shown = OF(is_thread)},
	{"Samples", "samples", TABLE_COUNT, TABLE_ALL, .value = OF(samples)},
	{"Complete %", "complete_share", TABLE_SHARE, TABLE_SHOWN,
	 .value = OF(states[PROFILE_STACK_COMPLETE]), .whole = OF(samples), .known = OF(samples)},
	{"Skipped %", "skipped_share", TABLE_SHARE, TABLE_SHOWN,
	 .value = OF(states[PROFILE_STACK_SKIPPED]), .whole = OF(samples), .known = OF(samples)},
	{"Guessed %", "guessed_share", TABLE_SHARE, TABLE_SHOWN | TABLE_OPTIONAL,
	 .value = OF(states[PROFILE_STACK_GUESSED]), .whole = OF(samples), .known = OF(samples),
	 .shown = OF(states[PROFILE_STACK_GUESSED])},
	COUNT("Complete", "complete", states[PROFILE_STACK_COMPLETE]),
	COUNT("Guessed", "guessed", states[PROFILE_STACK_GUESSED]),
	COUNT("None", "none", states[PROFILE_STACK_NONE]),
	COUNT("Skipped", "skipped", states[PROFILE_STACK_SKIPPED]),
	{.first = PROFILE_SKIP_NOT_SKIPPED, .past = PROFILE_SKIP_NO_MEMORY},
	{"No Symbol", "no_symbol", TABLE_COUNT, TABLE_ALL | TABLE_OPTIONAL, .value = OF(nameless)},
	COUNT("Steps", "steps", steps),
	COUNT("Frame Pointer Steps", "frame_pointer_steps", pointer_steps),
	{"Frame Pointer %", "frame_pointer_share", TABLE_SHARE, TABLE_SHOWN | TABLE_OPTIONAL,
	 .value = OF(pointer_steps), .whole = OF(steps)},
	UNWINDING("Walks", "walks", walks),
	UNWINDING("Frames", "frames", frames),
	UNWINDING("Frames by Info", "frames_by_info", frames_by_info),
	UNWINDING("Frames by Pointer", "frames_by_pointer", frames_by_pointer),
	UNWINDING("Frames Reused", "frames_reused", frames_reused),
	UNWINDING("Rule Lookups", "rule_lookups", lookups),
	UNWINDING("Timed Walks", "timed_walks", timed_walks),
	UNWINDING("Timed Frames", "timed_frames", timed_frames),
	UNWINDING("Timed ns", "timed_ns", timed_ns),
	{"Guesses Tested", "guesses_tested", TABLE_COUNT, TABLE_DATA,
	 .value = OF(unwinding.guesses_tested), .known = OF(has_guesses)},
	{"Guesses Covered", "guesses_covered", TABLE_COUNT, TABLE_ALL | TABLE_OPTIONAL,
	 .value = OF(unwinding.guesses_covered), .known = OF(has_guesses),
	 .shown = OF(unwinding.guesses_tested), .shown_title = "Guesses Tested"},
	{"Guesses Wrong", "guesses_wrong", TABLE_COUNT, TABLE_ALL | TABLE_OPTIONAL,
	 .value = OF(unwinding.guesses_wrong), .known = OF(has_guesses),
	 .shown = OF(unwinding.guesses_tested), .shown_title = "Wrong"},
	{"Collector CPU", "collector_cpu_s", TABLE_SECONDS, TABLE_DATA,
	 .value = OF(collector_cpu_ns.value), .known = OF(collector_cpu_ns.is_known)},
	{"Advice", "advice", TABLE_TEXT, TABLE_DATA, .value = OF(advice)},
	{.first = PROFILE_SKIP_NO_MEMORY, .past = PROFILE_SKIP_RED_ZONE},
	{"Deep Walks", "deep_walks", TABLE_COUNT, TABLE_DATA, .value = OF(deep_walks.value),
	 .known = OF(deep_walks.is_known)},
	{"Deep Frames", "deep_frames", TABLE_COUNT, TABLE_DATA, .value = OF(deep_frames.value),
	 .known = OF(deep_frames.is_known)},
	COUNT("Guesses by Agreement", "guesses_by_agreement", guesses.stacks),
	COUNT("Guess Verified Frames", "guess_verified_frames", guesses.verified),
	COUNT("Guess Hits", "guess_hits", guesses.hits),
	{"Guess Least Hits", "guess_least_hits", TABLE_COUNT, TABLE_DATA,
	 .value = OF(guesses.least_hits), .known = OF(guesses.stacks)},
	{.first = PROFILE_SKIP_RED_ZONE, .past = PROFILE_SKIP_UNTOUCHED},
	{"CPU Time", "cpu_time_s", TABLE_SECONDS, TABLE_DATA, .value = OF(cpu_ns.value),
	 .known = OF(cpu_ns.is_known)},
	{"CPU Time by Switches", "cpu_time_by_switches_s", TABLE_SECONDS, TABLE_DATA,
	 .value = OF(switched_ns.value), .known = OF(switched_ns.is_known)},
	{.first = PROFILE_SKIP_UNTOUCHED, .past = PROFILE_SKIP_UNTOUCHED + 1},
	COUNT("Late", "late", guesses.late),
	{"Late Tested", "late_tested", TABLE_COUNT, TABLE_DATA, .value = OF(unwinding.late_tested),
	 .known = OF(has_guesses)},
	{"Late Covered", "late_covered", TABLE_COUNT, TABLE_DATA,
	 .value = OF(unwinding.late_covered), .known = OF(has_guesses)},
	{"Late Wrong", "late_wrong", TABLE_COUNT, TABLE_DATA, .value = OF(unwinding.late_wrong),
	 .known = OF(has_guesses)},
	{.first = PROFILE_SKIP_UNTOUCHED + 1, .past = PROFILE_SKIP_REASON_COUNT},
	{"Reused %", "reused_share", TABLE_SHARE, TABLE_SHOWN | TABLE_OPTIONAL,
	 .value = OF(unwinding.frames_reused), .whole = OF(unwinding.frames),
	 .known = OF(unwinding.frames), .shown = OF(has_parts)},
	{"Cache Hits %", "cache_share", TABLE_SHARE, TABLE_SHOWN | TABLE_OPTIONAL,
	 .value = OF(cache_hits), .whole = OF(asked), .known = OF(asked), .shown = OF(has_parts)},
	{"ns/Frame", "frame_ns", TABLE_COUNT, TABLE_SHOWN | TABLE_OPTIONAL, .value = OF(frame_ns),
	 .known = OF(unwinding.timed_frames), .shown = OF(has_parts)},
};

#define COLUMN_MAX (sizeof(columns) / sizeof(columns[0]) + PROFILE_SKIP_REASON_COUNT)

struct quality_table {
	struct table table;
	struct table_column columns[COLUMN_MAX];
	struct quality_column sources[COLUMN_MAX];
};

static uint64_t number_of(const struct quality_row *row, size_t member)
{
	uint64_t number;
	assert(member + sizeof(number) <= sizeof(*row));
	memcpy(&number, (const char *)row + member, sizeof(number));
	return number;
}

static const char *text_of(const struct quality_row *row, size_t member)
{
	const char *text;
	memcpy(&text, (const char *)row + member, sizeof(text));
	return text;
}

/* shown: the run's row, to choose columns by its figures; NULL for data. */
static void begin_table(struct quality_table *table, const struct quality_row *shown,
			const char *name_title)
{
	size_t count = 0;
	for (size_t i = 0; i < sizeof(columns) / sizeof(columns[0]); i++) {
		for (size_t reason = columns[i].first; reason < columns[i].past; reason++) {
			const struct table_column *column =
				&skip_reason_of((enum profile_skip_reason)reason)->column;
			size_t place = OF(skipped) + reason * sizeof(uint64_t);
			table->sources[count++] =
				(struct quality_column){column->title,  column->key,
							column->kind,   column->audience,
							.value = place, .shown = place};
		}
		if (columns[i].past == 0)
			table->sources[count++] = columns[i];
	}
	assert(count <= COLUMN_MAX);
	for (size_t i = 0; i < count; i++) {
		const struct quality_column *source = &table->sources[i];
		struct table_column *column = &table->columns[i];
		*column = (struct table_column){source->title, source->key, source->kind,
						source->audience};
		if (!shown)
			continue;
		if (source->shown && number_of(shown, source->shown) == 0)
			column->audience &= ~TABLE_SHOWN;
		if (source->shown_title)
			column->title = source->shown_title;
		if (source->value == OF(name))
			column->title = name_title;
	}
	table_init(&table->table, table->columns, count);
}

static void add_row(struct quality_table *table, const struct quality_row *row)
{
	struct table_cell *cells = table_add_row(&table->table);
	for (size_t i = 0; i < table->table.column_count; i++) {
		const struct quality_column *source = &table->sources[i];
		if (table_is_text(source->kind)) {
			cells[i].text = text_of(row, source->value);
			continue;
		}
		cells[i].number = number_of(row, source->value);
		if (source->whole)
			cells[i].number =
				table_share(cells[i].number, number_of(row, source->whole));
		cells[i].is_unknown = source->known && number_of(row, source->known) == 0;
	}
}

static double ratio(uint64_t part, uint64_t whole)
{
	return whole > 0 ? (double)part / (double)whole : 0;
}

/* Most samples first, then most stacks ending there, then most steps, then the order before. */
static int compare_rows(const void *a, const void *b, void *user)
{
	const struct quality_row *rows = user;
	const struct quality_row *left = &rows[*(const size_t *)a];
	const struct quality_row *right = &rows[*(const size_t *)b];
	int order = compare_numbers(right->samples, left->samples);
	if (!order)
		order = compare_numbers(right->skipped_sum, left->skipped_sum);
	if (!order)
		order = compare_numbers(right->steps, left->steps);
	return order ? order : (left > right) - (left < right);
}

/* The rows with something in them. */
static void add_rows(struct quality_table *table, struct quality_row *rows, size_t count,
		     uint32_t limit)
{
	size_t *order = xalloc_zeroed(count, sizeof(*order));
	size_t used = 0;
	for (size_t i = 0; i < count; i++) {
		if (rows[i].samples > 0 || rows[i].skipped_sum > 0 || rows[i].steps > 0)
			order[used++] = i;
	}
	qsort_r(order, used, sizeof(*order), compare_rows, rows);
	for (size_t i = 0; i < used && (limit == 0 || i < limit); i++)
		add_row(table, &rows[order[i]]);
	free(order);
}

static void print_stacks(const struct quality_row *run, FILE *stream)
{
	lines_label(stream, "Stacks:");
	fprintf(stream, "%.2f %% complete, %.2f %% skipped, %.2f %% guessed of %" PRIu64 "\n",
		table_percent(run->states[PROFILE_STACK_COMPLETE], run->samples),
		table_percent(quality_skipped(run), run->samples),
		table_percent(run->states[PROFILE_STACK_GUESSED], run->samples), run->samples);
	for (int i = 0; i < PROFILE_SKIP_REASON_COUNT; i++) {
		if (run->skipped[i] == 0)
			continue;
		lines_label(stream, "  skipped:");
		fprintf(stream, "%" PRIu64 " (%.2f %%) %s\n", run->skipped[i],
			table_percent(run->skipped[i], run->samples),
			skip_reason_of((enum profile_skip_reason)i)->words);
	}
}

static void print_unwinding(const struct quality *quality, FILE *stream)
{
	const struct profile_unwinding *run = &quality->run.unwinding;
	if (run->walks == 0)
		return;
	lines_label(stream, "Frames:");
	fprintf(stream, "%" PRIu64 ", %.1f per stack\n", run->frames,
		ratio(run->frames, run->walks));
	lines_label(stream, "  callers found by:");
	/* All but the leaves; what is left was found by code analysis. */
	uint64_t told = run->frames_by_info + run->frames_by_pointer;
	uint64_t callers = run->frames > run->walks ? run->frames - run->walks : 0;
	if (callers < told)
		callers = told;
	fprintf(stream, "%.2f %% unwind information, %.2f %% frame pointers",
		table_percent(run->frames_by_info, callers),
		table_percent(run->frames_by_pointer, callers));
	if (callers > told)
		fprintf(stream, ", %.2f %% code analysis", table_percent(callers - told, callers));
	fprintf(stream, "\n");
	lines_label(stream, "  reused:");
	fprintf(stream, "%.1f %%, unchanged since the thread's previous stack\n",
		table_percent(run->frames_reused, run->frames));
	lines_label(stream, "Rule Cache:");
	fprintf(stream, "%.2f %% hits\n",
		table_percent(quality->run.cache_hits, quality->run.asked));
	lines_label(stream, "Unwinding Time:");
	if (run->timed_walks > 0)
		fprintf(stream, "%.0f ns per frame, %.0f ns per stack (%" PRIu64 " %s timed)\n",
			ratio(run->timed_ns, run->timed_frames),
			ratio(run->timed_ns, run->timed_walks), run->timed_walks,
			run->timed_walks == 1 ? "was" : "were");
	else
		fputs("not known: too few stacks\n", stream);
}

/* Prints the splits and the grounds of guessed stacks. */
static void print_guesses(const struct quality *quality, FILE *stream)
{
	const struct tally_guesses *guesses = &quality->run.guesses;
	overview_print_guesses(&quality->overview,
			       quality->run.states[PROFILE_STACK_GUESSED] - guesses->late,
			       "Guesses:", stream);
	overview_print_late(&quality->overview, guesses->late, quality->run.samples,
			    "Late Frames:", stream);
	if (guesses->stacks == 0)
		return;
	lines_label(stream, "  rest on:");
	fprintf(stream,
		"%.1f verified frames per stack, %.1f complete stacks that agree (%" PRIu64
		" at least, counted up to 255)\n",
		ratio(guesses->verified, guesses->stacks), ratio(guesses->hits, guesses->stacks),
		guesses->least_hits);
}

/* The collector's cost is known of the whole run only; the collapsed stacks not by function. */
static void print_run(const struct report_input *input, const struct quality *quality,
		      const struct states_overview *states, const char *advice, FILE *stream)
{
	const struct tally *tally = &input->tally;
	const struct filter *filter = &input->options->filter;
	const struct overview_number *cpu = &quality->run.collector_cpu_ns;
	const struct profile_unwinding *unwinding = &quality->run.unwinding;
	print_stacks(&quality->run, stream);
	print_guesses(quality, stream);
	print_unwinding(quality, stream);
	if (cpu->is_known && tally->samples > 0 && filter->count == 0) {
		lines_label(stream, "Collector CPU:");
		fprintf(stream, "%.1f us per sample", ratio(cpu->value, tally->samples) / 1e3);
		if (unwinding->walks > 0)
			fprintf(stream, ", %.0f ns per frame",
				ratio(cpu->value, unwinding->frames));
		fputs(", start and end included\n", stream);
	}
	if (!filter_needs_function(filter)) {
		lines_label(stream, "Recursion Collapsed:");
		fprintf(stream, "in %" PRIu64 " sample%s (%.1f %%)\n", tally->collapsed,
			tally->collapsed == 1 ? "" : "s",
			table_percent(tally->collapsed, tally->samples));
	}
	states_overview_print_quality(states, stream);
	lines_label(stream, "Advice:");
	fprintf(stream, "%s\n", advice);
}

static void print_rows(const struct report_input *input, const struct quality_row *shown,
		       struct quality_row *rows, size_t count, FILE *stream, unsigned width)
{
	struct quality_table table;
	begin_table(&table, shown, shown->is_thread ? "Thread" : "Module");
	add_rows(&table, rows, count, input->options->limit);
	table_format_text(&table.table, stream, width);
	table_finish(&table.table);
}

static void print_as_text(const struct report_input *input, const struct quality *quality,
			  const struct states_overview *states, FILE *stream, unsigned width)
{
	struct quality_row shown = quality->run;
	struct lines lines;
	char *advice = table_format_fit(quality->run.advice, 0);
	lines_begin(&lines);
	print_run(input, quality, states, advice, lines.stream);
	lines_end(&lines, LINES_LABEL_WIDTH, width, stream);
	free(advice);
	lines_begin(&lines);
	fputs("\nModules: samples whose code lies in them; counts of reasons are of the stacks "
	      "that end in them\n",
	      lines.stream);
	lines_end(&lines, sizeof("Modules: ") - 1, width, stream);
	print_rows(input, &shown, quality->modules, quality->module_count, stream, width);
	fputs("\nThreads\n", stream);
	shown.is_thread = true;
	print_rows(input, &shown, quality->threads, quality->thread_count, stream, width);
}

static void print_as_data(const struct report_input *input, const struct quality *quality,
			  FILE *stream, unsigned width)
{
	uint32_t limit = input->options->limit;
	struct quality_table table;
	begin_table(&table, NULL, NULL);
	add_row(&table, &quality->run);
	add_rows(&table, quality->modules, quality->module_count, limit);
	add_rows(&table, quality->threads, quality->thread_count, limit);
	input->options->format->print(&table.table, stream, width);
	table_finish(&table.table);
}

TBRW_U32 report_quality_print(const struct report_input *input, FILE *stream, unsigned width)
{
	struct quality quality;
	struct states_overview states;
	quality_collect(input, &quality);
	TBRW_U32 code = states_overview_collect(&states, input, quality.overview.cpu_ns);
	if (code != VT_SUCCESS) {
		quality_finish(&quality);
		return code;
	}
	if (states.concurrency) {
		uint64_t running_ns = states.concurrency->state_ns[PROFILE_STATE_RUNNING];
		quality.run.cpu_ns = (struct overview_number){states.cpu_ns, true};
		quality.run.switched_ns = (struct overview_number){running_ns, true};
	}
	char *advice = quality_advise(input, &quality);
	quality.run.advice = advice;
	if (input->options->format->id == TABLE_FORMAT_TEXT)
		print_as_text(input, &quality, &states, stream, width);
	else
		print_as_data(input, &quality, stream, width);
	free(advice);
	states_overview_finish(&states);
	quality_finish(&quality);
	return VT_SUCCESS;
}

char *report_advise(const struct report_input *input)
{
	struct quality quality;
	quality_collect(input, &quality);
	char *advice = quality_advise(input, &quality);
	quality_finish(&quality);
	return advice;
}
