#include "tools/debuginfo/expansion.h"

#include "tools/memory/xalloc.h"
#include <endian.h>
#include <fcntl.h>
#include <gelf.h>
#include <libdeflate.h>
#include <lzma.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PIECE = 1 << 16, ALIGNMENT = 16 };

/* As libdwfl allows; dictionaries take memory as they are written. */
#define MEMORY_MAX ((uint64_t)1 << 30)
/* No deflate stream inflates to more times its size than this (RFC 1951: 258 bytes in 2 bits). */
#define RATIO_MAX       1032u
#define BYTE_ORDER_HERE (__BYTE_ORDER == __LITTLE_ENDIAN ? ELFDATA2LSB : ELFDATA2MSB)

struct expansion {
	int copy;
	Elf *elf;
	size_t names;
	uint64_t end;       /* of the copy; inflated sections go there */
	uint64_t left;      /* bytes to which compressed sections may still inflate */
	uint64_t read_left; /* of them; sections may overlap */
	struct libdeflate_decompressor *decompressor;
	bool has_symbols; /* seen: libdwfl reads the first .gnu_debugdata only */
};

static bool read_at(const struct expansion *expansion, uint64_t at, void *bytes, size_t size)
{
	return pread(expansion->copy, bytes, size, (off_t)at) == (ssize_t)size;
}

/* Whether .gnu_debugdata inflates within the limit. The decoder is libdwfl's. */
static bool has_small_symbols(const struct expansion *expansion, const GElf_Shdr *header)
{
	lzma_stream stream = LZMA_STREAM_INIT;
	uint8_t *in = xalloc_zeroed(PIECE, 2);
	uint64_t rest = header->sh_size;
	lzma_ret result = lzma_auto_decoder(&stream, MEMORY_MAX, 0);
	while (result == LZMA_OK && stream.total_out <= EXPANSION_SYMBOLS_MAX) {
		size_t size = rest < PIECE ? (size_t)rest : PIECE;
		if (stream.avail_in == 0 && size > 0 &&
		    read_at(expansion, header->sh_offset + header->sh_size - rest, in, size)) {
			stream.next_in = in;
			stream.avail_in = size;
			rest -= size;
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

/* The inflated size declared by a compressed section, and its compression header if there is one;
 * 0: not compressed. */
static uint64_t inflated_size(const struct expansion *expansion, Elf_Scn *section,
			      const GElf_Shdr *header, const char *name, GElf_Chdr *chdr)
{
	struct {
		char magic[4];
		uint64_t size;
	} __attribute__((packed)) gnu;
	*chdr = (GElf_Chdr){0};
	/* gelf_getchdr reads all of the section. */
	if (header->sh_flags & SHF_COMPRESSED)
		return header->sh_size <= expansion->read_left && gelf_getchdr(section, chdr)
			       ? chdr->ch_size
			       : UINT64_MAX;
	if (strncmp(name, ".zdebug", strlen(".zdebug")) != 0 || header->sh_size < sizeof(gnu) ||
	    !read_at(expansion, header->sh_offset, &gnu, sizeof(gnu)) ||
	    memcmp(gnu.magic, "ZLIB", sizeof(gnu.magic)) != 0)
		return 0;
	return be64toh(gnu.size);
}

/* By hand: libelf writes a file's headers only if all of them pass its checks. */
static bool write_header(const struct expansion *expansion, size_t index, const GElf_Shdr *header)
{
	GElf_Ehdr file;
	Elf32_Shdr narrow = {.sh_name = header->sh_name,
			     .sh_type = header->sh_type,
			     .sh_flags = (Elf32_Word)header->sh_flags,
			     .sh_addr = (Elf32_Addr)header->sh_addr,
			     .sh_offset = (Elf32_Off)header->sh_offset,
			     .sh_size = (Elf32_Word)header->sh_size,
			     .sh_link = header->sh_link,
			     .sh_info = header->sh_info,
			     .sh_addralign = (Elf32_Word)header->sh_addralign,
			     .sh_entsize = (Elf32_Word)header->sh_entsize};
	bool is_wide = gelf_getclass(expansion->elf) == ELFCLASS64;
	size_t size = is_wide ? sizeof(*header) : sizeof(narrow);
	return gelf_getehdr(expansion->elf, &file) && file.e_shentsize == size &&
	       file.e_ident[EI_DATA] == BYTE_ORDER_HERE &&
	       (is_wide || header->sh_offset + header->sh_size <= UINT32_MAX) &&
	       pwrite(expansion->copy, is_wide ? (const void *)header : &narrow, size,
		      (off_t)(file.e_shoff + index * size)) == (ssize_t)size;
}

/* Inflates the section to the copy's end. A section with a wrong size in its header stays as is. */
static void inflate_section(struct expansion *expansion, Elf_Scn *section, GElf_Shdr *header,
			    const GElf_Chdr *chdr)
{
	size_t skip = gelf_fsize(expansion->elf, ELF_T_CHDR, 1, EV_CURRENT);
	const Elf_Data *data = elf_rawdata(section, NULL);
	if (!expansion->decompressor || !data || data->d_size < skip || chdr->ch_size == 0 ||
	    chdr->ch_size / RATIO_MAX > data->d_size)
		return;
	void *bytes = malloc(chdr->ch_size);
	if (bytes &&
	    libdeflate_zlib_decompress(expansion->decompressor, (const char *)data->d_buf + skip,
				       data->d_size - skip, bytes, chdr->ch_size,
				       NULL) == LIBDEFLATE_SUCCESS &&
	    pwrite(expansion->copy, bytes, chdr->ch_size, (off_t)expansion->end) ==
		    (ssize_t)chdr->ch_size) {
		header->sh_offset = expansion->end;
		header->sh_size = chdr->ch_size;
		header->sh_addralign = chdr->ch_addralign;
		header->sh_flags &= ~(GElf_Xword)SHF_COMPRESSED;
		if (write_header(expansion, elf_ndxscn(section), header))
			expansion->end += (chdr->ch_size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
	}
	free(bytes);
}

/* Whether nobody here reads this section of debug information. */
static bool is_unread(const char *section)
{
	static const char *const names[] = {".debug_loc",          ".debug_loclists",
					    ".debug_aranges",      ".debug_macinfo",
					    ".debug_macro",        ".debug_pubnames",
					    ".debug_pubtypes",     ".debug_gnu_pubnames",
					    ".debug_gnu_pubtypes", ".debug_names",
					    ".gdb_index"};
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strcmp(section, names[i]) == 0)
			return true;
	return false;
}

static void expand_section(struct expansion *expansion, Elf_Scn *section, GElf_Shdr *header)
{
	const char *name = elf_strptr(expansion->elf, expansion->names, header->sh_name);
	GElf_Chdr chdr;
	bool has_symbols = name && strcmp(name, ".gnu_debugdata") == 0 && !expansion->has_symbols;
	expansion->has_symbols |= has_symbols;
	uint64_t size = inflated_size(expansion, section, header, name ? name : "", &chdr);
	if ((name && is_unread(name)) || size > expansion->left ||
	    (has_symbols && !has_small_symbols(expansion, header))) {
		fallocate(expansion->copy, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
			  (off_t)header->sh_offset, (off_t)header->sh_size);
		return;
	}
	expansion->left -= size;
	if (header->sh_flags & SHF_COMPRESSED)
		expansion->read_left -= header->sh_size;
	if (chdr.ch_type == ELFCOMPRESS_ZLIB)
		inflate_section(expansion, section, header, &chdr);
}

void expansion_make(int copy, uint64_t used)
{
	uint64_t size = (uint64_t)lseek(copy, 0, SEEK_END);
	struct expansion expansion = {
		.copy = copy,
		.end = (size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT,
		.left = EXPANSION_DEBUG_MAX,
		.read_left = used,
		.decompressor = libdeflate_alloc_decompressor(),
	};
	if (used > EXPANSION_DEBUG_MAX / EXPANSION_DEBUG_RATIO)
		expansion.left = used * EXPANSION_DEBUG_RATIO;
	elf_version(EV_CURRENT);
	expansion.elf = elf_begin(copy, ELF_C_READ, NULL);
	if (expansion.elf && elf_getshdrstrndx(expansion.elf, &expansion.names) == 0) {
		for (Elf_Scn *section = NULL; (section = elf_nextscn(expansion.elf, section));) {
			GElf_Shdr header;
			if (gelf_getshdr(section, &header) && header.sh_type != SHT_NOBITS &&
			    header.sh_size > 0 && header.sh_offset <= size &&
			    header.sh_size <= size - header.sh_offset)
				expand_section(&expansion, section, &header);
		}
	}
	elf_end(expansion.elf);
	libdeflate_free_decompressor(expansion.decompressor);
}
