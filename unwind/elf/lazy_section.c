#include "unwind/elf/lazy_section.h"

#include "unwind/elf/elf.h"
#include <assert.h>
#include <stdlib.h>

enum { BLOCK = 1 << UW_LAZY_SECTION_LOG_BLOCK };

int uw_lazy_section_open(struct uw_lazy_section *section, const struct uw_elf *elf,
			 const struct uw_piece *piece, struct uw_span *span)
{
	size_t blocks = (size_t)(piece->size / BLOCK + 1);

	*span = (struct uw_span){.rva = piece->rva};
	if (piece->size == 0 || piece->size > UW_FRAME_SIZE_MAX)
		return 0;
	assert(piece->offset <= elf->size && piece->size <= elf->size - piece->offset);
	section->elf = elf;
	section->offset = piece->offset;
	section->size = (size_t)piece->size;
	/* calloc touches no page of a block this large. */
	section->bytes = calloc(1, section->size);
	section->is_read = calloc(blocks, sizeof(*section->is_read));
	if (!section->bytes || !section->is_read)
		return -1;
	span->bytes = section->bytes;
	span->size = section->size;
	return 0;
}

void uw_lazy_section_finish(struct uw_lazy_section *section)
{
	free(section->bytes);
	free(section->is_read);
}

static bool read_block(const struct uw_lazy_section *section, size_t block)
{
	size_t offset = block << UW_LAZY_SECTION_LOG_BLOCK, size = section->size - offset;

	if (section->is_read[block])
		return true;
	if (size > BLOCK)
		size = BLOCK;
	if (!uw_elf_read(section->elf, section->offset + offset, section->bytes + offset, size))
		return false;
	section->is_read[block] = true;
	return true;
}

bool uw_lazy_section_read(const struct uw_lazy_section *section, size_t first, size_t last)
{
	assert(first <= last && last <= (section->size - 1) >> UW_LAZY_SECTION_LOG_BLOCK);
	for (size_t block = first; block <= last; block++)
		if (!read_block(section, block))
			return false;
	return true;
}
