#include "tools/symbols/eh_frame.h"
#include <string.h>

/* Pointer encodings (DW_EH_PE_*): the low four bits are the format. */
#define FORMAT_MASK           0x0fu
#define TABLE_DATAREL_SDATA4  0x3bu
#define FORMAT_ABSPTR         0x00u
#define FORMAT_UDATA2         0x02u
#define FORMAT_UDATA4         0x03u
#define FORMAT_UDATA8         0x04u
#define FORMAT_SIGNED         0x08u
#define ENCODING_OMIT         0xffu
#define HEADER_SIZE           4u
#define TABLE_ENTRY_SIZE      8u
#define AUGMENTATION_SIZE_MAX 16u

/* Reads forward through bytes of the file; is_bad sticks once something ran over the end. */
struct cursor {
	const uint8_t *at;
	size_t left;
	bool is_bad;
};

static uint64_t read_bytes(struct cursor *cursor, size_t size)
{
	uint64_t value = 0;
	if (cursor->is_bad || cursor->left < size) {
		cursor->is_bad = true;
		return 0;
	}
	memcpy(&value, cursor->at, size);
	cursor->at += size;
	cursor->left -= size;
	return value;
}

static void skip_leb128(struct cursor *cursor)
{
	while (!cursor->is_bad && read_bytes(cursor, 1) & 0x80)
		;
}

/* Bytes of an address in the file. */
static size_t word_size(const struct symbol_image *image)
{
	return gelf_getclass(image->elf) == ELFCLASS32 ? 4 : 8;
}

/* Bytes of a value in this encoding, 0 for those of variable length. */
static size_t encoded_size(const struct symbol_image *image, unsigned encoding)
{
	switch (encoding & FORMAT_MASK & ~FORMAT_SIGNED) {
	case FORMAT_ABSPTR:
		return word_size(image);
	case FORMAT_UDATA8:
		return 8;
	case FORMAT_UDATA2:
		return 2;
	case FORMAT_UDATA4:
		return 4;
	default:
		return 0;
	}
}

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

void eh_frame_open(const struct symbol_image *image, struct eh_frame_table *table)
{
	size_t available = 0;
	*table = (struct eh_frame_table){.image = image};
	if (!find_header(image, &table->rva))
		return;
	const uint8_t *header = symbol_image_bytes(image, table->rva, &available);
	if (!header || available < HEADER_SIZE || header[0] != 1)
		return;
	unsigned frame_encoding = header[1];
	unsigned count_encoding = header[2];
	struct cursor cursor = {header + HEADER_SIZE, available - HEADER_SIZE, false};
	/* Every linker writes this form of the table; another is a table we do not have. */
	if (header[3] != TABLE_DATAREL_SDATA4 || count_encoding == ENCODING_OMIT ||
	    encoded_size(image, frame_encoding) == 0 || encoded_size(image, count_encoding) == 0)
		return;
	read_bytes(&cursor, encoded_size(image, frame_encoding));
	uint64_t count = read_bytes(&cursor, encoded_size(image, count_encoding));
	if (cursor.is_bad || count > cursor.left / TABLE_ENTRY_SIZE)
		return;
	table->entries = cursor.at;
	table->count = (size_t)count;
}

static uint64_t table_value(const struct eh_frame_table *table, size_t entry, size_t offset)
{
	int32_t relative;
	memcpy(&relative, table->entries + entry * TABLE_ENTRY_SIZE + offset, sizeof(relative));
	return table->rva + (uint64_t)(int64_t)relative;
}

/* The last entry that starts at or below rva; false where there is none. */
static bool find_entry(const struct eh_frame_table *table, uint64_t rva, size_t *entry)
{
	size_t low = 0;
	size_t high = table->count;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (table_value(table, middle, 0) <= rva)
			low = middle + 1;
		else
			high = middle;
	}
	*entry = low - 1;
	return low > 0;
}

/* How the FDEs of a CIE encode addresses: what follows 'R' in its augmentation. */
static size_t cie_address_size(const struct symbol_image *image, uint64_t cie)
{
	struct cursor cursor = {0};
	cursor.at = symbol_image_bytes(image, cie, &cursor.left);
	if (!cursor.at || read_bytes(&cursor, 4) == UINT32_MAX)
		return 0;
	read_bytes(&cursor, 4);
	uint64_t version = read_bytes(&cursor, 1);
	char augmentation[AUGMENTATION_SIZE_MAX] = "";
	for (size_t i = 0; i < sizeof(augmentation); i++) {
		augmentation[i] = (char)read_bytes(&cursor, 1);
		if (augmentation[i] == '\0')
			break;
	}
	augmentation[sizeof(augmentation) - 1] = '\0';
	if (augmentation[0] != 'z')
		return word_size(image);
	skip_leb128(&cursor);
	skip_leb128(&cursor);
	if (version == 1)
		read_bytes(&cursor, 1);
	else
		skip_leb128(&cursor);
	skip_leb128(&cursor);
	for (const char *letter = augmentation + 1; *letter && !cursor.is_bad; letter++) {
		unsigned encoding = 0;
		if (*letter == 'R' || *letter == 'P' || *letter == 'L')
			encoding = (unsigned)read_bytes(&cursor, 1);
		if (*letter == 'R')
			return cursor.is_bad ? 0 : encoded_size(image, encoding);
		if (*letter == 'P')
			read_bytes(&cursor, encoded_size(image, encoding));
	}
	return cursor.is_bad ? 0 : word_size(image);
}

/* Bytes of code that the FDE describes; 0 where it does not say so in a form we know. */
static uint64_t fde_code_size(const struct symbol_image *image, uint64_t fde)
{
	struct cursor cursor = {0};
	cursor.at = symbol_image_bytes(image, fde, &cursor.left);
	if (!cursor.at)
		return 0;
	uint64_t length = read_bytes(&cursor, 4);
	uint64_t distance = read_bytes(&cursor, 4);
	/* Length 2^32-1 begins the 64-bit form, which no linker writes for .eh_frame. */
	if (cursor.is_bad || length == UINT32_MAX || distance == 0)
		return 0;
	size_t size = cie_address_size(image, fde + 4 - distance);
	if (size == 0)
		return 0;
	read_bytes(&cursor, size);
	uint64_t code_size = read_bytes(&cursor, size);
	return cursor.is_bad ? 0 : code_size;
}

bool eh_frame_find(const struct eh_frame_table *table, uint64_t rva, uint64_t *start,
		   uint64_t *size)
{
	size_t entry;
	if (!table->entries || !find_entry(table, rva, &entry))
		return false;
	*start = table_value(table, entry, 0);
	*size = fde_code_size(table->image, table_value(table, entry, 4));
	return true;
}

void eh_frame_resolve(struct symbol_image *image, struct symbol_address *addresses, size_t count)
{
	struct eh_frame_table table;
	bool is_open = false;
	for (size_t i = 0; i < count; i++) {
		struct symbol_entry *function = &addresses[i].function;
		uint64_t start;
		uint64_t size;
		if (function->name || function->is_pseudo)
			continue;
		if (!is_open)
			eh_frame_open(image, &table);
		is_open = true;
		if (!eh_frame_find(&table, addresses[i].rva, &start, &size) ||
		    addresses[i].rva - start >= size)
			continue;
		function->start = start;
		function->size = size;
		function->is_pseudo = true;
	}
}
