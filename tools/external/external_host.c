#include "profile/base/external_name.h"
#include "tools/external/external_import.h"
#include "tools/memory/xalloc.h"
#include "tools/text/path.h"
#include <string.h>
#include <strings.h>

char *external_host_of(const char *name)
{
	struct profile_external_name parts;
	if (!profile_external_name_split(path_base_name(name), &parts) || parts.host_length == 0)
		return NULL;
	return xalloc_text_of(parts.host, parts.host_length);
}

bool external_is_host(const char *name, const char *other)
{
	size_t length = strlen(name), other_length = strlen(other);
	size_t shorter = length < other_length ? length : other_length;
	const char *longer = length < other_length ? other : name;
	return shorter > 0 && strncasecmp(name, other, shorter) == 0 &&
	       (longer[shorter] == '\0' || longer[shorter] == '.');
}
