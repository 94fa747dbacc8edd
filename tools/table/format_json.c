#include "tools/table/format.h"
#include <inttypes.h>
#include <json-c/json.h>

static void add_number(struct json_object *object, const char *key, uint64_t micro)
{
	char text[32];
	snprintf(text, sizeof(text), "%" PRIu64 ".%06" PRIu64, micro / 1000000, micro % 1000000);
	json_object_object_add(object, key, json_object_new_double_s((double)micro / 1e6, text));
}

static void add_cell(struct json_object *object, const struct table_column *column,
		     const struct table_cell *cell)
{
	char text[32];
	if (cell->is_unknown) {
		json_object_object_add(object, column->key, NULL);
		return;
	}
	if (column->kind == TABLE_TREE)
		json_object_object_add(object, "depth", json_object_new_int64(cell->depth));
	switch (column->kind) {
	case TABLE_TREE:
	case TABLE_TEXT:
	case TABLE_NAME:
		json_object_object_add(object, column->key,
				       json_object_new_string(cell->text ? cell->text : ""));
		break;
	case TABLE_SECONDS:
		add_number(object, column->key, (cell->number + 500) / 1000);
		break;
	case TABLE_SHARE:
		add_number(object, column->key, cell->number);
		break;
	case TABLE_ERROR:
		snprintf(text, sizeof(text), "%" PRIu64 ".%04" PRIu64, cell->number / 10000,
			 cell->number % 10000);
		json_object_object_add(object, column->key,
				       json_object_new_double_s((double)cell->number / 1e4, text));
		break;
	case TABLE_COUNT:
	case TABLE_ID:
		json_object_object_add(object, column->key, json_object_new_uint64(cell->number));
		break;
	case TABLE_ADDRESS:
		snprintf(text, sizeof(text), "0x%" PRIx64, cell->number);
		json_object_object_add(object, column->key, json_object_new_string(text));
		break;
	}
}

/* Row by row: a large report needs no second copy in memory. */
void format_json_print(const struct table *table, FILE *stream, unsigned width)
{
	(void)width;
	fputc('[', stream);
	for (size_t row = 0; row < table->row_count; row++) {
		const struct table_cell *cells = table_row(table, row);
		struct json_object *object = json_object_new_object();
		for (size_t i = 0; i < table->column_count; i++) {
			if (table->columns[i].formats & TABLE_IN_JSON)
				add_cell(object, &table->columns[i], &cells[i]);
		}
		fputs(row ? ",\n " : "\n ", stream);
		fputs(json_object_to_json_string_ext(object, JSON_C_TO_STRING_NOSLASHESCAPE),
		      stream);
		json_object_put(object);
	}
	fputs("\n]\n", stream);
}
