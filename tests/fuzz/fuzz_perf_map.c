/* The reader of perf maps. */
#include "tools/symbols/perf_map_symbols.h"
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct symbol_address addresses[] = {
		{.rva = 0},      {.rva = 1},          {.rva = 0x10},       {.rva = 0x11},
		{.rva = 0xabcd}, {.rva = 0x7fff0000}, {.rva = UINT64_MAX},
	};
	const size_t count = sizeof(addresses) / sizeof(addresses[0]);
	if (size == 0)
		return 0;
	FILE *stream = fmemopen((void *)(uintptr_t)data, size, "r");
	perf_map_symbols_read(stream, addresses, count);
	fclose(stream);
	for (size_t i = 0; i < count; i++) {
		const struct symbol_entry *function = &addresses[i].function;
		/* What is named lies inside what names it. */
		if (function->name && (!function->name[0] || addresses[i].rva < function->start ||
				       addresses[i].rva - function->start >= function->size))
			abort();
		symbol_address_finish(&addresses[i]);
	}
	return 0;
}
