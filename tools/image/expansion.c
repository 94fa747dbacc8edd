#include "tools/image/expansion.h"

#include "tools/cli/xalloc.h"
#include <endian.h>
#include <fcntl.h>
#include <gelf.h>
#include <lzma.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PIECE = 1 << 16 };

/* As libdwfl allows; dictionaries take memory as they are written. */
#define MEMORY_MAX ((uint64_t)1 << 30)

struct limit {
	int copy;
	Elf *elf;
	size_t names;
	uint64_t left;   /* that compressed sections may still inflate to */
	bool symbols_at; /* libdwfl reads the first .gnu_debugdata only */
};

/* The section's bytes from *at on, up to a piece of them; 0: no more. */
static size_t read_piece(const struct limit *limit, const GElf_Shdr *header, uint64_t *at,
			 uint8_t *piece)
{
	uint64_t rest = header->sh_size - *at;
	ssize_t got = pread(limit->copy, piece, rest < PIECE ? (size_t)rest : PIECE,
			    (off_t)(header->sh_offset + *at));
	*at += got > 0 ? (uint64_t)got : 0;
	return got > 0 ? (size_t)got : 0;
}

/* Whether it inflates, to no more than is allowed. The decoder is libdwfl's. */
static bool inflates(const struct limit *limit, const GElf_Shdr *header)
{
	lzma_stream stream = LZMA_STREAM_INIT;
	uint8_t *in = xalloc_zeroed(PIECE, 2);
	uint64_t at = 0;
	lzma_ret result = lzma_auto_decoder(&stream, MEMORY_MAX, 0);
	while (result == LZMA_OK && stream.total_out <= EXPANSION_SYMBOLS_MAX) {
		if (stream.avail_in == 0) {
			stream.next_in = in;
			stream.avail_in = read_piece(limit, header, &at, in);
		}
		stream.next_out = in + PIECE;
		stream.avail_out = PIECE;
		result = lzma_code(&stream, stream.avail_in > 0 ? LZMA_RUN : LZMA_FINISH);
	}
	bool fits = result == LZMA_STREAM_END && stream.total_out <= EXPANSION_SYMBOLS_MAX;
	lzma_end(&stream);
	free(in);
	return fits;
}

/* What a compressed section says it inflates to; 0: it is not one. */
static uint64_t inflated_size(const struct limit *limit, Elf_Scn *section, const GElf_Shdr *header,
			      const char *name)
{
	struct {
		char magic[4];
		uint64_t size;
	} __attribute__((packed)) gnu;
	GElf_Chdr elf;
	if ((header->sh_flags & SHF_COMPRESSED) != 0)
		return gelf_getchdr(section, &elf) ? elf.ch_size : UINT64_MAX;
	if (strncmp(name, ".zdebug", strlen(".zdebug")) != 0 || header->sh_size < sizeof(gnu) ||
	    pread(limit->copy, &gnu, sizeof(gnu), (off_t)header->sh_offset) != sizeof(gnu) ||
	    memcmp(gnu.magic, "ZLIB", sizeof(gnu.magic)) != 0)
		return 0;
	return be64toh(gnu.size);
}

static bool is_allowed(struct limit *limit, Elf_Scn *section, const GElf_Shdr *header)
{
	const char *name = elf_strptr(limit->elf, limit->names, header->sh_name);
	if (name && strcmp(name, ".gnu_debugdata") == 0 && !limit->symbols_at) {
		limit->symbols_at = true;
		return inflates(limit, header);
	}
	uint64_t size = inflated_size(limit, section, header, name ? name : "");
	if (size > limit->left)
		return false;
	limit->left -= size;
	return true;
}

void expansion_limit(int copy, uint64_t used)
{
	struct limit limit = {.copy = copy, .left = EXPANSION_DEBUG_MAX};
	off_t size = lseek(copy, 0, SEEK_END);
	if (used > EXPANSION_DEBUG_MAX / EXPANSION_DEBUG_RATIO)
		limit.left = used * EXPANSION_DEBUG_RATIO;
	elf_version(EV_CURRENT);
	limit.elf = elf_begin(copy, ELF_C_READ, NULL);
	if (limit.elf && elf_getshdrstrndx(limit.elf, &limit.names) == 0) {
		for (Elf_Scn *section = NULL; (section = elf_nextscn(limit.elf, section));) {
			GElf_Shdr header;
			if (!gelf_getshdr(section, &header) || header.sh_type == SHT_NOBITS ||
			    header.sh_size == 0 || header.sh_offset > (uint64_t)size ||
			    header.sh_size > (uint64_t)size - header.sh_offset ||
			    is_allowed(&limit, section, &header))
				continue;
			fallocate(copy, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
				  (off_t)header.sh_offset, (off_t)header.sh_size);
		}
	}
	elf_end(limit.elf);
}
