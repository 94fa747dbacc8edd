#include "collector/recording/recording_notes.h"

#include "collector/result/emit.h"
#include <linux/perf_event.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define NS_PER_S UINT64_C(1000000000)

enum { LISTED_MAX = 5 /* events named in a line */ };

uint64_t recording_interval_ns(const struct recording_event *event)
{
	uint64_t interval_ns = event->period;
	if (event->is_frequency)
		interval_ns = event->period > 0 ? NS_PER_S / event->period : 0;
	return interval_ns > 0 ? interval_ns : 1;
}

/* A warning of the result. is_told: the user is told now, too. */
__attribute__((format(printf, 4, 5))) static void
warn(const struct recording_notes *notes, uint64_t time_ns, bool is_told, const char *format, ...)
{
	char text[512];
	struct recording_summary *summary = notes->summary;
	size_t used = strlen(summary->told);
	va_list args;
	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	emit_note(notes->emit, PROFILE_NOTE_WARNING, time_ns, .text = text);
	for (char *c = text; *c; c++)
		*c = *c == '\n' ? ' ' : *c;
	if (is_told)
		snprintf(summary->told + used, sizeof(summary->told) - used, "%s\n", text);
}

void recording_notes_begin(const struct recording_notes *notes, uint64_t start_ns)
{
	const struct recording_facts *facts = &notes->file->facts;
	struct emit *emit = notes->emit;
	char text[512];
	snprintf(text, sizeof(text), "%s %.200s, imported by tbconvert %s",
		 notes->file->symbols.has_specials ? "tbconvert" : "perf", facts->version,
		 notes->request->version);
	emit_note(emit, PROFILE_NOTE_COLLECTOR, start_ns, .text = text);
	emit_note(emit, PROFILE_NOTE_ANALYSIS, start_ns, .text = "hotspots");
	emit_note(emit, PROFILE_NOTE_COMMAND, start_ns, .text = facts->command);
	if (notes->is_traced) {
		emit_note(emit, PROFILE_NOTE_SAMPLING, start_ns, .value = PROFILE_SAMPLING_NONE);
	} else {
		emit_note(emit, PROFILE_NOTE_EVENT, start_ns, .text = notes->event->name,
			  .value = !notes->is_time);
		emit_note(emit, PROFILE_NOTE_INTERVAL, start_ns, .value = notes->interval_ns);
		emit_note(emit, PROFILE_NOTE_SAMPLING, start_ns, .value = PROFILE_SAMPLING_FIXED);
	}
	if (notes->has_states)
		emit_note(emit, PROFILE_NOTE_STATES, start_ns,
			  .value = PROFILE_STATES_SWITCHES |
				   (notes->wakes ? PROFILE_STATES_WAKES : 0u));
	if (notes->waits)
		emit_note(emit, PROFILE_NOTE_WAITS, start_ns, .value = notes->waits->period,
			  .tid = PROFILE_WAIT_BY_BPF);
	if (notes->event->stack_size > 0)
		emit_note(emit, PROFILE_NOTE_STACK_SIZE, start_ns,
			  .value = notes->event->stack_size);
	if (notes->has_kernel_time)
		emit_note(emit, PROFILE_NOTE_KERNEL_TIME, start_ns, .value = notes->kernel_time);
}

/* The other events of the recording: the user may have results of them. */
static void note_others(const struct recording_notes *notes, uint64_t start_ns)
{
	const struct recording_events *events = &notes->file->events;
	char list[384] = "";
	size_t used = 0, named = 0, others = 0;
	uint64_t samples = 0;
	for (size_t i = 0; i < events->count; i++) {
		const struct recording_event *event = &events->items[i];
		if (event == notes->event || event == notes->waits || event->samples == 0)
			continue;
		others++;
		samples += event->samples;
		if (named++ < LISTED_MAX && used < sizeof(list))
			used += (size_t)snprintf(list + used, sizeof(list) - used, "%s%.60s (%llu)",
						 named > 1 ? ", " : "", event->name,
						 (unsigned long long)event->samples);
	}
	if (others > 0)
		warn(notes, start_ns, false,
		     "the recording has %llu samples of other events: %s%s; each event has a "
		     "result of its own",
		     (unsigned long long)samples, list, others > LISTED_MAX ? ", ..." : "");
}

/* Records that say something no report shows yet. */
static void note_unused(const struct recording_notes *notes, const struct recording_feed *feed,
			const struct recording_lacks *lacks)
{
	uint64_t switches =
		feed->types[PERF_RECORD_SWITCH] + feed->types[PERF_RECORD_SWITCH_CPU_WIDE];
	uint64_t unknown = 0;
	for (unsigned i = RECORDING_CALLCHAIN_DEFERRED + 1; i < RECORDING_ATTR; i++)
		unknown += feed->types[i];
	for (unsigned i = RECORDING_KNOWN_END; i < RECORDING_TYPES_MAX; i++)
		unknown += feed->types[i];
	if (switches > 0 && !notes->has_states)
		warn(notes, feed->now_ns, false,
		     "%llu records of context switches were left out: they give the threads' times "
		     "beside samples of a clock only",
		     (unsigned long long)switches);
	if (lacks->traced + feed->cut_traces > 0)
		warn(notes, feed->now_ns, true,
		     "%llu bytes of processor traces (AUX) were left out: nothing here decodes "
		     "them; their recording lost parts %llu times",
		     (unsigned long long)lacks->traced, (unsigned long long)feed->cut_traces);
	uint64_t nameless = feed->nameless + feed->counts.unknown;
	if (nameless > 0)
		warn(notes, feed->now_ns, true,
		     "%llu counts in samples were left out: the recording does not say of which "
		     "events they are",
		     (unsigned long long)nameless);
	if (feed->undeferred + notes->file->deferred.left_out > 0)
		warn(notes, feed->now_ns, true,
		     "%llu of %llu samples lack the frames of user code that the kernel walks "
		     "later: their records are missing, or could not be read (%llu)",
		     (unsigned long long)feed->undeferred, (unsigned long long)feed->deferred,
		     (unsigned long long)notes->file->deferred.left_out);
	if (unknown > 0)
		warn(notes, feed->now_ns, true,
		     "%llu records of kinds not known here were left out",
		     (unsigned long long)unknown);
}

static void note_losses(const struct recording_notes *notes, const struct recording_feed *feed,
			const struct recording_lacks *lacks)
{
	struct emit *emit = notes->emit;
	uint64_t now = feed->now_ns;
	uint64_t lost = lacks->bytes + lacks->unpacked;
	/* The same losses, counted in two ways. */
	if (feed->lost_in_all > feed->lost)
		emit_note(emit, PROFILE_NOTE_SAMPLES_LOST, now,
			  .value = feed->lost_in_all - feed->lost);
	if (feed->damaged > 0)
		emit_note(emit, PROFILE_NOTE_RECORDS_LOST, now, .value = feed->damaged,
			  .text = "records of the file that could not be read");
	if (feed->too_large > 0)
		warn(notes, now, true,
		     "%llu samples were left out: their periods are too large to be summed",
		     (unsigned long long)feed->too_large);
	if (lost > 0) {
		emit_note(emit, PROFILE_NOTE_BYTES_LOST, now, .value = lost,
			  .text = "the file is damaged");
		warn(notes, now, true,
		     "%llu bytes of the file could not be read: it is damaged, or cut",
		     (unsigned long long)lost);
	}
	if (notes->file->is_cut)
		warn(notes, now, true,
		     "the file is cut, or its recording did not end: it lacks samples");
	if (feed->order.out_of_order > 0)
		emit_note(emit, PROFILE_NOTE_OUT_OF_ORDER, now, .value = feed->order.out_of_order);
	notes->summary->samples_lost =
		feed->lost_in_all > feed->lost ? feed->lost_in_all : feed->lost;
}

void recording_notes_end(const struct recording_notes *notes, const struct recording_feed *feed,
			 const struct recording_lacks *lacks, uint64_t start_ns)
{
	uint64_t now = feed->now_ns;
	note_others(notes, start_ns);
	note_unused(notes, feed, lacks);
	note_losses(notes, feed, lacks);
	if (notes->event->registers && !feed->has_unwindable)
		warn(notes, now, true,
		     "stacks were not unwound: the recording is of another machine (%s)",
		     notes->file->facts.arch);
	emit_note(notes->emit, PROFILE_NOTE_ELAPSED, now,
		  .value = now > start_ns ? now - start_ns : 0);
	notes->summary->samples = feed->samples;
	snprintf(notes->summary->event, sizeof(notes->summary->event), "%s", notes->event->name);
}
