#include "tools/text/suggest.h"

#include "tools/memory/xalloc.h"
#include <assert.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { NAME_MAX_LENGTH = 32, PART_MIN = 3, FOUND_MAX = 3 };

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
	assert(rows <= NAME_MAX_LENGTH && columns <= NAME_MAX_LENGTH);
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

/* One slip may hit any letter; two are likely to leave the first letter unchanged. */
static bool is_slip(const char *name, const char *other)
{
	size_t length = strlen(name);
	if (length == 0 || length > NAME_MAX_LENGTH || strlen(other) > NAME_MAX_LENGTH)
		return false;
	return distance(name, other) <= (length < 5 || name[0] != other[0] ? 1 : 2);
}

static bool begins_so(const char *name, const char *other)
{
	size_t length = strlen(name);
	return length >= PART_MIN && strncasecmp(name, other, length) == 0;
}

static bool has_it(const char *name, const char *other)
{
	return strlen(name) >= PART_MIN && strcasestr(other, name);
}

/* The nearest ones first, each name once. */
static size_t find_near(const char *name, const char *const *names, const char *found[FOUND_MAX])
{
	static bool (*const is_near[])(const char *, const char *) = {is_slip, begins_so, has_it};
	size_t count = 0;
	for (size_t i = 0; i < sizeof(is_near) / sizeof(is_near[0]); i++) {
		for (const char *const *at = names; *at && count < FOUND_MAX; at++) {
			size_t same = 0;
			if (!is_near[i](name, *at))
				continue;
			while (same < count && strcmp(found[same], *at) != 0)
				same++;
			if (same == count)
				found[count++] = *at;
		}
	}
	return count;
}

char *suggest_list(const char *const *names)
{
	assert(names[0]);
	char *list = xalloc_text(names[0]);
	for (size_t i = 1; names[i]; i++) {
		char *longer =
			xalloc_printf("%s%s%s", list, names[i + 1] ? ", " : " or ", names[i]);
		free(list);
		list = longer;
	}
	return list;
}

char *suggest_advise(const char *name, const char *const *names, const char *help)
{
	const char *found[FOUND_MAX + 1] = {NULL};
	if (find_near(name, names, found) == 0)
		return xalloc_printf("see %s", help);
	char *list = suggest_list(found);
	char *advice = xalloc_printf("did you mean %s?", list);
	free(list);
	return advice;
}

char *suggest_choose(const char *option, const char *what, const char *const *names,
		     const char *name, size_t *chosen)
{
	for (*chosen = 0; names[*chosen]; ++*chosen)
		if (strcmp(names[*chosen], name) == 0)
			return NULL;
	char *list = suggest_list(names);
	char *problem = xalloc_printf("--%s %s: no such %s; use %s", option, name, what, list);
	free(list);
	return problem;
}
