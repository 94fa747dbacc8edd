#include "collector/image/debug_file.h"

#include "program/regular_file.h"
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define DEBUG_ROOT "/usr/lib/debug"

enum { BUILD_ID_MAX = 64 };

static bool is_whole(int length, size_t size)
{
	return length > 0 && (size_t)length < size;
}

/* xx/yyyyyy.debug: the first byte is a folder. */
static bool place_by_build_id(const struct debug_file_names *names, char *path, size_t size)
{
	char digits[2 * BUILD_ID_MAX + 1];
	if (names->build_id_size < 2 || names->build_id_size > BUILD_ID_MAX)
		return false;
	for (size_t i = 0; i < names->build_id_size; i++)
		snprintf(digits + 2 * i, 3, "%02x", names->build_id[i]);
	return is_whole(snprintf(path, size, DEBUG_ROOT "/.build-id/%.2s/%s.debug", digits,
				 digits + 2),
			size);
}

bool debug_file_place(const struct debug_file_names *names, unsigned place, char *path, size_t size)
{
	static const struct {
		const char *before;
		const char *after;
	} around[DEBUG_FILE_PLACES] =
		{[1] = {"", ""}, [2] = {"", ".debug/"}, [3] = {DEBUG_ROOT, ""}};
	const char *last = strrchr(names->path, '/');
	if (place == 0)
		return place_by_build_id(names, path, size);
	if (names->path[0] != '/' || names->link[0] == '\0' || place >= DEBUG_FILE_PLACES)
		return false;
	return is_whole(snprintf(path, size, "%s%.*s%s%s", around[place].before,
				 (int)(last - names->path + 1), names->path, around[place].after,
				 names->link),
			size);
}

/* Opens a regular file of somebody who may say what the program's code does. */
static int open_owned(const char *path, uint32_t owner)
{
	struct stat status;
	int fd = regular_file_open(path, 0, &status);
	if (fd < 0)
		return -1;
	if (status.st_uid == 0 || status.st_uid == geteuid() || status.st_uid == owner)
		return fd;
	close(fd);
	return -1;
}

void debug_file_add(struct uw_module *module, const char *path, uint32_t owner)
{
	uint8_t build_id[BUILD_ID_MAX];
	char link[DEBUG_FILE_LINK_MAX] = "";
	char place[PATH_MAX];
	if (!uw_module_lacks_info(module))
		return;
	struct debug_file_names names = {.path = path, .build_id = build_id, .link = link};
	names.build_id_size = uw_module_build_id(module, build_id, sizeof(build_id));
	uw_module_debug_link(module, link, sizeof(link));
	for (unsigned i = 0; i < DEBUG_FILE_PLACES && uw_module_lacks_info(module); i++) {
		if (!debug_file_place(&names, i, place, sizeof(place)))
			continue;
		int fd = open_owned(place, owner);
		if (fd < 0)
			continue;
		/* A file that does not fit is no reason to stop: the next place may have the one.
		 */
		(void)uw_module_add_debug(module, fd);
		close(fd);
	}
}
