/*
 * A section of a file read on demand, in blocks: each block is read at its first use and kept.
 * Unused blocks cost address space only. Never mapped: a file that shrinks costs information, not a
 * SIGBUS.
 */
#ifndef UNWIND_ELF_LAZY_SECTION_H
#define UNWIND_ELF_LAZY_SECTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct uw_elf;
struct uw_piece;
struct uw_span;

enum { UW_LAZY_SECTION_LOG_BLOCK = 14 };

/* Zeroed at first. */
struct uw_lazy_section {
	const struct uw_elf *elf; /* borrowed */
	uint64_t offset;          /* in the file */
	size_t size;
	uint8_t *bytes; /* owned; 0 where not read yet */
	bool *is_read;  /* owned: of each block */
};

/* Makes a section of a piece of the file, with *span over its bytes; empty if the piece is empty or
 * larger than a section should be. Returns 0, or -1: out of memory. */
int uw_lazy_section_open(struct uw_lazy_section *section, const struct uw_elf *elf,
			 const struct uw_piece *piece, struct uw_span *span);
void uw_lazy_section_finish(struct uw_lazy_section *section);

/* Reads the missing blocks from first to last; false: the file no longer holds them. */
bool uw_lazy_section_read(const struct uw_lazy_section *section, size_t first, size_t last);

/* Makes sure that the bytes [offset, offset + size), clipped to the section, have been read; false:
 * the file no longer holds them. */
static inline bool uw_lazy_section_want(const struct uw_lazy_section *section, uint64_t offset,
					uint64_t size)
{
	size_t first, last;

	if (size == 0 || offset >= section->size)
		return true;
	if (size > section->size - offset)
		size = section->size - offset;
	first = (size_t)(offset >> UW_LAZY_SECTION_LOG_BLOCK);
	last = (size_t)((offset + size - 1) >> UW_LAZY_SECTION_LOG_BLOCK);
	if (__builtin_expect(first == last && section->is_read[first], 1))
		return true;
	return uw_lazy_section_read(section, first, last);
}

#endif
