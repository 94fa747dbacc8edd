#include "tools/system_module.h"
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
		/* libc.so.6, and libc-2.31.so as older systems name the file itself */
		if (starts_with(name, stems[i], &length) &&
		    (strncmp(name + length, ".so", 3) == 0 ||
		     (name[length] == '-' && strchr("0123456789", name[length + 1]) &&
		      name[length + 1])))
			return true;
	}
	return false;
}

/* x86_64-linux-gnu, aarch64-linux-musl: the one subdirectory that the loader searches too */
static bool is_multiarch(const char *name, size_t length)
{
	static const char middle[] = "-linux-";
	const char *found = memmem(name, length, middle, sizeof(middle) - 1);
	return found && found > name;
}

static bool is_loader_directory(const char *path, size_t length)
{
	static const char *const directories[] = {"/lib", "/lib32", "/lib64", "/libx32"};
	static const char usr[] = "/usr";
	if (length > sizeof(usr) - 1 && strncmp(path, usr, sizeof(usr) - 1) == 0) {
		path += sizeof(usr) - 1;
		length -= sizeof(usr) - 1;
	}
	for (size_t i = 0; i < sizeof(directories) / sizeof(directories[0]); i++) {
		size_t prefix = strlen(directories[i]);
		if (length < prefix || strncmp(path, directories[i], prefix) != 0)
			continue;
		if (length == prefix)
			return true;
		if (path[prefix] == '/' && !memchr(path + prefix + 1, '/', length - prefix - 1) &&
		    is_multiarch(path + prefix + 1, length - prefix - 1))
			return true;
	}
	return false;
}

bool system_module_is(const char *path)
{
	const char *slash = strrchr(path, '/');
	if (!slash)
		return false;
	return is_runtime_name(slash + 1) || is_loader_directory(path, (size_t)(slash - path));
}
