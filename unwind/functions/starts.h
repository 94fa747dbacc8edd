/* Places before an address that look like a function's start: aligned, behind padding or code that
 * does not go on. */
#ifndef UNWIND_FUNCTIONS_STARTS_H
#define UNWIND_FUNCTIONS_STARTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct uw_elf;
struct uw_lines;

enum { UW_STARTS_WINDOW = 4096 };

/* A search that goes back from an address. */
struct uw_starts {
	const struct uw_elf *elf;
	struct uw_lines *lines;
	bool only_frames;
	uint64_t limit, at; /* the next place is before at */
	uint64_t base;      /* of bytes */
	size_t size;
	uint8_t bytes[UW_STARTS_WINDOW];
};

/* Places from limit on up to rva, at most 64 KB before it; only_frames: those where code begins by
 * making a frame. elf and lines must outlive the search. */
void uw_starts_begin(struct uw_starts *starts, const struct uw_elf *elf, struct uw_lines *lines,
		     uint64_t limit, uint64_t rva, bool only_frames);

/* The next place; false: there is none. */
bool uw_starts_next(struct uw_starts *starts, uint64_t *start);

#endif
