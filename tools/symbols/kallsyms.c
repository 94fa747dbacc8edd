#include "tools/symbols/kallsyms.h"

#include "tools/memory/xalloc.h"
#include "tools/symbols/resolve.h"
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#define NAME_SIZE 512u /* KSYM_NAME_LEN of Linux, include/linux/kallsyms.h */

/* The symbol nearest to an address among those between it and the address before. */
struct nearest {
	uint64_t start; /* 0: none */
	char *name;
};

static bool is_text(char type)
{
	return type == 't' || type == 'T' || type == 'w' || type == 'W';
}

static void take_symbol(struct nearest *nearest, const struct symbol_address *addresses,
			size_t count, uint64_t start, const char *name)
{
	size_t first = symbol_addresses_from(addresses, count, start);
	if (first == count || start <= nearest[first].start)
		return;
	free(nearest[first].name);
	nearest[first] = (struct nearest){start, xalloc_text(name)};
}

static void set_functions(const struct nearest *nearest, struct symbol_address *addresses,
			  size_t count)
{
	const struct nearest *last = NULL;
	for (size_t i = 0; i < count; i++) {
		struct symbol_entry *function = &addresses[i].function;
		if (nearest[i].name)
			last = &nearest[i];
		if (!last || function->name ||
		    addresses[i].rva - last->start >= KALLSYMS_DISTANCE_MAX)
			continue;
		function->name = xalloc_text(last->name);
		function->start = last->start;
	}
}

void kallsyms_read(FILE *stream, struct symbol_address *addresses, size_t count)
{
	assert(symbol_addresses_are_sorted(addresses, count));
	struct nearest *nearest = xalloc_zeroed(count, sizeof(*nearest));
	char *line = NULL;
	size_t size = 0;
	while (getline(&line, &size, stream) > 0) {
		char *rest;
		uint64_t start = strtoull(line, &rest, 16);
		if (rest == line || rest[0] != ' ' || !is_text(rest[1]) || rest[2] != ' ')
			continue;
		char *name = rest + 3;
		name[strcspn(name, "\t\n")] = '\0';
		if (start != 0 && name[0] != '\0' && strlen(name) < NAME_SIZE)
			take_symbol(nearest, addresses, count, start, name);
	}
	free(line);
	set_functions(nearest, addresses, count);
	for (size_t i = 0; i < count; i++)
		free(nearest[i].name);
	free(nearest);
}

bool resolve_kernel(struct symbol_address *addresses, size_t count)
{
	FILE *stream = fopen("/proc/kallsyms", "re");
	if (!stream)
		return false;
	kallsyms_read(stream, addresses, count);
	fclose(stream);
	return true;
}
