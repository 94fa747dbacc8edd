/* The parser of perf maps, fed in pieces: the first byte says how large. */
#include "tools/symbols/perf_map.h"
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct symbol_address addresses[] = {
		{.rva = 0},      {.rva = 1},          {.rva = 0x10},       {.rva = 0x11},
		{.rva = 0xabcd}, {.rva = 0x7fff0000}, {.rva = UINT64_MAX},
	};
	const size_t count = sizeof(addresses) / sizeof(addresses[0]);
	static struct perf_map_parser parser;
	if (size == 0)
		return 0;
	size_t piece = data[0] ? data[0] : size;
	perf_map_begin(&parser, addresses, count);
	for (size_t at = 1; at < size; at += piece) {
		size_t left = size - at;
		perf_map_feed(&parser, (const char *)data + at, left < piece ? left : piece);
	}
	perf_map_end(&parser);
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
