/* Separate debug files: which one is a module's. */
#include "unwind/elf/file.h"
#include "unwind/elf/open.h"
#include "unwind/module/module.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum {
	CRC_BLOCK = 64 * 1024,
	CRC_FILE_MAX = 64 * 1024 * 1024, /* of a debug file that has no build-id: 0.2 s */
	LINK_MAX = 256                   /* of .gnu_debuglink: a file's name, and 8 bytes */
};

/* The parts of .gnu_debuglink: a file's name, and the CRC-32 of what it holds. */
static bool debug_link_read(const struct uw_elf *elf, char name[static LINK_MAX], uint32_t *crc)
{
	uint64_t size = elf->debug_link.size;

	if (size < 8 || size > LINK_MAX || !uw_elf_read(elf, elf->debug_link.offset, name, size) ||
	    !memchr(name, '\0', size))
		return false;
	uint64_t at = (strlen(name) + 4) & ~UINT64_C(3);
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
