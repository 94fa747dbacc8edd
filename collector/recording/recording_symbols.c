#include "collector/recording/recording_symbols.h"

#include "collector/recording/recording_cursor.h"
#include "containers/array.h"
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>

enum { SYMBOLS_MAX = 1 << 20 };

/* Our own exports have them here, whatever their order. */
#define SPECIALS_FROM PROFILE_GAP_START
#define SPECIALS_TO   (PROFILE_GAP_START + UINT64_C(0x10000))

static enum recording_special special_of(uint64_t address, const char *name)
{
	if (address < SPECIALS_FROM || address >= SPECIALS_TO)
		return RECORDING_SPECIAL_NONE;
	enum profile_gap gap = profile_gap_find(name);
	return gap <= PROFILE_GAP_NO_SAMPLE ? (enum recording_special)(1 + gap)
					    : RECORDING_SPECIAL_NONE;
}

void recording_symbols_take(struct recording_symbols *symbols, const uint8_t *bytes, size_t size)
{
	struct recording_cursor cursor = recording_cursor_of(bytes, size);
	recording_take(&cursor, sizeof(struct perf_event_header));
	uint64_t start = recording_take_u64(&cursor);
	uint32_t length = recording_take_u32(&cursor);
	uint32_t kind = recording_take_u32(&cursor); /* and flags */
	const char *name = (const char *)cursor.at;
	bool is_gone = kind >> 16 & PERF_RECORD_KSYMBOL_FLAGS_UNREGISTER;
	if (!cursor.ok || is_gone || !memchr(name, '\0', cursor.left) ||
	    symbols->count == SYMBOLS_MAX)
		return;
	enum recording_special special = special_of(start, name);
	if (special != RECORDING_SPECIAL_NONE) {
		symbols->specials[special] = start;
		symbols->has_specials = true;
		return;
	}
	if (!array_reserve(&symbols->items, &symbols->capacity, symbols->count + 1,
			   sizeof(*symbols->items)))
		return;
	char *copy = strdup(name);
	if (copy)
		symbols->items[symbols->count++] = (struct recording_symbol){start, length, copy};
}

enum recording_special recording_symbols_special(const struct recording_symbols *symbols,
						 uint64_t address)
{
	if (!symbols->has_specials || address < SPECIALS_FROM || address >= SPECIALS_TO)
		return RECORDING_SPECIAL_NONE;
	for (unsigned i = 1; i < RECORDING_SPECIALS; i++)
		if (symbols->specials[i] == address)
			return (enum recording_special)i;
	return RECORDING_SPECIAL_NONE;
}

void recording_symbols_finish(struct recording_symbols *symbols)
{
	for (size_t i = 0; i < symbols->count; i++)
		free(symbols->items[i].name);
	free(symbols->items);
	*symbols = (struct recording_symbols){0};
}
