#include "unwind/elf/window.h"

#include "unwind/elf/elf.h"
#include <assert.h>
#include <string.h>

enum {
	BEFORE_MAX = 1024 /* read with a place, as tables are not always read forwards */
};

static bool window_holds(const struct uw_window *window, uint64_t offset, uint64_t size)
{
	return window->size > 0 && offset >= window->offset &&
	       offset - window->offset <= window->size &&
	       size <= window->size - (offset - window->offset);
}

static bool move_window(const struct uw_elf *elf, struct uw_window *window, uint64_t offset)
{
	assert(offset <= elf->size);
	uint64_t start = offset - offset % BEFORE_MAX, size = elf->size - start;

	window->size = 0;
	window->offset = start;
	if (size > UW_WINDOW_SIZE)
		size = UW_WINDOW_SIZE;
	if (!uw_elf_read(elf, start, window->bytes, size))
		return false;
	window->size = (size_t)size;
	return true;
}

bool uw_window_read(const struct uw_elf *elf, struct uw_window *window, uint64_t offset,
		    void *bytes, uint64_t size)
{
	if (elf->image || size > UW_WINDOW_SIZE - BEFORE_MAX)
		return uw_elf_read(elf, offset, bytes, size);
	if (offset > elf->size || size > elf->size - offset)
		return false;
	if (!window_holds(window, offset, size) && !move_window(elf, window, offset))
		return false;
	assert(window_holds(window, offset, size) || size == 0);
	memcpy(bytes, window->bytes + (offset - window->offset), size);
	return true;
}
