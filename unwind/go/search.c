/* Where a file has the table. */
#include "unwind/elf/elf.h"
#include "unwind/go/data.h"
#include "unwind/go/table.h"

enum {
	CHUNK = 64 * 1024,
	BYTES_MAX = 256 * 1024 * 1024, /* searched in one file */
	CANDIDATES_MAX = 64,           /* places that look like a table */
	FIRST_WITH_DATA = 0xf0,        /* the first byte of forms since Go 1.18 */
	DATA_COST = 16,                /* candidates that a search of the data counts as */
	ALIGNMENT = 8                  /* of a table; linkers give 32 */
};

struct candidates {
	const struct uw_elf *elf;
	struct uw_go *go;
	unsigned left;
	uint64_t bytes_left;
};

/* Fills *clue from a table's start; false: too short, or of an older form. */
static bool read_clue(const struct uw_elf *elf, const struct uw_piece *piece,
		      struct uw_go_clue *clue, bool *is_1_20)
{
	uint8_t word = elf->arch == UW_ARCH_I386 ? 4 : 8, bytes[UW_GO_HEADER_MAX];
	struct uw_span span = {bytes, 8 + 8U * word, piece->rva};

	if (piece->size < span.size || !uw_elf_read(elf, piece->offset, bytes, span.size) ||
	    (bytes[0] != 0xf0 && bytes[0] != 0xf1))
		return false;
	*is_1_20 = bytes[0] == 0xf1;
	struct uw_cursor cursor = uw_cursor_of(&span, 8, span.size);
	uint64_t count = uw_read_number(&cursor, word, false);
	uw_read_skip(&cursor, 2U * word);
	*clue = (struct uw_go_clue){.table = piece->rva};
	clue->names = uw_read_number(&cursor, word, false);
	clue->units = uw_read_number(&cursor, word, false);
	clue->files = uw_read_number(&cursor, word, false);
	clue->values = uw_read_number(&cursor, word, false);
	clue->index = uw_read_number(&cursor, word, false);
	uint32_t first, end;
	if (cursor.failed || clue->index >= piece->size || count > piece->size ||
	    !uw_elf_read(elf, piece->offset + clue->index, &first, sizeof(first)) ||
	    !uw_elf_read(elf, piece->offset + clue->index + count * 8, &end, sizeof(end)))
		return false;
	clue->first = first;
	clue->end = end;
	return true;
}

/* Opens the table in a piece. Newer linkers leave it to the module's description where the code
 * starts. */
static int open_piece(struct uw_go *go, const struct uw_elf *elf, const struct uw_piece *piece)
{
	struct uw_go_clue clue;
	struct uw_go_data data;
	bool is_1_20;

	int result = uw_go_open(go, elf, piece, 0);
	if (result < 0 || go->span.size > 0 || !read_clue(elf, piece, &clue, &is_1_20) ||
	    !uw_go_data_find(elf, &clue, is_1_20, &data))
		return result;
	return uw_go_open(go, elf, piece, data.text);
}

int uw_go_open_named(struct uw_go *go, const struct uw_elf *elf)
{
	*go = (struct uw_go){0};
	return elf->go_table.size > 0 ? open_piece(go, elf, &elf->go_table) : 0;
}

/* Tries the places in bytes, read from an offset in the piece on, that start like a table. Returns
 * 1: opened, 0, or -1: out of memory. */
static int try_places(struct candidates *candidates, const struct uw_piece *piece,
		      const uint8_t *bytes, uint64_t at, uint64_t size)
{
	uint8_t word = candidates->elf->arch == UW_ARCH_I386 ? 4 : 8;

	for (uint64_t i = 0; i + ALIGNMENT <= size; i += ALIGNMENT) {
		if (bytes[i + 1] != 0xff || !uw_go_starts(bytes + i, word))
			continue;
		if (candidates->left == 0)
			return 0;
		/* Newer forms have all writable data searched. */
		unsigned cost = bytes[i] >= FIRST_WITH_DATA ? DATA_COST : 1;
		candidates->left -= cost < candidates->left ? cost : candidates->left;
		const struct uw_piece rest = {.offset = piece->offset + at + i,
					      .size = piece->size - at - i,
					      .rva = piece->rva + at + i};
		if (open_piece(candidates->go, candidates->elf, &rest) < 0)
			return -1;
		if (candidates->go->span.size > 0)
			return 1;
	}
	return 0;
}

/* Searches a piece of the file. Results as try_places. */
static int search_piece(struct candidates *candidates, const struct uw_piece *piece)
{
	uint8_t bytes[CHUNK];

	for (uint64_t at = -piece->rva % ALIGNMENT; at < piece->size; at += CHUNK) {
		uint64_t size = piece->size - at < CHUNK ? piece->size - at : CHUNK;

		if (candidates->left == 0 || candidates->bytes_left < size ||
		    !uw_elf_read(candidates->elf, piece->offset + at, bytes, size))
			return 0;
		candidates->bytes_left -= size;
		int result = try_places(candidates, piece, bytes, at, size);
		if (result != 0)
			return result;
	}
	return 0;
}

int uw_go_open_searched(struct uw_go *go, const struct uw_elf *elf)
{
	struct candidates candidates = {elf, go, CANDIDATES_MAX, BYTES_MAX};
	int result = 0;

	*go = (struct uw_go){0};
	if (elf->arch == UW_ARCH_AARCH64 || (!elf->is_go && elf->header.e_shnum != 0))
		return 0;
	for (size_t i = 0; i < elf->segment_count && result == 0; i++) {
		const struct uw_segment *segment = &elf->segments[i];
		const struct uw_piece piece = {segment->offset, segment->file_size, segment->rva};

		if (!segment->writable)
			result = search_piece(&candidates, &piece);
	}
	if (result == 0)
		result = search_piece(&candidates, &elf->relro);
	return result < 0 ? -1 : 0;
}

int uw_go_open_any(struct uw_go *go, const struct uw_elf *elf)
{
	int result = uw_go_open_named(go, elf);

	return result == 0 && go->span.size == 0 ? uw_go_open_searched(go, elf) : result;
}
