#include "collector/recording/recording.h"

#include "collector/host/host.h"
#include "collector/model/tracker.h"
#include "collector/perf/sampler.h"
#include "collector/recording/recording_notes.h"
#include "collector/result/emit.h"
#include "containers/compare.h"
#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

enum { CHECK_EACH = 4096 /* records between looks for failures */ };

/* Of a result without samples: nothing is this far apart. */
#define TRACED_INTERVAL_NS UINT64_C(10000000)

struct recording {
	const struct recording_request *request;
	struct recording_file file;
	struct recording_event *event;
	struct recording_event parts; /* what its samples have; no event of the file */
	struct recording_feed feed;
	struct recording_notes notes;
	struct sampler sampler; /* only what the tracker asks of one: its configuration */
	uint32_t cpu;           /* the only one of the sampler */
	struct emit *emit;
	struct tracker *tracker;
	struct analyzer *analyzer;
	struct profile_clock clock;
	struct recording_watch watch;
	bool is_second_reading;
	bool is_traced; /* the result is of the times that the scheduler's switches give */
};

/* Most samples first, then in the order of the file. */
static int compare_events(const void *a, const void *b)
{
	const struct recording_event *left = *(struct recording_event *const *)a;
	const struct recording_event *right = *(struct recording_event *const *)b;
	int order = compare_numbers(right->samples, left->samples);
	return order ? order : compare_numbers((uintptr_t)left, (uintptr_t)right);
}

/* The first one with samples that is such an event; NULL: there is none. */
static struct recording_event *find_event(const struct recording *recording,
					  bool is_such(const struct recording_event *))
{
	const struct recording_events *events = &recording->file.events;
	for (size_t i = 0; i < events->count; i++)
		if (events->items[i].samples > 0 && is_such(&events->items[i]))
			return &events->items[i];
	return NULL;
}

/* Waits are part of a clock's result. NULL: there are none, or no such result. */
static struct recording_event *find_waits(const struct recording *recording)
{
	bool has_clock = find_event(recording, recording_event_is_time) != NULL;
	return has_clock && recording->file.has_switches
		       ? find_event(recording, recording_event_is_waits)
		       : NULL;
}

/* The scheduler's switches, where they make a result of times: the threads' states, and CPU time
 * that no sample shows. NULL: there are none, or a clock has the times. */
static struct recording_event *find_traced(const struct recording *recording)
{
	return find_event(recording, recording_event_is_time)
		       ? NULL
		       : find_event(recording, recording_event_is_switches);
}

/* Before all others, whose order stays. */
static void put_first(struct recording_event **ranked, size_t count, struct recording_event *event)
{
	size_t at = 0;
	while (at < count && ranked[at] != event)
		at++;
	for (; at > 0 && at < count; at--)
		ranked[at] = ranked[at - 1];
	if (count > 0)
		ranked[0] = event;
}

/* All events with a result of their own by rank, for the caller to free; NULL: out of memory. */
static struct recording_event **rank_events(const struct recording *recording, size_t *count)
{
	const struct recording_events *events = &recording->file.events;
	const struct recording_event *waits = find_waits(recording);
	struct recording_event **ranked = calloc(events->count, sizeof(struct recording_event *));
	*count = 0;
	for (size_t i = 0; ranked && i < events->count; i++)
		if (&events->items[i] != waits)
			ranked[(*count)++] = &events->items[i];
	if (ranked)
		qsort(ranked, *count, sizeof(struct recording_event *), compare_events);
	if (ranked && find_traced(recording))
		put_first(ranked, *count, find_traced(recording));
	return ranked;
}

static int list_events(struct recording *recording, struct recording_event **ranked, size_t count)
{
	struct recording_summary *summary = recording->notes.summary;
	summary->events = calloc(count + 1, sizeof(*summary->events));
	for (size_t i = 0; summary->events && i < count && ranked[i]->samples > 0; i++) {
		summary->events[i] = strdup(ranked[i]->name);
		if (!summary->events[i])
			return -1;
		summary->event_count++;
	}
	return summary->events ? 0 : -1;
}

static int explain_event(const struct recording *recording, const struct recording_event *most,
			 struct failure *failure)
{
	const struct recording_request *request = recording->request;
	if (!recording->event)
		return failure_set(failure, FAILURE_EXIT_USAGE,
				   "--event %s: the recording has no such event; it has %s%s",
				   request->event, most->name,
				   recording->file.events.count > 1 ? " and others, see perf evlist"
								    : "");
	return failure_set(failure, FAILURE_EXIT,
			   "cannot import %s: it has no samples of the event %s; record anew",
			   request->name, recording->event->name);
}

static int choose_event(struct recording *recording, struct failure *failure)
{
	const struct recording_request *request = recording->request;
	const struct recording_events *events = &recording->file.events;
	size_t count;
	struct recording_event **ranked = rank_events(recording, &count);
	if (!ranked || list_events(recording, ranked, count) < 0) {
		free(ranked);
		return failure_set_error(failure, ENOMEM, "cannot import %s", request->name);
	}
	recording->event = request->event          ? recording_events_named(events, request->event)
			   : request->rank < count ? ranked[request->rank]
						   : ranked[0];
	recording->is_traced =
		!request->event && recording->event && recording->event == find_traced(recording);
	int result = recording->event && recording->event->samples > 0
			     ? 0
			     : explain_event(recording, ranked[0], failure);
	free(ranked);
	return result;
}

/* Times of the result are those of the recording; dates follow from one moment by both clocks, else
 * from the file's last change, after the last sample. */
static void set_clock(struct recording *recording)
{
	const struct recording_facts *facts = &recording->file.facts;
	uint64_t start_ns = facts->first_ns > 0 ? facts->first_ns : 1;
	uint64_t real_ns = recording->file.changed_ns - (facts->last_ns - facts->first_ns);
	if (facts->real_ns > 0)
		real_ns = facts->real_ns + (start_ns - facts->clock_ns);
	recording->clock = (struct profile_clock){.tsc = start_ns,
						  .raw_ns = start_ns,
						  .real_ns = real_ns,
						  .tsc_per_ns_q32 = UINT64_C(1) << 32};
}

static void emit_facts(struct recording *recording)
{
	const struct recording_facts *facts = &recording->file.facts;
	struct host *host = host_create_other(&(struct host_facts){.name = facts->host,
								   .release = facts->release,
								   .arch = facts->arch,
								   .cpu = facts->cpu,
								   .cpus = facts->cpus,
								   .memory_kb = facts->memory_kb});
	emit_other_host(recording->emit, host);
	host_destroy(host);
}

/* Whether registers of the recording are those of our unwinder. */
static bool is_same_machine(const struct recording_facts *facts)
{
	struct utsname names;
	return !facts->arch[0] || (uname(&names) == 0 && strcmp(names.machine, facts->arch) == 0);
}

/* What the event's samples have: those of a group's member are its leader's, whichever that is. */
static struct recording_event find_parts(const struct recording *recording)
{
	const struct recording_events *events = &recording->file.events;
	struct recording_event parts = *recording->event;
	for (size_t i = 0; parts.period == 0 && i < events->count; i++) {
		const struct recording_event *other = &events->items[i];
		parts.sample_type |= other->sample_type;
		parts.has_kernel |= other->has_kernel;
	}
	return parts;
}

static struct recording_event *find_wakes(const struct recording *recording)
{
	struct recording_event *waking = find_event(recording, recording_event_is_waking);
	return waking ? waking : find_event(recording, recording_event_is_wakeup);
}

static void configure(struct recording *recording)
{
	const struct recording_event *event = recording->event;
	const struct recording_symbols *symbols = &recording->file.symbols;
	bool is_ours = symbols->has_specials;
	recording->parts = find_parts(recording);
	bool has_frames = is_ours ? symbols->count > 0 : recording->parts.has_kernel;
	bool is_time = recording->is_traced || recording_event_is_time(event);
	bool has_switches = recording->file.has_switches;
	const struct recording_event *traced =
		is_time && !has_switches ? find_event(recording, recording_event_is_switches)
					 : NULL;
	uint64_t interval_ns =
		recording->is_traced ? TRACED_INTERVAL_NS : recording_interval_ns(event);
	recording->sampler.cpus = (struct cpus){.numbers = &recording->cpu, .count = 1};
	recording->sampler.config = (struct event_config){
		.sampling = {.kind = PROFILE_SAMPLING_FIXED,
			     .interval_ns = interval_ns,
			     .tick_ns = interval_ns},
		.kernel = has_frames,
		.has_kernel = has_frames,
		.no_samples = recording->is_traced,
		.switches = recording->is_traced,
	};
	recording->notes = (struct recording_notes){
		.request = recording->request,
		.file = &recording->file,
		.event = event,
		.summary = recording->notes.summary,
		.interval_ns = interval_ns,
		.has_states = is_time && (has_switches || traced),
		.is_time = is_time,
		.is_traced = recording->is_traced,
		.waits = is_time ? find_waits(recording) : NULL,
		.switches = traced,
		.wakes = traced ? find_wakes(recording) : NULL,
		.kernel_time = has_frames ? PROFILE_KERNEL_TIME_FRAMES : PROFILE_KERNEL_TIME_APART,
		.has_kernel_time = has_frames || is_ours,
	};
}

static bool has_stacks(const struct recording_event *event)
{
	uint64_t copies = PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER;
	return event->sample_type & PERF_SAMPLE_CALLCHAIN ||
	       (event->sample_type & copies) == copies;
}

static int begin(struct recording *recording, struct failure *failure)
{
	const struct recording_request *request = recording->request;
	set_clock(recording);
	if (emit_create(request->path, request->result, &recording->clock,
			recording->notes.interval_ns, NULL, &recording->emit, failure) < 0)
		return -1;
	const struct analysis_config config = {.switches = recording->notes.has_states,
					       .waits = recording->notes.waits != NULL,
					       .wait_source = PROFILE_WAIT_BY_BPF,
					       .kernel_time = recording->notes.kernel_time,
					       .unwind = has_stacks(&recording->parts),
					       .collapse = request->collapse};
	recording->notes.emit = recording->emit;
	recording->tracker = tracker_create_recorded(&recording->sampler, recording->emit,
						     recording->file.owner);
	if (recording->tracker)
		recording->analyzer = analyzer_create(&config, recording->tracker, recording->emit);
	if (!recording->analyzer)
		return failure_set_error(failure, ENOMEM, "cannot import %s", request->name);
	recording->feed.file = &recording->file;
	recording->feed.event = recording->is_traced ? NULL : recording->event;
	recording->feed.switches = recording->notes.switches;
	recording->feed.wakes = recording->notes.wakes;
	recording->feed.tracker = recording->tracker;
	recording->feed.waits = recording->notes.waits;
	recording->feed.analyzer = recording->analyzer;
	recording->feed.has_states = recording->notes.has_states;
	recording->feed.has_unwindable = is_same_machine(&recording->file.facts);
	emit_facts(recording);
	recording_notes_begin(&recording->notes, recording->clock.raw_ns);
	analyzer_begin(recording->analyzer, recording->clock.raw_ns);
	return 0;
}

static int feed_all(struct recording *recording, struct recording_lacks *lacks,
		    struct failure *failure)
{
	struct recording_stream *stream =
		recording_stream_create(recording->file.fd, recording->file.data_from,
					recording->file.data_to, &recording->watch);
	struct recording_record record;
	int result = stream ? 0 : -1;
	for (uint64_t i = 1; result == 0 && recording_stream_next(stream, &record); i++) {
		recording_feed_put(&recording->feed, &record);
		if (i % CHECK_EACH == 0)
			result = emit_failed(recording->emit, failure);
	}
	if (stream)
		*lacks = *recording_stream_lacks(stream);
	recording_stream_destroy(stream);
	if (result == 0)
		recording_feed_end(&recording->feed);
	if (result < 0 || recording->feed.is_out_of_memory)
		return failure_set_error(failure, ENOMEM, "cannot import %s",
					 recording->request->name);
	return 0;
}

static int finish(struct recording *recording, const struct recording_lacks *lacks,
		  struct failure *failure)
{
	struct profile_clock last = recording->clock;
	uint64_t elapsed_ns =
		recording->feed.now_ns > last.raw_ns ? recording->feed.now_ns - last.raw_ns : 0;
	last.raw_ns += elapsed_ns;
	last.tsc += elapsed_ns;
	last.real_ns += elapsed_ns;
	analyzer_finish(recording->analyzer, recording->feed.now_ns);
	recording_notes_end(&recording->notes, &recording->feed, lacks, recording->clock.raw_ns);
	struct emit *emit = recording->emit;
	recording->emit = NULL;
	return emit_finish(emit, analysis_at(0)->name, recording->file.facts.command, &last,
			   failure);
}

/* All is read twice: first to know the events, then for the chain. */
static void see_bytes(uint64_t left, void *user)
{
	const struct recording *recording = user;
	uint64_t size = recording->file.size;
	uint64_t done = (recording->is_second_reading ? 2 * size : size) - left;
	recording->request->see(done, 2 * size, recording->request->user);
}

static int run(struct recording *recording, struct failure *failure)
{
	struct recording_lacks lacks = {0};
	const struct recording_request *request = recording->request;
	recording->watch = (struct recording_watch){request->see ? see_bytes : NULL, recording};
	if (recording_file_open(&recording->file, request->fd, request->name, &recording->watch,
				failure) < 0 ||
	    choose_event(recording, failure) < 0)
		return -1;
	recording->is_second_reading = true;
	configure(recording);
	if (begin(recording, failure) < 0 || feed_all(recording, &lacks, failure) < 0)
		return -1;
	return finish(recording, &lacks, failure);
}

static void tear_down(struct recording *recording)
{
	recording_feed_finish(&recording->feed);
	tracker_destroy(recording->tracker);
	analyzer_destroy(recording->analyzer);
	emit_abandon(recording->emit);
	recording_file_finish(&recording->file);
}

int recording_import(const struct recording_request *request, struct recording_summary *summary,
		     struct failure *failure)
{
	*summary = (struct recording_summary){0};
	struct recording *recording = calloc(1, sizeof(*recording));
	if (!recording)
		return failure_set_error(failure, ENOMEM, "cannot import %s", request->name);
	recording->request = request;
	recording->notes.summary = summary;
	int result = run(recording, failure);
	struct recording_symbols *symbols = &recording->file.symbols;
	summary->symbols = symbols->items;
	summary->symbol_count = symbols->count;
	*symbols = (struct recording_symbols){0};
	tear_down(recording);
	free(recording);
	return result;
}

void recording_summary_finish(struct recording_summary *summary)
{
	for (size_t i = 0; i < summary->symbol_count; i++)
		free(summary->symbols[i].name);
	free(summary->symbols);
	for (size_t i = 0; i < summary->event_count; i++)
		free(summary->events[i]);
	free(summary->events);
	*summary = (struct recording_summary){0};
}
