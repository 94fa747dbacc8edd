#include "tools/cli/xalloc.h"
#include "tools/collection/quality.h"
#include "tools/collection/skip_reason.h"
#include "tools/table/lines.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define LABEL_WIDTH 26

enum {
	COLUMN_SCOPE,
	COLUMN_NAME,
	COLUMN_PATH,
	COLUMN_PID,
	COLUMN_TID,
	COLUMN_SAMPLES,
	COLUMN_COMPLETE_SHARE,
	COLUMN_SKIPPED_SHARE,
	COLUMN_GUESSED_SHARE,
	COLUMN_COMPLETE,
	COLUMN_GUESSED,
	COLUMN_NONE,
	COLUMN_SKIPPED,
	COLUMN_REASONS, /* in the order of enum profile_skip_reason, "other" first */
	COLUMN_NAMELESS = COLUMN_REASONS + PROFILE_SKIP_NO_MEMORY,
	COLUMN_STEPS,
	COLUMN_POINTER_STEPS,
	COLUMN_POINTER_SHARE,
	COLUMN_NOTES, /* in the order of their kinds */
	COLUMN_TRIED = COLUMN_NOTES + PROFILE_NOTE_GUESSES_COVERED - PROFILE_NOTE_UNWIND_WALKS,
	COLUMN_WRONG,
	COLUMN_COLLECTOR = COLUMN_NOTES + QUALITY_NOTES,
	COLUMN_ADVICE, /* of the run alone, as the one before; what follows came later: columns of
			  CSV keep their places */
	COLUMN_NO_MEMORY,
	COLUMN_DEEP_WALKS, /* of the run alone, as the next one */
	COLUMN_DEEP_FRAMES,
	COLUMN_AGREED,
	COLUMN_VERIFIED,
	COLUMN_HITS,
	COLUMN_LEAST_HITS,
	COLUMN_LATER_REASONS, /* PROFILE_SKIP_RED_ZONE and what comes behind it */
	COLUMN_REUSED_SHARE =
		COLUMN_LATER_REASONS + PROFILE_SKIP_REASON_COUNT -
		PROFILE_SKIP_RED_ZONE, /* these in text only, of modules and threads */
	COLUMN_CACHE_SHARE,
	COLUMN_FRAME_NS,
	COLUMN_COUNT,
};

/* But for those of the reasons, which skip_reason.h has. */
static const struct table_column columns[COLUMN_COUNT] = {
	{"Scope", "scope", TABLE_TEXT, TABLE_DATA},
	{"Name", "name", TABLE_NAME, TABLE_ALL},
	{"Path", "path", TABLE_NAME, TABLE_DATA},
	{"PID", "pid", TABLE_ID, TABLE_DATA},
	{"TID", "tid", TABLE_ID, TABLE_ALL},
	{"Samples", "samples", TABLE_COUNT, TABLE_ALL},
	{"Complete %", "complete_share", TABLE_SHARE, TABLE_SHOWN},
	{"Skipped %", "skipped_share", TABLE_SHARE, TABLE_SHOWN},
	{"Guessed %", "guessed_share", TABLE_SHARE, TABLE_SHOWN | TABLE_OPTIONAL},
	{"Complete", "complete", TABLE_COUNT, TABLE_DATA},
	{"Guessed", "guessed", TABLE_COUNT, TABLE_DATA},
	{"None", "none", TABLE_COUNT, TABLE_DATA},
	{"Skipped", "skipped", TABLE_COUNT, TABLE_DATA},
	[COLUMN_NAMELESS] = {"No Symbol", "no_symbol", TABLE_COUNT, TABLE_ALL | TABLE_OPTIONAL},
	{"Steps", "steps", TABLE_COUNT, TABLE_DATA},
	{"Frame Pointer Steps", "frame_pointer_steps", TABLE_COUNT, TABLE_DATA},
	{"Frame Pointer %", "frame_pointer_share", TABLE_SHARE, TABLE_SHOWN | TABLE_OPTIONAL},
	{"Walks", "walks", TABLE_COUNT, TABLE_DATA},
	{"Frames", "frames", TABLE_COUNT, TABLE_DATA},
	{"Frames by Info", "frames_by_info", TABLE_COUNT, TABLE_DATA},
	{"Frames by Pointer", "frames_by_pointer", TABLE_COUNT, TABLE_DATA},
	{"Frames Reused", "frames_reused", TABLE_COUNT, TABLE_DATA},
	{"Rule Lookups", "rule_lookups", TABLE_COUNT, TABLE_DATA},
	{"Timed Walks", "timed_walks", TABLE_COUNT, TABLE_DATA},
	{"Timed Frames", "timed_frames", TABLE_COUNT, TABLE_DATA},
	{"Timed ns", "timed_ns", TABLE_COUNT, TABLE_DATA},
	{"Guesses Tested", "guesses_tested", TABLE_COUNT, TABLE_DATA},
	{"Guesses Covered", "guesses_covered", TABLE_COUNT, TABLE_DATA},
	{"Guesses Wrong", "guesses_wrong", TABLE_COUNT, TABLE_DATA},
	{"Collector CPU", "collector_cpu_s", TABLE_SECONDS, TABLE_DATA},
	{"Advice", "advice", TABLE_TEXT, TABLE_DATA},
	[COLUMN_DEEP_WALKS] = {"Deep Walks", "deep_walks", TABLE_COUNT, TABLE_DATA},
	{"Deep Frames", "deep_frames", TABLE_COUNT, TABLE_DATA},
	{"Guesses by Agreement", "guesses_by_agreement", TABLE_COUNT, TABLE_DATA},
	{"Guess Verified Frames", "guess_verified_frames", TABLE_COUNT, TABLE_DATA},
	{"Guess Hits", "guess_hits", TABLE_COUNT, TABLE_DATA},
	{"Guess Least Hits", "guess_least_hits", TABLE_COUNT, TABLE_DATA},
	[COLUMN_REUSED_SHARE] = {"Reused %", "reused_share", TABLE_SHARE,
				 TABLE_SHOWN | TABLE_OPTIONAL},
	{"Cache Hits %", "cache_share", TABLE_SHARE, TABLE_SHOWN | TABLE_OPTIONAL},
	{"ns/Frame", "frame_ns", TABLE_COUNT, TABLE_SHOWN | TABLE_OPTIONAL},
};

/* Columns keep their places in CSV. */
static size_t reason_column(size_t reason)
{
	if (reason == PROFILE_SKIP_NO_MEMORY)
		return COLUMN_NO_MEMORY;
	return reason < PROFILE_SKIP_NO_MEMORY
		       ? COLUMN_REASONS + reason
		       : COLUMN_LATER_REASONS + reason - PROFILE_SKIP_RED_ZONE;
}

static void fill_columns(struct table_column filled[COLUMN_COUNT])
{
	memcpy(filled, columns, sizeof(columns));
	for (size_t i = 0; i < PROFILE_SKIP_REASON_COUNT; i++)
		filled[reason_column(i)] = skip_reason_of((enum profile_skip_reason)i)->column;
}

static double ratio(uint64_t part, uint64_t whole)
{
	return whole > 0 ? (double)part / (double)whole : 0;
}

static void print_label(FILE *stream, const char *label)
{
	fprintf(stream, "%-*s", LABEL_WIDTH, label);
}

/* Frames whose rules were asked for, those of reused frames are not, and found in the cache. */
static uint64_t cache_hits(uint64_t asked, uint64_t lookups)
{
	return asked > lookups ? asked - lookups : 0;
}

/* What unwinding took for a module or a thread. */
static void set_unwinding(struct table_cell *cells, const struct quality_row *row)
{
	const struct profile_unwinding *unwinding = &row->unwinding;
	uint64_t values[QUALITY_NOTES];
	uint64_t asked = unwinding->frames > unwinding->frames_reused
				 ? unwinding->frames - unwinding->frames_reused
				 : 0;
	quality_unwinding(unwinding, values);
	for (size_t i = 0; row->has_unwinding && i < QUALITY_NOTES; i++)
		cells[COLUMN_NOTES + i] = (struct table_cell){.number = values[i]};
	cells[COLUMN_REUSED_SHARE].number =
		table_share(unwinding->frames_reused, unwinding->frames);
	cells[COLUMN_REUSED_SHARE].is_unknown = unwinding->frames == 0;
	cells[COLUMN_CACHE_SHARE].number =
		table_share(cache_hits(asked, unwinding->lookups), asked);
	cells[COLUMN_CACHE_SHARE].is_unknown = asked == 0;
	if (unwinding->timed_frames > 0)
		cells[COLUMN_FRAME_NS].number = unwinding->timed_ns / unwinding->timed_frames;
	cells[COLUMN_FRAME_NS].is_unknown = unwinding->timed_frames == 0;
}

/* A row with all figures that modules, threads and the run have. */
static struct table_cell *add_row(struct table *table, const char *scope,
				  const struct quality_row *row)
{
	struct table_cell *cells = table_add_row(table);
	cells[COLUMN_SCOPE].text = scope;
	cells[COLUMN_PID].is_unknown = cells[COLUMN_TID].is_unknown = true;
	cells[COLUMN_SAMPLES].number = row->samples;
	cells[COLUMN_COMPLETE].number = row->states[PROFILE_STACK_COMPLETE];
	cells[COLUMN_GUESSED].number = row->states[PROFILE_STACK_GUESSED];
	cells[COLUMN_NONE].number = row->states[PROFILE_STACK_NONE];
	cells[COLUMN_SKIPPED].number = quality_skipped(row);
	cells[COLUMN_COMPLETE_SHARE].number =
		table_share(row->states[PROFILE_STACK_COMPLETE], row->samples);
	cells[COLUMN_SKIPPED_SHARE].number = table_share(quality_skipped(row), row->samples);
	cells[COLUMN_GUESSED_SHARE].number =
		table_share(row->states[PROFILE_STACK_GUESSED], row->samples);
	for (size_t i = 0; i < PROFILE_SKIP_REASON_COUNT; i++)
		cells[reason_column(i)].number = row->skipped[i];
	for (size_t i = COLUMN_COMPLETE_SHARE; i <= COLUMN_GUESSED_SHARE; i++)
		cells[i].is_unknown = row->samples == 0;
	cells[COLUMN_NAMELESS].number = row->nameless;
	cells[COLUMN_STEPS].number = row->steps;
	cells[COLUMN_POINTER_STEPS].number = row->pointer_steps;
	cells[COLUMN_POINTER_SHARE].number = table_share(row->pointer_steps, row->steps);
	cells[COLUMN_AGREED].number = row->guesses.stacks;
	cells[COLUMN_VERIFIED].number = row->guesses.verified;
	cells[COLUMN_HITS].number = row->guesses.hits;
	cells[COLUMN_LEAST_HITS].number = row->guesses.least_hits;
	cells[COLUMN_LEAST_HITS].is_unknown = row->guesses.stacks == 0;
	for (size_t i = COLUMN_NOTES; i <= COLUMN_COLLECTOR; i++)
		cells[i].is_unknown = true;
	cells[COLUMN_DEEP_WALKS].is_unknown = cells[COLUMN_DEEP_FRAMES].is_unknown = true;
	set_unwinding(cells, row);
	return cells;
}

static void set_number(struct table_cell *cell, struct overview_number number)
{
	cell->number = number.value;
	cell->is_unknown = !number.is_known;
}

static void add_run(struct table *table, const struct quality *quality, const char *advice)
{
	struct table_cell *cells = add_row(table, "run", &quality->run);
	for (size_t i = 0; i < QUALITY_NOTES; i++)
		set_number(&cells[COLUMN_NOTES + i], quality->notes[i]);
	set_number(&cells[COLUMN_COLLECTOR], quality->overview.collector_cpu_ns);
	set_number(&cells[COLUMN_DEEP_WALKS], quality->deep_walks);
	set_number(&cells[COLUMN_DEEP_FRAMES], quality->deep_frames);
	cells[COLUMN_ADVICE].text = advice;
}

static uint64_t total_skipped(const struct quality_row *row)
{
	uint64_t total = 0;
	for (size_t i = 0; i < PROFILE_SKIP_REASON_COUNT; i++)
		total += row->skipped[i];
	return total;
}

/* Most samples first, then most stacks that end there, then most steps, then as they are. */
static int compare_rows(const void *a, const void *b, void *user)
{
	const struct quality_row *rows = user;
	size_t left = *(const size_t *)a;
	size_t right = *(const size_t *)b;
	const uint64_t keys[][2] = {
		{rows[left].samples, rows[right].samples},
		{total_skipped(&rows[left]), total_skipped(&rows[right])},
		{rows[left].steps, rows[right].steps},
	};
	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		if (keys[i][0] != keys[i][1])
			return keys[i][0] < keys[i][1] ? 1 : -1;
	}
	return (left > right) - (left < right);
}

/* The rows with something in them, in order; the caller frees them. */
static size_t *sort_rows(struct quality_row *rows, size_t count, size_t *used)
{
	size_t *order = xalloc_zeroed(count + 1, sizeof(*order));
	*used = 0;
	for (size_t i = 0; i < count; i++) {
		if (rows[i].samples > 0 || total_skipped(&rows[i]) > 0 || rows[i].steps > 0)
			order[(*used)++] = i;
	}
	qsort_r(order, *used, sizeof(*order), compare_rows, rows);
	return order;
}

static void add_modules(struct table *table, const struct report_input *input,
			struct quality *quality)
{
	size_t count;
	size_t *order = sort_rows(quality->modules, quality->module_count, &count);
	uint32_t limit = input->options->limit;
	for (size_t i = 0; i < count && (limit == 0 || i < limit); i++) {
		const struct module *module =
			functions_module(input->functions, (uint32_t)order[i]);
		struct table_cell *cells = add_row(table, "module", &quality->modules[order[i]]);
		cells[COLUMN_NAME].text = module->name;
		cells[COLUMN_PATH].text = module->path;
	}
	free(order);
}

static void add_threads(struct table *table, const struct report_input *input,
			struct quality *quality)
{
	size_t count;
	size_t *order = sort_rows(quality->threads, quality->thread_count, &count);
	uint32_t limit = input->options->limit;
	for (size_t i = 0; i < count && (limit == 0 || i < limit); i++) {
		struct table_cell *cells = add_row(table, "thread", &quality->threads[order[i]]);
		cells[COLUMN_NAME].text = "[Unknown]";
		if (order[i] >= profile_reader_thread_count(input->reader))
			continue;
		const struct profile_thread_info *thread =
			profile_reader_thread(input->reader, (uint32_t)order[i]);
		cells[COLUMN_NAME].text = thread->name;
		set_number(&cells[COLUMN_PID], (struct overview_number){thread->pid, true});
		set_number(&cells[COLUMN_TID], (struct overview_number){thread->tid, true});
	}
	free(order);
}

static void print_stacks(const struct quality_row *run, FILE *stream)
{
	print_label(stream, "Stacks:");
	fprintf(stream, "%.2f %% complete, %.2f %% skipped, %.2f %% guessed of %" PRIu64 "\n",
		table_percent(run->states[PROFILE_STACK_COMPLETE], run->samples),
		table_percent(quality_skipped(run), run->samples),
		table_percent(run->states[PROFILE_STACK_GUESSED], run->samples), run->samples);
	for (int i = 0; i < PROFILE_SKIP_REASON_COUNT; i++) {
		if (run->skipped[i] == 0)
			continue;
		print_label(stream, "  skipped:");
		fprintf(stream, "%" PRIu64 " (%.2f %%) %s\n", run->skipped[i],
			table_percent(run->skipped[i], run->samples),
			skip_reason_of((enum profile_skip_reason)i)->words);
	}
}

static void print_unwinding(const struct quality *quality, FILE *stream)
{
	uint64_t walks = quality_note(quality, PROFILE_NOTE_UNWIND_WALKS).value;
	uint64_t frames = quality_note(quality, PROFILE_NOTE_UNWIND_FRAMES).value;
	uint64_t by_info = quality_note(quality, PROFILE_NOTE_UNWIND_FRAMES_BY_INFO).value;
	uint64_t by_pointer = quality_note(quality, PROFILE_NOTE_UNWIND_FRAMES_BY_POINTER).value;
	uint64_t reused = quality_note(quality, PROFILE_NOTE_UNWIND_FRAMES_REUSED).value;
	uint64_t lookups = quality_note(quality, PROFILE_NOTE_UNWIND_LOOKUPS).value;
	uint64_t timed = quality_note(quality, PROFILE_NOTE_UNWIND_TIMED).value;
	uint64_t timed_frames = quality_note(quality, PROFILE_NOTE_UNWIND_TIMED_FRAMES).value;
	uint64_t timed_ns = quality_note(quality, PROFILE_NOTE_UNWIND_TIMED_NS).value;
	if (walks == 0)
		return;
	print_label(stream, "Frames:");
	fprintf(stream, "%" PRIu64 ", %.1f per stack\n", frames, ratio(frames, walks));
	print_label(stream, "  callers found by:");
	fprintf(stream, "%.2f %% unwind information, %.2f %% frame pointers\n",
		table_percent(by_info, by_info + by_pointer),
		table_percent(by_pointer, by_info + by_pointer));
	print_label(stream, "  reused:");
	fprintf(stream, "%.1f %%, unchanged since the thread's previous stack\n",
		table_percent(reused, frames));
	print_label(stream, "Rule Cache:");
	fprintf(stream, "%.2f %% hits\n",
		table_percent(cache_hits(frames - reused, lookups), frames - reused));
	print_label(stream, "Unwinding Time:");
	if (timed > 0)
		fprintf(stream, "%.0f ns per frame, %.0f ns per stack (%" PRIu64 " %s timed)\n",
			ratio(timed_ns, timed_frames), ratio(timed_ns, timed), timed,
			timed == 1 ? "was" : "were");
	else
		fputs("not known: too few stacks\n", stream);
}

/* Where guessed stacks are split, and what the guesses rest on. */
static void print_guesses(const struct quality *quality, FILE *stream)
{
	const struct tally_guesses *guesses = &quality->run.guesses;
	overview_print_guesses(&quality->overview, quality->run.states[PROFILE_STACK_GUESSED],
			       "Guesses:", LABEL_WIDTH, stream);
	if (guesses->stacks == 0)
		return;
	print_label(stream, "  rest on:");
	fprintf(stream,
		"%.1f verified frames per stack, %.1f complete stacks that agree (%" PRIu64
		" at least, counted up to 255)\n",
		ratio(guesses->verified, guesses->stacks), ratio(guesses->hits, guesses->stacks),
		guesses->least_hits);
}

/* What the collector cost is known of the whole run; how many stacks were collapsed, not by
 * function. */
static void print_run(const struct report_input *input, const struct quality *quality,
		      const char *advice, FILE *stream)
{
	const struct tally *tally = &input->tally;
	const struct filter *filter = &input->options->filter;
	const struct overview_number *cpu = &quality->overview.collector_cpu_ns;
	struct overview_number frames = quality_note(quality, PROFILE_NOTE_UNWIND_FRAMES);
	struct overview_number walks = quality_note(quality, PROFILE_NOTE_UNWIND_WALKS);
	print_stacks(&quality->run, stream);
	print_guesses(quality, stream);
	print_unwinding(quality, stream);
	if (cpu->is_known && tally->samples > 0 && filter->count == 0) {
		print_label(stream, "Collector CPU:");
		fprintf(stream, "%.1f us per sample", ratio(cpu->value, tally->samples) / 1e3);
		if (frames.is_known && walks.value > 0)
			fprintf(stream, ", %.0f ns per frame", ratio(cpu->value, frames.value));
		fputs(", start and end included\n", stream);
	}
	if (!filter_needs_function(filter)) {
		print_label(stream, "Recursion Collapsed:");
		fprintf(stream, "in %" PRIu64 " sample%s (%.1f %%)\n", tally->collapsed,
			tally->collapsed == 1 ? "" : "s",
			table_percent(tally->collapsed, tally->samples));
	}
	print_label(stream, "Advice:");
	fprintf(stream, "%s\n", advice);
}

/* Reasons that no stack has are no columns of text. */
static void choose_columns(const struct quality *quality, bool with_tid,
			   struct table_column chosen[COLUMN_COUNT])
{
	fill_columns(chosen);
	for (size_t i = 0; i < PROFILE_SKIP_REASON_COUNT; i++) {
		if (quality->run.skipped[i] == 0)
			chosen[reason_column(i)].audience &= ~TABLE_SHOWN;
	}
	if (quality->run.states[PROFILE_STACK_GUESSED] == 0)
		chosen[COLUMN_GUESSED_SHARE].audience &= ~TABLE_SHOWN;
	if (quality_note(quality, PROFILE_NOTE_GUESSES_TESTED).value > 0)
		for (size_t i = COLUMN_TRIED; i <= COLUMN_WRONG; i++)
			chosen[i].audience |= TABLE_SHOWN | TABLE_OPTIONAL;
	for (size_t i = COLUMN_REUSED_SHARE; i <= COLUMN_FRAME_NS && !quality->has_unwinding; i++)
		chosen[i].audience &= ~TABLE_SHOWN;
	chosen[COLUMN_TRIED].title = "Guesses Tested";
	chosen[COLUMN_WRONG].title = "Wrong";
	if (!with_tid)
		chosen[COLUMN_TID].audience &= ~TABLE_SHOWN;
	chosen[COLUMN_NAME].title = with_tid ? "Thread" : "Module";
}

static void print_as_text(const struct report_input *input, struct quality *quality,
			  const char *advice, FILE *stream, unsigned width)
{
	struct table_column chosen[COLUMN_COUNT];
	struct table table;
	struct lines lines;
	char *clean = format_text_fit(advice, 0);
	lines_begin(&lines);
	print_run(input, quality, clean, lines.stream);
	lines_end(&lines, LABEL_WIDTH, width, stream);
	free(clean);
	lines_begin(&lines);
	fputs("\nModules: samples whose code lies in them; counts of reasons are of the stacks "
	      "that end in them\n",
	      lines.stream);
	lines_end(&lines, sizeof("Modules: ") - 1, width, stream);
	choose_columns(quality, false, chosen);
	table_init(&table, chosen, COLUMN_COUNT);
	add_modules(&table, input, quality);
	format_text_print(&table, stream, width);
	table_finish(&table);
	fputs("\nThreads\n", stream);
	choose_columns(quality, true, chosen);
	table_init(&table, chosen, COLUMN_COUNT);
	add_threads(&table, input, quality);
	format_text_print(&table, stream, width);
	table_finish(&table);
}

void report_quality_print(const struct report_input *input, FILE *stream, unsigned width)
{
	struct quality quality;
	quality_collect(input, &quality);
	char *advice = quality_advise(input, &quality);
	if (input->options->format->id == FORMAT_TEXT) {
		print_as_text(input, &quality, advice, stream, width);
	} else {
		struct table_column all[COLUMN_COUNT];
		struct table table;
		fill_columns(all);
		table_init(&table, all, COLUMN_COUNT);
		add_run(&table, &quality, advice);
		add_modules(&table, input, &quality);
		add_threads(&table, input, &quality);
		input->options->format->print(&table, stream, width);
		table_finish(&table);
	}
	free(advice);
	quality_finish(&quality);
}
