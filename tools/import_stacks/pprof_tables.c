#include "tools/import_stacks/pprof_tables.h"

#include "containers/compare.h"
#include "tools/import_stacks/wire.h"
#include "tools/memory/xalloc.h"
#include <stdlib.h>

/* Numbers of the fields of a profile. */
enum {
	FIELD_SAMPLE_TYPE = 1,
	FIELD_SAMPLE = 2,
	FIELD_MAPPING = 3,
	FIELD_LOCATION = 4,
	FIELD_FUNCTION = 5,
	FIELD_TEXT = 6,
	FIELD_TIME = 9,
	FIELD_DURATION = 10,
	FIELD_PERIOD_TYPE = 11,
	FIELD_PERIOD = 12,
	FIELD_COMMENT = 13,
	FIELD_DEFAULT_TYPE = 14,
	FIELD_ID = 1, /* of mappings, locations and functions */
};

#define COMMENTS_MAX 1000u
#define TYPES_MAX    1000u

static void add_bytes(struct pprof_list *list, const struct wire_field *field)
{
	xalloc_room(&list->items, &list->capacity, list->count + 1, sizeof(*list->items));
	list->items[list->count++] = (struct pprof_bytes){field->bytes, field->size};
}

static uint64_t id_of(const struct wire_field *field)
{
	struct wire wire = {.at = field->bytes, .end = field->bytes + field->size};
	struct wire_field part;
	uint64_t id = 0;
	while (wire_next(&wire, &part)) {
		if (part.number == FIELD_ID && part.type == WIRE_VARINT)
			id = part.value;
	}
	return id;
}

static void add_item(struct pprof_items *items, const struct wire_field *field)
{
	xalloc_room(&items->items, &items->capacity, items->count + 1, sizeof(*items->items));
	items->items[items->count++] =
		(struct pprof_item){id_of(field), {field->bytes, field->size}};
}

static void add_comment(struct pprof_tables *tables, uint64_t text)
{
	if (tables->comment_count == COMMENTS_MAX)
		return;
	xalloc_room(&tables->comments, &tables->comment_capacity, tables->comment_count + 1,
		    sizeof(*tables->comments));
	tables->comments[tables->comment_count++] = (int64_t)text;
}

static void add_comments(struct pprof_tables *tables, const struct wire_field *field)
{
	struct wire wire = {.at = field->bytes, .end = field->bytes + field->size};
	uint64_t text;
	while (wire.at < wire.end && wire_varint(&wire, &text))
		add_comment(tables, text);
}

static void take_message(struct pprof_tables *tables, const struct wire_field *field)
{
	/* Empty ones say nothing, and would take more memory than they have bytes. */
	bool is_bad = field->size == 0 || field->size > PPROF_MESSAGE_MAX;
	is_bad = is_bad && field->number != FIELD_TEXT && field->number != FIELD_COMMENT;
	if (is_bad || tables->messages == PPROF_MESSAGES_MAX) {
		tables->bad++;
		return;
	}
	tables->messages++;
	switch (field->number) {
	case FIELD_SAMPLE_TYPE:
		if (tables->sample_types.count < TYPES_MAX)
			add_bytes(&tables->sample_types, field);
		break;
	case FIELD_SAMPLE:
		add_bytes(&tables->samples, field);
		break;
	case FIELD_MAPPING:
		add_item(&tables->mappings, field);
		break;
	case FIELD_LOCATION:
		add_item(&tables->locations, field);
		break;
	case FIELD_FUNCTION:
		add_item(&tables->functions, field);
		break;
	case FIELD_TEXT:
		add_bytes(&tables->texts, field);
		break;
	case FIELD_PERIOD_TYPE:
		tables->period_type = (struct pprof_bytes){field->bytes, field->size};
		break;
	case FIELD_COMMENT:
		add_comments(tables, field);
		break;
	default:
		break;
	}
}

static void take_number(struct pprof_tables *tables, const struct wire_field *field)
{
	int64_t value = (int64_t)field->value;
	switch (field->number) {
	case FIELD_TIME:
		tables->time_ns = value;
		break;
	case FIELD_DURATION:
		tables->duration_ns = value;
		break;
	case FIELD_PERIOD:
		tables->period = value;
		break;
	case FIELD_COMMENT:
		add_comment(tables, field->value);
		break;
	case FIELD_DEFAULT_TYPE:
		tables->default_type = value;
		break;
	default:
		break;
	}
}

/* Of equal ids, the first one in the file. */
static int compare_items(const void *a, const void *b)
{
	const struct pprof_item *left = a;
	const struct pprof_item *right = b;
	int order = compare_numbers(left->id, right->id);
	return order ? order
		     : compare_numbers((uintptr_t)left->bytes.bytes, (uintptr_t)right->bytes.bytes);
}

static void sort_items(struct pprof_items *items)
{
	if (items->count > 1)
		qsort(items->items, items->count, sizeof(*items->items), compare_items);
}

void pprof_tables_read(struct pprof_tables *tables, uint8_t *bytes, size_t size)
{
	struct wire wire = {.at = bytes, .end = bytes + size};
	struct wire_field field;
	*tables = (struct pprof_tables){.bad = 0};
	while (wire_next(&wire, &field)) {
		if (field.type == WIRE_LENGTH)
			take_message(tables, &field);
		else
			take_number(tables, &field);
	}
	tables->is_damaged = wire.is_damaged;
	sort_items(&tables->mappings);
	sort_items(&tables->locations);
	sort_items(&tables->functions);
	/* Over the first byte of the next field, which has been read. */
	for (size_t i = 0; i < tables->texts.count; i++)
		tables->texts.items[i].bytes[tables->texts.items[i].size] = '\0';
}

void pprof_tables_finish(struct pprof_tables *tables)
{
	free(tables->samples.items);
	free(tables->sample_types.items);
	free(tables->texts.items);
	free(tables->mappings.items);
	free(tables->locations.items);
	free(tables->functions.items);
	free(tables->comments);
}

const char *pprof_tables_text(const struct pprof_tables *tables, int64_t index)
{
	bool is_known = index >= 0 && (uint64_t)index < tables->texts.count;
	return is_known ? (const char *)tables->texts.items[index].bytes : "";
}

size_t pprof_items_find(const struct pprof_items *items, uint64_t id)
{
	size_t from = 0;
	size_t to = items->count;
	/* Ids usually run from 1. */
	if (id > 0 && id <= items->count && items->items[id - 1].id == id &&
	    (id == 1 || items->items[id - 2].id != id))
		return id - 1;
	while (from < to) {
		size_t middle = from + (to - from) / 2;
		if (items->items[middle].id < id)
			from = middle + 1;
		else
			to = middle;
	}
	return from < items->count && items->items[from].id == id ? from : items->count;
}
