/*
 * Reads bytes of a recording front to back, little-endian. Once they run out, ok stays false and
 * values are 0.
 */
#ifndef COLLECTOR_RECORDING_RECORDING_CURSOR_H
#define COLLECTOR_RECORDING_RECORDING_CURSOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct recording_cursor {
	const uint8_t *at;
	size_t left;
	bool ok;
};

static inline struct recording_cursor recording_cursor_of(const void *bytes, size_t size)
{
	return (struct recording_cursor){bytes, size, true};
}

/* The next bytes; NULL: there are not so many. */
static inline const uint8_t *recording_take(struct recording_cursor *cursor, uint64_t size)
{
	if (!cursor->ok || size > cursor->left) {
		cursor->ok = false;
		return NULL;
	}
	const uint8_t *at = cursor->at;
	cursor->at += size;
	cursor->left -= (size_t)size;
	return at;
}

/* The next `count` items. */
static inline const uint8_t *recording_take_items(struct recording_cursor *cursor, uint64_t count,
						  size_t size)
{
	if (count > cursor->left / size)
		cursor->ok = false;
	return recording_take(cursor, cursor->ok ? count * size : 0);
}

static inline uint64_t recording_take_u64(struct recording_cursor *cursor)
{
	uint64_t value = 0;
	const uint8_t *at = recording_take(cursor, sizeof(value));
	if (at)
		memcpy(&value, at, sizeof(value));
	return value;
}

static inline uint32_t recording_take_u32(struct recording_cursor *cursor)
{
	uint32_t value = 0;
	const uint8_t *at = recording_take(cursor, sizeof(value));
	if (at)
		memcpy(&value, at, sizeof(value));
	return value;
}

/* The next 8 bytes, if the flag is set. */
static inline uint64_t recording_take_if(struct recording_cursor *cursor, uint64_t flag)
{
	return flag ? recording_take_u64(cursor) : 0;
}

static inline uint64_t recording_u64_at(const uint8_t *items, uint64_t index)
{
	uint64_t value;
	memcpy(&value, items + index * sizeof(value), sizeof(value));
	return value;
}

#endif
