/* Separate debug files: their names and their unwind information. */
#include "unwind/elf/elf.h"
#include "unwind/module/module.h"
#include <errno.h>
#include <string.h>

enum { LINK_MAX = 256 /* of .gnu_debuglink: a file's name, and 8 bytes */ };

/* The parts of .gnu_debuglink: a file's name, and the CRC-32 of its bytes. */
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

size_t uw_module_debug_link(struct uw_module *module, char *name, size_t size, uint32_t *crc)
{
	char link[LINK_MAX];

	uw_module_load(module);
	if (!debug_link_read(&module->elf, link, crc) || strlen(link) >= size)
		return 0;
	memcpy(name, link, strlen(link) + 1);
	return strlen(link);
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
	if (module->elf.arch != debug.arch)
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
