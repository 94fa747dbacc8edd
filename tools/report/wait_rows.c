#include "tools/report/wait_rows.h"

#include "containers/compare.h"
#include "tools/memory/index_map.h"
#include "tools/memory/xalloc.h"
#include "tools/report/report.h"
#include <stdlib.h>
#include <string.h>

/* An index that is no function's. */
#define NO_WAKERS_STACK (PROFILE_NONE - 1)

struct making {
	struct wait_rows *rows;
	const struct report_input *input;
	struct index_map map;
};

static const char *or_unknown(const char *text)
{
	return text[0] ? text : "[Unknown]";
}

static bool is_row(const void *item, const void *wanted)
{
	const struct wait_row *one = item;
	const struct wait_row *other = wanted;
	return one->index == other->index && one->is_short == other->is_short;
}

static uint32_t enter_row(struct making *making, const struct wait_row *wanted)
{
	struct wait_rows *rows = making->rows;
	const uint32_t key[] = {wanted->index, wanted->is_short};
	uint32_t index = index_map_enter(&making->map, &rows->rows, wanted, sizeof(*wanted),
					 index_map_hash(&making->map, key, sizeof(key)), is_row);
	rows->count = index_map_count(&making->map);
	return index;
}

static bool has_waker(const struct waits_entry *entry)
{
	return entry->waker_tid != 0 || entry->waker_node != 0;
}

static struct wait_row describe_row(const struct making *making, const struct waits_entry *entry)
{
	const struct report_input *input = making->input;
	const struct waits_item *item = &making->rows->wall.waits.items[entry->item];
	switch (making->rows->group) {
	case REPORT_GROUP_FUNCTION:
		return (struct wait_row){.label = functions_at(input->functions, entry->function)
							  ->name,
					 .index = entry->function};
	case REPORT_GROUP_THREAD:
		return (struct wait_row){.label = or_unknown(
						 tally_thread_name(input->reader, entry->thread)),
					 .index = entry->thread};
	case REPORT_GROUP_WAKER:
		if (!has_waker(entry))
			return (struct wait_row){.label = "[No known waker]",
						 .index = PROFILE_NONE};
		if (entry->waker_node == 0)
			return (struct wait_row){.label = WAIT_ROWS_NO_STACK,
						 .index = NO_WAKERS_STACK};
		return (struct wait_row){.label = functions_at(input->functions,
							       entry->waker_function)
							  ->name,
					 .index = entry->waker_function};
	case REPORT_GROUP_TYPE:
		return (struct wait_row){.label = wait_type_name(item->type), .index = item->type};
	default:
		return (struct wait_row){.label = item->name, .index = entry->item};
	}
}

/* The part of a row's time by function. */
struct share {
	uint32_t row;
	uint32_t function;
	uint64_t ns;
};

struct shares { /* all zero: empty */
	struct share *shares;
	struct index_map map;
};

static bool is_share(const void *item, const void *wanted)
{
	const struct share *one = item;
	const struct share *other = wanted;
	return one->row == other->row && one->function == other->function;
}

static void add_share(struct shares *shares, uint32_t row, uint32_t function, uint64_t ns)
{
	const struct share wanted = {.row = row, .function = function};
	const uint32_t key[] = {row, function};
	uint32_t index = index_map_enter(&shares->map, &shares->shares, &wanted, sizeof(wanted),
					 index_map_hash(&shares->map, key, sizeof(key)), is_share);
	shares->shares[index].ns += ns;
}

/* The heaviest function of each row, by the order of names among equals. The caller frees them;
 * FUNCTION_UNKNOWN: none. */
static uint32_t *choose_heaviest(struct shares *shares, size_t rows, const uint32_t *rank)
{
	uint32_t *functions = xalloc_zeroed(rows, sizeof(*functions));
	uint64_t *most_ns = xalloc_zeroed(rows, sizeof(*most_ns));
	bool *has_one = xalloc_zeroed(rows, sizeof(*has_one));
	for (uint32_t i = 0; i < index_map_count(&shares->map); i++) {
		const struct share *share = &shares->shares[i];
		uint32_t row = share->row;
		bool is_equal =
			share->ns == most_ns[row] && rank[share->function] < rank[functions[row]];
		if (has_one[row] && share->ns <= most_ns[row] && !is_equal)
			continue;
		functions[row] = share->function;
		most_ns[row] = share->ns;
		has_one[row] = true;
	}
	free(most_ns);
	free(has_one);
	free(shares->shares);
	index_map_finish(&shares->map);
	return functions;
}

static void add_entries(struct making *making)
{
	struct wait_rows *rows = making->rows;
	const struct waits *waits = &rows->wall.waits;
	struct shares waiting = {0};
	struct shares waking = {0};
	rows->row_of_entry = xalloc_zeroed(waits->count, sizeof(*rows->row_of_entry));
	for (size_t i = 0; i < waits->count; i++) {
		const struct waits_entry *entry = &waits->entries[i];
		struct wait_row wanted = describe_row(making, entry);
		uint32_t row = enter_row(making, &wanted);
		waits_sum_add(&rows->rows[row].sum, &entry->sum);
		rows->row_of_entry[i] = row;
		add_share(&waiting, row, entry->function, entry->sum.wait_ns);
		if (entry->waker_node != 0)
			add_share(&waking, row, entry->waker_function, entry->sum.wait_ns);
	}
	uint32_t *functions = choose_heaviest(&waiting, rows->count, making->input->rank);
	uint32_t *wakers = choose_heaviest(&waking, rows->count, making->input->rank);
	for (size_t i = 0; i < rows->count; i++) {
		rows->rows[i].function = functions[i];
		rows->rows[i].waker_function = wakers[i];
	}
	free(functions);
	free(wakers);
}

/* Of a filter that asks for functions or for a part of the time nobody knows the short waits; a
 * thread has them in columns of its own. */
static void add_short_waits(struct making *making)
{
	const struct filter *filter = &making->input->options->filter;
	const struct wall_thread *sum = &making->rows->wall.sum;
	if (making->rows->group == REPORT_GROUP_THREAD || filter_needs_function(filter) ||
	    filter_has_tasks(filter) || (sum->short_ns == 0 && sum->short_count == 0))
		return;
	const struct wait_row wanted = {.label = making->rows->wall.short_label,
					.index = PROFILE_NONE,
					.is_short = true};
	uint32_t row = enter_row(making, &wanted); /* which may move the rows */
	making->rows->rows[row].sum =
		(struct waits_sum){.count = sum->short_count, .wait_ns = sum->short_ns};
}

static int compare_rows(const void *a, const void *b, void *user)
{
	const struct wait_row *rows = user;
	const struct wait_row *left = &rows[*(const uint32_t *)a];
	const struct wait_row *right = &rows[*(const uint32_t *)b];
	int order = compare_numbers(right->sum.wait_ns, left->sum.wait_ns);
	if (!order)
		order = compare_numbers(right->sum.count, left->sum.count);
	if (!order)
		order = strcmp(left->label, right->label);
	return order ? order : compare_numbers(left->index, right->index);
}

static void sort_rows(struct wait_rows *rows)
{
	uint32_t *order = xalloc_zeroed(rows->count, sizeof(*order));
	uint32_t *place = xalloc_zeroed(rows->count, sizeof(*place));
	struct wait_row *sorted = xalloc_zeroed(rows->count, sizeof(*sorted));
	for (uint32_t i = 0; i < rows->count; i++)
		order[i] = i;
	if (rows->count > 1)
		qsort_r(order, rows->count, sizeof(*order), compare_rows, rows->rows);
	for (uint32_t i = 0; i < rows->count; i++) {
		sorted[i] = rows->rows[order[i]];
		place[order[i]] = i;
	}
	for (size_t i = 0; i < rows->wall.waits.count; i++)
		rows->row_of_entry[i] = place[rows->row_of_entry[i]];
	free(rows->rows);
	rows->rows = sorted;
	free(order);
	free(place);
}

/* A thread that waits shortly only has a row too. */
static void add_threads(struct making *making)
{
	const struct wall *wall = &making->rows->wall;
	for (uint32_t i = 0; i < wall->thread_count; i++) {
		const struct wait_row wanted = {.label = or_unknown(
							tally_thread_name(making->input->reader,
									  i)),
						.index = i};
		if (wall->threads[i].short_ns > 0 || wall->threads[i].short_count > 0)
			enter_row(making, &wanted);
	}
}

TBRW_U32 wait_rows_make(struct wait_rows *rows, const struct report_input *input)
{
	struct making making = {.rows = rows, .input = input};
	const struct report_options *options = input->options;
	*rows = (struct wait_rows){.group = options->is_grouped ? options->group
								: REPORT_GROUP_OBJECT};
	TBRW_U32 code = wall_collect(&rows->wall, input->reader, input->functions, &options->filter,
				     report_target(input));
	if (code != VT_SUCCESS)
		return code;
	add_entries(&making);
	add_short_waits(&making);
	if (rows->group == REPORT_GROUP_THREAD && !filter_needs_function(&options->filter))
		add_threads(&making);
	sort_rows(rows);
	index_map_finish(&making.map);
	return VT_SUCCESS;
}

void wait_rows_finish(struct wait_rows *rows)
{
	wall_finish(&rows->wall);
	free(rows->rows);
	free(rows->row_of_entry);
	memset(rows, 0, sizeof(*rows));
}

const struct wall_thread *wait_rows_account(const struct wait_rows *rows,
					    const struct wait_row *row)
{
	return rows->group == REPORT_GROUP_THREAD && row->index < rows->wall.thread_count
		       ? &rows->wall.threads[row->index]
		       : NULL;
}
