#include "tools/page/page_facts.h"

#include "profile/read/reader.h"
#include "tools/collection/overview.h"
#include "tools/report/report.h"
#include <stdlib.h>

/* A number that the page may not know. */
static void write_known(struct json_writer *json, const char *name, struct overview_number number)
{
	if (number.is_known)
		json_write_number(json, name, number.value);
}

static void write_warning(const char *sentence, void *user)
{
	json_write_text(user, NULL, sentence);
}

static void write_host(struct json_writer *json, const struct overview *overview)
{
	json_write_text(json, "command", overview->command);
	json_write_text(json, "analysis", overview->analysis);
	json_write_text(json, "event", overview->event);
	json_write_text(json, "collector", overview->collector);
	json_write_text(json, "host", overview->host.name);
	json_write_text(json, "os", overview->host.os);
	json_write_text(json, "cpu", overview->host.cpu);
	json_write_number(json, "cpus", overview->host.logical_cpus);
	json_write_number(json, "start_real_ns", overview->start_real_ns);
	json_write_bool(json, "is_counted", overview->is_counted);
	json_write_bool(json, "is_finalized", overview->is_finalized);
}

static void write_times(struct json_writer *json, const struct report_input *input,
			const struct overview *overview)
{
	char *sampling = overview_sampling_words(overview);
	json_write_number(json, "cpu_ns",
			  overview->cpu_ns +
				  tally_threadless_ns(input->reader, &input->options->filter));
	json_write_number(json, "rest_ns", input->tally.rest_ns);
	json_write_number(json, "processes", overview->processes);
	json_write_number(json, "modules_mapped", overview->modules);
	json_write_number(json, "interval_ns", profile_reader_interval_ns(input->reader));
	json_write_number(json, "target", report_target(input));
	if (sampling)
		json_write_text(json, "sampling", sampling);
	free(sampling);
	write_known(json, "elapsed_ns", overview->notes[PROFILE_NOTE_ELAPSED]);
	write_known(json, "exit_status", overview->notes[PROFILE_NOTE_EXIT_STATUS]);
	write_known(json, "cost_ns", overview->notes[PROFILE_NOTE_COLLECTOR_CPU]);
	write_known(json, "cost_bytes", overview->notes[PROFILE_NOTE_COLLECTOR_RSS]);
	write_known(json, "file_bytes", overview->file_bytes);
	write_known(json, "lost", overview->notes[PROFILE_NOTE_SAMPLES_LOST]);
}

/* Samples by what became of their stacks. */
static void write_quality(struct json_writer *json, const struct report_input *input)
{
	const struct tally *tally = &input->tally;
	char *advice = report_advise(input);
	json_write_number(json, "samples", tally->samples);
	json_write_number(json, "complete", tally->states[PROFILE_STACK_COMPLETE]);
	json_write_number(json, "guessed", tally->states[PROFILE_STACK_GUESSED]);
	json_write_number(json, "skipped", tally->states[PROFILE_STACK_SKIPPED]);
	json_write_number(json, "without", tally->states[PROFILE_STACK_NONE]);
	json_write_number(json, "collapsed", tally->collapsed);
	if (advice)
		json_write_text(json, "advice", advice);
	free(advice);
}

void page_facts_write(const struct report_input *input, struct json_writer *json)
{
	struct overview overview;
	overview_collect(input->reader, &input->tally, input->path, &overview);
	json_open_object(json, "facts");
	write_host(json, &overview);
	write_times(json, input, &overview);
	write_quality(json, input);
	json_open_array(json, "warnings");
	overview_warn(&overview, input->reader, write_warning, json);
	json_close_array(json);
	json_close_object(json);
}

uint64_t page_facts_elapsed_ns(const struct report_input *input)
{
	struct overview overview;
	overview_collect(input->reader, &input->tally, "", &overview);
	return overview.notes[PROFILE_NOTE_ELAPSED].value;
}
