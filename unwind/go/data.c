#include "unwind/go/data.h"

#include "unwind/elf/elf.h"
#include <string.h>

enum {
	CHUNK = 16 * 1024,
	BYTES_MAX = 256 * 1024 * 1024, /* of variables that are searched */
	WORDS = 41                     /* of the description, as far as it is read */
};

/* Words of the description. A slice has three: where, length, capacity. */
enum {
	TABLE = 0,
	NAMES = 1,
	UNITS = 4,
	FILES = 7,
	VALUES = 10,
	FUNCTIONS = 13,
	INDEX = 16,
	MIN_PC = 20,
	MAX_PC = 21,
	TEXT = 22,
	RODATA = 37, /* with two words more in front since Go 1.20 */
	DATA = 38
};

struct search {
	const struct uw_elf *elf;
	const struct uw_go_clue *clue;
	bool is_1_20;
	uint8_t word;
	struct uw_go_data *data;
};

static uint64_t word_at(const struct search *search, const uint8_t *bytes, unsigned i)
{
	uint64_t word = 0;

	memcpy(&word, bytes + (size_t)i * search->word, search->word);
	return word;
}

/* Takes the description at an offset in the file, if it is one. */
static bool take_data(const struct search *search, uint64_t offset)
{
	const struct uw_go_clue *clue = search->clue;
	uint8_t bytes[WORDS * 8];
	struct {
		unsigned word;
		uint64_t value;
	} expected[] = {
		{TABLE, clue->table},
		{NAMES, clue->table + clue->names},
		{UNITS, clue->table + clue->units},
		{FILES, clue->table + clue->files},
		{VALUES, clue->table + clue->values},
		{FUNCTIONS, clue->table + clue->index},
		{INDEX, clue->table + clue->index},
	};

	if (!uw_elf_read(search->elf, offset, bytes, (uint64_t)WORDS * search->word))
		return false;
	for (unsigned i = 0; i < sizeof(expected) / sizeof(expected[0]); i++)
		if (word_at(search, bytes, expected[i].word) != expected[i].value)
			return false;
	uint64_t text = word_at(search, bytes, TEXT);
	if (word_at(search, bytes, MIN_PC) != text + clue->first ||
	    word_at(search, bytes, MAX_PC) != text + clue->end)
		return false;
	unsigned later = search->is_1_20 ? 2 : 0;
	uint64_t rodata = word_at(search, bytes, RODATA + later);
	uint64_t functions = word_at(search, bytes, DATA + later);
	const struct uw_segment *segment = uw_elf_segment(search->elf, functions);
	search->data->text = text;
	search->data->functions = segment && functions >= rodata ? functions : 0;
	return true;
}

static bool search_piece(const struct search *search, uint64_t offset, uint64_t size)
{
	uint8_t bytes[CHUNK];

	for (uint64_t at = 0; at < size; at += CHUNK) {
		uint64_t part = size - at < CHUNK ? size - at : CHUNK;

		if (!uw_elf_read(search->elf, offset + at, bytes, part))
			return false;
		for (unsigned i = 0; i < part / search->word; i++)
			if (word_at(search, bytes, i) == search->clue->table &&
			    take_data(search, offset + at + (uint64_t)i * search->word))
				return true;
	}
	return false;
}

bool uw_go_data_find(const struct uw_elf *elf, const struct uw_go_clue *clue, bool is_1_20,
		     struct uw_go_data *data)
{
	uint8_t word = elf->arch == UW_ARCH_I386 ? 4 : 8;
	struct search search = {elf, clue, is_1_20, word, data};
	uint64_t left = BYTES_MAX;

	for (size_t i = 0; i < elf->segment_count; i++) {
		const struct uw_segment *segment = &elf->segments[i];
		/* Words lie at addresses that are multiples of a word. */
		uint64_t skip = -segment->rva & (word - 1U);

		if (!segment->writable || segment->file_size <= skip)
			continue;
		uint64_t size = segment->file_size - skip < left ? segment->file_size - skip : left;
		if (search_piece(&search, segment->offset + skip, size))
			return true;
		left -= size;
	}
	return false;
}
