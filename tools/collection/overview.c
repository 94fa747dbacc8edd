#include "tools/collection/overview.h"

#include "containers/compare.h"
#include "tools/collection/lines.h"
#include "tools/memory/index_map.h"
#include "tools/memory/xalloc.h"
#include <inttypes.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { GUESSES_MIN = 10 }; /* the fewest tries for a statement on wrong guesses */

static const struct {
	const char *key;
	const char *words;
} kernel_times[] = {
	{NULL, NULL}, /* not known */
	[PROFILE_KERNEL_TIME_APART] = {"apart", "in no function: kernel mode was not sampled"},
	[PROFILE_KERNEL_TIME_AT_CALLS] = {"at_calls", "in the functions that entered the kernel"},
	[PROFILE_KERNEL_TIME_FRAMES] = {"frames", "in the kernel's functions"},
};

static size_t kernel_time_of(const struct overview *overview)
{
	uint64_t value = overview->notes[PROFILE_NOTE_KERNEL_TIME].value;
	return value < sizeof(kernel_times) / sizeof(kernel_times[0]) ? (size_t)value : 0;
}

const char *overview_kernel_key(const struct overview *overview)
{
	return kernel_times[kernel_time_of(overview)].key;
}

const char *overview_kernel_words(const struct overview *overview)
{
	return overview->is_counted ? NULL : kernel_times[kernel_time_of(overview)].words;
}

const char *overview_sampling_key(const struct overview *overview)
{
	static const char *const keys[] =
		{NULL, [PROFILE_SAMPLING_FIXED] = "fixed", [PROFILE_SAMPLING_THREADS] = "threads",
		 [PROFILE_SAMPLING_CPUS] = "cpus", [PROFILE_SAMPLING_NONE] = "off"};
	uint64_t value = overview->notes[PROFILE_NOTE_SAMPLING].value;
	return value < sizeof(keys) / sizeof(keys[0]) ? keys[value] : NULL;
}

char *overview_sampling_words(const struct overview *overview)
{
	static const char *const words[] = {[PROFILE_SAMPLING_THREADS] =
						    "at random times of each thread's CPU time",
					    [PROFILE_SAMPLING_CPUS] =
						    "at random times of each CPU"};
	if (overview->is_counted)
		return NULL;
	if (overview->notes[PROFILE_NOTE_SAMPLING].value == PROFILE_SAMPLING_FIXED)
		return xalloc_text("at a fixed period of each thread's CPU time");
	if (overview->notes[PROFILE_NOTE_SAMPLING].value == PROFILE_SAMPLING_NONE)
		return xalloc_text("none were taken of CPU time");
	if (!overview_sampling_key(overview))
		return NULL;
	const char *times = words[overview->notes[PROFILE_NOTE_SAMPLING].value];
	if (overview->notes[PROFILE_NOTE_TICK].value == 0)
		return xalloc_text(times);
	return xalloc_printf("%s, drawn from ticks of %.3g ms", times,
			     (double)overview->notes[PROFILE_NOTE_TICK].value / 1e6);
}

static struct overview_number known(uint64_t value)
{
	return (struct overview_number){value, true};
}

static bool adds_up(uint32_t kind)
{
	return kind == PROFILE_NOTE_SAMPLES_LOST || kind == PROFILE_NOTE_RECORDS_LOST ||
	       kind == PROFILE_NOTE_BYTES_LOST || kind == PROFILE_NOTE_OUT_OF_ORDER ||
	       kind == PROFILE_NOTE_THROTTLED || kind == PROFILE_NOTE_PAUSED ||
	       kind == PROFILE_NOTE_WAITS_LOST;
}

static void take_note(struct overview *overview, const struct profile_note *note, const char *text)
{
	bool is_started = note->kind == PROFILE_NOTE_COMMAND;
	if (note->kind >= OVERVIEW_NOTES)
		return;
	struct overview_number *number = &overview->notes[note->kind];
	number->is_known = true;
	if (note->kind == PROFILE_NOTE_NOT_FOLLOWED || note->kind == PROFILE_NOTE_WAITS_HIDDEN)
		number->value++;
	else
		number->value = note->value + (adds_up(note->kind) ? number->value : 0);
	if (note->kind == PROFILE_NOTE_COLLECTOR)
		overview->collector = text;
	if (note->kind == PROFILE_NOTE_ANALYSIS)
		overview->analysis = text;
	if (note->kind == PROFILE_NOTE_CUSTOM_COLLECTOR)
		overview->custom_collector = text;
	if (note->kind == PROFILE_NOTE_EVENT)
		overview->event = text;
	if (!is_started && (note->kind != PROFILE_NOTE_ATTACHED || overview->target_pid.is_known))
		return;
	overview->command = text;
	/* A plain tb5 file does not name the process. */
	if (!is_started || note->pid != 0)
		overview->target_pid = known(note->pid);
}

/* None wrong of n means fewer than 3 / n wrong, with 95 % confidence. */
static void print_wrong_guesses(uint64_t wrong, uint64_t covered, FILE *stream)
{
	if (covered < GUESSES_MIN)
		fprintf(stream, "too few to tell how many are wrong (%" PRIu64 " of %" PRIu64 ")",
			wrong, covered);
	else if (wrong == 0)
		fprintf(stream,
			"none of %" PRIu64 " wrong (with 95 %% confidence, under %.2f %% are)",
			covered, 300.0 / (double)covered);
	else
		fprintf(stream, "%.2f %% wrong (%" PRIu64 " of %" PRIu64 ")",
			(double)wrong / (double)covered * 100, wrong, covered);
}

static void print_tests(uint64_t tested, uint64_t covered, uint64_t wrong, FILE *stream)
{
	if (tested == 0) {
		fputs("tested on no complete stack: how many are wrong is not known\n", stream);
		return;
	}
	fprintf(stream, "tested on %" PRIu64 " complete stack%s: made for %.1f %%, ", tested,
		tested == 1 ? "" : "s", (double)covered / (double)tested * 100);
	print_wrong_guesses(wrong, covered, stream);
	fputc('\n', stream);
}

void overview_print_guesses(const struct overview *overview, uint64_t guessed, const char *label,
			    FILE *stream)
{
	uint64_t tested = overview->unwinding.guesses_tested;
	uint64_t covered = overview->unwinding.guesses_covered;
	if (tested == 0 && (guessed == 0 || !overview->has_guesses))
		return;
	lines_label(stream, label);
	print_tests(tested, covered, overview->unwinding.guesses_wrong, stream);
}

void overview_print_late(const struct overview *overview, uint64_t late, uint64_t samples,
			 const char *label, FILE *stream)
{
	const struct profile_unwinding *counts = &overview->unwinding;
	if (late == 0 && counts->late_tested == 0)
		return;
	lines_label(stream, label);
	fprintf(stream, "%.2f %% of the stacks end in frames read later, ",
		samples > 0 ? (double)late / (double)samples * 100 : 0);
	print_tests(counts->late_tested, counts->late_covered, counts->late_wrong, stream);
}

static bool is_path(const void *item, const void *wanted)
{
	return strcmp(*(const char *const *)item, *(const char *const *)wanted) == 0;
}

static uint32_t count_modules(const struct profile_reader *reader)
{
	struct index_map map = {0};
	const char **paths = NULL;
	for (uint32_t i = 0; i < profile_reader_module_count(reader); i++) {
		const char *path = profile_reader_module(reader, i)->path;
		index_map_enter(&map, &paths, &path, sizeof(path), index_map_hash_text(&map, path),
				is_path);
	}
	uint32_t count = index_map_count(&map);
	index_map_finish(&map);
	free(paths);
	return count;
}

struct moment {
	uint32_t pid;
	uint64_t tsc;
};

static int compare_moments(const void *a, const void *b)
{
	const struct moment *left = a;
	const struct moment *right = b;
	int order = compare_numbers(left->pid, right->pid);
	return order ? order : compare_numbers(left->tsc, right->tsc);
}

/* A process calling exec begins a new life at the moment its last one ends. */
static uint32_t count_processes(const struct profile_reader *reader)
{
	uint32_t lives = profile_reader_process_count(reader);
	uint32_t count = lives;
	size_t end_count = 0;
	struct moment *ends = xalloc_zeroed((size_t)lives + 1, sizeof(*ends));
	for (uint32_t i = 0; i < lives; i++) {
		const struct profile_process_info *life = profile_reader_process(reader, i);
		if (life->end_tsc > life->start_tsc)
			ends[end_count++] = (struct moment){life->pid, life->end_tsc};
	}
	qsort(ends, end_count, sizeof(*ends), compare_moments);
	for (uint32_t i = 0; i < lives; i++) {
		const struct profile_process_info *life = profile_reader_process(reader, i);
		struct moment start = {life->pid, life->start_tsc};
		count -= bsearch(&start, ends, end_count, sizeof(*ends), compare_moments) != NULL;
	}
	free(ends);
	return count;
}

/* The end's note is missing when the collector was killed; the clock went on until then. */
static void take_clocks(struct overview *overview, const struct profile_reader *reader)
{
	uint32_t count = profile_reader_clock_count(reader);
	if (count == 0)
		return;
	uint64_t start_ns = profile_reader_start_ns(reader);
	overview->start_real_ns = profile_reader_start_date_ns(reader);
	const struct profile_clock *last = profile_reader_clock(reader, count - 1);
	if (!overview->notes[PROFILE_NOTE_ELAPSED].is_known && last->raw_ns > start_ns)
		overview->notes[PROFILE_NOTE_ELAPSED] = known(last->raw_ns - start_ns);
}

#define COUNTS_START    offsetof(struct profile_unwinding, walks)
#define COUNTS_IN_NOTES (PROFILE_NOTE_GUESSES_WRONG - PROFILE_NOTE_UNWIND_WALKS + 1)
_Static_assert(offsetof(struct profile_unwinding, late_tested) - COUNTS_START ==
		       COUNTS_IN_NOTES * sizeof(uint64_t),
	       "a note for each count of older results, in the same order");

/* Older results have the run's sums as notes. */
static void take_unwinding_notes(struct overview *overview)
{
	const struct overview_number *notes = overview->notes;
	uint64_t counts[COUNTS_IN_NOTES];
	for (size_t i = 0; i < COUNTS_IN_NOTES; i++)
		counts[i] = notes[PROFILE_NOTE_UNWIND_WALKS + i].value;
	memcpy((char *)&overview->unwinding + COUNTS_START, counts, sizeof(counts));
	overview->has_unwinding = notes[PROFILE_NOTE_UNWIND_WALKS].is_known;
	overview->has_guesses = notes[PROFILE_NOTE_GUESSES_TESTED].is_known;
	overview->deep_walks = notes[PROFILE_NOTE_UNWIND_DEEP_WALKS];
	overview->deep_frames = notes[PROFILE_NOTE_UNWIND_DEEP_FRAMES];
}

static void take_unwinding(struct overview *overview, const struct profile_reader *reader)
{
	take_unwinding_notes(overview);
	for (uint32_t i = 0; i < profile_reader_unwinding_count(reader); i++) {
		const struct profile_unwinding *unwinding = profile_reader_unwinding(reader, i);
		if (unwinding->kind == PROFILE_UNWINDING_RUN) {
			overview->unwinding = *unwinding;
			overview->has_unwinding = overview->has_guesses = true;
		} else if (unwinding->kind == PROFILE_UNWINDING_DEEP) {
			overview->deep_walks = known(unwinding->walks);
			overview->deep_frames = known(unwinding->frames);
		}
	}
}

/* Of a result with several events. */
static void take_chosen_event(struct overview *overview, const struct profile_reader *reader)
{
	uint64_t lost = 0;
	if (!overview->is_counted || profile_reader_event_count(reader) == 0)
		return;
	overview->event = profile_reader_counted_event(reader);
	for (uint32_t i = 0; i < profile_reader_note_count(reader); i++) {
		const struct profile_note *note = profile_reader_note(reader, i);
		if (note->kind == PROFILE_NOTE_EVENT_LOST &&
		    strcmp(profile_reader_event_name(reader, note->tid), overview->event) == 0)
			lost += note->value;
	}
	overview->notes[PROFILE_NOTE_SAMPLES_LOST] = known(lost);
}

struct overview_number overview_event_count(const struct profile_reader *reader, uint32_t event)
{
	struct overview_number count = {0, false};
	for (uint32_t i = 0; i < profile_reader_note_count(reader); i++) {
		const struct profile_note *note = profile_reader_note(reader, i);
		if (note->kind == PROFILE_NOTE_EVENT_COUNT && note->tid == event)
			count = known(count.value + note->value);
	}
	return count;
}

void overview_collect(const struct profile_reader *reader, const struct tally *tally,
		      const char *path, struct overview *overview)
{
	struct stat status;
	*overview = (struct overview){.command = "",
				      .collector = "",
				      .analysis = "",
				      .custom_collector = "",
				      .event = ""};
	for (uint32_t i = 0; i < profile_reader_note_count(reader); i++) {
		const struct profile_note *note = profile_reader_note(reader, i);
		take_note(overview, note, profile_reader_text(reader, note->text));
	}
	overview->is_counted = profile_reader_counted_event(reader) != NULL;
	take_chosen_event(overview, reader);
	take_clocks(overview, reader);
	take_unwinding(overview, reader);
	overview->unattributed_ns = profile_reader_unattributed_ns(reader);
	overview->cpu_ns = tally->cpu_ns + tally->rest_ns;
	overview->processes = count_processes(reader);
	overview->modules = count_modules(reader);
	if (stat(path, &status) == 0)
		overview->file_bytes = known((uint64_t)status.st_size);
	profile_reader_host(reader, &overview->host);
	overview->is_complete = profile_reader_complete(reader);
	overview->is_finalized = profile_reader_symbol_count(reader) > 0;
}
