#include "unwind/module/debug.h"

#include "unwind/elf/headers.h"
#include "unwind/elf/open.h"

#include <errno.h>
#include <gelf.h>
#include <stdlib.h>
#include <string.h>

enum {
	CRC_BLOCK = 64 * 1024,
	CRC_FILE_MAX = 64 * 1024 * 1024, /* of a debug file that has no build-id: 0.2 s */
	LINK_MAX = 256,                  /* of .gnu_debuglink: a file's name, and 8 bytes */
	GNU_HEAD = 12,                   /* of .zdebug_frame */
	ZSTD = 2 /* ELFCOMPRESS_ZSTD, which elf.h has since glibc 2.37; libelf since 0.189 */
};

/* The most bytes that one byte of a stream can stand for; 0: another compression. zlib, Technical
   Details; Zstandard (RFC 8878, section 3.1.1.2): a block of 128 KB from 4 bytes. */
static uint64_t stream_ratio(uint32_t type)
{
	if (type == ELFCOMPRESS_ZLIB)
		return 1032;
	return type == ZSTD ? 32768 : 0;
}

/* The size that the compressed section says it has; 0 where that cannot be true. */
static uint64_t inflated_size(const struct uw_elf *elf, const uint8_t *bytes, size_t size)
{
	static const char gnu[] = {'Z', 'L', 'I', 'B'};
	Elf64_Chdr chdr = {.ch_type = ELFCOMPRESS_ZLIB};
	uint64_t ratio;

	if (elf->debug_frame_packed == UW_COMPRESSION_GNU) {
		if (size < GNU_HEAD || memcmp(bytes, gnu, sizeof(gnu)) != 0)
			return 0;
		for (size_t i = sizeof(gnu); i < GNU_HEAD; i++)
			chdr.ch_size = chdr.ch_size << 8 | bytes[i];
	} else if (!uw_chdr_take(elf, bytes, size, &chdr)) {
		return 0;
	}
	ratio = stream_ratio(chdr.ch_type);
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

/* Copies what a section of the expected size holds once libelf has inflated it. Returns 0, also
   where it cannot be inflated, or -1: out of memory. */
static int section_inflate(Elf_Scn *section, enum uw_compression packed, uint64_t expected,
			   uint8_t **bytes)
{
	Elf_Data *data;

	if (!section || (packed == UW_COMPRESSION_GNU ? elf_compress_gnu(section, 0, 0)
						      : elf_compress(section, 0, 0)) < 0)
		return 0;
	data = elf_rawdata(section, NULL);
	if (!data || data->d_size != expected)
		return 0;
	*bytes = malloc(expected);
	if (!*bytes)
		return -1;
	memcpy(*bytes, data->d_buf, expected);
	return 0;
}

/* Replaces the compressed section in *bytes, which span is; nothing is left where that fails. */
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

int uw_module_take_debug(struct uw_module *module, const struct uw_elf *elf)
{
	/* Where .eh_frame says nothing at all, .debug_frame stands in for it. */
	struct uw_cfi *cfi = uw_cfi_count(&module->cfi) > 0 ? &module->debug : &module->cfi;
	struct uw_cfi found = {.arch = module->elf.arch, .is_debug = true};
	uint8_t *bytes;

	if (uw_elf_copy(elf, &elf->debug_frame, &bytes, &found.frame) < 0)
		return -1;
	found.frame.rva = 0;
	if (elf->debug_frame_packed != UW_COMPRESSION_NONE && found.frame.size > 0) {
		if (debug_inflate(elf, &bytes, &found.frame) < 0)
			return -1;
		module->has_refused |= found.frame.size == 0;
	}
	if (found.frame.size == 0) {
		free(bytes);
		return 0;
	}
	if (uw_cfi_init(&found, &(struct uw_span){0}) < 0) {
		uw_cfi_finish(&found);
		free(bytes);
		return -1;
	}
	uw_cfi_finish(cfi);
	*cfi = found;
	module->debug_bytes = bytes;
	return 0;
}

/* The parts of .gnu_debuglink: a file's name, and the CRC-32 of what it holds. */
static bool debug_link_read(const struct uw_elf *elf, char name[static LINK_MAX], uint32_t *crc)
{
	uint64_t size = elf->debug_link.size;
	uint64_t at;

	if (size < 8 || size > LINK_MAX || !uw_elf_read(elf, elf->debug_link.offset, name, size) ||
	    !memchr(name, '\0', size))
		return false;
	at = (strlen(name) + 4) & ~UINT64_C(3);
	if (at + sizeof(*crc) > size)
		return false;
	memcpy(crc, name + at, sizeof(*crc));
	/* A name in a folder, not a path. */
	return name[0] != '\0' && !strchr(name, '/') && strcmp(name, ".") != 0 &&
	       strcmp(name, "..") != 0;
}

size_t uw_module_debug_link(struct uw_module *module, char *name, size_t size)
{
	char link[LINK_MAX];
	uint32_t crc;

	uw_module_load(module);
	if (!debug_link_read(&module->elf, link, &crc) || strlen(link) >= size)
		return 0;
	memcpy(name, link, strlen(link) + 1);
	return strlen(link);
}

/* CRC-32 as .gnu_debuglink has it: reflected, polynomial 0x04c11db7, complemented at both ends. */
static void crc_table_fill(uint32_t table[static 256])
{
	for (uint32_t i = 0; i < 256; i++) {
		table[i] = i;
		for (int bit = 0; bit < 8; bit++)
			table[i] = table[i] >> 1 ^ (table[i] & 1 ? UINT32_C(0xedb88320) : 0);
	}
}

static bool file_has_crc(const struct uw_elf *elf, uint32_t expected)
{
	uint32_t table[256], crc = UINT32_MAX;
	uint8_t *block = elf->size <= CRC_FILE_MAX ? malloc(CRC_BLOCK) : NULL;
	uint64_t offset, size = 0;

	if (!block)
		return false;
	crc_table_fill(table);
	for (offset = 0; offset < elf->size; offset += size) {
		size = elf->size - offset < CRC_BLOCK ? elf->size - offset : CRC_BLOCK;
		if (!uw_elf_read(elf, offset, block, size))
			break;
		for (uint64_t i = 0; i < size; i++)
			crc = table[(crc ^ block[i]) & 0xff] ^ crc >> 8;
	}
	free(block);
	return offset == elf->size && ~crc == expected;
}

/* Whether debug was made from the same build as the module. */
static bool is_of_module(const struct uw_module *module, const struct uw_elf *debug)
{
	const struct uw_elf *elf = &module->elf;
	char name[LINK_MAX];
	uint32_t crc;

	if (elf->arch != debug->arch)
		return false;
	if (elf->build_id_size > 0 && debug->build_id_size > 0)
		return elf->build_id_size == debug->build_id_size &&
		       memcmp(elf->build_id, debug->build_id, elf->build_id_size) == 0;
	/* All of the file has to be read for its CRC: only where there is something in it. */
	return debug->debug_frame.size > 0 && debug_link_read(elf, name, &crc) &&
	       file_has_crc(debug, crc);
}

bool uw_module_has_refused(const struct uw_module *module)
{
	return module->has_refused;
}

int uw_module_add_debug(struct uw_module *module, int fd)
{
	struct uw_elf debug;
	int error = 0;

	uw_module_load(module);
	if (!module->lacks_info) {
		errno = EEXIST;
		return -1;
	}
	if (uw_elf_open(&debug, fd) < 0)
		return -1;
	uw_elf_take_sections(&debug);
	if (!is_of_module(module, &debug))
		error = ESTALE;
	else if (uw_module_take_debug(module, &debug) < 0)
		error = ENOMEM;
	else if (!module->debug_bytes)
		error = ENOENT;
	uw_elf_finish(&debug);
	if (error != 0) {
		errno = error;
		return -1;
	}
	module->lacks_info = false;
	return 0;
}
