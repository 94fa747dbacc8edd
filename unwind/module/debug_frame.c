#include "unwind/module/debug_frame.h"

#include "unwind/elf/elf.h"
#include "unwind/elf/headers.h"
#include <gelf.h>
#include <stdlib.h>
#include <string.h>

enum {
	GNU_HEAD = 12, /* of .zdebug_frame */
	ZSTD = 2       /* ELFCOMPRESS_ZSTD: in elf.h since glibc 2.37, in libelf since 0.189 */
};

/* The most bytes one byte of a stream can inflate to; 0: another compression. zlib, Technical
 * Details; Zstandard (RFC 8878, section 3.1.1.2): a block of 128 KB from 4 bytes. */
static uint64_t stream_ratio(uint32_t type)
{
	if (type == ELFCOMPRESS_ZLIB)
		return 1032;
	return type == ZSTD ? 32768 : 0;
}

/* The inflated size by the compressed section's header; 0: impossible. */
static uint64_t inflated_size(const struct uw_elf *elf, const uint8_t *bytes, size_t size)
{
	static const char gnu[] = {'Z', 'L', 'I', 'B'};
	Elf64_Chdr chdr = {.ch_type = ELFCOMPRESS_ZLIB};

	if (elf->debug_frame_packed == UW_COMPRESSION_GNU) {
		if (size < GNU_HEAD || memcmp(bytes, gnu, sizeof(gnu)) != 0)
			return 0;
		for (size_t i = sizeof(gnu); i < GNU_HEAD; i++)
			chdr.ch_size = chdr.ch_size << 8 | bytes[i];
	} else if (!uw_chdr_take(elf, bytes, size, &chdr)) {
		return 0;
	}
	uint64_t ratio = stream_ratio(chdr.ch_type);
	if (ratio == 0 || chdr.ch_size > UW_FRAME_SIZE_MAX || chdr.ch_size / ratio > size)
		return 0;
	return chdr.ch_size;
}

/* The compressed section of .debug_frame. */
static Elf_Scn *find_section(Elf *elf, const struct uw_elf *file)
{
	bool is_flagged = file->debug_frame_packed == UW_COMPRESSION_ELF;
	Elf_Scn *section = NULL;
	GElf_Shdr shdr;

	while ((section = elf_nextscn(elf, section)))
		if (gelf_getshdr(section, &shdr) && shdr.sh_offset == file->debug_frame.offset &&
		    shdr.sh_type != SHT_NOBITS && !(shdr.sh_flags & SHF_COMPRESSED) == !is_flagged)
			break;
	return section;
}

/* Inflates a section with libelf and copies the expected bytes. Returns 0, also if libelf cannot
 * inflate the section, or -1: out of memory. */
static int section_inflate(Elf_Scn *section, enum uw_compression packed, uint64_t expected,
			   uint8_t **bytes)
{
	if (!section || (packed == UW_COMPRESSION_GNU ? elf_compress_gnu(section, 0, 0)
						      : elf_compress(section, 0, 0)) < 0)
		return 0;
	Elf_Data *data = elf_rawdata(section, NULL);
	if (!data || data->d_size != expected)
		return 0;
	*bytes = malloc(expected);
	if (!*bytes)
		return -1;
	memcpy(*bytes, data->d_buf, expected);
	return 0;
}

/* Replaces the compressed section in *bytes and *span; leaves both empty on failure. */
static int debug_inflate(const struct uw_elf *file, uint8_t **bytes, struct uw_span *span)
{
	uint64_t size = inflated_size(file, span->bytes, span->size);
	uint8_t *inflated = NULL;
	Elf *elf = NULL;
	int result = 0;

	/* libelf reads the file with pread(2) too: ELF_C_READ, not one of the mapping commands. */
	if (size > 0 && file->fd >= 0 && elf_version(EV_CURRENT) != EV_NONE)
		elf = elf_begin(file->fd, ELF_C_READ, NULL);
	if (elf)
		result = section_inflate(find_section(elf, file), file->debug_frame_packed, size,
					 &inflated);
	elf_end(elf);
	free(*bytes);
	*bytes = inflated;
	*span = (struct uw_span){.bytes = inflated, .size = inflated ? size : 0};
	return result;
}

int uw_debug_frame_open(const struct uw_elf *elf, struct uw_debug_frame *frame)
{
	*frame = (struct uw_debug_frame){.cfi = {.arch = elf->arch, .is_debug = true}};
	if (uw_elf_copy(elf, &elf->debug_frame, &frame->bytes, &frame->cfi.frame) < 0)
		return -1;
	frame->cfi.frame.rva = 0;
	if (elf->debug_frame_packed != UW_COMPRESSION_NONE && frame->cfi.frame.size > 0) {
		if (debug_inflate(elf, &frame->bytes, &frame->cfi.frame) < 0)
			return -1;
		frame->is_refused = frame->cfi.frame.size == 0;
	}
	if (frame->cfi.frame.size > 0 && uw_cfi_init(&frame->cfi, &(struct uw_span){0}) == 0)
		return 0;
	uw_cfi_finish(&frame->cfi);
	free(frame->bytes);
	frame->bytes = NULL;
	return frame->cfi.frame.size > 0 ? -1 : 0;
}
