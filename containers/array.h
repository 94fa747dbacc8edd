/*
 * Growing arrays. An array is three members of its owner: the pointer to the first element, the
 * number of elements, and the capacity.
 *
 *   if (!array_reserve(&list->items, &list->capacity, list->count + 1, sizeof(*list->items)))
 *           return false;
 *   list->items[list->count++] = item;
 *
 * Debian's libraries for arrays do not fit: utarray (uthash) exits when memory is out, and stb_ds
 * writes through the NULL of a failed realloc.
 */
#ifndef CONTAINERS_ARRAY_H
#define CONTAINERS_ARRAY_H

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define ARRAY_CAPACITY_FIRST 16u

/* Makes room for `count` elements of `size` bytes each. `array` is the address of the pointer to
 * the first element (NULL while the capacity is 0); the new room is not initialized. Capacities
 * double: adding elements one after the other takes constant time each.
 * false: out of memory (errno is ENOMEM), or more than can be addressed; nothing has changed. */
static inline bool array_reserve(void *array, size_t *capacity, size_t count, size_t size)
{
	if (count <= *capacity)
		return true;
	size_t wanted = *capacity ? *capacity : ARRAY_CAPACITY_FIRST;
	while (wanted < count)
		wanted = wanted <= SIZE_MAX / 2 ? wanted * 2 : count;
	if (wanted > PTRDIFF_MAX / size) {
		errno = ENOMEM;
		return false;
	}
	/* Pointers to different types cannot be accessed as one type, but all look the same. */
	void *items;
	memcpy(&items, array, sizeof(items));
	items = reallocarray(items, wanted, size);
	if (!items)
		return false;
	memcpy(array, &items, sizeof(items));
	*capacity = wanted;
	return true;
}

#endif
