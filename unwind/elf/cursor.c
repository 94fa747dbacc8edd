#include "unwind/elf/cursor.h"

#include <assert.h>
#include <string.h>

struct uw_reader uw_reader_of(const struct uw_span *span, uint64_t offset, uint64_t size)
{
	/* An empty span may have no bytes, and no arithmetic is defined on a null pointer. */
	static const uint8_t nothing[1];
	struct uw_reader reader = {.at = nothing, .end = nothing, .rva = span->rva + offset};

	if (offset >= span->size) {
		reader.failed = offset > span->size;
		return reader;
	}
	if (size > span->size - offset)
		size = span->size - offset;
	reader.at = span->bytes + offset;
	reader.end = reader.at + size;
	return reader;
}

uint64_t uw_read_number(struct uw_reader *reader, unsigned size, bool is_signed)
{
	uint64_t value = 0;
	unsigned unused = 64 - 8 * size;
	assert(size > 0 && size <= sizeof(value));
	if (uw_reader_left(reader) < size) {
		uw_read_skip(reader, size);
		return 0;
	}
	memcpy(&value, reader->at, size);
	reader->at += size;
	reader->rva += size;
	return is_signed ? (uint64_t)((int64_t)(value << unused) >> unused) : value;
}

uint64_t uw_read_uleb_long(struct uw_reader *reader)
{
	uint64_t value = 0;

	for (unsigned shift = 0; shift < 70; shift += 7) {
		uint8_t byte = uw_read_u8(reader);
		uint64_t bits = byte & 0x7f;

		if (reader->failed)
			return 0;
		if (shift == 63 && bits > 1)
			break;
		value |= bits << shift;
		if (!(byte & 0x80))
			return value;
	}
	reader->failed = true;
	return 0;
}

int64_t uw_read_sleb(struct uw_reader *reader)
{
	uint64_t value = 0;

	for (unsigned shift = 0; shift < 70; shift += 7) {
		uint8_t byte = uw_read_u8(reader);

		if (reader->failed)
			return 0;
		value |= (uint64_t)(byte & 0x7f) << shift;
		if (byte & 0x80)
			continue;
		if ((byte & 0x40) && shift + 7 < 64)
			value |= ~UINT64_C(0) << (shift + 7);
		return (int64_t)value;
	}
	reader->failed = true;
	return 0;
}

void uw_read_skip(struct uw_reader *reader, uint64_t size)
{
	if (uw_reader_left(reader) < size) {
		reader->failed = true;
		size = uw_reader_left(reader);
	}
	reader->at += size;
	reader->rva += size;
}

/* The stored value, sign-extended where the format is signed; the base is not added. */
static uint64_t read_pointer_value(struct uw_reader *reader, uint8_t encoding)
{
	uint8_t format = encoding & UW_PE_FORMAT_MASK;
	switch (format) {
	case UW_PE_ABSPTR:
		return uw_read_u64(reader);
	case UW_PE_ULEB128:
		return uw_read_uleb(reader);
	case UW_PE_SLEB128:
		return (uint64_t)uw_read_sleb(reader);
	case UW_PE_UDATA2:
	case UW_PE_UDATA4:
	case UW_PE_UDATA8:
	case UW_PE_SDATA2:
	case UW_PE_SDATA4:
	case UW_PE_SDATA8:
		return uw_read_number(reader, 1u << ((format & 7) - 1), format & 8);
	default:
		reader->failed = true;
		return 0;
	}
}

uint64_t uw_read_pointer(struct uw_reader *reader, uint8_t encoding, uint64_t data_rva)
{
	uint64_t rva = reader->rva;
	uint64_t value = read_pointer_value(reader, encoding);

	if (encoding & UW_PE_INDIRECT) {
		reader->failed = true;
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
		reader->failed = true;
		return 0;
	}
}

void uw_read_pointer_skip(struct uw_reader *reader, uint8_t encoding, uint8_t word)
{
	if (encoding == UW_PE_OMIT)
		return;
	if ((encoding & UW_PE_BASE_MASK) == UW_PE_ALIGNED)
		uw_read_skip(reader, -reader->rva & (word - 1u));
	read_pointer_value(reader, encoding);
}
