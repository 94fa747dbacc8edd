/* The events of a thread stand together: readers sort by time. */
#include "tools/chrome/export_chrome.h"

#include "tools/chrome/chrome_events.h"
#include "tools/chrome/chrome_external.h"
#include "tools/chrome/chrome_samples.h"
#include "tools/chrome/chrome_states.h"
#include "tools/collection/overview.h"
#include "tools/json/json_writer.h"
#include "tools/memory/xalloc.h"
#include "tools/timelines/timelines.h"
#include <inttypes.h>
#include <stdlib.h>

struct exporting {
	const struct timelines *timelines;
	struct json_writer json;
	struct chrome_samples samples;
	struct chrome_states states;
};

/* A time when the thread ran: samples without an interval's gap between them. */
struct run {
	uint64_t start_ns;
	uint64_t end_ns;
	uint64_t cpu_ns; /* 0: no run */
};

/* Numbers that were used again are not those of the system: the name says the right one. */
static void write_number_name(struct json_writer *json, const char *event,
			      const struct chrome_thread *thread, const char *name,
			      const char *what, uint32_t number, uint32_t earlier)
{
	char *again =
		earlier > 0 ? xalloc_printf("%s (%s %" PRIu32 " again)", name, what, number) : NULL;
	chrome_write_name(json, event, thread, again ? again : name);
	free(again);
}

static void write_names(struct exporting *exporting, const struct timeline *timeline,
			const struct chrome_thread *thread)
{
	struct json_writer *json = &exporting->json;
	struct stack_owner owner = timelines_owner(exporting->timelines, timeline);
	write_number_name(json, "process_name", thread, owner.process, "PID", owner.pid,
			  timeline->earlier_processes);
	write_number_name(json, "thread_name", thread, owner.thread, "TID", owner.tid,
			  timeline->earlier_threads);
}

/* cpu_ns: used before, by the thread. */
static void write_slice(struct json_writer *json, const char *name,
			const struct chrome_thread *thread, const struct run *run, uint64_t cpu_ns)
{
	chrome_open_event(json, "X", name, thread);
	json_write_text(json, "cat", "state");
	chrome_write_us(json, "ts", run->start_ns);
	chrome_write_us(json, "dur", run->end_ns - run->start_ns);
	chrome_write_us(json, "tts", cpu_ns);
	chrome_write_us(json, "tdur", run->cpu_ns);
	json_close_object(json);
}

static void write_run(struct json_writer *json, const struct chrome_thread *thread, struct run *run,
		      uint64_t *cpu_ns)
{
	if (run->cpu_ns > 0)
		write_slice(json, "Running", thread, run, *cpu_ns);
	*cpu_ns += run->cpu_ns;
	run->cpu_ns = 0;
}

/* Where the CPU time of a sample began, if the thread did nothing else. */
static struct run run_of(const struct timeline_piece *piece, uint64_t before_ns)
{
	uint64_t start_ns = piece->time_ns > piece->cpu_ns ? piece->time_ns - piece->cpu_ns : 0;
	if (start_ns < before_ns)
		start_ns = before_ns;
	return (struct run){start_ns, piece->time_ns, piece->cpu_ns};
}

/* Time in no sample is a slice without a length at its end. */
static void write_states(struct exporting *exporting, uint32_t index,
			 const struct chrome_thread *thread)
{
	const struct timelines *timelines = exporting->timelines;
	struct json_writer *json = &exporting->json;
	uint64_t interval_ns = profile_reader_interval_ns(timelines->stacks->reader);
	uint64_t cpu_ns = 0;
	struct run run = {0};
	struct timeline_piece piece;
	timelines_rewind(timelines, index);
	while (timelines_next(timelines, &piece)) {
		bool has_sample = piece.state < TIMELINE_NO_SAMPLE;
		struct run next = run_of(&piece, has_sample ? run.end_ns : piece.time_ns);
		if (has_sample && run.cpu_ns > 0 && next.start_ns - run.end_ns < interval_ns) {
			run.end_ns = next.end_ns;
			run.cpu_ns += next.cpu_ns;
			continue;
		}
		write_run(json, thread, &run, &cpu_ns);
		if (has_sample) {
			run = next;
			continue;
		}
		write_slice(json,
			    piece.state == TIMELINE_NO_SAMPLE ? TALLY_NO_SAMPLE : TALLY_NO_THREAD,
			    thread, &next, cpu_ns);
		cpu_ns += piece.cpu_ns;
	}
	write_run(json, thread, &run, &cpu_ns);
}

static void write_thread(struct exporting *exporting, uint32_t index)
{
	const struct timeline *timeline = &exporting->timelines->timelines[index];
	const struct chrome_thread thread = chrome_thread_of(timeline);
	write_names(exporting, timeline, &thread);
	if (lives_has(exporting->states.lives, timeline->thread))
		chrome_states_write(&exporting->states, timeline->thread, &thread);
	else
		write_states(exporting, index, &thread);
	chrome_samples_write(&exporting->samples, exporting->timelines, index, &thread,
			     &exporting->json);
}

static void write_warning(const char *sentence, void *user)
{
	json_write_text(user, NULL, sentence);
}

/* chrome://tracing shows it, and so does Perfetto, where a member is a text or a number. */
static void write_metadata(struct exporting *exporting)
{
	struct json_writer *json = &exporting->json;
	const struct weighted_stacks *stacks = exporting->timelines->stacks;
	struct overview overview;
	overview_collect(stacks->reader, stacks->tally, "", &overview);
	json_open_object(json, "metadata");
	json_write_text(json, "exporter", "tbcollect " TBCOLLECT_VERSION);
	json_write_text(json, "collector", overview.collector);
	json_write_text(json, "command_line", overview.command);
	json_write_text(json, "host", overview.host.name);
	json_write_text(json, "os", overview.host.os);
	json_write_text(json, "cpu", overview.host.cpu);
	json_write_number(json, "logical_cpus", overview.host.logical_cpus);
	json_write_number(json, "interval_ns", profile_reader_interval_ns(stacks->reader));
	json_write_number(json, "start_realtime_ns", overview.start_real_ns);
	json_open_array(json, "warnings");
	overview_warn(&overview, stacks->reader, write_warning, json);
	json_close_array(json);
	json_close_object(json);
}

static TBRW_U32 write_file(struct exporting *exporting)
{
	struct json_writer *json = &exporting->json;
	const struct timelines *timelines = exporting->timelines;
	uint32_t count = index_map_count(&timelines->map);
	json_open_object(json, NULL);
	json_write_text(json, "displayTimeUnit", "ms");
	json_open_array(json, "traceEvents");
	for (uint32_t i = 0; i < count; i++) {
		if (!timelines->timelines[i].is_threadless || timelines->timelines[i].cpu_ns > 0)
			write_thread(exporting, i);
	}
	TBRW_U32 code = chrome_utilization_write(timelines, json);
	if (code == VT_SUCCESS)
		code = chrome_external_write(timelines->stacks, json);
	json_close_array(json);
	write_metadata(exporting);
	json_close_object(json);
	putc('\n', json->stream);
	return code;
}

TBRW_U32 export_chrome_write(struct weighted_stacks *stacks, const struct export_options *options,
			     FILE *stream)
{
	(void)options; /* threads are always apart */
	struct timelines timelines;
	struct exporting exporting = {.timelines = &timelines,
				      .json = {.stream = stream},
				      .states = {.timelines = &timelines},
				      .samples = {.tree = {.reader = stacks->reader,
							   .functions = stacks->functions,
							   .mode = stacks->mode}}};
	TBRW_U32 code = timelines_collect(&timelines, stacks, TIMELINE_BY_SAMPLE);
	exporting.states.json = &exporting.json;
	if (code == VT_SUCCESS)
		code = lives_create(&exporting.states.lives, stacks->reader, stacks->functions,
				    stacks->filter);
	if (code == VT_SUCCESS)
		code = write_file(&exporting);
	lives_destroy(exporting.states.lives);
	chrome_states_finish(&exporting.states);
	timelines_finish(&timelines);
	chrome_samples_finish(&exporting.samples);
	return code;
}
