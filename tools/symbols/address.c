#include "tools/symbols/address.h"

#include "containers/compare.h"
#include "tools/memory/xalloc.h"
#include <stdlib.h>
#include <string.h>

static int compare_addresses(const void *a, const void *b)
{
	const struct symbol_address *left = a;
	const struct symbol_address *right = b;
	return compare_numbers(left->rva, right->rva);
}

void symbol_addresses_sort(struct symbol_address *addresses, size_t count)
{
	if (count > 1)
		qsort(addresses, count, sizeof(*addresses), compare_addresses);
}

bool symbol_addresses_are_sorted(const struct symbol_address *addresses, size_t count)
{
	size_t i = 1;
	while (i < count && addresses[i - 1].rva <= addresses[i].rva)
		i++;
	return i >= count;
}

size_t symbol_addresses_from(const struct symbol_address *addresses, size_t count, uint64_t rva)
{
	size_t low = 0;
	while (low < count) {
		size_t middle = low + (count - low) / 2;
		if (addresses[middle].rva < rva)
			low = middle + 1;
		else
			count = middle;
	}
	return low;
}

void symbol_entry_finish(struct symbol_entry *entry)
{
	free(entry->name);
	free(entry->file);
	memset(entry, 0, sizeof(*entry));
}

void symbol_address_finish(struct symbol_address *address)
{
	symbol_entry_finish(&address->function);
	for (size_t i = 0; i < address->inlined_count; i++)
		symbol_entry_finish(&address->inlined[i]);
	free(address->inlined);
	address->inlined = NULL;
	address->inlined_count = 0;
}

void symbol_address_add_inlined(struct symbol_address *address, struct symbol_entry *entry)
{
	address->inlined =
		xalloc_resize(address->inlined, address->inlined_count + 1, sizeof(*entry));
	address->inlined[address->inlined_count++] = *entry;
	memset(entry, 0, sizeof(*entry));
}

struct symbol_entry *symbol_address_innermost(struct symbol_address *address)
{
	return address->inlined_count ? &address->inlined[address->inlined_count - 1]
				      : &address->function;
}
