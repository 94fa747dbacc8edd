#include "unwind/cfi/find.h"

#include "containers/array.h"
#include "unwind/cfi/row.h"
#include "unwind/elf/elf.h"
#include "unwind/frame/machine.h"
#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum {
	HDR_ENTRY_SIZE = 8,
	LENGTH_SIZE_MAX = 12,                   /* of a record: the wide form */
	BODY_MAX = UW_CFA_CODE_SIZE_MAX + 4096, /* of a record to run; longer ones are not run */
	CIE_VERSION_GCC = 1,                    /* of .eh_frame; DWARF 3 and 4 have 3 and 4 */
	AUGMENTATION_MAX = 16
};

static_assert(HDR_ENTRY_SIZE == 2 * sizeof(int32_t), "the address of code and of its FDE");

/* One record of .eh_frame. */
struct record {
	struct uw_cursor body; /* after the CIE pointer */
	uint64_t cie_offset;   /* of an FDE's CIE */
	uint64_t next;         /* offset of the next record */
	bool is_cie;
	bool is_terminator;
};

/* The fields that FDEs take from their CIE. */
struct cie {
	struct uw_cursor code;
	uint64_t code_align;
	int64_t data_align;
	uint8_t encoding;
	bool signal;
	bool sized; /* augmentation 'z': FDEs carry the length of their augmentation data */
};

/* The last CIE read: many FDEs share few CIEs. Zeroed at first. */
struct last_cie {
	uint64_t offset;
	bool holds;
	struct cie cie;
};

/* Makes sure that the bytes of the frame have been read. */
static bool frame_has(const struct uw_cfi *cfi, uint64_t offset, uint64_t size)
{
	return uw_lazy_section_want(&cfi->section, offset, size);
}

/* Returns false if no whole record starts at offset. */
static bool read_record(const struct uw_cfi *cfi, uint64_t offset, struct record *record)
{
	struct uw_cursor cursor = uw_cursor_of(&cfi->frame, offset, UINT64_MAX);
	uint64_t pointer;

	if (!frame_has(cfi, offset, LENGTH_SIZE_MAX))
		return false;
	uint64_t length = uw_read_u32(&cursor);
	bool wide = length == UINT32_MAX;
	if (wide)
		length = uw_read_u64(&cursor);
	if (cursor.failed)
		return false;
	uint64_t pointer_offset = cursor.rva - cfi->frame.rva;
	record->next = pointer_offset + length;
	record->is_terminator = length == 0;
	if (record->is_terminator)
		return true;
	if (length > uw_cursor_left(&cursor) ||
	    !frame_has(cfi, pointer_offset, length < BODY_MAX ? length : BODY_MAX))
		return false;
	cursor.end = cursor.at + length;
	if (cfi->is_debug) {
		/* Offsets from the section's start, as wide as the form; all ones mark a CIE. */
		pointer = wide ? uw_read_u64(&cursor) : uw_read_u32(&cursor);
		record->is_cie = pointer == (wide ? UINT64_MAX : UINT32_MAX);
		record->cie_offset = pointer;
		record->body = cursor;
		return !cursor.failed;
	}
	/* In .eh_frame the CIE pointer counts backwards from itself, and stays 4 bytes wide in the
	 * 64-bit form (LSB Core 5.0, section 10.6.1); 0 marks a CIE. */
	pointer = uw_read_u32(&cursor);
	if (cursor.failed || pointer > pointer_offset)
		return false;
	record->is_cie = pointer == 0;
	record->cie_offset = pointer_offset - pointer;
	record->body = cursor;
	return true;
}

/* The encoding with the machine's address size made explicit. */
static uint8_t encoding_sized(uint8_t encoding, uint8_t word)
{
	if (encoding == UW_PE_OMIT || (encoding & UW_PE_FORMAT_MASK) != UW_PE_ABSPTR)
		return encoding;
	return (uint8_t)(encoding | (word == 4 ? UW_PE_UDATA4 : UW_PE_UDATA8));
}

/* Reads the augmentation string's characters; unknown ones are fine once 'z' gave a length. */
static bool read_augmentation(struct uw_cursor *cursor, const char *string, uint8_t word,
			      struct cie *cie)
{
	struct uw_cursor data = *cursor;

	if (string[0] == '\0')
		return true;
	if (string[0] != 'z')
		return false;
	cie->sized = true;
	uint64_t size = uw_read_uleb(cursor);
	data = *cursor;
	uw_read_skip(cursor, size);
	if (cursor->failed)
		return false;
	data.end = cursor->at;
	for (const char *c = string + 1; *c != '\0'; c++) {
		if (*c == 'R')
			cie->encoding = encoding_sized(uw_read_u8(&data), word);
		else if (*c == 'P')
			uw_read_pointer_skip(&data, encoding_sized(uw_read_u8(&data), word), word);
		else if (*c == 'L')
			(void)uw_read_u8(&data);
		else if (*c == 'S')
			cie->signal = true;
		else if (*c != 'B') /* 'B': aarch64, return addresses are signed with key B */
			return true;
	}
	return !data.failed;
}

static bool read_cie(const struct uw_cfi *cfi, uint64_t offset, struct cie *cie)
{
	char augmentation[AUGMENTATION_MAX] = "";
	struct record record;
	struct uw_cursor *cursor = &record.body;
	const struct uw_machine *machine = uw_machine_of(cfi->arch);
	size_t i;

	if (!read_record(cfi, offset, &record) || record.is_terminator || !record.is_cie)
		return false;
	uint8_t version = uw_read_u8(cursor);
	if (version != CIE_VERSION_GCC && version != 3 && version != 4)
		return false;
	for (i = 0; i < sizeof(augmentation); i++) {
		augmentation[i] = (char)uw_read_u8(cursor);
		if (augmentation[i] == '\0')
			break;
	}
	if (i == sizeof(augmentation))
		return false;
	if (version == 4 && (uw_read_u8(cursor) != machine->word || uw_read_u8(cursor) != 0))
		return false; /* address size, segment selector size */
	*cie = (struct cie){.encoding = encoding_sized(UW_PE_ABSPTR, machine->word)};
	cie->code_align = uw_read_uleb(cursor);
	cie->data_align = uw_read_sleb(cursor);
	uint64_t ra = version == CIE_VERSION_GCC ? uw_read_u8(cursor) : uw_read_uleb(cursor);
	if (ra != machine->ra)
		return false;
	if (!read_augmentation(cursor, augmentation, machine->word, cie) || cursor->failed)
		return false;
	cie->code = *cursor;
	return true;
}

/* The CIE at offset, from *last if the same; NULL: malformed. */
static const struct cie *find_cie(const struct uw_cfi *cfi, uint64_t offset, struct last_cie *last)
{
	if (last->holds && last->offset == offset)
		return &last->cie;
	last->holds = read_cie(cfi, offset, &last->cie);
	last->offset = offset;
	return last->holds ? &last->cie : NULL;
}

/* Reads the FDE in a record. */
static bool read_fde(const struct uw_cfi *cfi, const struct record *record, struct last_cie *last,
		     struct uw_fde *fde)
{
	const struct cie *cie = find_cie(cfi, record->cie_offset, last);
	struct uw_cursor cursor = record->body;

	if (!cie)
		return false;
	fde->start = uw_word_wrap(uw_read_pointer(&cursor, cie->encoding, cfi->hdr_rva),
				  uw_machine_of(cfi->arch)->word);
	uint64_t size = uw_read_pointer(&cursor, cie->encoding & UW_PE_FORMAT_MASK, 0);
	if (cie->sized)
		uw_read_skip(&cursor, uw_read_uleb(&cursor));
	if (cursor.failed || __builtin_add_overflow(fde->start, size, &fde->end))
		return false;
	fde->cfi = cfi;
	fde->code_align = cie->code_align;
	fde->data_align = cie->data_align;
	fde->encoding = cie->encoding;
	fde->signal = cie->signal;
	fde->cie_code = cie->code;
	fde->code = cursor;
	return true;
}

static int compare_entries(const void *left, const void *right)
{
	const struct uw_cfi_entry *a = left, *b = right;

	return (a->start > b->start) - (a->start < b->start);
}

/* Linkers concatenate .eh_frame inputs: records may follow a terminator in the middle. */
static int build_index(struct uw_cfi *cfi)
{
	struct last_cie last = {0};
	size_t capacity = 0;
	struct record record;
	assert(!cfi->index && cfi->table.size == 0); /* there is one of the two */

	for (uint64_t offset = 0; read_record(cfi, offset, &record); offset = record.next) {
		struct uw_fde fde;

		if (record.is_terminator || record.is_cie)
			continue;
		if (!read_fde(cfi, &record, &last, &fde) || fde.start == fde.end)
			continue;
		if (!array_reserve(&cfi->index, &capacity, cfi->index_count + 1,
				   sizeof(*cfi->index)))
			return -1;
		cfi->index[cfi->index_count++] =
			(struct uw_cfi_entry){.start = fde.start, .offset = offset};
	}
	if (cfi->index_count)
		qsort(cfi->index, cfi->index_count, sizeof(*cfi->index), compare_entries);
	return 0;
}

struct hdr {
	struct uw_cursor rest; /* after the pointer to .eh_frame */
	uint64_t frame_rva;
	uint8_t count_encoding, table_encoding;
};

static bool read_hdr(const struct uw_span *span, struct hdr *hdr)
{
	struct uw_cursor cursor = uw_cursor_of(span, 0, UINT64_MAX);
	uint8_t version = uw_read_u8(&cursor);
	uint8_t frame_encoding = uw_read_u8(&cursor);

	hdr->count_encoding = uw_read_u8(&cursor);
	hdr->table_encoding = uw_read_u8(&cursor);
	if (version != 1 || frame_encoding == UW_PE_OMIT)
		return false;
	hdr->frame_rva = uw_read_pointer(&cursor, frame_encoding, span->rva);
	hdr->rest = cursor;
	return !cursor.failed;
}

bool uw_cfi_hdr_frame(const struct uw_span *hdr, uint64_t *frame_rva)
{
	struct hdr fields;

	if (!read_hdr(hdr, &fields))
		return false;
	*frame_rva = fields.frame_rva;
	return true;
}

/* Sorted, as LSB demands: results then do not depend on the order of the search. */
static bool table_is_sorted(const struct uw_cfi *cfi)
{
	int32_t before = INT32_MIN, start;
	bool sorted = true;

	for (size_t at = 0; at < cfi->table.size; at += HDR_ENTRY_SIZE) {
		memcpy(&start, cfi->table.bytes + at, sizeof(start));
		sorted &= before <= start;
		before = start;
	}
	return sorted;
}

/* Reads up to the table; returns its number of entries, 0 if not of the common form. */
static uint64_t read_hdr_count(const struct uw_span *span, struct hdr *hdr)
{
	if (!read_hdr(span, hdr) || hdr->count_encoding == UW_PE_OMIT ||
	    hdr->table_encoding != (UW_PE_DATAREL | UW_PE_SDATA4))
		return 0;
	uint64_t count = uw_read_pointer(&hdr->rest, hdr->count_encoding, span->rva);
	return hdr->rest.failed ? 0 : count;
}

uint64_t uw_cfi_hdr_count(const struct uw_span *hdr)
{
	struct hdr fields;

	return read_hdr_count(hdr, &fields);
}

int uw_cfi_open(struct uw_cfi *cfi, const struct uw_elf *elf, const struct uw_piece *frame,
		const struct uw_span *hdr)
{
	struct hdr fields;

	*cfi = (struct uw_cfi){.arch = elf->arch, .hdr_rva = hdr->rva};
	if (uw_lazy_section_open(&cfi->section, elf, frame, &cfi->frame) < 0)
		return -1;
	if (cfi->frame.size == 0)
		return 0;
	uint64_t count = read_hdr_count(hdr, &fields);
	if (count == 0 || count > uw_cursor_left(&fields.rest) / HDR_ENTRY_SIZE)
		return build_index(cfi);
	cfi->table.bytes = fields.rest.at;
	cfi->table.size = (size_t)count * HDR_ENTRY_SIZE;
	cfi->table.rva = fields.rest.rva;
	if (table_is_sorted(cfi))
		return 0;
	cfi->table = (struct uw_span){0};
	return build_index(cfi);
}

int uw_cfi_open_debug(struct uw_cfi *cfi, enum uw_arch arch, const struct uw_span *frame)
{
	*cfi = (struct uw_cfi){.arch = arch, .frame = *frame, .is_debug = true};
	return build_index(cfi);
}

void uw_cfi_finish(struct uw_cfi *cfi)
{
	free(cfi->index);
	uw_lazy_section_finish(&cfi->section);
}

size_t uw_cfi_count(const struct uw_cfi *cfi)
{
	return cfi->table.size ? cfi->table.size / HDR_ENTRY_SIZE : cfi->index_count;
}

static uint64_t table_field(const struct uw_cfi *cfi, size_t i, size_t field)
{
	int32_t value;

	memcpy(&value, cfi->table.bytes + i * HDR_ENTRY_SIZE + field, sizeof(value));
	return cfi->hdr_rva + (uint64_t)(int64_t)value;
}

uint64_t uw_cfi_entry_start(const struct uw_cfi *cfi, size_t i)
{
	return cfi->table.size ? table_field(cfi, i, 0) : cfi->index[i].start;
}

static uint64_t entry_offset(const struct uw_cfi *cfi, size_t i)
{
	return cfi->table.size ? table_field(cfi, i, 4) - cfi->frame.rva : cfi->index[i].offset;
}

/* The number of entries that start at or before rva. */
static size_t entries_until(const struct uw_cfi *cfi, uint64_t rva)
{
	size_t count = uw_cfi_count(cfi), first = 0;

	/* Halves without a branch on the outcome, which no CPU predicts: the entries before `first`
	 * start at or before rva, those from first + count on after rva. */
	while (count > 0) {
		size_t half = count / 2;
		bool before = uw_cfi_entry_start(cfi, first + half) <= rva;

		first = before ? first + half + 1 : first;
		count = before ? count - half - 1 : half;
	}
	return first;
}

/* Reads an entry's FDE; false: malformed. */
static bool read_entry(const struct uw_cfi *cfi, size_t entry, struct uw_fde *fde)
{
	struct last_cie none = {0};
	struct record record;
	assert(entry < uw_cfi_count(cfi));

	return read_record(cfi, entry_offset(cfi, entry), &record) && !record.is_terminator &&
	       !record.is_cie && read_fde(cfi, &record, &none, fde);
}

uint64_t uw_cfi_covered(const struct uw_cfi *cfi)
{
	uint64_t covered = 0;

	for (size_t i = 0; i < uw_cfi_count(cfi); i++) {
		struct uw_fde fde;

		if (read_entry(cfi, i, &fde))
			covered += fde.end - fde.start;
	}
	return covered;
}

enum uw_cfi_result uw_cfi_find(const struct uw_cfi *cfi, uint64_t rva, struct uw_fde *fde,
			       struct uw_cfi_gap *gap)
{
	size_t until = entries_until(cfi, rva);

	gap->start = 0;
	gap->end = until < uw_cfi_count(cfi) ? uw_cfi_entry_start(cfi, until) : UINT64_MAX;
	if (until == 0)
		return UW_CFI_NONE;
	if (!read_entry(cfi, until - 1, fde))
		return UW_CFI_BAD;
	if (rva >= fde->start && rva < fde->end)
		return UW_CFI_OK;
	gap->start = fde->end <= rva ? fde->end : 0;
	return UW_CFI_NONE;
}

enum uw_cfi_result uw_cfi_find_either(const struct uw_cfi *one, const struct uw_cfi *other,
				      uint64_t rva, struct uw_fde *fde, struct uw_cfi_gap *gap)
{
	enum uw_cfi_result result = uw_cfi_find(one, rva, fde, gap);
	struct uw_cfi_gap second;

	if (result != UW_CFI_NONE || other->frame.size == 0)
		return result;
	result = uw_cfi_find(other, rva, fde, &second);
	if (result == UW_CFI_NONE) {
		gap->start = second.start > gap->start ? second.start : gap->start;
		gap->end = second.end < gap->end ? second.end : gap->end;
	}
	return result;
}
