/*
 * resolve_names FILE DIRECTORIES|- < ADDRESSES: what finalization finds at hexadecimal addresses,
 * one line each: ADDRESS then NAME@FILE:LINE of the function and of what is inlined there,
 * outermost first.
 */
#include "tools/memory/xalloc.h"
#include "tools/symbols/resolve.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void print_entry(const struct symbol_entry *entry)
{
	printf(" %s@%s:%" PRIu32, entry->name ? entry->name : "?", entry->file ? entry->file : "?",
	       entry->line);
}

int main(int argc, char **argv)
{
	struct symbol_address *addresses = NULL;
	size_t count = 0;
	uint64_t rva;
	if (argc != 3)
		return 2;
	while (scanf("%" SCNx64, &rva) == 1) {
		addresses = xalloc_resize(addresses, count + 1, sizeof(*addresses));
		addresses[count++] = (struct symbol_address){.rva = rva};
	}
	symbol_addresses_sort(addresses, count);
	struct mapped_file identity = {.path = argv[1]};
	const char *directories = strcmp(argv[2], "-") == 0 ? NULL : argv[2];
	enum symbol_file_status status = resolve_file(&identity, directories, addresses, count);
	for (size_t i = 0; i < count; i++) {
		printf("%" PRIx64, addresses[i].rva);
		print_entry(&addresses[i].function);
		for (size_t k = 0; k < addresses[i].inlined_count; k++)
			print_entry(&addresses[i].inlined[k]);
		putchar('\n');
		symbol_address_finish(&addresses[i]);
	}
	free(addresses);
	return status == SYMBOL_FILE_OPEN ? EXIT_SUCCESS : EXIT_FAILURE;
}
