#include "tools/near.h"
#include "tools/xalloc.h"
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { NAME_MAX_LENGTH = 32, PREFIX_MIN = 3 };

static unsigned least(unsigned a, unsigned b)
{
	return a < b ? a : b;
}

/* Characters to insert, leave out, replace or exchange with their neighbour, to make one text of
 * the other; both at most NAME_MAX_LENGTH long. */
static unsigned distance(const char *a, const char *b)
{
	unsigned cost[NAME_MAX_LENGTH + 1][NAME_MAX_LENGTH + 1];
	size_t rows = strlen(a);
	size_t columns = strlen(b);
	for (unsigned i = 0; i <= rows; i++) {
		for (unsigned j = 0; j <= columns; j++) {
			if (i == 0 || j == 0) {
				cost[i][j] = i + j;
				continue;
			}
			cost[i][j] = least(cost[i - 1][j], cost[i][j - 1]) + 1;
			cost[i][j] = least(cost[i][j], cost[i - 1][j - 1] + (a[i - 1] != b[j - 1]));
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
				cost[i][j] = least(cost[i][j], cost[i - 2][j - 2] + 1);
		}
	}
	return cost[rows][columns];
}

static bool is_near(const char *name, const char *other)
{
	size_t length = strlen(name);
	if (length > NAME_MAX_LENGTH || strlen(other) > NAME_MAX_LENGTH)
		return false;
	if (length >= PREFIX_MIN && strncmp(name, other, length) == 0)
		return true;
	return distance(name, other) <= (length < 5 ? 1 : 2);
}

char *near_advise(const char *name, const char *const *names, const char *help)
{
	char *found = NULL;
	for (; *names; names++) {
		if (!is_near(name, *names))
			continue;
		char *longer = found ? xalloc_printf("%s or %s", found, *names)
				     : xalloc_printf("did you mean %s", *names);
		free(found);
		found = longer;
	}
	char *advice = found ? xalloc_printf("%s?", found) : xalloc_printf("see %s", help);
	free(found);
	return advice;
}
