#include "tools/image/debug_file.h"

#include "program/regular_file.h"
#include "tools/cli/xalloc.h"
#include "tools/image/small_elf.h"
#include "tools/image/snapshot.h"
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
	const char *name; /* of the debug file, below a place; NULL: it goes by the id */
	bool is_shared;   /* DWARF: the name is one below .dwz */
	bool has_crc;     /* the name is the link's */
	uint32_t crc;     /* of the whole debug file */
};

static struct build_id make_id(const void *bytes, ssize_t size)
{
	if (size < BUILD_ID_MIN || size > BUILD_ID_MAX)
		return (struct build_id){NULL, 0};
	return (struct build_id){bytes, (size_t)size};
}

static struct build_id id_of(Dwfl_Module *module)
{
	const unsigned char *bytes = NULL;
	GElf_Addr address;
	int size = dwfl_module_build_id(module, &bytes, &address);
	return make_id(bytes, size);
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

/* The build-id tells; the link's checksum where one of the two has none. */
static bool is_wanted(int fd, off_t file_size, const struct wanted *wanted)
{
	const void *bytes;
	elf_version(EV_CURRENT);
	Elf *elf = elf_begin(fd, ELF_C_READ, NULL);
	bool is_elf = elf && elf_kind(elf) == ELF_K_ELF;
	ssize_t size = is_elf ? dwelf_elf_gnu_build_id(elf, &bytes) : -1;
	bool same = size > 0 && (size_t)size == wanted->id.size &&
		    memcmp(bytes, wanted->id.bytes, wanted->id.size) == 0;
	elf_end(elf);
	return same || (size >= 0 && (size == 0 || wanted->id.size == 0) && wanted->has_crc &&
			has_crc(fd, file_size, wanted->crc));
}

/* Links may have the name of the program itself, which has the id as well. */
static bool is_file_itself(const struct stat *status, const char *file)
{
	struct stat own;
	return file && stat(file, &own) == 0 && own.st_dev == status->st_dev &&
	       own.st_ino == status->st_ino;
}

/* The copy that is handed over; takes the file. */
static int copy_of(int fd, const struct stat *status)
{
	int copy = snapshot_of(fd, status);
	close(fd);
	return copy;
}

static int open_debug_file(const char *path, const struct wanted *wanted)
{
	struct stat status;
	int fd = regular_file_open(path, 0, &status);
	if (fd < 0)
		return -1;
	if (!is_file_itself(&status, wanted->file) && is_wanted(fd, status.st_size, wanted))
		return copy_of(fd, &status);
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
	if (is_absolute && wanted->is_shared)
		return xalloc_printf("%.*s/.dwz/%s", (int)length, entry, wanted->name);
	if (!slash)
		return NULL;
	int directory = (int)(slash - file);
	if (wanted->is_shared)
		return xalloc_printf("%.*s/.dwz/%s", directory, file, wanted->name);
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

/* Whether the name is that of a file, with nothing that leads elsewhere. */
static bool is_plain_name(const char *name)
{
	return name[0] && !strchr(name, '/') && !path_leads_up(name);
}

/* By the link's name; without a link, by the file's own and .debug. */
static int find_by_name(const char *entries, struct wanted wanted, const char *link, GElf_Word crc,
			char **path)
{
	const char *slash = wanted.file ? strrchr(wanted.file, '/') : NULL;
	if (!slash || (link && !is_plain_name(link)))
		return -1;
	char *name = link ? xalloc_text(link) : xalloc_printf("%s.debug", slash + 1);
	wanted.name = name;
	wanted.has_crc = link != NULL;
	wanted.crc = crc;
	int fd = find_in(entries, &wanted, path);
	free(name);
	return fd;
}

/* Of the name only what is below .dwz counts, or its last part: distributions write the way there
 * from where the debug file will be, with a link or two between. */
static int find_shared_by_name(const char *entries, struct wanted wanted, const char *link,
			       char **path)
{
	static const char folder[] = "/.dwz/";
	const char *slash = strrchr(link, '/');
	const char *below = strstr(link, folder);
	const char *last = slash ? slash + 1 : link;
	wanted.name = below ? below + sizeof(folder) - 1 : last;
	if (path_leads_up(wanted.name))
		wanted.name = last;
	wanted.is_shared = true;
	return is_plain_name(last) ? find_in(entries, &wanted, path) : -1;
}

/* Whether there is a server to ask. To find out that there is none libdwfl loads the client and
 * what that needs, some 30 libraries. */
static bool has_server(void)
{
	const char *servers = getenv("DEBUGINFOD_URLS");
	return servers && servers[0];
}

/* Servers know files by their build-ids. libdwfl has no directories to look in (image.c), nor a
 * name.
 */
static int ask_servers(Dwfl_Module *module, void **user, char **found)
{
	struct stat status;
	if (!has_server())
		return -1;
	int fd = dwfl_standard_find_debuginfo(module, user, NULL, 0, NULL, NULL, 0, found);
	if (fd < 0)
		return -1;
	if (fstat(fd, &status) == 0)
		return copy_of(fd, &status);
	close(fd);
	return -1;
}

/* Without a file libdw would look for one itself when something refers to it. */
static int make_nothing(void)
{
	static const struct small_elf_section sections[] = {{".debug_info", "", 1},
							    {".debug_line", "", 1},
							    {".debug_str", "", 1}};
	return small_elf(false, sections, sizeof(sections) / sizeof(sections[0]));
}

static int find_shared(Dwfl_Module *module, void **user, const char *file, const char *link,
		       char **found)
{
	const struct debug_file_search *search = *user;
	Dwarf_Addr bias;
	const char *name;
	const void *id = NULL;
	int fd = -1;
	/* There already: it is what asks. */
	Dwarf *dwarf = dwfl_module_getdwarf(module, &bias);
	ssize_t size = dwarf ? dwelf_dwarf_gnu_debugaltlink(dwarf, &name, &id) : -1;
	struct wanted wanted = {.id = make_id(id, size), .file = file};
	if (wanted.id.size > 0) {
		fd = find_in(search->directories, &wanted, found);
		if (fd < 0)
			fd = find_shared_by_name(search->directories, wanted, link, found);
		if (fd < 0)
			fd = ask_servers(module, user, found);
	}
	return fd < 0 ? make_nothing() : fd;
}

/* Which of the module's two links it is that is asked for. */
static bool is_shared_link(Dwfl_Module *module, const char *link)
{
	GElf_Addr bias;
	GElf_Word crc;
	Elf *elf = link ? dwfl_module_getelf(module, &bias) : NULL;
	return elf && link != dwelf_elf_gnu_debuglink(elf, &crc);
}

int debug_file_find(Dwfl_Module *module, void **user, const char *name, Dwarf_Addr base,
		    const char *file, const char *link, GElf_Word crc, char **found)
{
	(void)name;
	(void)base;
	*found = NULL;
	if (is_shared_link(module, link))
		return find_shared(module, user, file, link, found);
	const struct debug_file_search *search = *user;
	struct wanted wanted = {.id = id_of(module), .file = file};
	int fd = -1;
	if (wanted.id.size > 0)
		fd = find_in(search->directories, &wanted, found);
	if (fd < 0)
		fd = find_by_name(search->directories, wanted, link, crc, found);
	if (fd < 0 && wanted.id.size > 0)
		fd = ask_servers(module, user, found);
	return fd;
}
