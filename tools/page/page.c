#include "tools/page/page.h"

#include "profile/read/reader.h"
#include "profile/read/states.h"
#include "tools/code/hot_source.h"
#include "tools/json/json_writer.h"
#include "tools/lives/lives.h"
#include "tools/memory/xalloc.h"
#include "tools/page/page_cells.h"
#include "tools/page/page_columns.h"
#include "tools/page/page_facts.h"
#include "tools/page/page_file.h"
#include "tools/page/page_lives.h"
#include "tools/page/page_nodes.h"
#include "tools/page/page_template.h"
#include "tools/page/page_time.h"
#include "tools/report/report.h"
#include "tools/timelines/timelines.h"
#include <stdlib.h>

struct page {
	const struct report_input *input;
	struct page_time time;
	struct timelines timelines;
	uint32_t *order;            /* of the timelines, as the page has them */
	uint32_t *numbers;          /* by thread of the reader: its place there and 1; 0: none */
	struct page_life *lives_of; /* by place */
	struct page_nodes nodes;
	struct page_lives lives;
	struct page_columns columns;
	uint64_t sample_count; /* of a thread's entries */
};

bool page_is_built(void)
{
	return page_template_get().before != NULL;
}

static void enter_stacks(struct page *page)
{
	struct timeline_piece piece;
	for (uint32_t i = 0; i < index_map_count(&page->timelines.map); i++) {
		timelines_rewind(&page->timelines, page->order[i]);
		while (timelines_next(&page->timelines, &piece))
			stack_tree_enter(&page->nodes.tree, &piece);
	}
}

static void add_lives(struct page *page)
{
	for (uint32_t i = 0; i < index_map_count(&page->timelines.map); i++) {
		uint32_t thread = page->timelines.timelines[page->order[i]].thread;
		if (thread != PROFILE_NONE && page->numbers[thread] == 0)
			page->numbers[thread] = i + 1;
		page->lives_of[i] = page_lives_add(&page->lives, thread);
	}
}

static void take_samples(uint32_t cell, const struct page_sum *sum, void *user)
{
	struct page *page = user;
	page->sample_count++;
	page_columns_add_difference(&page->columns, PAGE_SAMPLE_CELL, cell);
	page_columns_add_difference(&page->columns, PAGE_SAMPLE_NODE, sum->kind);
	page_columns_add(&page->columns, PAGE_SAMPLE_NS, sum->ns);
}

/* Time without a moment stands behind the last cell. */
static uint64_t add_samples(struct page *page, uint32_t timeline)
{
	struct page_cells cells = {.take = take_samples, .user = page};
	struct timeline_piece piece;
	page->sample_count = 0;
	timelines_rewind(&page->timelines, timeline);
	while (timelines_next(&page->timelines, &piece)) {
		uint32_t step = stack_tree_enter(&page->nodes.tree, &piece);
		uint32_t cell = piece.state >= TIMELINE_NO_SAMPLE
					? page->time.cells
					: page_time_cell(&page->time, piece.time_ns);
		page_cells_add(&cells, cell, page->nodes.of_steps[step], piece.cpu_ns);
	}
	page_cells_flush(&cells);
	page_cells_finish(&cells);
	return page->sample_count;
}

static void write_life(const struct page_life *life, struct json_writer *json)
{
	if (!life->is_known)
		return;
	json_write_number(json, "runs", life->runs);
	json_write_number(json, "waits", life->waits);
	json_open_array(json, "state_ns");
	for (size_t i = 0; i <= PROFILE_STATE_STOPPED; i++)
		json_write_number(json, NULL, life->state_ns[i]);
	json_close_array(json);
}

static void write_thread(struct page *page, uint32_t place, struct json_writer *json)
{
	const struct timeline *timeline = &page->timelines.timelines[page->order[place]];
	struct stack_owner owner = timelines_owner(&page->timelines, timeline);
	json_open_object(json, NULL);
	json_write_text(json, "name", owner.thread);
	json_write_number(json, "tid", owner.tid);
	json_write_text(json, "process", owner.process);
	json_write_number(json, "pid", owner.pid);
	json_write_number(json, "start_ns", timeline->start_ns);
	if (timeline->end_ns != TIMELINE_UNKNOWN)
		json_write_number(json, "end_ns", timeline->end_ns);
	json_write_number(json, "cpu_ns", timeline->cpu_ns);
	json_write_number(json, "samples", add_samples(page, page->order[place]));
	write_life(&page->lives_of[place], json);
	json_close_object(json);
}

static void write_source(const struct hot_source *source, void *user)
{
	struct json_writer *json = user;
	json_open_object(json, NULL);
	json_write_text(json, "file", source->file);
	json_write_number(json, "first", source->first);
	json_write_text(json, "text", source->text);
	json_write_bool(json, "is_changed", source->is_changed);
	json_close_object(json);
}

/* Members of the data's object; the columns grow meanwhile. */
static void write_members(struct json_writer *json, void *user)
{
	struct page *page = user;
	page_facts_write(page->input, json);
	json_open_object(json, "time");
	json_write_number(json, "cell_ns", page->time.cell_ns);
	json_write_number(json, "cells", page->time.cells);
	json_close_object(json);
	page_nodes_merge(&page->nodes, &page->columns, json);
	page_lives_write(&page->lives, page->numbers, json);
	json_open_array(json, "threads");
	for (uint32_t i = 0; i < index_map_count(&page->timelines.map); i++)
		write_thread(page, i, json);
	json_close_array(json);
	json_open_array(json, "sources");
	hot_source_each(page->input, write_source, json);
	json_close_array(json);
}

static TBRW_U32 add_all(struct page *page)
{
	const struct report_input *input = page->input;
	uint32_t count = index_map_count(&page->timelines.map);
	TBRW_U32 code = lives_create(&page->lives.lives, input->reader, input->functions,
				     &input->options->filter);
	if (code != VT_SUCCESS)
		return code;
	page->order = timelines_order(&page->timelines);
	page->lives_of = xalloc_zeroed(count, sizeof(*page->lives_of));
	page->numbers =
		xalloc_zeroed(profile_reader_thread_count(input->reader), sizeof(*page->numbers));
	enter_stacks(page);
	add_lives(page);
	return profile_reader_states(input->reader) == 0
		       ? VT_SUCCESS
		       : page_lives_add_levels(input->reader, &page->time, &page->columns);
}

static void finish_page(struct page *page)
{
	page_lives_finish(&page->lives);
	lives_destroy(page->lives.lives);
	page_nodes_finish(&page->nodes);
	page_columns_finish(&page->columns);
	timelines_finish(&page->timelines);
	free(page->order);
	free(page->numbers);
	free(page->lives_of);
}

TBRW_U32 page_write(const struct report_input *input, FILE *stream)
{
	struct weighted_stacks stacks = report_stacks(input, true);
	bool has_time = profile_reader_clock_count(input->reader) > 0;
	struct page page = {
		.input = input,
		.time = page_time_of(has_time ? page_facts_elapsed_ns(input) : 0),
		.nodes.tree = {.reader = input->reader,
			       .functions = input->functions,
			       .mode = input->options->mode,
			       .by_frame = true},
	};
	page.lives = (struct page_lives){.time = &page.time,
					 .columns = &page.columns,
					 .nodes = &page.nodes};
	TBRW_U32 code = timelines_collect(&page.timelines, &stacks, TIMELINE_BY_SAMPLE);
	if (code == VT_SUCCESS)
		code = add_all(&page);
	if (code == VT_SUCCESS)
		page_file_write(&page.columns, write_members, &page, stream);
	finish_page(&page);
	return code;
}
