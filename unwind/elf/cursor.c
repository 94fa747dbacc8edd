#include "unwind/elf/cursor.h"

#include <assert.h>
#include <string.h>

struct uw_cursor uw_cursor_of(const struct uw_span *span, uint64_t offset, uint64_t size)
{
	/* An empty span may have no bytes, and no arithmetic is defined on a null pointer. */
	static const uint8_t nothing[1];
	struct uw_cursor cursor = {.at = nothing, .end = nothing, .rva = span->rva + offset};

	if (offset >= span->size) {
		cursor.failed = offset > span->size;
		return cursor;
	}
	if (size > span->size - offset)
		size = span->size - offset;
	cursor.at = span->bytes + offset;
	cursor.end = cursor.at + size;
	return cursor;
}

uint64_t uw_read_number(struct uw_cursor *cursor, unsigned size, bool is_signed)
{
	uint64_t value = 0;
	unsigned unused = 64 - 8 * size;
	assert(size > 0 && size <= sizeof(value));
	if (uw_cursor_left(cursor) < size) {
		uw_read_skip(cursor, size);
		return 0;
	}
	memcpy(&value, cursor->at, size);
	cursor->at += size;
	cursor->rva += size;
	return is_signed ? (uint64_t)((int64_t)(value << unused) >> unused) : value;
}

uint64_t uw_read_uleb_long(struct uw_cursor *cursor)
{
	uint64_t value = 0;

	for (unsigned shift = 0; shift < 70; shift += 7) {
		uint8_t byte = uw_read_u8(cursor);
		uint64_t bits = byte & 0x7f;

		if (cursor->failed)
			return 0;
		if (shift == 63 && bits > 1)
			break;
		value |= bits << shift;
		if (!(byte & 0x80))
			return value;
	}
	cursor->failed = true;
	return 0;
}

int64_t uw_read_sleb(struct uw_cursor *cursor)
{
	uint64_t value = 0;

	for (unsigned shift = 0; shift < 70; shift += 7) {
		uint8_t byte = uw_read_u8(cursor);

		if (cursor->failed)
			return 0;
		value |= (uint64_t)(byte & 0x7f) << shift;
		if (byte & 0x80)
			continue;
		if ((byte & 0x40) && shift + 7 < 64)
			value |= ~UINT64_C(0) << (shift + 7);
		return (int64_t)value;
	}
	cursor->failed = true;
	return 0;
}

void uw_read_skip(struct uw_cursor *cursor, uint64_t size)
{
	if (uw_cursor_left(cursor) < size) {
		cursor->failed = true;
		size = uw_cursor_left(cursor);
	}
	cursor->at += size;
	cursor->rva += size;
}

/* The stored value, sign-extended where the format is signed; the base is not added. */
static uint64_t read_pointer_value(struct uw_cursor *cursor, uint8_t encoding)
{
	uint8_t format = encoding & UW_PE_FORMAT_MASK;
	switch (format) {
	case UW_PE_ABSPTR:
		return uw_read_u64(cursor);
	case UW_PE_ULEB128:
		return uw_read_uleb(cursor);
	case UW_PE_SLEB128:
		return (uint64_t)uw_read_sleb(cursor);
	case UW_PE_UDATA2:
	case UW_PE_UDATA4:
	case UW_PE_UDATA8:
	case UW_PE_SDATA2:
	case UW_PE_SDATA4:
	case UW_PE_SDATA8:
		return uw_read_number(cursor, 1u << ((format & 7) - 1), format & 8);
	default:
		cursor->failed = true;
		return 0;
	}
}

uint64_t uw_read_pointer(struct uw_cursor *cursor, uint8_t encoding, uint64_t data_rva)
{
	uint64_t rva = cursor->rva;
	uint64_t value = read_pointer_value(cursor, encoding);

	if (encoding & UW_PE_INDIRECT) {
		cursor->failed = true;
		return 0;
	}
	switch (encoding & UW_PE_BASE_MASK) {
	case UW_PE_ABSPTR:
		return value;
	case UW_PE_PCREL:
		return rva + value;
	case UW_PE_DATAREL:
		return data_rva + value;
	default:
		cursor->failed = true;
		return 0;
	}
}

void uw_read_pointer_skip(struct uw_cursor *cursor, uint8_t encoding, uint8_t word)
{
	if (encoding == UW_PE_OMIT)
		return;
	if ((encoding & UW_PE_BASE_MASK) == UW_PE_ALIGNED)
		uw_read_skip(cursor, -cursor->rva & (word - 1u));
	read_pointer_value(cursor, encoding);
}
