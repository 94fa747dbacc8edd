#include "unwind/elf/elf.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

bool uw_elf_has_changed(const struct uw_elf *elf)
{
	struct stat status;

	return elf->fd >= 0 &&
	       (fstat(elf->fd, &status) < 0 || (uint64_t)status.st_size != elf->size ||
		status.st_mtim.tv_sec != elf->modified.tv_sec ||
		status.st_mtim.tv_nsec != elf->modified.tv_nsec);
}

bool uw_elf_read(const struct uw_elf *elf, uint64_t offset, void *bytes, uint64_t size)
{
	uint8_t *at = bytes;

	if (offset > elf->size || size > elf->size - offset)
		return false;
	if (elf->image) {
		memcpy(bytes, elf->image + offset, size);
		return true;
	}
	while (size > 0) {
		ssize_t got = pread(elf->fd, at, size, (off_t)offset);

		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return false;
		at += got;
		offset += (uint64_t)got;
		size -= (uint64_t)got;
	}
	/* Asked afterwards: the time changes before the bytes do. */
	return !uw_elf_has_changed(elf);
}

int uw_elf_copy(const struct uw_elf *elf, const struct uw_piece *piece, uint8_t **bytes,
		struct uw_span *span)
{
	*bytes = NULL;
	*span = (struct uw_span){.rva = piece->rva};
	if (piece->size == 0 || piece->size > UW_FRAME_SIZE_MAX)
		return 0;
	assert(piece->offset <= elf->size && piece->size <= elf->size - piece->offset);
	*bytes = malloc(piece->size);
	if (!*bytes)
		return -1;
	if (!uw_elf_read(elf, piece->offset, *bytes, piece->size))
		return 0;
	span->bytes = *bytes;
	span->size = piece->size;
	return 0;
}

const struct uw_segment *uw_elf_segment(const struct uw_elf *elf, uint64_t rva)
{
	for (size_t i = 0; i < elf->segment_count; i++) {
		const struct uw_segment *segment = &elf->segments[i];

		if (rva >= segment->rva && rva - segment->rva < segment->file_size)
			return segment;
	}
	return NULL;
}

bool uw_elf_read_constant(const struct uw_elf *elf, uint64_t rva, void *bytes, size_t size)
{
	const struct uw_segment *segment = uw_elf_segment(elf, rva);

	if (!segment || segment->writable || segment->file_size - (rva - segment->rva) < size)
		return false;
	return uw_elf_read(elf, segment->offset + (rva - segment->rva), bytes, size);
}

void uw_elf_finish(struct uw_elf *elf)
{
	if (elf->fd >= 0)
		close(elf->fd);
	if (!elf->borrows)
		free(elf->image);
	free(elf->segments);
}
