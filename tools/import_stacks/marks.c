#include "tools/import_stacks/marks.h"

#include "tools/functions/functions.h"
#include "tools/samples/tally.h"
#include <string.h>

uint32_t marks_find(const char *name)
{
	static const char *const names[] = {
		[FUNCTION_UNKNOWN] = "[Unknown frame(s)]",
		[FUNCTION_SKIPPED] = "[Skipped frame(s)]",
		[FUNCTION_GUESSED] = "[Guessed frame(s)]",
		[FUNCTION_KERNEL] = FUNCTION_KERNEL_NAME,
		[MARKS_NO_SAMPLE] = TALLY_NO_SAMPLE,
		[MARKS_NO_THREAD] = TALLY_NO_THREAD,
	};
	uint32_t i = 0;
	if (name[0] != '[')
		return MARKS_NONE;
	while (i < MARKS_NONE && strcmp(names[i], name) != 0)
		i++;
	return i;
}
