#include "tools/symbols/eh_frame.h"

#include "tools/cli/xalloc.h"
#include "tools/symbols/frame_entry.h"
#include <stdlib.h>
#include <string.h>

#define TABLE_DATAREL_SDATA4 0x3bu
#define ENCODING_OMIT        0xffu
#define HEADER_SIZE          4u
#define TABLE_ENTRY_SIZE     8u
/* More than the largest programs have; each is read once. */
#define ENTRIES_MAX (4u << 20)

static bool find_header(const struct symbol_image *image, uint64_t *rva)
{
	size_t count = 0;
	if (elf_getphdrnum(image->elf, &count) != 0)
		return false;
	for (size_t i = 0; i < count && i < INT32_MAX; i++) {
		GElf_Phdr segment;
		if (gelf_getphdr(image->elf, (int)i, &segment) &&
		    segment.p_type == PT_GNU_EH_FRAME) {
			*rva = segment.p_vaddr;
			return true;
		}
	}
	return false;
}

/* The sorted table that a linker writes with --eh-frame-hdr. */
static bool open_header(struct eh_frame_table *table)
{
	const struct symbol_image *image = table->image;
	size_t available = 0;
	uint64_t count = 0;
	if (!find_header(image, &table->rva))
		return false;
	const uint8_t *header = symbol_image_bytes(image, table->rva, &available);
	if (!header || available < HEADER_SIZE || header[0] != 1)
		return false;
	size_t frame_size = frame_entry_value_size(image, header[1]);
	size_t count_size = frame_entry_value_size(image, header[2]);
	/* Every linker writes this form of the table; another is a table we do not have. */
	if (header[3] != TABLE_DATAREL_SDATA4 || header[2] == ENCODING_OMIT || frame_size == 0 ||
	    count_size == 0 || available < HEADER_SIZE + frame_size + count_size)
		return false;
	size_t table_at = HEADER_SIZE + frame_size + count_size;
	memcpy(&count, header + HEADER_SIZE + frame_size, count_size);
	if (count == 0 || count > (available - table_at) / TABLE_ENTRY_SIZE)
		return false;
	table->entries = header + table_at;
	table->count = (size_t)count;
	return true;
}

static int compare_ranges(const void *left, const void *right)
{
	const struct eh_frame_range *a = left;
	const struct eh_frame_range *b = right;
	return a->start < b->start ? -1 : a->start > b->start;
}

/* All entries one after the other: static programs have no table of them. */
static void walk_section(struct eh_frame_table *table)
{
	struct frame_bytes bytes = {.image = table->image};
	struct frame_entry entry;
	GElf_Shdr header;
	size_t capacity = 0;
	if (!symbol_image_section(table->image, ".eh_frame", &header))
		return;
	bytes.rva = header.sh_addr;
	bytes.section = symbol_image_bytes(table->image, bytes.rva, &bytes.size);
	if (!bytes.section)
		return;
	if (bytes.size > header.sh_size)
		bytes.size = header.sh_size;
	uint64_t rva = bytes.rva;
	for (unsigned i = 0; i < ENTRIES_MAX && frame_entry_read(&bytes, rva, &entry); i++) {
		rva += entry.size;
		if (entry.start == 0 || entry.code_size == 0)
			continue;
		if (table->count == capacity) {
			capacity = xalloc_grown(capacity, table->count + 1);
			table->ranges =
				xalloc_resize(table->ranges, capacity, sizeof(*table->ranges));
		}
		table->ranges[table->count++] =
			(struct eh_frame_range){entry.start, entry.code_size};
	}
	if (table->count > 0)
		qsort(table->ranges, table->count, sizeof(*table->ranges), compare_ranges);
}

static uint64_t table_value(const struct eh_frame_table *table, size_t entry, size_t offset)
{
	int32_t relative;
	if (!table->entries)
		return 0;
	memcpy(&relative, table->entries + entry * TABLE_ENTRY_SIZE + offset, sizeof(relative));
	return table->rva + (uint64_t)(int64_t)relative;
}

static uint64_t start_of(const struct eh_frame_table *table, size_t entry)
{
	return table->ranges ? table->ranges[entry].start : table_value(table, entry, 0);
}

static uint64_t size_of(const struct eh_frame_table *table, size_t entry)
{
	struct frame_bytes bytes = {.image = table->image};
	struct frame_entry read = {0};
	if (table->ranges)
		return table->ranges[entry].size;
	frame_entry_read(&bytes, table_value(table, entry, 4), &read);
	return read.code_size;
}

/* The last entry that starts at or below rva; false where there is none. */
static bool find_entry(const struct eh_frame_table *table, uint64_t rva, size_t *entry)
{
	size_t low = 0;
	size_t high = table->count;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (start_of(table, middle) <= rva)
			low = middle + 1;
		else
			high = middle;
	}
	*entry = low - 1;
	return low > 0;
}

bool eh_frame_find(struct eh_frame_table *table, uint64_t rva, uint64_t *start, uint64_t *size)
{
	size_t entry;
	if (!table->is_open && !open_header(table))
		walk_section(table);
	table->is_open = true;
	if (!find_entry(table, rva, &entry))
		return false;
	*start = start_of(table, entry);
	*size = size_of(table, entry);
	return true;
}

void eh_frame_close(struct eh_frame_table *table)
{
	free(table->ranges);
	*table = (struct eh_frame_table){0};
}

void eh_frame_resolve(struct symbol_image *image, struct symbol_address *addresses, size_t count)
{
	struct eh_frame_table table = {.image = image};
	for (size_t i = 0; i < count; i++) {
		struct symbol_entry *function = &addresses[i].function;
		uint64_t start;
		uint64_t size;
		if (function->name || function->is_pseudo)
			continue;
		if (!eh_frame_find(&table, addresses[i].rva, &start, &size) ||
		    addresses[i].rva - start >= size)
			continue;
		function->start = start;
		function->size = size;
		function->is_pseudo = true;
	}
	eh_frame_close(&table);
}
