#include "collector/analysis/analysis.h"

#include <stdio.h>
#include <string.h>

static const struct analysis analyses[] = {
	{"hotspots", "hs", .switches = false, .waits = false},
	{"concurrency", "cc", .switches = true, .waits = false},
	{"locks-and-waits", "lw", .switches = true, .waits = true},
};

const struct analysis *analysis_at(size_t index)
{
	return index < sizeof(analyses) / sizeof(analyses[0]) ? &analyses[index] : NULL;
}

const struct analysis *analysis_find(const char *name)
{
	const struct analysis *analysis;
	for (size_t i = 0; (analysis = analysis_at(i)); i++)
		if (strcmp(analysis->name, name) == 0)
			break;
	return analysis;
}

void analysis_list(char *text, size_t size)
{
	const struct analysis *analysis;
	size_t used = 0;
	for (size_t i = 0; (analysis = analysis_at(i)) && used < size; i++)
		used += (size_t)snprintf(text + used, size - used, "%s%s", i > 0 ? ", " : "",
					 analysis->name);
}
