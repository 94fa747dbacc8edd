#include "unwind/functions/symbols.h"

#include "containers/array.h"

enum {
	CHUNK = 512,                  /* symbols read at once */
	NAME_MAX_LOOKED_AT = 1024,    /* bytes of a name */
	SEGMENTS_MAX = 16,            /* of a file whose symbols are all looked at */
	SYMBOLS_MAX = 4 * 1024 * 1024 /* of a file; the largest browsers have a million */
};

void uw_symbols_finish(struct uw_symbols *symbols)
{
	free(symbols->items);
	*symbols = (struct uw_symbols){0};
}

static int compare_symbols(const void *left, const void *right)
{
	const struct uw_symbol *a = left, *b = right;

	if (a->start != b->start)
		return a->start > b->start ? 1 : -1;
	/* The one that is kept first. */
	return (a->size < b->size) - (a->size > b->size);
}

/* Whether a name says that the code is a part of a function: "name.cold", "name.cold.1" (gcc and
 * clang). */
static bool names_part(const char *names, uint64_t size, uint32_t name)
{
	static const char word[] = ".cold";

	if (!names || name >= size)
		return false;
	size_t most = size - name < NAME_MAX_LOOKED_AT ? (size_t)(size - name) : NAME_MAX_LOOKED_AT;
	return memmem(names + name, strnlen(names + name, most), word, sizeof(word) - 1) != NULL;
}

static bool add_symbol(struct uw_symbols *symbols, const struct uw_elf *elf,
		       const Elf64_Sym *symbol, const char *names, uint64_t names_size)
{
	unsigned type = ELF64_ST_TYPE(symbol->st_info);

	if ((type != STT_FUNC && type != STT_GNU_IFUNC) || symbol->st_shndx == SHN_UNDEF)
		return true;
	const struct uw_segment *segment = uw_elf_segment(elf, symbol->st_value);
	if (!segment || !segment->executable)
		return true;
	if (!array_reserve(&symbols->items, &symbols->capacity, symbols->count + 1,
			   sizeof(*symbols->items)))
		return false;
	symbols->items[symbols->count++] = (struct uw_symbol){
		symbol->st_value,
		symbol->st_size <= UINT32_MAX ? (uint32_t)symbol->st_size : 0,
		names_part(names, names_size, symbol->st_name),
	};
	return true;
}

static bool read_table(struct uw_symbols *symbols, const struct uw_elf *elf,
		       const struct uw_piece *table, const char *names, uint64_t names_size)
{
	Elf64_Sym chunk[CHUNK];
	uint64_t count = table->size / sizeof(chunk[0]);

	if (count > SYMBOLS_MAX)
		count = SYMBOLS_MAX;
	/* Each is looked up among the segments. */
	if (elf->segment_count > SEGMENTS_MAX && count > SYMBOLS_MAX / elf->segment_count)
		count = SYMBOLS_MAX / elf->segment_count;
	for (uint64_t i = 0; i < count; i += CHUNK) {
		uint64_t some = count - i < CHUNK ? count - i : CHUNK;

		if (!uw_elf_read(elf, table->offset + i * sizeof(chunk[0]), chunk,
				 some * sizeof(chunk[0])))
			return true;
		for (uint64_t j = 0; j < some; j++)
			if (!add_symbol(symbols, elf, &chunk[j], names, names_size))
				return false;
	}
	return true;
}

/* Keeps one symbol of each start. */
static void sort_symbols(struct uw_symbols *symbols)
{
	size_t kept = 0;

	if (symbols->count == 0)
		return;
	qsort(symbols->items, symbols->count, sizeof(*symbols->items), compare_symbols);
	for (size_t i = 1; i < symbols->count; i++) {
		struct uw_symbol *last = &symbols->items[kept];
		if (symbols->items[i].start == last->start)
			last->is_part &= symbols->items[i].is_part;
		else
			symbols->items[++kept] = symbols->items[i];
	}
	symbols->count = kept + 1;
}

bool uw_symbols_read(struct uw_symbols *symbols, const struct uw_elf *elf)
{
	const struct uw_piece *all = &elf->symbols[0];
	struct uw_span names = {0};
	uint8_t *bytes = NULL;
	bool done = true;

	/* Without names, parts cannot be told from functions. */
	if (all->size > 0 && uw_elf_copy(elf, &elf->symbol_names, &bytes, &names) < 0)
		return false;
	if (all->size > 0 && names.size > 0)
		done = read_table(symbols, elf, all, (const char *)names.bytes, names.size);
	else
		done = read_table(symbols, elf, &elf->symbols[1], NULL, 0);
	free(bytes);
	sort_symbols(symbols);
	return done;
}

const struct uw_symbol *uw_symbols_find(const struct uw_symbols *symbols, uint64_t rva,
					uint64_t *next)
{
	size_t low = 0, high = symbols->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (symbols->items[middle].start <= rva)
			low = middle + 1;
		else
			high = middle;
	}
	*next = low < symbols->count ? symbols->items[low].start : UINT64_MAX;
	return low > 0 ? &symbols->items[low - 1] : NULL;
}
