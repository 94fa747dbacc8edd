#include "tools/import_stacks/marks.h"

uint32_t marks_find(const char *name)
{
	return profile_gap_find(name);
}
