#include "tools/functions/system_library.h"

#include <stddef.h>
#include <string.h>

static bool starts_with(const char *text, const char *prefix, size_t *length)
{
	*length = strlen(prefix);
	return strncmp(text, prefix, *length) == 0;
}

static bool is_runtime_name(const char *name)
{
	static const char *const stems[] = {
		"libc",    "libm",      "libpthread", "libdl",  "librt",     "libresolv",
		"libutil", "libstdc++", "libgcc_s",   "libc++", "libc++abi", "libnss_files",
	};
	size_t length;
	if (starts_with(name, "ld-", &length) && strstr(name, ".so"))
		return true;
	for (size_t i = 0; i < sizeof(stems) / sizeof(stems[0]); i++) {
		/* libc.so.6, and libc-2.31.so, the file's own name on older systems */
		if (starts_with(name, stems[i], &length) &&
		    (strncmp(name + length, ".so", 3) == 0 ||
		     (name[length] == '-' && strchr("0123456789", name[length + 1]) &&
		      name[length + 1])))
			return true;
	}
	return false;
}

bool system_library_is(const char *path)
{
	const char *slash = strrchr(path, '/');
	return slash && is_runtime_name(slash + 1);
}
