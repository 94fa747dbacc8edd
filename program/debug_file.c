#include "program/debug_file.h"

#include "program/build_id.h"
#include <assert.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

enum {
	ID_MIN = 3, /* as libdwfl: the first byte is a directory */
	NAME_SIZE = PATH_MAX
};

static bool has_crc(int fd, off_t size, uint32_t expected)
{
	uint8_t bytes[16 * 1024];
	uint32_t crc = 0;
	ssize_t got = 1;
	off_t at = 0;
	for (; at < size && got > 0; at += got) {
		got = pread(fd, bytes, sizeof(bytes), at);
		if (got > 0)
			crc = (uint32_t)crc32(crc, bytes, (uInt)got);
	}
	return at == size && crc == expected;
}

/* Compares build-ids; where the file or the program has none, the link's checksum. */
static bool is_of_build(const struct debug_file_search *search, int fd, const struct stat *status)
{
	uint8_t id[BUILD_ID_MAX];
	ssize_t size = build_id_read(fd, id);
	if (size > 0 && search->id_size > 0)
		return (size_t)size == search->id_size && memcmp(id, search->id, (size_t)size) == 0;
	return size >= 0 && search->has_crc && status->st_size <= search->checked_max &&
	       has_crc(fd, status->st_size, search->crc);
}

static bool is_program(const struct debug_file_search *search, const struct stat *status)
{
	struct stat own;
	return stat(search->file, &own) == 0 && own.st_dev == status->st_dev &&
	       own.st_ino == status->st_ino;
}

static bool is_trusted(const struct debug_file_search *search, uid_t owner)
{
	return search->owner == DEBUG_FILE_ANYBODY || owner == 0 || owner == geteuid() ||
	       owner == search->owner;
}

static bool try_file(const struct debug_file_search *search, const char *path,
		     regular_file_take *take, void *user)
{
	struct stat status;
	int fd = regular_file_open(path, 0, &status);
	if (fd < 0)
		return false;
	bool is_taken = is_trusted(search, status.st_uid) && !is_program(search, &status) &&
			is_of_build(search, fd, &status) && take(user, fd, &status, path) == 0;
	close(fd);
	return is_taken;
}

static bool is_plain(const char *name)
{
	return name[0] && strcmp(name, ".") != 0 && !strchr(name, '/') && !path_leads_up(name);
}

/* Distributions write a link to shared DWARF relative to the debug file's future place, with a
 * symbolic link or two between: only the part below .dwz counts, or the last part. */
static bool name_by_link(const struct debug_file_search *search, char *name)
{
	static const char folder[] = "/.dwz/";
	const char *slash = strrchr(search->name ? search->name : search->file, '/');
	const char *last = slash ? slash + 1 : search->name ? search->name : search->file;
	const char *taken = search->name ? search->name : last;
	if (search->is_shared) {
		const char *below = strstr(taken, folder);
		taken = below && !path_leads_up(below) ? below + sizeof(folder) - 1 : last;
	}
	int length = snprintf(name, NAME_SIZE, "%s%s", taken, search->name ? "" : ".debug");
	return is_plain(search->is_shared ? last : taken) && length < NAME_SIZE;
}

/* The debug file's path for one entry of the list. false: none. */
static bool name_place(const struct debug_file_search *search, bool by_id, const char *name,
		       const char *entry, int length, char *path)
{
	bool is_absolute = length > 0 && entry[0] == '/';
	const char *slash = strrchr(search->file, '/');
	int directory = slash ? (int)(slash - search->file) : 0;
	int written = -1;
	if (by_id && is_absolute)
		written = snprintf(path, PATH_MAX, "%.*s/.build-id/%s.debug", length, entry, name);
	else if (!by_id && search->is_shared && is_absolute)
		written = snprintf(path, PATH_MAX, "%.*s/.dwz/%s", length, entry, name);
	else if (!by_id && slash && search->is_shared)
		written = snprintf(path, PATH_MAX, "%.*s/.dwz/%s", directory, search->file, name);
	else if (!by_id && slash && is_absolute)
		written = snprintf(path, PATH_MAX, "%.*s%.*s/%s", length, entry, directory,
				   search->file, name);
	else if (!by_id && slash)
		written = snprintf(path, PATH_MAX, "%.*s/%.*s%s%s", directory, search->file, length,
				   entry, length > 0 ? "/" : "", name);
	return written > 0 && written < PATH_MAX;
}

static bool try_list(const struct debug_file_search *search, bool by_id, const char *name,
		     regular_file_take *take, void *user)
{
	char path[PATH_MAX];
	for (const char *next = search->directories; next;) {
		const char *entry = next + strspn(next, "+-");
		size_t length = strcspn(entry, ":");
		next = entry[length] ? entry + length + 1 : NULL;
		if (length < PATH_MAX &&
		    name_place(search, by_id, name, entry, (int)length, path) &&
		    try_file(search, path, take, user))
			return true;
	}
	return false;
}

bool debug_file_open(const struct debug_file_search *search, regular_file_take *take, void *user)
{
	char name[NAME_SIZE];
	static_assert(sizeof(name) >= BUILD_ID_PLACE_SIZE, "names of the longest build-id");
	bool has_id = search->id_size >= ID_MIN && search->id_size <= BUILD_ID_MAX;
	if (has_id) {
		build_id_place(search->id, search->id_size, name);
		if (try_list(search, true, name, take, user))
			return true;
	}
	return name_by_link(search, name) && try_list(search, false, name, take, user);
}
