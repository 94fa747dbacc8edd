#include "tools/symbols/cold_part.h"

#include "containers/compare.h"
#include "tools/memory/xalloc.h"
#include "tools/names/cold_name.h"
#include <stdlib.h>
#include <string.h>

/* A cold part and the function it belongs to, named by the first length bytes of name. */
struct part {
	const char *name;
	size_t length;
	struct symbol_entry *function;
	uint64_t start;
	uint64_t size;
	bool is_found;
	bool is_ambiguous;
};

static int compare_text(const char *a, size_t a_length, const char *b, size_t b_length)
{
	int order = memcmp(a, b, a_length < b_length ? a_length : b_length);
	return order ? order : compare_numbers(a_length, b_length);
}

static int compare_parts(const void *a, const void *b)
{
	const struct part *left = a;
	const struct part *right = b;
	return compare_text(left->name, left->length, right->name, right->length);
}

/* Sorted by name; for the caller to free. */
static struct part *collect_parts(struct symbol_address *addresses, size_t count, size_t *found)
{
	struct part *parts = NULL;
	size_t capacity = 0;
	*found = 0;
	for (size_t i = 0; i < count; i++) {
		struct symbol_entry *function = &addresses[i].function;
		if (!function->name)
			continue;
		size_t length = cold_name_owner_length(function->name);
		if (function->name[length] == '\0')
			continue;
		xalloc_room(&parts, &capacity, *found + 1, sizeof(*parts));
		parts[(*found)++] = (struct part){.name = function->name,
						  .length = length,
						  .function = function};
	}
	if (*found > 1)
		qsort(parts, *found, sizeof(*parts), compare_parts);
	return parts;
}

static void take_owner(struct part *parts, size_t count, const char *name, uint64_t start,
		       uint64_t size)
{
	size_t length = strlen(name);
	size_t low = 0;
	size_t high = count;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (compare_text(parts[middle].name, parts[middle].length, name, length) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	for (; low < count && parts[low].length == length &&
	       memcmp(parts[low].name, name, length) == 0;
	     low++) {
		struct part *part = &parts[low];
		part->is_ambiguous |= part->is_found && part->start != start;
		part->is_found = true;
		part->start = start;
		part->size = size;
	}
}

void cold_part_resolve(struct symbol_file *file, struct symbol_address *addresses, size_t count)
{
	size_t part_count;
	struct part *parts = collect_parts(addresses, count, &part_count);
	int symbols = part_count > 0 ? dwfl_module_getsymtab(file->module) : 0;
	for (int i = 1; i < symbols; i++) {
		GElf_Sym symbol;
		GElf_Addr start;
		const char *name =
			dwfl_module_getsym_info(file->module, i, &symbol, &start, NULL, NULL, NULL);
		if (name && GELF_ST_TYPE(symbol.st_info) == STT_FUNC &&
		    symbol.st_shndx != SHN_UNDEF)
			take_owner(parts, part_count, name, start, symbol.st_size);
	}
	for (size_t i = 0; i < part_count; i++) {
		if (!parts[i].is_found || parts[i].is_ambiguous)
			continue;
		parts[i].function->start = parts[i].start;
		parts[i].function->size = parts[i].size;
	}
	free(parts);
}
