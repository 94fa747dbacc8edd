/* Rows in the order of a column. */
#include "containers/compare.h"
#include "tools/memory/xalloc.h"
#include "tools/table/table.h"
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#define NO_ROW SIZE_MAX

static int spell(char letter)
{
	return letter == ' ' || letter == '_' ? '-' : tolower((unsigned char)letter);
}

static bool is_spelled(const char *name, const char *column, size_t length)
{
	size_t i = 0;
	while (i < length && name[i] && spell(name[i]) == spell(column[i]))
		i++;
	return length > 0 && i == length && name[i] == '\0';
}

static bool is_key(const char *name, const char *key)
{
	size_t length = strlen(key);
	bool has_unit = length > 2 && strcmp(key + length - 2, "_s") == 0;
	return is_spelled(name, key, length) || (has_unit && is_spelled(name, key, length - 2));
}

static bool is_for_anybody(const struct table_column *column)
{
	return (column->audience & TABLE_ALL) != 0;
}

size_t table_find_column(const struct table *table, const char *name)
{
	for (size_t i = 0; i < table->column_count; i++) {
		const struct table_column *column = &table->columns[i];
		bool is_meant = is_spelled(name, column->title, strlen(column->title)) ||
				is_key(name, column->key) ||
				(column->kind == TABLE_ERROR && strcmp(name, "+-") == 0);
		if (is_for_anybody(column) && is_meant)
			return i;
	}
	return SIZE_MAX;
}

const char **table_titles(const struct table *table)
{
	const char **titles = xalloc_zeroed(table->column_count + 1, sizeof(*titles));
	size_t count = 0;
	for (size_t i = 0; i < table->column_count; i++) {
		size_t known = 0;
		while (known < count && strcmp(titles[known], table->columns[i].title) != 0)
			known++;
		if (known == count && is_for_anybody(&table->columns[i]))
			titles[count++] = table->columns[i].title;
	}
	return titles;
}

struct sorting {
	const struct table *table;
	size_t column;
	bool is_ascending;
	size_t *parents; /* of each row of a tree; NO_ROW: none */
};

static int compare_reals(uint64_t left_bits, uint64_t right_bits)
{
	double left, right;
	memcpy(&left, &left_bits, sizeof(left));
	memcpy(&right, &right_bits, sizeof(right));
	return (left > right) - (left < right);
}

static int compare_signed(uint64_t left, uint64_t right)
{
	return ((int64_t)left > (int64_t)right) - ((int64_t)left < (int64_t)right);
}

static int compare_cells(enum table_kind kind, const struct table_cell *left,
			 const struct table_cell *right)
{
	switch (kind) {
	case TABLE_TEXT:
	case TABLE_NAME:
	case TABLE_TREE:
		return strcmp(left->text ? left->text : "", right->text ? right->text : "");
	case TABLE_REAL:
		return compare_reals(left->number, right->number);
	case TABLE_DIFFERENCE:
	case TABLE_CHANGE:
	case TABLE_TIME:
		return compare_signed(left->number, right->number);
	default:
		return compare_numbers(left->number, right->number);
	}
}

static bool says_nothing(enum table_kind kind, const struct table_cell *cell)
{
	return cell->is_unknown || (table_is_text(kind) && (!cell->text || !cell->text[0]));
}

static int compare_rows(const void *a, const void *b, void *user)
{
	const struct sorting *sorting = user;
	size_t left_row = *(const size_t *)a;
	size_t right_row = *(const size_t *)b;
	const struct table_cell *left = &table_row(sorting->table, left_row)[sorting->column];
	const struct table_cell *right = &table_row(sorting->table, right_row)[sorting->column];
	enum table_kind kind = sorting->table->columns[sorting->column].kind;
	int order = (int)says_nothing(kind, left) - (int)says_nothing(kind, right);
	if (!order && !says_nothing(kind, left))
		order = sorting->is_ascending ? compare_cells(kind, left, right)
					      : compare_cells(kind, right, left);
	return order ? order : compare_numbers(left_row, right_row);
}

static size_t find_tree(const struct table *table)
{
	size_t tree = 0;
	while (tree < table->column_count && table->columns[tree].kind != TABLE_TREE)
		tree++;
	return tree;
}

/* Of rows in the order of a walk, parents before their children. */
static size_t *find_parents(const struct table *table, size_t fixed)
{
	size_t *parents = xalloc_zeroed(table->row_count, sizeof(*parents));
	size_t tree = find_tree(table);
	size_t before = NO_ROW;
	for (size_t row = 0; row < table->row_count; row++) {
		parents[row] = NO_ROW;
		if (row < fixed || tree == table->column_count)
			continue;
		uint32_t depth = table_row(table, row)[tree].depth;
		while (before != NO_ROW && table_row(table, before)[tree].depth >= depth)
			before = parents[before];
		parents[row] = before;
		before = row;
	}
	return parents;
}

/* Puts the rows in the order of a walk again: siblings as `order` has them. */
static void walk_rows(const struct sorting *sorting, const size_t *order, size_t fixed,
		      size_t *walked)
{
	size_t count = sorting->table->row_count;
	size_t *child = xalloc_zeroed(count + 1, sizeof(*child)); /* the first one; of none: last */
	size_t *sibling = xalloc_zeroed(count, sizeof(*sibling));
	size_t at = fixed;
	memset(child, 0xff, (count + 1) * sizeof(*child));
	for (size_t i = count; i-- > fixed;) {
		size_t parent = sorting->parents[order[i]];
		size_t *first = &child[parent == NO_ROW ? count : parent];
		sibling[order[i]] = *first;
		*first = order[i];
	}
	for (size_t row = child[count]; row != NO_ROW;) {
		walked[at++] = row;
		if (child[row] != NO_ROW) {
			row = child[row];
			continue;
		}
		while (row != NO_ROW && sibling[row] == NO_ROW)
			row = sorting->parents[row];
		row = row == NO_ROW ? NO_ROW : sibling[row];
	}
	free(child);
	free(sibling);
}

void table_sort(struct table *table, size_t fixed, size_t column, bool is_ascending)
{
	size_t count = table->row_count;
	size_t row_size = table->column_count * sizeof(*table->cells);
	if (count < fixed + 2)
		return;
	struct sorting sorting = {table, column, is_ascending, find_parents(table, fixed)};
	size_t *order = xalloc_zeroed(count, sizeof(*order));
	size_t *walked = xalloc_zeroed(count, sizeof(*walked));
	struct table_cell *cells = xalloc_zeroed(table->row_capacity, row_size);
	for (size_t i = 0; i < count; i++)
		order[i] = walked[i] = i;
	qsort_r(order + fixed, count - fixed, sizeof(*order), compare_rows, &sorting);
	walk_rows(&sorting, order, fixed, walked);
	for (size_t i = 0; i < count; i++)
		memcpy(cells + i * table->column_count, table_row(table, walked[i]), row_size);
	free(table->cells);
	table->cells = cells;
	free(sorting.parents);
	free(order);
	free(walked);
}
