#include "tools/page/page_lives.h"

#include "profile/read/reader.h"
#include "tools/lives/lives.h"
#include "tools/memory/xalloc.h"
#include "tools/states/concurrency.h"
#include "tools/timelines/timelines.h"
#include <stdlib.h>
#include <string.h>

#define STATES     (PROFILE_STATE_STOPPED + 1)
#define SHARE_BITS 5
#define SHARE_MAX  31u

/* What waits have in common. */
struct page_wait_class {
	uint32_t item;
	uint32_t step_and_1; /* of the stack; 0: not known */
	uint32_t waker;      /* thread of the reader; PROFILE_NONE: not known */
	uint32_t waking_and_1;
};

static bool is_class(const void *item, const void *wanted)
{
	const struct page_wait_class *class = item;
	const struct page_wait_class *other = wanted;
	return class->item == other->item && class->step_and_1 == other->step_and_1 &&
	       class->waker == other->waker && class->waking_and_1 == other->waking_and_1;
}

static uint32_t enter_stack(struct page_lives *lives, uint32_t node, uint32_t state)
{
	const struct timeline_piece piece = {.node = node, .state = state};
	return node == 0 ? 0 : stack_tree_enter(&lives->nodes->tree, &piece) + 1;
}

/* A name is of one type. */
static uint32_t enter_item(struct page_lives *lives, const struct life_wait *wait)
{
	char *item = xalloc_printf("%s\n%s", lives_wait_type(lives->lives, wait),
				   lives_wait_name(lives->lives, wait));
	uint32_t number = index_texts_enter(&lives->items, item);
	free(item);
	return number;
}

static uint32_t enter_class(struct page_lives *lives, const struct life_wait *wait)
{
	const struct page_wait_class class = {enter_item(lives, wait),
					      enter_stack(lives, wait->node, wait->state),
					      wait->waker_thread,
					      enter_stack(lives, wait->waker_node,
							  wait->waker_state)};
	return index_map_enter(&lives->class_map, &lives->classes, &class, sizeof(class),
			       index_map_hash(&lives->class_map, &class, sizeof(class)), is_class);
}

static void take_wait(uint32_t cell, const struct page_sum *sum, void *user)
{
	struct page_lives *lives = user;
	lives->wait_count++;
	page_columns_add_difference(lives->columns, PAGE_WAIT_CELL, cell);
	page_columns_add(lives->columns, PAGE_WAIT_CLASS, sum->kind);
	page_columns_add(lives->columns, PAGE_WAIT_COUNT, sum->count);
	page_columns_add(lives->columns, PAGE_WAIT_NS, sum->ns);
}

/* Divides a piece of time among the cells. */
static void spread(const struct page_time *time, uint64_t start_ns, uint64_t end_ns,
		   void (*take)(uint32_t cell, uint64_t ns, void *user), void *user)
{
	for (uint64_t at_ns = start_ns; at_ns < end_ns;) {
		uint32_t cell = page_time_cell(time, at_ns);
		uint64_t past_ns = cell + 1 < time->cells && time->cell_ns > 0
					   ? (cell + 1) * time->cell_ns
					   : end_ns;
		if (past_ns > end_ns)
			past_ns = end_ns;
		take(cell, past_ns - at_ns, user);
		at_ns = past_ns;
	}
}

struct state_part {
	uint64_t *cell_ns;
	enum profile_state state;
};

static void add_state(uint32_t cell, uint64_t ns, void *user)
{
	const struct state_part *part = user;
	part->cell_ns[cell * STATES + part->state] += ns;
}

/* What there is, is seen. */
static uint32_t share_of(uint64_t ns, uint64_t cell_ns)
{
	uint64_t share = cell_ns > 0 ? (ns * SHARE_MAX + cell_ns / 2) / cell_ns : SHARE_MAX;
	if (ns > 0 && share == 0)
		share = 1;
	return share > SHARE_MAX ? SHARE_MAX : (uint32_t)share;
}

static uint32_t shares_of(const struct page_lives *lives, uint32_t cell)
{
	static const enum profile_state shown[] = {PROFILE_STATE_RUNNING, PROFILE_STATE_READY,
						   PROFILE_STATE_BLOCKED, PROFILE_STATE_STOPPED};
	uint32_t shares = 0;
	for (size_t i = 0; i < sizeof(shown) / sizeof(shown[0]); i++)
		shares |= share_of(lives->cell_ns[cell * STATES + shown[i]], lives->time->cell_ns)
			  << i * SHARE_BITS;
	return shares;
}

static uint64_t write_runs(struct page_lives *lives)
{
	uint64_t runs = 0;
	for (uint32_t cell = 0; cell < lives->time->cells; runs++) {
		uint32_t first = cell;
		uint32_t shares = shares_of(lives, cell);
		while (cell < lives->time->cells && shares_of(lives, cell) == shares)
			cell++;
		page_columns_add(lives->columns, PAGE_STATE_CELLS, cell - first);
		page_columns_add(lives->columns, PAGE_STATE_SHARES, shares);
	}
	return runs;
}

/* Of a thread, as far as its pieces go. */
struct life_waits {
	struct page_lives *lives;
	uint64_t first_ns, end_ns;
};

static void add_wait(const struct life_wait *wait, void *user)
{
	struct life_waits *waits = user;
	struct page_lives *lives = waits->lives;
	if (wait->start_ns >= waits->first_ns && wait->start_ns < waits->end_ns)
		page_cells_add(&lives->waits, page_time_cell(lives->time, wait->start_ns),
			       enter_class(lives, wait), wait->wait_ns);
}

/* Adds the times of the thread's states. */
static void add_states(struct page_lives *lives, uint32_t thread, struct page_life *life,
		       struct life_waits *waits)
{
	struct life_piece piece;
	lives_rewind(lives->lives, thread);
	while (lives_next(lives->lives, &piece)) {
		struct state_part part = {lives->cell_ns, piece.state};
		life->state_ns[piece.state] += piece.end_ns - piece.start_ns;
		spread(lives->time, piece.start_ns, piece.end_ns, add_state, &part);
		if (waits->end_ns == 0)
			waits->first_ns = piece.start_ns;
		waits->end_ns = piece.end_ns;
	}
}

struct page_life page_lives_add(struct page_lives *lives, uint32_t thread)
{
	struct page_life life = {0};
	struct life_waits waits = {lives, 0, 0};
	size_t size = (size_t)lives->time->cells * STATES * sizeof(*lives->cell_ns);
	if (thread == PROFILE_NONE || !lives_has(lives->lives, thread))
		return life;
	life.is_known = true;
	if (!lives->cell_ns)
		lives->cell_ns =
			xalloc_zeroed((size_t)lives->time->cells * STATES, sizeof(*lives->cell_ns));
	memset(lives->cell_ns, 0, size);
	lives->waits.take = take_wait;
	lives->waits.user = lives;
	lives->wait_count = 0;
	add_states(lives, thread, &life, &waits);
	lives_each_wait(lives->lives, thread, add_wait, &waits);
	page_cells_flush(&lives->waits);
	life.waits = lives->wait_count;
	life.runs = write_runs(lives);
	return life;
}

static uint32_t node_of(const struct page_lives *lives, uint32_t step_and_1)
{
	return step_and_1 == 0 ? 0 : lives->nodes->of_steps[step_and_1 - 1] + 1;
}

void page_lives_write(struct page_lives *lives, const uint32_t *numbers, struct json_writer *json)
{
	struct page_columns *columns = lives->columns;
	for (uint32_t i = 0; i < index_map_count(&lives->class_map); i++) {
		const struct page_wait_class *class = &lives->classes[i];
		page_columns_add(columns, PAGE_CLASS_ITEM, class->item);
		page_columns_add(columns, PAGE_CLASS_NODE, node_of(lives, class->step_and_1));
		page_columns_add(columns, PAGE_CLASS_WAKER,
				 class->waker == PROFILE_NONE ? 0 : numbers[class->waker]);
		page_columns_add(columns, PAGE_CLASS_WAKING, node_of(lives, class->waking_and_1));
	}
	/* "TYPE\nNAME" */
	json_open_array(json, "waits");
	for (uint32_t i = 0; i < index_texts_count(&lives->items); i++)
		json_write_text(json, NULL, lives->items.texts[i]);
	json_close_array(json);
}

void page_lives_finish(struct page_lives *lives)
{
	page_cells_finish(&lives->waits);
	index_texts_finish(&lives->items);
	index_map_finish(&lives->class_map);
	free(lives->classes);
	free(lives->cell_ns);
}

struct levels {
	struct profile_reader *reader;
	const struct page_time *time;
	struct page_columns *columns;
	struct page_cells cells;
	uint32_t running;
};

static void take_level(uint32_t cell, const struct page_sum *sum, void *user)
{
	const struct levels *levels = user;
	page_columns_add_difference(levels->columns, PAGE_LEVEL_CELL, cell);
	page_columns_add(levels->columns, PAGE_LEVEL_RUNNING, sum->kind);
	page_columns_add(levels->columns, PAGE_LEVEL_NS, sum->ns);
}

static void add_level(uint32_t cell, uint64_t ns, void *user)
{
	struct levels *levels = user;
	page_cells_add(&levels->cells, cell, levels->running, ns);
}

static void take_time(uint64_t start_ns, uint64_t end_ns, uint32_t running, void *user)
{
	struct levels *levels = user;
	levels->running = running;
	spread(levels->time, profile_reader_since_start(levels->reader, start_ns),
	       profile_reader_since_start(levels->reader, end_ns), add_level, levels);
}

TBRW_U32 page_lives_add_levels(struct profile_reader *reader, const struct page_time *time,
			       struct page_columns *columns)
{
	struct levels levels = {.reader = reader, .time = time, .columns = columns};
	levels.cells.take = take_level;
	levels.cells.user = &levels;
	TBRW_U32 code = concurrency_each(reader, take_time, &levels);
	page_cells_flush(&levels.cells);
	page_cells_finish(&levels.cells);
	return code;
}
