#include "unwind/elf/elf.h"
#include <stdlib.h>
#include <string.h>

enum { LINE_SIZE = 4096, LINES = 4096, THROUGH_LINES_MAX = 2 * LINE_SIZE };

struct uw_line {
	uint64_t rva; /* a multiple of LINE_SIZE */
	size_t size;  /* as far as the segment goes on; 0: nothing was read */
	uint8_t bytes[LINE_SIZE];
};

void uw_lines_finish(struct uw_lines *lines)
{
	for (size_t i = 0; lines->line && i < LINES; i++)
		free(lines->line[i]);
	free(lines->line);
	lines->line = NULL;
}

/* The line of a segment that begins at rva; NULL: it begins in none, or in another one, cannot be
 * read, or there is no memory. */
static const struct uw_line *find_line(struct uw_lines *lines, const struct uw_elf *elf,
				       const struct uw_segment *segment, uint64_t rva)
{
	struct uw_line **place = &lines->line[rva / LINE_SIZE % LINES];

	if (uw_elf_segment(elf, rva) != segment)
		return NULL;
	if (!*place)
		*place = calloc(1, sizeof(**place));
	struct uw_line *line = *place;
	if (!line)
		return NULL;
	if (line->size > 0 && line->rva == rva)
		return line;
	line->size = 0;
	line->rva = rva;
	uint64_t left = segment->file_size - (rva - segment->rva);
	size_t size = left < LINE_SIZE ? (size_t)left : LINE_SIZE;
	if (!uw_elf_read(elf, segment->offset + (rva - segment->rva), line->bytes, size))
		return NULL;
	line->size = size;
	return line;
}

bool uw_lines_read(struct uw_lines *lines, const struct uw_elf *elf, uint64_t rva, void *bytes,
		   size_t size)
{
	const struct uw_segment *segment = uw_elf_segment(elf, rva);
	uint8_t *to = bytes;

	if (!segment || segment->writable || segment->file_size - (rva - segment->rva) < size)
		return false;
	if (!lines->line && !elf->image)
		lines->line = calloc(LINES, sizeof(struct uw_line *));
	if (!lines->line || size > THROUGH_LINES_MAX)
		return uw_elf_read_constant(elf, rva, bytes, size);
	while (size > 0) {
		size_t offset = (size_t)(rva % LINE_SIZE);
		const struct uw_line *line = find_line(lines, elf, segment, rva - offset);
		/* A segment may begin within a line. */
		if (!line || offset >= line->size)
			return uw_elf_read_constant(elf, rva, to, size);
		size_t part = line->size - offset < size ? line->size - offset : size;
		memcpy(to, line->bytes + offset, part);
		to += part;
		rva += part;
		size -= part;
	}
	return true;
}
