/* Feeds maps_parse with any line; what it finds must lie inside the line. */
#include "collector/image/maps.h"
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct maps_entry entry;
	char *line = malloc(size + 1);
	if (!line)
		return 0;
	memcpy(line, data, size);
	line[size] = '\0';
	if (maps_parse(line, &entry) &&
	    (entry.start >= entry.end || entry.path < line || entry.path > line + size ||
	     strlen(entry.path) > (size_t)(line + size - entry.path)))
		abort();
	free(line);
	return 0;
}
