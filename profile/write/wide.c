#include "profile/write/wide.h"

#include "containers/array.h"
#include "tbrw/utf8.h"
#include <stdlib.h>
#include <string.h>

bool profile_wide_set(struct profile_wide *wide, const char *s)
{
	size_t size = s ? strlen(s) : 0;
	size_t length;

	if (!array_reserve(&wide->text, &wide->capacity, size + 1, sizeof(*wide->text)))
		return false;
	tb5_utf8_to_wide(s, size, wide->text, &length);
	wide->text[length] = L'\0';
	return true;
}

void profile_wide_finish(struct profile_wide *wide)
{
	free(wide->text);
	*wide = (struct profile_wide){0};
}
