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

/* Where the debug file would be for one entry of libdwfl's list: by build-id, below an absolute
 * directory, or by the link's name, below the directory of the file itself too. NULL: nowhere. For
 * the caller to free. */
static char *place(const char *entry, size_t length, struct build_id id, const char *file,
		   const char *link)
{
	bool is_absolute = length > 0 && entry[0] == '/';
	const char *slash = file ? strrchr(file, '/') : NULL;
	if (!link)
		return is_absolute ? path_of(entry, length, id) : NULL;
	if (!slash || strchr(link, '/'))
		return NULL;
	int directory = (int)(slash - file);
	if (is_absolute)
		return xalloc_printf("%.*s%.*s/%s", (int)length, entry, directory, file, link);
	return xalloc_printf("%.*s/%.*s/%s", directory, file, (int)length, entry, link);
}

/* Looks in all places, colons between the entries, each perhaps with + or - before it (of a link's
 * checksum). link NULL: by build-id. Sets the path, for the caller to free. */
static int find_in(const char *entries, struct build_id id, const char *file, const char *link,
		   char **path)
{
	const char *next = entries;
	while (next) {
		const char *entry = next + strspn(next, "+-");
		size_t length = strcspn(entry, ":");
		next = entry[length] ? entry + length + 1 : NULL;
		*path = place(entry, length, id, file, link);
		int fd = *path ? open_debug_file(*path, id) : -1;
		if (fd >= 0)
			return fd;
		free(*path);
		*path = NULL;
	}
	return -1;
}

/* Whether there is a server to ask. To find out that there is none libdwfl loads the client and
 * what that needs, some 30 libraries. */
static bool has_server(void)
{
	const char *servers = getenv("DEBUGINFOD_URLS");
	return servers && servers[0];
}

int debug_file_find(Dwfl_Module *module, void **user, const char *name, Dwarf_Addr base,
		    const char *file, const char *link, GElf_Word crc, char **found)
{
	struct debug_file_search *search = *user;
	struct build_id id = id_of(module);
	bool is_ours = !search->found && id.size > 0;
	int fd = -1;
	if (is_ours)
		fd = find_in(search->directories, id, file, NULL, found);
	if (fd < 0 && is_ours && link)
		fd = find_in(search->directories, id, file, link, found);
	if (fd < 0) {
		if (is_ours && !has_server())
			return -1;
		fd = dwfl_standard_find_debuginfo(module, user, name, base, file, link, crc, found);
		search->found = search->found || fd >= 0;
		return fd;
	}
	search->found = true;
	int inflated = inflated_copy(fd);
	if (inflated < 0)
		return fd;
	close(fd);
	return inflated;
}
