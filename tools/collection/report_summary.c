#include "tools/collection/lines.h"
#include "tools/collection/overview.h"
#include "tools/collection/skip_reason.h"
#include "tools/collection/states_overview.h"
#include "tools/collection/unseen_time.h"
#include "tools/memory/xalloc.h"
#include "tools/report/report.h"
#include <inttypes.h>
#include <json-c/json.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define TOP_HOTSPOTS     5u         /* and waiting objects */
#define COST_BASE_MIN_NS 100000000u /* a collection's start and end cost some 0.015 s */
#define SHOWN_MIN_NS     500000u    /* less than this is 0.000 s */
#define BASE_SHARE       1000u      /* 0.1 %, as shares are shown */

static const char *plural(uint64_t count)
{
	return count == 1 ? "" : "s";
}

static void print_text(FILE *stream, const char *label, const char *text)
{
	if (text[0] == '\0')
		return;
	char *clean = table_format_fit(text, 0);
	lines_label(stream, label);
	fprintf(stream, "%s\n", clean);
	free(clean);
}

static void print_seconds(FILE *stream, const char *label, struct overview_number ns)
{
	lines_label(stream, label);
	if (ns.is_known)
		fprintf(stream, "%.3f s\n", (double)ns.value / 1e9);
	else
		fputs("not known\n", stream);
}

static void print_bytes(FILE *stream, const char *before, uint64_t bytes, const char *after)
{
	static const char *const units[] = {"bytes", "kB", "MB", "GB", "TB"};
	double value = (double)bytes;
	size_t unit = 0;
	for (; value >= 1000 && unit + 1 < sizeof(units) / sizeof(units[0]); unit++)
		value /= 1000;
	fprintf(stream, unit ? "%s%.1f %s%s" : "%s%.0f %s%s", before, value, units[unit], after);
}

/* Prints the place of the time in the kernel, and its part in no function. */
static void print_kernel_time(const struct report_input *input, const struct overview *overview,
			      FILE *stream)
{
	uint64_t kernel_ns = input->tally.kernel_ns;
	bool is_apart =
		overview->notes[PROFILE_NOTE_KERNEL_TIME].value == PROFILE_KERNEL_TIME_APART;
	const char *words = overview_kernel_words(overview);
	if (!words)
		return;
	lines_label(stream, "  system calls, faults:");
	if (!is_apart)
		fputs(words, stream);
	if (is_apart || kernel_ns > 0)
		fprintf(stream, "%s%.3f s (%.1f %%)", is_apart ? "" : ", but for ",
			(double)kernel_ns / 1e9, table_percent(kernel_ns, overview->cpu_ns));
	if (is_apart)
		fprintf(stream, " %s", words);
	fputc('\n', stream);
}

/* Prints the headline of a result whose samples are of an event that is no clock. */
static void print_event(const struct overview *overview, uint64_t count, FILE *stream)
{
	char *label = table_format_fit(overview->event, LINES_LABEL_WIDTH - 2);
	char *whole = xalloc_printf("%s:", label);
	lines_label(stream, whole);
	fprintf(stream, "%" PRIu64 "\n", count);
	free(label);
	free(whole);
}

static void print_cpu_time(const struct overview *overview, uint64_t cpu_ns, FILE *stream)
{
	uint64_t elapsed_ns = overview->notes[PROFILE_NOTE_ELAPSED].value;
	lines_label(stream, "CPU Time:");
	fprintf(stream, "%.3f s", (double)cpu_ns / 1e9);
	if (elapsed_ns > 0) {
		fprintf(stream, " (%.2f CPUs", (double)cpu_ns / (double)elapsed_ns);
		if (overview->host.logical_cpus)
			fprintf(stream, " of %" PRIu32, overview->host.logical_cpus);
		fputc(')', stream);
	}
	fputc('\n', stream);
}

/* Prints a part of the headline's time, below the headline. */
static void print_part(const char *label, uint64_t part_ns, uint64_t all_ns, FILE *stream)
{
	if (part_ns < SHOWN_MIN_NS)
		return;
	lines_label(stream, label);
	fprintf(stream, "%.3f s (%.1f %%)\n", (double)part_ns / 1e9,
		table_percent(part_ns, all_ns));
}

static void print_times(const struct report_input *input, const struct overview *overview,
			FILE *stream)
{
	uint64_t unattributed_ns = tally_threadless_ns(input->reader, &input->options->filter);
	struct overview_number cpu = {overview->cpu_ns + unattributed_ns, true};
	struct overview_number paused = {overview->notes[PROFILE_NOTE_PAUSED].value, true};
	print_seconds(stream, "Elapsed Time:", overview->notes[PROFILE_NOTE_ELAPSED]);
	if (overview->is_counted) {
		print_event(overview, cpu.value, stream);
	} else {
		print_cpu_time(overview, cpu.value, stream);
		print_kernel_time(input, overview, stream);
		print_part("  in no sample:", input->tally.rest_ns, cpu.value, stream);
		print_part("  estimated:", input->tally.estimated_ns, cpu.value, stream);
		print_part("  of no known thread:", unattributed_ns, cpu.value, stream);
		print_part("  stolen by the host:", overview->notes[PROFILE_NOTE_STOLEN].value,
			   cpu.value, stream);
	}
	print_seconds(stream, "Paused Time:", paused);
	lines_label(stream, "Total Thread Count:");
	/* The threads whose time has a row of its own in other reports are not counted. */
	fprintf(stream, "%" PRIu32 "%s\n", profile_reader_thread_count(input->reader),
		report_threadless_ns(input) > 0 ? " known" : "");
	lines_label(stream, "Processes, Modules:");
	fprintf(stream, "%" PRIu32 ", %" PRIu32 "\n", overview->processes, overview->modules);
}

static void print_sampling(const struct overview *overview, FILE *stream)
{
	char *words = overview_sampling_words(overview);
	if (words)
		print_text(stream, "  taken:", words);
	free(words);
}

/* Whether samples were drawn from a thread's ticks behind the rings: of lost ticks nobody knows
 * which were to be samples. */
static bool is_lost_estimated(const struct overview *overview)
{
	return overview->notes[PROFILE_NOTE_SAMPLES_LOST].value > 0 &&
	       overview->notes[PROFILE_NOTE_SAMPLING].value == PROFILE_SAMPLING_THREADS &&
	       overview->notes[PROFILE_NOTE_STACK_SOURCE].value != PROFILE_STACKS_BY_BPF;
}

/* The kernel's counts, whatever the filter; the samples have a report of their own each. */
static void print_events(const struct profile_reader *reader, FILE *stream)
{
	for (uint32_t i = 1; i <= profile_reader_event_count(reader); i++) {
		const char *name = profile_reader_event_name(reader, i);
		struct overview_number count = overview_event_count(reader, i);
		lines_label(stream, i == 1 ? "Counted Events:" : "");
		if (count.is_known)
			fprintf(stream, "%" PRIu64 " %s (--event %s)\n", count.value, name, name);
		else
			fprintf(stream, "%s: their number is not known (--event %s)\n", name, name);
	}
}

/* Lost are samples of the whole run, whatever the filter. */
static void print_samples(const struct tally *tally, const struct overview *overview,
			  bool is_filtered, FILE *stream)
{
	lines_label(stream, "Samples:");
	fprintf(stream, "%" PRIu64, tally->samples);
	if (overview->notes[PROFILE_NOTE_INTERVAL].is_known && !overview->is_counted)
		fprintf(stream, ", one per %g ms of CPU time",
			(double)overview->notes[PROFILE_NOTE_INTERVAL].value / 1e6);
	fprintf(stream, "; %s%" PRIu64 " lost", is_lost_estimated(overview) ? "about " : "",
		overview->notes[PROFILE_NOTE_SAMPLES_LOST].value);
	if (overview->notes[PROFILE_NOTE_SAMPLES_LOST].value && !is_filtered)
		fprintf(stream, " (%.2f %%)",
			table_percent(overview->notes[PROFILE_NOTE_SAMPLES_LOST].value,
				      overview->notes[PROFILE_NOTE_SAMPLES_LOST].value +
					      tally->samples));
	fputc('\n', stream);
	print_sampling(overview, stream);
	if (tally->samples == 0)
		return;
	lines_label(stream, "Stacks:");
	fprintf(stream, "%.1f %% complete, %.1f %% skipped, %.1f %% guessed, %.1f %% none\n",
		table_percent(tally->states[PROFILE_STACK_COMPLETE], tally->samples),
		table_percent(tally->states[PROFILE_STACK_SKIPPED], tally->samples),
		table_percent(tally->states[PROFILE_STACK_GUESSED], tally->samples),
		table_percent(tally->states[PROFILE_STACK_NONE], tally->samples));
	for (int i = 0; i < PROFILE_SKIP_REASON_COUNT; i++) {
		if (tally->skipped[i] == 0)
			continue;
		lines_label(stream, "  skipped:");
		fprintf(stream, "%.1f %% %s\n", table_percent(tally->skipped[i], tally->samples),
			skip_reason_of((enum profile_skip_reason)i)->words);
	}
	if (tally->states[PROFILE_STACK_GUESSED] > tally->late)
		overview_print_guesses(overview, tally->states[PROFILE_STACK_GUESSED] - tally->late,
				       "  guesses:", stream);
	if (tally->late > 0)
		overview_print_late(overview, tally->late, tally->samples,
				    "  late frames:", stream);
	if (tally->collapsed > 0) {
		lines_label(stream, "  recursion collapsed:");
		fprintf(stream, "in %" PRIu64 " sample%s (%.1f %%)\n", tally->collapsed,
			plural(tally->collapsed), table_percent(tally->collapsed, tally->samples));
	}
}

/* Prints the reason if the samples show little. */
static void print_advice(const struct report_input *input, const struct overview *overview,
			 FILE *stream)
{
	char *advice = unseen_time_advise(input, overview, input->tally.samples);
	if (advice)
		print_text(stream, "Advice:", advice);
	free(advice);
}

static void print_warning(const char *sentence, void *user)
{
	char *text = table_format_fit(sentence, 0);
	fprintf(user, "Warning: %s\n", text);
	free(text);
}

static uint64_t target_ns(const struct overview *overview)
{
	return overview->cpu_ns + overview->unattributed_ns;
}

/* The collector's cost is of the whole run: a part of the target is no base for a comparison. Nor
 * is a target with as little CPU time as starting and ending a collection takes. */
static bool is_cost_comparable(const struct report_input *input, const struct overview *overview)
{
	return input->options->filter.count == 0 && input->tally.samples > 0 &&
	       target_ns(overview) >= COST_BASE_MIN_NS;
}

static void print_cost(const struct report_input *input, const struct overview *overview,
		       FILE *stream)
{
	const struct tally *tally = &input->tally;
	lines_label(stream, "Collector Cost:");
	if (overview->notes[PROFILE_NOTE_COLLECTOR_CPU].is_known)
		fprintf(stream, "%.3f s of CPU time",
			(double)overview->notes[PROFILE_NOTE_COLLECTOR_CPU].value / 1e9);
	else
		fputs("CPU time not known", stream);
	if (overview->notes[PROFILE_NOTE_COLLECTOR_CPU].is_known &&
	    is_cost_comparable(input, overview))
		fprintf(stream, " (%.2f %% of the target's)",
			table_percent(overview->notes[PROFILE_NOTE_COLLECTOR_CPU].value,
				      target_ns(overview)));
	if (overview->notes[PROFILE_NOTE_COLLECTOR_RSS].is_known)
		print_bytes(stream, ", peak memory ",
			    overview->notes[PROFILE_NOTE_COLLECTOR_RSS].value, "");
	fputc('\n', stream);
	lines_label(stream, "Data Written:");
	print_bytes(stream, "", overview->file_bytes.value, "");
	if (tally->samples > 0 && input->options->filter.count == 0)
		fprintf(stream, " (%.0f bytes per sample)",
			(double)overview->file_bytes.value / (double)tally->samples);
	if (overview->notes[PROFILE_NOTE_STACK_COPY].is_known)
		print_bytes(stream, ", ", overview->notes[PROFILE_NOTE_STACK_COPY].value,
			    " of stacks copied by the kernel");
	fputc('\n', stream);
}

static void print_start(const struct overview *overview, FILE *stream)
{
	time_t seconds = (time_t)(overview->start_real_ns / 1000000000);
	struct tm time;
	char text[64];
	if (overview->start_real_ns == 0 || !gmtime_r(&seconds, &time) ||
	    strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", &time) == 0)
		return;
	print_text(stream, "Collection Start:", text);
}

/* An argument may be of any length, and has no words to be wrapped at. */
static void print_command(const char *command, unsigned width, FILE *stream)
{
	char *fitted =
		table_format_fit(command,
				 width > LINES_LABEL_WIDTH ? width - LINES_LABEL_WIDTH : width);
	if (fitted[0])
		fprintf(stream, "%-*s%s\n", (int)LINES_LABEL_WIDTH, "Command Line:", fitted);
	free(fitted);
}

static void print_custom_collector(const struct overview *overview, FILE *stream)
{
	uint64_t failed = overview->notes[PROFILE_NOTE_CUSTOM_COLLECTOR].value;
	print_text(stream, "Custom Collector:", overview->custom_collector);
	if (failed == 0)
		return;
	lines_label(stream, "  failed:");
	fprintf(stream, "%" PRIu64 " step%s\n", failed, plural(failed));
}

static void print_platform(const struct report_input *input, const struct overview *overview,
			   FILE *stream, unsigned width)
{
	fputs("\nCollection and Platform Info\n", stream);
	print_command(overview->command, width, stream);
	if (overview->notes[PROFILE_NOTE_EXIT_STATUS].is_known) {
		lines_label(stream, "Exit Status:");
		fprintf(stream, "%" PRIu64 "\n", overview->notes[PROFILE_NOTE_EXIT_STATUS].value);
	}
	print_text(stream, "Analysis:", overview->analysis);
	print_text(stream, "Event:", overview->event);
	print_text(stream, "Collector:", overview->collector);
	print_custom_collector(overview, stream);
	print_cost(input, overview, stream);
	print_start(overview, stream);
	print_text(stream, "Computer Name:", overview->host.name);
	print_text(stream, "Operating System:", overview->host.os);
	print_text(stream, "CPU:", overview->host.cpu);
	if (overview->host.logical_cpus) {
		lines_label(stream, "Logical CPU Count:");
		fprintf(stream, "%" PRIu32 "\n", overview->host.logical_cpus);
	}
}

/* The table of waiting objects, into memory: reading waits may fail. */
static TBRW_U32 begin_waits(const struct report_input *input, const struct overview *overview,
			    uint32_t limit, unsigned width, struct lines *lines)
{
	TBRW_U32 code = VT_SUCCESS;
	lines_begin(lines);
	if (!overview->is_counted && overview->notes[PROFILE_NOTE_WAITS].is_known)
		code = report_top_waits(input, limit, lines->stream, width);
	if (code == VT_SUCCESS)
		return code;
	fclose(lines->stream);
	free(lines->text);
	return code;
}

/* Returns the reader's code. */
static TBRW_U32 print_as_text(const struct report_input *input, const struct overview *overview,
			      const struct states_overview *states, FILE *stream, unsigned width)
{
	uint32_t limit = input->options->limit ? input->options->limit : TOP_HOTSPOTS;
	struct lines lines;
	struct lines waits;
	TBRW_U32 code = begin_waits(input, overview, limit, width, &waits);
	if (code != VT_SUCCESS)
		return code;
	lines_begin(&lines);
	print_times(input, overview, lines.stream);
	states_overview_print(states, lines.stream);
	print_samples(&input->tally, overview, input->options->filter.count > 0, lines.stream);
	print_events(input->reader, lines.stream);
	print_advice(input, overview, lines.stream);
	overview_warn(overview, input->reader, print_warning, lines.stream);
	lines_end(&lines, LINES_LABEL_WIDTH, width, stream);
	fputs("\nTop Hotspots", stream);
	/* Else the shares are the same as those of the headline. */
	if (!overview->is_counted &&
	    tally_threadless_ns(input->reader, &input->options->filter) >= SHOWN_MIN_NS &&
	    tally_threadless_ns(input->reader, &input->options->filter) >
		    overview->cpu_ns / BASE_SHARE)
		fprintf(stream, ", of %.3f s in known threads", (double)overview->cpu_ns / 1e9);
	fputc('\n', stream);
	report_top_functions(input, limit, stream, width);
	report_top_programs(input, limit, stream, width);
	lines_end(&waits, 0, 0, stream);
	if (!overview->is_finalized && input->tally.samples > 0)
		fprintf(stream, "The result has no symbols yet; run: %stbconvert finalize RESULT\n",
			overview->is_complete ? "" : "tbconvert recover RESULT, then ");
	lines_begin(&lines);
	print_platform(input, overview, lines.stream, width);
	lines_end(&lines, LINES_LABEL_WIDTH, width, stream);
	return VT_SUCCESS;
}

static struct json_object *seconds_object(struct overview_number ns)
{
	char text[TABLE_NUMBER_SIZE];
	if (!ns.is_known)
		return NULL;
	table_number(TABLE_SECONDS, &(struct table_cell){.number = ns.value}, text);
	return json_object_new_double_s(0, text);
}

static struct json_object *time_object(uint64_t ns)
{
	return seconds_object((struct overview_number){ns, true});
}

static struct json_object *number_object(struct overview_number number)
{
	return number.is_known ? json_object_new_uint64(number.value) : NULL;
}

static struct json_object *text_object(const char *text)
{
	return text && text[0] ? json_object_new_string(text) : NULL;
}

/* Puts a value under a key; "a.b" is b in the object a, made at its first use. */
static void put_member(struct json_object *object, const char *key, struct json_object *value)
{
	for (const char *dot; (dot = strchr(key, '.')); key = dot + 1) {
		char *name = xalloc_text_of(key, (size_t)(dot - key));
		struct json_object *inner = NULL;
		if (!json_object_object_get_ex(object, name, &inner)) {
			inner = json_object_new_object();
			json_object_object_add(object, name, inner);
		}
		free(name);
		object = inner;
	}
	json_object_object_add(object, key, value);
}

static void put_events(struct json_object *object, const struct profile_reader *reader)
{
	struct json_object *events = json_object_new_object();
	for (uint32_t i = 1; i <= profile_reader_event_count(reader); i++)
		json_object_object_add(events, profile_reader_event_name(reader, i),
				       number_object(overview_event_count(reader, i)));
	json_object_object_add(object, "events", events);
}

static void put_skipped(struct json_object *object, const struct tally *tally, int reason)
{
	char *key = xalloc_printf("stacks.skipped.%s",
				  skip_reason_of((enum profile_skip_reason)reason)->key);
	put_member(object, key, json_object_new_uint64(tally->skipped[reason]));
	free(key);
}

static void put_stacks(struct json_object *object, const struct tally *tally)
{
	put_member(object, "stacks.complete",
		   json_object_new_uint64(tally->states[PROFILE_STACK_COMPLETE]));
	for (int i = 1; i < PROFILE_SKIP_REASON_COUNT; i++)
		put_skipped(object, tally, i);
	/* Reasons unknown to this version must not get lost. */
	if (tally->skipped[PROFILE_SKIP_NOT_SKIPPED] > 0)
		put_skipped(object, tally, PROFILE_SKIP_NOT_SKIPPED);
	put_member(object, "stacks.guessed",
		   json_object_new_uint64(tally->states[PROFILE_STACK_GUESSED]));
	put_member(object, "stacks.none",
		   json_object_new_uint64(tally->states[PROFILE_STACK_NONE]));
}

/* Keys are part of the stable output. */
static struct json_object *summary_object(const struct report_input *input,
					  const struct overview *overview,
					  const struct states_overview *states)
{
	const struct overview_number *notes = overview->notes;
	const struct tally *tally = &input->tally;
	const struct profile_host_info *host = &overview->host;
	struct overview_number cpus = {host->logical_cpus, host->logical_cpus > 0};
	const struct {
		const char *key;
		struct json_object *value;
	} members[] = {
		{"elapsed_s", seconds_object(notes[PROFILE_NOTE_ELAPSED])},
		{"cpu_time_s",
		 seconds_object((struct overview_number){overview->cpu_ns, !overview->is_counted})},
		{"paused_s", time_object(notes[PROFILE_NOTE_PAUSED].value)},
		{"interval_s", seconds_object(notes[PROFILE_NOTE_INTERVAL])},
		{"samples", json_object_new_uint64(tally->samples)},
		{"samples_lost", json_object_new_uint64(notes[PROFILE_NOTE_SAMPLES_LOST].value)},
		{"stacks", NULL}, /* put_stacks */
		{"threads", json_object_new_int64(profile_reader_thread_count(input->reader))},
		{"processes", json_object_new_int64(overview->processes)},
		{"modules", json_object_new_int64(overview->modules)},
		{"collector.cpu_s", seconds_object(notes[PROFILE_NOTE_COLLECTOR_CPU])},
		{"collector.peak_rss_bytes", number_object(notes[PROFILE_NOTE_COLLECTOR_RSS])},
		{"collector.file_bytes", number_object(overview->file_bytes)},
		{"collector.stack_copy_bytes", number_object(notes[PROFILE_NOTE_STACK_COPY])},
		{"target.command", text_object(overview->command)},
		{"target.pid", number_object(overview->target_pid)},
		{"target.exit_status", number_object(notes[PROFILE_NOTE_EXIT_STATUS])},
		{"host.name", text_object(host->name)},
		{"host.os", text_object(host->os)},
		{"host.cpu", text_object(host->cpu)},
		{"host.logical_cpus", number_object(cpus)},
		{"complete", json_object_new_boolean(overview->is_complete)},
		{"records_lost", json_object_new_uint64(notes[PROFILE_NOTE_RECORDS_LOST].value)},
		{"bytes_lost", json_object_new_uint64(notes[PROFILE_NOTE_BYTES_LOST].value)},
		{"out_of_order", json_object_new_uint64(notes[PROFILE_NOTE_OUT_OF_ORDER].value)},
		{"kernel_time.where", text_object(overview_kernel_key(overview))},
		{"kernel_time.in_no_function_s", time_object(tally->kernel_ns)},
		{"of_no_known_thread_s",
		 time_object(tally_threadless_ns(input->reader, &input->options->filter))},
		{"sampling.times", text_object(overview_sampling_key(overview))},
		{"sampling.tick_s", seconds_object(notes[PROFILE_NOTE_TICK])},
		{"sampling.seed", number_object(notes[PROFILE_NOTE_SEED])},
		{"in_no_sample_s", time_object(tally->rest_ns)},
		{"estimated_s", time_object(tally->estimated_ns)},
		{"custom_collector.command", text_object(overview->custom_collector)},
		{"custom_collector.failed_steps",
		 number_object(notes[PROFILE_NOTE_CUSTOM_COLLECTOR])},
		{"stolen_s", time_object(notes[PROFILE_NOTE_STOLEN].value)},
		{"event.name", text_object(overview->event)},
		{"event.count",
		 number_object((struct overview_number){overview->cpu_ns, overview->is_counted})},
	};
	struct json_object *object = json_object_new_object();
	for (size_t i = 0; i < sizeof(members) / sizeof(members[0]); i++) {
		if (strcmp(members[i].key, "stacks") == 0)
			put_stacks(object, tally);
		else
			put_member(object, members[i].key, members[i].value);
	}
	if (profile_reader_event_count(input->reader) > 0)
		put_events(object, input->reader);
	if (states->concurrency)
		put_member(object, "states", states_overview_object(states));
	if (notes[PROFILE_NOTE_WAITS].is_known) {
		put_member(object, "waits.lost",
			   json_object_new_uint64(notes[PROFILE_NOTE_WAITS_LOST].value));
		put_member(object, "waits.hidden_processes",
			   json_object_new_uint64(notes[PROFILE_NOTE_WAITS_HIDDEN].value));
	}
	return object;
}

static void print_csv_lines(const char *prefix, struct json_object *object, FILE *stream)
{
	json_object_object_foreach(object, key, value)
	{
		char name[96];
		snprintf(name, sizeof(name), "%s%s%s", prefix, prefix[0] ? "." : "", key);
		if (json_object_is_type(value, json_type_object)) {
			print_csv_lines(name, value, stream);
			continue;
		}
		fprintf(stream, "%s,", name);
		if (json_object_is_type(value, json_type_string))
			table_format_csv_field(json_object_get_string(value), stream);
		else if (value)
			fputs(json_object_get_string(value), stream);
		fputc('\n', stream);
	}
}

/* Sums the samples whose function the filter takes: the tally leaves conditions on functions out.
 * The sums lack all figures not known by stack. */
static void take_functions(const struct report_input *input, struct tally *sums)
{
	struct weighted_stacks at = report_stacks(input, true);
	*sums = (struct tally){.entries = input->tally.entries, .count = input->tally.count};
	while (weighted_stacks_next(&at)) {
		const struct tally_entry *entry = at.entry;
		sums->cpu_ns += entry->sum.cpu_ns;
		sums->samples += entry->sum.samples;
		draws_add(&sums->draws, &entry->sum.draws);
		if (entry->state <= PROFILE_STACK_NONE)
			sums->states[entry->state] += entry->sum.samples;
		if (entry->state == PROFILE_STACK_SKIPPED)
			sums->skipped[entry->reason < PROFILE_SKIP_REASON_COUNT
					      ? entry->reason
					      : PROFILE_SKIP_NOT_SKIPPED] += entry->sum.samples;
	}
}

static void print_as_data(const struct report_input *input, const struct overview *overview,
			  const struct states_overview *states, FILE *stream)
{
	struct json_object *object = summary_object(input, overview, states);
	if (input->options->format->id == TABLE_FORMAT_JSON) {
		fputs(json_object_to_json_string_ext(object,
						     JSON_C_TO_STRING_PRETTY |
							     JSON_C_TO_STRING_SPACED |
							     JSON_C_TO_STRING_NOSLASHESCAPE),
		      stream);
		fputc('\n', stream);
	} else {
		/* The same figures under the same names, "stacks.skipped.truncated". */
		fputs("Metric,Value\n", stream);
		print_csv_lines("", object, stream);
	}
	json_object_put(object);
}

TBRW_U32 report_summary_print(const struct report_input *all, FILE *stream, unsigned width)
{
	struct overview overview;
	struct states_overview states;
	struct report_input taken = *all;
	const struct report_input *input = &taken;
	if (filter_needs_function(&all->options->filter))
		take_functions(all, &taken.tally);
	overview_collect(input->reader, &input->tally, input->path, &overview);
	TBRW_U32 code = VT_SUCCESS;
	/* Numbers of events are no times to compare with. */
	if (overview.is_counted)
		states = (struct states_overview){0};
	else
		code = states_overview_collect(&states, input, overview.cpu_ns);
	if (code != VT_SUCCESS)
		return code;
	if (input->options->format->id == TABLE_FORMAT_TEXT)
		code = print_as_text(input, &overview, &states, stream, width);
	else
		print_as_data(input, &overview, &states, stream);
	states_overview_finish(&states);
	return code;
}
