#include "tools/symbols/frame_entry.h"

#include <string.h>

/* Pointer encodings (DW_EH_PE_*): the low four bits are the format, the next three what it is
 * relative to. */
#define FORMAT_MASK           0x0fu
#define FORMAT_ABSPTR         0x00u
#define FORMAT_UDATA2         0x02u
#define FORMAT_UDATA4         0x03u
#define FORMAT_UDATA8         0x04u
#define FORMAT_SIGNED         0x08u
#define BASE_MASK             0xf0u
#define BASE_NONE             0x00u
#define BASE_HERE             0x10u
#define ENCODING_UNKNOWN      0xffu
#define AUGMENTATION_SIZE_MAX 16u
#define LEB128_SIZE_MAX       10u

/* Reads forward through bytes of the file; is_bad sticks once something ran over the end. */
struct cursor {
	const uint8_t *at;
	size_t left;
	bool is_bad;
};

static struct cursor cursor_at(const struct frame_bytes *bytes, uint64_t rva)
{
	struct cursor cursor = {0};
	if (!bytes->section) {
		cursor.at = symbol_image_bytes(bytes->image, rva, &cursor.left);
	} else if (rva - bytes->rva < bytes->size) {
		cursor.at = bytes->section + (rva - bytes->rva);
		cursor.left = bytes->size - (rva - bytes->rva);
	}
	cursor.is_bad = !cursor.at;
	return cursor;
}

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
	for (size_t i = 0; i < LEB128_SIZE_MAX; i++) {
		if (!(read_bytes(cursor, 1) & 0x80))
			return;
	}
	cursor->is_bad = true;
}

/* Bytes of an address in the file. */
static size_t word_size(const struct symbol_image *image)
{
	return gelf_getclass(image->elf) == ELFCLASS32 ? 4 : 8;
}

size_t frame_entry_value_size(const struct symbol_image *image, unsigned encoding)
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

/* How the FDEs of a CIE encode addresses: what follows 'R' in its augmentation. */
static unsigned cie_encoding(const struct frame_bytes *bytes, uint64_t cie)
{
	struct cursor cursor = cursor_at(bytes, cie);
	if (read_bytes(&cursor, 4) == UINT32_MAX)
		return ENCODING_UNKNOWN;
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
		return cursor.is_bad ? ENCODING_UNKNOWN : FORMAT_ABSPTR;
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
			return cursor.is_bad ? ENCODING_UNKNOWN : encoding;
		if (*letter == 'P')
			read_bytes(&cursor, frame_entry_value_size(bytes->image, encoding));
	}
	return cursor.is_bad ? ENCODING_UNKNOWN : FORMAT_ABSPTR;
}

/* What the value at rva means; 0 for what is relative to something that only a process has. */
static uint64_t address_of(const struct symbol_image *image, unsigned encoding, uint64_t value,
			   uint64_t rva)
{
	unsigned unused = 64 - 8 * (unsigned)frame_entry_value_size(image, encoding);
	unsigned base = encoding & BASE_MASK;
	if (base != BASE_NONE && base != BASE_HERE)
		return 0;
	if (encoding & FORMAT_SIGNED)
		value = (uint64_t)((int64_t)(value << unused) >> unused);
	uint64_t address = value + (base == BASE_HERE ? rva : 0);
	return word_size(image) == 4 ? (uint32_t)address : address;
}

bool frame_entry_read(const struct frame_bytes *bytes, uint64_t rva, struct frame_entry *entry)
{
	struct cursor cursor = cursor_at(bytes, rva);
	uint64_t length = read_bytes(&cursor, 4);
	*entry = (struct frame_entry){.size = 4 + length};
	/* Length 2^32-1 begins the 64-bit form, which no linker writes for .eh_frame. */
	if (cursor.is_bad || length == UINT32_MAX || length > cursor.left)
		return false;
	uint64_t distance = length >= 4 ? read_bytes(&cursor, 4) : 0;
	if (distance == 0)
		return true;
	unsigned encoding = cie_encoding(bytes, rva + 4 - distance);
	size_t size = frame_entry_value_size(bytes->image, encoding);
	if (size == 0)
		return true;
	uint64_t value = read_bytes(&cursor, size);
	uint64_t code_size = read_bytes(&cursor, size);
	if (cursor.is_bad)
		return true;
	entry->start = address_of(bytes->image, encoding, value, rva + 8);
	entry->code_size = code_size;
	return true;
}
