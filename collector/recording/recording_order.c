#include "collector/recording/recording_order.h"

#include "containers/array.h"
#include "containers/compare.h"
#include <stdlib.h>
#include <string.h>

static int compare_entries(const void *a, const void *b)
{
	const struct recording_order_entry *left = a;
	const struct recording_order_entry *right = b;
	int order = compare_numbers(left->time_ns, right->time_ns);
	return order ? order : compare_numbers(left->number, right->number);
}

/* Sends on the oldest records: `least` of them, and more that are no younger than limit_ns. */
static void flush(struct recording_order *order, size_t least, uint64_t limit_ns)
{
	size_t done = 0;
	if (order->count > 1)
		qsort(order->entries, order->count, sizeof(*order->entries), compare_entries);
	for (; done < order->count && (done < least || order->entries[done].time_ns <= limit_ns);
	     done++) {
		struct recording_order_entry *entry = &order->entries[done];
		order->out_of_order += entry->time_ns < order->taken_ns;
		if (entry->time_ns > order->taken_ns)
			order->taken_ns = entry->time_ns;
		order->take(entry->bytes, entry->size, entry->time_ns, order->user);
		order->bytes -= entry->size + sizeof(*entry);
		free(entry->bytes);
	}
	order->count -= done;
	if (done > 0 && order->count > 0)
		memmove(order->entries, order->entries + done,
			order->count * sizeof(*order->entries));
}

bool recording_order_add(struct recording_order *order, uint64_t time_ns, const uint8_t *bytes,
			 size_t size)
{
	if (order->bytes >= RECORDING_ORDER_BYTES)
		flush(order, order->count / 2, 0);
	if (!array_reserve(&order->entries, &order->capacity, order->count + 1,
			   sizeof(*order->entries)))
		return false;
	uint8_t *copy = malloc(size);
	if (!copy)
		return false;
	memcpy(copy, bytes, size);
	order->entries[order->count++] =
		(struct recording_order_entry){time_ns, order->number++, (uint32_t)size, copy};
	order->bytes += size + sizeof(*order->entries);
	if (time_ns > order->newest_ns)
		order->newest_ns = time_ns;
	return true;
}

void recording_order_end_round(struct recording_order *order)
{
	flush(order, 0, order->round_ns);
	order->round_ns = order->newest_ns;
}

void recording_order_end(struct recording_order *order)
{
	flush(order, order->count, UINT64_MAX);
}

void recording_order_finish(struct recording_order *order)
{
	for (size_t i = 0; i < order->count; i++)
		free(order->entries[i].bytes);
	free(order->entries);
	order->entries = NULL;
	order->count = order->capacity = 0;
}
