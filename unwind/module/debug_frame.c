#include "unwind/module/debug_frame.h"

#include "unwind/elf/elf.h"
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

/* As far as uw_elf_copy tells: not absent, too large, or changed. */
static bool is_readable(const struct uw_elf *file)
{
	uint64_t size = file->debug_frame.size;

	return size > 0 && size <= UW_FRAME_SIZE_MAX && !uw_elf_has_changed(file);
}

/* The compressed section of .debug_frame; NULL: not there, or no elf. */
static Elf_Scn *find_section(Elf *elf, const struct uw_elf *file)
{
	bool is_flagged = file->debug_frame_packed == UW_COMPRESSION_ELF;
	Elf_Scn *section = NULL;
	GElf_Shdr shdr;

	while ((section = elf_nextscn(elf, section)))
		if (gelf_getshdr(section, &shdr) && shdr.sh_offset == file->debug_frame.offset &&
		    shdr.sh_size == file->debug_frame.size && shdr.sh_type != SHT_NOBITS &&
		    !(shdr.sh_flags & SHF_COMPRESSED) == !is_flagged)
			break;
	return section;
}

/* The inflated size by the compressed section's header; 0: impossible. */
static uint64_t inflated_size(const struct uw_elf *file, Elf_Scn *section)
{
	static const char gnu[] = {'Z', 'L', 'I', 'B'};
	GElf_Chdr chdr = {.ch_type = ELFCOMPRESS_ZLIB};
	uint8_t head[GNU_HEAD];

	if (file->debug_frame_packed == UW_COMPRESSION_GNU) {
		if (!uw_elf_read(file, file->debug_frame.offset, head, sizeof(head)) ||
		    memcmp(head, gnu, sizeof(gnu)) != 0)
			return 0;
		for (size_t i = sizeof(gnu); i < sizeof(head); i++)
			chdr.ch_size = chdr.ch_size << 8 | head[i];
	} else if (!gelf_getchdr(section, &chdr)) {
		return 0;
	}
	uint64_t ratio = stream_ratio(chdr.ch_type);
	if (ratio == 0 || chdr.ch_size > UW_FRAME_SIZE_MAX ||
	    chdr.ch_size / ratio > file->debug_frame.size)
		return 0;
	return chdr.ch_size;
}

/* Inflates a section with libelf and copies the expected bytes. Returns 0, also if libelf cannot
 * inflate the section, or -1: out of memory. */
static int inflate_section(const struct uw_elf *file, Elf_Scn *section, uint8_t **bytes,
			   struct uw_span *span)
{
	bool is_gnu = file->debug_frame_packed == UW_COMPRESSION_GNU;
	uint64_t expected = inflated_size(file, section);

	if (expected == 0 ||
	    (is_gnu ? elf_compress_gnu(section, 0, 0) : elf_compress(section, 0, 0)) < 0)
		return 0;
	Elf_Data *data = elf_rawdata(section, NULL);
	if (!data || data->d_size != expected)
		return 0;
	*bytes = malloc(expected);
	if (!*bytes)
		return -1;
	memcpy(*bytes, data->d_buf, expected);
	*span = (struct uw_span){.bytes = *bytes, .size = expected};
	return 0;
}

/* As uw_elf_copy, of a compressed .debug_frame. */
static int copy_inflated(const struct uw_elf *file, uint8_t **bytes, struct uw_span *span)
{
	Elf *elf = NULL;
	int result = 0;

	*bytes = NULL;
	*span = (struct uw_span){0};
	/* libelf reads the file with pread(2) too: ELF_C_READ, not one of the mapping commands. */
	if (is_readable(file) && file->fd >= 0 && elf_version(EV_CURRENT) != EV_NONE)
		elf = elf_begin(file->fd, ELF_C_READ, NULL);
	Elf_Scn *section = find_section(elf, file);
	if (section)
		result = inflate_section(file, section, bytes, span);
	elf_end(elf);
	return result;
}

int uw_debug_frame_open(const struct uw_elf *elf, struct uw_debug_frame *frame)
{
	bool is_packed = elf->debug_frame_packed != UW_COMPRESSION_NONE;
	struct uw_span span;
	int result = 0;

	*frame = (struct uw_debug_frame){0};
	if ((is_packed ? copy_inflated(elf, &frame->bytes, &span)
		       : uw_elf_copy(elf, &elf->debug_frame, &frame->bytes, &span)) < 0)
		return -1;
	frame->is_refused = is_packed && span.size == 0 && is_readable(elf);
	span.rva = 0;
	if (span.size > 0) {
		result = uw_cfi_open_debug(&frame->cfi, elf->arch, &span);
		if (result == 0)
			return 0;
	}
	uw_cfi_finish(&frame->cfi);
	free(frame->bytes);
	frame->bytes = NULL;
	return result;
}
