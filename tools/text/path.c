#include "tools/text/path.h"

#include "tools/memory/xalloc.h"
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
