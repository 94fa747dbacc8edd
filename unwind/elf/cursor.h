/* A bounded cursor over untrusted bytes: integers, LEB128, DW_EH_PE pointers. */
#ifndef UNWIND_ELF_CURSOR_H
#define UNWIND_ELF_CURSOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Bytes of a module in private memory, and the ELF virtual address of the first. */
struct uw_span {
	const uint8_t *bytes;
	size_t size;
	uint64_t rva;
};

/*
 * A read past the end yields 0 and sets failed; failed stays set: one check after several reads is
 * enough.
 */
struct uw_cursor {
	const uint8_t *at;
	const uint8_t *end;
	uint64_t rva; /* of *at */
	bool failed;
};

/* A cursor over span[offset, offset + size), clipped to the span; failed when offset is beyond it.
 */
struct uw_cursor uw_cursor_of(const struct uw_span *span, uint64_t offset, uint64_t size);

/* A little-endian number of 1, 2, 4 or 8 bytes, extended to 64 bits. */
uint64_t uw_read_number(struct uw_cursor *cursor, unsigned size, bool is_signed);
uint64_t uw_read_uleb_long(struct uw_cursor *cursor);
int64_t uw_read_sleb(struct uw_cursor *cursor);
void uw_read_skip(struct uw_cursor *cursor, uint64_t size);

static inline uint8_t uw_read_u8(struct uw_cursor *cursor)
{
	if (cursor->at == cursor->end) {
		cursor->failed = true;
		return 0;
	}
	cursor->rva++;
	return *cursor->at++;
}

static inline uint16_t uw_read_u16(struct uw_cursor *cursor)
{
	return (uint16_t)uw_read_number(cursor, 2, false);
}

static inline uint32_t uw_read_u32(struct uw_cursor *cursor)
{
	return (uint32_t)uw_read_number(cursor, 4, false);
}

static inline uint64_t uw_read_u64(struct uw_cursor *cursor)
{
	return uw_read_number(cursor, 8, false);
}

/* Fails where the value needs more than 64 bits. */
static inline uint64_t uw_read_uleb(struct uw_cursor *cursor)
{
	/* Nearly all have one byte. */
	if (cursor->at < cursor->end && *cursor->at < 0x80) {
		cursor->rva++;
		return *cursor->at++;
	}
	return uw_read_uleb_long(cursor);
}

static inline size_t uw_cursor_left(const struct uw_cursor *cursor)
{
	return (size_t)(cursor->end - cursor->at);
}

/* Pointer encodings: Linux Standard Base Core 5.0, section 10.5.1. */
enum {
	UW_PE_ABSPTR = 0x00,
	UW_PE_ULEB128 = 0x01,
	UW_PE_UDATA2 = 0x02,
	UW_PE_UDATA4 = 0x03,
	UW_PE_UDATA8 = 0x04,
	UW_PE_SLEB128 = 0x09,
	UW_PE_SDATA2 = 0x0a,
	UW_PE_SDATA4 = 0x0b,
	UW_PE_SDATA8 = 0x0c,
	UW_PE_FORMAT_MASK = 0x0f,
	UW_PE_PCREL = 0x10,
	UW_PE_DATAREL = 0x30,
	UW_PE_ALIGNED = 0x50,
	UW_PE_BASE_MASK = 0x70,
	UW_PE_INDIRECT = 0x80,
	UW_PE_OMIT = 0xff
};

/*
 * Reads a pointer as an ELF virtual address; data_rva is the base of UW_PE_DATAREL. UW_PE_ABSPTR is
 * read as 8 bytes: a 32-bit file's encodings have to be made explicit before. Bases unknown to a
 * file alone (text, function, indirect) set failed, after the bytes were consumed.
 */
uint64_t uw_read_pointer(struct uw_cursor *cursor, uint8_t encoding, uint64_t data_rva);

/* Skips a pointer of any base. word: bytes of an address, and the alignment of aligned pointers. */
void uw_read_pointer_skip(struct uw_cursor *cursor, uint8_t encoding, uint8_t word);

#endif
