#include "unwind/functions/starts.h"

#include "unwind/elf/elf.h"

enum {
	DISTANCE_MAX = 64 * 1024,
	ALIGNMENT = 16,
	BEFORE = 8, /* bytes looked at in front of a place */
	AFTER = 8   /* and from it on */
};

/* Whether code begins with a push of a preserved register, or with room on the stack, behind an
 * endbr64 or not (AMD64 manual, volume 3, appendix A). */
static bool makes_frame(const uint8_t at[static AFTER])
{
	if (at[0] == 0xf3 && at[1] == 0x0f && at[2] == 0x1e && at[3] == 0xfa)
		at += 4;
	return at[0] == 0x53 || at[0] == 0x55 ||                    /* rbx, rbp */
	       (at[0] == 0x41 && at[1] >= 0x54 && at[1] <= 0x57) || /* r12 to r15 */
	       (at[0] == 0x48 && (at[1] == 0x83 || at[1] == 0x81) && at[2] == 0xec);
}

/* Whether code that ends here does not go on, as far as its last bytes tell: a return, a jump,
 * padding (nops end with the zeros of their displacement, or are 90, 66 90 and the like), ud2. */
static bool does_not_go_on(const uint8_t end[static BEFORE])
{
	const uint8_t *last = end + BEFORE - 1;

	return last[0] == 0xc3 || last[0] == 0xcc || last[0] == 0x90 || last[-4] == 0xe9 ||
	       last[-1] == 0xeb || (last[-1] == 0x0f && last[0] == 0x0b) ||
	       (last[0] == 0 && (last[-1] == 0x1f || last[-2] == 0x1f || last[-3] == 0x1f)) ||
	       (last[0] == 0 && last[-1] == 0 && last[-2] == 0 && last[-3] == 0);
}

void uw_starts_begin(struct uw_starts *starts, const struct uw_elf *elf, struct uw_lines *lines,
		     uint64_t limit, uint64_t rva, bool only_frames)
{
	starts->only_frames = only_frames;
	starts->elf = elf;
	starts->lines = lines;
	starts->at = rva + 1;
	starts->limit = limit;
	if (rva > DISTANCE_MAX && rva - DISTANCE_MAX > limit)
		starts->limit = rva - DISTANCE_MAX;
	starts->base = starts->size = 0;
}

/* Makes the window hold what is looked at around a place. */
static bool look_at(struct uw_starts *starts, uint64_t place)
{
	uint64_t from = place - BEFORE, end = place + AFTER;

	if (starts->size > 0 && from >= starts->base && end <= starts->base + starts->size)
		return true;
	uint64_t base = end > UW_STARTS_WINDOW ? end - UW_STARTS_WINDOW : 0;
	uint64_t lowest = starts->limit > BEFORE ? starts->limit - BEFORE : 0;
	if (base < lowest)
		base = lowest;
	if (base > from)
		return false;
	starts->base = base;
	starts->size = (size_t)(end - base);
	if (uw_lines_read(starts->lines, starts->elf, base, starts->bytes, starts->size))
		return true;
	/* Another segment ends in between. */
	starts->base = from;
	starts->size = BEFORE + AFTER;
	if (uw_lines_read(starts->lines, starts->elf, from, starts->bytes, starts->size))
		return true;
	starts->size = 0;
	return false;
}

bool uw_starts_next(struct uw_starts *starts, uint64_t *start)
{
	while (starts->at > starts->limit) {
		uint64_t place = (starts->at - 1) & ~(uint64_t)(ALIGNMENT - 1);
		starts->at = place;
		if (place < starts->limit || place < BEFORE || !look_at(starts, place))
			return false;
		const uint8_t *at = starts->bytes + (place - starts->base);
		if ((!starts->only_frames || makes_frame(at)) && does_not_go_on(at - BEFORE)) {
			*start = place;
			return true;
		}
	}
	return false;
}
