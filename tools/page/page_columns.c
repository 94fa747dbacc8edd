#include "tools/page/page_columns.h"

#include "tools/memory/xalloc.h"
#include <stdlib.h>

#define BYTES_MAX 10 /* of 64 bits, 7 each */

static const char *const names[PAGE_COLUMN_COUNT] = {
	[PAGE_NODE_PARENT] = "node.parent",
	[PAGE_NODE_FUNCTION] = "node.function",
	[PAGE_NODE_LINE] = "node.line",
	[PAGE_NODE_SAME] = "node.same",
	[PAGE_NODE_INNER] = "node.inner",
	[PAGE_SAMPLE_CELL] = "sample.cell",
	[PAGE_SAMPLE_NODE] = "sample.node",
	[PAGE_SAMPLE_NS] = "sample.ns",
	[PAGE_STATE_CELLS] = "state.cells",
	[PAGE_STATE_SHARES] = "state.shares",
	[PAGE_WAIT_CELL] = "wait.cell",
	[PAGE_WAIT_CLASS] = "wait.class",
	[PAGE_WAIT_COUNT] = "wait.count",
	[PAGE_WAIT_NS] = "wait.ns",
	[PAGE_CLASS_ITEM] = "class.item",
	[PAGE_CLASS_NODE] = "class.node",
	[PAGE_CLASS_WAKER] = "class.waker",
	[PAGE_CLASS_WAKING] = "class.waking",
	[PAGE_LEVEL_CELL] = "level.cell",
	[PAGE_LEVEL_RUNNING] = "level.running",
	[PAGE_LEVEL_NS] = "level.ns",
	[PAGE_DIFF_BASE_NS] = "base.ns",
	[PAGE_DIFF_BASE_WEIGHT] = "base.weight",
	[PAGE_DIFF_NEW_NS] = "new.ns",
	[PAGE_DIFF_NEW_WEIGHT] = "new.weight",
};

const char *page_columns_name(enum page_column_id id)
{
	return names[id];
}

void page_columns_finish(struct page_columns *columns)
{
	for (size_t i = 0; i < PAGE_COLUMN_COUNT; i++)
		free(columns->columns[i].bytes);
}

void page_columns_add(struct page_columns *columns, enum page_column_id id, uint64_t number)
{
	struct page_column *column = &columns->columns[id];
	xalloc_room(&column->bytes, &column->capacity, column->size + BYTES_MAX, 1);
	for (; number >= 0x80; number >>= 7)
		column->bytes[column->size++] = (uint8_t)(number | 0x80);
	column->bytes[column->size++] = (uint8_t)number;
	column->count++;
}

void page_columns_add_difference(struct page_columns *columns, enum page_column_id id,
				 uint64_t number)
{
	struct page_column *column = &columns->columns[id];
	uint64_t more = number - column->before;
	column->before = number;
	page_columns_add(columns, id, more << 1 ^ (0 - (more >> 63)));
}
