#include "profile/base/external_name.h"

#include <string.h>
#include <strings.h>

#define HOST_MARK "-hostname-"
#define ENDING    ".csv"

bool profile_external_name_split(const char *file, struct profile_external_name *parts)
{
	size_t length = strlen(file), ending = strlen(ENDING);
	const char *host = NULL;

	bool has_ending = length >= ending && strcasecmp(file + length - ending, ENDING) == 0;
	if (has_ending)
		length -= ending;
	for (const char *at = file; has_ending && (at = strstr(at, HOST_MARK)); at++)
		host = at + strlen(HOST_MARK);
	*parts = (struct profile_external_name){.stem_length = length};
	if (!host)
		return false;
	parts->stem_length = (size_t)(host - file) - strlen(HOST_MARK);
	parts->host = host;
	parts->host_length = length - (size_t)(host - file);
	return true;
}
