#include "tools/symbols/debug_file.h"
#include "tools/symbols/inflated.h"
#include "tools/symbols/regular_file.h"
#include "tools/xalloc.h"

#include <elfutils/libdwelf.h>
#include <libdeflate.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { BUILD_ID_MIN = 3, BUILD_ID_MAX = 64 };

/* Of files whose checksum is asked for; a file of holes costs time, but no disk. */
#define CHECKED_SIZE_MAX ((off_t)4 << 30)

struct build_id {
	const uint8_t *bytes;
	size_t size;
};

/* What is looked for. */
struct wanted {
	struct build_id id;
	const char *file; /* the module's own */
	const char *name; /* of the debug file, without directories; NULL: it goes by the id */
	bool has_crc;     /* the name is the link's */
	uint32_t crc;     /* of the whole debug file */
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

static bool has_crc(int fd, off_t file_size, uint32_t expected)
{
	enum { SIZE = 64 * 1024 };
	uint8_t *bytes = xalloc_zeroed(SIZE, 1);
	uint32_t crc = 0;
	off_t at = 0;
	ssize_t got = 1;
	while (at < file_size && file_size <= CHECKED_SIZE_MAX && got > 0) {
		got = pread(fd, bytes, SIZE, at);
		if (got > 0) {
			crc = libdeflate_crc32(crc, bytes, (size_t)got);
			at += got;
		}
	}
	free(bytes);
	return at == file_size && crc == expected;
}

/* The build-id tells; the link's checksum where the file has none. */
static bool is_wanted(int fd, off_t file_size, const struct wanted *wanted)
{
	const void *bytes;
	Elf *elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
	bool is_elf = elf && elf_kind(elf) == ELF_K_ELF;
	ssize_t size = is_elf ? dwelf_elf_gnu_build_id(elf, &bytes) : -1;
	bool same = size > 0 && (size_t)size == wanted->id.size &&
		    memcmp(bytes, wanted->id.bytes, wanted->id.size) == 0;
	elf_end(elf);
	return same || (size == 0 && wanted->has_crc && has_crc(fd, file_size, wanted->crc));
}

/* Links may have the name of the program itself, which has the id as well. */
static bool is_file_itself(const struct stat *status, const char *file)
{
	struct stat own;
	return file && stat(file, &own) == 0 && own.st_dev == status->st_dev &&
	       own.st_ino == status->st_ino;
}

static int open_debug_file(const char *path, const struct wanted *wanted)
{
	struct stat status;
	int fd = symbol_regular_file_open(path, 0, &status);
	if (fd < 0)
		return -1;
	if (!is_file_itself(&status, wanted->file) && is_wanted(fd, status.st_size, wanted))
		return fd;
	close(fd);
	return -1;
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

/* Where the debug file would be for one entry of libdwfl's list: by build-id, below an absolute
 * directory, or by its name, below the directory of the file itself too. NULL: nowhere. For the
 * caller to free. */
static char *place(const char *entry, size_t length, const struct wanted *wanted)
{
	bool is_absolute = length > 0 && entry[0] == '/';
	const char *file = wanted->file;
	const char *slash = file ? strrchr(file, '/') : NULL;
	if (!wanted->name)
		return is_absolute ? path_of(entry, length, wanted->id) : NULL;
	if (!slash || strchr(wanted->name, '/'))
		return NULL;
	int directory = (int)(slash - file);
	if (is_absolute)
		return xalloc_printf("%.*s%.*s/%s", (int)length, entry, directory, file,
				     wanted->name);
	return xalloc_printf("%.*s/%.*s/%s", directory, file, (int)length, entry, wanted->name);
}

/* Looks in all places, colons between the entries, each perhaps with + or - before it (of a link's
 * checksum). Sets the path, for the caller to free. */
static int find_in(const char *entries, const struct wanted *wanted, char **path)
{
	const char *next = entries;
	while (next) {
		const char *entry = next + strspn(next, "+-");
		size_t length = strcspn(entry, ":");
		next = entry[length] ? entry + length + 1 : NULL;
		*path = place(entry, length, wanted);
		int fd = *path ? open_debug_file(*path, wanted) : -1;
		if (fd >= 0)
			return fd;
		free(*path);
		*path = NULL;
	}
	return -1;
}

/* By the link's name; without a link, by the file's own and .debug. */
static int find_by_name(const char *entries, struct wanted wanted, const char *link, GElf_Word crc,
			char **path)
{
	const char *slash = wanted.file ? strrchr(wanted.file, '/') : NULL;
	if (!slash)
		return -1;
	char *name = link ? xalloc_text(link) : xalloc_printf("%s.debug", slash + 1);
	wanted.name = name;
	wanted.has_crc = link != NULL;
	wanted.crc = crc;
	int fd = find_in(entries, &wanted, path);
	free(name);
	return fd;
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
	struct wanted wanted = {.id = id_of(module), .file = file};
	bool is_ours = !search->found && wanted.id.size > 0;
	int fd = -1;
	if (is_ours)
		fd = find_in(search->directories, &wanted, found);
	if (fd < 0 && is_ours)
		fd = find_by_name(search->directories, wanted, link, crc, found);
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
