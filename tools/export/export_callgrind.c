/* Callgrind's format, version 1, https://valgrind.org/docs/manual/cl-format.html: the costs of
 * lines, and of calls between functions. */
#include "profile/read/reader.h"
#include "tools/export/call_costs.h"
#include "tools/export/export.h"
#include "tools/export/labels.h"
#include "tools/memory/xalloc.h"
#include "tools/samples/tally.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define EVENT_COUNT 4u

/* A text is written once, with a number, and then by its number. */
struct name {
	const char *text; /* borrowed */
	bool is_written;
};

struct names {
	struct name *names;
	struct index_map map;
};

/* What a cost is of: a column of the file. */
struct event {
	const char *name;
	const char *title;
	enum export_weight weight;
	size_t offset; /* in struct call_cost_sum */
};

struct callgrind {
	FILE *stream;
	const struct call_costs *costs;
	const struct event *events; /* in the order of columns */
	size_t event_count;
	struct names modules;
	struct names files;
	bool *is_named; /* by function: two may have one name */
};

static bool is_name(const void *item, const void *wanted)
{
	return strcmp(((const struct name *)item)->text, ((const struct name *)wanted)->text) == 0;
}

/* Names end with their line: control characters become question marks. */
static void write_text(FILE *stream, const char *text)
{
	for (; *text; text++) {
		bool is_control = (unsigned char)*text < 0x20 || *text == 0x7f;
		putc_unlocked(is_control ? '?' : *text, stream);
	}
}

/* text: NULL if written before. Spaces at its start would be lost. */
static void write_numbered(FILE *stream, const char *key, uint32_t number, const char *text)
{
	fprintf(stream, "%s=(%" PRIu32 ")", key, number + 1);
	if (text) {
		text += strspn(text, " ");
		putc_unlocked(' ', stream);
		write_text(stream, text[0] ? text : "???");
	}
	putc_unlocked('\n', stream);
}

static void write_name(FILE *stream, struct names *names, const char *key, const char *text)
{
	const struct name wanted = {.text = text};
	uint32_t index = index_map_enter(&names->map, &names->names, &wanted, sizeof(wanted),
					 index_map_hash_text(&names->map, text), is_name);
	struct name *name = &names->names[index];
	write_numbered(stream, key, index, name->is_written ? NULL : text);
	name->is_written = true;
}

static void write_place(struct callgrind *callgrind, bool is_callee, uint32_t index)
{
	struct call_place place = call_costs_place(callgrind->costs, index);
	FILE *stream = callgrind->stream;
	write_name(stream, &callgrind->modules, is_callee ? "cob" : "ob", place.module);
	write_name(stream, &callgrind->files, is_callee ? "cfl" : "fl", place.file);
	write_numbered(stream, is_callee ? "cfn" : "fn", index,
		       callgrind->is_named[index] ? NULL : place.function);
	callgrind->is_named[index] = true;
}

/* Samples are the only count of calls. A count of 0 would make the next line one of own time. */
static uint64_t value_of(const struct call_cost_sum *sum, const struct event *event)
{
	uint64_t value;
	memcpy(&value, (const char *)sum + event->offset, sizeof(value));
	return value;
}

static void write_values(const struct callgrind *callgrind, const struct call_cost_sum *sum)
{
	for (size_t i = 0; i < callgrind->event_count; i++)
		fprintf(callgrind->stream, " %" PRIu64, value_of(sum, &callgrind->events[i]));
	putc_unlocked('\n', callgrind->stream);
}

static void write_cost(struct callgrind *callgrind, const struct call_cost *cost)
{
	FILE *stream = callgrind->stream;
	if (cost->callee != CALL_COST_OWN) {
		write_place(callgrind, true, cost->callee);
		fprintf(stream, "calls=%" PRIu64 " 0\n",
			cost->sum.samples > 0 ? cost->sum.samples : 1);
	}
	fprintf(stream, "%" PRIu32, cost->line);
	write_values(callgrind, &cost->sum);
}

static void write_header(const struct callgrind *callgrind)
{
	FILE *stream = callgrind->stream;
	const struct profile_reader *reader = callgrind->costs->stacks->reader;
	const struct profile_note *command = label_command(reader);
	fputs("# callgrind format\nversion: 1\ncreator: tbconvert " TBCOLLECT_VERSION "\n", stream);
	if (command) {
		fprintf(stream, "pid: %" PRIu32 "\ncmd: ", command->pid);
		write_text(stream, profile_reader_text(reader, command->text));
		putc('\n', stream);
	}
	fputs("part: 1\npositions: line\n", stream);
	for (size_t i = 0; i < callgrind->event_count; i++) {
		fprintf(stream, "event: %s : ", callgrind->events[i].name);
		write_text(stream, callgrind->events[i].title);
		putc('\n', stream);
	}
	fputs("events:", stream);
	for (size_t i = 0; i < callgrind->event_count; i++)
		fprintf(stream, " %s", callgrind->events[i].name);
	putc('\n', stream);
}

static void write_costs(struct callgrind *callgrind)
{
	struct call_cost_sum totals = {0};
	for (uint32_t i = 0; i < index_map_count(&callgrind->costs->map); i++) {
		const struct call_cost *cost = &callgrind->costs->costs[i];
		if (i == 0 || cost->function != cost[-1].function) {
			putc('\n', callgrind->stream);
			write_place(callgrind, false, cost->function);
		}
		write_cost(callgrind, cost);
		if (cost->callee == CALL_COST_OWN)
			call_cost_add(&totals, &cost->sum);
	}
	fputs("\ntotals:", callgrind->stream);
	write_values(callgrind, &totals);
}

/* Programs show the first event first. Returns how many there are. */
static size_t choose_events(const struct call_costs *costs, enum export_weight weight,
			    struct event events[EVENT_COUNT])
{
	const char *counted = profile_reader_counted_event(costs->stacks->reader);
	const struct event all[EVENT_COUNT] = {
		{counted ? "Count" : "CPU_ns", counted ? counted : "CPU time in ns",
		 EXPORT_WEIGHT_CPU, offsetof(struct call_cost_sum, cpu_ns)},
		{"Samples", "Samples", EXPORT_WEIGHT_SAMPLES,
		 offsetof(struct call_cost_sum, samples)},
		{"Wait_ns", "Time of waits in ns", EXPORT_WEIGHT_WAIT,
		 offsetof(struct call_cost_sum, wait_ns)},
		{"Wall_ns", "All time of threads in ns", EXPORT_WEIGHT_WALL,
		 offsetof(struct call_cost_sum, wall_ns)},
	};
	size_t count = costs->stacks->tally->times ? EVENT_COUNT : 2;
	size_t first = 0;
	for (size_t i = 0; i < count; i++)
		first = all[i].weight == weight ? i : first;
	events[0] = all[first];
	for (size_t i = 0; i < count; i++) {
		if (i != first)
			events[i < first ? i + 1 : i] = all[i];
	}
	return count;
}

static void write_file(const struct call_costs *costs, enum export_weight weight, FILE *stream)
{
	struct event events[EVENT_COUNT];
	struct callgrind callgrind = {.stream = stream, .costs = costs, .events = events};
	callgrind.event_count = choose_events(costs, weight, events);
	callgrind.is_named =
		xalloc_zeroed(call_costs_function_count(costs), sizeof(*callgrind.is_named));
	write_header(&callgrind);
	write_costs(&callgrind);
	free(callgrind.is_named);
	free(callgrind.modules.names);
	free(callgrind.files.names);
	index_map_finish(&callgrind.modules.map);
	index_map_finish(&callgrind.files.map);
}

TBRW_U32 export_callgrind_write(struct weighted_stacks *stacks,
				const struct export_options *options, FILE *stream)
{
	struct call_costs costs;
	call_costs_collect(&costs, stacks, options->with_threads);
	write_file(&costs, options->weight, stream);
	call_costs_finish(&costs);
	return VT_SUCCESS;
}
