#include "tools/symbols/debug_file.h"
#include "tools/symbols/inflated.h"
#include "tools/xalloc.h"

#include <elfutils/libdwelf.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { BUILD_ID_MIN = 3, BUILD_ID_MAX = 64 };

struct build_id {
	const uint8_t *bytes;
	size_t size;
};

static struct build_id id_of(Dwfl_Module *module)
{
	const unsigned char *bytes = NULL;
	GElf_Addr address;
	int size = dwfl_module_build_id(module, &bytes, &address);
	if (size < BUILD_ID_MIN || size > BUILD_ID_MAX)
		return (struct build_id){NULL, 0};
	return (struct build_id){bytes, (size_t)size};
}

static bool has_id(int fd, struct build_id id)
{
	const void *bytes;
	Elf *elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
	ssize_t size = elf ? dwelf_elf_gnu_build_id(elf, &bytes) : -1;
	bool same = size > 0 && (size_t)size == id.size && memcmp(bytes, id.bytes, id.size) == 0;
	elf_end(elf);
	return same;
}

/* A path that is named by what the file holds; for the caller to free. */
static char *path_of(const char *directory, size_t length, struct build_id id)
{
	char digits[2 * BUILD_ID_MAX + 1];
	for (size_t i = 0; i < id.size; i++)
		snprintf(digits + 2 * i, 3, "%02x", id.bytes[i]);
	return xalloc_printf("%.*s/.build-id/%.2s/%s.debug", (int)length, directory, digits,
			     digits + 2);
}

/* Opens the path if the build-id is that file's. */
static int open_debug_file(const char *path, struct build_id id)
{
	struct stat status;
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd < 0)
		return -1;
	if (fstat(fd, &status) == 0 && S_ISREG(status.st_mode) && has_id(fd, id))
		return fd;
	close(fd);
	return -1;
}

/* In the absolute directories of libdwfl's list, colons between them, each perhaps with + or -
 * before it (of a debug link's checksum). Sets the path, for the caller to free. */
static int find_by_id(const char *directories, struct build_id id, char **path)
{
	const char *next = directories;
	while (next) {
		const char *directory = next + strspn(next, "+-");
		size_t length = strcspn(directory, ":");
		next = directory[length] ? directory + length + 1 : NULL;
		if (directory[0] != '/')
			continue;
		*path = path_of(directory, length, id);
		int fd = open_debug_file(*path, id);
		if (fd >= 0)
			return fd;
		free(*path);
		*path = NULL;
	}
	return -1;
}

int debug_file_find(Dwfl_Module *module, void **user, const char *name, Dwarf_Addr base,
		    const char *file, const char *link, GElf_Word crc, char **found)
{
	struct debug_file_search *search = *user;
	struct build_id id = id_of(module);
	int fd = -1;
	if (!search->found && id.size > 0)
		fd = find_by_id(search->directories, id, found);
	search->found = true;
	if (fd < 0)
		return dwfl_standard_find_debuginfo(module, user, name, base, file, link, crc,
						    found);
	int inflated = inflated_copy(fd);
	if (inflated < 0)
		return fd;
	close(fd);
	return inflated;
}
