#include "tools/image/deleted_file.h"

#include "tools/cli/xalloc.h"
#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LINKS_MAX = 16384 }; /* mappings of files; the work is done for each file that is missing */

/* As the kernel ends the links of deleted files. */
static const char suffix[] = " (deleted)";

static size_t path_length(const char *path)
{
	size_t length = strlen(path);
	size_t end = sizeof(suffix) - 1;
	/* It was deleted already when it was mapped. */
	return length > end && strcmp(path + length - end, suffix) == 0 ? length - end : length;
}

static bool is_link_of(int directory, const char *name, const char *path)
{
	char target[PATH_MAX + sizeof(suffix)];
	ssize_t length = readlinkat(directory, name, target, sizeof(target));
	size_t known = path_length(path);
	return length > 0 && (size_t)length == known + sizeof(suffix) - 1 &&
	       memcmp(target, path, known) == 0 &&
	       memcmp(target + known, suffix, sizeof(suffix) - 1) == 0;
}

static char *find_mapping(const char *place, const char *path)
{
	char *found = NULL;
	DIR *directory = opendir(place);
	if (!directory)
		return NULL;
	for (int i = 0; i < LINKS_MAX && !found; i++) {
		const struct dirent *entry = readdir(directory);
		if (!entry)
			break;
		if (is_link_of(dirfd(directory), entry->d_name, path))
			found = xalloc_printf("%s/%s", place, entry->d_name);
	}
	closedir(directory);
	return found;
}

char *symbol_deleted_file_find(uint32_t pid, const char *path)
{
	char place[64];
	snprintf(place, sizeof(place), "/proc/%u/exe", pid);
	if (is_link_of(AT_FDCWD, place, path))
		return xalloc_text(place);
	snprintf(place, sizeof(place), "/proc/%u/map_files", pid);
	return find_mapping(place, path);
}
