#include "unwind/module.h"

#include "unwind/elf_headers.h"

#include <errno.h>
#include <gelf.h>
#include <stdlib.h>
#include <string.h>

enum {
	FRAME_SIZE_MAX = 256 * 1024 * 1024, /* of .eh_frame; the largest browsers have some 30 MB */
	PAGE_SIZE_MIN = 4096                /* mappings start at multiples of it */
};

/* Copies a piece of the file. Less than the whole of it, or a failed read, is no information. */
static int module_copy(const struct uw_elf *elf, const struct uw_piece *piece, uint8_t **bytes,
		       struct uw_span *span)
{
	*bytes = NULL;
	*span = (struct uw_span){.rva = piece->rva};
	if (piece->size == 0 || piece->size > FRAME_SIZE_MAX)
		return 0;
	*bytes = malloc(piece->size);
	if (!*bytes)
		return -1;
	if (!uw_elf_read(elf, piece->offset, *bytes, piece->size))
		return 0;
	span->bytes = *bytes;
	span->size = piece->size;
	return 0;
}

/* Without a section header for it .eh_frame starts where its header says, and ends at a terminator
   or at the end of its segment. */
static struct uw_piece module_frame_piece(const struct uw_elf *elf, const struct uw_span *hdr)
{
	const struct uw_segment *segment;
	struct uw_piece piece = elf->eh_frame;

	if (piece.size != 0 || hdr->size == 0 || !uw_cfi_hdr_frame(hdr, &piece.rva))
		return piece;
	segment = uw_elf_segment(elf, piece.rva);
	if (!segment)
		return piece;
	piece.offset = segment->offset + (piece.rva - segment->rva);
	piece.size = segment->file_size - (piece.rva - segment->rva);
	return piece;
}

/* The size that the compressed section says it has; 0 where that cannot be true. */
static uint64_t inflated_size(const struct uw_elf *elf, const struct uw_span *span)
{
	Elf64_Chdr chdr;

	if (!uw_chdr_take(elf, span->bytes, span->size, &chdr))
		return 0;
	/* A byte of zlib's stream holds at most 1032 bytes (zlib, Technical Details). */
	if (chdr.ch_type != ELFCOMPRESS_ZLIB || chdr.ch_size > FRAME_SIZE_MAX ||
	    chdr.ch_size / 1032 > span->size)
		return 0;
	return chdr.ch_size;
}

/* The section at a file offset. */
static Elf_Scn *find_section(Elf *elf, uint64_t offset)
{
	Elf_Scn *section = NULL;
	GElf_Shdr shdr;

	while ((section = elf_nextscn(elf, section)))
		if (gelf_getshdr(section, &shdr) && shdr.sh_offset == offset &&
		    shdr.sh_flags & SHF_COMPRESSED)
			break;
	return section;
}

/* Copies what a section of the expected size holds once libelf has inflated it. Returns 0, also
   where it cannot be inflated, or -1: out of memory. */
static int section_inflate(Elf_Scn *section, uint64_t expected, uint8_t **bytes)
{
	Elf_Data *data =
		section && elf_compress(section, 0, 0) >= 0 ? elf_rawdata(section, NULL) : NULL;

	if (!data || data->d_size != expected)
		return 0;
	*bytes = malloc(expected);
	if (!*bytes)
		return -1;
	memcpy(*bytes, data->d_buf, expected);
	return 0;
}

/* Replaces the compressed section in module->frame_bytes; nothing is left where that fails. */
static int module_inflate(struct uw_module *module, struct uw_span *span)
{
	uint64_t size = inflated_size(&module->elf, span);
	uint8_t *bytes = NULL;
	Elf *elf = NULL;
	int result = 0;

	/* libelf reads the file with pread(2) too: ELF_C_READ, not one of the mapping commands. */
	if (size > 0 && module->elf.fd >= 0 && elf_version(EV_CURRENT) != EV_NONE)
		elf = elf_begin(module->elf.fd, ELF_C_READ, NULL);
	if (elf)
		result = section_inflate(find_section(elf, module->elf.debug_frame.offset), size,
					 &bytes);
	elf_end(elf);
	free(module->frame_bytes);
	module->frame_bytes = bytes;
	*span = (struct uw_span){.bytes = bytes, .size = bytes ? size : 0};
	return result;
}

/* Without .eh_frame, .debug_frame of the same file. */
static int module_debug_open(struct uw_module *module)
{
	struct uw_cfi *cfi = &module->cfi;

	free(module->frame_bytes);
	if (module_copy(&module->elf, &module->elf.debug_frame, &module->frame_bytes, &cfi->frame) <
	    0)
		return -1;
	cfi->frame.rva = 0;
	cfi->is_debug = true;
	if (module->elf.debug_frame_compressed && module_inflate(module, &cfi->frame) < 0)
		return -1;
	return uw_cfi_init(cfi, &(struct uw_span){0});
}

static int module_cfi_open(struct uw_module *module)
{
	struct uw_piece frame;
	struct uw_span hdr;

	module->cfi.arch = module->elf.arch;
	if (module_copy(&module->elf, &module->elf.eh_frame_hdr, &module->hdr_bytes, &hdr) < 0)
		return -1;
	frame = module_frame_piece(&module->elf, &hdr);
	if (module_copy(&module->elf, &frame, &module->frame_bytes, &module->cfi.frame) < 0)
		return -1;
	if (module->cfi.frame.size == 0 && module->elf.debug_frame.size != 0)
		return module_debug_open(module);
	return uw_cfi_init(&module->cfi, &hdr);
}

static void module_destroy(struct uw_module *module)
{
	uw_cfi_finish(&module->cfi);
	free(module->frame_bytes);
	free(module->hdr_bytes);
	uw_elf_finish(&module->elf);
	free(module);
}

/* Completes a module whose elf was opened; takes it over in any case. */
static int module_finish_open(struct uw_module *module, struct uw_module **result)
{
	atomic_init(&module->references, 1);
	if (module_cfi_open(module) < 0) {
		module_destroy(module);
		errno = ENOMEM;
		return -1;
	}
	*result = module;
	return 0;
}

int uw_module_open(int fd, struct uw_module **module)
{
	struct uw_module *opened = calloc(1, sizeof(*opened));

	if (!opened)
		return -1;
	if (uw_elf_open(&opened->elf, fd) < 0) {
		free(opened);
		return -1;
	}
	return module_finish_open(opened, module);
}

int uw_module_from_memory(const void *bytes, size_t size, struct uw_module **module)
{
	struct uw_module *opened = calloc(1, sizeof(*opened));

	if (!opened)
		return -1;
	if (uw_elf_from_memory(&opened->elf, bytes, size) < 0) {
		free(opened);
		return -1;
	}
	return module_finish_open(opened, module);
}

struct uw_module *uw_module_ref(struct uw_module *module)
{
	/* The caller holds a reference, so no ordering is needed to take another. */
	atomic_fetch_add_explicit(&module->references, 1, memory_order_relaxed);
	return module;
}

void uw_module_unref(struct uw_module *module)
{
	/* Release: this thread's last reads come before the free; acquire: the free comes after
	   every other thread's. */
	if (module && atomic_fetch_sub_explicit(&module->references, 1, memory_order_acq_rel) == 1)
		module_destroy(module);
}

size_t uw_module_build_id(const struct uw_module *module, uint8_t *id, size_t size)
{
	if (size > module->elf.build_id_size)
		size = module->elf.build_id_size;
	if (size > 0)
		memcpy(id, module->elf.build_id, size);
	return module->elf.build_id_size;
}

enum uw_arch uw_module_arch(const struct uw_module *module)
{
	return module->elf.arch;
}

uint64_t uw_module_rva(const struct uw_module *module, uint64_t pgoff)
{
	const struct uw_segment *best = NULL;
	bool best_starts = false;

	/* The loader maps whole pages, so a segment also covers the rest of its first and last
	   page, and neighbouring segments may claim the same page. The executable one is meant; of
	   several the one that starts there. */
	for (size_t i = 0; i < module->elf.segment_count; i++) {
		const struct uw_segment *segment = &module->elf.segments[i];
		uint64_t start = segment->offset & ~(uint64_t)(PAGE_SIZE_MIN - 1);
		bool starts = start == pgoff;

		if (pgoff < start ||
		    pgoff - start >= segment->file_size + (segment->offset - start))
			continue;
		if (!best || (segment->executable && !best->executable) ||
		    (segment->executable == best->executable && starts && !best_starts)) {
			best = segment;
			best_starts = starts;
		}
	}
	return best ? pgoff - best->offset + best->rva : pgoff;
}

bool uw_module_read(const struct uw_module *module, uint64_t rva, void *bytes, size_t size)
{
	const struct uw_segment *segment = uw_elf_segment(&module->elf, rva);

	if (!segment || segment->writable || segment->file_size - (rva - segment->rva) < size)
		return false;
	return uw_elf_read(&module->elf, segment->offset + (rva - segment->rva), bytes, size);
}
