#include "tools/names/cold_name.h"

#include <string.h>

#define ENDING "cold"

/* Offset of an ending (opening and an optional .NUMBER) of name[0..length); length: none. */
static size_t before_ending(const char *name, size_t length, const char *opening)
{
	size_t opening_length = strlen(opening);
	size_t end = length;
	while (end > 0 && name[end - 1] >= '0' && name[end - 1] <= '9')
		end--;
	if (end == length || end == 0 || name[end - 1] != '.')
		end = length;
	else
		end--;
	if (end <= opening_length ||
	    memcmp(name + end - opening_length, opening, opening_length) != 0)
		return length;
	return end - opening_length;
}

size_t cold_name_owner_length(const char *name)
{
	size_t length = strlen(name);
	if (length == 0 || name[length - 1] != ']')
		return before_ending(name, length, "." ENDING);
	size_t owner = before_ending(name, length - 1, " [clone ." ENDING);
	return owner == length - 1 ? length : owner;
}
