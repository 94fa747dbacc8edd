#include "tools/text/path.h"

#include "tools/memory/xalloc.h"
#include <stdbool.h>
#include <string.h>

const char *path_base_name(const char *path)
{
	const char *slash = strrchr(path, '/');
	return slash && slash[1] ? slash + 1 : path;
}

char *path_directory(const char *path)
{
	const char *slash = strrchr(path, '/');
	return slash ? xalloc_text_of(path, (size_t)(slash - path) + (slash == path))
		     : xalloc_text(".");
}

/* Adds the parts of a path behind the whole path so far; its room is enough for them. */
static size_t add_parts(char *whole, size_t length, const char *path)
{
	while (*path) {
		size_t size = strcspn(path, "/");
		bool is_up = size == 2 && path[0] == '.' && path[1] == '.';
		bool is_here = size == 0 || (size == 1 && path[0] == '.');
		if (is_up) {
			while (length > 0 && whole[--length] != '/')
				;
		} else if (!is_here) {
			whole[length++] = '/';
			memcpy(whole + length, path, size);
			length += size;
		}
		path += size + (path[size] == '/');
	}
	return length;
}

char *path_join(const char *directory, const char *name)
{
	if (name[0] == '/' || !directory || directory[0] != '/')
		return xalloc_text(name);
	char *whole = xalloc_zeroed(strlen(directory) + strlen(name) + 3, 1);
	size_t length = add_parts(whole, 0, directory);
	length = add_parts(whole, length, name);
	whole[length] = '\0';
	return whole;
}
