#include "tools/memory/xalloc.h"
#include "tools/table/table_format.h"
#include <json-c/json.h>
#include <stdlib.h>

/* A number with the table's digits: json-c would print doubles in its own way. */
static struct json_object *number_object(enum table_kind kind, const struct table_cell *cell)
{
	char number[TABLE_NUMBER_SIZE];
	table_number(kind, cell, number);
	if (kind == TABLE_ADDRESS || (kind == TABLE_TIME && cell->text))
		return json_object_new_string(number);
	if (kind == TABLE_COUNT || kind == TABLE_ID)
		return json_object_new_uint64(cell->number);
	return json_object_new_double_s(0, number);
}

static void add_cell(struct json_object *object, const struct table_column *column,
		     const struct table_cell *cell)
{
	if (column->kind == TABLE_TREE && !cell->is_unknown)
		json_object_object_add(object, "depth", json_object_new_int64(cell->depth));
	struct json_object *value = NULL;
	if (!cell->is_unknown)
		value = table_is_text(column->kind)
				? json_object_new_string(cell->text ? cell->text : "")
				: number_object(column->kind, cell);
	json_object_object_add(object, column->key, value);
}

/* Row by row: a large report needs no second copy in memory. */
void table_format_json(const struct table *table, FILE *stream, unsigned width)
{
	(void)width;
	size_t *order = xalloc_zeroed(table->column_count, sizeof(*order));
	size_t count = table_order(table, TABLE_KEYED, order);
	fputc('[', stream);
	for (size_t row = 0; row < table->row_count; row++) {
		const struct table_cell *cells = table_row(table, row);
		struct json_object *object = json_object_new_object();
		if (!object)
			xalloc_fail();
		for (size_t at = 0; at < count; at++)
			add_cell(object, &table->columns[order[at]], &cells[order[at]]);
		fputs(row ? ",\n " : "\n ", stream);
		const char *text =
			json_object_to_json_string_ext(object, JSON_C_TO_STRING_NOSLASHESCAPE);
		if (!text)
			xalloc_fail();
		fputs(text, stream);
		json_object_put(object);
	}
	fputs("\n]\n", stream);
	free(order);
}
