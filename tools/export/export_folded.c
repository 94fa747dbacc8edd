#include "tools/export/export.h"
#include "tools/functions/filter.h"
#include "tools/functions/functions.h"
#include "tools/memory/index_map.h"
#include "tools/memory/xalloc.h"
#include "tools/samples/tally.h"
#include "tools/stacks/call_path.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Different addresses of a function make one stack here: lines with equal texts are added up. */
struct line {
	char *text;
	uint64_t samples;
};

struct lines {
	struct line *lines;
	struct index_map map;
	char *text; /* the line being made */
	size_t length;
	size_t text_capacity;
};

static void append(struct lines *lines, const char *text)
{
	size_t length = strlen(text);
	xalloc_room(&lines->text, &lines->text_capacity, lines->length + length + 1, 1);
	memcpy(lines->text + lines->length, text, length + 1);
	lines->length += length;
}

/* ';' and line ends belong to the format: names must not have them. */
static void append_name(struct lines *lines, const char *name)
{
	if (lines->length > 0)
		append(lines, ";");
	size_t start = lines->length;
	append(lines, name);
	for (char *at = lines->text + start; *at; at++) {
		if (*at == ';')
			*at = ':';
		else if ((unsigned char)*at < 0x20 || *at == 0x7f)
			*at = '?';
	}
}

static bool is_line(const void *item, const void *wanted)
{
	return strcmp(((const struct line *)item)->text, ((const struct line *)wanted)->text) == 0;
}

static void add_line(struct lines *lines, uint64_t samples)
{
	struct index_map *map = &lines->map;
	const struct line wanted = {.text = lines->text};
	uint32_t index = index_map_enter(map, &lines->lines, &wanted, sizeof(wanted),
					 index_map_hash(map, lines->text, lines->length), is_line);
	struct line *line = &lines->lines[index];
	if (line->text == lines->text)
		line->text = xalloc_text_of(lines->text, lines->length);
	line->samples += samples;
}

static int compare_lines(const void *a, const void *b)
{
	const struct line *left = a;
	const struct line *right = b;
	return strcmp(left->text, right->text);
}

static void append_owner(struct lines *lines, const struct profile_reader *reader,
			 const struct tally_entry *entry, bool with_threads)
{
	const char *process = tally_process_name(reader, entry->process);
	const char *thread = tally_thread_name(reader, entry->thread);
	append_name(lines, process[0] ? process : "[Unknown]");
	if (with_threads) {
		char tid[16];
		append_name(lines, thread[0] ? thread : "[Unknown]");
		snprintf(tid, sizeof(tid), "-%" PRIu32, entry->tid);
		append(lines, tid);
	}
}

/* Counts are samples. If kernel mode was not sampled, each interval of kernel time counts as one
 * sample: shares of counts stay shares of time. */
static uint64_t count_of(const struct tally_entry *entry, uint64_t interval_ns)
{
	if (entry->node != TALLY_KERNEL || entry->sum.samples > 0 || interval_ns == 0)
		return entry->sum.samples;
	return (entry->sum.cpu_ns + interval_ns / 2) / interval_ns;
}

static void collect(const struct profile_reader *reader, const struct functions *functions,
		    const struct tally *tally, bool with_threads, struct lines *lines)
{
	struct call_path call_path = {0};
	uint64_t interval_ns = profile_reader_interval_ns(reader);
	for (size_t i = 0; i < tally->count; i++) {
		const struct tally_entry *entry = &tally->entries[i];
		uint64_t count = count_of(entry, interval_ns);
		if (count == 0)
			continue;
		lines->length = 0;
		append_owner(lines, reader, entry, with_threads);
		call_path_of_stack(&call_path, reader, functions, entry->node, entry->state,
				   CALL_PATH_ALL);
		for (size_t j = 0; j < call_path.count; j++)
			append_name(lines, functions_at(functions, call_path.functions[j])->name);
		add_line(lines, count);
	}
	call_path_finish(&call_path);
	if (index_map_count(&lines->map) > 1)
		qsort(lines->lines, index_map_count(&lines->map), sizeof(*lines->lines),
		      compare_lines);
}

TBRW_U32 export_folded_write(struct profile_reader *reader, const struct export_options *options,
			     FILE *stream)
{
	struct lines lines = {0};
	struct tally tally;
	struct filter everything = {0};
	TBRW_U32 code =
		tally_collect(reader, &everything,
			      options->with_threads ? TALLY_BY_THREAD : TALLY_BY_PROCESS, &tally);
	if (code != VT_SUCCESS)
		return code;
	struct functions *functions = functions_create(reader, true);
	collect(reader, functions, &tally, options->with_threads, &lines);
	for (size_t i = 0; i < index_map_count(&lines.map); i++) {
		fprintf(stream, "%s %" PRIu64 "\n", lines.lines[i].text, lines.lines[i].samples);
		free(lines.lines[i].text);
	}
	free(lines.lines);
	free(lines.text);
	index_map_finish(&lines.map);
	functions_destroy(functions);
	tally_finish(&tally);
	return VT_SUCCESS;
}
