#include "tools/table/table.h"

#include "tools/memory/xalloc.h"
#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool table_is_text(enum table_kind kind)
{
	return kind == TABLE_TEXT || kind == TABLE_NAME || kind == TABLE_CODE || kind == TABLE_TREE;
}

void table_init(struct table *table, const struct table_column *columns, size_t column_count)
{
	*table = (struct table){.columns = columns, .column_count = column_count};
}

void table_finish(struct table *table)
{
	free(table->cells);
	memset(table, 0, sizeof(*table));
}

size_t table_order(const struct table *table, unsigned audience, size_t *order)
{
	size_t count = 0;
	for (unsigned later = 0; later <= TABLE_LATER; later += TABLE_LATER) {
		for (size_t i = 0; i < table->column_count; i++) {
			unsigned flags = table->columns[i].audience;
			unsigned place = audience & TABLE_DATA ? flags & TABLE_LATER : 0;
			if (flags & audience && place == later)
				order[count++] = i;
		}
	}
	return count;
}

struct table_cell *table_add_row(struct table *table)
{
	size_t row_size = table->column_count * sizeof(*table->cells);
	xalloc_room(&table->cells, &table->row_capacity, table->row_count + 1, row_size);
	struct table_cell *row = table->cells + table->row_count++ * table->column_count;
	memset(row, 0, row_size);
	return row;
}

const struct table_cell *table_row(const struct table *table, size_t row)
{
	assert(row < table->row_count);
	return table->cells + row * table->column_count;
}

size_t table_drop_below(struct table *table, uint64_t least)
{
	size_t share = 0;
	size_t kept = 0;
	size_t before = table->row_count;
	while (share < table->column_count && table->columns[share].kind != TABLE_SHARE)
		share++;
	if (share == table->column_count)
		return 0;
	for (size_t row = 0; row < before; row++) {
		struct table_cell *from = table->cells + row * table->column_count;
		struct table_cell *to = table->cells + kept * table->column_count;
		if (from[share].number < least)
			continue;
		if (to != from)
			memcpy(to, from, table->column_count * sizeof(*to));
		kept++;
	}
	table->row_count = kept;
	return before - kept;
}

void table_set_real(struct table_cell *cell, double value)
{
	_Static_assert(sizeof(value) == sizeof(cell->number), "");
	memcpy(&cell->number, &value, sizeof(value));
	cell->is_unknown = value - value != 0; /* no number, or infinite */
}

/* The digits that tell the number from others, no more. */
static void write_real(uint64_t bits, char number[TABLE_NUMBER_SIZE])
{
	double value;
	memcpy(&value, &bits, sizeof(value));
	snprintf(number, TABLE_NUMBER_SIZE, "%.15g", value);
	if (strtod(number, NULL) != value)
		snprintf(number, TABLE_NUMBER_SIZE, "%.17g", value);
}

/* With six decimals, of what is in 10^-6. */
static void write_signed(uint64_t number, uint64_t unit, char text[TABLE_NUMBER_SIZE])
{
	bool is_negative = (int64_t)number < 0;
	uint64_t value = ((is_negative ? -number : number) + unit / 2) / unit;
	snprintf(text, TABLE_NUMBER_SIZE, "%s%" PRIu64 ".%06" PRIu64,
		 is_negative && value > 0 ? "-" : "", value / 1000000, value % 1000000);
}

/* In us, cut off. */
static void write_time(const struct table_cell *cell, char number[TABLE_NUMBER_SIZE])
{
	int64_t ns = (int64_t)cell->number;
	uint64_t us = (ns < 0 ? -cell->number : cell->number) / 1000;
	if (cell->text)
		snprintf(number, TABLE_NUMBER_SIZE, "%s", cell->text);
	else
		snprintf(number, TABLE_NUMBER_SIZE, "%s%" PRIu64 ".%06" PRIu64, ns < 0 ? "-" : "",
			 us / 1000000, us % 1000000);
}

void table_number(enum table_kind kind, const struct table_cell *cell,
		  char number[TABLE_NUMBER_SIZE])
{
	uint64_t value = cell->number;
	number[0] = '\0';
	if (cell->is_unknown)
		return;
	if (kind == TABLE_SECONDS)
		value = (value + 500) / 1000;
	if (kind == TABLE_SECONDS || kind == TABLE_SHARE)
		snprintf(number, TABLE_NUMBER_SIZE, "%" PRIu64 ".%06" PRIu64, value / 1000000,
			 value % 1000000);
	else if (kind == TABLE_ERROR)
		snprintf(number, TABLE_NUMBER_SIZE, "%" PRIu64 ".%04" PRIu64, value / 10000,
			 value % 10000);
	else if (kind == TABLE_DURATION)
		snprintf(number, TABLE_NUMBER_SIZE, "%" PRIu64 ".%09" PRIu64, value / 1000000000,
			 value % 1000000000);
	else if (kind == TABLE_DIFFERENCE || kind == TABLE_CHANGE)
		write_signed(value, kind == TABLE_CHANGE ? 1 : 1000, number);
	else if (kind == TABLE_REAL)
		write_real(value, number);
	else if (kind == TABLE_TIME)
		write_time(cell, number);
	else if (kind == TABLE_ADDRESS)
		snprintf(number, TABLE_NUMBER_SIZE, "0x%" PRIx64, value);
	else
		snprintf(number, TABLE_NUMBER_SIZE, "%" PRIu64, value);
}

uint64_t table_share(uint64_t part, uint64_t whole)
{
	if (whole == 0)
		return 0;
	return (uint64_t)((double)part / (double)whole * 1e6 + 0.5);
}

double table_percent(uint64_t part, uint64_t whole)
{
	return (double)table_share(part, whole) / 1e4;
}
