#include "tools/external/external_import.h"
#include "tools/memory/xalloc.h"
#include "tools/text/path.h"
#include <string.h>
#include <strings.h>

#define HOST_MARK "-hostname-"
#define SUFFIX    ".csv"

char *external_host_of(const char *name)
{
	const char *found = NULL;
	size_t length;
	name = path_base_name(name);
	for (const char *at = name; (at = strstr(at, HOST_MARK)); at++)
		found = at + strlen(HOST_MARK);
	length = found ? strlen(found) : 0;
	if (length <= strlen(SUFFIX) || strcasecmp(found + length - strlen(SUFFIX), SUFFIX) != 0)
		return NULL;
	return xalloc_text_of(found, length - strlen(SUFFIX));
}

bool external_is_host(const char *name, const char *other)
{
	size_t length = strlen(name), other_length = strlen(other);
	size_t shorter = length < other_length ? length : other_length;
	const char *longer = length < other_length ? other : name;
	return shorter > 0 && strncasecmp(name, other, shorter) == 0 &&
	       (longer[shorter] == '\0' || longer[shorter] == '.');
}
