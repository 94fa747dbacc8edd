/*
 * Functions that a recording names itself (PERF_RECORD_KSYMBOL): BPF programs, and in a file that
 * tbconvert exported all functions of the kernel, and what has no address.
 */
#ifndef COLLECTOR_RECORDING_RECORDING_SYMBOLS_H
#define COLLECTOR_RECORDING_RECORDING_SYMBOLS_H

#include "collector/recording/recording.h"
#include "profile/base/gap.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* In place of frames, in a file that tbconvert exported. */
enum recording_special {
	RECORDING_SPECIAL_NONE,
	RECORDING_SPECIAL_UNKNOWN = 1 + PROFILE_GAP_UNKNOWN,
	RECORDING_SPECIAL_SKIPPED = 1 + PROFILE_GAP_SKIPPED,
	RECORDING_SPECIAL_GUESSED = 1 + PROFILE_GAP_GUESSED,
	RECORDING_SPECIAL_KERNEL = 1 + PROFILE_GAP_KERNEL,
	RECORDING_SPECIAL_NO_SAMPLE = 1 + PROFILE_GAP_NO_SAMPLE,
	RECORDING_SPECIALS
};

struct recording_symbols {
	struct recording_symbol *items;
	size_t count;
	size_t capacity;
	uint64_t specials[RECORDING_SPECIALS]; /* addresses; 0: there is none */
	bool has_specials;
};

/* Takes a record with its header. */
void recording_symbols_take(struct recording_symbols *symbols, const uint8_t *bytes, size_t size);

enum recording_special recording_symbols_special(const struct recording_symbols *symbols,
						 uint64_t address);
void recording_symbols_finish(struct recording_symbols *symbols);

#endif
