/*
 * print_symbols FILE: reads rvas in hexadecimal, one a line, and prints for each what symbol lookup
 * finds: the rva, then a line per function, innermost first, "NAME<tab>FILE:LINE<tab>START", then
 * an empty line. Names are linkage names; what is not known is ?? and 0.
 */
#include "tools/memory/xalloc.h"
#include "tools/symbols/resolve.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

static void print_entry(const struct symbol_entry *entry)
{
	printf("%s\t%s:%" PRIu32 "\t%" PRIx64 "\n", entry->name ? entry->name : "??",
	       entry->file ? entry->file : "??", entry->line, entry->start);
}

int main(int argc, char **argv)
{
	struct symbol_address *addresses = NULL;
	size_t capacity = 0;
	size_t count = 0;
	uint64_t rva;
	if (argc != 2)
		return 2;
	while (scanf("%" SCNx64, &rva) == 1) {
		xalloc_room(&addresses, &capacity, count + 1, sizeof(*addresses));
		addresses[count++] = (struct symbol_address){.rva = rva};
	}
	symbol_addresses_sort(addresses, count);
	struct mapped_file identity = {.path = argv[1]};
	if (resolve_file(&identity, NULL, addresses, count) != SYMBOL_FILE_OPEN)
		return 1;
	for (size_t i = 0; i < count; i++) {
		printf("%" PRIx64 "\n", addresses[i].rva);
		for (size_t k = addresses[i].inlined_count; k-- > 0;)
			print_entry(&addresses[i].inlined[k]);
		print_entry(&addresses[i].function);
		puts("");
		symbol_address_finish(&addresses[i]);
	}
	free(addresses);
	return 0;
}
