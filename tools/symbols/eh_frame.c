#include "tools/symbols/eh_frame.h"

#include "containers/compare.h"
#include "tools/memory/xalloc.h"
#include <assert.h>
#include <dwarf.h>
#include <elfutils/libdw.h>
#include <stdlib.h>
#include <string.h>

/* More than the largest programs have; each is read once. */
#define ENTRIES_MAX (4u << 20)

/* The section with the entries. */
struct frames {
	Elf_Data data;
	const unsigned char *ident; /* of the file */
	uint64_t rva;               /* of the data */
	size_t word;                /* bytes of an address */
};

/* The rva of .eh_frame: of its section, or else from its header in the form of all linkers. */
static uint64_t find_frames(const struct symbol_file *file)
{
	static const uint8_t usual[] = {1, DW_EH_PE_pcrel | DW_EH_PE_sdata4};
	size_t count = 0;
	GElf_Shdr section;
	GElf_Phdr segment;
	if (symbol_file_section(file->elf, ".eh_frame", &section))
		return section.sh_addr;
	elf_getphdrnum(file->elf, &count);
	for (size_t i = 0; i < count && i < INT32_MAX; i++) {
		size_t available = 0;
		int32_t distance;
		if (!gelf_getphdr(file->elf, (int)i, &segment) || segment.p_type != PT_GNU_EH_FRAME)
			continue;
		const uint8_t *header = symbol_file_bytes(file, segment.p_vaddr, &available);
		if (!header || available < 8 || memcmp(header, usual, sizeof(usual)) != 0)
			break;
		memcpy(&distance, header + 4, sizeof(distance));
		return segment.p_vaddr + 4 + (uint64_t)(int64_t)distance;
	}
	return 0;
}

static bool open_frames(const struct symbol_file *file, struct frames *frames)
{
	GElf_Shdr header;
	size_t size = 0;
	frames->rva = find_frames(file);
	const uint8_t *bytes = frames->rva ? symbol_file_bytes(file, frames->rva, &size) : NULL;
	if (!bytes)
		return false;
	if (symbol_file_section(file->elf, ".eh_frame", &header) && header.sh_size < size)
		size = header.sh_size;
	frames->data = (Elf_Data){.d_buf = (void *)(uintptr_t)bytes,
				  .d_type = ELF_T_BYTE,
				  .d_version = EV_CURRENT,
				  .d_size = size};
	frames->ident = (const unsigned char *)elf_getident(file->elf, NULL);
	frames->word = gelf_getclass(file->elf) == ELFCLASS32 ? 4 : 8;
	return true;
}

/* Bytes of a value in this encoding (DW_EH_PE_*); 0: of variable length, or an unknown one. */
static size_t value_size(const struct frames *frames, unsigned encoding)
{
	switch (encoding & 0x07) {
	case DW_EH_PE_absptr:
		return frames->word;
	case DW_EH_PE_udata2:
		return 2;
	case DW_EH_PE_udata4:
		return 4;
	case DW_EH_PE_udata8:
		return 8;
	default:
		return 0;
	}
}

/* The encoding of addresses in the FDEs of a CIE: the data of 'R' in its augmentation. */
static unsigned cie_encoding(struct frames *frames, Dwarf_Off offset)
{
	Dwarf_CFI_Entry entry;
	Dwarf_Off next;
	if (dwarf_next_cfi(frames->ident, &frames->data, true, offset, &next, &entry) != 0 ||
	    !dwarf_cfi_cie_p(&entry))
		return DW_EH_PE_omit;
	size_t left = entry.cie.augmentation_data_size;
	const uint8_t *at = entry.cie.augmentation_data;
	for (const char *letter = entry.cie.augmentation; *letter; letter++) {
		if (!strchr("RPL", *letter))
			continue;
		size_t size = left > 0 && *letter == 'P' ? 1 + value_size(frames, *at) : 1;
		if (size > left)
			return DW_EH_PE_omit;
		if (*letter == 'R')
			return *at;
		at += size;
		left -= size;
	}
	return DW_EH_PE_absptr;
}

/* The code of an FDE; size 0: in a form we do not know, or relative to an address that only a
 * process has. */
static struct eh_frame_range read_range(struct frames *frames, const Dwarf_FDE *fde)
{
	unsigned encoding = cie_encoding(frames, fde->CIE_pointer);
	unsigned base = encoding & 0xf0;
	size_t size = value_size(frames, encoding);
	struct eh_frame_range range = {0};
	if (size == 0 || (base != DW_EH_PE_absptr && base != DW_EH_PE_pcrel) ||
	    (size_t)(fde->end - fde->start) < 2 * size)
		return range;
	memcpy(&range.start, fde->start, size);
	memcpy(&range.size, fde->start + size, size);
	unsigned unused = 64 - 8 * (unsigned)size;
	if (encoding & DW_EH_PE_signed)
		range.start = (uint64_t)((int64_t)(range.start << unused) >> unused);
	if (base == DW_EH_PE_pcrel)
		range.start +=
			frames->rva + (uint64_t)(fde->start - (const uint8_t *)frames->data.d_buf);
	if (frames->word == 4)
		range.start = (uint32_t)range.start;
	return range;
}

static int compare_ranges(const void *left, const void *right)
{
	const struct eh_frame_range *a = left;
	const struct eh_frame_range *b = right;
	return compare_numbers(a->start, b->start);
}

static void add_range(struct eh_frame_table *table, struct eh_frame_range range, size_t *capacity)
{
	if (range.start == 0 || range.size == 0)
		return;
	xalloc_room(&table->ranges, capacity, table->count + 1, sizeof(range));
	table->ranges[table->count++] = range;
}

static void read_ranges(struct eh_frame_table *table)
{
	struct frames frames;
	size_t capacity = 0;
	if (!open_frames(table->file, &frames))
		return;
	Dwarf_Off offset = 0;
	for (unsigned i = 0; i < ENTRIES_MAX && offset < frames.data.d_size; i++) {
		Dwarf_CFI_Entry entry;
		Dwarf_Off next = 0;
		int result =
			dwarf_next_cfi(frames.ident, &frames.data, true, offset, &next, &entry);
		if (result == 0 && !dwarf_cfi_cie_p(&entry))
			add_range(table, read_range(&frames, &entry.fde), &capacity);
		if (result > 0) /* a terminator: more entries may be linked behind it */
			next = offset + 4;
		if (next <= offset)
			break;
		offset = next;
	}
	if (table->count > 0)
		qsort(table->ranges, table->count, sizeof(*table->ranges), compare_ranges);
}

bool eh_frame_find(struct eh_frame_table *table, uint64_t rva, uint64_t *start, uint64_t *size)
{
	assert(table->file);
	if (!table->is_open)
		read_ranges(table);
	table->is_open = true;
	size_t low = 0;
	size_t high = table->count;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (table->ranges[middle].start <= rva)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == 0)
		return false;
	*start = table->ranges[low - 1].start;
	*size = table->ranges[low - 1].size;
	return true;
}

void eh_frame_close(struct eh_frame_table *table)
{
	free(table->ranges);
	*table = (struct eh_frame_table){0};
}

void eh_frame_resolve(struct symbol_file *file, struct symbol_address *addresses, size_t count)
{
	struct eh_frame_table table = {.file = file};
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
